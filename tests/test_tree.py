"""Trees: the shipped one is sound, and every kind of problem is named with file and line."""

import shutil
from pathlib import Path

import jsonschema
import pytest

from tests import prose
from tests.conftest import ROOT, shipped
from tutor import card as cards
from tutor import tree
from tutor.card import Card
from tutor.detectors import registry
from tutor.words import LANGUAGES, BadFileError, Document, schema

W = {"en": "word", "es": "palabra"}
WINDOW = {"steps": 100, "rows": 20}
RESUMED = {"bound": 1.1, "sigmas": 5.0}
FOREMOST = {"rows": 50, "times": 3.0, "alone": 100.0}
SPIKE = {"window": WINDOW, "sigmas": 3.0, "foremost": FOREMOST, "early": 2.0, "resumed_above": RESUMED}


def small() -> dict:
    """The smallest sound tree: two questions, two leaves."""

    def question(detector: str, yes: dict, no: dict) -> dict:
        return {
            "section": "loss", "title": W, "ask": W, "why": W, "panel": "loss", "look": W, "hints": [W],
            "rule": {"detector": detector, "numbers": {}},
            "outcomes": {"yes": {"label": W, "says": W} | yes, "no": {"label": W, "says": W} | no},
        }  # fmt: skip

    spike = question("spike", {"leaf": "bad"}, {"leaf": "good"})
    spike["rule"]["numbers"] = SPIKE
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
    """A source for each number, and one for each further number of a group, as for the rows of a window."""
    groups = {name: list(value)[1:] for name, value in numbers.items() if isinstance(value, dict)}
    further = [f"{name}.{field}" for name, fields in groups.items() for field in fields]
    return dict.fromkeys([*numbers, *further], "ours")


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
            ({key: SPIKE[key] for key in SPIKE if key != "early"}, "spike needs the number 'early'"),
            (SPIKE | {"x": 1}, "spike takes no number 'x'"),
            (SPIKE | {"sigmas": float("nan")}, "sigmas must be above 0"),
            (SPIKE | {"sigmas": "many"}, "sigmas"),
            (
                SPIKE | {"foremost": FOREMOST | {"rows": 10.5}},
                "foremost.rows: Input should be a valid",
            ),
            (SPIKE | {"window": 100}, "window must be a window, such as {steps: 100"),
            (SPIKE | {"sigmas": WINDOW}, "sigmas must be one number, not a window"),
            (SPIKE | {"window": {"steps": 0, "rows": 20}}, "window must be above 0"),
            (SPIKE | {"resumed_above": 1.1}, "a bound with its noise, such as {bound: 1.1, sigmas: 20}"),
            (SPIKE | {"resumed_above": WINDOW}, "a bound with its noise, such as {bound: 100, sigmas: 20}"),
            (SPIKE | {"resumed_above": RESUMED | {"sigmas": 0.0}}, "resumed_above must be above 0"),
            (SPIKE | {"window": {"steps": 100}}, "rows"),
            (SPIKE | {"window": WINDOW | {"row": 3}}, "row"),
        ],
    )
    def test_wrong_or_missing_numbers(self, tmp_path: Path, numbers: dict, message: str):
        data = small()
        data["questions"]["2"]["rule"] |= {"numbers": numbers, "sources": sources_of(numbers)}
        said = problems(tmp_path, data)
        assert message in said
        path = tmp_path / "small.yaml"
        second = line_of(path, "detector: spike")
        assert second - 1 <= int(said.rsplit("small.yaml:", 1)[1].split(":")[0]) <= second + 14

    @pytest.mark.parametrize(
        ("margin", "message"),
        [
            (10.5, "margin must be a whole number, not 10.5"),
            (-50, "margin must be above 0"),
            (10**20, "margin must be above 0 and at most"),
        ],
    )
    def test_a_count_is_a_whole_number_above_0(self, tmp_path: Path, margin: float, message: str):
        data = small()
        rule = {"detector": "checkpoint_before", "numbers": {"margin": margin}, "sources": {"margin": "ours"}}
        data["questions"]["2"]["rule"] = rule
        assert message in problems(tmp_path, data)

    def test_of_a_group_only_the_number_that_is_missing_is_named(self, tmp_path: Path):
        data = small()
        data["questions"]["2"]["rule"]["numbers"] = SPIKE | {"resumed_above": {"bound": 1.1}}
        (only,) = problems(tmp_path, data).splitlines()
        assert only.endswith("resumed_above.sigmas: is missing")

    def test_an_outcome_that_leads_nowhere(self, tmp_path: Path):
        data = small()
        data["questions"]["2"]["outcomes"]["no"] = {"label": W, "says": W, "kind": "fine"}
        assert "an outcome leads either to `next` or to `leaf`" in problems(tmp_path, data)

    def test_an_outcome_that_leads_to_an_unknown_question(self, tmp_path: Path):
        data = small()
        data["questions"]["1"]["outcomes"]["no"]["next"] = "9"
        said = problems(tmp_path, data)
        assert "there is no question '9'" in said

    @pytest.mark.parametrize(
        ("over", "more", "what"),
        [
            ("maybe", {"leaf": "bad"}, "under names no outcome that is offered: 'maybe'"),
            ("no", {"leaf": "bad"}, "under names no outcome that is offered: 'no'"),  # itself
            ("yes", {"next": "2"}, "stands under 'yes', which leads elsewhere"),
            ("yes", {"leaf": "bad", "tempting": W}, "nobody can choose it"),
        ],
    )
    def test_an_outcome_under_another(self, tmp_path: Path, over: str, more: dict, what: str):
        data = small()
        data["questions"]["1"]["outcomes"]["no"] = {"label": W, "says": W, "under": over} | more
        assert what in problems(tmp_path, data)

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
        assert "questions.1.panel: Input should be" in said
        assert "questions.2.colour: is no key of this place" in said

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


