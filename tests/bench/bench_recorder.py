"""The recorder on a model of 12 M parameters, against the same loop without it; beside it what others cost.

`wandb.watch` at every step, where wandb is installed, and a hook with `.item()` on each module. Each loop has
a process of its own, and both of a pair are timed in turn; figures are steps per second.
"""

import sys
import tempfile
from importlib.util import find_spec

from tests.bench.bench_train import process
from tests.bench.table import Row, paired

STEPS, RUNS = 1, 12
KEEPS = 0.95
"""What the recorder may leave of the speed: it takes about as long as three of AdamW's own passes over the
parameters, however many tokens a step has; here there are 2048."""


def rows() -> list[Row]:
    """The comparisons of `make bench`."""
    others = ["items"]
    if find_spec("wandb"):
        others.append("wandb_watch")
    else:
        print("wandb isn't installed: its row is left out", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder, process("bare", folder, STEPS) as bare:
        found = []
        for loop, at_least in (("recorded", KEEPS), *((other, None) for other in others)):
            with process(loop, folder, STEPS) as watched:
                what = f"12 M parameters: {loop} / bare, steps per second"
                found.append(paired(what, watched, bare, runs=RUNS, at_least=at_least))
        return found
