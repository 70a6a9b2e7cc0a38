"""A file of the notebook, whichever it is: read, or refused in a line, and the next save loses nothing."""

import json
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st
from rich.console import Console

from tests.conftest import ROOT
from tutor import lessons, preferences, readers, tree, walk
from tutor.notebook import Notebook, NotebookError
from tutor.notebook.scores import calibration, finished
from tutor.postmortem import from_state as post_mortem
from tutor.preferences import Preferences
from tutor.walk import Walk
from tutor.words import plain

LESSON = "<!-- lesson 0123456789abcdef -->\n## Mine\n\n2026-11-20 14:03 · 19-break · phase-19: 1.1 no\n"
LINE = {"run": "r", "tree": "t", "question": "1.1", "predicted": "yes", "found": "no", "confidence": 4}
FILES = ("lessons.md", "predictions.jsonl", "preferences.json", "drafts/k.walk.json")


@cache
def begun() -> Walk:
    """A walk over the shipped run, at its first question."""
    return walk.begin(readers.open_run(str(ROOT / "runs" / "19-break")), tree.find("phase-19"))


def _left() -> dict[str, Any]:
    """A draft of it after three answers."""
    left = begun()
    for _ in range(3):
        assert isinstance(left, walk.AtQuestion)
        left = walk.go_on(left, walk.look(left))
    return json.loads(json.dumps(walk.to_state(left) | {"done": True, "score": [1, 2], "verdict": "flaw"}))


def _draft(kind: str, data: Any) -> bytes:
    return json.dumps({"kind": kind, "key": "k", "saved": "2026-11-20T14:03:00+00:00", "data": data}).encode()


STATE = _left()
ANSWER = STATE["answers"][0]
SEEDS = [
    LESSON.encode(),
    json.dumps(LINE).encode() + b"\n",
    json.dumps({"theme": "light", "lang": "es"}).encode(),
    _draft("walk", STATE),
    _draft("postmortem", {"lesson": "x"}),
]
WORDS = [
    b"## ", b"<!-- lesson ", b" -->", b"### 1. ", b"\n", b"\r\n", b" \xc2\xb7 ", b"\xff", b"\x1b[31m", b"|",
    *b"null NaN Infinity -1 1e400 [] {} [[[ true 99999999999999999999999".split(), b'"\\ud800"',
    *(f'"{key}":'.encode() for key in (*STATE, *ANSWER, *LINE, "kind", "key", "saved", "data", "theme")),
]  # fmt: skip
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["1.1", "2.1", "no", "yes", "log", "self", "unsure"])
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*STATE, *ANSWER]) | st.text(max_size=4), inner, max_size=5)
    ),
    max_leaves=10,
)
SPOILT = st.dictionaries(st.sampled_from(list(STATE)), VALUES, max_size=4).map(lambda odd: STATE | odd)
ANSWERED = st.tuples(
    st.integers(0, 2), st.dictionaries(st.sampled_from(list(ANSWER)), VALUES, max_size=3)
).map(
    lambda odd: (
        STATE | {"answers": [a | (odd[1] if n == odd[0] else {}) for n, a in enumerate(STATE["answers"])]}
    )
)
INPUTS = (
    (SPOILT | ANSWERED | VALUES).map(lambda data: _draft("walk", data))
    | VALUES.map(lambda data: _draft("postmortem", data))
    | VALUES.map(lambda value: json.dumps(value).encode())
    | st.dictionaries(st.sampled_from(list(LINE)), VALUES).map(lambda odd: json.dumps(LINE | odd).encode())
    | st.lists(st.sampled_from([*WORDS, *SEEDS]), max_size=12).map(b"".join)
    | st.binary(max_size=60)
)


def check(data: bytes, folder: Path) -> None:
    with patch.dict(os.environ, {"TUTOR_LEARNERS": str(folder)}):
        _check(data, folder)


def _check(data: bytes, folder: Path) -> None:
    for name in FILES:
        path = folder / "ana" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    book = Notebook("ana")
    drafts = book.drafts()
    finished(drafts)
    calibration(book.predictions())
    assert isinstance(preferences.read("ana"), Preferences)
    before = book.lessons()
    for number in (None, len(before)):
        console = Console(width=60, highlight=False)
        with console.capture() as captured:
            try:
                lessons.show(book, number, "en", console)
            except NotebookError:
                assert number == 0
        assert captured.get() == plain(captured.get(), lines=True)
    was = begun()
    book.resume("walk", "k", lambda state: walk.from_state(was.run, was.tree, state))
    with suppress(ValueError):
        post_mortem(STATE if not drafts else drafts[0].data)

    book.append_lesson(LESSON)
    assert (folder / "ana" / "lessons.md").read_bytes().startswith(data)
    after = book.lessons()
    assert [one.lesson for one in after[: len(before)]] == [one.lesson for one in before]
    assert any(one.id == "0123456789abcdef" for one in after)
    known = book.predictions()
    book.record_prediction(**LINE)
    assert len(book.predictions()) == len(known) + 1
    preferences.write("ana", Preferences("light"))
    assert preferences.read("ana") == Preferences("light")
    for kind in ("walk", "postmortem"):
        book.save_draft(kind, "k", {"n": 1})
        assert book.draft(kind, "k") == {"n": 1}