def said_at(folder: Path, data: dict, file: str, text: str) -> str:
    """What is said of the one line of `file` that holds `text`."""
    said = problems(folder, data)
    path = folder / file
    found = [line for line in said.splitlines() if line.startswith(f"{path}:{line_of(path, text)}: ")]
    assert found, said
    return "\n".join(found)


class TestProse:
    """Sentences lie in one file per language, joined with the graph by id."""

    def test_a_placeholder_that_one_language_dropped(self, tmp_path: Path):
        data = small()
        data["questions"]["1"]["outcomes"]["yes"]["says"] = {
            "en": "at {step}: {value}",
            "es": "es {value}, sí",
        }
        said = said_at(tmp_path, data, "small.es.yaml", "es {value}, sí")
        assert said.endswith("yes.says: {step} isn't named here, and small.en.yaml names it")

    def test_a_sentence_in_the_graph(self, tmp_path: Path):
        path = write(tmp_path, small())
        path.write_text(path.read_text().replace("    panel: loss", "    panel: loss\n    why: because", 1))
        with pytest.raises(BadFileError) as caught:
            tree.load(path)
        said = f"{path}:{line_of(path, 'because')}: questions.1.why: a sentence belongs in the prose"
        assert said in str(caught.value)

    def test_an_id_that_the_graph_does_not_have(self, tmp_path: Path):
        path = write(tmp_path, small())
        spanish = prose.prose_path(path, "es")
        spanish.write_text(spanish.read_text().replace("leaves:", "leaves:\n  worse:\n    name: peor"))
        with pytest.raises(BadFileError) as caught:
            tree.load(path)
        said = f"{spanish}:{line_of(spanish, 'worse')}: leaves.worse: is no id of small.yaml"
        assert str(caught.value) == said

    def test_a_number_in_the_prose(self, tmp_path: Path):
        path = write(tmp_path, small())
        english = prose.prose_path(path, "en")
        english.write_text(english.read_text().replace("tree:", "x:") + "start: '2'\n")
        with pytest.raises(BadFileError, match=r"small.en.yaml:\d+: start: is no key of this place"):
            tree.load(path)

    def test_one_hint_less_in_a_language(self, tmp_path: Path):
        path = write(tmp_path, small())
        spanish = prose.prose_path(path, "es")
        spanish.write_text(spanish.read_text().replace("    - palabra\n", "    - palabra\n    - otra\n", 1))
        with pytest.raises(
            BadFileError, match=r"small.en.yaml:\d+: questions.1.hints.1: is missing, and small.es"
        ):
            tree.load(path)

    def test_a_sentence_that_is_none(self, tmp_path: Path):
        data = small()
        data["leaves"]["bad"]["name"] = {"en": "bad", "es": ["mal"]}
        with pytest.raises(
            BadFileError, match=r"small.es.yaml:\d+: leaves.bad.name.es: Input should be a valid"
        ):
            tree.load(write(tmp_path, data))

    def test_prose_is_asked_for_by_its_graph(self, tmp_path: Path):
        path = write(tmp_path, small())
        assert tree.load(prose.prose_path(path, "es")).tree == "small"

    def test_the_shipped_prose_is_no_tree(self):
        assert set(tree.available()) == {"phase-18", "phase-19", "scale"}


