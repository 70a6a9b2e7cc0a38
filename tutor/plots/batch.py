"""Batch: what the network was fed at the marked step, and how it differs from its neighbours."""

from collections import Counter

from rich.text import Text

from tutor.plots.ink import page
from tutor.plots.request import Request
from tutor.words import plain

_BEFORE = 20  # rows to compare with
_HASH = 8  # signs of a hash: enough to tell batches apart by eye


def draw(request: Request) -> list[Text]:
    """The panel."""
    found = [request.at(signal) for signal in ("sentence_ids", "rare_tokens", "batch_hash")]
    steps = [one[0] for one in found if one is not None]
    if not steps:
        return request.missing("sentence_ids")
    step = max(steps)
    ids, rare, hash_ = (one[1] if one is not None and one[0] == step else None for one in found)
    lines = [Text.assemble((request.say("batch_at", step=step), request.ink.mark))]
    texts = _texts(request, ids or [])
    if ids:
        lines[0].append(
            f"  {request.say('sentences', count=len(ids), distinct=len(texts))}", request.ink.text
        )
    if hash_ is not None:
        lines.append(_hashes(request, step, str(hash_)))
    if rare is not None:
        lines.append(_rare(request, step, [str(token) for token in rare]))
    room = request.height - len(lines)
    listed = texts.most_common(room if len(texts) <= room else max(0, room - 1))
    lines += [_sentence(request, text, count) for text, count in listed]
    if len(listed) < len(texts):
        lines.append(Text(request.say("more_sentences", count=len(texts) - len(listed)), request.ink.dim))
    return page(lines, request.width, request.height)


def _texts(request: Request, ids: list[int]) -> Counter[str]:
    """The batch's sentences, repeats folded; an id without a text stands for itself."""
    known = request.run.sentences
    return Counter(plain(known[id]) if 0 <= id < len(known) else f"#{id}" for id in ids)


def _sentence(request: Request, text: str, count: int) -> Text:
    times = f" ×{count}" if count > 1 else ""
    line = Text(f"  {text}", request.ink.text)
    line.truncate(max(1, request.width - len(times)), overflow="ellipsis")
    return line.append(times, request.ink.level if count > 1 else request.ink.text)


def _hashes(request: Request, step: int, hash_: str) -> Text:
    """The hashes about the marked row; the same one in an earlier row would be a batch fed twice."""
    run, ink = request.run, request.ink
    row = run.row_at(step)
    line = Text(request.say("hash") + " ", ink.dim)
    again = [
        int(run.steps[other])
        for other in range(max(0, row - _BEFORE), row)
        if run["batch_hash"][other] is not None and str(run["batch_hash"][other]) == hash_
    ]
    line.append(plain(hash_[:_HASH]), ink.mark)
    if again:
        line.append("  " + request.say("same_hash", step=again[-1]), ink.level)
    else:
        line.append("  " + request.say("other_hash", count=min(row, _BEFORE)), ink.text)
    for other in (row - 1, row + 1, row - 2, row + 2):
        if 0 <= other < len(run) and run["batch_hash"][other] is not None:
            line.append(f"  {int(run.steps[other])} {plain(str(run['batch_hash'][other])[:_HASH])}", ink.dim)
    return line


def _rare(request: Request, step: int, tokens: list[str]) -> Text:
    ink, counts = request.ink, request.at("rare_counts")
    line = Text(request.say("rare") + " ", ink.dim)
    if not tokens:
        return line.append(request.say("no_rare"), ink.text)
    numbers = counts[1] if counts is not None and counts[0] == step else [1] * len(tokens)
    usual = max((max(row) for row in request.before("rare_counts", step, _BEFORE) if row), default=0)
    for token, count in list(zip(tokens, numbers, strict=False))[:12]:
        style = ink.level if count > 3 * max(1, usual) else ink.text
        line.append(f"“{plain(token)}” ×{count}  ", style)
        if style == ink.level:
            line.append(request.say("rare_usual", count=usual, rows=_BEFORE) + "  ", ink.dim)
    return line
