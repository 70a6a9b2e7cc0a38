"""Evidence: what the log says, once the learner has committed; or that it can't tell, and how to log it."""

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tutor.detectors import NO_DATA, NOT_YET, Finding
from tutor.ui.widgets.path import RIGHT, WRONG, mark_style
from tutor.walk import UNSURE, Look, Walk
from tutor.words import plain, say

Line = list[tuple[str, str]]
"""Text and style, piece by piece."""


class Evidence(VerticalScroll):
    """The measured value, bound and step; why a wrong prediction looked right."""

    can_focus = False

    def compose(self):
        """The text, which scrolls when it is long."""
        yield Static()

    def show(self, walk: Walk, seen: Look, lang: str) -> None:
        """Draw what the log says of the question at hand."""
        self.border_title = Content(say("walk.log_says" if seen.answers else "walk.log_cant_tell", lang))
        lines = [_verdict(walk, seen, lang), *_checks(walk, seen, lang)]
        if seen.answers:
            lines[1:1] = _told(walk, seen, lang)
        elif not seen.checks:
            lines += why_silent(seen.finding, lang)
        if not seen.answers:
            lines.append(
                [
                    (f"{say('walk.look_yourself', lang)} ", "bold"),
                    (walk.question.look(lang, walk.question.numbers), ""),
                ]
            )
        self.query_one(Static).update(Content("\n").join(Content.assemble(*line) for line in lines))
        self.scroll_home(animate=False)


def _verdict(walk: Walk, seen: Look, lang: str) -> Line:
    """Whether the prediction holds: in a sign and a word, not by colour alone."""
    said, confidence = walk.prediction.outcome, walk.prediction.confidence
    label = say("walk.cant_tell", lang) if said == UNSURE else walk.question.outcomes[said].label(lang)
    you_said = (say("walk.you_said", lang, answer=label, confidence=confidence), "$foreground-muted")
    right = said == (seen.outcome if seen.answers else UNSURE)
    if not seen.answers and not right:
        return [you_said]
    sign = RIGHT if right else WRONG
    return [(f"{sign} {say('walk.right' if right else 'walk.wrong', lang)}  ", mark_style(sign)), you_said]


def _told(walk: Walk, seen: Look, lang: str) -> list[Line]:
    facts = _shown(seen.finding)
    lines = [[(walk.question.outcomes[seen.outcome].says(lang, facts), "bold")]]
    said = walk.question.outcomes.get(walk.prediction.outcome)
    if said and walk.prediction.outcome != seen.outcome and said.tempting:
        why = (f"{say('walk.looked_right', lang)} ", "$foreground-muted")
        lines.append([why, (said.tempting(lang, facts), "")])
    return lines


def _checks(walk: Walk, seen: Look, lang: str) -> list[Line]:
    lines: list[Line] = []
    for name, finding in seen.checks.items():
        check = walk.question.checks[name]
        decides = seen.answers and finding is seen.finding
        label = (f"{'▸' if decides else '·'} {check.label(lang)}: ", "bold" if decides else "")
        says = check.says.get(finding.outcome)
        first, *more = [[(says(lang, _shown(finding)), "")]] if says else why_silent(finding, lang)
        lines += [[label, *first], *more]
    return lines


def why_silent(finding: Finding, lang: str) -> list[Line]:
    """Why the log can't tell: a line for each missing signal with how to record it, or one line."""
    if finding.outcome == NOT_YET:
        facts = {name: finding.facts.get(name) for name in ("rows", "needed")}
        return [[(say("walk.too_short", lang, **facts), "")]]
    assert finding.outcome == NO_DATA, finding.outcome
    missing = [plain(name) for name in finding.facts.get("missing", ())]
    if not missing:
        return [[(say("walk.only_you", lang), "")]]
    return [
        [
            (say("walk.not_recorded", lang, signal=name), ""),
            (f" {say('walk.to_have_it', lang, how=how_to_log(name, lang))}", "$foreground-muted"),
        ]
        for name in missing
    ]


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