def test_a_tree_and_a_card_are_their_files(home: Path):
    folder = home / "trees" / "breaks"
    folder.mkdir(parents=True)
    for ending in (".yaml", ".en.yaml", ".es.yaml"):
        text = (ROOT / "trees" / f"phase-19{ending}").read_text().replace("tree: phase-19", "tree: mine")
        (folder.parent / f"mine{ending}").write_text(text)
        card = (ROOT / "trees" / "breaks" / f"no-clip{ending}").read_text()
        (folder / f"my-break{ending}").write_text(card.replace("tree: phase-19", "tree: mine"))
    assert tree.find("mine").tree == "mine"
    assert "mine" in tree.available()
    expected = cards.find("my-break").expect
    assert expected is not None
    assert expected.tree == "mine"


class TestLanguages:
    """A third language is one new file."""

    def test_a_whole_file_is_a_language_and_a_part_of_one_is_named(self, tmp_path: Path):
        for path in (ROOT / "trees").glob("phase-19*.yaml"):
            shutil.copy(path, tmp_path)
        french = tmp_path / "phase-19.fr.yaml"
        french.write_text('title: en vol\nquestions:\n  "1.1":\n    ask: Est-elle NaN ou Inf ?\n')
        with pytest.raises(BadFileError) as caught:
            tree.load(tmp_path / "phase-19.yaml")
        said = str(caught.value)
        assert f"{french}:1: leaves: is missing, and phase-19.en.yaml has it" in said
        assert f"{french}:3: questions.1.1.why: is missing, and phase-19.en.yaml has it" in said
        assert {problem.path for problem in caught.value.problems} == {french}

        whole = (tmp_path / "phase-19.es.yaml").read_text().replace("en vuelo", "en vol")
        french.write_text(whole)
        found = tree.load(tmp_path / "phase-19.yaml")
        assert [found.title(lang) for lang in ("fr", "es", "en")] == ["en vol", "en vuelo", "in flight"]

    def test_english_has_to_be_there(self, tmp_path: Path):
        path = write(tmp_path, small())
        prose.prose_path(path, "en").unlink()
        with pytest.raises(BadFileError, match=r"small.en.yaml:1: can't be read"):
            tree.load(path)

    def test_a_language_that_is_not_there_is_english(self):
        assert tree.find("phase-19").title("fr") == "in flight"


class TestFacts:
    """A sentence names only what its outcome has."""

    def test_of_another_outcome(self, tmp_path: Path):
        data = small()
        data["questions"]["1"]["outcomes"]["no"]["says"] = {"en": "none at {step}", "es": "no en {step}"}
        said = said_at(tmp_path, data, "small.en.yaml", "none at")
        assert said.endswith("questions.1.outcomes.no.says: {step} is no fact of the outcome 'no'")
        assert "small.es.yaml" in problems(tmp_path, data)

    def test_why_an_answer_tempts_is_told_by_the_log_of_the_others(self, tmp_path: Path):
        data = small()
        outcomes = data["questions"]["1"]["outcomes"]
        outcomes["no"]["tempting"] = {"en": "it stops at {step}", "es": "se corta en {step}"}
        tree.load(write(tmp_path, data))
        outcomes["yes"]["tempting"] = {"en": "tall at {step}", "es": "alta en {step}"}
        said = said_at(tmp_path, data, "small.en.yaml", "tall at")
        assert "{step} is no fact of every other outcome" in said

    def test_a_leaf_knows_what_every_path_to_it_gives(self, tmp_path: Path):
        data = small()
        data["leaves"]["bad"]["means"] = {"en": "after {count}", "es": "tras {count}"}
        tree.load(write(tmp_path, data))  # both questions count
        data["leaves"]["bad"]["means"] = {"en": "peak {peak}", "es": "pico {peak}"}
        said = said_at(tmp_path, data, "small.en.yaml", "peak {peak}")
        assert said.endswith("leaves.bad.means: {peak} is no fact that every path to this leaf gives")

    def test_the_step_under_discussion_is_a_fact_behind_a_question_that_finds_it(self, tmp_path: Path):
        data = small()
        data["leaves"]["good"]["means"] = {"en": "at {focus}", "es": "en {focus}"}
        assert "{focus} is no fact that every path" in problems(tmp_path, data)
        data["questions"]["2"]["focus"] = True
        tree.load(write(tmp_path, data))

    def test_a_placeholder_where_nothing_fills_it(self, tmp_path: Path):
        data = small()
        data["leaves"]["bad"]["name"] = {"en": "at {step}", "es": "en {step}"}
        assert "leaves.bad.name: {step} is no placeholder that is filled here" in problems(tmp_path, data)

    def test_a_check_says_something_for_each_outcome_and_for_no_other(self, tmp_path: Path):
        data = small()
        question = data["questions"]["1"]
        del question["rule"]
        question["checks"] = {
            "nan": {
                "label": W,
                "panel": "loss",
                "rule": {"detector": "non_finite_loss"},
                "says": {"yes": W, "x": W},
            }
        }
        question["otherwise"] = "no"
        said = problems(tmp_path, data)
        assert "question 1, check nan: says nothing for 'no'" in said
        assert "question 1, check nan: non_finite_loss never answers 'x'" in said
        question["checks"]["nan"]["says"] = {"yes": W, "no": {"en": "{value}", "es": "{value}"}}
        assert "{value} is no fact of the outcome 'no'" in problems(tmp_path, data)


