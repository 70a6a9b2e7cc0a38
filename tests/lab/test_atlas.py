"""The atlas: which runs it makes, what it does with those that fail, and that it goes on where it stopped."""

import os
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from pathlib import Path

import pytest

from tutor import card as cards
from tutor import matrix
from tutor.card import Plan
from tutor.lab import atlas, cluster, workers
from tutor.lab.atlas import Entry
from tutor.lab.campaign import Job
from tutor.matrix import Ended, Ran
from tutor.parts import Part

from .jobs import square_or_die, square_or_fail
from .small import tiny


def tiny_entries(card: object, seed: int, steps: int | None, runs: Path) -> list[Entry]:
    """A break whose fault can't be, and its control."""
    plans: dict[Ran, Plan] = {
        "control": Plan(tiny(steps=6, seed=seed)),
        "break": Plan(tiny(steps=6, seed=seed), faults=(Part("no-such-fault"),)),
    }
    return [
        Entry(Job(plan, None, runs / str(seed) / role), (Ended("no-clip", role, seed, 6),))
        for role, plan in plans.items()
    ]


def test_the_entries_of_a_seed_are_control_and_break_as_long_as_the_card_says(tmp_path: Path):
    control, broken = atlas.entries_of(cards.find("no-clip"), 7, None, tmp_path)
    assert {row.role for row in control.rows} == {"control"} and {row.role for row in broken.rows} == {
        "break"
    }
    assert control.rows[0].steps == control.job.plan.settings.steps == 600
    assert {entry.job.plan.settings.seed for entry in (control, broken)} == {7}
    [plain] = atlas.entries_of(None, 7, 50, tmp_path)
    assert [(row.name, row.role, row.steps) for row in plain.rows] == [("healthy", "plain", 50)]


@pytest.mark.train
def test_a_run_that_cant_be_made_is_named_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.setattr(atlas, "entries_of", tiny_entries)
    monkeypatch.setattr(workers, "outcomes", lambda function, items, _: ((i, function(i)) for i in items))
    table = tmp_path / "atlas.csv"

    def run() -> int:
        where = {"steps": None, "jobs": 1, "runs": tmp_path / "runs", "table": table}
        return atlas.run_atlas([cards.find("no-clip")], [1, 2], healthy=False, **where)

    assert run() == atlas.UNDER_BAR
    rows = matrix.read(table)
    assert [row.role for row in rows] == ["break", "break", "control", "control"]
    assert all("no-such-fault" in row.failed for row in rows if row.role == "break")
    assert all(row.tree and not row.failed for row in rows if row.role == "control")
    assert "no-clip: 0 of 2 runs end at" in capsys.readouterr().err

    log = tmp_path / "runs" / "1" / "control" / "metrics.jsonl"
    stamp = log.stat().st_mtime_ns
    run()
    assert log.stat().st_mtime_ns == stamp


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="sends signals")
def test_a_killed_worker_is_named_and_takes_no_other_with_it():
    found = dict(workers.outcomes(square_or_die, range(6), 3))
    assert found.pop(3) == workers.KILLED
    assert found == {item: item * item for item in (0, 1, 2, 4, 5)}


def test_a_worker_that_dies_while_an_item_is_handed_over_takes_none_with_it(monkeypatch: pytest.MonkeyPatch):
    """The pool then refuses the item; it was lost now and then."""
    handed = list[int]()

    class Pool:
        def submit(self, function: Callable[[int], int], item: int) -> Future[int]:
            handed.append(item)
            if len(handed) == 2:
                raise BrokenProcessPool
            future = Future[int]()
            future.set_result(function(item))
            return future

    monkeypatch.setattr(workers, "_pool", lambda at_once: nullcontext(Pool()))
    assert dict(workers.outcomes(lambda item: item * item, range(4), 2)) == {0: 0, 1: 1, 2: 4, 3: 9}


@pytest.mark.slow
def test_submitits_own_executor_runs_the_same_jobs(tmp_path: Path):
    pytest.importorskip("submitit")
    found = dict(cluster.outcomes(square_or_fail, [1, 2, 3], 2, "local", tmp_path / "jobs"))
    assert (found[1], found[3]) == (1, 9)
    assert "no more memory" in str(found[2])
