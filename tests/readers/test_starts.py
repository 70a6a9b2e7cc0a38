"""Logs to which several runs were written one after another, and those whose counter began again."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.readers.test_tables import keys, written
from tutor import readers
from tutor.cli import walking
from tutor.readers.common import pieces
from tutor.run import BadRunError

FALL = [4.0, 3.0, 2.5, 2.2, 2.1, 2.0]


def csv(*runs: list[float], name: str = "loss", begin: int = 0) -> str:
    """Runs one after another, each counted from `begin`."""
    rows = [f"{step},{loss}" for run in runs for step, loss in enumerate(run, begin)]
    return f"step,{name}\n" + "\n".join(rows) + "\n"


def test_each_run_has_a_path_of_its_own(tmp_path: Path):
    path = written(tmp_path, csv(FALL, [4.1, *FALL[1:5]], FALL))
    runs = readers.runs_of(readers.every(str(path))[0])
    assert [(run.path, len(run)) for run in runs] == [(path / "1", 6), (path / "2", 5), (path / "3", 6)]
    assert [keys(run) for run in runs] == [["one_of"]] * 3
    assert runs[1].name.endswith("/2")
    assert runs[0].remarks[0].says("en").startswith("run 1 of 3")
    assert [one.path for one in readers.listed(path)] == [run.path for run in runs]
    assert len(readers.open_run(f"{path}/2")) == 5
    with pytest.raises(BadRunError, match="holds 3 runs, 1 to 3"):
        readers.open_run(f"{path}/4")


def test_a_heading_written_again_begins_a_run_wherever_its_loss_begins(tmp_path: Path):
    on = [1.9, 1.8, 1.75, 1.7, 1.65]
    text = csv(FALL) + csv(on) + csv(FALL) + "step,loss\n"
    run = readers.read(written(tmp_path, text))
    assert [one["loss"].to_list() for one in run.before] == [FALL, on]
    assert (run["loss"].to_list(), run.frame.columns, keys(run)) == (FALL, ["step", "loss"], ["one_of"])
    padded = readers.read(written(tmp_path, csv(FALL).replace(",", ", ") + csv(on).replace(",", ", ")))
    assert [len(one) for one in (*padded.before, padded)] == [6, 5]


def test_a_run_that_had_hardly_begun_to_learn_shows_where_its_loss_is_steady(tmp_path: Path):
    """The first losses of a large vocabulary come down by less than a tenth in hundreds of steps."""
    slow = [11.0 - 0.025 * row + (0.03 if row % 2 else -0.03) for row in range(30)]
    runs = readers.read(written(tmp_path, csv(slow, slow[:25], slow[:5])))
    assert [len(one) for one in (*runs.before, runs)] == [30, 25, 5]
    flat = [0.6931 + (0.0004 if row % 2 else -0.0004) for row in range(30)]
    assert readers.read(written(tmp_path, csv(flat, flat))).before == ()


def test_an_epoch_that_begins_far_above_all_of_late_is_the_first_of_another_run(tmp_path: Path):
    """Epochs begin again at 1, and a first epoch's mean that isn't as high as the other's was."""
    one = [9.5, 1.46, 1.4, 1.3, *[1.2 - 0.03 * row for row in range(21)]]
    for first, runs in ((3.4, 2), (1.1, 1)):
        text = csv(one, [first, 0.9, 0.8, 0.7, 0.6, 0.5], begin=1).replace("step", "epoch")
        assert len(readers.runs_of(readers.every(str(written(tmp_path, text)))[0])) == runs


@pytest.mark.parametrize(("first", "told"), [(2.0, True), (math.nan, False)])
def test_nan_between_evaluations_at_equal_distances_is_no_value(tmp_path: Path, first: float, told: bool):
    """Not beside a training loss that isn't finite: there a model was lost."""
    rows = [
        f"{row},{2 - row / 50 if row else first},{1.5 if row % 5 == 4 else math.nan}" for row in range(20)
    ]
    run = readers.read(written(tmp_path, "epoch,loss,val_loss\n" + "\n".join(rows) + "\n"))
    assert run["val_loss"].count() == (4 if told else 20)
    assert ("nan_between" in keys(run)) is told


