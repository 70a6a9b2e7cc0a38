"""The reader of run folders: whole, torn, empty, newer, and anything at all."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import shipped, write_run
from tutor import readers
from tutor.run import BadRunError, Checkpoint, Remark
from tutor.runfolder.reader import read_run
from tutor.walk import unattended

ROWS = [
    {"step": i, "loss": 2.0 - i / 10, "batch_hash": f"0{i}", "activation_norms": [1, 2.5]} for i in range(5)
]


def test_a_whole_run(tmp_path: Path):
    run = readers.read(write_run(tmp_path / "r", ROWS, {"format": 1, "name": "r", "dtype": "fp32"}))
    assert (len(run), run.name, run["loss"][0], run["batch_hash"][1]) == (5, "r", 2.0, "01")
    assert run["activation_norms"][0].to_list() == [1.0, 2.5]
    assert run.remarks == ()


def test_half_a_line_at_the_end_is_passed_over(tmp_path: Path):
    folder = write_run(tmp_path / "r", ROWS, {})
    with (folder / "metrics.jsonl").open("a") as log:
        log.write('{"step": 5, "lo')
    run = readers.read(folder)
    assert len(run) == 5
    assert "cut short" in run.remarks[0].says("en")


def test_a_last_row_without_its_line_end_counts(tmp_path: Path):
    folder = write_run(tmp_path / "r", ROWS, {})
    path = folder / "metrics.jsonl"
    path.write_text(path.read_text().rstrip("\n"))
    assert len(readers.read(folder)) == 5


def test_a_torn_line_in_the_middle(tmp_path: Path):
    folder = write_run(tmp_path / "r", ROWS, {})
    path = folder / "metrics.jsonl"
    lines = path.read_text().splitlines()
    lines[2] = lines[2][:9] + "\x00\x00"
    path.write_text("\n".join(lines) + "\n")
    run = readers.read(folder)
    assert run.steps.to_list() == [0, 1, 3, 4]
    assert "passed over" in run.remarks[0].says("en")


@pytest.mark.parametrize("quoted", [False, True])
def test_nan_and_inf(tmp_path: Path, quoted: bool):
    folder = write_run(
        tmp_path / "r", [*ROWS, {"step": 5, "loss": math.nan}, {"step": 6, "loss": -math.inf}], {}
    )
    if quoted:
        path = folder / "metrics.jsonl"
        path.write_text(path.read_text().replace("NaN", '"NaN"').replace("-Infinity", '"-Infinity"'))
    loss = readers.read(folder)["loss"].to_list()
    assert math.isnan(loss[5])
    assert loss[6] == -math.inf
    assert loss[:2] == [2.0, 1.9]


def test_whole_numbers_and_late_columns(tmp_path: Path):
    rows = [{"step": i, "loss": 7} for i in range(300)] + [{"step": 300, "loss": 6.5, "val_loss": 6}]
    run = readers.read(write_run(tmp_path / "r", rows, {}))
    assert run["loss"][299:].to_list() == [7.0, 6.5]
    assert run["val_loss"].drop_nulls().to_list() == [6.0]


def test_rows_of_one_step_are_one_and_lose_nothing(tmp_path: Path):
    rows = [
        {"step": 0, "loss": 3.0},
        {"step": 1, "loss": 2.0},
        {"step": 1, "val_loss": 2.5},
        {"step": 2, "loss": 1.0},
    ]
    run = readers.read(write_run(tmp_path / "r", rows, {}))
    assert run.steps.to_list() == [0, 1, 2]
    assert run["loss"].to_list() == [3.0, 2.0, 1.0]
    assert run["val_loss"].to_list() == [None, 2.5, None]
    assert run.remarks == ()


def test_of_a_resumed_run_the_branch_it_gave_up_is_passed_over(tmp_path: Path):
    first = [{"step": step, "loss": float("nan") if step >= 8 else 2.0} for step in range(10)]
    again = [{"step": step, "loss": 1.0} for step in range(6, 9)]
    run = readers.read(write_run(tmp_path / "r", [*first, *again], {}))
    assert run["loss"].to_list() == [2.0] * 6 + [1.0] * 3
    assert "resumed: 4 rows" in run.remarks[0].says("en")


def test_rows_out_of_order_are_sorted_and_all_kept(tmp_path: Path):
    rows = [{"step": step, "loss": float(step)} for step in (0, 1, 3, 2, 5, 4)]
    run = readers.read(write_run(tmp_path / "r", rows, {}))
    assert run["loss"].to_list() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert run.remarks == (Remark("backwards"),)
    assert run.remarks[0].says("en") == "steps run backwards: sorted"


def test_a_checkpoint_that_was_being_written_is_none(tmp_path: Path):
    folder = write_run(tmp_path / "r", ROWS, {})
    (folder / "checkpoints").mkdir()
    (folder / "checkpoints" / "step-000200.part").touch()
    assert readers.read(folder).checkpoints == ()


def test_a_log_without_a_loss_names_what_it_has(tmp_path: Path):
    run = readers.read(write_run(tmp_path / "r", [{"time": 5, "cost": 2.0}], {}))
    assert "`time`, `cost`" in run.remarks[0].says("en")
    assert "`cost`" in run.remarks[1].says("en")
    run = readers.read(write_run(tmp_path / "r", [{"step": 5, "loss": "abc"}], {}))
    assert "don't fit their column are passed over: `loss`" in run.remarks[0].says("en")
    assert "no loss was logged" in run.remarks[1].says("en")  # and no other column could be it
    run = readers.read(write_run(tmp_path / "r", [{"step": 5, "epoch": 1, "val_loss": 2.0}], {}))
    assert [remark.says("en") for remark in run.remarks] == [
        "no training loss is logged, only that of validation: questions 5.3 and 5.4 of phase-19 judge it, "
        "and the others need a training loss"
    ]


def test_a_json_array_is_told_how_to_become_a_log(tmp_path: Path):
    folder = write_run(tmp_path / "r", ROWS, {})
    (folder / "metrics.jsonl").write_text('[{"step": 0, "loss": 1.0}]')
    with pytest.raises(BadRunError, match="jq"):
        readers.read(folder)


def test_checkpoints_are_those_logged_and_those_on_disk(tmp_path: Path):
    folder = write_run(
        tmp_path / "r", [*ROWS, {"step": 200, "loss": 1.0, "checkpoint": "step-000200.pt"}], {}
    )
    (folder / "checkpoints").mkdir()
    (folder / "checkpoints" / "step-000400.pt").touch()
    run = readers.read(folder)
    assert run.checkpoints == (
        Checkpoint(200),
        Checkpoint(400, folder / "checkpoints" / "step-000400.pt"),
    )


class TestRefused:
    """Each is one clear line that says what to do."""

    def says(self, path: Path | str) -> str:
        with pytest.raises(BadRunError) as caught:
            readers.open_run(str(path))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    def test_missing(self, home: Path):
        assert "did you mean" in self.says("runs/19-brake")
        assert "there is no run" in self.says("nowhere/at/all")

    def test_empty_folder(self, tmp_path: Path):
        assert "is empty" in self.says(tmp_path)

    def test_not_a_run(self, tmp_path: Path):
        (tmp_path / "notes.txt").write_text("hello")
        assert "no run that tutor can read" in self.says(tmp_path)

    def test_no_log(self, tmp_path: Path):
        (tmp_path / "manifest.json").write_text("{}")
        assert "never logged" in self.says(tmp_path)

    @pytest.mark.parametrize("text", ["", "\n\n", '{"step": 0, "lo'])
    def test_no_rows(self, tmp_path: Path, text: str):
        (tmp_path / "metrics.jsonl").write_text(text)
        assert "no whole row" in self.says(tmp_path)

    def test_a_newer_format(self, tmp_path: Path):
        assert "upgrade tutor" in self.says(write_run(tmp_path / "r", ROWS, {"format": 99}))

    @pytest.mark.parametrize("text", ["{", "[]", "null", "\xff\xfe"])
    def test_a_broken_manifest(self, tmp_path: Path, text: str):
        folder = write_run(tmp_path / "r", ROWS)
        (folder / "manifest.json").write_bytes(text.encode("latin-1"))
        assert "manifest.json" in self.says(folder)


ODD = [
    ("batch", "foo"),
    ("schedule", "cosine"),
    ("command", 5),
    ("settings", []),
    ("groups", {}),
    ("dtype", 16),
]


@pytest.mark.parametrize(("key", "value"), ODD)
def test_odd_parts_of_a_manifest_are_passed_over_and_named(tmp_path: Path, key: str, value: object):
    run = readers.read(write_run(tmp_path / "r", ROWS, {"name": "r", key: value}))
    assert not run.knows(key)
    assert key in run.remarks[0].says("en")


def test_a_byte_order_mark_and_values_that_fit_no_column(tmp_path: Path):
    folder = write_run(tmp_path / "r", [*ROWS, {"step": 5, "loss": 10**400}, {"step": 6, "loss": [1]}], {})
    path = folder / "metrics.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    run = readers.read(folder)
    assert run["loss"].to_list()[:5] == [2.0, 1.9, 1.8, 1.7, 1.6]
    assert run["loss"].to_list()[5:] == [None, None]
    assert run["batch_hash"][1] == "01"
    assert "don't fit" in run.remarks[0].says("en")


def test_steps_that_are_no_whole_numbers_are_rounded_down_and_it_is_said(tmp_path: Path):
    run = readers.read(
        write_run(tmp_path / "r", [{"step": 0.5, "loss": 1.0}, {"step": 1.5, "loss": 1.0}], {})
    )
    assert run.steps.to_list() == [0, 1]
    assert "rounded down" in run.remarks[0].says("en")


def test_whether_checkpoints_were_saved_may_not_be_known(tmp_path: Path):
    assert readers.read(write_run(tmp_path / "a", ROWS, {})).checkpoints is None
    tutors = readers.read(write_run(tmp_path / "b", ROWS, {"settings": {"checkpoint_every": 200}}))
    assert tutors.checkpoints == ()


def test_a_run_is_found_by_name(home: Path):
    assert readers.open_run("19-break").name == "19-break"
    assert readers.open_run("runs/19-control").name == "19-control"


def test_your_own_run_goes_before_the_shipped_one(home: Path):
    write_run(home / "runs" / "19-break", ROWS, {"name": "mine"})
    assert readers.open_run("19-break").name == "mine"


PHASE_19 = shipped("phase-19")
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["step", "loss", "grad_norm", "batch_hash", "rare_counts"]), inner)
    ),
    max_leaves=6,
)


@given(
    lines=st.lists(st.one_of(JSON.map(json.dumps), st.text(max_size=30)), max_size=8),
    manifest=st.one_of(st.none(), JSON.map(json.dumps), st.text(max_size=20)),
    cut=st.integers(0, 10),
)
def test_anything_is_a_run_or_one_clear_line(
    tmp_path: Path, lines: list[str], manifest: str | None, cut: int
):
    text = "\n".join(lines)
    (tmp_path / "metrics.jsonl").write_bytes(text[: len(text) - cut].encode("utf-8", "surrogatepass"))
    path = tmp_path / "manifest.json"
    path.unlink(missing_ok=True)
    if manifest is not None:
        path.write_bytes(manifest.encode("utf-8", "surrogatepass"))
    try:
        run = readers.read(tmp_path)
    except BadRunError as error:
        assert "\n" not in str(error)
    else:
        assert len(run) > 0
        assert run.steps.is_sorted()
        unattended(run, PHASE_19)


@pytest.mark.parametrize(
    "put",
    [
        {},
        {150: '{"step": 150, "loss": NaN, "batch_hash": "a, NaN, b"}'},
        {row: f'{{"step": {row}, "loss": NaN}}' for row in range(120, 300)},
        {row: f'{{"step": {row}, "loss": 1.5, "val_loss": NaN}}' for row in range(9, 300)},
        {299: '{"step": 299, "loss": -Infinity}'},
        {150: '{"step": 150, "loss": "1.5"}'},
        {150: '{"step": 150, "loss": "high"}', 170: '{"step": null, "loss": 2}'},
        {150: '{"step": 150, "loss": {"value": 2}, "batch_hash": [1]}'},
        {150: '{"step": 150, "loss": 1%s}' % ("0" * 400)},
        {60: '{"step": 60, "lo', 150: "saving ...", 151: "", 152: "more words", 220: '{"step": 220'},
        dict.fromkeys(range(100, 200), "words and nothing else"),
        {300: '{"step": 300, "lo'},
        {300: '{"step": 300, "loss": NaN}\n'},
        {0: '\ufeff{"step": 0, "loss": 0.5}', 150: '{"step": 150, "loss": NaN}'},
        {row: f'{{"step": {row}, "loss": 1.5, "val_loss": 3.5}}' for row in range(140, 160)},
        {150: '{"step" : 150, "loss" : 1.5, "val_loss" : 3.5}'},
        {150: '{"step": 150, "loss": 1.5, "val_loss": 3.5, "note": "a \\": null"}'},
        {row: f'{{"step": {row}, "loss": null, "val_loss":null}}' for row in range(100, 200)}
        | {150: '{"step": 150, "loss": 1.5, "val_loss": 3.5}'},
        {150: '{"step": 150, "loss": 1.5, "eval": {"loss": 2.5}}'},
    ],
)
def test_a_large_log_reads_as_a_small_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: dict[int, str]
):
    rows = [{"step": i, "loss": i / 7, "batch_hash": f"{i:04x}"} for i in range(300)]
    lines = {number: json.dumps(row) + "\n" for number, row in enumerate(rows)}
    lines |= {number: line if number == 300 else line + "\n" for number, line in put.items()}
    folder = write_run(tmp_path / "r", rows, {})
    (folder / "metrics.jsonl").write_text("".join(lines.values()))
    small = readers.read(folder)
    monkeypatch.setattr("tutor.runfolder.log._LARGE", 0)
    monkeypatch.setattr("tutor.runfolder.log._SAMPLE", 2_000)
    monkeypatch.setattr("tutor.runfolder.log._PIECE", 1_000)
    with monkeypatch.context() as only:  # by its pieces, not by the way of small logs
        only.setattr("tutor.runfolder.log.parse_rows", None)
        large = readers.read(folder)
    columns = sorted(small.frame.columns)
    assert large.frame.select(columns).schema == small.frame.select(columns).schema
    assert large.frame.select(columns).equals(small.frame.select(columns), null_equal=True)
    assert large.remarks == small.remarks
    assert large.position == small.position


@pytest.mark.parametrize(
    ("never", "values"),
    [
        ("_in_pieces", {}),
        ("_in_pieces", {"val_loss": None}),
        ("_in_pieces", {"eval": {"loss": 2.5, "accuracy": None}}),
        ("_in_pieces", {"batch_hash": "12:30 null"}),
        ("parse_odd", {"val_loss": math.nan}),
        ("parse_odd", {"grad_norm": -math.inf, "layer_grad_norms": [1.5, math.inf]}),
    ],
)
def test_what_many_logs_hold_is_read_the_fast_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, never: str, values: dict[str, object]
):
    folder = write_run(tmp_path / "r", [{"step": i, "loss": i / 7} | values for i in range(300)], {})
    small = readers.read(folder)
    monkeypatch.setattr("tutor.runfolder.log._LARGE", 0)
    monkeypatch.setattr("tutor.runfolder.log.parse_rows", None)
    monkeypatch.setattr(f"tutor.runfolder.log.{never}", None)
    assert readers.read(folder).frame.equals(small.frame, null_equal=True)


NUMBERS = st.none() | st.floats(width=32) | st.integers(-9, 9)
TEXTS = (
    st.none()
    | st.text('abNI":,{}[]\\ \n', max_size=6)
    | st.sampled_from(["NaN", ", NaN,", '": null', "null"])
)


@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {"loss": NUMBERS},
            optional={"val_loss": NUMBERS, "grad_norm": NUMBERS, "batch_hash": TEXTS, "layer": NUMBERS},
        ),
        min_size=1,
        max_size=40,
    ),
    spaced=st.sets(st.integers(0, 39)),
    piece=st.integers(20, 400),
)
def test_any_large_log_reads_as_a_small_one_does(
    tmp_path: Path, rows: list[dict[str, object]], spaced: set[int], piece: int
):
    lines = [
        json.dumps({"step": step} | row, separators=(" ,", " : ") if step in spaced else None)
        for step, row in enumerate(rows)
    ]
    folder = write_run(tmp_path / "r", [], {})
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    small = readers.read(folder)
    with pytest.MonkeyPatch.context() as sizes:
        sizes.setattr("tutor.runfolder.log._LARGE", 0)
        sizes.setattr("tutor.runfolder.log._SAMPLE", 2 * piece)
        sizes.setattr("tutor.runfolder.log._PIECE", piece)
        large = readers.read(folder)
    kept = [column for column in small.frame.columns if small.frame[column].is_not_null().any()]
    assert large.frame.select(kept).equals(small.frame.select(kept), null_equal=True)
    assert [one.key for one in large.remarks] == [one.key for one in small.remarks]


class TestEndsInNull:
    """JSON has no NaN: pandas, Rust's serde and JavaScript write null for it."""

    FELL = [{"step": step, "loss": 2.5 - step / 4, "val_loss": 2.75 - step / 4} for step in range(6)]
    NULLS = [{"step": step, "loss": None, "val_loss": None} for step in range(6, 10)]

    def written(self, path: Path, rows: list[dict], step: str = "step") -> Path:
        renamed = [{step if name == "step" else name: value for name, value in row.items()} for row in rows]
        path.write_text("".join(json.dumps(row) + "\n" for row in renamed))
        return path

    @pytest.mark.parametrize("step", ["step", "epoch"])
    def test_nulls_that_end_the_training_loss_are_nan(self, tmp_path: Path, step: str):
        run = readers.read(self.written(tmp_path / "log.jsonl", [*self.FELL, *self.NULLS], step))
        assert run["loss"].is_nan().to_list() == [*6 * [False], *4 * [True]]
        assert run["val_loss"].null_count() == 4
        assert "null_is_nan" in [one.key for one in run.remarks]

    @pytest.mark.parametrize(
        "end",
        [
            NULLS[:2],  # few
            [{"step": step} for step in range(6, 10)],  # nothing stands there
            [{"step": step, "loss": None, "val_loss": 1.5} for step in range(6, 10)],  # rows of evaluation
            [{"step": 6, "loss": None}, {"step": 7, "loss": 1.0}, *NULLS[2:]],  # in between too
            [{"loss": None} for _ in range(6, 10)],  # nothing counts them
        ],
    )
    def test_or_they_say_nothing(self, tmp_path: Path, end: list[dict]):
        run = readers.read(self.written(tmp_path / "log.jsonl", [*self.FELL, *end]))
        assert not run["loss"].is_nan().any()
        assert "null_is_nan" not in [one.key for one in run.remarks]

    def test_of_a_long_log_the_end_is_enough_wherever_it_is_cut(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        rows = [{**row, "norms": [1.0, 2.0]} for row in (*self.FELL, *self.NULLS)]
        path = self.written(tmp_path / "log.jsonl", rows)
        text = path.read_text()
        monkeypatch.setattr("tutor.runfolder.log._SAMPLE", len(text) - text.index("[", len(text) // 3))
        assert readers.read(path)["loss"].is_nan().sum() == 4

    def test_a_trainer_that_hides_nan_has_no_nulls_for_it(self, tmp_path: Path):
        counted = {"total_steps": 10, "predict_loss": None}  # LLaMA-Factory's rows of predictions
        rows = [{**row, **counted} for row in (*self.FELL, *self.NULLS)]
        run = readers.read(self.written(tmp_path / "trainer_log.jsonl", rows, "current_steps"))
        assert not run["loss"].is_nan().any()

    def test_nulls_that_come_while_it_is_followed_are_nan_too(self, tmp_path: Path):
        folder = tmp_path / "r"
        folder.mkdir()
        path = self.written(folder / "metrics.jsonl", self.FELL)
        run = read_run(folder)
        for row in self.NULLS:
            with path.open("a") as log:
                log.write(json.dumps(row) + "\n")
            run = read_run(folder, run)
        assert run["loss"].is_nan().sum() == 4


class TestRowsBelowOtherLines:
    """What a training loop prints as JSON, in a log that begins with other lines."""

    ABOVE = "loading 12 shards\n{not json\n"

    def test_they_are_read_and_the_lines_told(self, tmp_path: Path):
        rows = [json.dumps({"step": at, "loss": 4.0 - at / 10, "lr": 1e-3}) for at in range(5)]
        path = tmp_path / "pretrain.log"
        path.write_text(self.ABOVE + "\n".join([*rows, "saved"]) + "\n")
        run = readers.read(path)
        assert run["loss"].to_list() == pytest.approx([4.0, 3.9, 3.8, 3.7, 3.6])
        passed_over = {one.key: one.facts["count"] for one in run.remarks if "count" in one.facts}
        assert passed_over == {"broken_rows": 1, "odd_lines": 2}

    @pytest.mark.parametrize(
        "rows",
        [
            ['{"step": 1, "loss": 2.0}'] * 2,  # a text that quotes some
            ['{"lr": 0.1, "layers": 2}'] * 9,  # no loss
        ],
    )
    def test_a_text_with_other_json_is_no_run(self, tmp_path: Path, rows: list[str]):
        path = tmp_path / "notes.log"
        path.write_text(self.ABOVE + "\n".join(rows) + "\n")
        with pytest.raises(BadRunError):
            readers.read(path)
