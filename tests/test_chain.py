"""Trees one after another: a leaf leads on, and what one tree only assumed stays undecided."""

import json
import math
from pathlib import Path

import pytest

from tests import prose
from tests.conftest import make_run, write_run
from tests.test_tree import small, sources_of
from tutor import readers, saying, tree, walk
from tutor.opening import FIRST, IN_FLIGHT, opening
from tutor.report import Report

HEALTHY = [1.0 + 0.01 * (step % 3) for step in range(300)]
SICK = [*HEALTHY[:200], math.nan, *HEALTHY[200:]]


@pytest.fixture
def trees(home: Path) -> Path:
    """Three trees: `first` asks for NaN and leads to `second`, whose flaw leads by hand to `third`."""
    folder = home / "trees"
    folder.mkdir()
    first = small() | {"tree": "first"}
    first["leaves"]["good"]["next"] = {"tree": "second"}
    second = small() | {"tree": "second", "after": "first"}
    second["leaves"]["bad"]["next"] = {"tree": "third", "by_hand": True}
    third = small() | {"tree": "third", "after": "second"}
    for data in (first, second, third):
        prose.write(folder / f"{data['tree']}.yaml", data)
    return folder


def walked(loss: list[float], begin: str = "first") -> list[walk.Stage]:
    return walk.chain(make_run({"loss": loss}), tree.find(begin), tree.find)


def names(stages: list[walk.Stage]) -> list[str]:
    return [stage.walk.tree.tree for stage in stages]


def test_a_leaf_that_leads_on_is_followed_and_each_tree_must_pass(trees: Path):
    stages = walked(HEALTHY)
    assert names(stages) == ["first", "second"]
    assert saying.verdict_of(stages) == "healthy"


def test_the_first_flaw_ends_the_chain(trees: Path):
    stages = walked(SICK)
    assert names(stages) == ["first"]
    assert (stages[0].walk.at, saying.verdict_of(stages)) == ("bad", "flaw")


def test_a_flaw_that_leads_on_is_where_a_learner_stops_and_what_comes_after_decides(trees: Path):
    data = small() | {"tree": "first"}
    data["leaves"]["bad"]["next"] = {"tree": "second"}
    prose.write(trees / "first.yaml", data)
    stages = walked(SICK)
    assert names(stages) == ["first", "second"]
    assert walk.first_found(stages) is stages[0]
    assert walk.deciding(stages) is stages[1]


def test_a_walk_and_a_check_of_anothers_log_name_the_same_leaf_of_what_it_learned_by_heart(tmp_path: Path):
    """The check begins where the gap is found, the walk where validation has turned."""
    train = [2.2 * 0.9**epoch + 0.02 for epoch in range(40)]
    val = [train[epoch] + 0.2 if epoch < 12 else 1.0 + 0.05 * (epoch - 12) for epoch in range(40)]
    log = tmp_path / "training.csv"
    rows = (f"{epoch},{train[epoch]},{val[epoch]}" for epoch in range(40))
    log.write_text("\n".join(("epoch,loss,val_loss", *rows)))
    assert opening(log) == IN_FLIGHT
    run, found = readers.read(log), {}
    for begin in (FIRST, IN_FLIGHT):
        end = walk.deciding(walk.chain(run, tree.find(begin), tree.find)).walk
        found[begin] = (end.tree.tree, end.at)
    assert set(found.values()) == {(IN_FLIGHT, "overfitting")}


def test_a_tree_to_be_walked_by_hand_is_not_followed(trees: Path):
    assert names(walked(SICK, "second")) == ["second"]


def test_two_trees_that_lead_to_each_other_are_walked_once(trees: Path):
    data = small() | {"tree": "second"}
    data["leaves"]["good"]["next"] = {"tree": "first"}
    prose.write(trees / "second.yaml", data)
    assert names(walked(HEALTHY)) == ["first", "second"]


