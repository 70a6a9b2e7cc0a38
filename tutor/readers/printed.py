"""What a training loop of somebody's own prints: lines with a counter and a loss, in whatever words.

`Epoch 3, Loss: 0.4, ValLoss: 0.5`, `Step 40: grad_norm=1.2, loss=3.1`, Keras's progress bar below its
heading `Epoch 3/10`, `| epoch 1 | 200/2983 batches | loss 7.6`, `(epoch: 1, iters: 100) G_GAN: 1.3`. This
reader is asked where none of a tool's own format knows a file. A pair is a name of a few words and the number
behind it. What a pair means has to be read from its name: a remark says what was taken for what, and --map
corrects it. Whether a value is that of its step or a mean isn't known, except for epochs: loops print a mean
over each.

What the lines look like stands in `common.pairs`, how many of them make a log in `common.log_or_prose`, what
their counters count in `common.counters`, and which columns are the losses in `common.chosen_columns`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tutor.readers.common import not_finite
from tutor.readers.common.chosen_columns import chosen_columns
from tutor.readers.common.counters import counted
from tutor.readers.common.guessed import in_words
from tutor.readers.common.log_or_prose import is_log, may_have_row
from tutor.readers.common.overflows import after_the_last, with_scale
from tutor.readers.common.pairs import lines_in
from tutor.readers.common.rows import run_of_frame
from tutor.readers.common.trainers import RUNNING, WINDOW
from tutor.readers.source import Source
from tutor.run import Remark, Run, called
from tutor.words import quoted

_MEANT = {"step": "step", "loss": "loss", "val_loss": "val loss"}
"""By signal a word that this reader knows, to be put in place of the word that the user says the log has."""


@dataclass(frozen=True)
class Printed:
    """A run in what was printed.

    Attributes:
        path: the file.
        format: what `check` calls it.
        own: by words that this reader knows, the log's own in their place, where it has none of these.
    """

    path: Path
    format: str = "printed lines"
    own: Mapping[str, str] = field(default_factory=dict)

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """What was printed says nothing that can be relied on of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        from tutor.readers.common.extract import frame_of  # polars: only who reads a log pays for it

        remarks: list[Remark] = []
        frame = frame_of(self.path, lines_in(self.path, self.own), remarks)
        frame, last_scales = with_scale(not_finite.uncounted(frame))
        found = counted(frame)
        rows = found.rows.rename(self.own, strict=False)
        remarks += not_finite.remarks(rows)
        rows, messages = not_finite.parted(rows)
        columns = chosen_columns(rows, self.path)
        rows = not_finite.told(columns.rows, messages, columns.loss)
        rows = after_the_last(rows, last_scales) if found.counts == "steps" else rows
        remarks += [
            Remark("perplexity", {"signal": signal, "column": quoted([name])})
            for signal, name in columns.perplexities.items()
        ]
        remarks += _taken(columns.signals, found.by)
        # An epoch's perplexity is that of all its words so far.
        running = found.states or "loss" in columns.perplexities
        over = RUNNING if running else WINDOW if found.counts == "epochs" else None
        return run_of_frame(
            rows,
            self.path,
            name=self.path.name,
            aggregations={"loss": over} if over else {},
            counts=found.counts,
            remarks=remarks,
        )


def _taken(signals: Mapping[str, str], counters: Sequence[str]) -> list[Remark]:
    """What is to be said of which columns were taken for what, the steps for those of these counters."""
    step = "` + `".join(counters) if signals["step"] == "step" else signals["step"]
    taken = {**signals, "step": step}
    remarks = [Remark("printed", {"taken": in_words(taken)})] if any(taken.values()) else []
    return remarks if step else [*remarks, Remark("printed_unnumbered")]


def sources(path: Path) -> list[Source]:
    """The file, where lines with the same names come again in it, with a loss and a counter that goes on.

    Where none of its words is known, the words that the user names are taken for known ones.
    """
    if is_log(path):
        return [Printed(path)]
    said = called.names_for(path)
    own = {_MEANT[signal]: column for signal, column in said.items() if signal in _MEANT}
    return [Printed(path, own=own)] if own and path.is_file() and is_log(path, own) else []


def lacks(path: Path) -> str | None:
    """What a file lacks that has such a line, but too few of them; None of any other file."""
    if not may_have_row(path):
        return None
    return (
        "of printed lines it needs two or more with the same names in them, a loss and a counter that goes "
        "on, as in `step 40, loss 3.1`"
    )
