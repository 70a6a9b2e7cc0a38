"""LLaMA-Factory: `trainer_log.jsonl`, a row each time the Trainer beneath it logs, and the folder it lies in.

Its numbers are Hugging Face's: the loss is the mean since the row before, and a NaN in it doesn't show.
Several processes may append to one file, so that steps repeat and run backwards. It has no gradient norms:
those are in the `trainer_state.json` of the folder's checkpoints, which know less of the end. So a folder is
read from its log, and what only the states say is put beside it.
Source: src/llamafactory/train/callbacks.py (LogCallback)
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tutor.readers.common.trainers import HUGGING_FACE
from tutor.readers.huggingface import STATE, states
from tutor.readers.jsonlines import LLAMA_FACTORYS, Rows, of_llama_factory
from tutor.readers.source import Source
from tutor.run import BadRunError, Remark, Run

_ALIKE = 1e-3  # of a loss: the log and the states give as many digits, but of another training
_STATES = " (state)"


@dataclass(frozen=True)
class Folder:
    """A run in a folder with such a log."""

    path: Path
    format: str = "a folder of LLaMA-Factory"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """The log says nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        run = replace(_log(self.path / LLAMA_FACTORYS).read(), path=self.path)
        for state in states(self.path):
            with suppress(BadRunError):  # one that is being written just now: the log tells the run
                run = _beside(run, state.read())
        return run


def _beside(run: Run, state: Run) -> Run:
    """The run with what a state alone says, where both tell one training: they have a loss in common."""
    import polars as pl  # only who reads a log pays for it

    rows = run.frame.join(state.frame, on="step", how="full", suffix=_STATES, coalesce=True).sort("step")
    both = [name for name in state.frame.columns if f"{name}{_STATES}" in rows.columns]
    apart = (rows["loss"] - rows[f"loss{_STATES}"]).abs() / rows["loss"].abs() if "loss" in both else None
    if apart is None or not (apart.is_not_null().any() and (apart.fill_nan(0).fill_null(0) <= _ALIKE).all()):
        remark = Remark("other_states", {"file": STATE})
        return replace(run, remarks=(*run.remarks, remark))
    columns = {name: rows[name] for name in rows.columns if not name.endswith(_STATES)}
    for name in both:
        columns[name] = rows[name].zip_with(rows[name].is_not_null(), rows[f"{name}{_STATES}"])
    return replace(
        run, frame=pl.DataFrame(columns), manifest=state.manifest, position=(run.position, state.position)
    )


def _log(path: Path) -> Rows:
    return Rows(path, "LLaMA-Factory's trainer_log.jsonl", {"loss": HUGGING_FACE})


def sources(path: Path) -> list[Source]:
    """A file whose first row has `current_steps` of `total_steps`, or the folder in which it has its name."""
    if of_llama_factory(path):
        return [_log(path)]
    return [Folder(path)] if of_llama_factory(path / LLAMA_FACTORYS) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
