"""The cases that ship: each walk ends where its sealed truth says, and nothing else in its folder tells."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tutor import card as cards
from tutor import readers, seal, tree, walk
from tutor.opening import opening
from tutor.runfolder import TRUTH
from tutor.saying import verdict_of

CASES = sorted((ROOT / "runs").glob("case-*"))
LARGEST = 400_000  # bytes of a folder: a clone stays small


def truth(folder: Path) -> dict:
    return json.loads((folder / TRUTH).read_text())


def test_there_are_enough_from_every_tree_and_healthy_ones_among_them():
    promised = [truth(folder)["expect"] for folder in CASES]
    assert 12 <= len(CASES) <= 16
    assert {one["tree"] for one in promised} == {"phase-18", "phase-19", "scale"}
    assert 2 <= sum(one["leaf"] == ["healthy"] for one in promised) <= 3


def test_the_table_makes_them_all():
    with (ROOT / "trees" / "cases.csv").open(newline="") as file:
        rows = {row["case"]: row for row in csv.DictReader(file)}
    assert list(rows) == [folder.name for folder in CASES]
    for folder in CASES:
        row, told = rows[folder.name], truth(folder)
        assert (told["break"] or "", told["role"]) == (row["break"], row["role"])
        assert told["expect"]["tree"] == row["tree"]
        assert told["expect"]["leaf"] == [row["leaf"]]
        assert (told["changes"]["seed"], told["changes"]["steps"]) == (int(row["seed"]), int(row["steps"]))
        assert told["command"] == f"python -m tutor.lab.cases {folder.name}"


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
class TestCase:
    def test_its_walk_ends_at_the_leaf_of_its_truth(self, folder: Path):
        run = readers.read(folder)
        assert run.remarks == ()
        hidden = seal.seal_of(run)
        assert hidden.expect
        stages = walk.chain(run, tree.find(opening(folder), checked=False), tree.find)
        if opening(folder) == "scale":  # its leaf says what to do; the way on to a cause is for later
            stages = stages[:1]
        end = walk.first_found(stages).walk
        assert isinstance(end, walk.AtLeaf)
        assert (end.tree.tree, (end.at,)) == (hidden.expect.tree, hidden.expect.leaf)
        assert verdict_of(stages) == end.leaf.verdict  # not undecided: a healthy one has passed every section
        assert seal.found(end, hidden)
        assert seal.holds(end, hidden, opening(folder)) is None
        if hidden.broken and hidden.card and hidden.expect.tree != "scale":
            assert hidden.card.expect
            assert end.at in hidden.card.expect.leaf

    def test_nothing_but_the_truth_names_what_was_put_in(self, folder: Path):
        told = truth(folder)
        names = {part["name"] for part in told["faults"]} | set(cards.available())
        for path in folder.iterdir():
            if path.name == TRUTH:
                continue
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            # As a word of its own: `frozen` is one of the corpus's verbs, and "healthy" none of these files'.
            found = [name for name in names if f'"{name}"'.encode() in data or f" {name} ".encode() in data]
            assert not found or path.name == "sentences.txt.gz", f"{path.name} names {found}"
            assert b"--break" not in data
        manifest = json.loads((folder / "manifest.json").read_text())
        assert not {"break", "role", "faults", "trigger", "changes"} & set(manifest)
        assert (manifest["name"], manifest["command"]) == (folder.name, "tutor train --sealed")

    def test_it_is_small_and_has_no_checkpoints(self, folder: Path):
        files = {path.name: path.stat().st_size for path in folder.iterdir()}
        assert set(files) == {"manifest.json", "metrics.jsonl.gz", "sentences.txt.gz", "command.txt", TRUTH}
        assert sum(files.values()) < LARGEST

    def test_its_packed_log_tells_nothing_of_when_or_where_it_was_packed(self, folder: Path):
        head = (folder / "metrics.jsonl.gz").read_bytes()[:10]
        assert head[3] == 0  # no name
        assert head[4:8] == bytes(4)  # no time


def test_how_long_a_case_is_doesnt_tell_its_tree():
    lengths: dict[int, set[str]] = {}
    for folder in CASES:
        told = truth(folder)
        kind = "healthy" if told["expect"]["leaf"] == ["healthy"] else told["expect"]["tree"]
        lengths.setdefault(told["changes"]["steps"], set()).add(kind)
    assert all(kinds == {"healthy", "phase-18", "phase-19", "scale"} for kinds in lengths.values())
