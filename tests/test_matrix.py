"""The matrix of the atlas: what counts as kept, which bars are missed, and the table on disk."""

from pathlib import Path

import pytest

from tutor import matrix
from tutor.matrix import HEALTHY, Ended, Ran

PROMISES = {
    ("hot", ""): ("phase-18", ("init",)),
    ("cold", ""): ("phase-19", ("never", "slow")),
    ("cold", "scale"): ("scale", ("wait",)),
}


def ended(name: str, seed: int, leaf: str, role: Ran = "break", verdict: str = "flaw") -> Ended:
    tree = "phase-18" if name == "hot" else "phase-19"
    return Ended(name, role, seed, 100, tree, leaf, verdict)


def said(*rows: Ended) -> list[str]:
    return matrix.below(matrix.lines(rows, PROMISES))


class TestBars:
    """95 % of all, 4 of 5 of each, nobody healthy called sick."""

    def test_all_at_their_leaf_is_enough(self):
        rows = [ended("hot", seed, "init") for seed in range(5)]
        rows += [ended("cold", seed, leaf) for seed, leaf in enumerate(["never", "slow", "never"])]
        assert said(*rows, ended("hot", 0, "sound", "control", "healthy")) == []

    def test_three_of_five_is_too_few_and_the_other_leaf_is_named(self):
        rows = [ended("hot", seed, "init" if seed < 3 else "lr") for seed in range(5)]
        one, both = said(*rows)
        assert one.startswith("hot: 3 of 5 runs end at phase-18 init") and "phase-18 lr" in one
        assert "3 of 5 runs of breaks" in both

    def test_four_of_five_of_each_is_still_too_few_of_all(self):
        rows = [ended(name, seed, "init" if seed else "x") for name in ("hot",) for seed in range(5)]
        assert said(*rows) == ["4 of 5 runs of breaks end at their leaf; at least 95% should"]

    def test_the_right_leaf_of_the_wrong_tree_is_wrong(self):
        assert len(said(Ended("cold", "break", 0, 100, "phase-18", "never", "flaw"))) == 2

    @pytest.mark.parametrize(("verdict", "sick"), [("healthy", 0), ("undecided", 0), ("flaw", 1)])
    @pytest.mark.parametrize(("name", "role"), [("hot", "control"), (HEALTHY, "plain")])
    def test_only_a_sick_verdict_is_wrong_of_a_healthy_run(self, name: str, role: Ran, verdict, sick: int):
        assert len(said(ended(name, 0, "x", role, verdict))) == sick

    def test_a_run_that_failed_is_named(self):
        assert "no space left" in said(Ended("hot", "control", 1, 100, failed="no space left"))[0]


def test_the_table_is_read_as_it_was_written_and_later_rows_replace_earlier(tmp_path: Path):
    path = tmp_path / "deep" / "atlas.csv"
    first, other = ended("hot", 1, "lr"), Ended("cold", "break", 0, 100, failed='killed, "so"')
    matrix.write(path, [first, other])
    matrix.write(path, [ended("hot", 1, "init")])
    assert matrix.read(path) == [other, ended("hot", 1, "init")]


def test_breaks_that_are_gone_are_left_out(tmp_path: Path):
    assert matrix.lines([ended("gone", 0, "x")], PROMISES) == []


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "name,role,seed,steps\nhot,break,many,3\n", "\xff"])
def test_what_is_no_table_is_said(tmp_path: Path, text: str):
    path = tmp_path / "atlas.csv"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match="is no table of the atlas"):
        matrix.read(path)


def test_markdown_has_a_row_a_break_and_one_for_the_healthy():
    rows = [ended("hot", 0, "init"), ended("hot", 0, "x", "control", "healthy")]
    text = matrix.markdown(matrix.lines([*rows, ended(HEALTHY, 0, "x", "plain", "healthy")], PROMISES))
    assert "| `hot` | phase-18 init | 1 of 1 | 1 of 1 |" in text
    assert "| none, healthy | | | 1 of 1 |" in text
