"""`tutor fork`, `replay`, `recover` and `verify`: what the commands do, apart from their options.

Each ends with an exit code: 0 done, 1 the disk is full or a fix isn't verified, 2 asked for something that
can't be, 130 stopped by Ctrl-C.
"""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from tutor import readers, terminal, verifying
from tutor.lab import fork as forks
from tutor.lab import recover as recoveries
from tutor.lab import verify as fixes
from tutor.lab.assembly import elsewhere, plan_of, planned, recipe_of
from tutor.lab.command import busy
from tutor.lab.fork import Change
from tutor.lab.progress import INTERRUPTED, free, progress, refused
from tutor.lab.recover import NotPossibleError, Playbook
from tutor.lab.replay import LOOK_BACK, Asked, first_not_finite, replay
from tutor.lab.rewind import nearest, rewind, same_bits
from tutor.parts import Part
from tutor.run import Run
from tutor.run.recovery import Recovery
from tutor.run.replay import Replay
from tutor.runfolder import RECOVERY, REPLAYS
from tutor.runfolder.kept import keep
from tutor.runfolder.writer import DiskFullError, first_lines, rows_in
from tutor.settings import Settings, command_words
from tutor.walk import deciding
from tutor.words import BadFileError

P = ParamSpec("P")


def _ending(command: Callable[P, int]) -> Callable[P, int]:
    """The command with what may go wrong told in one line."""

    @wraps(command)
    def ended(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            return refused("stopped", INTERRUPTED)
        except DiskFullError as error:
            return refused(error, 1)
        except (ValueError, BadFileError) as error:
            return refused(error, 2)

    return ended


# Fork


@_ending
def run_fork(
    run: Path,
    at: int,
    change: Change,
    *,
    skip: int | None = None,
    steps: int | None = None,
    retrace: bool = False,
    out: Path | None = None,
) -> int:
    """Fork the run before step `at`.

    Args:
        run: its folder.
        at: the step.
        change: what is different from there on.
        skip: so many batches are skipped at the fork.
        steps: train up to so many, not to the end of the run.
        retrace: train the steps between the nearest checkpoint and `at` again.
        out: the fork's folder; a new one in `./runs` where none is given.
    """
    plan = plan_of(run)
    change = forks.typed(change, plan.settings)
    done = rows_in(run) or len(readers.read(run))
    if not 0 <= at <= done:
        raise ValueError(f"--at {at} is outside {run}: its log has the steps 0 to {done - 1}")
    if skip:
        change = replace(change, actions=(Part("skip-batches", {"step": at, "batches": skip}),))
    if steps is not None:
        change = replace(change, settings={**change.settings, "steps": steps})
    if forks.changed(plan, change).settings.steps <= at:
        raise ValueError(f"a fork at step {at} has nothing left to train: give --steps {at + 100} or more")
    base = nearest(run, at)
    if base != at and not retrace:
        raise ValueError(_no_checkpoint(run, at, base))
    out = out or free(f"{run.resolve().name}-fork")
    command = _fork_command(run, at, change, skip, retrace=retrace, out=out)
    recipe = planned(plan)
    _note_where(run, recipe.settings)
    rewound = None
    if base != at:
        with progress(recipe.settings, at, f"steps {base} to {at - 1} again") as show:
            rewound = rewind(run, recipe, [at], on_row=show)
        _note(_differing(same_bits(rewound.rows, logged(run))))
    settings = forks.changed(plan, change).settings
    with progress(settings) as show:
        trained = forks.fork(run, at, change, out, command=command, on_row=show, rewound=rewound)
    shown, was = shlex.quote(str(out)), shlex.quote(str(run))
    if trained < settings.steps:
        terminal.tell(f"stopped after {trained} steps; go on: tutor train --resume {shown}")
    terminal.tell(f"lay it over the run: tutor compare {was} {shown}")
    terminal.tell(f"walk it: tutor walk {shown}")
    return 0 if trained == settings.steps else INTERRUPTED


def _no_checkpoint(run: Path, at: int, base: int) -> str:
    ways = [f"--retrace trains the steps {base} to {at - 1} again"]
    if base:
        ways.insert(0, f"the nearest before it is --at {base}")
    return f"{run} has no checkpoint of the state before step {at}: {'; '.join(ways)}"


def _fork_command(run: Path, at: int, change: Change, skip: int | None, *, retrace: bool, out: Path) -> str:
    words = ["tutor", "fork", str(run), "--at", str(at), *command_words(change.settings, options=False)]
    words += ["--skip-batches", str(skip)] if skip else []
    for name in change.without:
        words += ["--remove-fault", name]
    return shlex.join([*words, *(["--retrace"] if retrace else []), "--out", str(out)])


def _differing(step: int | None) -> str | None:
    if step is None:
        return None
    return (
        f"note: trained again, the run differs from its log from step {step} on, in rounding at first: it "
        "was recorded on another machine, or with another number of threads or another torch"
    )


# Replay


@_ending
def run_replay(run: Path, asked: Sequence[Asked], show: Callable[[Sequence[Replay]], None]) -> int:
    """Take steps of the run again, keep what they showed in its folder, and show it."""
    rows = logged(run)
    recipe = recipe_of(run)
    done = len(rows)
    for one in asked:
        for step in (one.at, *([one.batch] if one.batch is not None else []), *one.state.values()):
            if not 0 <= step < done:
                raise ValueError(f"step {step} is outside {run}: its log has the steps 0 to {done - 1}")
    _note_where(run, recipe.settings)
    steps = [step for one in asked for step in (one.at, *one.parts.values())]
    first, last = nearest(run, max(0, min(steps) - LOOK_BACK)), max(steps)
    with progress(recipe.settings, last, f"steps {first} to {last - 1} again") as bar:
        found = replay(run, asked, rows, bar)
    for one in found:
        _keep_replay(run, one)
    show(found)
    _note(_differing(found[0].differs))
    return 0


def step_to_replay(run: Run) -> int:
    """The step to be replayed where none is named: the first whose loss or gradient isn't finite.

    Raises:
        ValueError: all are finite.
    """
    if (step := first_not_finite(run)) is None:
        raise ValueError(f"{run.name} stays finite to its end: say which step to replay, with --at")
    return step


def _keep_replay(run: Path, found: Replay) -> None:
    """Beside the run, where its folder can be written: one that came with tutor may lie elsewhere."""
    state = "-".join(f"{part}{step}" for part, step in found.state.items() if step != found.at)
    batch = f"-batch{found.batch}" if found.batch != found.at else ""
    name = f"step-{found.at:06d}-{found.dtype}{batch}{'-' + state if state else ''}.json"
    keep(run / REPLAYS / name, found.model_dump(mode="json"))


# Recover


@_ending
def run_recover(
    run: Path,
    letters: Sequence[str],
    show: Callable[[Recovery], None],
    *,
    at: int | None = None,
    seen: int | None = None,
    per_hour: float = 2.0,
    skip: int = recoveries.SKIP,
    divisor: float = 2.0,
    out: Path | None = None,
) -> int:
    """Try the actions of the playbook on a run that spiked, and show what each came to."""
    incident = recoveries.incident_of(run, at, seen)
    folder = out or free(f"{run.resolve().name}-recover")
    if folder.exists():
        raise ValueError(f"{folder} exists, and a run is never overwritten: choose another --out")
    settings = plan_of(run).settings
    _note_where(run, planned(plan_of(run)).settings)
    source = run
    with progress(settings, incident.end + 1, "A  the run again, for its checkpoints") as bar:
        source = recoveries.source_of(incident, folder, bar)
    if source != run:
        incident = recoveries.found_again(incident, source)
    outcomes, left_out = [], dict[str, str]()
    for letter in letters:
        try:
            with progress(settings, incident.end + 1, letter) as bar:
                outcomes.append(
                    Playbook(incident, source, folder, per_hour, skip, divisor, bar).attempt(letter)
                )
        except NotPossibleError as error:
            left_out[letter] = str(error)
    found = Recovery(
        of=str(run),
        spike=incident.spike,
        seen=incident.seen,
        per_hour=per_hour,
        soon=recoveries.SOON,
        late=recoveries.LATE,
        outcomes=tuple(outcomes),
        left_out=left_out,
    )
    keep(folder / RECOVERY, found.model_dump(mode="json"))
    show(found)
    return 0


# Verify


def free_fix(run: Path) -> Path:
    """A folder in the runs folder for the run with a fix, that nobody took yet."""
    return free(f"{run.resolve().name}-fix")


def run_fix(run: Path, fix: str | Change | None, out: Path) -> tuple[int, str]:
    """Train the run again with a fix into `out`; the exit code, and what was changed, in a few words.

    Args:
        run: the broken run.
        fix: what to change, or the name of a fix on its card; the smallest of the leaf where None.
        out: the folder of the run with the fix.
    """
    told = ""

    @_ending
    def trained() -> int:
        nonlocal told
        change = forks.typed(_chosen(run, fix), plan_of(run).settings)
        told = str(change)
        recipe = fixes.mended(run, change)
        words = ["tutor", "verify", str(run), *command_words(change.settings, options=False)]
        for name in change.without:
            words += ["--remove-fault", name]
        _note_where(run, recipe.settings)
        terminal.tell(f"training {run} again, {change}")
        with progress(recipe.settings) as bar:
            command = shlex.join([*words, "--out", str(out)])
            done = fixes.train_again(run, recipe, change, out, command=command, on_row=bar)
        if done < recipe.settings.steps:
            raise KeyboardInterrupt
        return 0

    return trained(), told


def _chosen(run: Path, fix: str | Change | None) -> Change:
    if isinstance(fix, Change):
        return fix
    broken = readers.read(run)
    if fix is not None:
        return fixes.named_fix(broken, fix)
    return fixes.smallest_fix(deciding(verifying.walked(broken)).walk)


# Shared


def logged(run: Path) -> Sequence[Mapping[str, Any]]:
    """The rows of the run's log, packed or not, as far as they can be told."""
    found = []
    for line in first_lines(run, rows_in(run)):
        with suppress(ValueError):
            found.append(json.loads(line))
    if not found:
        read = readers.read(run)
        found = read.frame.select("step", *(one for one in ("loss", "grad_norm") if read.has(one))).to_dicts()
    return found


def _note_where(run: Path, settings: Settings) -> None:
    """Say what is worth knowing of the machine before a run is trained on from here."""
    if device := elsewhere(run):
        terminal.tell(
            f"note: {run} was trained on {device}, which isn't here: what follows is trained on "
            f"{settings.device}, and differs from it in rounding at first"
        )
    _note(busy(settings))


def _note(text: str | None) -> None:
    if text:
        terminal.tell(text)