def test_nan_at_odd_distances_is_an_evaluation_that_failed(tmp_path: Path):
    rows = [f"{row},{2 - row / 50},{1.5 if row in (4, 9, 15) else math.nan}" for row in range(20)]
    run = readers.read(written(tmp_path, "epoch,loss,val_loss\n" + "\n".join(rows) + "\n"))
    assert (run["val_loss"].count(), "nan_between" in keys(run)) == (20, False)


def test_a_run_that_was_lost_to_nan_is_over_where_the_steps_begin_again(tmp_path: Path):
    lost = [4.0, *[math.nan] * 5]
    runs = readers.read(written(tmp_path, csv(lost, FALL)))
    assert [len(one) for one in (*runs.before, runs)] == [6, 6]
    skipped = [4.0, 3.0, 2.5, 2.2, *[math.nan] * 4]  # batches that were left out, each epoch counted anew
    assert readers.read(written(tmp_path, csv(skipped, [2.1, 2.0, 1.9, 1.8, 1.7]))).before == ()


def test_a_heading_is_one_by_all_of_its_names(tmp_path: Path):
    worded = csv(FALL).replace("step,loss", "note,step,loss").replace("\n", "\nnote,").removesuffix("note,")
    assert readers.read(written(tmp_path, worded))["loss"].to_list() == FALL
    commented = "# " + csv(FALL) + "# " + csv(FALL)
    assert [len(one) for one in readers.read(written(tmp_path, commented)).before] == [6]


def test_headings_in_a_file_of_many_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pieces, "PIECE", 20)
    run = readers.read(written(tmp_path, csv(FALL) + csv(FALL) + csv(FALL)))
    assert [one["loss"].to_list() for one in (*run.before, run)] == [FALL] * 3


def test_a_heading_written_again_where_a_run_goes_on_is_passed_over(tmp_path: Path):
    run = readers.read(written(tmp_path, csv(FALL) + csv([1.9, 1.8, 1.75], begin=6)))
    assert (run.steps.to_list(), run.before, keys(run)) == (list(range(9)), (), [])


def test_who_follows_such_a_log_means_its_last_run(tmp_path: Path):
    path = written(tmp_path, csv(FALL, FALL))
    assert walking.holds_several(path, follow=False)
    assert not walking.holds_several(path, follow=True)


def test_a_run_alone_is_at_no_place(tmp_path: Path):
    path = written(tmp_path, csv(FALL))
    assert [one.path for one in readers.listed(path)] == [path]
    with pytest.raises(BadRunError, match="holds one run"):
        readers.open_run(f"{path}/1")


def test_the_files_beside_a_log_tell_of_each_run(tmp_path: Path):
    path = written(tmp_path, csv(FALL, FALL))
    (tmp_path / "config.json").write_text('{"vocab_size": 512}')
    runs = readers.runs_of(readers.every(str(path))[0])
    assert [run.manifest.vocab_size for run in runs] == [512, 512]
    assert readers.open_run(f"{path}/1").manifest.vocab_size == 512


def test_a_start_too_short_to_tell_anything_is_passed_over(tmp_path: Path):
    run = readers.read(written(tmp_path, csv(FALL[:4], FALL)))
    assert (run.before, run["loss"].to_list(), keys(run)) == ((), FALL, ["resumed"])


def test_another_run_may_begin_higher(tmp_path: Path):
    run = readers.read(written(tmp_path, csv(FALL, [9.0, *FALL])))
    assert [len(one) for one in run.before] == [6]


@pytest.mark.parametrize(("counter", "count"), [("epoch", 1), ("step", 0)])
def test_epochs_begin_again_in_another_run_however_little_it_had_learned(
    tmp_path: Path, counter: str, count: int
):
    """Who goes on from a checkpoint goes on to count epochs; steps may be those of an epoch."""
    first, second = [1.0986, 1.0955, 1.089, 1.079, 1.072], [1.369, 1.144, 1.283, 1.177, 1.031]
    run = readers.read(written(tmp_path, csv(first, second).replace("step", counter)))
    assert [one["loss"].to_list() for one in run.before] == [first] * count


