"""What the panes of a leaf tell, each of a walk that stands there; None where a pane has nothing to tell."""

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from tutor import evidence
from tutor import walk as walks
from tutor.proof import Compared, Proof, go_on, look_alikes
from tutor.saying import answer_label, mark_of, of_guesses, of_table
from tutor.ui.widgets.path import CLOSE, mark, mark_style
from tutor.ui.widgets.prove import scored
from tutor.walk import AtLeaf
from tutor.words import plain, say

COMPARED = {
    "ruled_out": ("✓", "bold $success"),
    "stands": ("≈", "bold $accent"),
    "open": ("?", "$foreground-muted"),
}
"""How a look-alike of the card fared against this run."""
TABLE_STYLES = {"✗": "bold $accent", "✓": "$success", "?": "$foreground-muted"}
"""How a row of the leaf's table is drawn, by its mark."""


def rests_on(walk: AtLeaf, lang: str) -> Content | None:
    """The answers that the log didn't give: what stands above holds if they do."""
    guesses = of_guesses(walk, lang)
    return Content("\n".join(f"? {one}" for one in guesses)) if guesses else None


def proven(proof: Proof | None, lang: str, *, post_mortem: bool) -> Content | None:
    """That there is something to prove or, once begun, how far that has come and where it goes on.

    With a `post_mortem`, that it takes what was proven as evidence.
    """
    if proof is None:
        return None
    count = len(proof.card.ladder)
    if not proof.given:
        return Content(say("prove.offered", lang, count=count))
    ahead = go_on(proof) if proof.told else proof
    if ahead.id:
        onward = say("prove.left_at", lang, number=ahead.number, count=count)
    else:
        onward = say("prove.look_again" if proof.finished else "prove.left_at_cause", lang)
        if proof.finished and post_mortem:
            onward = f"{say('prove.as_evidence', lang)} · {onward}"
    return Content.assemble((scored(proof, lang), "bold"), (f"   {onward}", "$foreground-muted"))


def learned(lesson: str | None, path: str) -> Content | None:
    """The lesson that was saved, and where it is."""
    if lesson is None:
        return None
    kept = (f"✓ {plain(lesson)}", "bold $success")
    return Content.assemble(kept, (f"\n{plain(path)}", "$foreground-muted"))


def happens(walk: AtLeaf, lang: str) -> Content | None:
    """The breaks that make this fault; of a run of tutor's own also why none does."""
    commands = [f"tutor train --break {name}" for name in walk.leaf.breaks]
    if commands:
        return Content.styled("\n".join(commands), "$primary")
    if walk.leaf.unreached and walk.run.manifest.tutor:
        return Content(f"{say('leaf.unreached', lang)} {walk.leaf.unreached(lang)}")
    return None


def table(walk: AtLeaf, lang: str) -> Content | None:
    """The rows of the table that the leaf shows."""
    rows = of_table(walk, lang)
    width = max((cell_len(row.label) for row in rows), default=0)
    lines = []
    for row in rows:
        sign, style = mark_of(row), TABLE_STYLES[mark_of(row)]
        label = f"{sign} {set_cell_size(row.label, width)}  "
        lines.append(Content.assemble((label, style), (row.text, "")))
    return Content("\n").join(lines) if lines else None


def ruled_out(walk: AtLeaf, proof: Proof | None, lang: str) -> Content | None:
    """What it is not: the look-alikes of the card, and those that answers rule out."""
    others = look_alikes(walk, proof.card, lang) if proof else []
    lines = [_compared(other) for other in others]
    named = {other.question for other in others if other.question}
    lines += [Content(f"· {look_alike(lang)}") for look_alike in walks.ruled_out(walk, named)]
    return Content("\n").join(lines) if lines else None


def _compared(other: Compared) -> Content:
    """A look-alike of the card, with what was measured in this run."""
    sign, style = COMPARED[other.status]
    return Content.assemble((f"{sign} ", style), (f"{other.name}: ", "bold"), other.text)


def for_and_against(walk: AtLeaf, lang: str) -> Content | None:
    """What is known for what the leaf claims, and against it."""
    claims = evidence.about(walk.tree.tree, walk.at)
    lines = [Content(evidence.in_a_line(name, claim, lang)) for name, claim in claims.items()]
    return Content("\n").join(lines) if lines else None


def predictions(walk: AtLeaf, lang: str) -> Content | None:
    """How the predictions fared, and which of them don't count."""
    tested = [(a, a.prediction) for a in walk.answers if a.by == "log" and a.prediction]
    if not tested:
        return None
    marks = [mark(answer) for answer, _ in tested]
    hints = sum(answer.hints for answer in walk.answers)
    right, count = walks.score(walk.answers)
    lines = [Content(say("leaf.scored", lang, right=right, count=count, hints=hints))]
    for answer, predicted in tested:
        question, sign = walk.tree.questions[answer.question], mark(answer)
        said, found = (answer_label(question, one, lang) for one in (predicted.outcome, answer.outcome))
        facts = {"said": said, "confidence": predicted.confidence, "found": found}
        told = say("leaf.said_so" if answer.hit else "leaf.said", lang, **facts)
        if predicted.seen_before and (first := walk.spoken.get((answer.question, answer.focus))):
            told += say("leaf.said_first", lang, said=answer_label(question, first, lang))
        lines.append(
            Content.assemble(
                (f"{sign} ", mark_style(sign)),
                (f"{answer.question} ", "$foreground-muted"),
                (question.title(lang), ""),
                (f"   {told}", "$foreground-muted"),
            )
        )
    notes = [say("leaf.close", lang)] if CLOSE in marks else []
    if any(predicted.seen_before for _, predicted in tested):
        notes.append(say("leaf.seen_before", lang))
    if walk.attempt > 1:
        notes.append(say("leaf.attempt", lang, attempt=walk.attempt))
    lines += [Content.assemble((note, "$foreground-muted")) for note in notes]
    return Content("\n").join(lines)
