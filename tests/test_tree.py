"""Trees: the shipped one is sound, and every kind of problem is named with file and line."""

from pathlib import Path

import pytest

from tests import prose
from tutor import tree
from tutor.words import BadFileError

W = {"en": "word", "es": "palabra"}
WINDOW = {"steps": 100, "rows": 20}


def small() -> dict:
    """The smallest sound tree: two questions, two leaves."""

    def question(detector: str, yes: dict, no: dict) -> dict:
        return {
            "section": "loss", "title": W, "ask": W, "why": W, "panel": "loss", "look": W, "hints": [W],
            "rule": {"detector": detector, "numbers": {}},
            "outcomes": {"yes": {"label": W, "says": W} | yes, "no": {"label": W, "says": W} | no},
        }  # fmt: skip

    spike = question("spike", {"leaf": "bad"}, {"leaf": "good"})
    spike["rule"]["numbers"] = {"window": WINDOW, "sigmas": 3.0, "merge": 50}
    spike["rule"]["sources"] = sources_of(spike["rule"]["numbers"])
    return {
        "tree": "small",
        "title": W,
        "about": W,
        "start": "1",
        "sections": {"loss": W},
        "sources": {"ours": W},
        "questions": {"1": question("non_finite_loss", {"leaf": "bad"}, {"next": "2"}), "2": spike},
        "leaves": {
            "bad": {
                "name": W,
                "verdict": "flaw",
                "means": W,
                "fixes": {"lower": {"words": W, "change": {"lr": 0.1}}},
            },
            "good": {"name": W, "verdict": "healthy", "means": W},
        },
    }


def sources_of(numbers: dict) -> dict[str, str]:
    """A source for each number, and one for the rows of each window."""
    windows = [name for name, value in numbers.items() if isinstance(value, dict)]
    return dict.fromkeys([*numbers, *(f"{name}.rows" for name in windows)], "ours")


def write(folder: Path, data: dict) -> Path:
    return prose.write(folder / "small.yaml", data)


def problems(folder: Path, data: dict) -> str:
    with pytest.raises(BadFileError) as caught:
        tree.load(write(folder, data))
    return str(caught.value)


def test_the_shipped_trees_are_sound():
    for path in tree.available().values():
        found = tree.load(path)
        assert found.tree == path.stem


def test_the_smallest_is_sound(tmp_path: Path):
    assert tree.load(write(tmp_path, small())).start == "1"


def line_of(path: Path, text: str) -> int:
    return next(n for n, line in enumerate(path.read_text().splitlines(), 1) if text in line)


