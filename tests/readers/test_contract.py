"""What every reader keeps to: recognised by content, one claim a file, a way on for what can't be read."""

import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import write_run
from tutor import readers
from tutor.run import Aggregation, BadRunError, Remark, called

ROWS = [{"step": i, "loss": 2.0} for i in range(3)]
TOY = """
from pathlib import Path
from tutor.run import Manifest, Run

class Toy:
    format = "a toy log"
    def __init__(self, path): self.path = path
    def describe(self, lang): return "toy"
    def read(self, since=None):
        import polars as pl
        losses = [float(word) for word in self.path.read_text().split()[1:]]
        return Run(self.path, "toy", Manifest(), pl.DataFrame({"step": range(len(losses)), "loss": losses}))

def sources(path: Path):
    return [Toy(path)] if path.is_file() and path.read_bytes().startswith(b"TOY") else []

def lacks(path: Path):
    return None
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more file in the package of readers."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "toy.py").write_text(TOY)
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path / "more")])
    readers.formats.cache_clear()
    yield
    sys.modules.pop("tutor.readers.toy", None)
    readers.formats.cache_clear()


@pytest.mark.usefixtures("toy")
def test_a_format_is_one_file(tmp_path: Path):
    (tmp_path / "a.toy").write_text("TOY 3.0 2.0 1.0")
    assert readers.read(tmp_path / "a.toy")["loss"].to_list() == [3.0, 2.0, 1.0]
    assert readers.sources(tmp_path / "a.toy")[0].describe("en") == "toy"


@pytest.mark.usefixtures("toy")
def test_two_claims_on_one_file_name_both_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "both").write_text("TOY,step,loss\n")
    with pytest.raises(BadRunError, match=r"a toy log and a CSV|a CSV.* and a toy log") as caught:
        readers.read(tmp_path / "both")
    assert "say which, with --format" in str(caught.value)


@pytest.mark.usefixtures("toy")
def test_one_that_two_claim_hides_no_other_of_its_folder(tmp_path: Path):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "both").write_text("TOY,step,loss\n")
    (logs / "good.csv").write_text("step,loss\n0,3.0\n1,2.0\n")
    unclear, good = readers.sources(logs)
    assert readers.read_source(good)["loss"].to_list() == [3.0, 2.0]
    with pytest.raises(BadRunError, match=r"both could be .*say which, with --format"):
        readers.read_source(unclear)


def test_a_folder_of_one_run_is_that_run_and_of_several_names_them(tmp_path: Path):
    write_run(tmp_path / "runs" / "a", ROWS, {"name": "a"})
    assert readers.read(tmp_path / "runs").name == "a"
    write_run(tmp_path / "runs" / "b", ROWS, {"name": "b"})
    with pytest.raises(BadRunError, match=r"holds 2 runs.*a, .*b"):
        readers.read(tmp_path / "runs")


def test_a_source_says_what_a_run_was_meant_to_be_and_not_what_was_broken(tmp_path: Path):
    manifest = {"dtype": "fp32", "break": "no-clip", "settings": {"steps": 600, "seed": 7}}
    source = readers.sources(write_run(tmp_path / "r", ROWS, manifest))[0]
    assert source.describe("en") == "fp32 · 600 steps · seed 7"
    assert "pasos" in source.describe("es")


def test_recognising_runs_reads_no_log():
    code = "import sys; from tutor import readers; readers.available(); sys.exit('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_rows_of_json_under_any_name(tmp_path: Path):
    path = write_run(tmp_path / "r", ROWS) / "metrics.jsonl"
    path.rename(tmp_path / "mine.log")
    run = readers.read(tmp_path / "mine.log")
    assert (run.name, len(run), run.path) == ("mine.log", 3, tmp_path / "mine.log")


def test_what_a_value_stands_for(tmp_path: Path):
    run = readers.read(write_run(tmp_path / "r", ROWS))
    assert run.aggregation("loss") == Aggregation("instant", shows_nan=True)
    assert run.aggregation("loss_ema") == Aggregation("running", shows_nan=False)


class TestCsv:
    def read(self, path: Path, text: str):
        path.write_text(text)
        return readers.read(path)

    @pytest.mark.parametrize("step", ["step", "global_step", "iteration", "epoch"])
    @pytest.mark.parametrize("loss", ["loss", "train_loss"])
    def test_its_columns_of_step_and_loss(self, tmp_path: Path, step: str, loss: str):
        run = self.read(tmp_path / "progress.csv", f"{step},{loss},lr\n0,3.0,0.1\n10,nan,\n20,1.5,0.1\n")
        assert run.steps.to_list() == [0, 10, 20]
        assert math.isnan(run["loss"][1])
        assert run["lr"].to_list() == [0.1, None, 0.1]
        assert (run.name, run.remarks) == (tmp_path.name, ())  # every log of the tool is called so

    def test_blank_lines_before_the_header_are_passed_over(self, tmp_path: Path):
        run = self.read(tmp_path / "a.csv", "\n\nstep,loss\n0,3.0\n1,2.0\n")
        assert (run.steps.to_list(), run["loss"].to_list()) == ([0, 1], [3.0, 2.0])

    def test_evaluation_in_a_row_without_a_step(self, tmp_path: Path):
        run = self.read(tmp_path / "a.csv", "step,loss,val_loss\n0,3.0,\n1,2.0,\n,,2.5\n2,1.0,\n")
        assert run["val_loss"].to_list() == [None, 2.5, None]
        assert run["loss"].to_list() == [3.0, 2.0, 1.0]
        assert run.remarks == ()
        assert self.read(tmp_path / "b.csv", "step,loss\n0,3.0\n0,2.5\n").remarks == (Remark("repeated"),)

    def test_one_of_several_losses_is_said_to_be_one(self, tmp_path: Path):
        log = "step,box_loss,class_loss,val_class_loss,loss_weight\n0,3.0,{},1.0,1.0\n1,2.0,0.9,1.0,1.0\n"
        run = self.read(tmp_path / "a.csv", log.format("1.0"))
        about = {"column": "`box_loss`", "others": "`class_loss`"}
        assert run["loss"].to_list() == [3.0, 2.0]
        assert run.remarks == (Remark("one_loss", about),)
        broken = self.read(tmp_path / "b.csv", log.format("nan"))
        said = about | {"broken": "`class_loss`"}
        assert broken.remarks == (Remark("broken_loss", said, unseen=True),)
        rows = "step,box_loss,class_loss\n0,3.0,1.0\n" + "".join(f"{at},2.0,nan\n" for at in range(1, 4))
        ends = self.read(tmp_path / "d.csv", rows)
        assert (ends["loss"].is_nan().sum(), ends["box_loss"].to_list()) == (3, [3.0, 2.0, 2.0, 2.0])
        about = {"column": "`class_loss`", "others": "`box_loss`"}
        assert ends.remarks == (Remark("ends_broken", about),)
        whole = self.read(tmp_path / "f.csv", rows.replace("box_loss", "loss"))  # the sum leaves it out
        assert whole.remarks == (Remark("part_broken", {"columns": "`class_loss`"}, unseen=True),)
        too = rows.replace("box_loss", "loss").replace("2.0,nan", "nan,nan")
        assert self.read(tmp_path / "g.csv", too).remarks == ()  # the sum has it, too
        off = self.read(tmp_path / "e.csv", rows.replace("3.0,1.0", "3.0,nan"))
        assert (off["loss"].to_list(), off.remarks[0].key) == ([3.0, 2.0, 2.0, 2.0], "broken_loss")
        with called.called({"loss": "class_loss"}):
            said = self.read(tmp_path / "a.csv", log.format("1.0"))
        assert [one.key for one in said.remarks] == ["called"]
        known = self.read(tmp_path / "c.csv", "step,train_loss,box_loss\n0,3.0,1.0\n1,2.0,1.0\n")
        assert known.remarks == ()

    def test_the_name_alone_makes_none(self, tmp_path: Path):
        with pytest.raises(BadRunError, match=r"needs a column of steps \(step, .*it has `time`, `cost`"):
            self.read(tmp_path / "a.csv", "time,cost\n0,1\n")

    def test_only_what_is_missing_is_asked_for(self, tmp_path: Path):
        with called.called({"step": "time"}), pytest.raises(BadRunError) as caught:
            self.read(tmp_path / "a.csv", "time,cost\n0,1\n")
        assert str(caught.value).endswith(
            "it has `time`, `cost`; name what is missing with --map loss=COLUMN"
        )
        with called.called({"step": "time", "loss": "cost"}):
            assert self.read(tmp_path / "a.csv", "time,cost\n0,1\n")["loss"].to_list() == [1.0]

    def test_rows_of_losses_without_a_step_are_numbered(self, tmp_path: Path):
        run = self.read(tmp_path / "a.csv", "training_loss, val_acc\n3.0,0.1\n2.0,0.2\n")
        assert (run.steps.to_list(), run["loss"].to_list()) == ([0, 1], [3.0, 2.0])
        assert [one.key for one in run.remarks] == ["no_steps"]

    @pytest.mark.parametrize("said", [{}, {"step": "1", "loss": "1.68"}])
    def test_values_in_the_first_line_are_no_names(self, tmp_path: Path, said: dict[str, str]):
        """To take them for names would lose the first row."""
        with called.called(said), pytest.raises(BadRunError, match="put the columns' names above it"):
            self.read(tmp_path / "a.csv", "1, 1.68\n2, 1.58\n")

    @pytest.mark.parametrize(
        ("line", "name"),
        [
            ("Namespace(lr=20,epochs=5)", "a.csv"),
            ("cost: tensor(8.4650, grad_fn=<NegBackward>)", "a.txt"),
            (f"/a/{'long/' * 20}a.py:134: UserWarning: a call came late, see more", "a.out"),
        ],
    )
    def test_a_printed_line_with_commas_is_no_header(self, tmp_path: Path, line: str, name: str):
        with pytest.raises(BadRunError) as caught:
            self.read(tmp_path / name, f"{line}\n")
        assert "as a CSV" not in str(caught.value)

    @pytest.mark.parametrize("named", ["loss:0", "loss (nats)", "out([0.]),train_loss"])
    def test_names_may_hold_signs(self, tmp_path: Path, named: str):
        assert len(self.read(tmp_path / "a.csv", f"step,{named}\n0,3.0\n1,2.0\n")) == 2


@pytest.mark.parametrize(
    ("text", "way_on"),
    [
        ('{"time": 3, "loss": 1.0}\n', "need a `step` and a `loss`; the first has `time`, `loss`"),
        ("hello\n", "needs rows of JSON or CSV, or printed lines, with a step and a loss in each"),
        ("", "is empty: nothing was logged yet"),
    ],
)
def test_a_file_that_is_no_run_gets_a_way_on(tmp_path: Path, text: str, way_on: str):
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(BadRunError) as caught:
        readers.read(tmp_path / "a.txt")
    assert way_on in str(caught.value)


def test_a_folder_with_a_file_that_is_no_log_names_it(tmp_path: Path):
    (tmp_path / "log.txt").write_text("hello\n")
    with pytest.raises(BadRunError, match=r"log\.txt is in it, but has no line with a step and a loss"):
        readers.read(tmp_path)
    (tmp_path / "a.csv").write_text("time,cost\n0,1\n")
    with pytest.raises(BadRunError, match=r"a\.csv is in it, but as a CSV it needs a column of steps"):
        readers.read(tmp_path)


@given(
    header=st.sampled_from(["step,loss", "epoch,train_loss,lr", "step,loss,loss", "a,b", ""]),
    body=st.binary(max_size=40) | st.text(alphabet='0123456789.,\n"nanife-', max_size=60).map(str.encode),
)
def test_anything_is_a_run_or_one_clear_line(tmp_path: Path, header: str, body: bytes):
    path = tmp_path / "a.csv"
    path.write_bytes(header.encode() + b"\n" + body)
    try:
        run = readers.read(path)
    except BadRunError as error:
        assert "\n" not in str(error)
    else:
        assert len(run) > 0
        assert run.steps.is_sorted()


def test_a_file_that_is_called_nearly_so_is_offered(tmp_path: Path):
    (tmp_path / "healthy.csv").write_text("step,loss\n0,3.0\n1,2.0\n")
    with pytest.raises(BadRunError, match=r"did you mean .*/healthy\.csv\?"):
        readers.locate(str(tmp_path / "halthy.csv"))


def test_a_heading_alone_says_that_nothing_was_logged(tmp_path: Path):
    (tmp_path / "a.csv").write_text("step,loss\n")
    with pytest.raises(BadRunError, match="no row below its heading: nothing was logged yet"):
        readers.read(tmp_path / "a.csv")


def test_what_is_packed_otherwise_says_so(tmp_path: Path):
    (tmp_path / "a.log.gz").write_bytes(bytes(range(256)) * 9)
    with pytest.raises(BadRunError, match="holds no text: it is no log, or packed otherwise than by gzip"):
        readers.read(tmp_path / "a.log.gz")
