"""The benchmarks, one after the other: `make bench`, or `python -m tests.bench paint check`."""

import importlib
import sys

from rich.console import Console

from tests.bench.table import render

NAMES = ("paint", "check", "formats", "keys", "train", "recorder", "experiments")

chosen = sys.argv[1:] or NAMES
rows = []
for name in chosen:
    print(f"timing {name} ...", file=sys.stderr, flush=True)
    rows += importlib.import_module(f"tests.bench.bench_{name}").rows()
for table in render(rows):
    Console().print(table)
sys.exit(0 if all(row.kept for row in rows) else 1)
