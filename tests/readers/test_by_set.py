"""A run whose training and validation lie in files of their own."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.readers.test_records import event, framed
from tutor import readers
from tutor.run import Run

HEADED = "epoch,total_loss,loss_mask\n"


def table(losses: list[float], heading: str = HEADED) -> str:
    return heading + "".join(f"{at},{loss},{loss / 2}\n" for at, loss in enumerate(losses))


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def keys(run: Run) -> list[str]:
    return [one.key for one in run.remarks]


@pytest.mark.parametrize(
    ("train", "val"),
    [
        ("train_loss__csv", "val_loss__csv"),
        ("training_log__csv", "validation_log__csv"),
        ("loss__csv", "val_loss__csv"),
        ("metrics-train__csv", "metrics-eval__csv"),
        ("train__txt", "test__txt"),
    ],
)
def test_two_files_called_alike_are_one_run(tmp_path: Path, train: str, val: str):
    write(tmp_path, **{train: table([4.0, 3.0, 2.5]), val: table([4.1, 3.5, 3.75])})
    (source,) = readers.sources(tmp_path)
    assert source.path == tmp_path
    assert source.format.endswith(f"{train} with {val}".replace("__", "."))
    run = readers.read(tmp_path)
    assert (run.path, run.name, run.counts) == (tmp_path, tmp_path.name, "epochs")
    assert (run["loss"].to_list(), run["val_loss"].to_list()) == ([4.0, 3.0, 2.5], [4.1, 3.5, 3.75])
    assert run["val_loss_mask"].to_list() == [2.05, 1.75, 1.875]
    assert run.remarks == ()


def test_each_alone_is_opened_by_its_name(tmp_path: Path):
    write(tmp_path, train_loss__csv=table([4.0, 3.0]), val_loss__csv=table([4.1, 3.5]))
    run = readers.read(tmp_path / "val_loss.csv")
    assert run["loss"].to_list() == [4.1, 3.5]
    assert not run.has("val_loss")


def test_evaluations_lie_at_their_own_steps(tmp_path: Path):
    heading = "step,loss,lr\n"
    train = heading + "".join(f"{at},{4 - at / 100},0.001\n" for at in range(0, 100, 10))
    write(tmp_path, train__csv=train, val__csv=heading + "50,3.9,0.001\n95,3.7,0.001\n")
    run = readers.read(tmp_path)
    assert run.steps.to_list() == [*range(0, 100, 10), 95]
    assert run["val_loss"].drop_nulls().to_list() == [3.9, 3.7]
    assert run["loss"].null_count() == 1
    assert "val_lr" in run.frame.columns


def test_a_third_set_is_beside_the_second(tmp_path: Path):
    write(
        tmp_path,
        train_loss__csv=table([4.0, 3.0]),
        test_loss__csv=table([4.3, 3.6]),
        val_loss__csv=table([4.1, 3.5]),
    )
    run = readers.read(tmp_path)
    assert (run["val_loss"].to_list(), run["test_loss"].to_list()) == ([4.1, 3.5], [4.3, 3.6])


def test_those_that_count_otherwise_are_spread_evenly(tmp_path: Path):
    numbers = "\n".join(str(4 - at / 10) for at in range(12))
    write(tmp_path, train_loss__txt=numbers, val_loss__txt="4.1\n3.9\n3.7\n3.6\n3.55\n3.5\n")
    run = readers.read(tmp_path)
    assert run["val_loss"].to_list() == [None, 4.1, None, 3.9, None, 3.7, None, 3.6, None, 3.55, None, 3.5]
    assert keys(run).count("spread") == 1
    write(tmp_path, train_loss__txt="\n".join(numbers.split("\n")[:5]))
    run = readers.read(tmp_path)
    assert (len(run), run.has("val_loss"), keys(run).count("longer")) == (5, False, 1)


def test_one_that_is_empty_yet_is_told(tmp_path: Path):
    run = readers.read(write(tmp_path, train_loss__csv=table([4.0, 3.0]), val_loss__csv=HEADED))
    assert (run["loss"].to_list(), run.has("val_loss")) == ([4.0, 3.0], False)
    assert run.unseen
    assert "val_loss.csv" in run.remarks[-1].says("en")


@pytest.mark.parametrize(
    "files",
    [
        {"train_a__csv": table([4.0, 3.0]), "val_b__csv": table([4.1, 3.5])},
        {"val_loss__csv": table([4.0, 3.0]), "test_loss__csv": table([4.1, 3.5])},
        {f"{of}_{fold}__csv": table([4.0, 3.0]) for of in ("train", "val") for fold in ("one", "two")},
    ],
)
def test_others_stay_apart(tmp_path: Path, files: dict[str, str]):
    write(tmp_path, **files)
    assert tmp_path not in {source.path for source in readers.sources(tmp_path)}


@given(
    st.lists(st.floats(0.1, 9), min_size=1, max_size=12), st.lists(st.floats(0.1, 9), min_size=1, max_size=12)
)
def test_no_value_is_lost(tmp_path: Path, train: list[float], val: list[float]):
    write(tmp_path, train_loss__csv=table(train), val_loss__csv=table(val))
    run = readers.read(tmp_path)
    assert run["loss"].drop_nulls().to_list() == train
    assert run["val_loss"].drop_nulls().to_list() == val
    assert run.steps.to_list() == list(range(max(len(train), len(val))))


class TestFolders:
    """Event files in a folder for each set of data, as Keras and SummaryWriter leave them."""

    def write(self, folder: Path, level: float, tag: str = "loss") -> None:
        folder.mkdir(parents=True)
        events = (event(at, level - at / 100, tag) for at in range(20))
        (folder / "events.out.tfevents.1.host").write_bytes(b"".join(events))

    @pytest.mark.parametrize("held_out", ["val", "validation", "test"])
    def test_they_are_one_run(self, tmp_path: Path, held_out: str):
        self.write(tmp_path / "run" / "train", 2.0)
        self.write(tmp_path / "run" / held_out, 2.5)
        (source,) = readers.sources(tmp_path)
        run = readers.read_source(source)
        assert (run.path, run["loss"][0], run["val_loss"][0]) == (tmp_path / "run", 2.0, 2.5)

    def test_those_of_add_scalars_lie_below_a_file_with_nothing_in_it(self, tmp_path: Path):
        self.write(tmp_path / "loss_train", 2.0)
        self.write(tmp_path / "loss_val", 2.5)
        (tmp_path / "events.out.tfevents.1.host").write_bytes(framed(b"\x1a\x0dbrain.Event:2"))
        (source,) = readers.sources(tmp_path)
        assert readers.read_source(source).has("val_loss")

    def test_folders_of_no_set_are_runs_of_their_own(self, tmp_path: Path):
        self.write(tmp_path / "small", 2.0)
        self.write(tmp_path / "small_val", 2.5)
        assert len(readers.sources(tmp_path)) == 2
