"""The driver: each target in a process of its own; what fails is kept as a fixture, and named."""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.conftest import ROOT
from tests.fuzz.child import CURRENT, LONGEST
from tests.fuzz.target import FOUND, names

TOLD = 30  # lines of a failure that are printed


def fuzz(name: str, seconds: float, seed: int, found: Path = FOUND) -> Path | None:
    """Fuzz a target; the fixture in `found` that its failing input became, None where nothing failed."""
    with tempfile.TemporaryDirectory(prefix=f"fuzz-{name}-") as folder:
        work = Path(folder)
        words = [sys.executable, "-m", "tests.fuzz.child", name, str(seconds), str(seed), folder]
        # polars' threads each reserve memory of their own; one is enough for small files.
        quiet = {"POLARS_MAX_THREADS": "1", "XDG_CACHE_HOME": f"{folder}/cache", "PYTHONPATH": str(ROOT)}
        with (work / "said").open("w+b") as said:
            done = subprocess.run(
                words, cwd=ROOT, stdout=said, stderr=said, env=os.environ | quiet, check=False,
                timeout=seconds + 20 * LONGEST,
            )  # fmt: skip
            said.seek(0)
            lines = said.read().decode(errors="replace").splitlines()
        if done.returncode == 0:
            print(*(line for line in lines if line.startswith("Done")), sep="\n")  # libFuzzer's count
            return None
        print(*lines[-TOLD:], f"exit code {done.returncode}", sep="\n", file=sys.stderr)
        data = (work / CURRENT).read_bytes() if (work / CURRENT).exists() else b""
    fixture = found / name / hashlib.sha256(data).hexdigest()[:12]
    fixture.parent.mkdir(parents=True, exist_ok=True)
    fixture.write_bytes(data)
    return fixture


def main(words: list[str] | None = None) -> int:
    """The exit code: 0 where nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"{', '.join(names())}; all by default")
    parser.add_argument("--minutes", type=float, default=60, help="in all; 60 by default")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(words)
    if unknown := set(given.targets) - set(names()):
        parser.error(f"there is no target {', '.join(sorted(unknown))}; they are: {', '.join(names())}")
    targets, failed = given.targets or names(), 0
    for name in targets:
        seconds = 60 * given.minutes / len(targets)
        print(f"{name}: {seconds / 60:.1f} minutes, seed {given.seed} ...", flush=True)
        if fixture := fuzz(name, seconds, given.seed):
            failed += 1
            print(f"{name}: FAILED, its input is kept in {fixture}", flush=True)
        else:
            print(f"{name}: nothing found", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
