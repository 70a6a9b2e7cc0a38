"""Corrections: what is often said of training and isn't so, with runs that show it, as a page of the docs.

    python -m tutor.lab.corrections --runs build/corrections --page docs/corrections.md

Runs that are whole are not trained again. What clipping and beta2 are worth has its own page: see `doses`.
"""

import argparse
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tutor import readers, terminal
from tutor.card import find, resolve
from tutor.lab import measures
from tutor.lab.campaign import STOPPED, Job, run_once
from tutor.lab.progress import INTERRUPTED
from tutor.run import Run
from tutor.settings import command_words

COMMON = {"device": "cpu", "threads": 1, "seed": 42}
SMALL = {"n_layer": 2, "n_embd": 64}
HALF = {"dtype": "fp16", "n_layer": 2, "n_embd": 32, "batch_size": 4, "block_size": 8}


@dataclass(frozen=True)
class Wanted:
    """A run that shows something: of a break, of its control, or plain, with some settings changed."""

    break_name: str | None = None
    control: bool = False
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """The command line that trains it."""
        words = ["tutor", "train"]
        words += ["--break", self.break_name] if self.break_name else []
        words += ["--control"] if self.control else []
        return shlex.join([*words, *command_words(self.changes)])

    @property
    def folder(self) -> str:
        """The name of its run: two corrections that ask for the same run share it."""
        return re.sub(r"[^a-z0-9._]+", "-", self.command.removeprefix("tutor train "))

    def job(self, out: Path) -> Job:
        """Its job, into the folder `out`."""
        card = find(self.break_name) if self.break_name else None
        plan = resolve(card, control=self.control, changes={**COMMON, **self.changes})
        return Job(plan, self.break_name, out)


@dataclass(frozen=True)
class Correction:
    """What is said, what is so, and the runs whose figures show it.

    Attributes:
        shown: what the runs show, in a sentence; in the order of `runs`.
        then: a command over the first run, where training it isn't all.
    """

    said: str
    so: str
    runs: Sequence[Wanted]
    shown: Callable[[Sequence[Run]], str]
    then: str = ""


CORRECTIONS = (
    Correction(
        "A spike corrupts Adam's moments: they are what prolongs the harm.",
        "The weights carry the blow, m prolongs it, and the raised v protects.",
        [Wanted("no-clip")],
        measures.state,
        f"tutor replay RUN --at {measures.AT} --before {measures.BEFORE}",
    ),
    Correction(
        "A norm of m equal to that of the gradient means that the bias correction is missing.",
        "Equal at every step, it means that nothing is averaged: beta1 is 0, or the state is made anew.",
        [Wanted("no-momentum", control=True), Wanted("no-momentum")],
        measures.averaging,
    ),
    Correction(
        "A loss above mean + 3 std of the last 100 steps is a spike.",
        "It is a sieve, to be asked first: chance alone crosses it. What follows tells noise from harm.",
        [Wanted(changes={**SMALL, "steps": 3000})],
        measures.crossings,
    ),
    Correction(
        "A window of 100 rows is one of 100 steps.",
        "Only in a log with a row per step: count in steps, and take more where they hold too few rows.",
        [Wanted(changes={**SMALL, "steps": 3000})],
        measures.thinned,
    ),
    Correction(
        "A gradient that is NaN or Inf is the end of the run.",
        "Under fp16, now and then, with a loss that is finite, it is a step that the scaler skips.",
        [Wanted(changes={**HALF, "steps": 400, "warmup_steps": 20})],
        measures.skipped,
    ),
    Correction(
        "A gradient norm above 5 at every step says that the run is sick.",
        "It says how the loss is scaled: compare it with the clip, and with what is usual in this run.",
        [Wanted("summed-loss", control=True), Wanted("summed-loss")],
        measures.always_clipped,
    ),
    Correction(
        "Adam's moments are one number for the whole model.",
        "Each weight has its own m and v; it is clipping by the global norm that ties them to each other.",
        [Wanted(changes={**SMALL, "steps": 400})],
        measures.coordinates,
    ),
    Correction(
        "bf16 adds noise of 1 % to every operation.",
        "It keeps 8 significant bits: a rounding is off by at most 0.4 %.",
        [Wanted(changes={**SMALL, "steps": 400})],
        measures.rounded,
    ),
    Correction(
        "A linear layer's std should be sqrt(2/fan_in), within 0.02 to 0.1.",
        "That is Kaiming's design, for ReLU. GPTs begin at 0.02: ask which design a run follows.",
        [Wanted(changes={"steps": 300})],
        measures.design,
    ),
    Correction(
        "An incident costs steps x tokens per second x price / (3600 x tokens per step).",
        "Its units aren't dollars: steps x tokens per step / tokens per second / 3600 x price per hour.",
        [Wanted(changes={**SMALL, "steps": 400})],
        measures.price,
    ),
    Correction(
        "More weight decay stops a norm of the weights that climbs.",
        "It hardly slows it: the learning rate is what drives it.",
        [Wanted(changes={**SMALL, "lr": 0.004, "weight_decay": decay}) for decay in (0.0, 0.1, 0.2, 0.4)],
        measures.decay,
    ),
    Correction(
        "Clipping by norm mends an infinite gradient.",
        "Infinite by infinite is NaN, and the clip spreads it to every weight: clip by value.",
        [Wanted("inf-embedding")],
        measures.infinite,
    ),
    Correction(
        "A first loss above 8 or below 4 is wrong.",
        "That is so for 512 tokens. An untrained model pays ln V, whatever V is.",
        [Wanted(changes={**SMALL, "vocab_size": vocab, "steps": 2}) for vocab in (258, 512)],
        measures.first_loss,
    ),
)

HEAD = """# Often said, and what is so

Each line was measured by `make corrections`, on the CPU at seed 42; the commands make its runs again. What
clipping, beta2 and the memory of v are worth stands in [doses.md](doses.md).
"""


def page(runs: Path) -> str:
    """Train what is missing; the page, in Markdown."""
    parts = [HEAD]
    for one in CORRECTIONS:
        terminal.tell(one.said)
        found = []
        for wanted in one.runs:
            job = wanted.job(runs / wanted.folder)
            run_once(job)
            found.append(readers.read(job.out))
        parts += [
            f"## {one.said}",
            f"{one.so}",
            f"Measured: {one.shown(found)}.",
            "\n".join(
                ["```", *(wanted.command for wanted in one.runs), *([one.then] if one.then else []), "```"]
            ),
        ]
    return "\n\n".join(parts).replace("\n\n\n", "\n\n") + "\n"


def main(given: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=Path, default=Path("build/corrections"))
    parser.add_argument("--page", type=Path, default=Path("docs/corrections.md"))
    asked = parser.parse_args(given)
    try:
        text = page(asked.runs)
    except KeyboardInterrupt:
        terminal.warn(STOPPED)
        return INTERRUPTED
    asked.page.write_text(text, encoding="utf-8")
    terminal.tell(f"written: {asked.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
