"""`tutor train`: what the command does, apart from its options.

Trains, shows the progress, and ends with the line that says how to walk the run.
"""

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tutor import settings as knobs
from tutor.card import Card, resolve
from tutor.lab.checkpoint import saved
from tutor.lab.loop import resume as resume_run
from tutor.lab.loop import train
from tutor.paths import new_runs
from tutor.runfolder import MANIFEST
from tutor.runfolder.writer import DiskFullError
from tutor.settings import Settings

PLAIN_EVERY = 50  # steps between lines where there is no terminal
INTERRUPTED = 130


def run_train(
    card: Card | None,
    changes: Mapping[str, Any],
    *,
    control: bool = False,
    out: Path | None = None,
    resume: Path | None = None,
) -> int:
    """Train and record one run, or take `resume` up again; the exit code of the command.

    0 done, 1 the disk is full, 2 asked for something that can't be, 130 stopped by Ctrl-C.
    """
    try:
        if resume:
            folder, settings = resume, _settings_of(resume)
            with _progress(settings) as show:
                done = resume_run(folder, settings, show)
        else:
            settings, role = resolve(card, control=control, changes=changes)
            folder = out or _free(card, role)
            with _progress(settings) as show:
                done = train(
                    settings,
                    out=folder,
                    name=folder.name,
                    break_name=card and card.name,
                    role=role,
                    command=command_line(card, changes, control, folder),
                    on_row=show,
                )
    except KeyboardInterrupt:
        return _fail("stopped", INTERRUPTED)
    except DiskFullError as error:
        return _fail(error, 1)
    except ValueError as error:
        return _fail(error, 2)
    shown = shlex.quote(str(folder))
    if done < settings.steps:
        more = f"go on: tutor train --resume {shown}" if saved(folder) else "no checkpoint was kept yet"
        print(f"stopped after {done} steps; {more}")
    print(f"walk it: tutor walk {shown}")
    return 0 if done == settings.steps else INTERRUPTED


def command_line(card: Card | None, changes: Mapping[str, Any], control: bool, out: Path) -> str:
    """The command that records the same run again."""
    words = ["tutor", "train"]
    if card:
        words += ["--break", card.asked_as]
    if control:
        words.append("--control")
    for name in ("seed", "steps", "device", "dtype"):
        if name in changes:
            words += [f"--{name}", str(changes[name])]
    rest = {name: value for name, value in changes.items() if f"--{name}" not in words}
    for assignment in knobs.assignments(rest):
        words += ["--set", assignment]
    return shlex.join([*words, "--out", str(out)])


def _free(card: Card | None, role: str) -> Path:
    """A folder in the runs folder that nobody took yet: no-clip-1, no-clip-control-1, plain-1 ..."""
    label = "plain" if card is None else card.name if role == "break" else f"{card.name}-{role}"
    number = 1
    while (folder := new_runs() / f"{label}-{number}").exists():
        number += 1
    try:
        return folder.relative_to(Path.cwd())
    except ValueError:
        return folder


def _settings_of(run: Path) -> Settings:
    """What an interrupted run was begun with."""
    try:
        manifest = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
        return knobs.build(manifest["settings"])
    except (OSError, KeyError, TypeError, json.JSONDecodeError):
        raise ValueError(f"{run} isn't a run that tutor train began") from None


def _fail(error: Exception | str, code: int) -> int:
    for line in str(error).splitlines():
        print(f"tutor: {line}", file=sys.stderr)
    return code


@contextmanager
def _progress(settings: Settings) -> Iterator[Callable[[dict], None]]:
    """A bar with loss, norm, rate and time left; plain lines where there is no terminal."""
    console = Console()

    def facts(row: dict) -> dict[str, str]:
        per_step = settings.accumulation * settings.batch_size * settings.block_size
        return {
            "loss": f"{row['loss']:.3f}",
            "norm": f"{row['grad_norm']:.2f}",
            "rate": f"{row['tokens_per_second'] / per_step:.1f}",
        }

    def line(row: dict) -> None:
        if row["step"] % PLAIN_EVERY == 0 or row["step"] == settings.steps - 1:
            told = "  ".join(f"{name} {value}" for name, value in facts(row).items())
            print(f"step {row['step']}/{settings.steps}  {told} steps/s", flush=True)

    if not console.is_terminal:
        yield line
        return
    columns = (
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]}  norm {task.fields[norm]}  {task.fields[rate]} steps/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, expand=True) as bar:
        # Unseen until the first row: what is refused draws no bar.
        task = bar.add_task("training", total=settings.steps, visible=False, loss="", norm="", rate="")
        yield lambda row: bar.update(task, completed=row["step"] + 1, visible=True, **facts(row))
