"""What the log says, in neutral lines: the same for everyone who draws them."""

import json
import math
import unicodedata
from dataclasses import replace

import pytest

from tests.conftest import ROOT, make_run, shipped
from tutor import readers, saying, walk
from tutor.detectors import NO_DATA, NOT_YET, Finding
from tutor.report import Report
from tutor.saying.question import cited
from tutor.tree import Advice
from tutor.ui.widgets.evidence import drawn, drawn_sources
from tutor.walk import UNSURE, Prediction
from tutor.words import Words, say

PHASE_19 = shipped("phase-19")
BREAK = readers.read(ROOT / "runs" / "19-break")
CONTROL = readers.read(ROOT / "runs" / "19-control")


def at(question: str, run=BREAK, focus: int | None = None):
    """The question, and what the log of `run` says of it."""
    stood = walk.begin(run, PHASE_19)
    while stood.at != question:
        seen = walk.look(stood)
        stood = walk.take(stood, seen.outcome, "log", seen)
    return stood.question, walk.look(stood)


def roles(lines) -> list[str]:
    return [line.role for line in lines]


class TestQuestion:
    @pytest.mark.parametrize(
        ("lang", "why", "what", "how"),
        [
            (
                "en",
                "the log begins too late to hold the first step's grad_norm.",
                "the first step's grad_norm",
                "keep the log from the run's first step on",
            ),
            (
                "es",
                "el log empieza demasiado tarde para tener grad_norm del primer paso.",
                "grad_norm del primer paso",
                "guarda el log desde el primer paso del run",
            ),
        ],
    )
    def test_a_log_that_begins_late_lacks_the_first_step(self, lang: str, why: str, what: str, how: str):
        run = make_run({"loss": [3.0] * 20, "grad_norm": [1.0] * 20, "step": range(5000, 5020)})
        stood = walk.begin(run, shipped("phase-18"))
        while stood.at != "1.2":
            stood = walk.take(stood, next(iter(stood.question.outcomes)), "you", walk.look(stood))
        [line] = saying.of_look(stood.question, walk.look(stood), lang)
        assert line.text == why
        assert how in line.note
        assert saying.to_record("grad_norm[0]", lang) == what
        assert saying.to_record("grad_norm", lang) == "grad_norm"

    @pytest.mark.parametrize(
        ("lang", "why", "several", "one"),
        [
            (
                "en",
                "the log has no loss at steps 1 to 9; it may have been NaN.",
                "loss at steps 1 to 9",
                "loss at step 6",
            ),
            (
                "es",
                "el log no tiene loss en los pasos 1 a 9; puede haber sido NaN.",
                "loss en los pasos 1 a 9",
                "loss en el paso 6",
            ),
        ],
    )
    def test_a_log_that_lacks_a_part_says_which(self, lang: str, why: str, several: str, one: str):
        run = make_run({"loss": [2.0, *[None] * 9], "grad_norm": [1.0] * 10})
        stood = walk.begin(run, PHASE_19)
        [line] = saying.of_look(stood.question, walk.look(stood), lang)
        assert line.text == why
        assert "logging_nan_inf_filter=False" in line.note
        assert saying.to_record("loss[1..9]", lang) == several
        assert saying.to_record("loss[6..6]", lang) == one

    def test_the_log_answers_with_value_bound_and_step(self):
        question, seen = at("2.1")
        [line] = saying.of_look(question, seen, "en")
        assert (line.role, line.verdict, line.step) == ("finding", "yes", 312)
        assert line.bound == seen.finding.facts["bound"]
        assert line.value == seen.finding.facts["peak"]
        assert line.window == seen.finding.window
        assert "at step 312" in line.text

    @pytest.mark.parametrize("lang", ["en", "es"])
    def test_a_wrong_prediction_is_told_why_it_looked_right(self, lang):
        question, seen = at("2.1")
        lines = saying.after_prediction(question, Prediction("no", 4), seen, lang)
        assert roles(lines) == ["prediction", "finding", "tempting"]
        assert lines[0].verdict == "wrong"
        assert lines[2].text == question.outcomes["no"].tempting(lang, seen.finding.facts)

    def test_a_right_one_is_not(self):
        question, seen = at("2.1")
        lines = saying.after_prediction(question, Prediction("yes", 4), seen, "en")
        assert roles(lines) == ["prediction", "finding"]
        assert lines[0].verdict == "right"

    @pytest.mark.parametrize(("said", "verdict"), [(UNSURE, "right"), ("yes", "")])
    def test_where_the_log_cant_tell_only_that_was_right(self, said, verdict):
        question, seen = at("1.1", make_run({"lr": [1e-3] * 5}))
        lines = saying.after_prediction(question, Prediction(said, 3), seen, "en")
        assert roles(lines) == ["prediction", "silent", "look"]
        assert lines[0].verdict == verdict
        assert "loss" in lines[1].text
        assert "loss.item()" in lines[1].note

    @pytest.mark.parametrize("lang", ["en", "es"])
    def test_what_was_found_names_the_sources_of_its_rules_numbers_each_once(self, lang):
        question, seen = at("2.2")
        [line] = saying.of_look(question, seen, lang)
        named = [PHASE_19.sources[id](lang) for id in ("tree", "few-rows", "lucky-batch", "none-back")]
        assert list(line.sources) == named

    def test_where_the_log_cant_tell_no_source_is_named(self):
        question, seen = at("1.1", make_run({"lr": [1e-3] * 5}))
        assert not any(line.sources for line in saying.of_look(question, seen, "en"))

    def test_the_check_that_decides_is_marked_and_its_sources_are_the_findings(self):
        question, seen = at("2.5", CONTROL)
        [said, finding, *checks] = saying.after_prediction(question, Prediction("contained", 4), seen, "en")
        assert (said.verdict, finding.verdict) == ("right", "contained")
        [decides] = [line for line in checks if line.decides]
        assert decides.label == f"{question.checks['harm'].label('en')}:"
        assert finding.sources == decides.sources
        assert PHASE_19.sources["probe"]("en") in decides.sources
        assert (finding.value, finding.bound) == (decides.value, decides.bound)

    def test_where_no_check_decides_none_is_marked_and_every_source_counts(self):
        question, seen = at("2.3", CONTROL)
        silent = {name: Finding(NOT_YET, facts={"rows": 1, "needed": 2}) for name in question.checks}
        seen = replace(seen, outcome="none", finding=Finding("none"), checks=silent)
        [_, finding, *checks] = saying.after_prediction(question, Prediction("none", 4), seen, "en")
        assert not any(line.decides for line in checks)
        assert finding.sources == saying.cited(question.rules, "en")

    def test_a_short_run_says_how_many_rows_are_missing(self):
        question, seen = at("2.1", make_run({"loss": [1.0] * 5}))
        [line] = saying.of_look(question, seen, "en")
        assert line.role == "silent"
        assert "5" in line.text

    def test_a_signal_without_words_of_its_own_gets_a_line_that_fits_any(self):
        assert "my_signal" in saying.how_to_log("my_signal", "en")
        assert "␛" in saying.how_to_log("\x1b", "en")

    def test_what_a_log_holds_steers_no_terminal(self):
        facts = {"a": "\x1b[31m", "b": ["\x07", 3], "c": {"d": "\u202e"}, "n": 1.5}
        drawn_facts = json.dumps(saying.safe(facts), ensure_ascii=False)
        assert not [c for c in drawn_facts if unicodedata.category(c) == "Cc"]
        assert "\u202e" not in drawn_facts
        assert saying.safe(facts)["n"] == 1.5


