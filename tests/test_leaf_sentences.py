"""What is said at a leaf and in its post-mortem of logs that hold little: nothing with a figure missing."""

import json
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import make_run
from tutor import readers, saying
from tutor import tree as trees
from tutor import walk as walks
from tutor.begun import begun
from tutor.postmortem import VERDICTS, PostMortem, problems, to_markdown, with_cause
from tutor.run import Chosen, Run
from tutor.saying.bests import bests, of_bests
from tutor.saying.leaf import meaning
from tutor.tree import Tree
from tutor.walk import AtLeaf, AtQuestion, Walk

UNKNOWN = "–"
"""How a figure is drawn that isn't known."""

TREES = [trees.find(name) for name in ("phase-18", "phase-19", "scale")]
LEAVES = [(tree, leaf) for tree in TREES for leaf in tree.leaves]

SPARSE = {
    "a row": {"loss": [2.0]},
    "a loss": {"loss": [5.0 - 0.01 * t for t in range(200)]},
    "a loss that dies": {"loss": [2.0] * 30 + [math.nan] * 10},
    "evaluations": {"step": [0, 50, 100], "val_loss": [3.0, 2.0, 2.5]},
    "a norm": {"loss": [2.0] * 60, "grad_norm": [1.0] * 59 + [math.inf]},
}


def to_leaves(run: Run, tree: Tree) -> dict[str, Walk]:
    """By leaf the walk to it by hand, on the shortest way."""
    ways = [walks.begin(run, tree)]
    found: dict[str, Walk] = {}
    for at in ways:
        seen = walks.look(at)
        for outcome in at.question.outcomes:
            ahead = walks.take(at, outcome, "learner", seen)
            if ahead.at not in found:
                found[ahead.at] = ahead
                ways += [ahead] if isinstance(ahead, AtQuestion) else []
    return found


@cache
def by_hand(sparse: str, tree: str) -> dict[str, Walk]:
    """The walks over one of the logs that hold little."""
    return to_leaves(make_run(SPARSE[sparse]), trees.find(tree))


def at_leaf(walk: AtLeaf, lang: str) -> Iterator[str]:
    """Every sentence with figures that the leaf shows."""
    yield saying.of_meaning(walk, lang)
    for fix in walk.leaf.fixes:
        yield from (saying.lead_of(fix, lang), saying.of_fix(walk, fix, lang))
    yield from (row.text for row in saying.of_table(walk, lang))


def in_form(pm: PostMortem, lang: str) -> Iterator[str]:
    """Every sentence of the form: of its rows, its refusals, the reasons of its cells, and its entry."""
    yield from (symptom.label(lang) for symptom in pm.symptoms)
    yield from (problem.sentence for problem in problems(pm, lang))
    full = with_cause(pm, "It overflowed", lang)
    yield from (problem.sentence for problem in problems(full, lang))
    yield from (p.sentence for p in problems(full.but(remediation="dtype=fp32"), lang))
    for verdict in VERDICTS:
        for panel in full.panels:
            for hypothesis in full.hypotheses:
                full = full.with_cell(panel, hypothesis.key, verdict)
        yield to_markdown(full, lang, datetime(2026, 1, 1))
    yield from (said.because(lang) for said in full.log.values())


@pytest.mark.parametrize(("tree", "leaf"), LEAVES, ids=[f"{tree.tree}/{leaf}" for tree, leaf in LEAVES])
def test_no_figure_is_missing_at_a_leaf_that_was_reached_by_hand(tree: Tree, leaf: str):
    for sparse in SPARSE:
        walk = by_hand(sparse, tree.tree)[leaf]
        assert isinstance(walk, AtLeaf)
        for lang in ("en", "es"):
            told = [*at_leaf(walk, lang)]
            if walk.leaf.post_mortem:
                told += in_form(begun(walk, lang), lang)
            assert not [sentence for sentence in told if UNKNOWN in sentence]


@pytest.mark.parametrize("lang", ["en", "es"])
@pytest.mark.parametrize(("tree", "leaf"), LEAVES, ids=[f"{tree.tree}/{leaf}" for tree, leaf in LEAVES])
def test_a_leaf_of_which_nothing_is_known_says_what_one_sees(tree: Tree, leaf: str, lang: str):
    said = meaning(tree.leaves[leaf], {}, lang)
    assert said
    assert UNKNOWN not in said


def test_what_an_earlier_question_measured_is_not_said_of_another():
    run = make_run({"loss": [2.0] * 30 + [math.nan] * 10})
    walk = to_leaves(run, trees.find("phase-19"))["non-finite-gradient"]
    assert walk.facts["step"] == 30  # of the loss, at 1.1
    assert "step 30" not in saying.of_meaning(walk, "en")