def test_a_run_that_broke_and_was_started_again_is_kept(tmp_path: Path):
    run = readers.read(written(tmp_path, csv([*FALL, float("nan"), float("nan")], FALL)))
    assert [len(one) for one in run.before] == [8]


@pytest.mark.parametrize("begin", [0, 1])
def test_steps_that_begin_again_where_the_loss_goes_on_are_counted_on(tmp_path: Path, begin: int):
    run = readers.read(written(tmp_path, csv(FALL, [1.9, 1.8, 1.75], begin=begin)))
    assert run.steps.to_list() == list(range(begin, begin + 9))
    assert (run["loss"].to_list(), keys(run)) == ([*FALL, 1.9, 1.8, 1.75], ["counted_on"])


def test_the_batches_of_each_epoch_are_counted_on_however_many_there_are(tmp_path: Path):
    rows = [
        f"{epoch},{batch},{4 - epoch / 100 + batch / 50}"
        for epoch in range(150)
        for batch in range(0, 30, 10)
    ]
    run = readers.read(written(tmp_path, "epoch,iter,loss\n" + "\n".join(rows) + "\n"))
    assert run.steps.to_list() == list(range(0, 4500, 10))
    assert keys(run) == ["counted_on"]


def test_epochs_that_nobody_counts_are_one_run_also_where_it_hardly_learns_any_more(tmp_path: Path):
    whole = [2.0 + 4.0 / (1 + row) + 0.01 * (row * 7 % 5) for row in range(400)]
    run = readers.read(written(tmp_path, csv(*(whole[at : at + 20] for at in range(0, 400, 20)))))
    assert (len(run), run.before, keys(run)) == (400, (), ["counted_on"])


@pytest.mark.parametrize("loss", [[2.3, 2.31, 2.29, 2.3, 2.32, 2.3], [0.0] * 6])
def test_what_never_moved_is_no_run_before(tmp_path: Path, loss: list[float]):
    assert readers.read(written(tmp_path, csv(loss, loss, loss))).before == ()


def test_of_a_loss_of_nothing_after_a_run_the_last_start_is_read(tmp_path: Path):
    run = readers.read(written(tmp_path, csv(FALL, [0.0] * 6)))
    assert (run["loss"].to_list(), keys(run)) == ([0.0] * 6, ["resumed"])


def test_a_run_that_goes_back_on_its_way_was_resumed(tmp_path: Path):
    text = csv(FALL) + "".join(f"{step},{1.5 - step / 100}\n" for step in range(3, 9))
    run = readers.read(written(tmp_path, text))
    assert (run.steps.to_list(), run.before, keys(run)) == (list(range(9)), (), ["resumed"])


def test_validation_alone_tells_runs_apart(tmp_path: Path):
    run = readers.read(written(tmp_path, csv(FALL, FALL, name="val_loss")))
    assert [one["val_loss"].to_list() for one in run.before] == [FALL]


def test_a_log_that_goes_back_all_the_time_is_sorted(tmp_path: Path):
    text = csv(*[[4.0, 3.0]] * 120)
    run = readers.read(written(tmp_path, text))
    assert (len(run), run.before) == (2, ())


