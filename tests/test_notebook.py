"""The notebook: lessons that survive crashes and crowds, drafts, predictions."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from tests.conftest import ROOT
from tutor import lessons, notebook
from tutor.lesson import parse
from tutor.notebook import Notebook, NotebookError, files

LESSON = """## Clip first

2026-11-20 14:03 · 19-break · phase-19: 1.1 no → 2.1 yes

### 1. Symptoms

| a | b |
"""
IN_ANOTHER_PROCESS = """
import os, signal
from pathlib import Path
from tutor.notebook import Notebook
book = Notebook("ana", Path({home!r}))
"""
TEN = """
for n in range(10):
    book.append_lesson(f"## {who} {n}")
    book.record_prediction(run="r", tree="t", question="q", predicted="yes", found="no", confidence=3)
"""


@pytest.fixture
def book(tmp_path: Path) -> Notebook:
    return Notebook("ana", tmp_path)


def in_another_process(code: str, home: Path) -> subprocess.Popen:
    """Python that runs `code` with `book`, a notebook in `home`."""
    lead = IN_ANOTHER_PROCESS.format(home=str(home))
    return subprocess.Popen([sys.executable, "-c", lead + code], cwd=ROOT)


@given(st.text())
@example("e\u0301")
def test_whatever_is_taken_is_a_folder_inside_the_home(name):
    try:
        folder = Notebook(name, Path("/learners")).folder
    except ValueError:
        return
    assert folder.parent == Path("/learners")
    assert os.path.normpath(folder) == str(folder)
    assert len(os.fsencode(folder.name)) <= 255


class TestLessons:
    def test_what_is_appended_is_read_again(self, book):
        path = book.append_lesson(LESSON)
        [lesson] = book.lessons()
        assert (lesson.lesson, lesson.date, lesson.run) == ("Clip first", "2026-11-20 14:03", "19-break")
        assert lesson.path == "phase-19: 1.1 no → 2.1 yes"
        assert lesson.body == LESSON.strip()
        assert path == book.lessons_path

    def test_a_save_tried_again_is_kept_once(self, book):
        book.append_lesson(LESSON)
        book.append_lesson(LESSON)
        book.append_lesson("<!-- lesson 0123456789ab -->\n" + LESSON)
        book.append_lesson("<!-- lesson 0123456789ab -->\n" + LESSON.replace("14:03", "14:04"))
        assert len(book.lessons()) == 2

    def test_what_a_hand_wrote_stays_byte_for_byte(self, book):
        book.folder.mkdir(parents=True)
        by_hand = b"# Mine\r\n\xff\xfe not UTF-8\r\n## A note\r\nno date\x1b[31m"
        book.lessons_path.write_bytes(by_hand)
        book.append_lesson(LESSON)
        assert book.lessons_path.read_bytes().startswith(by_hand + b"\n\n<!-- lesson ")
        assert [lesson.lesson for lesson in book.lessons()] == ["A note", "Clip first"]

    @given(st.text())
    def test_any_text_can_be_parsed(self, text):
        for lesson in parse(text):
            assert lesson.body.startswith("##")

    @given(
        st.lists(
            st.sampled_from(
                ["## a", "<!-- lesson 0123456789 -->", "x · y · z", "", "#", "2026-01-01 · r · p"]
            )
        )
    )
    def test_each_heading_is_a_lesson(self, lines):
        assert len(parse("\n".join(lines))) == lines.count("## a")

    def test_a_link_stays_a_link(self, book, tmp_path):
        book.folder.mkdir()
        target = tmp_path / "elsewhere.md"
        target.write_text("old\n")
        book.lessons_path.symlink_to(target)
        book.append_lesson(LESSON)
        assert book.lessons_path.is_symlink()
        assert target.read_text().startswith("old\n\n<!--")


class TestSafety:
    @pytest.mark.parametrize("at", ["fsync", "replace"])
    def test_killed_in_the_middle_leaves_the_old_file_whole_and_no_lock(self, book, tmp_path, at):
        book.append_lesson(LESSON)
        before = book.lessons_path.read_bytes()
        killed = in_another_process(
            f"os.{at} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\nbook.append_lesson('## Lost\\n')",
            tmp_path,
        )
        assert killed.wait(30) == -signal.SIGKILL
        assert book.lessons_path.read_bytes() == before
        book.append_lesson("## After\n")
        assert [lesson.lesson for lesson in book.lessons()] == ["Clip first", "After"]
        assert not list(book.folder.glob(".*.part"))

    def test_eight_at_once_lose_nothing(self, book, tmp_path):
        writers = [in_another_process(f"who = {who!r}\n{TEN}", tmp_path) for who in "abcdefgh"]
        assert [writer.wait(60) for writer in writers] == [0] * 8
        kept = [lesson.lesson for lesson in book.lessons()]
        assert sorted(kept) == [f"{who} {n}" for who in "abcdefgh" for n in range(10)]
        assert len(book.predictions()) == 80

    @pytest.mark.parametrize(
        ("number", "what"), [(28, "full"), (30, "read_only"), (13, "read_only"), (5, "unwritable")]
    )
    def test_a_refusal_of_the_system_is_one_line_with_a_way_out(self, book, monkeypatch, number, what):
        book.append_lesson(LESSON)
        before = book.lessons_path.read_bytes()

        def refuse(_):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "fsync", refuse)
        with pytest.raises(NotebookError) as caught:
            book.append_lesson("## Lost\n")
        assert caught.value.what == what
        assert "\n" not in str(caught.value)
        assert ";" in str(caught.value)
        assert book.lessons_path.read_bytes() == before
        assert not list(book.folder.glob(".*.part"))

    def test_a_file_where_the_folder_should_be(self, tmp_path):
        (tmp_path / "ana").write_text("I am no folder")
        book = Notebook("ana", tmp_path)
        assert (book.drafts(), book.predictions()) == ([], [])
        saves = (lambda: book.append_lesson(LESSON), lambda: book.save_draft("walk", "k", {}))
        for tried in (book.lessons, *saves):
            with pytest.raises(NotebookError) as caught:
                tried()
            assert caught.value.what == "no_folder"
            assert caught.value.facts["path"] == str(tmp_path / "ana")

    def test_a_file_as_the_home_of_the_learners(self, tmp_path, monkeypatch):
        (tmp_path / "learners").write_text("I am no folder")
        monkeypatch.setenv("TUTOR_LEARNERS", str(tmp_path / "learners"))
        for tried in (Notebook("ana").lessons, lambda: Notebook("ana").append_lesson(LESSON)):
            with pytest.raises(NotebookError) as caught:
                tried()
            assert caught.value.what == "no_folder"

    def test_lessons_that_cannot_be_read_are_not_none(self, book):
        book.lessons_path.mkdir(parents=True)
        with pytest.raises(NotebookError) as caught:
            book.lessons()
        assert caught.value.what == "unreadable"
        assert "lessons.md" in str(caught.value)

    def test_another_that_never_ends_is_not_waited_for_forever(self, book, monkeypatch):
        monkeypatch.setattr(files, "PATIENCE", 0.1)
        with files.locked(book.folder), pytest.raises(NotebookError) as caught:
            Notebook("ana", book.folder.parent).append_lesson(LESSON)
        assert caught.value.what == "busy"

    def test_rescue_keeps_the_text(self, tmp_path, monkeypatch):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        assert notebook.rescue(LESSON).read_text() == LESSON
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
        with pytest.raises(NotebookError):
            notebook.rescue(LESSON)


class TestDrafts:
    def test_saved_found_listed_dropped(self, book):
        key = notebook.draft_key("runs/a", "phase-19", "/runs/a")
        book.save_draft("walk", key, {"at": "2.1", "x": float("inf")})
        book.save_draft("postmortem", key, {"lesson": "é\ud800"})
        assert book.draft("walk", key) == {"at": "2.1", "x": float("inf")}
        assert {(draft.kind, draft.key) for draft in book.drafts()} == {("walk", key), ("postmortem", key)}
        book.drop_draft("walk", key)
        book.drop_draft("walk", key)
        assert book.draft("walk", key) is None

    def test_two_runs_of_one_name_keep_apart(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        keys = [notebook.draft_key("a", "phase-19", folder) for folder in ("one/a", "two/a")]
        assert keys[0] != keys[1]
        assert keys[0] == notebook.draft_key("a", "phase-19", tmp_path / "one" / "a")

    def test_set_aside_overwrites_nothing(self, book):
        assert book.set_aside("walk", "k") is None
        for text in ("first", "second"):
            book.save_draft("walk", "k", {}).write_text(text)
            assert book.set_aside("walk", "k").read_text() == text
        assert len(list((book.folder / "drafts").iterdir())) == 2
        assert book.drafts() == []

    def test_what_cannot_be_resumed_is_set_aside(self, book):
        assert book.resume("walk", "k", dict) is None
        book.save_draft("walk", "k", {"n": 1})
        assert book.resume("walk", "k", lambda state: state["n"]) == 1
        assert book.resume("walk", "k", lambda state: int("no number")) is None
        assert book.draft("walk", "k") is None
        assert [path.suffix for path in (book.folder / "drafts").iterdir()] == [".broken"]

    def test_keys_that_look_alike_keep_apart(self, book):
        for number, key in enumerate(("a/b", "a b", "a_b", "x" * 300)):
            book.save_draft("walk", key, {"n": number})
        assert [book.draft("walk", key)["n"] for key in ("a/b", "a b", "a_b", "x" * 300)] == [0, 1, 2, 3]

    @given(torn=st.binary(max_size=40))
    def test_a_torn_one_is_passed_over(self, tmp_path_factory, torn):
        book = Notebook("ana", tmp_path_factory.mktemp("learners"))
        path = book.save_draft("walk", "k", {})
        path.write_bytes(torn)
        assert book.drafts() == []
        assert book.draft("walk", "k") is None


class TestPredictions:
    def test_torn_lines_are_passed_over_and_the_next_is_whole(self, book):
        entry = {
            "run": "r",
            "tree": "t",
            "question": "1.1",
            "predicted": "yes",
            "found": "no",
            "confidence": 4,
        }
        book.record_prediction(**entry)
        with (book.folder / "predictions.jsonl").open("ab") as file:
            file.write(b'{"run": "r", "tr')
        book.record_prediction(**entry, hints=2)
        assert [p["hints"] for p in book.predictions()] == [0, 2]
        assert book.predictions()[0].items() >= entry.items()

    def test_each_knows_its_attempt_and_whether_the_log_had_spoken(self, book):
        entry = {
            "run": "r",
            "tree": "t",
            "question": "1.1",
            "predicted": "no",
            "found": "no",
            "confidence": 5,
        }
        book.record_prediction(**entry, attempt="a1")
        book.record_prediction(**entry, attempt="a1", seen_before=True)
        assert [(p["attempt"], p["seen_before"]) for p in book.predictions()] == [("a1", False), ("a1", True)]


class TestPrinting:
    def printed(self, book, number=None, lang="en", **how) -> str:
        console = Console(width=100, **how)
        with console.capture() as capture:
            lessons.show(book, number, lang, console)
        return capture.get()

    @pytest.mark.parametrize(("lang", "word"), [("en", "Lesson"), ("es", "Lección")])
    def test_list(self, book, lang, word):
        book.append_lesson(LESSON.replace("first", "first [red]\x1b[31m"))
        out = self.printed(book, lang=lang)
        assert word in out
        assert "Clip first [red]␛[31m" in out
        assert "19-break" in out

    def test_none_yet(self, book):
        assert str(book.lessons_path) in self.printed(book).replace("\n", "")

    def test_one_is_plain_text_where_there_is_no_terminal(self, book, capsys):
        book.append_lesson(LESSON)
        lessons.show(book, 1, "en", Console())
        assert capsys.readouterr().out == LESSON

    def test_one_is_rendered_on_a_terminal(self, book):
        book.append_lesson(LESSON)
        out = self.printed(book, 1, force_terminal=True)
        assert "Clip first" in out
        assert "##" not in out

    def test_no_such_number(self, book):
        for number in (0, 1, -1):
            with pytest.raises(NotebookError, match="tutor lessons"):
                lessons.show(book, number, "en", Console())


def test_drafts_are_plain_json(book):
    path = book.save_draft("walk", "a", {"x": 1})
    assert json.loads(path.read_text())["data"] == {"x": 1}
