"""Corrections: what is often said of training and isn't so, with runs that show it, as a page of the docs.

    python -m tutor.lab.corrections --runs build/corrections --page docs/corrections.md

Runs that are whole are not trained again. What clipping and beta2 are worth has its own page: see `doses`.
"""

import argparse
import math
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tutor import readers, terminal
from tutor.card import find, resolve
from tutor.lab import experiment
from tutor.lab.campaign import STOPPED, Job, run_once
from tutor.lab.progress import INTERRUPTED
from tutor.lab.replay import Asked, combinations, replay
from tutor.run import Run
from tutor.settings import command_words
from tutor.words import number

COMMON = {"device": "cpu", "threads": 1, "seed": 42}
SMALL = {"n_layer": 2, "n_embd": 64}
BEFORE, AT, AFTER = 311, 315, 50
"""Before and after the three batches of boilerplate, and the steps over which a state is judged."""


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


def _setting(run: Run, name: str) -> Any:
    return run.manifest.settings[name]


def _averaging(runs: Sequence[Run]) -> str:
    """The norm of m as a share of that of the gradient that the optimizer was given."""
    control, broken = ((run["adam_m_norm"] / run["grad_norm_clipped"])[100:] for run in runs)
    return (
        f"m is {number(control.median())} of the gradient in the control's median step and never over "
        f"{number(control.max())}; where nothing is averaged, {number(broken.median())} at every step"
    )


def _crossings(runs: Sequence[Run]) -> str:
    """How often a healthy loss crosses mean + 3 std of the 100 steps before."""
    loss = runs[0]["loss"]
    before = loss.shift(1)
    bound = before.rolling_mean(100) + 3 * before.rolling_std(100, ddof=0)
    count = int((loss > bound).sum())
    return f"a healthy run of {len(loss):,} steps crosses it at {count} of them"


def _decay(runs: Sequence[Run]) -> str:
    """How far the weights grow over the last 200 steps."""
    grown = (float(run["param_norm_decay"][-1] / run["param_norm_decay"][-201]) for run in runs)
    told = ", ".join(
        f"{number(growth)} at {_setting(run, 'weight_decay')}"
        for run, growth in zip(runs, grown, strict=True)
    )
    return f"over the last 200 steps the decayed weights grow by a factor of {told}"


def _infinite(runs: Sequence[Run]) -> str:
    """What a clip by norm makes of an infinite gradient."""
    run = runs[0]
    norm, clipped = run["grad_norm"], run["grad_norm_clipped"]
    first = int(norm.is_finite().not_().arg_true()[0])
    what = "NaN" if math.isnan(float(clipped[first])) else number(float(clipped[first]))
    return (
        f"with the clip at {_setting(run, 'grad_clip')} the norm is {number(float(norm[first]))} at step "
        f"{int(run.steps[first])} before clipping and {what} after, and the loss is NaN from step "
        f"{int(run.steps[int(run['loss'].is_nan().arg_true()[0])])} on"
    )


def _first_loss(runs: Sequence[Run]) -> str:
    """The first loss of untrained runs with other vocabularies."""
    told = (
        f"{number(float(run['loss'][0]))} with {vocab:,} tokens (ln {vocab:,} is {number(math.log(vocab))})"
        for run in runs
        for vocab in [int(_setting(run, "vocab_size"))]
    )
    return "untrained, the first loss is " + " and ".join(told)


def _state(runs: Sequence[Run]) -> str:
    """What each part of the state from after the batches does to the next steps."""
    asked = [Asked(AT, after=AFTER)]
    asked += [Asked(AT, state=one, after=AFTER) for one in combinations(BEFORE, AT)]
    means = {
        " and ".join(part for part, step in one.state.items() if step == AT) or "nothing": one.mean_after
        for one in replay(runs[0].path, asked, experiment.logged(runs[0].path))
    }
    told = ", ".join(f"{parts} {number(mean)}" for parts, mean in means.items() if mean is not None)
    return f"mean loss of the next {AFTER} steps by what is taken from after the blow: {told}"


CORRECTIONS = (
    Correction(
        "A spike corrupts Adam's moments: they are what prolongs the harm.",
        "The weights carry the blow, m prolongs it, and the raised v protects.",
        [Wanted("no-clip")],
        _state,
        f"tutor replay RUN --at {AT} --before {BEFORE}",
    ),
    Correction(
        "A norm of m equal to that of the gradient means that the bias correction is missing.",
        "Equal at every step, it means that nothing is averaged: beta1 is 0, or the state is made anew.",
        [Wanted("no-momentum", control=True), Wanted("no-momentum")],
        _averaging,
    ),
    Correction(
        "A loss above mean + 3 std of the last 100 steps is a spike.",
        "It is a sieve, to be asked first: chance alone crosses it. What follows tells noise from harm.",
        [Wanted(changes={**SMALL, "steps": 3000})],
        _crossings,
    ),
    Correction(
        "More weight decay stops a norm of the weights that climbs.",
        "It hardly slows it: the learning rate is what drives it.",
        [Wanted(changes={**SMALL, "lr": 0.004, "weight_decay": decay}) for decay in (0.0, 0.1, 0.2, 0.4)],
        _decay,
    ),
    Correction(
        "Clipping by norm mends an infinite gradient.",
        "Infinite by infinite is NaN, and the clip spreads it to every weight: clip by value.",
        [Wanted("inf-embedding")],
        _infinite,
    ),
    Correction(
        "A first loss above 8 or below 4 is wrong.",
        "That is so for 512 tokens. An untrained model pays ln V, whatever V is.",
        [Wanted(changes={**SMALL, "vocab_size": vocab, "steps": 2}) for vocab in (258, 512)],
        _first_loss,
    ),
)

HEAD = """# Often said, and what is so

Each line was measured by `make corrections`, on the CPU at seed 42; the commands make its runs again. What
clipping, beta2 and the memory of v are worth stands in [doses.md](doses.md).
"""


def page(runs: Path) -> str:
    """Train what is missing; the page, in Markdown."""
    parts = [HEAD]
    for number_, one in enumerate(CORRECTIONS, 1):
        terminal.tell(one.said)
        found = []
        for wanted in one.runs:
            job = wanted.job(runs / f"{number_}-{len(found)}")
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
