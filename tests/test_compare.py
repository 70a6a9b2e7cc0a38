import io
import math
import re
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from tutor import compare, readers
from tutor.detectors.grouped import Beyond, Foremost
from tutor.detectors.windows import Window
from tutor.run import Manifest, Run

SPIKE = {
    "window": Window(10, rows=5),
    "sigmas": 3.0,
    "early": 2.0,
    "resumed_above": Beyond(1.1, sigmas=5.0),
    "foremost": Foremost(rows=3, times=3.0, alone=100.0),
}
RECOVERY = {
    "window": Window(10, rows=5),
    "sigmas": 0.5,
    "within": Window(6, rows=2),
    "smooth": Window(2, rows=1),
    "still": 5,
}


def run(loss, name="a", manifest=None, first=0, **signals):
    steps = range(first, first + len(loss))
    columns = {"step": pl.Series(steps, dtype=pl.Int64), "loss": pl.Series(loss, dtype=pl.Float64)}
    columns |= {key: pl.Series(values, dtype=pl.Float64) for key, values in signals.items()}
    return Run(Path(name), name, Manifest.parse(manifest or {})[0], pl.DataFrame(columns))


def measured(a, b, at=None, spike=SPIKE, recovery=RECOVERY):
    found = compare.compare(a, b, at, spike=spike, recovery=recovery)
    return found, {one.key: (one.a, one.b) for one in found.measures}


def drawn(found, lang="en", width=80):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(compare.render(found, lang))
    return console.export_text()


CALM = [1.0, 1.2] * 10  # mean 1.1, std 0.1
SPIKED = [*CALM, 9.0, 5.0, 3.0, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1]


def test_both_are_measured_at_the_worst_spike_of_the_two():
    flat = [*CALM, 2.0, *[1.1] * 9]
    found, table = measured(
        run(flat, grad_norm=[0.5] * 30), run(SPIKED, "b", grad_norm=[0.5] * 20 + [20.0] * 10)
    )
    assert (found.step, found.parted) == (20, 20)
    assert table["peak"] == (2.0, 9.0)
    assert table["peak_step"] == (20, 20)
    assert table["before"] == pytest.approx((1.1, 1.1))
    assert table["grad_norm"] == (0.5, 20.0)
    assert table["grad_ratio"] == pytest.approx((1.0, 40.0))
    assert table["recovered"] == (1, 3)  # of the 2-step means, the first at or under 1.1 + 0.5 x 0.1
    assert table["worst_after"] == pytest.approx((1.1, 5.0))
    assert table["mean_after"][1] == pytest.approx((5.0 + 3.0 + 4 * 1.1) / 6)


def test_a_given_step_wins_over_the_worst_spike():
    found, table = measured(run(SPIKED), run(SPIKED, "b"), at=12)
    assert found.step == 12
    assert table["peak"] == (1.2, 1.2)
    assert table["grad_norm"] == (None, None)  # never recorded


def test_a_run_that_never_comes_back_has_no_steps_to_recover():
    found, table = measured(run(SPIKED), run([*CALM, *[9.0] * 10], "b"))
    assert table["recovered"] == (3, None)
    assert "not within the run" in drawn(found)
    assert "no dentro del run" in drawn(found, "es")


def test_a_run_too_short_for_the_step_is_left_blank():
    found, table = measured(run(CALM[:8]), run(SPIKED, "b"))
    assert {key: pair[0] for key, pair in table.items()} == dict.fromkeys(table)
    assert table["peak"][1] == 9.0
    assert "not within the run" not in drawn(found)  # it never was at the spike
    assert found.spans == ()


def test_runs_that_share_no_step_are_told():
    found, _ = measured(run(CALM), run(SPIKED, "b", first=100))
    assert found.spans == ((0, 19), (100, 129))
    assert "share no step (a 0..19, b 100..129)" in " ".join(drawn(found).split())
    assert "no comparten ningún paso" in drawn(found, "es")


def test_without_a_spike_the_ends_are_compared():
    found, table = measured(run(CALM), run([*CALM[:19], math.nan], "b"))
    assert found.step is None
    assert found.parted == 19
    assert table["last_loss"] == pytest.approx((1.1, (5 * 1.0 + 4 * 1.2) / 9))
    assert table["worst_loss"] == (1.2, 1.2)
    assert table["last_grad_norm"] == (None, None)
    assert table["non_finite"] == (None, 19)
    assert "No spike" in drawn(found)


