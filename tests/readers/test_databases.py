"""Runs in SQLite databases: several in a file, written meanwhile, torn, and made to be searched for ever.

`mlflow.db` and `trackio.db` in `fixtures` were written by mlflow 3.17 and trackio 0.43; from them the tables
without runs were dropped.
"""

import json
import math
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor import readers
from tutor.readers.common import sqlite
from tutor.run import BadRunError, Run, limits

FIXTURES = Path(__file__).parent / "fixtures"
NAMES = ["mlflow.db", "trackio.db"]
METRICS = "CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name TEXT, step INTEGER, metrics TEXT)"


def changed(folder: Path, name: str, *statements: str) -> Path:
    """A copy of a fixture, with the statements carried out on it."""
    path = folder / name
    shutil.copy(FIXTURES / name, path)
    return made(path, *statements)


def made(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)
    return path


def logged(path: Path, *rows: tuple[str, int, object]) -> Path:
    """A database of trackio with a row each of run, step and numbers."""
    made(path, METRICS)
    with closing(sqlite3.connect(path)) as database, database:
        kept = [(run, step, json.dumps(metrics)) for run, step, metrics in rows]
        database.executemany("INSERT INTO metrics (run_name, step, metrics) VALUES (?, ?, ?)", kept)
    return path


def as_words(run: Run, signal: str) -> list[str]:
    return [str(value) for value in run[signal]]