def test_without_a_way_to_find_trees_one_is_walked(trees: Path):
    assert names(walk.chain(make_run({"loss": HEALTHY}), tree.find("first"))) == ["first"]


def test_what_one_tree_only_assumed_leaves_all_undecided(trees: Path):
    data = small() | {"tree": "first"}
    data["leaves"]["good"]["next"] = {"tree": "second"}
    data["questions"]["2"]["assume"] = "no"
    numbers = {"window": {"steps": 100, "rows": 20}, "pieces": 4, "growth": 2.0}
    rule = {"detector": "rising_gradient", "numbers": numbers, "sources": sources_of(numbers)}
    data["questions"]["2"]["rule"] = rule
    prose.write(trees / "first.yaml", data)
    run = make_run({"loss": HEALTHY})
    report = Report(run, tree.find("first"), tree.find)
    assert names(report.stages)[-1] == "second"
    assert report.verdict == "undecided"
    said = report.text("en").plain
    assert "first, not answered by the log: word (2)" in said
    assert "1/2 answered" in said


def test_the_trees_before_are_walked_from_the_first_on(trees: Path):
    stages = walk.before(make_run({"loss": HEALTHY}), tree.find("third"), tree.find)
    assert names(stages) == ["first", "second"]


def test_for_programs_the_trees_around_the_deciding_one_stand_beside_it(trees: Path):
    data = Report(make_run({"loss": HEALTHY}), tree.find("first"), tree.find).data("en")
    assert (data["tree"], [one["tree"] for one in data["before"]], data["after"]) == ("second", ["first"], [])
    assert json.dumps(data, allow_nan=False)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("secnd", "after: there is no tree 'secnd'; did you mean second?"),
        ("second", "after: first comes after first, which comes after it"),
    ],
)
def test_a_tree_that_comes_before_has_to_be_one(trees: Path, after: str, said: str):
    prose.write(trees / "first.yaml", small() | {"tree": "first", "after": after})
    with pytest.raises(ValueError, match=f"first.yaml:.*{said}".replace("?", r"\?")):
        tree.load(trees / "first.yaml")


class TestOpening:
    """In which tree a walk begins."""

    def test_a_lessons_run_begins_in_the_tree_of_its_card(self, home: Path):
        assert opening(write_run(home / "a", [{"step": 0}], {"break": "no-clip"})) == "phase-19"

    def test_a_card_of_ones_own_may_name_any_tree(self, home: Path):
        card = home / "mine.yaml"
        card.write_text("expect: {tree: mine-too, leaf: x}\n")
        assert opening(write_run(home / "a", [{"step": 0}], {"break": str(card)})) == "mine-too"

    def test_a_few_rows_that_are_quoted_begin_in_the_tree_about_its_course(self, home: Path):
        assert opening(write_run(home / "a", [{"step": 9}], {"excerpt": "nine rows"})) == IN_FLIGHT

    @pytest.mark.parametrize(
        "manifest",
        [{}, {"break": None}, {"break": "gone"}, {"break": 7}, {"break": ["x"]}, {"break": "a\0b"}],
    )
    def test_any_other_run_of_ours_begins_in_the_first(self, home: Path, manifest: dict):
        assert opening(write_run(home / "a", [{"step": 0}], manifest)) == FIRST

    def test_a_manifest_that_is_none_is_no_lessons(self, home: Path):
        run = write_run(home / "a", [{"step": 0}])
        (run / "manifest.json").write_text("[" * 100_000)
        assert opening(run) == FIRST

    def test_the_log_of_another_trainer_begins_in_the_tree_about_its_course(self, home: Path):
        assert opening(write_run(home / "a", [{"step": 0}], None)) == IN_FLIGHT
        log = home / "log.txt"
        log.write_text("iter 0: loss 4.0\n")
        assert opening(log) == IN_FLIGHT
        assert tree.find(IN_FLIGHT).after == FIRST  # which is walked beside it