class TestProblems:
    """Each kind of problem, and the line it is reported at."""

    def test_an_unknown_detector_offers_the_nearest(self, tmp_path: Path):
        data = small()
        data["questions"]["2"]["rule"]["detector"] = "spikes"
        said = problems(tmp_path, data)
        assert "there is no detector 'spikes'; did you mean spike?" in said
        assert f"small.yaml:{line_of(tmp_path / 'small.yaml', 'spikes')}:" in said

    @pytest.mark.parametrize(
        ("numbers", "message"),
        [
            ({"window": WINDOW, "sigmas": 3.0}, "spike needs the number 'merge'"),
            ({"window": WINDOW, "sigmas": 3.0, "merge": 50, "x": 1}, "spike takes no number 'x'"),
            ({"window": WINDOW, "sigmas": 3.0, "merge": 10.5}, "merge must be a whole number, not 10.5"),
            ({"window": WINDOW, "sigmas": 3.0, "merge": -50}, "merge must be above 0"),
            ({"window": WINDOW, "sigmas": 3.0, "merge": 10**20}, "merge must be above 0 and at most"),
            ({"window": WINDOW, "sigmas": float("nan"), "merge": 50}, "sigmas must be above 0"),
            ({"window": WINDOW, "sigmas": 3.0, "merge": "many"}, "merge"),
            ({"window": 100, "sigmas": 3.0, "merge": 50}, "window must be a window, such as {steps: 100"),
            ({"window": WINDOW, "sigmas": WINDOW, "merge": 50}, "sigmas must be one number, not a window"),
            ({"window": {"steps": 0, "rows": 20}, "sigmas": 3.0, "merge": 50}, "window must be above 0"),
            ({"window": {"steps": 100}, "sigmas": 3.0, "merge": 50}, "rows"),
            ({"window": WINDOW | {"row": 3}, "sigmas": 3.0, "merge": 50}, "row"),
        ],
    )
    def test_wrong_or_missing_numbers(self, tmp_path: Path, numbers: dict, message: str):
        data = small()
        data["questions"]["2"]["rule"] |= {"numbers": numbers, "sources": sources_of(numbers)}
        said = problems(tmp_path, data)
        assert message in said
        path = tmp_path / "small.yaml"
        second = line_of(path, "detector: spike")
        assert second - 1 <= int(said.rsplit("small.yaml:", 1)[1].split(":")[0]) <= second + 7

    def test_an_outcome_that_leads_nowhere(self, tmp_path: Path):
        data = small()
        data["questions"]["2"]["outcomes"]["no"] = {"label": W, "says": W, "kind": "fine"}
        assert "an outcome leads either to `next` or to `leaf`" in problems(tmp_path, data)

    def test_an_outcome_that_leads_to_an_unknown_question(self, tmp_path: Path):
        data = small()
        data["questions"]["1"]["outcomes"]["no"]["next"] = "9"
        said = problems(tmp_path, data)
        assert "there is no question '9'" in said

    def test_an_outcome_of_the_detector_that_is_missing(self, tmp_path: Path):
        data = small()
        outcomes = data["questions"]["2"]["outcomes"]
        outcomes["maybe"] = outcomes.pop("no")
        said = problems(tmp_path, data)
        assert "spike can answer 'no', which leads nowhere" in said
        assert "no rule ever answers 'maybe'" in said

    def test_an_unreachable_question_and_leaf(self, tmp_path: Path):
        data = small()
        data["questions"]["1"]["outcomes"]["no"] = {"label": W, "says": W, "leaf": "good"}
        assert "no answer leads to 2" in problems(tmp_path, data)
        data = small()
        data["leaves"]["lonely"] = {"name": W, "verdict": "healthy", "means": W}
        assert "no answer leads to lonely" in problems(tmp_path, data)

    def test_a_loop(self, tmp_path: Path):
        data = small()
        data["questions"]["2"]["outcomes"]["no"] = {"label": W, "says": W, "next": "1"}
        assert "question 2 leads back to 1: a walk would never end" in problems(tmp_path, data)

    def test_a_missing_language(self, tmp_path: Path):
        data = small()
        data["questions"]["1"]["ask"] = {"en": "only English"}
        said = problems(tmp_path, data)
        spanish = tmp_path / "small.es.yaml"
        line = line_of(spanish, "'1'")
        assert said == f"{spanish}:{line}: questions.1.ask: is missing, and small.en.yaml has it"

    @pytest.mark.parametrize("hints", [[], [{"en": "", "es": "pista"}], [{"en": "  ", "es": "pista"}]])
    def test_an_empty_hint(self, tmp_path: Path, hints: list):
        data = small()
        data["questions"]["1"]["hints"] = hints
        said = problems(tmp_path, data)
        assert "hints" in said and "is empty" in said

    def test_a_change_that_names_no_setting(self, tmp_path: Path):
        data = small()
        data["leaves"]["bad"]["fixes"]["lower"]["change"] = {"grad_clop": 1.0}
        assert "there is no setting 'grad_clop'; did you mean grad_clip?" in problems(tmp_path, data)

    def test_a_placeholder_that_no_detector_fills(self, tmp_path: Path):
        data = small()
        data["questions"]["1"]["outcomes"]["yes"]["says"] = {"en": "at {stepp}", "es": "en {step}"}
        assert "{stepp} is no fact" in problems(tmp_path, data)

    def test_prose_may_name_the_numbers_of_its_rule_and_no_others(self, tmp_path: Path):
        data = small()
        data["questions"]["2"]["ask"] = {"en": "over {window} steps?", "es": "¿en {window} pasos?"}
        question = tree.load(write(tmp_path, data)).questions["2"]
        assert question.ask("es", question.numbers) == "¿en 100 pasos?"
        data["questions"]["2"]["hints"] = [W, {"en": "see {window}", "es": "mira {step}"}]
        assert "{step} is no number of its rule" in problems(tmp_path, data)
        data["questions"]["1"]["look"] = {"en": "see {window}", "es": "mira"}
        assert "{window} is no number of its rule" in problems(tmp_path, data)

    def test_a_placeholder_is_a_name_and_no_more(self, tmp_path: Path):
        data = small()
        data["questions"]["1"]["outcomes"]["yes"]["says"] = {"en": "{step:>999999999}", "es": "{step!r}"}
        assert problems(tmp_path, data).count("a placeholder is a name in braces and no more") == 2

    def test_a_change_against_what_the_run_had(self, tmp_path: Path):
        data = small()
        data["leaves"]["bad"]["fixes"]["lower"]["change"] = {"lr": {"times": 0.5}}
        assert tree.load(write(tmp_path, data)).leaves["bad"].fixes[0].change["lr"].times == 0.5
        data["leaves"]["bad"]["fixes"]["lower"]["change"] = {"lr": {"times": -1}}
        assert "times" in problems(tmp_path, data)

    def test_an_unknown_break(self, tmp_path: Path):
        data = small()
        data["leaves"]["bad"]["breaks"] = ["no-clop"]
        assert "there is no break 'no-clop'" in problems(tmp_path, data)

    def test_an_unknown_panel_and_an_unknown_key(self, tmp_path: Path):
        data = small()
        data["questions"]["1"]["panel"] = "gradiant"
        data["questions"]["2"]["colour"] = "red"
        said = problems(tmp_path, data)
        assert "panel" in said and "questions.2.colour: is no key of this place" in said

    @pytest.mark.parametrize("text", ["", "a: [", "- 1", "a: 1\na: 2", "\t"])
    def test_no_tree_at_all(self, tmp_path: Path, text: str):
        (tmp_path / "small.yaml").write_text(text)
        with pytest.raises(BadFileError) as caught:
            tree.load(tmp_path / "small.yaml")
        assert "small.yaml:" in str(caught.value)

    def test_no_file(self, tmp_path: Path):
        with pytest.raises(BadFileError, match="can't be read"):
            tree.find(str(tmp_path / "none.yaml"))

    def test_an_unknown_name_offers_the_nearest(self):
        with pytest.raises(ValueError, match="did you mean phase-19"):
            tree.find("phase19")
