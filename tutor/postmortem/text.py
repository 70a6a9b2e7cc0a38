"""The Markdown of a completed post-mortem: lesson first, dated, with run and tree path."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from math import isfinite

from tutor.postmortem.form import SECTIONS, PostMortem, Symptom
from tutor.postmortem.reading import number
from tutor.run import PANELS
from tutor.words import plain, say

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What the hypotheses are called in the grid, in their order."""


def to_markdown(pm: PostMortem, lang: str, when: datetime) -> str:
    """The entry for lessons.md.

    It begins with a marker of what it holds, so that a save that is tried twice is kept once, a heading
    with the lesson, and a line "date · run · path".
    """
    digest = hashlib.sha256(pm.model_dump_json().encode("utf-8", "replace")).hexdigest()[:16]
    about = pm.about
    path = f"{about.tree}: {about.path}" if about.path else about.tree
    lines = [
        f"<!-- lesson {digest} -->",
        f"## {_line(pm.lesson)}",
        "",
        f"{when:%Y-%m-%d %H:%M} · {_line(about.run).replace(' · ', ' - ')} · {_line(path)}",
    ]
    parts = (_symptoms, _hypotheses, _evidence, _cause, _remediation, _verification)
    for index, part in enumerate(parts, 1):
        lines += ["", f"### {index}. {say(f'postmortem.sections.{SECTIONS[index - 1]}', lang)}", ""]
        lines += part(pm, lang)
    lines += ["", f"### 7. {say('postmortem.sections.lesson', lang)}", "", *_prose(_line(pm.lesson))]
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    """Text of a learner or a log as one line that begins no heading and no comment."""
    return plain(" ".join(text.split())).replace("<!--", "<! --")


def _prose(text: str) -> list[str]:
    """Text of several lines; none of them begins a heading or a comment."""
    lines = plain(text.strip(), lines=True).replace("<!--", "<! --").split("\n")
    return [re.sub(r"^(\s*)(#)", r"\1\\\2", line) for line in lines]


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _cells(header)
    yield _cells(["---"] * len(header))
    for row in rows:
        yield _cells(row)


def _cells(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_line(cell).replace("|", "\\|") for cell in cells) + " |"


def _heads(lang: str, *names: str) -> list[str]:
    return [say(f"postmortem.heads.{name}", lang) for name in names]


def _symptoms(pm: PostMortem, lang: str) -> Iterator[str]:
    yield from _table(
        _heads(lang, "symptom", "value", "panel"),
        (
            (
                say(f"postmortem.symptoms.{s.key}", lang),
                " ".join(filter(None, (s.value, _unit(s.unit, s.value, lang)))),
                source(s, lang),
            )
            for s in pm.symptoms
        ),
    )


def _unit(unit: str, value: str, lang: str) -> str:
    given = number(value)
    return say(f"postmortem.units.{unit}", lang) if unit and given is not None and isfinite(given) else ""


def source(symptom: Symptom, lang: str) -> str:
    """The panel that a row of section 1 came from, and what the tree's rule allows for it."""
    panel = panel_name(symptom.panel, lang)
    return f"{panel} · ≤ {symptom.bound}" if symptom.bound else panel


def panel_name(panel: str, lang: str) -> str:
    """A panel's number and name."""
    return f"{PANELS.index(panel) + 1} {say(f'postmortem.panels.{panel}', lang)}"


def _hypotheses(pm: PostMortem, lang: str) -> Iterator[str]:
    lettered = zip(LETTERS, pm.hypotheses, strict=False)
    ranked = sorted(lettered, key=lambda pair: -(number(pair[1].probability) or 0.0))
    yield from _table(
        ("", *_heads(lang, "probability", "hypothesis", "support")),
        ((letter, h.probability, h.words(lang), h.support) for letter, h in ranked),
    )


def _evidence(pm: PostMortem, lang: str) -> Iterator[str]:
    """The learner's grid; where the log says otherwise, its word follows in brackets."""
    yield from _table(
        (*_heads(lang, "panel"), *LETTERS[: len(pm.hypotheses)]),
        (
            (panel_name(panel, lang), *(_cell(pm, panel, h.key, lang) for h in pm.hypotheses))
            for panel in PANELS
        ),
    )


def _cell(pm: PostMortem, panel: str, key: str, lang: str) -> str:
    verdict, reading = pm.cell(panel, key), pm.reading(panel, key)
    if not verdict:
        return "–"
    word = say(f"postmortem.verdicts.{verdict}", lang)
    if reading is None or reading.verdict == verdict:
        return word
    return say("postmortem.differs", lang, word=word, log=say(f"postmortem.verdicts.{reading.verdict}", lang))


def _cause(pm: PostMortem, lang: str) -> list[str]:
    return _prose(pm.cause)


def _remediation(pm: PostMortem, lang: str) -> list[str]:
    return [f"    {line}" for line in plain(pm.remediation.strip(), lines=True).split("\n")]


def _verification(pm: PostMortem, lang: str) -> Iterator[str]:
    form = pm.verification
    for name in ("seed", "tolerance", "through"):
        yield f"- {say(f'postmortem.verification.{name}', lang)}: {_line(getattr(form, name))}"
    for bound in form.bounds:
        if not bound.blank:
            yield "- " + _line(
                say(
                    "postmortem.verification.bound",
                    lang,
                    signal=bound.signal.strip(),
                    comparison=bound.comparison.strip(),
                    value=bound.value.strip(),
                    window=bound.window.strip(),
                )
            )
    yield ""
    yield say("postmortem.verification.not_run", lang)
