"""The post-mortem: what the log fills, what is refused and why, and the text that is kept."""

import json
import math
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import make_run, shipped
from tutor import tree
from tutor.lesson import parse
from tutor.postmortem import (
    DESTRUCTIVE,
    JUDGED_BY,
    SECTIONS,
    Bound,
    Offer,
    Option,
    PostMortem,
    began_at,
    begin,
    from_state,
    normalise,
    not_taken,
    problems,
    sentences,
    tensions,
    to_markdown,
    to_state,
    total,
    with_cause,
    with_option,
    worst,
)
from tutor.postmortem.cells import reading, registry
from tutor.postmortem.form import Cell
from tutor.postmortem.incident import above, spans_decades, survey
from tutor.postmortem.text import source
from tutor.run import PANELS, Counts
from tutor.words import say

SPIKE, END = 120, 300
LABEL = 32  # cells of a row's label in the form
PHASE_19 = shipped("phase-19")
NUMBERS = {name: found for name in JUDGED_BY if (found := tree.numbers(name, PHASE_19))}
CLIP = Option(offered={"en": "Clip the norm"}, command="tutor train --set grad_clip=1.0")
STRATIFY = Option(offered={"en": "Stratify"}, command="tutor train --set batching=stratified")


def offers(section: str) -> list[Offer]:
    """What the shipped tree offers to consider at the leaves of a section."""
    return [
        Offer(key, one.words.root, frozenset(one.no_bearing), one.fingerprint.root)
        for key, one in PHASE_19.considered(section).items()
    ]


OFFERS = offers("spike")
PATTERNS = tuple(offer.key for offer in OFFERS)
MANIFEST = {
    "tutor": "1",
    "dtype": "fp32",
    "seed": 7,
    "vocab_size": 512,
    "settings": {"lr": 1e-3},
    "batch": {"rows": 8, "tokens_per_row": 64},
}


def spiked(nan_from: int | None = None, **changes):
    """A run that spikes at SPIKE for three steps and is back after; NaN from `nan_from` on."""
    steps = range(END)
    bad = [SPIKE <= t < SPIKE + 3 for t in steps]
    lost = [nan_from is not None and t >= nan_from for t in steps]
    columns = {
        "loss": [math.nan if lost[t] else 8.0 if bad[t] else 1 + 0.01 * (t % 2) for t in steps],
        "grad_norm": [math.nan if lost[t] else 50.0 if bad[t] else 1.0 for t in steps],
        "param_norm": [math.nan if n else 10.0 for n in lost],
        "lr": [1e-3] * END,
        "adam_v_norm": [1 + 0.001 * t for t in steps],
        "adam_ratio_rms": [8.0 if b else 1.0 for b in bad],
        "batch_hash": [f"{t:08x}" for t in steps],
        "rare_tokens": [["tten", "[red]"]] * END,
        "rare_counts": [[400, 0] if b else [0, 0] for b in bad],
    }
    manifest = MANIFEST | changes.pop("manifest", {})
    return make_run({k: v for k, v in (columns | changes).items() if v is not None}, manifest, (0, 100, 200))


def begun(run=None, focus: int | None = SPIKE, lang: str = "en", **how) -> PostMortem:
    how = {"options": (CLIP, STRATIFY), "numbers": NUMBERS, "hypotheses": OFFERS} | how
    return begin(
        run or spiked(),
        focus,
        tree="phase-19",
        leaf="Long-tail token",
        path=["1.1 no", "2.1 yes"],
        lang=lang,
        **how,
    )


def filled(pm: PostMortem) -> PostMortem:
    """All seven sections, as a learner fills them."""
    for hypothesis in pm.hypotheses:
        pm = pm.with_hypothesis(hypothesis.key, support="3 gradient")
        pm = pm.with_cell("gradient", hypothesis.key, "favours")
    bounds = (Bound(signal="loss", comparison="<", value="2.5", window="130..200"),)
    form = pm.verification.model_copy(update={"tolerance": "0.01", "through": "220", "bounds": bounds})
    pm = with_cause(pm, "The clip was off.", "en")
    return normalise(pm).but(lesson="Clip first", verification=form)


def values(pm: PostMortem) -> dict[str, str]:
    return {symptom.key: symptom.value for symptom in pm.symptoms}


def said(pm: PostMortem, section: str, lang: str = "en") -> list[str]:
    return [f.sentence for f in problems(pm, lang) if SECTIONS[f.section - 1] == section]


