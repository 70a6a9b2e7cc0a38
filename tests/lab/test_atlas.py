"""The atlas's arithmetic, on runs made by hand."""

import polars as pl
import pytest

from tests.lab.small import rows_of, tiny
from tutor.lab import atlas
from tutor.lab.atlas import compare, measure, shares

SETTINGS = tiny(boilerplate_step=120, boilerplate_batches=3, warmup_steps=10)


def run(after: list[float], spike: float = 40.0) -> pl.DataFrame:
    """120 steps about 1.0, three bad batches, then `after`."""
    before = [1.1, 0.9] * 60
    loss = [*before, 9.0, 8.0, 7.0, *after]
    norm = [1.0] * 120 + [spike, 2.0, 2.0] + [1.0] * len(after)
    return pl.DataFrame({"loss": loss, "grad_norm": norm, "clipped": [g > 1.5 for g in norm]})


def test_a_run_that_is_back_at_once():
    found = measure(run([1.0] * 60), SETTINGS)
    assert (found["back"], found["peak"], found["worst"], found["mean"]) == (0, 9.0, 1.0, 1.0)
    assert found["spike"] == pytest.approx(40)
    assert found["clipped"] == 0


def test_a_run_that_takes_its_time():
    found = measure(run([3.0] * 30 + [1.0] * 30), SETTINGS)
    assert found["back"] == 30
    assert found["mean"] == pytest.approx((3 * 30 + 20) / 50)


def test_a_run_that_never_comes_back():
    assert measure(run([3.0] * 60), SETTINGS)["back"] is None


def test_counts():
    control = measure(run([1.0] * 60), SETTINGS)
    backs = ([3.0] * 30 + [1.0] * 30, [3.0] * 52 + [1.0] * 8, [3.0] * 60, [1.1] * 60)
    rows = [compare(control, measure(run(after), SETTINGS), seed) for seed, after in enumerate(backs)]
    assert shares(rows) == {
        "seeds": 4,
        "control_back": 4,
        "excess": 3,
        "spike": 4,
        "recovered": 1,
        "lingered": 1,
        "diverged": 2,
    }


@pytest.mark.train
def test_whole_runs_are_not_trained_again(tmp_path):
    given = tiny(steps=6, checkpoint_every=None)
    first = atlas.run_once(given, tmp_path / "run", None, "plain")
    stamp = (tmp_path / "run/metrics.jsonl").stat().st_mtime_ns
    atlas.run_once(given, tmp_path / "run", None, "plain")
    assert (tmp_path / "run/metrics.jsonl").stat().st_mtime_ns == stamp
    (tmp_path / "run/metrics.jsonl").write_text("")
    again = atlas.run_once(given, tmp_path / "run", None, "plain")
    assert again["loss"].to_list() == first["loss"].to_list()
    assert len(rows_of(tmp_path / "run")) == 6


def test_interrupted_it_stops_and_measures_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(atlas, "train", lambda *_, **__: 3)
    with pytest.raises(SystemExit, match="goes on from here"):
        atlas.run_once(tiny(steps=6), tmp_path / "run", None, "plain")
