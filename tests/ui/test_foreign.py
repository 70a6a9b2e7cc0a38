"""A run of another trainer, over no tokens: nothing speaks of text, or offers what can't be done."""

import math
import re
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from tests.conftest import shipped
from tests.ui.conftest import NARROW, SIZES, opened, phase_19, recorded, shown, to_the_leaf, until
from tutor import readers, tree
from tutor import walk as walks
from tutor.begun import begun
from tutor.notebook import Notebook, draft_key
from tutor.proof import look_alikes
from tutor.run import Run
from tutor.ui import proofs
from tutor.ui.app import TutorApp
from tutor.ui.screens.leaf import LeafScreen
from tutor.ui.screens.note import NoteScreen
from tutor.ui.screens.walk import WalkScreen

pytestmark = pytest.mark.slow


def fit(folder: Path, *, config: str = "") -> Run:
    """A small fit that blows up at step 400, as Lightning's CSVLogger writes it, with its configuration."""
    losses = (
        f"{step},{step},{math.exp(-step / 90) + (9 if step >= 400 else 0) + 0.001 * (step % 7)}\n"
        for step in range(600)
    )
    log = folder / "metrics.csv"
    log.write_text("epoch,step,train_loss\n" + "".join(losses))
    if config:
        (folder / "hparams.yaml").write_text(config)
    return readers.read(log)


def at_its_leaf(run: Run, lang: str = "en", name: str = "phase-19") -> TutorApp:
    """An app whose walk over the run was left at its leaf."""
    walked = tree.find(name)
    key = draft_key(run.name, walked.tree, run.path)
    Notebook("ana").save_draft("walk", key, walks.to_state(to_the_leaf(run, walked)))
    return TutorApp(learner="ana", lang=lang, subject=run, walked_tree=walked)


def flat(text: str) -> str:
    """The screen's text as one line."""
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("lang", "by_hand"), [("en", "By hand: tutor did not train"), ("es", "A mano: tutor no entrenó")]
)
async def test_a_fix_is_made_by_hand_and_none_is_offered_to_try(home, size, lang, by_hand):
    run = fit(home, config="learning_rate: 0.01\n")
    app = at_its_leaf(run, lang)
    async with opened(app, size):
        assert isinstance(app.screen, LeafScreen)
        assert app.screen.help_notes == ("leaf",)
        assert not app.screen.check_action("fix", ())
        assert by_hand in flat(shown(app))
        assert "learning_rate: 0.005 (hparams.yaml)" in flat(shown(app))


async def test_a_fix_of_a_run_of_ours_can_be_tried(at_leaf):
    app = at_leaf()
    async with opened(app, NARROW):
        assert app.screen.check_action("fix", ())
        assert "By hand" not in shown(app)


@pytest.mark.parametrize(
    ("lang", "why"),
    [("en", "No post-mortem here: a flaw of the configuration"), ("es", "Aquí no hay post-mortem")],
)
async def test_a_flaw_of_the_configuration_says_why_it_has_no_post_mortem(home, lang, why):
    rows = "".join(f'{{"step": {step}, "loss": {9.0 - step / 99}}}\n' for step in range(300))
    (home / "log.jsonl").write_text(rows)
    (home / "config.json").write_text('{"vocab_size": 512}')
    app = at_its_leaf(readers.read(home / "log.jsonl"), lang, "phase-18")
    async with opened(app, NARROW):
        assert app.screen.walk.at == "init-broken"
        assert not app.screen.check_action("postmortem", ())
        assert why in flat(shown(app))


@pytest.mark.parametrize("name", sorted(tree.available()))
def test_every_flaw_has_a_post_mortem_or_a_reason(name: str):
    """By the trees' description phase-18 has none: its flaws are seen before anything happened."""
    flaws = [leaf for leaf in tree.find(name).leaves.values() if leaf.verdict == "flaw"]
    assert {leaf.post_mortem for leaf in flaws} == {name != "phase-18"}


@pytest.mark.parametrize(("lang", "word"), [("en", "token"), ("es", "token")])
def test_its_post_mortem_speaks_of_no_tokens(home, lang, word):
    def said(run: Run) -> str:
        pm = begun(to_the_leaf(run, phase_19()), lang)
        return " ".join(f"{one.words(lang)} {one.known_by(lang)}" for one in pm.hypotheses)

    assert word not in said(fit(home))
    assert word in said(recorded("19-break"))


@pytest.mark.parametrize(
    ("lang", "story", "other"),
    [("en", "A model was trained", "language"), ("es", "Se entrenó un modelo y", "lenguaje")],
)
async def test_its_story_is_that_of_any_model(home, lang, story, other):
    app = TutorApp(learner="ana", lang=lang, subject=fit(home), walked_tree=phase_19(), greet=True)
    async with opened(app, NARROW):
        assert isinstance(app.screen, NoteScreen)
        assert story in flat(shown(app))
        assert other not in shown(app)


@pytest.mark.parametrize("name", ["19-break", "19-control"])
def test_what_it_is_not_is_said_once(name: str):
    end = to_the_leaf(recorded(name), phase_19())
    proof = proofs.offered(end)
    assert proof is not None
    named = {other.question for other in look_alikes(end, proof.card, "en") if other.question}
    assert named & {answer.question for answer in end.answers}  # else there is nothing to say twice
    told = walks.ruled_out(end, named)
    by_path = [
        end.tree.questions[a.question].outcomes[a.outcome].rules_out
        for a in end.answers
        if a.question in named
    ]
    assert not [one for one in by_path if one in told]
    assert len(told) < len(walks.ruled_out(end))


async def test_a_fact_that_is_not_enough_says_which_others_it_takes(home):
    rows = "".join(
        f'{{"step": {s}, "loss": {3 - s / 200}, "lr": {1e-3 * (1 - s / 400)}}}\n' for s in range(300)
    )
    (home / "log.jsonl").write_text(rows)
    run = readers.read(home / "log.jsonl")
    walk = walks.begin(run, shipped("phase-18"), ("2.1", None))
    Notebook("ana").save_draft("walk", draft_key(run.name, "phase-18", run.path), walks.to_state(walk))
    app = TutorApp(learner="ana", lang="es", subject=run, walked_tree=shipped("phase-18"))
    async with opened(app, NARROW, "down", "enter") as pilot:
        assert app.screen.walk.at == "2.1"
        await pilot.press("d")
        await pilot.pause()
        typed = app.screen.query_one(Input)
        assert typed.value == "schedule="  # what the question asks about comes first
        for given, answer in (
            ("schedule=linear", "da también lr_max, schedule_steps"),
            ("shedule=linear", "¿querías decir schedule?"),
            ("lr_max=much", "no puede ser lr_max"),
        ):
            typed.value = given
            await pilot.press("enter")
            await pilot.pause()
            assert answer in str(app.screen.query_one(Static).render())
        typed.value = "schedule=linear lr_max=1e-3 schedule_steps=400"
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, WalkScreen) and app.screen.seen.outcome == "matches")
        assert app.screen.seen.outcome == "matches"