class TestDrawers:
    @pytest.mark.parametrize("lang", ["en", "es"])
    def test_text_json_and_screen_say_the_same_of_every_question(self, lang):
        report = Report(BREAK, PHASE_19)
        text, data = " ".join(report.text(lang).plain.split()), report.data(lang)
        for look, told in zip(report.looks, data["questions"], strict=True):
            for line in saying.of_look(PHASE_19.questions[look.question], look, lang):
                assert " ".join(line.text.split()) in text
                assert line.text in [given["text"] for given in told["lines"]]
                assert line.text in drawn(line).plain

    @pytest.mark.parametrize("width", [60, 80, 120])
    def test_text_is_broken_between_words_and_goes_on_under_its_sentence(self, width):
        report = Report(BREAK, PHASE_19)
        whole, broken = (report.text("es", explain=True, width=one).plain for one in (None, width))
        lines = [line for line in broken.split("\n") if " $ " not in line]  # a command is to be copied whole
        assert broken.split() == whole.split()
        assert max(map(len, lines)) <= width
        assert all(line.startswith(("  ", str(BREAK.path))) for line in lines if line)
        assert [line for line in broken.split("\n") if " $ " in line] == [
            line for line in whole.split("\n") if " $ " in line
        ]

    @pytest.mark.parametrize("lang", ["en", "es"])
    def test_json_and_screen_name_the_sources(self, lang):
        question, seen = at("2.1")
        given = {told["id"]: told["sources"] for told in Report(BREAK, PHASE_19).data(lang)["questions"]}
        assert set(given["2.1"]) == {
            PHASE_19.sources[id](lang)
            for id in ("sieve", "few-rows", "no-window", "trained-level", "by-chance", "on-its-harm")
        }
        sources = saying.of_sources(question, seen, lang)
        assert set(sources) == set(given["2.1"])
        assert set(given["1.1"]) == {PHASE_19.sources[id](lang) for id in ("to-the-end", "never-at-once")}
        assert not saying.of_sources(question, replace(seen, outcome=NO_DATA), lang)
        assert sources[1] in drawn_sources(sources, lang, 10_000).plain
        line = drawn_sources(sources, lang, 60)  # the rest is a key away
        assert line.cell_length <= 60
        assert line.plain.endswith(f" i {say('walk.sources_key', lang)}")

    def test_only_who_was_not_there_is_told_to_walk(self):
        run = make_run({"loss": [2.0 - 1e-3 * i for i in range(300)] + [math.nan] * 3}, {"dtype": "fp16"})
        end, looks = walk.unattended(run, PHASE_19)
        first, *_ = saying.of_end([walk.Stage(end, looks)], "en")
        assert first.text.endswith("not enough for this tree to say why: walk it yourself")
        said = tuple(replace(one, prediction=Prediction(one.outcome, 3)) for one in end.answers)
        first, *_ = saying.of_end([walk.Stage(replace(end, answers=said), looks)], "en")
        assert first.text.endswith("not enough for this tree to say why")

    def test_the_screen_reads_no_markup_in_a_line(self):
        assert drawn(saying.Line("silent", "[red]a[/]", label="[b]", note="[i]")).plain == "[b] [red]a[/] [i]"


