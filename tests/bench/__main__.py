"""The benchmarks, one after the other: `make bench`, or `python -m tests.bench paint check`."""

import argparse
import importlib
import sys

from rich.console import Console

from tests.bench.table import render

NAMES = ("paint", "check", "formats", "keys", "train", "recorder", "experiments")

WIDEST = 100
"""Columns that the widest table takes: printed into a file it would else be cut."""

parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(NAMES)}; all by default")
chosen = parser.parse_args().names or NAMES
if unknown := set(chosen) - set(NAMES):
    parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; they are: {', '.join(NAMES)}")
rows = []
for name in chosen:
    print(f"timing {name} ...", file=sys.stderr, flush=True)
    rows += importlib.import_module(f"tests.bench.bench_{name}").rows()
console = Console(width=max(WIDEST, Console().width))
for table in render(rows):
    console.print(table)
sys.exit(0 if all(row.kept for row in rows) else 1)
