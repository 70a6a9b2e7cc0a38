"""A lesson's text: what is written is read back, whatever a learner or a log has put into it."""

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from tutor import lesson

WHEN = datetime(2026, 11, 20, 14, 3)
MARKUP = ["## a", "### 1. b", "<!-- lesson 0123456789 -->", " · ", "|", "\\", "\n", "\r", "```", "#"]
WILD = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(MARKUP)).map("".join))
LINES = WILD.map(lesson.line).filter(bool)


def written(head: str, run: str = "r", path: str = "t", sections=(), id: str = "0123456789abcdef") -> str:
    return lesson.write(head, when=WHEN, run=run, path=path, sections=sections, id=id)


@given(head=LINES, run=WILD, path=WILD)
def test_the_head_comes_back(head: str, run: str, path: str):
    [entry] = lesson.parse(written(head, run, path))
    assert (entry.lesson, entry.date, entry.id) == (head, "2026-11-20 14:03", "0123456789abcdef")
    assert entry.path == lesson.line(path)
    assert len(entry.run) == len(lesson.line(run)), "a lone dot becomes a dash, nothing else changes"


@given(head=LINES, texts=st.lists(WILD, max_size=4))
def test_every_section_comes_back(head: str, texts: list[str]):
    parts = []
    for number, text in enumerate(texts):
        rows = lesson.table(["a", text], [["b", text]])
        parts.append((f"Part {number}", [*lesson.prose(text), "", *lesson.code(text), "", *rows]))
    [entry] = lesson.parse(written(head, sections=parts))
    assert entry.sections == [(title, "\n".join(lines).strip("\n")) for title, lines in parts]


@given(heads=st.lists(LINES, max_size=5))
def test_entries_one_after_the_other_stay_apart(heads: list[str]):
    text = "\n".join(written(head, sections=[("Cause", lesson.prose(head))]) for head in heads)
    assert [entry.lesson for entry in lesson.parse(text)] == heads


@given(WILD)
def test_what_was_tidied_stays_as_it_is(text: str):
    assert lesson.line(lesson.line(text)) == lesson.line(text)


def test_an_entry_without_an_id_gets_one_from_its_content():
    id, text = lesson.marked("## By hand\n")
    assert lesson.parse(text)[0].id == id
    assert lesson.marked(text) == (id, text)
    assert lesson.marked("## Another\n")[0] != id