class TestSymptoms:
    def test_filled_from_the_log_with_its_panel(self):
        pm = begun()
        assert values(pm) == {
            "began": "120",
            "before": "1.005",
            "peak": "8",
            "peak_step": "120",
            "after": "1",
            "recovered": "3",
            "gradient": "50",
            "gradient_usual": "1",
            "lr": "0.001",
            "dtype": "fp32",
            "batch": "120 · 00000078",
            "tokens": "'tten' ×400",
        }
        assert {s.key: s.panel for s in pm.symptoms}["gradient"] == "gradient"
        assert said(pm, "symptoms") == []

    @pytest.mark.parametrize("typed", ["", "not recorded", "No registrado", "47.2"])
    def test_what_was_not_recorded_may_be_read_elsewhere_or_stay_empty(self, typed: str):
        pm = begun(make_run({"loss": [1.0] * 50}), focus=20)
        [missing, *_] = [s for s in pm.symptoms if s.key == "gradient"]
        assert (missing.value, missing.recorded) == ("", False)
        pm = pm.with_symptom("gradient", typed)
        assert said(pm, "symptoms") == []
        text = to_markdown(pm, "en", datetime(2026, 11, 20))
        assert ("| Gradient norm at the spike | 47.2 |" in text) == (typed == "47.2")
        assert "The log did not record: " in text
        assert "| not recorded |" not in text and "| No registrado |" not in text

    def test_what_the_log_had_may_not_be_emptied(self):
        assert said(begun().with_symptom("peak", ""), "symptoms") == ["Peak loss: empty"]

    @pytest.mark.parametrize(("vocab", "unit"), [(512, "nats"), (None, "")])
    def test_only_a_loss_over_tokens_is_in_nats(self, vocab: int | None, unit: str):
        run = make_run({"loss": [1.0] * 20 + [9.0] + [1.0] * 80}, {"vocab_size": vocab} if vocab else {})
        pm = begun(run, focus=20)
        assert {s.key: s.unit for s in pm.symptoms}["peak"] == unit
        assert ("nats" in to_markdown(pm, "es", datetime(2026, 11, 20))) == bool(unit)

    def test_a_batch_without_a_hash_promises_none(self):
        pm = begun(spiked(batch_hash=None))
        [batch] = [s for s in pm.symptoms if s.key.startswith("batch")]
        assert (batch.key, batch.value) == ("batch_index", "120")

    def test_a_loss_that_fell_by_decades_is_averaged_over_decades(self):
        """A fit from 1e3 to 1e-9: a mean over its last 150 rows is still that of its first ones."""
        loss = [10 ** (3 - 12 * min(t, 100) / 100) for t in range(160)] + [1e-3] + [1e-9] * 90
        pm = begun(make_run({"loss": loss}), focus=160)
        assert "before" not in values(pm)
        assert 1e-9 < float(values(pm)["before_decades"]) < 1e-8
        [bound] = pm.verification.bounds
        assert 1e-9 < float(bound.offered) < 1e-7

    def test_a_sparse_log_has_rows_to_hold_the_bounds_against(self):
        run = make_run({"step": range(0, 100_000, 1000), "loss": [1.0] * 50 + [9.0] * 50})
        [bound] = begun(run, focus=50_000).verification.bounds
        assert bound.window == "51000..55000"

    @pytest.mark.parametrize(
        ("key", "value", "reason"),
        [
            ("peak", "huge", "theory"),
            ("began", "3.5", "3001..3010"),
            ("peak_step", "3.5", "whole number"),
            ("after", "better", "did not recover"),
        ],
    )
    def test_a_word_where_a_number_belongs_is_refused_with_a_reason(self, key, value, reason):
        [problem] = said(begun().with_symptom(key, value), "symptoms")
        assert reason in problem
        assert value in problem

    @pytest.mark.parametrize("value", ["2.31", "2,31", "NaN", "-inf", "2.94e-4", " 7 ", "no se recuperó"])
    def test_a_number_as_people_write_it_is_taken(self, value):
        assert said(begun().with_symptom("after", value), "symptoms") == []

    def test_a_sparse_log_says_between_which_steps_it_began(self):
        run = make_run({"step": [t * 10 for t in range(40)], "loss": [2.0] * 30 + [9.0] * 10})
        pm = begun(run, focus=300)
        assert values(pm)["began"] == values(pm)["batch_index"] == "291..300"
        assert began_at(pm) == 300
        assert said(pm, "symptoms") == []
        assert said(pm.with_symptom("began", "295"), "symptoms") == []

    @pytest.mark.parametrize(
        ("every", "counts", "over"),
        [
            (1, "steps", "50-step EMA"),
            (10, "steps", "50-step EMA"),
            (100, "steps", "2 rows"),
            (1, "epochs", "50 rows"),
            (1, "rows", "50 rows"),
        ],
    )
    def test_what_is_taken_over_rows_says_so(self, every: int, counts: Counts, over: str):
        run = make_run({"step": [t * every for t in range(100)], "loss": [2.0] * 80 + [9.0] * 20})
        pm = begun(replace(run, counts=counts), focus=80 * every)
        [before] = [s for s in pm.symptoms if s.key == "before"]
        assert over in before.label("en")
        assert str(over.split("-")[0].split()[0]) in before.label("es")

    @pytest.mark.parametrize("lang", ["en", "es"])
    def test_every_label_leaves_a_gap_before_its_value(self, lang: str):
        for kind in ("symptoms", "symptoms_in_rows"):
            for key in ("gradient_first", "before_decades", "before", "after", "gradient_usual"):
                with suppress(KeyError):  # of which some are never taken over rows
                    assert len(say(f"postmortem.{kind}.{key}", lang, rows=100)) <= LABEL

    def test_what_is_configured_is_credited_to_no_panel(self):
        pm = begun(spiked(manifest={"settings": {"lr": 1e-3, "grad_clip": 1.0, "beta2": 0.95}}))
        sources = {s.key: source(s, "en") for s in pm.symptoms}
        assert {sources[key] for key in ("dtype", "clip", "beta2")} == {"configuration"}

    def test_what_blows_up_into_a_nan_began_where_it_left_its_level(self):
        loss = [1 + 0.01 * (t % 2) for t in range(200)] + [3.0, 479.0, 1e23] + [math.nan] * 50
        told = {one.key: one.value for one in begun(make_run({"loss": loss}), focus=203).symptoms}
        assert told["began"] == "200"
        assert float(told["before"]) == pytest.approx(1.005, abs=0.01)
        at_once = {
            one.key: one.value for one in begun(make_run({"loss": [*loss[:200], *loss[203:]]}), 200).symptoms
        }
        assert at_once["began"] == "200"

    def test_a_run_that_died(self):
        pm = begun(spiked(nan_from=250), focus=None)
        assert values(pm) | {"after": "NaN", "recovered": "did not recover", "began": "250"} == values(pm)
        assert pm.hypotheses[-1].key == DESTRUCTIVE
        assert pm.about.last_finite == 200
        assert "200" in with_cause(pm, "It overflowed", "en").remediation
        assert any("did not recover" in f for f in said(pm.with_symptom("recovered", "12"), "symptoms"))

    @given(focus=st.one_of(st.none(), st.integers(-5, 2 * END)), rows=st.integers(0, 60))
    def test_any_log_can_be_begun(self, focus, rows):
        run = make_run({"loss": [math.inf if t == 40 else 1.0 for t in range(rows)], "lr": [None] * rows})
        assert len(begun(run, focus).symptoms) == (11 if rows else 12)  # without rows it is that of `spiked`


