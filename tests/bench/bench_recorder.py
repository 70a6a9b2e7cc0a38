"""The recorder on a model of 12 M parameters, against the same loop without it; beside it what others cost.

`wandb.watch` at every step, where wandb is installed, and a hook with `.item()` on each module. Each loop has
a process of its own, and both of a pair are timed in turn; figures are steps per second. What a GPU would be
asked for is counted, which no other program on the machine disturbs.
"""

import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec

from tests.bench.bench_train import process
from tests.bench.kernels import of_bare, of_recorded
from tests.bench.table import Row, paired
from tutor.lab.recipe import devices

RUNS = 30
CPU_STEPS, GPU_STEPS = 1, 40
"""Of each pair; on a GPU the rows of twenty steps are copied out together."""
KEEPS = 0.95
"""What the recorder may leave of the speed: it reads the parameters, their copies, the gradients and both
moments once, however many tokens a step has; here there are 2048."""

KERNELS, MOVED = 1.2, 1.4
"""What a recorded step may ask of a GPU, in kernels and in bytes that they read and write."""


def rows() -> list[Row]:
    """The comparisons of `make bench`, on each device that is here."""
    others = ["items"]
    if find_spec("wandb"):
        others.append("wandb_watch")
    else:
        print("wandb isn't installed: its row is left out", file=sys.stderr)
    return _asked() + [row for device in devices() for row in _timed(device, others)]


def _timed(device: str, others: Sequence[str]) -> list[Row]:
    """How much of the bare step's speed each way of watching leaves."""
    steps = CPU_STEPS if device == "cpu" else GPU_STEPS
    with tempfile.TemporaryDirectory() as folder, process("bare", folder, steps, device) as bare:
        found = []
        for loop, at_least in (("recorded", KEEPS), *((other, None) for other in others)):
            with process(loop, folder, steps, device) as watched:
                what = f"12 M parameters on {device}: {loop} / bare, steps per second"
                found.append(paired(what, watched, bare, runs=RUNS, at_least=at_least))
        return found


def _asked() -> list[Row]:
    """What a step asks of a GPU, recorded and bare."""
    ours, theirs = of_recorded(), of_bare()
    return [
        Row(f"12 M parameters: recorded / bare, {what}", a, b, (a / b,), at_most=at_most)
        for what, a, b, at_most in (
            ("kernels a step", ours.kernels, theirs.kernels, KERNELS),
            ("bytes moved a step", ours.size, theirs.size, MOVED),
        )
    ]