@pytest.mark.parametrize("name", NAMES)
class TestEither:
    def test_what_a_run_logged(self, name: str):
        run = readers.read(FIXTURES / name / "steady")
        assert (run.name, run.path) == ("steady", FIXTURES / name / "steady")
        assert run.steps.to_list() == [0, 10, 20, 30, 40]
        assert [round(one, 4) for one in run["loss"]] == [3.0, 2.6, 2.2, 1.8, 1.4]
        assert run["val_loss"].to_list() == [None, None, 2.5, None, None]
        assert as_words(run, "grad_norm") == ["0.5", "0.5", "0.5", "nan", "inf"]
        assert run["lr"].to_list() == [0.1] * 5
        by_name = name == "trackio.db"  # there `train/global_step` tells that a Trainer wrote it
        assert [remark.key for remark in run.remarks] == ["nan_hidden"] * by_name
        assert run.aggregation("loss").shows_nan != by_name
        assert run.manifest.settings == {"lr": 0.1, "grad_clip": 1.0, "seed": 7, "optimizer": "adamw"}

    def test_of_several_each_has_a_path_and_the_file_names_them(self, name: str):
        found = {source.path.name: source for source in readers.every(str(FIXTURES / name))}
        assert set(found) == {"steady", "short"}  # `binned` was deleted
        assert len(readers.read_source(found["short"])) == 3
        with pytest.raises(BadRunError, match=rf"holds 2 runs, .*{name}/steady.*tutor check takes all"):
            readers.read(FIXTURES / name)

    def test_one_is_found_by_its_path_and_its_neighbours_are_offered(self, name: str):
        assert readers.locate(str(FIXTURES / name / "short")) == FIXTURES / name / "short"
        with pytest.raises(BadRunError, match=rf"no run at .*; did you mean .*{name}/short"):
            readers.locate(str(FIXTURES / name / "shor"))
        assert readers.sources(FIXTURES / name / "short" / "deeper") == []

    def test_in_a_folder_of_runs_each_is_named(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        (tmp_path / "runs").mkdir()
        changed(tmp_path / "runs", name)
        monkeypatch.chdir(tmp_path)
        runs = {label: path for label, path in readers.available().items() if label.startswith(name)}
        assert runs == {f"{name}/{run}": tmp_path / "runs" / name / run for run in ("steady", "short")}
        assert readers.locate(f"{name}/steady") == tmp_path / "runs" / name / "steady"

    def test_what_is_being_written_is_read_without_a_trace(self, name: str, tmp_path: Path):
        path = changed(tmp_path, name, "PRAGMA journal_mode = WAL")
        with closing(sqlite3.connect(path)) as writer:
            writer.execute("DELETE FROM metrics WHERE step = 2")  # of `short`, or of `steady`
            writer.commit()
            writer.execute("BEGIN IMMEDIATE")
            writer.execute("DELETE FROM metrics")
            before = {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
            assert f"{name}-wal" in before
            assert len(readers.read(path / "short")) == 2
            assert {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == before
            writer.commit()
        assert readers.sources(path) == []
        assert [file.name for file in tmp_path.iterdir()] == [name]

    def test_a_write_that_was_cut_short_is_told(self, name: str, tmp_path: Path):
        path = changed(tmp_path, name)
        path.with_name(f"{name}-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(504))
        with pytest.raises(BadRunError, match="its last write was cut short"):
            readers.read(path)
        path.with_name(f"{name}-journal").write_bytes(bytes(512))  # as a journal that is kept is ended
        assert len(readers.sources(path)) == 2

    @pytest.mark.parametrize("bound", ["ROWS", "RUNS"])
    def test_a_huge_one_is_refused(self, name: str, bound: str, tmp_path: Path, monkeypatch):
        monkeypatch.setattr(limits, bound, 1)
        with pytest.raises(BadRunError, match="more than 1 r"):
            readers.read(changed(tmp_path, name) / ("steady" if bound == "ROWS" else ""))

    def test_one_that_takes_too_long_is_refused(self, name: str, tmp_path: Path, monkeypatch):
        monkeypatch.setattr(sqlite, "_SECONDS", -1)
        monkeypatch.setattr(sqlite, "_OPERATIONS", 1)
        with pytest.raises(BadRunError, match="takes more than"):
            readers.read(changed(tmp_path, name))

    def test_a_view_is_no_table(self, name: str, tmp_path: Path):
        path = changed(
            tmp_path,
            name,
            "ALTER TABLE metrics RENAME TO kept",
            "CREATE VIEW metrics AS WITH RECURSIVE more(key) AS (SELECT 1 UNION ALL SELECT key FROM more) "
            "SELECT 'a' AS run_uuid, 'a' AS run_id, 'a' AS run_name, 1 AS step, key, key AS value, "
            "key AS metrics, key AS timestamp, 0 AS is_nan FROM more",
        )
        with pytest.raises(BadRunError, match=r"holds no run|it has"):
            readers.read(path)

    @pytest.mark.parametrize("kept", [0, 16, 100, 3000, 8000])
    def test_a_torn_one_is_told_in_one_line(self, name: str, kept: int, tmp_path: Path):
        (tmp_path / name).write_bytes((FIXTURES / name).read_bytes()[:kept])
        with pytest.raises(BadRunError) as caught:
            readers.read(tmp_path / name)
        assert "\n" not in str(caught.value)
        assert ("no whole SQLite database" in str(caught.value)) == (kept > 16) or kept == 16

    def test_values_of_any_type_are_passed_over(self, name: str, tmp_path: Path):
        spoilt = [
            f"UPDATE metrics SET {column} = {value} WHERE rowid = {row}"
            for column in ("step", "value" if name == "mlflow.db" else "metrics")
            for row, value in enumerate(
                ("x'00ff'", "'a' || char(27)", "9e999", "-1", "9223372036854775807"), 2
            )
        ]
        for statement in spoilt:
            path = changed(tmp_path, name, statement)
            runs = [readers.read_source(source) for source in readers.every(str(path))]
            assert all(run.steps.is_sorted() for run in runs)


@pytest.mark.parametrize("name", NAMES)
def test_one_run_is_opened_by_the_file_too(name: str, tmp_path: Path):
    table, key = ("runs", "name") if name == "mlflow.db" else ("metrics", "run_name")
    path = changed(tmp_path, name, f"DELETE FROM {table} WHERE {key} = 'short'")
    assert readers.read(path).path == readers.read(path / "steady").path == path / "steady"


def test_of_one_name_the_later_has_its_id_beside_it(tmp_path: Path):
    path = changed(
        tmp_path, "mlflow.db", "UPDATE runs SET name = 'a/b ' || char(27), lifecycle_stage = 'active'"
    )
    first, *later = [source.path.name for source in readers.sources(path)]
    assert first == "a_b _"
    assert len(set(later)) == 2
    assert all(name.startswith("a_b _-") and len(name) == len(first) + 9 for name in later)
    assert all(readers.read(path / name).name == name for name in later)


def test_runs_without_a_name_or_with_that_of_a_folder(tmp_path: Path):
    path = logged(tmp_path / "a.db", ("..", 0, {"loss": 1.0}), ("", 0, {"loss": 2.0}), ("x" * 400, 0, {}))
    assert [source.path.name for source in readers.sources(path)] == ["run", "run-", "x" * 60]


def test_trackio_by_its_older_columns_and_as_text(tmp_path: Path):
    rows = [("a", step, {"loss": loss, "lr": "Infinity"}) for step, loss in enumerate((2.0, "NaN", 1.0))]
    run = readers.read(logged(tmp_path / "a.db", *rows))
    assert as_words(run, "loss") == ["2.0", "nan", "1.0"]
    assert run.manifest.settings == {}


def test_rows_of_trackio_that_are_broken_are_told(tmp_path: Path):
    path = made(logged(tmp_path / "a.db", ("a", 0, {"loss": 2.0}), ("a", 1, [1]), ("a", 2, {"loss": 1.0})))
    run = readers.read(path)
    assert (run.steps.to_list(), run.unseen) == ([0, 2], True)
    assert "passed over: 1 (the first is line 2)" in run.remarks[0].says("en")


def test_mlflows_measures_of_the_machine_count_by_a_step_of_their_own(tmp_path: Path):
    path = changed(tmp_path, "mlflow.db", "UPDATE metrics SET key = 'system/cpu' WHERE key = 'val_loss'")
    assert not readers.read(path / "steady").has("val_loss")


def test_settings_that_bound_nothing_or_say_nothing_are_left_out(tmp_path: Path):
    path = changed(
        tmp_path,
        "mlflow.db",
        "UPDATE params SET value = '0.0' WHERE key = 'grad_clip'",
        "UPDATE params SET value = 'None' WHERE key = 'optimizer'",
        "UPDATE params SET value = 'True' WHERE key = 'seed'",
    )
    assert readers.read(path / "steady").manifest.settings == {"lr": 0.1, "seed": True}


def test_a_database_of_something_else_names_its_tables(tmp_path: Path):
    path = made(tmp_path / "a.db", 'CREATE TABLE "odd \x1b[31m name" (a)', "CREATE TABLE b (a)")
    with pytest.raises(BadRunError, match=r"needs the tables of MLflow .*; it has `odd ␛\[31m name`, `b`"):
        readers.read(path)


def test_a_column_that_is_computed_is_none(tmp_path: Path):
    path = made(
        tmp_path / "a.db",
        "CREATE TABLE metrics (run_name TEXT, step INTEGER, metrics AS (zeroblob(1000000000)) VIRTUAL)",
        "INSERT INTO metrics VALUES ('a', 1)",
    )
    with pytest.raises(BadRunError, match="holds no run"):
        readers.read(path)


def test_a_schema_that_is_no_text_is_refused_in_one_line(tmp_path: Path):
    spoilt = bytearray((FIXTURES / "mlflow.db").read_bytes())
    spoilt[6771:6771] = b"\x80"
    (tmp_path / "mlflow.db").write_bytes(spoilt)
    with pytest.raises(BadRunError, match=r"its schema is spoilt|no whole SQLite database"):
        readers.read(tmp_path / "mlflow.db")


@given(
    name=st.sampled_from(NAMES),
    cuts=st.lists(
        st.tuples(st.integers(0, 23_000), st.integers(0, 600), st.binary(max_size=600)),
        min_size=1,
        max_size=4,
    ),
    beside=st.sampled_from(["", "-wal", "-journal"]),
)
def test_whatever_a_database_holds_is_runs_or_one_clear_line(
    tmp_path: Path, name: str, cuts: list[tuple[int, int, bytes]], beside: str
):
    data = (FIXTURES / name).read_bytes()
    for at, length, put in cuts:
        data = data[:at] + put + data[at + (length if beside else len(put)) :]
    for left in tmp_path.iterdir():
        left.unlink()
    (tmp_path / name).write_bytes(data)
    if beside:
        (tmp_path / f"{name}{beside}").write_bytes(cuts[0][2])
    try:
        runs = [readers.read_source(source) for source in readers.every(str(tmp_path / name))]
    except BadRunError as error:
        assert "\n" not in str(error)
    else:
        assert all(run.steps.is_sorted() and run.steps.is_unique().all() for run in runs)
    assert len(list(tmp_path.iterdir())) == 1 + bool(beside)


@given(
    rows=st.lists(
        st.tuples(
            st.text(max_size=5),
            st.none()
            | st.integers(-(2**63), 2**63 - 1)
            | st.floats()
            | st.text(max_size=3)
            | st.binary(max_size=3),
            st.binary(max_size=20)
            | st.dictionaries(
                st.sampled_from(["loss", "step", "lr", "a"]), st.floats() | st.text(max_size=3) | st.none()
            ).map(json.dumps),
        ),
        max_size=6,
    )
)
def test_whatever_rows_hold_is_runs_or_one_clear_line(tmp_path: Path, rows: list[tuple]):
    path = tmp_path / "a.db"
    path.unlink(missing_ok=True)
    made(path, "CREATE TABLE metrics (run_name, step, metrics)")
    with closing(sqlite3.connect(path)) as database, database:
        kept = [(name.encode("utf-8", "replace"), step, metrics) for name, step, metrics in rows]
        database.executemany("INSERT INTO metrics VALUES (CAST(? AS TEXT), ?, ?)", kept)
    found = readers.sources(path)
    assert len({source.path for source in found}) == len(found)
    for source in found:
        assert source.path.parent == path
        try:
            run = readers.read_source(source)
        except BadRunError as error:
            assert "\n" not in str(error)
        else:
            assert run.steps.is_sorted()
            assert not any(math.isnan(step) for step in run.steps)