def test_ends_are_compared_where_both_runs_have_rows():
    loss = [4.0 * 0.98**row + 0.01 * (row % 3) for row in range(400)]
    found, table = measured(run(loss), run(loss[:150]))
    assert (found.step, found.through, found.window) == (None, 149, 10)
    assert table["last_loss"][0] == table["last_loss"][1]
    assert "the last 10 steps through step 149" in drawn(found)
    assert measured(run(loss), run(loss))[0].through is None


def test_held_out_data_is_measured_at_its_best_and_at_the_end():
    val = [None, 2.0, None, 1.5, None, 1.75]
    found, table = measured(
        run(CALM[:6], val_loss=val), run(CALM[:6], "b", val_loss=[1.0, math.nan, *[None] * 4])
    )
    assert table["lowest"] == (1.5, 1.0)
    assert table["best_step"] == (3, 0)
    assert table["last"] == (1.75, pytest.approx(math.nan, nan_ok=True))
    assert "lowest val_loss" in drawn(found)
    assert "val_loss al final" in drawn(found, "es")
    assert "gradient norm" not in drawn(found)  # which neither has


def test_scores_that_both_have_are_measured():
    rewards = {"episode_reward": [1.0, 9.0, 4.0]}
    mute = [run([], "a"), run([], "b")]
    with_scores = [
        Run(one.path, one.name, one.manifest, pl.DataFrame({"step": [0, 1, 2], **rewards, **more}))
        for one, more in zip(mute, ({"success": [0.0, 0.5, 1.0]}, {}), strict=True)
    ]
    found, table = measured(*with_scores)
    assert table["highest"] == (9.0, 9.0)
    assert (table["best_step"], table["last"]) == ((1, 1), (4.0, 4.0))
    assert "success" not in drawn(found)


def test_logs_of_one_name_are_told_apart_by_their_folders():
    a, b = (run(CALM, "monitor.csv") for _ in "ab")
    a, b = (
        Run(Path(folder) / "monitor.csv", one.name, one.manifest, one.frame)
        for folder, one in zip("ab", (a, b), strict=True)
    )
    assert [one.name for one in compare.named_apart(a, b)] == ["a/monitor.csv", "b/monitor.csv"]
    assert compare.named_apart(a, a) == (a, a)


def test_a_peak_of_nan_leaves_what_can_be_told():
    _, table = measured(run(SPIKED), run([*CALM, *[math.inf] * 10], "b"))
    assert table["peak"] == (9.0, None)
    assert table["mean_after"][1] is None
    assert table["non_finite"] == (None, 20)


def test_an_empty_log_and_one_without_loss_are_compared_too():
    empty = run([], "empty")
    mute = Run(Path("m"), "mute", Manifest(), pl.DataFrame({"step": [0, 1]}))
    found, table = measured(empty, mute)
    assert (found.step, found.parted, table["last_loss"]) == (None, None, (None, None))
    assert "No figures on spikes: neither run recorded a loss" in drawn(found)


def test_rates_that_differ_are_told_of_logs_whose_settings_nobody_wrote():
    found, _ = measured(run(CALM, lr=[1e-3] * len(CALM)), run(CALM, "b", lr=[3e-4] * len(CALM)))
    assert [(one.key, one.a, one.b) for one in found.settings] == [("max(lr)", 1e-3, 3e-4)]
    same, _ = measured(run(CALM, lr=[1e-3] * len(CALM)), run(CALM, "b", lr=[1e-3] * len(CALM)))
    assert same.settings == ()


def test_only_settings_that_differ_are_listed():
    a = {
        "name": "x",
        "command": "c",
        "settings": {"lr": 1e-3, "grad_clip": 1.0},
        "seed": 1,
        "versions": {"torch": "2"},
    }
    b = {"name": "y", "settings": {"lr": 1e-3, "grad_clip": None}, "seed": 2, "versions": {"torch": "3"}}
    found, _ = measured(run(CALM, manifest=a), run(CALM, "b", manifest=b))
    assert [(one.key, one.a, one.b) for one in found.settings] == [
        ("grad_clip", 1.0, None),
        ("versions.torch", "2", "3"),
    ]
    assert found.parted is None