class TestHypotheses:
    def test_the_patterns_of_a_spike_are_offered_each_with_its_fingerprint(self):
        assert tuple(h.key for h in begun().hypotheses) == PATTERNS
        assert PATTERNS == ("rare_token", "overflow", "schedule", "state", "loader")
        for lang in ("en", "es"):
            assert all(h.known_by(lang) for h in begun(lang=lang).hypotheses)
        assert "first ten steps" in begun().hypotheses[3].known_by("en")

    @given(st.lists(st.one_of(st.just(""), st.floats(-1, 9).map(str), st.just("x")), min_size=5, max_size=5))
    def test_normalised_they_sum_to_one(self, given_values):
        pm = begun_once()
        for key, value in zip(PATTERNS, given_values, strict=True):
            pm = pm.with_hypothesis(key, probability=value)
        pm = normalise(pm)
        assert total(pm) == pytest.approx(1, abs=1e-9)
        assert not any("sum to" in problem for problem in said(pm, "hypotheses"))

    def test_blank_ones_share_what_is_left(self):
        pm = normalise(begun().with_hypothesis("rare_token", probability="0,7"))
        assert [h.probability for h in pm.hypotheses] == ["0.7", "0.08", "0.08", "0.07", "0.07"]

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"probability": "likely"}, "not a probability"),
            ({"probability": "1.2"}, "from 0 to 1"),
            ({"probability": "0.9"}, "sum to"),
            ({"probability": ""}, "0 is an answer"),
            ({"support": " "}, "what supports it"),
        ],
    )
    def test_refused_with_a_reason(self, change, reason):
        pm = filled(begun()).with_cell("gradient", "rare_token", "silent")
        assert any(reason in f for f in said(pm.with_hypothesis("rare_token", **change), "hypotheses"))

    def test_a_panel_that_favours_it_supports_it(self):
        pm = filled(begun()).with_hypothesis("rare_token", support="")
        assert said(pm, "hypotheses") == []
        assert "| A | 0.2 | a rare token concentrated in one batch | 3 gradient |" in text(pm)

    def test_what_is_kept_in_case_needs_nothing_that_supports_it(self):
        pm = normalise(begun().with_hypothesis("rare_token", probability="0.9", support="3 gradient"))
        assert [h.probability for h in pm.hypotheses][1:] == ["0.03", "0.03", "0.02", "0.02"]
        assert said(pm, "hypotheses") == []

    def test_a_probability_that_the_evidence_contradicts_is_pointed_at(self):
        pm = begun().with_hypothesis("overflow", probability="0.6")
        pm = pm.with_hypothesis("rare_token", probability="0")
        assert tensions(pm) == [], "no cell is filled yet"
        pm = pm.with_cell("throughput", "overflow", "favours")  # the log rules it out
        pm = pm.with_cell("gradient", "rare_token", "favours")
        found = {one.hypothesis.key: (one.panel, one.verdict) for one in tensions(pm)}
        assert found == {"overflow": ("throughput", "rules_out"), "rare_token": ("gradient", "favours")}
        assert "fp16 overflow with no loss scaling: 0.6, but panel 9 scale, speed rules it out" in text(pm)
        [left] = tensions(pm.with_hypothesis("overflow", probability="0.1"))
        assert left.hypothesis.key == "rare_token"

    def test_ones_own(self):
        pm = begun().with_own().with_own()
        assert [h.key for h in pm.hypotheses][-2:] == ["own-1", "own-2"]
        pm = pm.with_cell("loss", "own-1", "silent").without("own-1").with_own()
        assert [h.key for h in pm.hypotheses][-2:] == ["own-2", "own-3"]
        assert not pm.evidence
        assert any("no words" in f for f in said(normalise(pm), "hypotheses"))

    def test_a_dead_run_considers_the_destructive_update(self):
        pm = begun(spiked(nan_from=250), None)
        assert said(filled(pm), "hypotheses") == []
        assert any("wrote NaN" in f for f in said(filled(pm.without(DESTRUCTIVE)), "hypotheses"))


