"""What runs showed for a claim and against it, and the incident that ships as a run."""

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tutor import evidence, readers
from tutor import tree as trees
from tutor.report import Report
from tutor.words import LANGUAGES, BadFileError


@pytest.mark.parametrize("name", evidence.available())
def test_each_claim_is_contradicted_with_sources_and_named_at_leaves_that_there_are(name: str):
    claim = evidence.find(name)
    assert claim.counted(True)
    assert claim.counted(False)
    for one in claim.seen:
        assert re.search(r"https://|^ours: .*`(make|tutor) ", one.source)
        assert all(words.root.keys() >= set(LANGUAGES) for words in (one.where, one.what, claim.claim))
    for tree, leaves in claim.leaves.items():
        assert set(leaves) <= set(trees.find(tree).leaves)


def test_what_was_seen_stands_side_by_side():
    lines = list(evidence.told(evidence.find("beta2"), "en"))
    assert lines.index("for it") < lines.index("against it")
    assert any(line.startswith("  - BLOOM-104B: beta2 .95") for line in lines)


def test_a_leaf_names_the_claims_about_it_and_a_broken_file_hides_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trees" / "evidence").mkdir(parents=True)
    (tmp_path / "trees" / "evidence" / "mine.yaml").write_text("claim: 3\n")
    assert "beta2" in evidence.about("phase-19", "slow-second-moment")
    with pytest.raises(BadFileError, match=r"mine\.yaml"):
        evidence.find("mine")
    with pytest.raises(ValueError, match=r"did you mean beta2"):
        evidence.find("beta1")


def test_the_figures_of_a_published_incident_name_their_source_and_are_walked():
    run = readers.read(ROOT / "runs" / "bloom-176b")
    assert "chronicles" in next(one.facts["source"] for one in run.remarks if one.key == "source")
    report = Report(run, trees.find("phase-19"))
    assert (report.verdict, report.walk.at, report.walk.focus) == ("flaw", "instability", 31219)
