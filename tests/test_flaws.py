"""The catalogue of flaws: every one whole in both languages, found by what one sees, and on the page."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.conftest import ROOT, shipped
from tutor import card as cards
from tutor import flaws, tree
from tutor.cli import app
from tutor.flaws import text

FLAWS = flaws.all_flaws()
PAGES = {"en": ROOT / "docs" / "flaws.md", "es": ROOT / "docs" / "flaws.es.md"}


def tutor(*words: str) -> tuple[int, str]:
    """What `tutor words` prints, and its exit code."""
    done = CliRunner().invoke(app, [*words])
    return done.exit_code, done.output


class TestCatalogue:
    def test_it_holds_every_flaw_of_every_tree(self):
        leaves = [
            (found.tree, id)
            for found in map(tree.find, tree.available())
            for id, leaf in found.leaves.items()
            if leaf.verdict == "flaw"
        ]
        assert [(flaw.tree.tree, flaw.id) for flaw in FLAWS] == leaves

    @pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.name)
    @pytest.mark.parametrize("lang", ["en", "es"])
    def test_each_is_whole(self, flaw: flaws.Flaw, lang: str):
        sections = dict(text.sections(flaw, lang, every_source=True))
        for heading in ("sees", "is", "fix"):
            lines = sections[text._say(heading, lang)]
            assert lines and all(line.strip() for line in lines)
            assert not re.search(r"[{}]", " ".join(lines))

    @pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.name)
    def test_each_says_what_one_sees(self, flaw: flaws.Flaw):
        assert flaw.leaf.sees

    def test_by_leaf_tree_and_break(self):
        for name in ("unclipped-batch", "phase-19/unclipped-batch", "no-clip"):
            assert flaws.find(name).id == "unclipped-batch"
        with pytest.raises(ValueError, match="did you mean gradient-grows"):
            flaws.find("gradient-grow")

    def test_one_that_two_trees_have_is_asked_for_by_its_tree(self):
        with pytest.raises(ValueError, match="phase-18/overfitting and phase-19/overfitting: name one"):
            flaws.find("overfitting")
        assert flaws.find("phase-18/overfitting").called == "phase-18/overfitting"
        assert flaws.find("data-leak").called == "data-leak"

    def test_its_picture_is_its_own_run(self):
        flaw = flaws.find("no-clip")
        walk = flaws.own_walk(flaw)
        assert walk
        assert (walk.run.name, walk.at) == ("19-break", "unclipped-batch")
        _, lines = text.picture(flaw, walk, "en")
        names = {"loss", "grad_norm", "grad_norm_rest", "grad_norm_clipped"}
        assert {line.split()[0] for line in lines} == names
        assert all(line.count("█") == 1 for line in lines[1:]), "the spike stands alone"
        assert flaws.own_walk(flaws.find("decay-too-low")) is None

    def test_look_alikes_are_told_apart_by_a_question(self):
        others = {leaf.name("en") for _, _, leaf in flaws.find("decay-too-low").look_alikes()}
        assert shipped("phase-19").leaves["decay-too-high"].name("en") in others


class TestSearch:
    @pytest.mark.parametrize(
        ("sees", "best"),
        [
            ("loss 0.0 and grad_norm nan", "non-finite-gradient"),
            ("eval_loss NaN, train loss fine", "evaluation-not-finite"),
            ("OVERFLOW! Skipping step", "every-step-skipped"),
            ("val_loss turns and goes up while train loss goes down", "phase-19/overfitting"),
            ("la val_loss sube y la pérdida de entrenamiento baja", "phase-19/overfitting"),
            ("loss flat at 10.8", "never-learned"),
            ("grad_norm 0", "zero-gradient"),
            ("loss higher after resuming from a checkpoint", "state-lost"),
            ("pico de la pérdida y norma igual antes y después del clip", "unclipped-batch"),
            ("parameter norm doubles", "decay-too-low"),
            ("val loss goes up", "validation-rises"),
            ("la val loss sube", "validation-rises"),
            ("la pérdida no baja", "static-loss"),
            ("the loss doesn't fall", "static-loss"),
        ],
    )
    def test_the_best_one_is_first(self, sees: str, best: str):
        assert flaws.search(FLAWS, sees)[0].flaw.called == best

    @pytest.mark.parametrize(
        ("sees", "among"),
        [
            ("my model does not learn anything", "never-learned"),
            ("mi modelo no aprende nada", "never-learned"),
            ("validation loss gets worse while training keeps improving", "phase-19/overfitting"),
            ("the loss suddenly jumps and then comes back", "phase-19/instability"),
            ("my gradient norm keeps growing", "gradient-grows"),
            ("la norma del gradiente crece", "gradient-grows"),
            ("loss explodes", "phase-19/diverged"),
            ("la pérdida explota", "phase-19/diverged"),
            ("accuracy stuck at 10%", "guessing"),
            ("the model outputs the same thing for everything", "same-answer"),
            ("gradients vanish", "zero-gradient"),
            ("loss converges too slowly", "lr-too-low"),
            ("train acc 99 val acc 60", "left-behind"),
            ("loss spikes and never recovers", "train-again"),
            ("loss flat from the start", "never-learned"),
            ("the loss does not go down at all", "never-learned"),
            ("loss jumped up suddenly and never came down", "phase-19/diverged"),
            ("la pérdida se dispara", "phase-19/diverged"),
            ("AUC stays at 0.5", "no-skill"),
        ],
    )
    def test_ordinary_words_lead_to_it_too(self, sees: str, among: str):
        assert among in [hit.flaw.called for hit in flaws.search(FLAWS, sees)[:3]]

    @pytest.mark.parametrize("flaw", [f for f in FLAWS if f.leaf.sees], ids=lambda f: f.name)
    @pytest.mark.parametrize("lang", ["en", "es"])
    def test_whoever_describes_a_flaw_finds_it(self, flaw: flaws.Flaw, lang: str):
        assert flaws.search(FLAWS, text.sees(flaw, lang))[0].flaw.name == flaw.name

    def test_what_fits_nothing_finds_nothing(self):
        assert flaws.search(FLAWS, "") == []
        assert flaws.search(FLAWS, "xyzzy quux") == []
        assert flaws.search(FLAWS, "and then it goes on") == []
        assert flaws.search(FLAWS, "gpu out of memory") == []

    @given(st.text(max_size=60))
    def test_any_question_is_answered_in_order(self, sees: str):
        scores = [hit.score for hit in flaws.search(FLAWS, sees)]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)


class TestCommand:
    def test_the_list(self):
        code, out = tutor("flaws", "--lang", "en")
        assert code == 0
        assert all(flaw.id in out for flaw in FLAWS)

    @pytest.mark.parametrize(("lang", "words"), [("en", "What looks like it"), ("es", "Qué se le parece")])
    def test_one_whole(self, lang: str, words: str):
        code, out = tutor("flaws", "no-clip", "--lang", lang)
        assert (code, words in out, "tutor train --break no-clip" in out) == (0, True, True)
        assert all(len(line) <= 80 for line in out.splitlines())

    def test_many_sources_are_shown_when_asked_for(self):
        short, whole = tutor("flaws", "no-clip")[1], tutor("flaws", "no-clip", "--sources")[1]
        assert "$ tutor flaws unclipped-batch --sources" in short
        assert len(whole.splitlines()) > len(short.splitlines()) + 8
        code, out = tutor("flaws", "--sources")
        assert (code, "--sources goes with a NAME" in out) == (2, True)

    def test_a_search(self):
        code, out = tutor("flaws", "--sees", "loss 0.0 and grad_norm nan", "--lang", "en")
        assert code == 0
        assert out.index("non-finite-gradient") < out.index("tutor flaws non-finite-gradient")
        assert tutor("flaws", "--sees", "xyzzy", "--lang", "es")[0] == 1

    def test_bad_input(self):
        assert tutor("flaws", "overfiting")[0] == 2
        assert tutor("flaws", "data-leak", "--sees", "nan")[0] == 2
        assert tutor("flaws", "--page", "fr")[0] == 2

    def test_breaks_by_tree_and_leaf(self):
        _, out = tutor("breaks", "--lang", "en")
        lines = out.splitlines()
        under: dict[str, list[str]] = {}
        for line in lines:
            if not line.startswith(" "):
                head = line
            elif (name := line.split()[0]) in cards.available():
                under.setdefault(name, []).append(head)
        promised = {card.name: card.expect.leaves for card in cards.all_cards()}
        assert {name: sorted(heads) for name, heads in under.items()} == {
            name: sorted(f"{tree} · {', '.join(found)}" for tree, found in leaves.items())
            for name, leaves in promised.items()
        }

    @pytest.mark.parametrize(("lang", "words"), [("en", "how often"), ("es", "cada cuánto")])
    def test_signals(self, lang: str, words: str):
        code, out = tutor("signals", "--lang", lang)
        assert (code, words in out, "adam_v_norm" in out) == (0, True, True)


@pytest.mark.parametrize("lang", PAGES)
def test_the_page_is_as_it_would_be_made_today(lang: str):
    made = text.page(FLAWS, lang)
    assert PAGES[lang].read_text(encoding="utf-8") == made, f"tutor flaws --page {lang} > {PAGES[lang]}"
    anchors = set(re.findall(r'<a id="([^"]+)"', made))
    assert set(re.findall(r"\]\(#([^)]+)\)", made)) == anchors