class TestEvidence:
    def verdicts(self, pm: PostMortem) -> dict[str, str]:
        return {c: r.verdict for c, r in pm.log.items() if r.why not in ("no_bearing", "not_recorded")}

    def test_a_rare_token_in_one_batch(self):
        assert self.verdicts(begun()) == {
            "gradient/rare_token": "favours",
            "optimizer/rare_token": "favours",
            "batch/rare_token": "favours",
            "gradient/overflow": "rules_out",
            "throughput/overflow": "rules_out",
            "lr/schedule": "rules_out",
            "optimizer/state": "rules_out",
            "batch/loader": "rules_out",
        }

    def test_a_gradient_that_stays_tall_is_no_one_batch_as_the_walk_says(self):
        tall = [50.0 if SPIKE <= t < SPIKE + 20 else 1.0 for t in range(END)]
        pm = begun(spiked(grad_norm=tall))
        assert self.verdicts(pm)["gradient/rare_token"] == "rules_out"
        assert pm.log["gradient/rare_token"].why == "gradient_lasts"

    def test_a_batch_that_comes_twice(self):
        hashes = [f"{t:08x}" for t in range(END)]
        hashes[SPIKE] = hashes[SPIKE - 5]
        assert self.verdicts(begun(spiked(batch_hash=hashes)))["batch/loader"] == "favours"

    def test_the_observation_is_kept_with_the_verdict(self):
        kept = text(filled(begun()))
        assert "- A · 3 gradient: favours. 50 is 50 times its mean 1; the bound is 30." in kept
        assert "- C · 3 gradient: favours, by judgement" in kept
        assert "· 1 loss:" not in kept, "an empty cell says nothing"

    @pytest.mark.parametrize(
        ("marked", "word"), [("rules_out", "rules out"), ("favours", "favours (log: silent)")]
    )
    def test_the_observation_is_under_the_learners_word(self, marked: Cell, word: str):
        """What only fails to show speaks against a hypothesis, so that to rule it out agrees with the log."""
        pm = filled(begun()).with_cell("gradient", "rare_token", marked)
        low = reading("silent", "ends_low", end="1", best="0.9", bound="2")
        kept = text(pm.but(log={**pm.log, "gradient/rare_token": low}))
        assert f"3 gradient: {word}. " in kept

    def test_a_jump_of_the_schedule(self):
        calm = {"grad_norm": [1.0] * END, "rare_counts": [[0, 0]] * END, "adam_ratio_rms": None}
        pm = begun(spiked(lr=[1e-3 if t < SPIKE else 5e-3 for t in range(END)], **calm))
        assert self.verdicts(pm)["lr/schedule"] == "favours"
        assert self.verdicts(pm)["gradient/rare_token"] == "rules_out"
        assert self.verdicts(pm)["batch/rare_token"] == "rules_out"

    def test_a_rate_that_only_warms_up_is_not_said_to_go_from_0_to_0(self):
        warms_up = spiked(lr=[1e-5 * t for t in range(END)])
        smooth = begun(warms_up, 5).log["lr/schedule"]
        assert smooth.verdict == "rules_out"
        assert smooth.because("en") == "The LR makes no jump near that step."
        assert "from 0 to 1e-05" in begun(warms_up, 10).log["lr/schedule"].because("en")

    def test_the_bounds_are_the_trees(self):
        def judged(detector: str, **changed) -> dict[str, str]:
            return self.verdicts(begun(numbers=NUMBERS | {detector: {**NUMBERS[detector], **changed}}))

        assert "gradient/rare_token" not in judged("bad_batch", ratio=60.0)
        assert judged("bad_batch", share=0.9)["batch/rare_token"] == "rules_out"
        smaller = spiked(lr=[1e-3 if t < SPIKE else 1.08e-3 for t in range(END)])
        assert self.verdicts(begun(smaller))["lr/schedule"] == "rules_out", "8 % is no jump in phase-19"

    def test_moments_that_were_not_restored(self):
        pm = begun(spiked(adam_v_norm=[1.0 if t < SPIKE else 0.01 for t in range(END)]))
        assert self.verdicts(pm)["optimizer/state"] == "favours"

    def test_fp16_overflow(self):
        pm = begun(spiked(nan_from=250, manifest={"dtype": "fp16"}), None)
        assert self.verdicts(pm)["gradient/overflow"] == "favours"
        assert self.verdicts(pm)["throughput/overflow"] == "favours"
        other = begun(spiked(nan_from=250, manifest={"dtype": "fp16", "tutor": None}), None)
        assert "throughput/overflow" not in self.verdicts(other), "it may have scaled, and not logged it"

    def test_nan_to_the_end(self):
        verdicts = self.verdicts(begun(spiked(nan_from=250), None))
        assert verdicts["loss/destructive"] == verdicts["parameters/destructive"] == "favours"
        assert "gradient/overflow" not in verdicts, "a NaN gradient in fp32 is no overflow of fp16"

    def test_what_was_not_recorded_is_silent(self):
        log = begun(make_run({"loss": [1.0] * 50}), 20).log
        assert log["activations/rare_token"].why == "not_recorded"

    @pytest.mark.parametrize("lang", ["en", "es"])
    def test_every_reason_has_its_words_and_figures(self, lang):
        for pm in (begun(), begun(spiked(nan_from=250), None)):
            for one in pm.log.values():
                assert "–" not in one.because(lang)

    def test_a_cell_whose_signal_is_missing_says_which(self):
        log = begun(spiked(adam_ratio_rms=None)).log
        assert log["optimizer/rare_token"].facts == {"missing": "adam_ratio_rms"}
        assert log["optimizer/state"].verdict == "rules_out", "the panel has other signals"

    def test_a_panel_is_silent_only_where_nothing_that_it_draws_was_recorded(self):
        run = make_run({"loss": [1.0] * 50, "param_norm_decay": [1.0] * 50, "update_norm": [1.0] * 50})
        bare = Offer("bare", {"en": "no rule speaks of it"})
        said = begun(run, 20, hypotheses=[bare]).log
        silent = {panel for panel in PANELS if f"{panel}/bare" in said}
        assert all(said[f"{panel}/bare"].why == "not_recorded" for panel in silent)
        assert silent == set(PANELS) - {"loss", "parameters", "optimizer"}

    def test_a_tree_without_a_number_has_no_verdict_that_needs_it(self):
        fewer = {name: given for name, given in NUMBERS.items() if name != "bad_batch"}
        verdicts = self.verdicts(begun(numbers=fewer))
        assert not {"gradient/rare_token", "batch/rare_token"} & set(verdicts)
        assert verdicts["optimizer/rare_token"] == "favours"
        assert begun(numbers={}).log

    def test_every_rule_has_a_name_and_words_and_speaks_of_a_hypothesis_that_is_offered(self):
        for (panel, key), rule in registry().items():
            assert panel in PANELS
            assert key in (*PHASE_19.hypotheses, *shipped("scale").hypotheses, DESTRUCTIVE)
            assert rule.name.isidentifier()
            assert rule.function.__doc__

    def test_each_hypothesis_is_asked_about(self):
        pm = filled(begun()).with_cell("gradient", "state", "")
        assert any("optimizer state" in f for f in said(pm, "evidence"))
        for key in PATTERNS:
            pm = pm.with_cell("gradient", key, "silent")
        assert any("silent" in f for f in said(pm, "evidence"))


class TestAgreeing:
    @pytest.mark.parametrize(
        ("verdict", "why", "cell", "agrees"),
        [
            ("favours", "ends_high", "favours", True),
            ("favours", "ends_high", "rules_out", False),
            ("silent", "ends_low", "rules_out", True),  # what doesn't show speaks against it
            ("silent", "ends_low", "favours", False),
            ("silent", "no_bearing", "silent", True),
            ("silent", "no_bearing", "favours", None),  # this panel alone can't tell
            ("silent", "missing", "favours", None),  # the log can't tell
        ],
    )
    def test_what_is_meant_is_compared(self, verdict, why, cell, agrees):
        said = reading(verdict, why)
        assert said is not None
        assert said.agrees(cell) is agrees

    def test_a_reason_without_its_figure_is_none(self):
        assert reading("favours", "gradient_not_finite", value=None) is None

    def test_only_the_panels_of_the_log_are_asked_in_their_order(self):
        run = make_run({"loss": [2.0] * 150, "lr": [1e-3] * 150}, {"dtype": "fp32"})
        pm = begun(run)
        assert pm.panels == ("loss", "lr", "throughput")  # the last for its rule on the dtype
        kept = pm.with_cell("tokens", "rare_token", "silent")  # of a draft that was asked about it
        assert kept.panels == ("loss", "lr", "tokens", "throughput")
        shown = text(pm)
        assert "Not in this log: 3 gradient, 4 activations" in shown
        assert "| 3 gradient" not in shown.split("Not in this log")[0].split("### 3.")[1]