class TestSources:
    """Every number says where it comes from."""

    def test_a_number_without_one(self, tmp_path: Path):
        data = small()
        del data["questions"]["2"]["rule"]["sources"]["early"]
        said = said_at(tmp_path, data, "small.yaml", "early: 2.0")
        assert said.endswith("question 2: the number 'early' has no source")

    def test_one_that_the_table_does_not_have_and_one_that_nobody_cites(self, tmp_path: Path):
        data = small()
        data["questions"]["2"]["rule"]["sources"]["early"] = "our"
        said = said_at(tmp_path, data, "small.yaml", "early: our")
        assert said.endswith("there is no source 'our'; did you mean ours?")
        data = small()
        data["sources"]["a-paper"] = W
        assert said_at(tmp_path, data, "small.en.yaml", "a-paper").endswith("nothing refers to 'a-paper'")

    def test_a_source_of_no_number(self, tmp_path: Path):
        data = small()
        data["questions"]["2"]["rule"]["sources"]["height"] = "ours"
        said = said_at(tmp_path, data, "small.yaml", "height")
        assert "a source for 'height', which is no number of it" in said

    def test_they_are_read_with_the_question(self):
        question = shipped("phase-19").questions["2.1"]
        assert set(question.sources) == {
            *question.rule.numbers,
            "window.rows",
            "resumed_above.sigmas",
            "foremost.times",
            "foremost.alone",
        }
        assert "OLMo-core" in question.sources["sigmas"]("en")
        assert "OLMo-core" in question.sources["sigmas"]("es")

    def test_every_check_of_a_question_has_its_own(self):
        for question in ("2.3", "2.5", "3.1"):
            for check in shipped("phase-19").questions[question].checks.values():
                assert set(check.rule.sources) >= set(check.rule.numbers) != set()