def test_a_foreign_manifest_is_compared_whole():
    found, _ = measured(
        run(CALM, manifest={"seed": 1, "optim": {"beta2": 0.95}}), run(CALM, "b", manifest={"seed": 2})
    )
    assert [(one.key, one.a, one.b) for one in found.settings] == [
        ("seed", 1, 2),
        ("optim.beta2", 0.95, compare.ABSENT),
    ]


def test_names_and_settings_are_never_markup():
    manifest = {"[red]key": "[/red]\x1b[31m"}
    text = drawn(measured(run(CALM, "[bold]a[/bold]", manifest), run(CALM, "b"))[0], width=120)
    assert "[bold]a[/bold]" in text
    assert "[red]key" in text
    assert "\x1b[31m" not in text


def test_the_tables_fit_eighty_columns():
    long = run(SPIKED, "a-run-with-a-name-that-goes-on-and-on-and-on-for-no-good-reason", {"k": "v" * 200})
    text = drawn(measured(run(SPIKED), long)[0])
    assert max(map(len, text.splitlines())) <= 80


class TestOtherTrees:
    """A tree that asks about no spike, or about no recovery: its numbers alone are measured by."""

    @pytest.mark.parametrize("recovery", [None, RECOVERY])
    @pytest.mark.parametrize("at", [None, 20])
    def test_that_asks_about_no_spike_gives_no_figures_on_one(self, at, recovery):
        found, table = measured(run(CALM + [1.0] * 10), run(SPIKED, "b"), at, None, recovery)
        assert (table, found.window, found.step, found.parted) == ({}, None, at, 20)
        assert "No figures on spikes: this tree asks about none" in drawn(found)
        assert "first differ at step 20" in drawn(found)
        assert "este árbol no pregunta por ninguno" in drawn(found, "es")

    def test_what_differs_and_a_loss_that_is_not_finite_need_no_numbers(self):
        a = run(CALM, manifest={"lr": 1})
        b = run([*CALM[:19], math.nan], "b", manifest={"lr": 2})
        found, table = measured(a, b, spike=None, recovery=None)
        assert table == {"non_finite": (None, 19)}
        assert [one.key for one in found.settings] == ["lr"]
        assert "first NaN or Inf at step" in drawn(found)

    def test_that_asks_about_no_recovery_leaves_out_what_came_after(self):
        found, table = measured(run(SPIKED), run(SPIKED, "b"), recovery=None)
        assert (found.step, found.within) == (20, None)
        assert list(table) == ["before", "peak", "peak_step", "grad_norm", "grad_ratio"]
        assert table["peak"] == (9.0, 9.0)
        assert "–" not in re.sub(r"gradient norm.*|over the mean.*", "", drawn(found))

    def test_that_asks_about_no_recovery_compares_the_ends_without_a_spike(self):
        found, table = measured(run(CALM), run(CALM, "b"), recovery=None)
        assert found.step is None
        assert table["last_loss"] == pytest.approx((1.1, 1.1))
        assert "No spike in either run: the last 10 steps" in drawn(found)


def test_what_lies_beside_the_logs_of_another_trainer_tells_them_apart(tmp_path: Path):
    """By its own names, where tutor has none for it; not where a run was written, which always differs."""
    runs = list[Run]()
    for version, dropout in enumerate((0.0, 0.6)):
        folder = tmp_path / f"version_{version}"
        folder.mkdir()
        rows = "".join(f"0,{step},{2 - step / 100}\n" for step in range(0, 60, 10))
        (folder / "metrics.csv").write_text("epoch,step,train_loss\n" + rows)
        settings = (
            f"lr: {version + 1}e-3\ndropout: {dropout}\nhidden: 48\nlog_dir: {folder}\nmodel: {{depth: 2}}\n"
        )
        (folder / "hparams.yaml").write_text(settings)
        runs.append(readers.read(folder / "metrics.csv"))
    assert runs[0].beside["model.depth"] == 2
    found = {one.key: (one.a, one.b) for one in compare.compare(*runs, spike=None, recovery=None).settings}
    assert found["dropout"] == (0.0, 0.6)
    assert (
        len([both for both in found.values() if both == (0.001, 0.002)]) == 1
    )  # not once more by its own name
    assert found.keys().isdisjoint({"hidden", "log_dir", "model.depth"})