class TestRootCause:
    @pytest.mark.parametrize(
        "one",
        [
            "The clip was off",
            "At beta2 0.999 v is slow, e.g. about 1.0e3 steps, i.e. longer than the spike.",
            "La norma subió a 47.2, p. ej. por un token raro, aprox. 5 veces.",
            "Q2.2 vs. Q2.3 (see fig. 3) no. 4!",
            "¿Estaba el clipping apagado?",
            "It overflowed... then died.",
            "Clip, etc. was off.",
        ],
    )
    def test_one(self, one):
        assert sentences(one) == 1
        assert said(begun().but(cause=one), "cause") == []

    @pytest.mark.parametrize(
        "two",
        [
            "The clip was off. The batch was bad.",
            "clip off. batch bad",
            "It was 1.0. Then 2.0.",
            "¿El clip? Estaba apagado.",
            "First paragraph\n\nsecond one",
            "Off! Bad!",
            "Clip, etc. The rest.",
            "裁剪关闭。批次很糟。",
        ],
    )
    def test_two_are_refused(self, two):
        assert sentences(two) == 2
        assert "2 sentences" in said(begun().but(cause=two), "cause")[0]

    @pytest.mark.parametrize("none", ["", "  ", "...", "?!"])
    def test_none_means_you_dont_know_yet(self, none):
        assert "don't know yet" in said(begun().but(cause=none), "cause")[0]
        assert "no lo sabes" in said(begun().but(cause=none), "cause", "es")[0]

    @given(st.text())
    def test_any_text_is_counted(self, text):
        assert (sentences(text) == 0) == (not any(c.isalnum() for c in text))

    @given(
        st.lists(st.sampled_from(["the clip was off", "beta2 is 0.999", "g rose"]), min_size=1, max_size=5)
    )
    def test_sentences_add_up(self, parts):
        assert sentences(" ".join(f"{part.capitalize()}." for part in parts)) == len(parts)


