"""One target fuzzed in a process of its own, whose time and memory are limited: started by `tests.fuzz`.

The input at hand lies in the work folder, so that it is known whatever ends the process: an exception, a
segmentation fault, an endless loop, or too much memory.

First hypothesis makes inputs by what the format is. Where atheris is installed, it then goes on from those,
guided by the branches that an input takes; else hypothesis does, guided by the lines.
"""

import contextlib
import faulthandler
import importlib.util
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import Phase, given, seed, settings
from hypothesis import target as climb

from tests.fuzz.target import UNHURRIED, Target, load

MEMORY = 6 << 30
"""Bytes of address space: polars and torch reserve far more than they use."""

LONGEST = int(os.environ.get("FUZZ_LONGEST", "20"))
"""Seconds of a processor for one input; one that waits, for a pipe say, has ten times as long."""

LARGEST = 20_000
"""Bytes of one input."""

FIRST = 100
"""Inputs of hypothesis in one round."""

CURRENT = "input"
"""The file in the work folder that holds the input at hand."""

TUTOR = str(Path(__file__).parents[2] / "tutor")


def main(name: str, seconds: float, first_seed: int, work: Path) -> None:
    """Fuzz until the time is over; any failure ends the process with another exit code than 0."""
    until = time.monotonic() + seconds
    guided = importlib.util.find_spec("atheris") is not None
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # a traceback, then the end
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.ExitStack() as stack:
        if guided:
            atheris: Any = importlib.import_module("atheris")  # untyped
            # Rooms import one another late, so this stays in force.
            stack.enter_context(atheris.instrument_imports(include=["tutor"]))
        target = load(name)
        corpus = work / "corpus"
        corpus.mkdir()
        for number, data in enumerate(target.SEEDS):
            (corpus / f"seed-{number}").write_bytes(data)
        check = limited(target, work)
        for data in target.SEEDS:
            check(data)
        by_format(target, check, first_seed, keep=corpus, climbing=False)
        if guided:
            by_branches(target, check, first_seed, until, work)
        while time.monotonic() < until:
            first_seed += 1
            by_format(target, check, first_seed, climbing=True)


def limited(target: Target, work: Path) -> Callable[[bytes], None]:
    """The target's check, its input kept, and ended with a traceback where it takes too long."""
    folder = work / "folder"
    folder.mkdir()

    def check(data: bytes) -> None:
        (work / CURRENT).write_bytes(data)
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        faulthandler.dump_traceback_later(10 * LONGEST, exit=True)
        target.check(data, folder)
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)

    return check


def by_format(
    target: Target,
    check: Callable[[bytes], None],
    number: int,
    *,
    keep: Path | None = None,
    climbing: bool,
    examples: int = FIRST,
) -> None:
    """One round of hypothesis; `climbing` it prefers inputs that reach many lines."""
    phases = [Phase.generate, Phase.target, Phase.shrink] if climbing else [Phase.generate, Phase.shrink]

    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=UNHURRIED,
        phases=phases,
        report_multiple_bugs=False,
    )
    @seed(number)
    @given(target.INPUTS)
    def one(data: bytes) -> None:
        if not climbing:
            check(data)
        else:
            climb(float(lines_of(lambda: check(data))))
        if keep:
            (keep / f"made-{number}-{len(list(keep.iterdir()))}").write_bytes(data[:LARGEST])

    one()


def lines_of(call: Callable[[], None]) -> int:
    """How many lines of tutor the call reaches."""
    lines: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if not frame.f_code.co_filename.startswith(TUTOR):
            return None
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return len(lines)


def by_branches(
    target: Target, check: Callable[[bytes], None], number: int, until: float, work: Path
) -> None:
    """libFuzzer, through atheris; it ends the process."""
    atheris: Any = importlib.import_module("atheris")  # untyped
    dictionary = work / "words"
    escaped = ("".join(f"\\x{byte:02x}" for byte in word) for word in target.WORDS)
    dictionary.write_text("".join(f'"{word}"\n' for word in escaped))
    options = {
        "seed": number + 1,  # 0 would be a seed of the clock
        "max_total_time": max(1, round(until - time.monotonic())),
        "max_len": LARGEST,
        "timeout": 20 * LONGEST,  # `limited` ends it before, with a traceback
        "rss_limit_mb": MEMORY >> 20,
        "artifact_prefix": f"{work}/",
        "dict": dictionary,
        "verbosity": 0,
    }
    atheris.Setup(
        [sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), str(work / "corpus")], check
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
