"""What lines of pairs look like, a name of a few words and the number behind it, and what a pair is called.

`Epoch 3, Loss: 0.4, ValLoss: 0.5`, `| epoch 1 | 200/2983 batches | loss 7.6`. The patterns are read by Python
and by polars: see `lines`. Other wordings are rewritten as pairs before: see `phrases`.
Sources: keras/src/utils/progbar.py, pytorch/examples (`word_language_model`, `mnist`, `dcgan`),
mlx_lm/tuner/trainer.py, caffe's solver.cpp, mmcv's text logger hook, OpenNMT-py's statistics.py, tf-slim's
learning.py, apex/amp/handle.py, pix2pix's visualizer.py, MAE's util/misc.py
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tutor import packed
from tutor.readers.common.lines import LOOKED_AT, MARK, Line, Lines, either, has
from tutor.readers.common.overflows import REDUCED
from tutor.readers.common.phrases import (
    ANY_FOREIGN,
    DECIMAL_COMMA,
    EMPTIED,
    EVALUATED,
    EVALUATING,
    PHRASES,
    SPEEDOMETER,
    TRANSLATED,
    WITH_POINTS,
)
from tutor.readers.common.roles import PLACE, role
from tutor.run import names, scoring

_NUMBER = (
    r"[-+]?(?:[0-9]+(?:,[0-9]{3})*(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?|\.[0-9]+(?:e[-+]?[0-9]+)?|nan|inf(?:inity)?)"
)
# A name's words, what may stand between two of them, and between a name and its value.
_WORD = r"[a-z][a-z0-9_/.@]{0,40}(?:-[a-z0-9_/.@]{1,40}){0,4}"
_BETWEEN = r"[^0-9a-z_/.@-][^0-9a-z_/.@]{0,3}"
_ARROW = r"(?:\s{1,20}[0-9]{1,9})?\s{0,20}-{1,2}>"  # `Loss after cycle 2 -> 3.1`: the first counts
_IS = (
    rf"[\"'*]{{0,2}}(?:{_ARROW}|"
    r"(?:\s{0,20}[:=]{1,2}\s{0,20}|\s{1,20}(?:is\s{1,4})?)(?:tensor|array|(?:np\.)?float[0-9]{2})?[\[(#]?|[\[(#])"
    r"\s{0,20}[\"'*]{0,2}"
)
PAIR = (
    rf"\b(?P<name>{_WORD}(?:{_BETWEEN}{_WORD}){{0,3}}?){_IS}(?P<value>{_NUMBER})"
    r"(?:[ \t\r,;|()\]}>*/'\"%±]|[:.]\s|[:.]?$)"
)
"""A name and its value, wherever they stand in a line."""
ROW_WORDS = (
    r"(?:loss|ppl|perplexity|xent|entropy|rewards?\b|returns?\b|rew\b|accuracy|\bacc\b"
    r"|epoch|\bep\b|step|iter|\bit\b|episode|update|batch|\bround|cycle|generation|\[[0-9]+/[0-9]+\]\[)"
)
"""What each line that may be a row has in it."""
_HELD_OUT = (
    r"\b(?:val|valid|validate|validation|eval|evaluate|evaluation|test|testing|dev|h(?:eld|old)[_ -]?out)\b"
)
PLACED = (
    rf"(?P<{MARK}>)"
    r"(?:%\|[^|]*\|\s*|\bep(?:och)?[^0-9a-z]{0,4}[0-9]+(?:/ *[0-9]+)?[^0-9a-z]{1,12}"
    r"|(?:\[(?P<lead>[0-9]+)/[0-9]+\] *)?\[ *)(?P<at>[0-9]+) */ *(?P<of>[0-9]+)(?:[^0-9/.]|$)"
)
"""Where in its epoch a line says it is: behind a bar in percent, behind the epoch, or in brackets."""
BAR = r"\b(?P<bar>[0-9]+)/(?P<of>[0-9]+) +(?:\[[=>.]+\]|━)"
"""The same of a progress bar as Keras draws it."""
_TIMED = r"[0-9]+%\|[^|]*\| *[0-9]+/[0-9]+ \[[0-9:<>?, .]*(?:it/s|s/it)"
_TOOK = r"(?:time|data|acc(?:uracy)?):? +[0-9.]+[s%]?(?: +\( *[0-9.]+[s%]?\))?"
# Numbers that may stand between the word for held-out data and its loss: counters, bars and durations.
_COUNTER = (
    r"(?:(?:epoch|step|iter(?:ation)?)s?[^0-9a-z]*[0-9]+(?:[ /]+[0-9]+)?[^0-9a-z.]"
    rf"|\[[0-9/]+\]|[0-9]+ */ *[0-9]+[^0-9.]|[0-9]+:[0-9:]+[^0-9.]|{_TIMED}|{_TOOK})"
)
# Any text without `los`, spelled out: the patterns that polars reads have no look-ahead.
_NO_LOSS_YET = r"(?:[^l]|l+[^lo]|l+o[^ls])*?"
# A line that is about held-out data: it says so before its first loss.
_VALIDATED = rf"^(?P<{MARK}>){_NO_LOSS_YET}{_HELD_OUT}[^0-9]*(?:{_COUNTER}[^0-9]*){{0,3}}loss\b"
# The same of a loss by another name; it begins with counters alone.
_VALIDATED_SO = (
    rf"^(?P<{MARK}>)\W{{0,9}}(?:(?:ep(?:och)?|step|iter(?:ation)?)\W{{0,9}}[0-9/ ]{{1,20}}\W{{1,9}}){{0,2}}"
    rf"{_HELD_OUT}\W{{1,9}}(?:[a-z_]{{1,20}}\W{{1,9}}){{0,2}}(?:nll|b?ce)\b"
)
# Any other line.
_ROW = rf"^(?P<{MARK}>)"
OVERFLOW = rf"Gradient overflow\..*reducing loss scale to (?P<{REDUCED}>{_NUMBER})"
"""A message of apex's loss scaler."""