class TestRemediation:
    @pytest.mark.parametrize(
        "change",
        [
            "tutor train --set grad_clip=1.0",
            "$ tutor train --break no-clip --device cpu \\\n  --set grad_clip=1.0 --seed 3",
            "# smallest first\ngrad_clip=1.0",
            "grad_clip=1.0# smallest first",
            "tutor train --set grad_clip=1.0  # smallest first",
            "--set grad_clip=1.0",
            "grad_clip=0.5, lr=5e-4.",
            "grad_clip=none",
        ],
    )
    def test_a_change_that_can_be_run(self, change):
        assert said(begun().but(remediation=change), "remediation") == []

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ("clip harder", "name=value"),
            ("grad_clp=1.0", "grad_clip"),
            ("grad_clip=-1", "greater than 0"),
            ("I would say tutor train --set grad_clip=1.0", "name=value"),
            ("tutor train --set grad_clip=1.0 and hope", "and hope"),
            ("tutor train --clip 1.0", "--clip"),
            ("tutor train --set 'grad_clip=1.0", "name=value"),
            ("tutor train --break no-clop --set grad_clip=1.0", "no-clip"),
            ("tutor walk 19-break", "name=value"),
            ("tutor train", "name=value"),
            ("# only a remark", "name=value"),
            ("lr=1e-3", "the run had lr=1e-3 already"),
        ],
    )
    def test_refused_with_a_reason(self, change, reason):
        assert reason in said(begun(breaks=("no-clip",)).but(remediation=change), "remediation")[0]

    @pytest.mark.parametrize(
        "change",
        [
            "--max_grad_norm 1.0",
            "max_grad_norm: 1.0",
            "clip=1.0, lr=1e-4",
            "torchrun --nproc_per_node 8 train.py --max_grad_norm=1.0",
            "./run.sh --clip 1",
        ],
    )
    def test_another_trainers_names_are_its_own(self, change):
        pm = begun(spiked(manifest={"tutor": None}))
        assert said(pm.but(remediation=change), "remediation") == []

    @pytest.mark.parametrize("change", ["clip harder", "please run --clip 1.0", "python train.py"])
    def test_words_are_no_change_of_another_trainer_either(self, change):
        pm = begun(spiked(manifest={"tutor": None}))
        assert said(pm.but(remediation=change), "remediation")

    def test_it_is_empty_until_a_cause_is_written(self):
        pm = begun()
        assert pm.remediation == ""
        assert "section 4" in said(pm, "remediation")[0]
        pm = with_cause(pm, "The", "en")
        assert pm.remediation == CLIP.command
        assert with_cause(pm, "", "en").remediation == ""
        mine = pm.but(remediation="grad_clip=0.5")
        assert (
            with_cause(mine, "", "en").remediation
            == with_cause(mine, "x", "en").remediation
            == "grad_clip=0.5"
        )

    def test_what_is_not_taken_is_kept_too(self):
        pm = filled(begun())
        assert not_taken(pm) == (STRATIFY,)
        assert "The leaf also names: Stratify" in text(pm)
        other = with_option(pm, 1, "en")
        assert other.remediation == STRATIFY.command
        assert not_taken(other) == (CLIP,)

    def test_a_fix_in_words_alone_is_for_the_learner_to_write(self):
        pm = with_cause(begun(options=(Option(offered={"en": "Seed every worker"}),)), "Same seed", "en")
        assert pm.remediation == ""
        assert "fix is a change of the script" in said(pm, "remediation")[0]
        taken = with_option(pm.but(remediation="grad_clip=1.0"), 0, "en")
        assert taken.remediation == "# Seed every worker\ngrad_clip=1.0"
        assert not_taken(taken) == ()
        assert said(taken, "remediation") == []
        said_so = with_option(pm, 0, "en")
        assert said_so.remediation == "# Seed every worker"
        assert said(said_so, "remediation") == []  # no setting does what a line of the script has to
        assert said(pm.but(remediation="Seed every worker"), "remediation") != []  # nor is it one

    def test_where_a_fix_can_be_run_a_remark_is_none(self):
        pm = filled(begun()).but(remediation="# Stratify the batches")
        assert said(pm, "remediation") != []

    def test_what_section_5_opens_with_is_never_refused(self):
        for options in ((CLIP, STRATIFY), (STRATIFY,)):
            assert said(with_cause(begun(options=options), "It was off", "en"), "remediation") == []

    @pytest.mark.parametrize("change", ["learning_rate=1e-5", "lr: 1e-5", "train.py --lr 1e-5"])
    def test_a_fix_written_in_another_trainers_words_is_taken(self, change):
        half = Option(offered={"en": "Halve the learning rate"}, changes=("lr",))
        pm = begun(spiked(manifest={"tutor": None}), options=(half,)).but(remediation=change)
        assert not_taken(pm) == ()
        assert not_taken(pm.but(remediation="clip=1.0")) == (half,)

    def test_a_dead_run_goes_back_to_the_last_finite_checkpoint(self):
        pm = with_cause(begun(spiked(nan_from=250), None), "It overflowed", "en")
        assert said(pm, "remediation") == []
        assert "step 200" in said(pm.but(remediation="grad_clip=1.0"), "remediation")[0]

    @pytest.mark.parametrize(("nan_from", "resumes_at"), [(199, 100), (200, 100), (201, 200), (250, 200)])
    def test_a_checkpoint_is_good_where_the_loss_of_its_own_step_is_finite(self, nan_from, resumes_at):
        assert begun(spiked(nan_from=nan_from), None).about.last_finite == resumes_at

    def test_a_loss_that_was_not_logged_at_a_checkpoints_step_vouches_for_nothing(self):
        run = make_run({"step": [0, 90, 190, 290], "loss": [1.0, 1.0, 1.0, math.nan]}, {}, (0, 100, 200))
        assert begun(run, None).about.last_finite == 100

    def test_or_starts_again_with_a_smaller_lr(self):
        pm = begun(spiked(nan_from=0), None)
        assert pm.about.last_finite is None
        assert "below 0.001" in said(pm.but(remediation="lr=2e-3"), "remediation")[0]
        assert said(pm.but(remediation="lr=5e-4"), "remediation") == []

    def test_a_log_that_names_no_checkpoint_asks_from_where(self):
        run = make_run({"step": [0, 10, 20, 30], "loss": [4.0, 3.0, 3.0, math.nan]}, {})
        pm = begun(run, None)
        assert (pm.about.last_finite, pm.about.keeps, pm.about.sound) == (None, False, 20)
        [refused] = said(pm.but(cause="x", remediation="dtype=fp32"), "remediation")
        assert "step 20 or before" in refused
        assert "–" not in refused
        for sound in ("# from the checkpoint of step 10\ndtype=fp32", "lr=1e-4"):
            assert said(pm.but(remediation=sound), "remediation") == []
        late = pm.but(remediation="# from the checkpoint of step 30\ndtype=fp32")
        assert said(late, "remediation") == [refused]
        offered = with_cause(begun(run, None, options=()), "It overflowed", "en")
        assert said(offered, "remediation") == []

    def test_an_evaluation_shows_finite_weights_too(self):
        columns = {"step": [0, 10, 20], "loss": [4.0, None, math.nan], "val_loss": [None, 3.0, None]}
        assert begun(make_run(columns, {}), None).about.sound == 10

    def test_without_a_known_lr_it_is_lowered_all_the_same(self):
        run = make_run({"loss": [math.nan] * 20}, {})
        [refused] = said(begun(run, None).but(cause="x", remediation="dtype=fp32"), "remediation")
        assert "lower learning rate" in refused
        assert "–" not in refused

    def test_the_highest_logged_lr_is_known(self):
        run = make_run({"loss": [math.nan] * 4, "lr": [1e-4, 2e-4, 3e-4, 2e-4]}, {})
        assert begun(run, None).about.lr == pytest.approx(3e-4)


