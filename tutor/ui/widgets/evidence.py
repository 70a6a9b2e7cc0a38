"""Evidence: what the log says, once the learner has committed; or that it can't tell, and how to log it."""

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tutor.detectors import NO_DATA, NOT_YET, Finding
from tutor.ui.widgets.path import RIGHT, WRONG, mark_style
from tutor.walk import UNSURE, Look, Walk
from tutor.words import plain, say

Part = tuple[str, str]


class Evidence(VerticalScroll):
    """The measured value, bound and step; why a wrong prediction looked right."""

    can_focus = False

    def compose(self):
        """The text, which scrolls when it is long."""
        yield Static()

    def show(self, walk: Walk, seen: Look, lang: str) -> None:
        """Draw what the log says of the question at hand."""
        self.border_title = Content(say("walk.log_says" if seen.answers else "walk.log_cant_tell", lang))
        parts = _verdict(walk, seen, lang)
        parts += _told(walk, seen, lang) if seen.answers else _silent(walk, seen, lang)
        parts += _checks(walk, seen, lang)
        self.query_one(Static).update(Content.assemble(*parts).rstrip())
        self.scroll_home(animate=False)


def _verdict(walk: Walk, seen: Look, lang: str) -> list[Part]:
    """Whether the prediction holds: in a sign and a word, not by colour alone."""
    said, confidence = walk.prediction.outcome, walk.prediction.confidence
    label = say("walk.cant_tell", lang) if said == UNSURE else walk.question.outcomes[said].label(lang)
    you_said = say("walk.you_said", lang, answer=label, confidence=confidence)
    right = said == (seen.outcome if seen.answers else UNSURE)
    if not seen.answers and not right:
        return [(f"{you_said}\n", "$foreground-muted")]
    sign = RIGHT if right else WRONG
    verdict = say("walk.right" if right else "walk.wrong", lang)
    return [(f"{sign} {verdict}  ", mark_style(sign)), (f"{you_said}\n", "$foreground-muted")]


def _checks(walk: Walk, seen: Look, lang: str) -> list[Part]:
    parts: list[Part] = []
    for name, finding in seen.checks.items():
        check = walk.question.checks[name]
        decides = finding is seen.finding
        sentence = (
            check.says[finding.outcome](lang, _shown(finding))
            if finding.outcome in check.says
            else why_silent(finding, lang)
        )
        parts += [
            (f"\n{'▸' if decides else '·'} {check.label(lang)}: ", "bold" if decides else ""),
            (sentence, ""),
        ]
    return parts


def _told(walk: Walk, seen: Look, lang: str) -> list[Part]:
    outcome = walk.question.outcomes[seen.outcome]
    facts = _shown(seen.finding)
    parts = [(outcome.says(lang, facts), "bold")]
    said = walk.question.outcomes.get(walk.prediction.outcome)
    if said and walk.prediction.outcome != seen.outcome and said.tempting:
        why = say("walk.looked_right", lang)
        parts += [(f"\n{why} ", "$foreground-muted"), (said.tempting(lang, facts), "")]
    return parts


def _silent(walk: Walk, seen: Look, lang: str) -> list[Part]:
    parts = [(f"{why_silent(seen.finding, lang)}\n", "")]
    for name in seen.finding.facts.get("missing", ()):
        parts += [(f"{how_to_log(name, lang)}\n", "$foreground-muted")]
    parts += [(f"{say('walk.look_yourself', lang)} ", "bold"), (walk.question.look(lang), "")]
    return parts


def why_silent(finding: Finding, lang: str) -> str:
    """Why the log can't tell."""
    if finding.outcome == NO_DATA:
        if missing := finding.facts.get("missing"):
            return say("walk.not_recorded", lang, missing=[plain(name) for name in missing])
        return say("walk.only_you", lang)
    assert finding.outcome == NOT_YET, finding.outcome
    return say("walk.too_short", lang, rows=finding.facts.get("rows"), needed=finding.facts.get("needed"))


def how_to_log(signal: str, lang: str) -> str:
    """How to record a signal; for one that tutor has no words for, a line that fits any."""
    try:
        return say(f"signals.{signal}.how", lang)
    except (KeyError, TypeError):
        return say("walk.log_it", lang, signal=signal)


def _shown(finding: Finding) -> dict:
    """The facts, safe to draw: a log's strings may hold what steers a terminal."""
    return {
        name: plain(value)
        if isinstance(value, str)
        else [plain(v) if isinstance(v, str) else v for v in value]
        if isinstance(value, list | tuple)
        else value
        for name, value in finding.facts.items()
    }