def test_a_token_that_nobody_recorded_is_not_named():
    leaf = trees.find("phase-19").leaves["unclipped-batch"]
    facts = {"focus": 7, "ratio": 50.0, "norm": 50.0, "after": 50.0, "token": None}
    said = meaning(leaf, facts, "en")
    assert "50x the usual" in said
    assert "rare token" not in said
    assert "' x'" in meaning(leaf, {**facts, "token": "' x'"}, "en")


def test_what_was_seen_on_the_way_and_is_no_flaw_is_said_where_none_is_found():
    control = readers.read(Path("runs/19-control"))
    end = saying.of_end(walks.chain(control, trees.find("phase-19"), trees.find), "en")
    [seen] = [line.text for line in end if "on the way" in line.text]
    assert "at step 312" in seen
    assert "what caused it? a bad batch (2.3), did it do harm? no, it was contained (2.5)" in seen
    broken = walks.unattended(readers.read(Path("runs/19-break")), trees.find("phase-19"))[0]
    assert saying.of_noticed(broken, "en", harmless=False)  # but the flaw is what counts there
    calm = make_run({"loss": [5.0 - 0.01 * t for t in range(200)]})
    assert not saying.of_noticed(walks.unattended(calm, trees.find("phase-19"))[0], "es", harmless=True)


def test_what_was_seen_is_not_called_harmless_where_a_walk_is_undecided():
    row = [max(0.5, 3 - 0.02 * at) + 0.01 * (at % 3) for at in range(300)]
    row[200] = 1.6
    spiked = make_run(
        {"loss": row, "val_loss": [one if at % 20 == 10 else None for at, one in enumerate(row)]}
    )
    end = [line.text for line in saying.of_end(walks.chain(spiked, trees.find("phase-19"), trees.find), "en")]
    [seen] = [text for text in end if "on the way" in text]
    assert "at step 200: a spike? yes (2.1)" in seen
    assert "no flaw" not in seen


def test_what_no_check_could_look_at_is_named_for_this_log_only():
    alone = {"loss": [max(2.0, 12 - 0.1 * t) + 0.01 * (t % 3) for t in range(200)] + [9.0] * 50 + [2.0] * 50}
    tree = trees.find("phase-19")

    def absent(columns: dict[str, list[float]]) -> str:
        walk, _ = walks.unattended(make_run(columns), tree)
        assert walk.at == "instability"
        return saying.of_absent(walk, "en")

    assert all(name in absent(alone) for name in ("lr", "grad_norm", "batch_hash"))
    with_lr = absent({**alone, "lr": [1e-3] * 300})
    assert "grad_norm" in with_lr
    assert "lr" not in with_lr.split(": ")[1].split(", ")


class TestBests:
    """Validation loss lowest at 1000; by the trainer's own metric, the best is another checkpoint."""

    def trained(self, **state: object) -> dict[str, object]:
        losses, errors = (0.3, 0.4, 0.5), (0.8, 0.7, 0.6)
        history: list[dict[str, object]] = []
        for number, (loss, wer) in enumerate(zip(losses, errors, strict=True), 1):
            history += [{"step": 1000 * number - 500 + t, "loss": 1 / number} for t in range(0, 500, 50)]
            history.append({"step": 1000 * number, "eval_loss": loss, "eval_wer": wer})
        return {"log_history": history, **state}

    def read(self, folder: Path, **state: object) -> Run:
        (folder / "trainer_state.json").write_text(json.dumps(self.trained(**state)))
        return readers.read(folder)

    def test_the_trainers_own_choice_is_read_with_its_metric(self, tmp_path: Path):
        run = self.read(tmp_path, best_metric=0.6, best_model_checkpoint="out/checkpoint-3000")
        assert run.chosen == Chosen(3000, "eval_wer", 0.6)
        said = of_bests(run, "en")
        assert "lowest validation loss at step 1000 (0.3)" in said
        assert "the log's own best, by eval_wer, at step 3000 (0.6)" in said

    @pytest.mark.parametrize(
        "state",
        [
            {},
            {"best_model_checkpoint": None, "best_metric": None},
            {"best_model_checkpoint": "out/best", "best_metric": 0.6},
            {"best_model_checkpoint": 3, "best_metric": "0.6"},
            {"best_model_checkpoint": "checkpoint-" + "9" * 400},
        ],
    )
    def test_a_choice_that_names_no_step_is_none(self, tmp_path: Path, state: dict[str, object]):
        run = self.read(tmp_path, **state)
        assert run.chosen is None
        assert [(best.by, best.step) for best in bests(run)] == [("val_loss", 1000), ("eval_wer", 3000)]

    def test_one_best_needs_no_words(self, tmp_path: Path):
        run = self.read(tmp_path, best_metric=0.3, best_model_checkpoint="out/checkpoint-1000")
        assert of_bests(run, "en") == of_bests(make_run({"loss": [1.0]}), "es") == ""

    @pytest.mark.parametrize(
        ("metric", "step"), [("eval_accuracy", 0), ("val/acc", 0), ("eval_wer", 20), ("eval_samples", None)]
    )
    def test_a_metric_whose_direction_is_known_has_its_best(self, metric: str, step: int | None):
        run = make_run({"step": [0, 10, 20], "val_loss": [3.0, 2.0, 2.5], metric: [0.9, 0.8, 0.7]})
        assert [best.step for best in bests(run)[1:]] == ([] if step is None else [step])

    @pytest.mark.parametrize("lang", ["en", "es"])
    def test_the_leaf_and_its_post_mortem_say_both(self, lang: str):
        columns = {"step": [0, 10, 20], "loss": [2.0, 1.0, 0.5], "val_loss": [3.0, 2.0, 2.5]}
        run = replace(make_run(columns), chosen=Chosen(20, "eval_wer", 0.7))
        walk = to_leaves(run, trees.find("phase-19"))["overfitting"]
        assert isinstance(walk, AtLeaf)
        first = saying.of_fix(walk, walk.leaf.fixes[0], lang)
        assert "eval_wer" in first
        assert begun(walk, lang).about.options[0].words(lang) == first
        assert saying.of_fix(walk, walk.leaf.fixes[1], lang) == walk.leaf.fixes[1].words(lang)