class TestVerification:
    @pytest.mark.parametrize(
        ("bound", "reason"),
        [
            ({"signal": "lss"}, "no such signal"),
            ({"comparison": "="}, "none of"),
            ({"value": "small"}, "not a number"),
            ({"window": "later"}, "not a window"),
            ({"window": "200..130"}, "not a window"),
            ({"window": "130..999"}, "after the step 220"),
        ],
    )
    def test_a_bound_is_refused_with_a_reason(self, bound, reason):
        pm = filled(begun())
        bad = pm.verification.bounds[0].model_copy(update=bound)
        pm = pm.but(verification=pm.verification.model_copy(update={"bounds": (bad,)}))
        assert reason in said(pm, "verification")[0]

    @pytest.mark.parametrize("seed", ["", "unknown", "Desconocida"])
    def test_a_run_of_another_trainer_may_have_no_seed(self, seed: str):
        run = spiked(manifest={"tutor": None, "seed": None})
        pm = filled(begun(run))
        pm = pm.but(verification=pm.verification.model_copy(update={"seed": seed}))
        assert said(pm, "verification") == []
        assert "- Seed: unknown: the run can't be repeated" in to_markdown(pm, "en", datetime(2026, 11, 20))
        ours = filled(begun())
        ours = ours.but(verification=ours.verification.model_copy(update={"seed": seed}))
        assert any("Seed" in one for one in said(ours, "verification"))

    @pytest.mark.parametrize(("field", "value"), [("seed", "x"), ("tolerance", "2"), ("through", "-1")])
    def test_the_form_is_refused_with_a_reason(self, field, value):
        pm = filled(begun())
        pm = pm.but(verification=pm.verification.model_copy(update={field: value}))
        assert value in said(pm, "verification")[0]

    def test_the_log_offers_seed_and_window(self):
        form = begun().verification
        assert (form.seed, form.through) == ("7", "220")
        assert form.bounds[0].window == "130..220"
        assert (form.tolerance, form.bounds[0].value, form.bounds[0].offered) == ("0.01", "", "1.02")

    @pytest.mark.parametrize(
        ("bound", "tolerance", "holds"),
        [("< 8.5", "0", True), ("< 7.9", "0", False), ("< 7.9", "0.02", True), ("<= 8", "0", True),
         ("< 8", "0", False), ("> 1.005", "0", False), ("> 1.005", "0.01", True)],
    )  # fmt: skip
    def test_a_bound_may_be_missed_by_the_tolerance(self, bound, tolerance, holds):
        comparison, value = bound.split()
        form = Bound(signal="loss", comparison=comparison, value=value, window="110..130")
        found = worst(form, tolerance, spiked())
        assert found is not None
        assert (found.holds, found.step) == (holds, SPIKE if "<" in comparison else 110)

    def test_nan_holds_no_bound_and_no_row_says_nothing(self):
        bound = Bound(signal="loss", value="99", window="200..299")
        found = worst(bound, "0.01", spiked(nan_from=250))
        assert found is not None
        assert (found.step, found.holds) == (250, False)
        assert worst(bound.model_copy(update={"window": "400..500"}), "0.01", spiked()) is None

    def test_the_tolerance_is_kept_with_the_bound(self):
        assert "loss < 2.5 at every step of 130..200; with the tolerance, up to 2.525" in text(
            filled(begun())
        )


def begin_whole(run, **how) -> PostMortem:
    """The post-mortem of a course that went wrong."""
    return begun(run, 50, whole=True, hypotheses=offers("course"), **how)


class TestTheWholeRun:
    """Leaves without an incident: the symptoms, the hypotheses and the bounds of a course."""

    def begun(self, **columns) -> PostMortem:
        return begun(make_run(columns, MANIFEST), 50, whole=True, hypotheses=offers("course"))

    def test_overfitting(self):
        train = [3 - 0.005 * t for t in range(200)]
        turned = [3 - 0.02 * t if t < 50 else 2 + 0.01 * (t - 50) for t in range(200)]
        pm = self.begun(loss=train, val_loss=turned)
        shown = values(pm)
        assert shown["turned"] == "50"
        assert float(shown["val_best"]) < 2.1 < 3 < float(shown["val_end"])
        assert pm.log["loss/memorised"].verdict == "favours"
        assert {"rare_token", "overflow", "state"}.isdisjoint(h.key for h in pm.hypotheses)

    def test_overfitting_promises_its_evaluations_in_the_steps_that_are_left(self):
        train = [3 - 0.005 * t for t in range(200)]
        turned = [3 - 0.02 * t if t < 50 else 2 + 0.01 * (t - 50) for t in range(200)]
        run = make_run({"loss": train, "val_loss": turned}, MANIFEST)
        pm = begin_whole(run, promises=("val_loss",), stops=True)
        [bound] = pm.verification.bounds
        assert bound.signal == "val_loss"
        asked = bound.model_copy(update={"value": bound.offered})
        assert not worst(asked, "0.01", run).holds
        stopped = make_run({"loss": train[:55], "val_loss": turned[:55]}, MANIFEST)
        assert worst(asked, "0.01", stopped).holds

    def test_an_evaluation_that_is_not_finite_promises_to_be(self):
        run = make_run({"loss": [1.0] * 20, "val_loss": [2.0, math.nan] * 10}, MANIFEST)
        [bound] = begin_whole(run, promises=("val_loss",)).verification.bounds
        asked = bound.model_copy(update={"value": bound.offered})
        assert not worst(asked, "0.01", run).holds
        mended = make_run({"loss": [1.0] * 20, "val_loss": [2.0] * 20}, MANIFEST)
        assert worst(asked, "0.01", mended).holds

    def test_a_gradient_of_zero_promises_more(self):
        run = make_run({"loss": [1.0] * 40, "grad_norm": [0.0] * 40}, MANIFEST)
        bounds = begin_whole(run, promises=("grad_norm",)).verification.bounds
        assert [(one.signal, one.comparison, one.offered) for one in bounds] == [("grad_norm", ">", "0")]

    def test_divergence(self):
        loss = [3 - 0.02 * t if t < 50 else 2 + 0.01 * (t - 50) for t in range(200)]
        pm = self.begun(loss=loss, grad_norm=[1.0 if t < 50 else 1 + 0.1 * (t - 50) for t in range(200)])
        assert pm.log["loss/rate"].verdict == pm.log["gradient/rate"].verdict == "favours"
        assert pm.log["loss/no_signal"].verdict == "rules_out"

    def test_never_learned(self):
        pm = self.begun(loss=[6.2 + 0.01 * (t % 3) for t in range(200)], grad_norm=[0.0] * 200)
        assert pm.log["loss/no_signal"].verdict == pm.log["gradient/no_signal"].verdict == "favours"
        assert "turned" not in values(pm)  # it went wrong before its first step

    @pytest.mark.parametrize(("update", "verdict"), [(0.5, "favours"), (0.1, "silent")])
    def test_updates_that_are_too_large(self, update: float, verdict: str):
        loss = [3 - 0.01 * t for t in range(200)]
        run = make_run({"loss": loss, "update_norm": [update] * 200, "param_norm": [10.0] * 200}, MANIFEST)
        pm = begun(run, None, whole=True, hypotheses=offers("course"))
        assert pm.log["optimizer/rate"].verdict == verdict
        assert values(pm)["moved"] == str(round(10 * update))
        assert "turned" not in values(pm)  # no step is under discussion

    def test_nothing_is_asked_that_has_no_meaning_there(self):
        pm = self.begun(loss=[3.0] * 60)
        assert "peak" not in values(pm)
        assert all(s.panel in PANELS or s.key == "dtype" for s in pm.symptoms)

    @pytest.mark.parametrize("rows", [0, 1, 3])
    def test_a_log_of_hardly_any_rows_can_be_begun(self, rows):
        run = make_run({"loss": [1.0] * rows})
        assert begun(run, None, whole=True, hypotheses=offers("course")).symptoms


