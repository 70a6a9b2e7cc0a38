"""What `tutor check --json` prints: as its schema has it, and as its page tells."""

import json
import re
from functools import cache, partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from tests.conftest import ROOT, make_run, write_run
from tutor import readers, tree
from tutor.cli import app
from tutor.opening import FIRST
from tutor.report import Report
from tutor.reported.keys import Awaited, Checked, Followed, schema
from tutor.run import Run

RUNS = sorted(path for path in (ROOT / "runs").iterdir() if path.is_dir())
FIXTURES = sorted((ROOT / "tests" / "readers" / "fixtures").iterdir())
PAGE = ROOT / "docs" / "check-json.md"


@cache
def validator() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


def printed(*words: str) -> Any:
    out = CliRunner().invoke(app, ["check", *words, "--json"]).stdout
    found = json.loads(out)
    validator().validate(found)
    return found


def report(run: Run) -> dict[str, Any]:
    find = partial(tree.find, checked=False)
    data = Report(run, find(FIRST), find).data("en")
    validator().validate([data])
    return data


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_every_format_fits_the_schema(path: Path):
    assert printed(str(path))


@pytest.mark.slow
@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name)
@pytest.mark.parametrize("lang", ["en", "es"])
def test_every_recorded_run_fits_the_schema(path: Path, lang: str):
    assert printed(str(path), "--lang", lang)


def test_the_page_shows_what_is_printed():
    shown = re.search(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert shown
    [run] = printed(str(ROOT / "runs" / "19-break"))
    now = {**{key: run[key] for key in ("verdict", "step", "value", "bound")}, "leaf": run["leaf"]["id"]}
    assert json.loads(shown[1]) == now | {"fix": run["leaf"]["fix"]}


def test_the_schema_that_ships_is_the_one_that_is_made():
    assert json.loads((ROOT / "docs" / "check.schema.json").read_text()) == schema(), "make pages"


def test_a_key_that_is_none_is_refused():
    data = report(make_run({"loss": [2.0] * 30}))
    with pytest.raises(jsonschema.ValidationError):
        validator().validate([data | {"verdikt": "flaw"}])
    with pytest.raises(jsonschema.ValidationError):
        validator().validate([{key: value for key, value in data.items() if key != "cause"}])


def documented(heading: str) -> set[str]:
    """The keys in the first column of the table under a heading of the page."""
    part = PAGE.read_text().partition(f"# {heading}\n")[2].partition("\n#")[0]
    cells = re.findall(r"^\| (`.*?) \|", part, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_the_page_names_every_key_and_no_other():
    kept = schema()["$defs"]
    assert documented("A run") == Checked.__required_keys__
    assert documented("What would settle it") == kept["SettlesData"]["properties"].keys()
    assert documented("A question") == kept["QuestionData"]["properties"].keys()
    happened = documented("A run that is followed")
    assert happened == Followed.__required_keys__ - Checked.__required_keys__
    assert happened | {"format", "run"} == Awaited.__required_keys__


class TestWhatDecided:
    def test_a_flaw_names_its_leaf_its_step_and_what_was_measured(self):
        data = report(readers.read(ROOT / "runs" / "19-break"))
        assert (data["verdict"], data["leaf"]["id"], data["step"]) == ("flaw", "unclipped-batch", 312)
        assert (data["section"], data["signal"], data["settles"]) == ("spike", "loss", None)
        assert data["cause"] == data["leaf"]["means"]
        first = data["leaf"]["fixes"][0]
        assert first["command"] == data["leaf"]["fix"]
        assert (bool(first["words"]), first["only_looks"]) == (True, False)
        assert data["margin"] == pytest.approx(abs(data["value"] - data["bound"]) / data["bound"])
        assert data["window"][0] <= data["step"] <= data["window"][1]

    def test_a_question_answered_with_what_is_sound_decides_nothing(self):
        score = [0.46, 0.52, 0.48, 0.5, 0.48, 0.42, 0.46, 0.51, 0.52, 0.45]
        loss = [2.0, 1.6, 1.3, 1.2, 1.15, 1.12, 1.11, 1.1, 1.1, 1.09]
        data = report(make_run({"loss": loss, "val_auroc": score}))
        assert (data["leaf"]["id"], data["question"], data["signal"]) == ("no-skill", "5.3", "val_auroc")
        assert (data["value"], data["bound"], data["window"]) == (0.46, None, [5, 9])

    def test_a_healthy_run_has_nothing_to_tell(self):
        data = report(readers.read(ROOT / "runs" / "19-control"))
        assert data["verdict"] == "healthy"
        assert data["leaf"] is not None
        for key in ("cause", "section", "question", "step", "value", "bound", "margin", "window", "signal"):
            assert data[key] is None

    def test_a_flaw_without_a_leaf_says_what_would_name_it(self):
        data = report(make_run({"loss": [2.0 - step / 1000 for step in range(200)] + [float("nan")] * 5}))
        assert (data["verdict"], data["leaf"], data["step"]) == ("flaw", None, 200)
        assert data["value"] == "NaN"
        asked = data["settles"]["question"]
        assert asked["id"] in {one["id"] for one in data["questions"]}
        assert len(asked["outcomes"]) > 1

    def test_what_is_about_the_whole_run_shows_from_its_first_step_on(self):
        """Whatever blip was looked at on the way."""
        loss = [4.17 + 0.004 * (-1) ** row for row in range(300)]
        loss[200] = 4.2
        data = report(make_run({"loss": loss, "step": range(10, 3010, 10)}))
        assert (data["leaf"]["id"], data["step"], data["window"]) == ("never-learned", 10, [10, 3000])

    def test_an_undecided_run_says_what_to_record_and_how_many_rows_it_lacks(self):
        data = report(make_run({"loss": [2.0, 1.9, 1.8]}))
        assert (data["verdict"], data["leaf"]) == ("undecided", None)
        assert data["settles"]["record"]
        assert all(one["how"] for one in data["settles"]["record"])
        assert data["settles"]["rows"]
        assert [(one["tree"], one["leaf"]) for one in data["before"]] == [("phase-18", None)]

    def test_a_run_that_cannot_be_read_fits_the_schema_too(self, home: Path):
        write_run(home / "r", [])
        [refused] = printed("r")
        assert set(refused) == {"format", "run", "error"}
