"""The atlas's arithmetic, on runs made by hand."""

from pathlib import Path

import polars as pl
import pytest

from tests.conftest import ROOT
from tests.lab.small import rows_of, tiny
from tutor import card as cards
from tutor import tree
from tutor.calibration import figures
from tutor.card import Plan
from tutor.lab import atlas
from tutor.lab.atlas import Job, compare, verdict

SETTINGS = tiny(warmup_steps=10)


def run(after: list[float], spike: float = 40.0) -> pl.DataFrame:
    """120 steps about 1.0, three bad batches, then `after`."""
    before = [1.1, 0.9] * 60
    loss = [*before, 9.0, 8.0, 7.0, *after]
    norm = [1.0] * 120 + [spike, 2.0, 2.0] + [1.0] * len(after)
    return pl.DataFrame({"loss": loss, "grad_norm": norm, "clipped": [g > 1.5 for g in norm]})


def measure(metrics: pl.DataFrame) -> dict:
    return atlas.aftermath(metrics, SETTINGS, 120, 123)


def test_a_run_that_is_back_at_once():
    found = measure(run([1.0] * 60))
    assert (found["back"], found["peak"], found["worst"], found["mean"]) == (0, 9.0, 1.0, 1.0)
    assert found["spike"] == pytest.approx(40)
    assert found["clipped"] == 0


def test_a_run_that_takes_its_time():
    found = measure(run([3.0] * 30 + [1.0] * 30))
    assert found["back"] == 30
    assert found["mean"] == pytest.approx((3 * 30 + 20) / 50)


def test_a_run_that_never_comes_back():
    assert measure(run([3.0] * 60))["back"] is None


def test_counts():
    control = measure(run([1.0] * 60))
    backs = ([3.0] * 30 + [1.0] * 30, [3.0] * 52 + [1.0] * 8, [3.0] * 60, [1.1] * 60)
    rows = [{"seed": seed} | compare(control, measure(run(after))) for seed, after in enumerate(backs)]
    found = figures(rows)
    assert {key: found[key] for key in ("seeds", "control_back", "excess", "spike")} == {
        "seeds": 4,
        "control_back": 4,
        "excess": 3,
        "spike": 4,
    }
    assert (found["recovered"], found["lingered"], found["diverged"]) == (1, 1, 2)
    assert (found["recovered_percent"], found["lingered_min"], found["lingered_max"]) == (25, 52, 52)


@pytest.mark.parametrize(("count", "kept"), [(20, True), (19, True), (18, False)])
def test_the_cards_promise_is_held_against_the_leaves(count: int, kept: bool):
    leaves = ["persistent"] * 3 + ["long-tail-token"] * (count - 3) + ["contained"] * (20 - count)
    found, line = verdict(cards.find("no-clip"), [{"break_leaf": leaf} for leaf in leaves])
    assert found == kept
    assert line.startswith(
        f"no-clip: {count} of 20 walks end at long-tail-token or persistent; promised 19 of 20"
    )


def test_a_promise_of_a_leaf_that_is_not_there_is_told_before_training(
    tmp_path: Path, capsys: pytest.CaptureFixture
):
    text = (ROOT / "trees/breaks/no-clip-silent.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(text.replace("leaf: contained", "leaf: contented"))
    with pytest.raises(SystemExit) as ended:
        atlas.main([str(tmp_path / "mine.yaml"), "--runs", str(tmp_path / "runs")])
    assert ended.value.code == 2
    assert "expects 'contented', no leaf of phase-19" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def job(out: Path, **changes: object) -> Job:
    return Job(Plan(tiny(steps=6, checkpoint_every=2, **changes)), None, "phase-19", out)


@pytest.mark.train
def test_whole_runs_are_not_trained_again(tmp_path):
    given = job(tmp_path / "run")
    first = atlas.run_once(given)
    assert not (tmp_path / "run/checkpoints").exists()
    stamp = (tmp_path / "run/metrics.jsonl").stat().st_mtime_ns
    atlas.run_once(given)
    assert (tmp_path / "run/metrics.jsonl").stat().st_mtime_ns == stamp
    (tmp_path / "run/metrics.jsonl").write_text("")
    again = atlas.run_once(given)
    assert again["loss"].to_list() == first["loss"].to_list()
    assert len(rows_of(tmp_path / "run")) == 6


def test_interrupted_it_stops_and_measures_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(atlas, "train", lambda *_, **__: 3)
    with pytest.raises(SystemExit, match="goes on from here"):
        atlas.run_once(job(tmp_path / "run"))


@pytest.mark.train
def test_many_at_once_give_the_rows_of_one_after_another_and_the_leaf_of_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(atlas, "jobs_of", lambda card, seed, steps, runs: [job(runs / str(seed), seed=seed)])
    both = [list(atlas.table_of(None, range(3), 6, tmp_path / str(n), n)) for n in (1, 2)]
    assert both[0] == both[1]
    assert [row["seed"] for row in both[0]] == [0, 1, 2]
    assert {row["leaf"] for row in both[0]} <= {
        *tree.find("phase-19").leaves,
        *tree.find("phase-19").questions,
    }


def test_the_jobs_of_a_seed_are_its_control_and_its_break(tmp_path: Path):
    control, broken = atlas.jobs_of(cards.find("no-clip"), 7, 450, tmp_path)
    assert (control.plan.role, broken.plan.role) == ("control", "break")
    assert control.plan.settings.seed == broken.plan.settings.seed == 7
    assert control.plan.settings.threads == 1
    assert control.plan.trigger == broken.plan.trigger