class TestBegan:
    RUN = make_run(
        {"step": [0, 10, 20, 30], "loss": [1.0, 1.0, None, 2.0], "val_loss": [1.0, None, 2.0, 2.0]}
    )

    @pytest.mark.parametrize(
        ("step", "signal", "said"),
        [
            (30, "loss", "between steps 11 and 30"),  # the row of step 20 holds no loss
            (20, "val_loss", "between steps 1 and 20"),
            (0, "loss", "at step 0"),
        ],
    )
    def test_the_steps_since_the_signals_row_before(self, step: int, signal: str, said: str):
        assert saying.of_began(self.RUN, step, "en", signal) == said

    @pytest.mark.parametrize(("every", "said"), [(10, "between steps 1991 and 2000"), (1, "")])
    def test_the_leaf_says_so_of_a_sparse_log(self, every: int, said: str):
        losses = [2.0 + 0.01 * (t % 3) for t in range(200)] + [9.0] * 100
        run = make_run({"step": [t * every for t in range(300)], "loss": losses})
        walk, _ = walks.unattended(run, trees.find("phase-19"))
        assert saying.of_onset(walk, "en").startswith(f"It began {said}" if said else "")
        assert bool(saying.of_onset(walk, "es")) == bool(said)

    def test_a_blip_is_not_where_it_began_that_nothing_was_learned(self):
        noise = random.Random(0)
        losses = [7.6 + noise.gauss(0, 0.05) + (0.4 if t == 60 else 0) for t in range(220)]
        run = make_run({"step": [50 * t for t in range(220)], "loss": losses})
        walk, looks = walks.unattended(run, trees.find("phase-19"))
        said = {look.question: look.outcome for look in looks}
        assert (said["2.1"], said["2.8"], walk.at, walk.focus) == ("yes", "blip", "never-learned", 3000)
        assert saying.of_onset(walk, "en") == ""

    def test_a_row_a_step_says_which(self):
        run = make_run({"loss": [1.0] * 9})
        assert saying.of_began(run, 5, "es") == "en el paso 5"
        assert run.span_of(5, "grad_norm") == (5, 5)


class TestFixes:
    def test_what_only_looks_is_not_called_the_smallest_fix(self):
        leaves = trees.find("phase-19").leaves
        looks, mends = leaves["non-finite-gradient"].fixes[0], leaves["instability"].fixes[0]
        assert saying.lead_of(mends, "en") == "Smallest:"
        assert "No fix is known from this log" in saying.lead_of(looks, "en")

    def test_check_says_so_too(self):
        run = make_run({"loss": [2.0] * 200, "grad_norm": [1.0] * 100 + [math.nan] * 100}, {"dtype": "bf16"})
        lines = saying.of_end(walks.chain(run, trees.find("phase-19")), "en")
        assert [line.label for line in lines if line.role == "fix"] == [
            "no fix is known from this log; to find the cause:"
        ]


@pytest.mark.parametrize(
    ("log", "resumes_at"),
    [
        ("step 20: train loss 2.0, val loss 2.1\nsaving checkpoint to out\niter 20: loss 2.0\n", 20),
        ("step 20: train loss 2.0, val loss 2.1\niter 20: loss 2.0, time 9ms\n", None),
        ("saving checkpoint to out\niter 20: loss 2.0, time 9ms\n", None),
    ],
)
def test_nanogpt_tells_the_checkpoint_it_saved_last(tmp_path: Path, log: str, resumes_at: int | None):
    path = tmp_path / "train.log"
    path.write_text("iter 0: loss 4.0, time 9ms\n" + log + "iter 30: loss nan, time 9ms\n" * 3)
    run = readers.read(path)
    saved = [one.resumes_at for one in run.checkpoints or ()]
    assert saved == ([] if resumes_at is None else [resumes_at])
    assert (run.checkpoints is None) == (resumes_at is None)