class TestEnd:
    def test_a_flaw_with_its_fix(self):
        stood, looks = walk.unattended(BREAK, PHASE_19)
        lines = saying.of_end([walk.Stage(stood, looks)], "en")
        assert roles(lines) == ["leaf", "means", "advice", "fix", "command"]
        assert lines[2].text == stood.leaf.advice["carry-on"].words("en")
        assert (lines[0].verdict, lines[-1].text) == ("flaw", saying.command(stood))

    def test_advice_for_the_answers_given(self):
        stood, looks = walk.unattended(BREAK, PHASE_19)
        advice = {
            name: Advice(words=Words({"en": name}), when={"2.1": outcome})
            for name, outcome in (("reload", "yes"), ("carry on", "no"))
        }
        leaf = stood.leaf.model_copy(update={"advice": advice})
        told = PHASE_19.model_copy(update={"leaves": {**PHASE_19.leaves, stood.at: leaf}})
        stood, looks = walk.unattended(BREAK, told)
        said = [
            line.text for line in saying.of_end([walk.Stage(stood, looks)], "en") if line.role == "advice"
        ]
        assert said == ["reload"]

    def test_a_run_too_short_to_tell_is_undecided(self):
        run = make_run({"loss": [4.0 - 0.04 * t for t in range(60)]}, {"dtype": "fp32"})
        stood, looks = walk.unattended(run, PHASE_19)
        assert saying.too_early(looks) == ["4.1"]
        line, *settles = saying.of_end([walk.Stage(stood, looks)], "en")
        assert (line.role, line.verdict) == ("undecided", "undecided")
        assert set(roles(settles)) == {"assumed"}
        assert "with 140 more rows the log could answer: has the loss risen? (4.1)" in settles[0].text

    def test_one_that_is_over_gets_no_more_rows(self):
        for steps, said in (
            (60, "the run is over; logged more often, with 140 more rows"),
            (400, "check again"),
        ):
            run = make_run(
                {"loss": [4.0 - 0.04 * t for t in range(60)]}, {"dtype": "fp32", "settings": {"steps": steps}}
            )
            stood, looks = walk.unattended(run, PHASE_19)
            assert said in saying.of_end([walk.Stage(stood, looks)], "en")[1].text

    def test_a_blip_shortly_before_the_end_says_how_many_rows_would_settle_it(self):
        loss = [2.0 - 1e-3 * t + 0.01 * (t % 2) + (0.15 if t >= 596 else 0.0) for t in range(600)]
        stood, looks = walk.unattended(make_run({"loss": loss}, {"dtype": "fp32"}), PHASE_19)
        early = next(look for look in looks if look.question == "2.8")
        assert early.outcome == NOT_YET
        more = early.finding.facts["needed"] - early.finding.facts["rows"]
        assert more == 46  # half a window from where it began, of which 4 rows are there
        assert f"missing: {more}" in saying.why_silent(early.finding, "en")[0].text
        said = [line.text for line in saying.of_end([walk.Stage(stood, looks)], "en")]
        assert any(f"with {more} more rows" in text and "(2.8)" in text for text in said)

    def test_a_blip_that_has_ended_needs_no_more_rows(self):
        loss = [2.0 - 1e-3 * t + 0.01 * (t % 2) + (0.15 if t == 596 else 0.0) for t in range(600)]
        stood, looks = walk.unattended(make_run({"loss": loss}, {"dtype": "fp32"}), PHASE_19)
        assert {look.question: look.outcome for look in looks}["2.8"] == "blip"
        assert not [line for line in saying.of_end([walk.Stage(stood, looks)], "en") if "(2.2)" in line.text]

    def test_what_was_assumed_is_said_with_what_would_settle_it(self):
        columns = {"loss": [2.0 - 1e-3 * t + 0.01 * (t % 2) for t in range(300)]}
        stood, looks = walk.unattended(make_run(columns), PHASE_19)
        assert saying.assumed(stood) == ["5.6", "5.7", "5.4", "5.5"]
        line, *settles = saying.of_end([walk.Stage(stood, looks)], "en")
        assert "can't answer 2 of the questions" in line.text
        *settles, last = settles
        assert [id for id in ("3.1", "5.4", "5.5", "5.6", "5.7") if f"({id})" in last.text] == ["5.4", "5.5"]
        assert roles([line, *settles]) == ["undecided", *["assumed"] * len(settles)]
        for signal in ("grad_norm", "val_loss"):
            assert sum(f"record {signal}:" in one.text for one in settles) == 1
        taken = next(a for a in stood.answers if a.by == "assumed")
        question = PHASE_19.questions[taken.question]
        assert saying.of_answer(question, taken, "en").text == 'no answer in the log, taken as "no"'


def test_a_source_that_another_says_more_of_is_left_out():
    rules = shipped("phase-18").questions["1.1"].rules
    said = cited(rules, "en")
    assert any(one.startswith("the original tree: ") for one in said)
    assert "the original tree" not in said
