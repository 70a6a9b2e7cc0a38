"""What the commands that train share: a progress bar, a folder that nobody took, and how they end."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tutor import terminal
from tutor.paths import new_runs
from tutor.settings import Settings

PLAIN_EVERY = 50  # steps between lines where there is no terminal
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def free(label: str) -> Path:
    """A folder in the runs folder that nobody took yet: no-clip-1, no-clip-control-1, plain-1 ..."""
    number = 1
    while (folder := new_runs() / f"{label}-{number}").exists():
        number += 1
    try:
        return folder.relative_to(Path.cwd())
    except ValueError:
        return folder


def refused(error: Exception | str, code: int) -> int:
    """Say what is wrong; the exit code."""
    terminal.refuse(error)
    return code


@contextmanager
def progress(
    settings: Settings, total: int | None = None, label: str = ""
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A bar with loss, norm, rate and time left; plain lines where there is no terminal.

    Args:
        settings: of the run.
        total: steps up to which it is trained, where that isn't to its end.
        label: what is trained, where there are several.
    """
    steps = settings.steps if total is None else total
    lead = f"{label}  " if label else ""
    console = terminal.console()

    def facts(row: Mapping[str, Any]) -> dict[str, Any]:
        per_step = settings.accumulation * settings.batch_size * settings.block_size
        return {
            "loss": f"{row['loss']:.3f}",
            "norm": f"{row['grad_norm']:.2f}",
            "rate": f"{row['tokens_per_second'] / per_step:.1f}",
        }

    def line(row: Mapping[str, Any]) -> None:
        if row["step"] % PLAIN_EVERY == 0 or row["step"] == steps - 1:
            told = "  ".join(f"{name} {value}" for name, value in facts(row).items())
            terminal.tell(f"{lead}step {row['step']}/{steps}  {told} steps/s")

    if not console.is_terminal:
        yield line
        return
    columns = (
        *([TextColumn(lead.strip(), markup=False)] if lead else []),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]}  norm {task.fields[norm]}  {task.fields[rate]} steps/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, expand=True) as bar:
        # Hidden until the first row: a run that is refused shows no progress bar.
        task = bar.add_task("training", total=steps, visible=False, loss="", norm="", rate="")
        yield lambda row: bar.update(task, completed=row["step"] + 1, visible=True, **facts(row))