class TestNamed:
    """A column says of which run a row is."""

    ROWS = (
        ("VGG16", 1, 2.5),
        ("VGG16", 2, 1.5),
        ("VGG16", 3, 1.0),
        *(("a/b", at, 3.5 - at) for at in (1, 2, 3)),
    )

    def text(self, rows: Sequence[tuple[str, int, float]], column: str = "Model") -> str:
        return f"{column},Epoch,Loss\n" + "".join(f"{name},{at},{loss}\n" for name, at, loss in rows)

    @pytest.mark.parametrize("order", [0, 1])  # run by run, and epoch by epoch
    def test_each_is_called_as_the_log_does(self, tmp_path: Path, order: int):
        rows = sorted(self.ROWS, key=lambda one: one[1]) if order else self.ROWS
        path = written(tmp_path, self.text(rows))
        runs = readers.runs_of(readers.every(str(path))[0])
        assert [(run.path.name, run["loss"].to_list()) for run in runs] == [
            ("VGG16", [2.5, 1.5, 1.0]),
            ("a_b", [2.5, 1.5, 0.5]),
        ]
        assert runs[0].remarks[0].says("en").startswith(f"run 1 of 2 in this log: {path}/VGG16 is the first")
        assert readers.open_run(f"{path}/a_b").frame.columns == ["step", "loss"]
        with pytest.raises(BadRunError, match="holds 2 runs, VGG16 to a_b"):
            readers.open_run(f"{path}/1")

    def test_a_fold_may_be_a_number(self, tmp_path: Path):
        path = written(
            tmp_path, self.text([(str(len(name)), at, loss) for name, at, loss in self.ROWS], "fold")
        )
        assert [one.path.name for one in readers.listed(path)] == ["5", "3"]

    @pytest.mark.parametrize("columns", ["epoch,seed,loss,val_loss", "seed,split,epoch,loss"])
    def test_wherever_the_column_stands(self, tmp_path: Path, columns: str):
        each = [(seed, at, 3.5 - at / 8 + seed / 4) for at in range(6) for seed in (1, 2, 3)]
        if "split" in columns:
            rows = [f"{s},{part},{at},{loss}" for s, at, loss in each for part in ("train", "val")]
        else:
            rows = [f"{at},{seed},{loss},{loss}" for seed, at, loss in each]
        runs = readers.runs_of(readers.every(str(written(tmp_path, "\n".join([columns, *rows]))))[0])
        assert [(one.path.name, one["loss"][0], one["val_loss"][-1]) for one in runs] == [
            (str(seed), 3.5 + seed / 4, 2.875 + seed / 4) for seed in (1, 2, 3)
        ]
        assert [one.steps.to_list() for one in runs] == [[*range(6)]] * 3

    def test_one_that_says_nothing_of_that_is_passed_over(self, tmp_path: Path):
        names = [name for name, _, _ in self.ROWS]
        for odd in (
            self.text([("a", at, loss) for at, (_, _, loss) in enumerate(self.ROWS)]),  # of one run
            self.text(self.ROWS, "note"),
            self.text([(name, 1, loss) for name, _, loss in self.ROWS]),  # nothing counts within them
            self.text([*self.ROWS[:3], ("a", 1, 2.5), ("b", 1, 2.5), ("c", 1, 2.5)]),  # a row each
        ):
            run = readers.read(written(tmp_path, odd))
            assert not {*(one.part for one in (*run.before, run))} & {*names, "a", "b", "c"}


def test_below_a_heading_a_start_of_few_rows_is_a_run_too(tmp_path: Path):
    text = csv(FALL) + csv([3.9, 3.8]) + csv(FALL)
    run = readers.read(written(tmp_path, text))
    assert [len(one) for one in (*run.before, run)] == [6, 2, 6]


@pytest.mark.parametrize("begin", [1, 2, 5])
def test_a_run_that_goes_on_below_a_new_heading_is_one(tmp_path: Path, begin: int):
    run = readers.read(written(tmp_path, csv(FALL) + csv([2.9, 2.4, 2.1, 2.0, 1.9, 1.8], begin=begin)))
    assert not run.before


def test_a_run_below_a_heading_may_begin_a_little_later(tmp_path: Path):
    first = "".join(f"{2300 + 1100 * at},{loss}\n" for at, loss in enumerate(FALL))
    other = "".join(f"{3000 + 1000 * at},{loss}\n" for at, loss in enumerate(FALL))
    run = readers.read(written(tmp_path, f"step,loss\n{first}step,loss\n{other}"))
    assert [len(one) for one in (*run.before, run)] == [6, 6]
