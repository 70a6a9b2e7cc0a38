"""A checkpoint: gone on from, or refused in one line with the log as it was."""

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

torch = pytest.importorskip("torch")  # the app's tests run without

from tests.lab.small import recipe, rows_of  # noqa: E402
from tutor.lab import checkpoint  # noqa: E402
from tutor.lab.loop import resume  # noqa: E402
from tutor.lab.recipe import Recipe  # noqa: E402
from tutor.lab.trainer import Trainer  # noqa: E402

DONE, STEPS = 2, 3  # of the interrupted run
LOG = b"".join(json.dumps({"step": step, "loss": 6.0}).encode() + b"\n" for step in range(DONE))


@cache
def small() -> Recipe:
    """The recipe of the run."""
    return recipe(steps=STEPS, checkpoint_every=None, val_every=1000)


def _state() -> dict[str, Any]:
    """What it keeps after two steps."""
    trainer = Trainer(small())
    for step in range(DONE):
        trainer.step(step)
    return trainer.state() | {"counted": {"loss_ema": 6.0, "skipped_steps": 0}, "next_step": DONE}


def _saved(state: Any) -> bytes:
    held = io.BytesIO()
    torch.save(state, held)
    return held.getvalue()


STATE = _state()
SEEDS = [_saved(STATE)]
WORDS = [
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x80\x02",
    b"cos\nsystem\n",
    b"q\x00.",
    b"next_step",
    b"ctorch\nload\n",
]
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just([]) | st.just({})
    | st.lists(st.integers(0, 3), max_size=2).map(lambda shape: torch.zeros(shape))
    | st.lists(st.integers(-5, 400), max_size=3)
)  # fmt: skip


def _places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to each value in a state."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(place for key, one in inner for place in _places(one, (*way, key)))]


def _with(value: Any, way: tuple[Any, ...], put: Any) -> Any:
    """A copy of a state with another value there."""
    if not way:
        return put
    first, *rest = way
    copied = value.copy()
    copied[first] = _with(value[first], tuple(rest), put)
    return copied


def _damaged(given: tuple[int, int, bytes]) -> bytes:
    end, at, put = given
    data = SEEDS[0][: len(SEEDS[0]) - end]
    at %= len(data) + 1
    return data[:at] + put + data[at + len(put) :]


ENDS = st.just(0) | st.integers(0, 10**5)  # bytes that are cut off
INPUTS = (
    st.tuples(st.sampled_from(_places(STATE)), LEAVES).map(lambda odd: _saved(_with(STATE, *odd)))
    | st.tuples(st.just(0) | st.integers(0, 10**5), st.integers(0, 10**6), st.binary(max_size=8)).map(
        _damaged
    )
    | LEAVES.map(_saved)
    | st.binary(max_size=60)
)


def check(data: bytes, folder: Path) -> None:
    path = checkpoint.path_of(folder, DONE)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    (folder / "metrics.jsonl").write_bytes(LOG)
    try:
        done = resume(folder, small())
    except ValueError as error:
        assert "can't be resumed from" in str(error)
        assert "\n" not in str(error)
        assert len(str(error)) < len(str(path)) + 400
        assert (folder / "metrics.jsonl").read_bytes() == LOG
        return
    assert done == STEPS
    assert [row["step"] for row in rows_of(folder)] == list(range(STEPS))
