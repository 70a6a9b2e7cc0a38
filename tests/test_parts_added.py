"""Parts of the loss that a run adds on its way."""

import polars as pl
import pytest

from tutor.run import parts

LOSS = [4.0, 3.0, 2.0, 9.0, 8.0, 7.0]


@pytest.mark.parametrize(
    ("part", "rows"),
    [
        ([None, None, None, 7.0, 6.0, 5.0], [3]),
        ([0.0, 0.0, 0.0, 3.5, 6.0, 5.0], [3]),  # half of the rise
        ([0.0, 0.0, 0.0, 3.4, 6.0, 5.0], []),
        ([1.0, 0.0, 0.0, 7.0, 6.0, 5.0], []),  # it was there
        ([None, 7.0, 7.0, 7.0, 7.0, 7.0], []),  # too early to know
        ([None] * 6, []),
        ([None, None, None, 70.0, 6.0, 5.0], []),  # far more than the rise
        ([None, None, None, float("inf"), None, None], []),
    ],
)
def test_where_they_begin_and_lift_it(part: list[float | None], rows: list[int]):
    frame = pl.DataFrame({"step": range(6), "loss": LOSS, "kl_loss": part})
    assert [*parts.added(frame)] == rows


@pytest.mark.parametrize(
    "name",
    ["val_kl_loss", "accuracy", "val_loss", "grad_norm", "train_loss_epoch", "loss_avg100", "ema_loss"],
)
def test_others_are_no_parts(name: str):
    assert not parts.added(pl.DataFrame({"step": range(6), "loss": LOSS, name: [None] * 3 + [7.0] * 3}))


def test_several_that_begin_together():
    both = [None, None, None, 2.0, 2.0, 2.0]
    frame = pl.DataFrame(
        {"step": range(6), "loss": LOSS, "a_loss": both, "b_loss": both, "c loss": [1.0] * 6}
    )
    assert parts.added(frame) == {3: ["a_loss", "b_loss"]}
    assert not parts.added(frame.drop("loss"))
