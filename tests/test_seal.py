"""The seal of a run: whatever its truth holds, it is opened or refused in one line."""

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT, shipped
from tests.ui.conftest import to_the_leaf
from tutor import readers
from tutor import walk as walks
from tutor.runfolder import MANIFEST, TRUTH
from tutor.seal import SealError, led_at, seal_of
from tutor.walk import AtLeaf


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A case whose manifest holds no digest, as that of a run sealed by an older tutor."""
    folder = shutil.copytree(ROOT / "runs" / "case-01", tmp_path / "case")
    manifest = json.loads((folder / MANIFEST).read_text())
    del manifest["seal"]
    (folder / MANIFEST).write_text(json.dumps(manifest))
    return folder


def test_without_a_digest_the_truth_is_believed(case: Path):
    found = seal_of(readers.read(case))
    assert found.broken
    assert found.card
    assert found.card.name == "slow-warmup"


@pytest.mark.parametrize(
    "told",
    ["", "not json", "[]", "null", "[" * 100_000, '{"break": 3, "command": ""}', '{"break": null}'],
    ids=["empty", "text", "list", "null", "deep", "number", "no command"],
)
def test_a_truth_that_cant_be_understood(case: Path, told: str):
    (case / TRUTH).write_text(told)
    with pytest.raises(SealError, match="can be understood"):
        seal_of(readers.read(case))


@pytest.mark.parametrize("expect", ["x", {"leaf": 3}, {"leaf": []}, {"tree": ["a"], "leaf": "b"}])
def test_a_promise_that_is_none(case: Path, expect: object):
    truth = json.loads((case / TRUTH).read_text()) | {"expect": expect}
    (case / TRUTH).write_text(json.dumps(truth))
    with pytest.raises(SealError, match="can be understood"):
        seal_of(readers.read(case))


def test_a_card_that_is_gone_is_named_in_both_languages(case: Path):
    truth = json.loads((case / TRUTH).read_text()) | {"break": "of-another-version"}
    (case / TRUTH).write_text(json.dumps(truth))
    with pytest.raises(SealError) as raised:
        seal_of(readers.read(case))
    assert all("of-another-version" in raised.value.says(lang) for lang in ("en", "es"))
    assert all("\n" not in raised.value.says(lang) for lang in ("en", "es"))


@pytest.mark.parametrize(
    ("name", "tree", "missed", "led"),
    [
        ("case-01", "phase-18", [], None),
        ("case-01", "phase-18", ["2.2"], "2.2"),  # it decides
        ("case-01", "phase-18", ["1.1"], None),  # on the way a mistake costs nothing
        ("case-03", "phase-19", [], None),
        ("case-03", "phase-19", ["2.1"], "2.1"),  # of a sound run each flaw that is seen is one too many
    ],
)
def test_who_names_it_first(name: str, tree: str, missed: list[str], led: str | None):
    walk = to_the_leaf(readers.read(ROOT / "runs" / name), shipped(tree), missed)
    assert led_at(walk) == led


def test_who_never_says_a_word_is_led():
    run = readers.read(ROOT / "runs" / "case-01")
    end, _ = walks.unattended(run, shipped("phase-18"))
    assert isinstance(end, AtLeaf)
    assert led_at(end) == end.answers[-1].question