_LEVEL = re.compile(r"^(?:(?:info|debug|warning|train(?:er|ing)? info)\s+)+", re.IGNORECASE)
_UNIT = re.compile(
    r"^\w{1,12}/s(?:ec(?:ond)?)?\s+(?=\S)", re.IGNORECASE
)  # of the number before: `9.1 samples/sec acc=0.7`
_LOGGER = re.compile(r"^[\w.]+\s(?:INFO|DEBUG|WARNING)\s")  # who logs, and how urgent it is
_NO_NAME = re.compile(r"^\w[0-9]{3,}$|\.(?:py|c|cc|cpp|cu|h|go|rs|jl|lua|txt|json|md)$", re.IGNORECASE)
_PUNCTUATION = re.compile(r"\s+-+\s+|[^\w\s/.@-]+")
_SAID_HELD_OUT = re.compile(_HELD_OUT, re.IGNORECASE)
_BARE_LOSSES = {"train", "val", "valid"}  # `step 10 | train 3.1 | val 3.3`: the loss, as a remark tells
_OWN = {*PLACE, MARK, REDUCED, "of"}  # columns of the lines that are no pair's


def column_of(given: str) -> str | None:
    """What the column of a pair of that name is called; None where it is none.

    Without what stands before the name in its line, but for the word for held-out data before a loss.
    """
    *before, name = (part.strip() for part in _PUNCTUATION.split(given))
    name = _UNIT.sub("", _LEVEL.sub("", _LOGGER.sub("", name)))
    if name.lower() in _OWN or _NO_NAME.search(name):
        return None
    words = name.split()
    if role(name) in ("per_step", "per_epoch"):
        whole = len(words) > 1 and words[-2].lower() in ("global", "total")
        return " ".join(words[-2:] if whole else words[-1:])
    if given.lower() in _BARE_LOSSES:
        return f"{name} loss"
    if role(name) != "loss" or names.says_held_out(name):
        return name
    said = next((found[0] for part in before if (found := _SAID_HELD_OUT.search(part))), None)
    return f"{said} {name}" if said else name


def _held_out_column_of(given: str) -> str | None:
    """As `column_of`, in a line that says before its first loss that it is about held-out data."""
    name = column_of(given)
    measured = name is not None and (role(name) == "loss" or scoring.rises(name))
    return f"val {name}" if name and measured and not names.says_held_out(name) else name


def _of_its_set(name: str, before: Sequence[str]) -> str:
    """What a pair is called whose name comes again in its line: with the held-out data named in between.

    In `Train Loss: 0.5 | Acc: 0.8 | Val Loss: 0.6 | Acc: 0.7` each accuracy is of the data of the loss before
    it.
    """
    between = before[before.index(name) + 1 :]
    said = [found[0] for one in between if (found := _SAID_HELD_OUT.search(one))]
    measured = role(name) is None and not names.says_held_out(name)
    return f"{said[-1].lower()} {name}" if measured and said else name


_LINES = Lines(
    (
        Line(OVERFLOW, sign="reducing loss scale"),
        Line(BAR, PAIR, column_of, _of_its_set, sign="/"),
        Line(_VALIDATED, PAIR, _held_out_column_of),
        Line(_VALIDATED_SO, PAIR, _held_out_column_of),
        Line(PLACED, PAIR, column_of, _of_its_set, sign="/"),
        Line(_ROW, PAIR, column_of, _of_its_set),
    ),
    only=ROW_WORDS,
)


def lines_in(path: Path, own: Mapping[str, str]) -> Lines:
    """What the lines of that file look like, with the phrases of other languages and notations it has.

    Args:
        path: the file.
        own: by words that are known, the log's own in their place.
    """
    phrases, comma = TRANSLATED if has(path, either(ANY_FOREIGN)) else (), either(DECIMAL_COMMA)
    phrases = (*EVALUATED, *phrases) if has(path, either(EVALUATING)) else phrases
    phrases = (*EMPTIED, *phrases) if has(path, either(SPEEDOMETER)) else phrases
    # Most logs have no comma in a number at all, which `has` sees far sooner.
    if has(path, comma) and comma.search(packed.head(path, LOOKED_AT).decode("utf-8", "replace")):
        phrases = (*WITH_POINTS, *phrases)
    return replace(_LINES, phrases=(*as_known(own), *phrases, *PHRASES))


def as_known(own: Mapping[str, str]) -> list[tuple[str, str]]:
    """The log's own words as phrases that are replaced by the words that are known."""
    return [(rf"\b{re.escape(word)}\b", known) for known, word in own.items()]
