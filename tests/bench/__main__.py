"""The benchmarks, one after the other: `make bench`, or `python -m tests.bench paint check`."""

import importlib
import sys

from rich.console import Console

from tests.bench.table import render

NAMES = ("paint", "check", "formats", "keys", "train", "recorder", "experiments")

WIDEST = 100
"""Columns that the widest table takes: printed into a file it would else be cut."""

chosen = sys.argv[1:] or NAMES
rows = []
for name in chosen:
    print(f"timing {name} ...", file=sys.stderr, flush=True)
    rows += importlib.import_module(f"tests.bench.bench_{name}").rows()
console = Console(width=max(WIDEST, Console().width))
for table in render(rows):
    console.print(table)
sys.exit(0 if all(row.kept for row in rows) else 1)
