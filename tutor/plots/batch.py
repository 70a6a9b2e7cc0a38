"""Batch: what the network was fed at the marked step, and how it differs from its neighbours."""

import math
from collections import Counter
from itertools import chain, islice, zip_longest

from rich.text import Text

from tutor.plots.drawn import AtStep, Drawn
from tutor.plots.ink import page
from tutor.plots.request import Request, to_list
from tutor.words import plain

_BEFORE = 20  # rows to compare with
_TOKENS = 12  # rare tokens to name
_HASH = 8  # signs of a hash: enough to tell batches apart by eye


def draw(request: Request) -> Drawn:
    """The panel, at the cursor or else at the mark."""
    return AtStep(lambda cursor: _page(request.under(cursor)))


def _page(request: Request) -> list[Text]:
    """The batch and, where there is room, the one before it."""
    found = [request.at(signal) for signal in ("sentence_ids", "rare_tokens", "batch_hash")]
    steps = [one[0] for one in found if one is not None]
    if not steps:
        return request.missing("sentence_ids")
    step = max(steps)
    ids, rare, hash_ = (one[1] if one is not None and one[0] == step else None for one in found)
    lines = [_head(request, step, ids, request.ink.mark)]
    if hash_ is not None:
        lines.append(_hashes(request, step, str(hash_)))
    if rare is not None:
        lines.append(_rare(request, step, [str(token) for token in rare]))
    lines += _sentences(request, ids or [], request.height - len(lines))
    if request.height - len(lines) > 2 and (earlier := request.before("sentence_ids", step, 1)):
        before = int(request.run.steps[request.run.row_at(step) - 1])
        lines.append(_head(request, before, earlier[0], request.ink.dim))
        lines += _sentences(request, earlier[0], request.height - len(lines))
    return page(lines, request.width, request.height)


def _head(request: Request, step: int, ids: list[float] | None, style: str) -> Text:
    line = Text.assemble((request.say("batch_at", step=step), style))
    if ids:
        distinct = len(_texts(request, ids))
        line.append(f"  {request.say('sentences', count=len(ids), distinct=distinct)}", request.ink.text)
    return line


def _sentences(request: Request, ids: list[float], room: int) -> list[Text]:
    """The sentences, the most repeated first; what finds no room is counted."""
    texts = _texts(request, ids)
    if len(texts) <= room:
        return [_sentence(request, text, count) for text, count in texts.most_common()]
    listed = texts.most_common(max(0, room - 1))
    more = Text(request.say("more_sentences", count=len(texts) - len(listed)), request.ink.dim)
    return [*(_sentence(request, text, count) for text, count in listed), more]


def _texts(request: Request, ids: list[float]) -> Counter[str]:
    """The batch's sentences, repeats folded; an id without a text stands for itself."""
    known = request.run.sentences
    whole = (int(id) for id in ids if id is not None and math.isfinite(id))
    return Counter(plain(known[id]) if 0 <= id < len(known) else f"#{id}" for id in whole)


def most_repeated(request: Request, step: int) -> tuple[str, int, int, int] | None:
    """The sentence that the step's batch holds most often: its text and how often, then how many sentences
    the batch has, and how many distinct ones. None where they weren't recorded at just that step.
    """
    ids = request.run.value("sentence_ids", step)
    texts = _texts(request, to_list(ids) or [])
    if not texts:
        return None
    text, times = texts.most_common(1)[0]
    return text, times, texts.total(), len(texts)


def _sentence(request: Request, text: str, count: int) -> Text:
    times = f" ×{count}" if count > 1 else ""
    line = Text(f"  {text}", request.ink.text)
    line.truncate(max(1, request.width - len(times)), overflow="ellipsis")
    return line.append(times, request.ink.level if count > 1 else request.ink.text)


def _hashes(request: Request, step: int, hash_: str) -> Text:
    """The hashes about the marked row; the same one in an earlier row is a batch fed twice."""
    run, ink = request.run, request.ink
    row, hashes = run.row_at(step), run["batch_hash"]
    first = max(0, row - _BEFORE)
    again = [run.steps[first + place] for place, other in enumerate(hashes[first:row]) if other == hash_]
    line = Text(request.say("hash") + " ", ink.dim)
    if again:
        line.append(request.say("same_hash", step=again[-1]), ink.level)
    else:
        line.append(request.say("other_hash", count=row - first), ink.text)
    width = len(f"  {int(run.steps[-1])} ") + _HASH
    reach = max(0, (request.width - line.cell_len) // width - 1) // 2
    for other in range(max(0, row - reach), min(len(run), row + reach + 1)):
        same = hashes[other] == hash_
        style = ink.mark if other == row else ink.level if same else ink.dim
        line.append(f"  {int(run.steps[other])} {plain(str(hashes[other] or '–')[:_HASH])}", style)
    return line


def _rare(request: Request, step: int, tokens: list[str]) -> Text:
    """The rare tokens and how often each occurs; one that piles up is set against the batches before."""
    ink, found = request.ink, request.at("rare_counts")
    line = Text(request.say("rare") + " ", ink.dim)
    if not tokens:
        return line.append(request.say("no_rare"), ink.text)
    counts = found[1] if found is not None and found[0] == step else []
    usual = max(map(_count, chain.from_iterable(request.before("rare_counts", step, _BEFORE))), default=0)
    for token, count in islice(zip_longest(tokens, map(_count, counts), fillvalue=0), _TOKENS):
        piled = count > 3 * max(1, usual)
        times = f" ×{count}" if count else ""
        line.append(f"“{plain(str(token))}”{times}  ", ink.level if piled else ink.text)
        if piled:
            line.append(request.say("rare_usual", count=usual, rows=_BEFORE) + "  ", ink.dim)
    return line


def _count(value: float | None) -> int:
    return int(value) if value is not None and math.isfinite(value) else 0
