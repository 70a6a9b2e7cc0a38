"""What files can hold, and be: all is read or told, nothing unseen is called healthy, no time is lost."""

import json
import math
import os
import re
import shutil
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT, write_run
from tests.test_cli import GOOD, refused, tutor
from tutor import readers
from tutor.words import plain

CONTROL, BREAK = ROOT / "runs" / "19-control", ROOT / "runs" / "19-break"
EVIL = "\x1b[31m\x07\x9b\u202e"
QUICK = 5.0
"""Seconds of this process's time, which a busy machine leaves as it is."""

SHOWN = "␛[31m␇\ufffd\ufffd"

posix = pytest.mark.skipif(os.name != "posix", reason="pipes and devices have names on POSIX alone")


def copied(run: Path, to: Path) -> Path:
    """The run's manifest and log at `to`."""
    to.mkdir()
    for name in ("manifest.json", "metrics.jsonl"):
        shutil.copy(run / name, to / name)
    return to


def add(run: Path, *rows: str) -> None:
    with (run / "metrics.jsonl").open("a") as log:
        log.writelines(f"{row}\n" for row in rows)


def verdict(run: Path) -> tuple[int, str, list[str]]:
    """Exit code, verdict and remarks."""
    code, out, _ = tutor("check", str(run), "--json", "--lang", "en")
    (data,) = json.loads(out)
    return code, data["verdict"], data["remarks"]


class TestSteps:
    @pytest.mark.parametrize(
        "step", ["null", '"x"', "-5", "1e300", "18446744073709551616", "NaN", "[3]", "{}"]
    )
    def test_rows_without_a_place_are_told_and_nothing_is_called_healthy(self, home: Path, step: str):
        run = copied(CONTROL, home / "r")
        log = run / "metrics.jsonl"
        rows = [json.loads(row) for row in log.read_text().splitlines()]
        lost = [json.dumps(row).replace(f'"step": {row["step"]}', f'"step": {step}') for row in rows[300:]]
        log.write_text("".join(json.dumps(row) + "\n" for row in rows[:300]))
        add(run, *lost)
        code, said, remarks = verdict(run)
        assert (code, said) == (3, "undecided")
        assert any("passed over: 300 (the first is row 301)" in remark for remark in remarks), remarks

    def test_the_break_behind_lost_rows_is_not_healthy(self, home: Path):
        run = copied(BREAK, home / "r")
        log = run / "metrics.jsonl"
        rows = [json.loads(row) for row in log.read_text().splitlines()]
        lost = [row | {"step": None} for row in rows[300:]]
        log.write_text("".join(json.dumps(row) + "\n" for row in (*rows[:300], *lost)))
        code, said, _ = verdict(run)
        assert (code, said) == (3, "undecided")
        _, out, _ = tutor("check", str(run), "--lang", "es")
        assert "sin decidir: no se ha encontrado nada, pero una parte del log no se pudo leer" in out

    def test_an_evaluation_without_a_step_is_of_the_step_before(self, home: Path):
        run = copied(CONTROL, home / "r")
        add(run, '{"val_loss": 0.7}')
        code, said, _ = verdict(run)
        assert (code, said) == (0, "healthy")

    @pytest.mark.parametrize("row", ['{"step": 600, "loss": 0.6', '{"step": 600, "loss": "high"}'])
    def test_broken_rows_and_losses_that_are_no_numbers_hide_something(self, home: Path, row: str):
        run = copied(CONTROL, home / "r")
        add(run, row, '{"step": 601, "loss": 0.6}')
        code, said, _ = verdict(run)
        assert (code, said) == (3, "undecided")

    def test_words_between_the_rows_hide_nothing(self, home: Path):
        run = copied(CONTROL, home / "r")
        add(run, "saving ...", '{"step": 600, "loss": 0.6}')
        code, said, remarks = verdict(run)
        assert (code, said) == (0, "healthy")
        assert "lines that aren't a JSON row, passed over: 1 (the first is line 601)" in remarks

    def test_one_row_is_too_little(self, home: Path):
        write_run(home / "r", GOOD[:1], {"dtype": "fp32"})
        needs = r"tutor: r holds one row, too little .*; log a row a step: \d{3} rows or more let it answer"
        assert re.match(needs, refused("check", "r"))

    def test_one_row_is_enough_where_its_loss_is_no_number(self, home: Path):
        write_run(home / "r", [GOOD[0] | {"loss": math.nan}], {"dtype": "fp32"})
        code, said, _ = verdict(home / "r")
        assert (code, said) == (1, "flaw")

    def test_help_readme_and_behaviour_agree_on_exit_codes(self):
        codes = ("1 something is wrong with a run", "2 one can't be checked", "3 one is undecided")
        for told in ((ROOT / "README.md").read_text(), tutor("check", "--help")[1]):
            words = " ".join(told.split())
            assert all(code in words for code in (*codes, "0 all are healthy"))