def test_a_level_of_values_that_no_float_can_rise_above_has_no_bound():
    wild = pl.Series([1e-300, 1e300] * 20)
    assert above(1.0, wild) == math.inf
    assert above(1.0, pl.Series([1.0, 1.0, 1.0])) == 1.0
    assert not spans_decades(pl.Series([], dtype=pl.Float64))


def text(pm: PostMortem) -> str:
    """The Markdown that is kept."""
    return to_markdown(pm, "en", datetime(2026, 1, 1))


class TestWhole:
    @pytest.mark.parametrize("lang", ["en", "es"])
    def test_empty_sections_are_findings(self, lang):
        pm = begun(lang=lang)
        empty = [s for s in SECTIONS if said(pm, s, lang)]
        assert empty == list(SECTIONS[1:])
        for section in empty:
            if section != "remediation":  # it waits for the cause
                assert ("finding" if lang == "en" else "hallazgo") in said(pm, section, lang)[0]

    @pytest.mark.parametrize("lang", ["en", "es"])
    def test_filled_it_may_be_saved_and_the_notebook_reads_it(self, lang):
        pm = filled(begun(lang=lang))
        assert problems(pm, lang) == []
        when = datetime(2026, 11, 20, 14, 3)
        [lesson] = parse(to_markdown(pm, lang, when))
        assert (lesson.lesson, lesson.date, lesson.run) == ("Clip first", "2026-11-20 14:03", "a-run")
        assert lesson.path == "phase-19: 1.1 no → 2.1 yes → Long-tail token"
        assert lesson.body.count("\n### ") == 7
        later = to_markdown(pm, lang, when.replace(hour=15))
        assert parse(later)[0].id == lesson.id, "the same post-mortem, saved again"
        assert parse(to_markdown(pm.but(lesson="Other"), lang, when))[0].id != lesson.id

    def test_where_the_log_differs_is_said(self):
        body = to_markdown(filled(begun()), "en", datetime(2026, 1, 1))
        assert "favours (log: rules out)" in body

    @given(text=st.text(max_size=60))
    def test_whatever_is_written_stays_one_entry(self, text):
        pm = filled(begun_once())
        wild = f"{text}\n## {text}\n<!-- lesson 0123456789 -->\n### x"
        pm = pm.but(cause=wild, remediation=wild, lesson=f"Lesson {wild}").with_symptom("tokens", f"|{wild}")
        pm = pm.with_hypothesis("state", support=wild)
        assert len(parse(to_markdown(pm, "en", datetime(2026, 1, 1)))) == 1

    @pytest.mark.parametrize("lesson", ["## Clip first", "# Clip", "<!-- lesson aaaaaaaa --> Clip"])
    def test_a_lesson_that_looks_like_an_entry_is_one_all_the_same(self, lesson: str):
        text = to_markdown(filled(begun()).but(lesson=lesson), "en", datetime(2026, 1, 1))
        assert len(parse(text)) == 1

    def test_a_draft_of_the_version_before_comes_back(self):
        state = json.loads(json.dumps(to_state(filled(begun()))))
        for added in ("settings", "options", "breaks"):
            del state["about"][added]
        for hypothesis in state["hypotheses"]:
            del hypothesis["fingerprint"]
        for bound in state["verification"]["bounds"]:
            del bound["offered"]
        left = from_state(state).with_log_of(begun())
        assert left.about.options == (CLIP, STRATIFY)
        assert left.cause == "The clip was off."

    def test_a_draft_comes_back(self):
        for pm in (begun(), filled(begun(spiked(nan_from=250), None)).with_own()):
            assert from_state(json.loads(json.dumps(to_state(pm)))) == pm

    @pytest.mark.parametrize(
        "state", [{}, {"id": 3}, {"id": "x", "about": {"run": "r", "tree": "t"}, "symptoms": 1}]
    )
    def test_a_draft_that_isnt_one(self, state):
        with pytest.raises(ValueError, match="can't be read"):
            from_state(state)

    def test_every_cell_is_a_panel_and_a_hypothesis(self):
        for cell in begun(spiked(nan_from=250), None).log:
            panel, _, key = cell.partition("/")
            assert panel in PANELS
            assert key in (*PATTERNS, DESTRUCTIVE)

    def test_a_lesson_kept_by_the_version_before_is_read(self):
        old = "<!-- lesson 0123456789abcdef -->\n## Clip\n\n2026-11-20 14:03 · a-run · phase-19: 2.1 yes\n"
        old += "\n### 3. Discriminating evidence\n\n| panel | A |\n| --- | --- |\n| 1 loss | favours |\n"
        old += "\n### 5. Remediation\n\n    I would say tutor train --set grad_clip=1.0\n"
        first, second = parse(old + "\n" + text(filled(begun())))
        assert [title for title, _ in first.sections] == ["Discriminating evidence", "Remediation"]
        assert (first.lesson, second.lesson) == ("Clip", "Clip first")


_ONCE: list[PostMortem] = []


def begun_once() -> PostMortem:
    """One post-mortem for every example of a property."""
    if not _ONCE:
        _ONCE.append(begun())
    return _ONCE[0]


def test_what_is_trained_on_says_where_it_began():
    """The mean over all tokens is finite for one step more: the update of the NaN comes after it."""
    loss = [3.0 - row / 100 for row in range(60)]
    columns = {"loss": [*loss[:41], *[math.nan] * 19], "reduced_loss": [*loss[:40], *[math.nan] * 20]}
    assert survey(make_run(columns), None, {}).began == 40
    assert survey(make_run({"loss": columns["loss"]}), None, {}).began == 41
    assert survey(make_run({"loss": loss, "reduced_loss": loss}), None, {}).began is None