class TestWhatATreeCanSay:
    @pytest.mark.parametrize(("kind", "symptom"), [("fine", False), ("remark", False), ("symptom", True)])
    def test_the_kind_of_an_outcome(self, tmp_path: Path, kind: str, symptom: bool):
        data = small()
        data["questions"]["1"]["outcomes"]["yes"]["kind"] = kind
        outcome = tree.load(write(tmp_path, data)).questions["1"].outcomes["yes"]
        assert (outcome.kind, outcome.symptom) == (kind, symptom)

    def test_a_kind_that_is_none(self, tmp_path: Path):
        data = small()
        data["questions"]["1"]["outcomes"]["yes"]["kind"] = "grave"
        assert "questions.1.outcomes.yes.kind" in said_at(tmp_path, data, "small.yaml", "grave")

    def test_a_leaf_hands_over_to_a_question_of_another_tree(self, tmp_path: Path):
        data = small()
        data["leaves"]["bad"]["next"] = {"tree": "phase-19", "question": "3.1"}
        assert tree.load(write(tmp_path, data)).leaves["bad"].next == tree.Handover(
            tree="phase-19", question="3.1"
        )
        data["leaves"]["bad"]["next"] = {"tree": "phase-19", "question": "9.1"}
        assert "there is no question of phase-19 '9.1'" in said_at(tmp_path, data, "small.yaml", "9.1")
        data["leaves"]["bad"]["next"] = {"tree": "phase-91"}
        said = said_at(tmp_path, data, "small.yaml", "phase-91")
        assert said.endswith("leaf bad: there is no tree 'phase-91'; did you mean phase-19?")
        data["leaves"]["bad"]["next"] = {"tree": "small"}
        assert "leads on to its own tree" in problems(tmp_path, data)

    def test_advice_depends_on_earlier_answers(self, tmp_path: Path):
        data = small()
        data["leaves"]["bad"]["advice"] = {
            "reload": {"words": {"en": "reload", "es": "recarga"}, "when": {"1": "yes"}},
            "skip": {"words": {"en": "skip it", "es": "salta"}, "when": {"1": "no", "2": "yes"}},
            "look": {
                "words": {"en": "look", "es": "mira"},
                "when": {"1": "no", "2": None},
            },  # nobody answered
        }
        leaf = tree.load(write(tmp_path, data)).leaves["bad"]
        said = {"1": "yes"}, {"1": "no", "2": "yes"}, {"1": "no"}, {}
        assert [[one.words("en") for one in leaf.advice_for(answers)] for answers in said] == [
            ["reload"],
            ["skip it"],
            ["look"],
            [],
        ]

    @pytest.mark.parametrize(
        ("when", "said"),
        [
            ({"9": "yes"}, "leaf bad: there is no question '9'"),
            ({"2": "maybe"}, "leaf bad: question 2 has no outcome 'maybe'"),
            ({"2": "no"}, "leaf bad: no path leads from 2, no, to here"),
        ],
    )
    def test_advice_for_answers_that_nobody_gives(self, tmp_path: Path, when: dict, said: str):
        data = small()
        data["leaves"]["bad"]["advice"] = {"reload": {"words": W, "when": when}}
        assert said in problems(tmp_path, data)

    def test_a_section_is_named_once(self, tmp_path: Path):
        data = small()
        assert tree.load(write(tmp_path, data)).questions["2"].section("es") == "palabra"
        data["questions"]["2"]["section"] = "lost"
        said = said_at(tmp_path, data, "small.yaml", "section: lost")
        assert said.endswith("question 2: there is no section 'lost'; they are: loss")
        data["sections"]["spare"] = W
        assert "sections: nothing refers to 'spare'" in problems(tmp_path, data)

    def test_numbers_are_the_trees_own(self, tmp_path: Path):
        found = tree.load(write(tmp_path, small()))
        assert tree.numbers("spike", found) == found.questions["2"].rule.numbers
        assert tree.numbers("recovery", found) is None


class TestSchema:
    """JSON Schemas for editors, made from the models."""

    @pytest.mark.parametrize(("model", "name"), [(tree.Tree, "phase-19"), (Card, "breaks/no-clip")])
    def test_the_shipped_files_fit(self, model: type, name: str):
        shipped = ROOT / "trees" / f"{name}.yaml"
        jsonschema.validate(Document(shipped).data, schema.graph(model))
        for lang in LANGUAGES:
            jsonschema.validate(Document(prose.prose_path(shipped, lang)).data, schema.prose(model))

    def test_an_editor_is_offered_every_detector_and_no_other(self):
        rule = schema.graph(tree.Tree)["$defs"]["Rule"]
        assert [one["const"] for one in rule["properties"]["detector"]["oneOf"]] == sorted(registry())
        jsonschema.validate("non_finite_loss", rule["properties"]["detector"])
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate("non_finite_los", rule["properties"]["detector"])

    def test_sentences_are_of_the_prose_and_all_else_of_the_graph(self):
        graph, sentences = schema.graph(tree.Tree), schema.prose(tree.Tree)
        assert set(graph["required"]) == {"tree", "start", "questions", "leaves"}
        assert set(sentences["required"]) == {"title", "about", "sections", "questions", "leaves"}
        question = graph["$defs"]["Question"]["properties"], sentences["$defs"]["Question"]["properties"]
        assert {"ask", "why", "look", "hints"} == set(question[1]) - set(question[0]) - {"title"}
        assert {"panel", "rule", "section", "focus"} <= set(question[0]) - set(question[1])
        assert {"outcomes", "checks"} <= set(question[0]) & set(question[1])