class TestNamesAndLimits:
    def test_columns_without_a_name_beside_a_number_too_large(self, home: Path):
        run = copied(CONTROL, home / "r")
        add(run, '{"step": 600, "loss": 0.6, "": 1' + "0" * 400 + r', "\ud800": 1, "\u001b[31m": 1}')
        code, said, remarks = verdict(run)
        assert (code, said) == (0, "healthy")
        assert "values that don't fit their column are passed over: ``" in remarks

    @pytest.mark.parametrize("digits", [20, 4301])
    def test_a_checkpoint_named_by_thousands_of_digits(self, home: Path, digits: int):
        run = copied(CONTROL, home / "r")
        (run / "checkpoints").mkdir()
        (run / "checkpoints" / f"step-{'9' * 200}.pt").touch()
        add(run, json.dumps({"step": 600, "loss": 0.6, "checkpoint": f"step-{'9' * digits}"}))
        assert verdict(run)[0] == 0

    def test_a_value_nested_deep_costs_nothing(self, home: Path):
        run = copied(CONTROL, home / "r")
        add(run, '{"step": 600, "loss": 0.6, "x": ' + "[" * 900 + "]" * 900 + "}")
        begun = time.process_time()
        code, _, remarks = verdict(run)
        assert time.process_time() - begun < QUICK
        assert code == 0
        assert remarks == ["values nested deeper than 8 levels are passed over: `x`"]

    def test_a_column_of_its_own_in_each_row(self, home: Path):
        rows = [row | {f"column_{row['step']}": 1.0, "mine": 2.0} for row in map(dict, GOOD * 10)]
        rows = [row | {"step": step, f"c{step}": 1} for step, row in enumerate(rows)]
        run = write_run(home / "r", rows, {})
        begun = time.process_time()
        read = readers.read(run)
        assert time.process_time() - begun < QUICK
        assert len(read) == 3000
        assert {"loss", "mine"} <= set(read.frame.columns)
        assert len(read.frame.columns) < 1001
        assert read.remarks[0].says("en") == "more than 1000 columns: only those that return are read"

    @posix
    @pytest.mark.parametrize("kind", ["pipe", "device", "loop", "huge", "folder"])
    def test_sentences_that_are_no_plain_file(self, home: Path, kind: str):
        run = copied(CONTROL, home / "r")
        odd_file(run / "sentences.txt", kind)
        code, _, remarks = verdict(run)
        assert code == 0
        assert [remark.partition(":")[0] for remark in remarks] == ["sentences.txt isn't read"]

    @posix
    @pytest.mark.parametrize("kind", ["pipe", "device", "loop", "huge", "folder"])
    def test_a_manifest_that_is_no_plain_file(self, home: Path, kind: str):
        run = copied(CONTROL, home / "r")
        (run / "manifest.json").unlink()
        odd_file(run / "manifest.json", kind)
        assert "manifest.json can't be read" in refused("check", "r")

    @posix
    @pytest.mark.parametrize("kind", ["pipe", "device", "loop", "huge"])
    def test_a_log_and_a_tree_that_are_no_plain_files(self, home: Path, kind: str):
        odd_file(home / "x.yaml", kind)
        assert refused("check", "x.yaml")
        code, _, err = tutor("trees", "check", "x.yaml")
        assert (code, err.count("\n")) == (2, 1)
        assert "x.yaml:1: can't be read" in err


def odd_file(path: Path, kind: str) -> None:
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "loop":
            path.symlink_to(path.name)
        case "folder":
            path.mkdir()
        case "huge":
            with path.open("wb") as file:
                file.truncate(10**11)


class TestDrawnAsText:
    """What came from outside steers no terminal."""

    def test_a_manifest(self, home: Path):
        manifest = json.loads((CONTROL / "manifest.json").read_text())
        odd = copied(CONTROL, home / f"r{EVIL}")
        (odd / "manifest.json").write_text(json.dumps(manifest | {"name": EVIL, EVIL: EVIL, "batch": EVIL}))
        code, out, _ = tutor("check", str(odd))
        assert code == 0
        assert SHOWN in out
        assert plain(out, lines=True) == out
        _, out, _ = tutor("compare", str(odd), "19-break")
        assert SHOWN in out
        assert plain(out, lines=True) == out
        (odd / "manifest.json").write_text(json.dumps({"format": EVIL * 1000}))
        said = refused("check", str(odd))
        assert f"is of format {SHOWN}" in said
        assert len(said) < 400

    def test_json_keeps_it_and_escapes_it(self, home: Path):
        odd = copied(CONTROL, home / f"r{EVIL}")
        _, out, _ = tutor("check", str(odd), "--json")
        assert plain(out, lines=True) == out
        assert json.loads(out)[0]["run"] == str(odd)

    def test_a_tree(self, home: Path):
        for ending_ in (".yaml", ".en.yaml", ".es.yaml"):
            shutil.copy(ROOT / "trees" / f"phase-19{ending_}", home / f"my{ending_}")
        prose = home / "my.en.yaml"
        prose.write_text(
            re.sub("^title: .*", lambda _: f"title: {json.dumps(EVIL)}", prose.read_text(), flags=re.M)
        )
        _, out, _ = tutor("check", str(CONTROL), "--tree", "my.yaml", "--lang", "en")
        assert SHOWN in out
        assert plain(out, lines=True) == out
        with (home / "my.yaml").open("a") as graph:
            graph.write(f"{json.dumps(EVIL)}: 1\n")
        for words in (("trees", "check", "my.yaml"), ("check", str(CONTROL), "--tree", "my.yaml")):
            code, _, err = tutor(*words)
            assert code == 2
            assert f"{SHOWN}: is no key of this place" in err

    @pytest.mark.parametrize(
        "words",
        [
            ("train", "--set", f"lr={EVIL}"),
            ("check", EVIL),
            ("train", "--set", f"{EVIL}=1"),
            ("breaks", EVIL),
        ],
    )
    def test_what_was_typed(self, home: Path, words: tuple[str, ...]):
        said = refused(*words)
        assert plain(said, lines=True) == said


def test_compare_prints_values_as_the_manifest_has_them(home: Path):
    write_run(home / "a", GOOD, {"settings": {"odd": [None, True], "flag": True, "left": None}})
    write_run(home / "b", GOOD, {"settings": {"odd": [{"x": None}], "flag": False, "left": 1}})
    _, out, _ = tutor("compare", "a", "b", "--lang", "en")
    for words in ("[null, true]", '[{"x": null}]', " true ", " false ", " none "):
        assert words in out
    assert not {"None", "True", "False"} & set(re.findall(r"\w+", out))
