"""The notebook among odd files: nothing is waited for, nothing of another place overwritten, nothing lost."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.children import ODD_FILES, ODD_NAMES, become_nobody, in_a_child, no_room_for_now, posix_only
from tutor import preferences
from tutor.learner import BadNameError, learner_name
from tutor.notebook import Notebook, NotebookError
from tutor.preferences import Preferences

pytestmark = posix_only

LESSON = "## Clip first\n\n2026-11-20 14:03 · 19-break · phase-19: 1.1 no\n"
LINE = {"run": "r", "tree": "t", "question": "1.1", "predicted": "yes", "found": "no", "confidence": 4}

SAVES: dict[str, Callable[[Notebook], object]] = {
    "lessons.md": lambda book: book.append_lesson(LESSON),
    "drafts/k.walk.json": lambda book: book.save_draft("walk", "k", {"n": 1}),
    "predictions.jsonl": lambda book: book.record_prediction(**LINE),
    "preferences.json": lambda book: preferences.write(book.learner, Preferences("light")),
}


@pytest.fixture
def book(home: Path) -> Notebook:
    book = Notebook("ana")
    (book.folder / "drafts").mkdir(parents=True)
    return book


def kept(book: Notebook) -> tuple[object, ...]:
    """All that can be read of the notebook."""
    return book.lessons(), book.draft("walk", "k"), book.predictions(), preferences.read(book.learner)


@pytest.mark.parametrize("name", SAVES)
@pytest.mark.parametrize("make", ODD_FILES, ids=ODD_NAMES)
def test_what_is_no_plain_file_is_refused_in_a_line(book: Notebook, name: str, make: Callable[[Path], None]):
    path = book.folder / name
    make(path)
    before = path.lstat()
    with pytest.raises(NotebookError) as caught:
        SAVES[name](book)
    assert str(path) in str(caught.value) or os.path.realpath(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.lstat().st_mode == before.st_mode
    assert path.lstat().st_ino == before.st_ino


@pytest.mark.parametrize("make", ODD_FILES, ids=ODD_NAMES)
def test_what_is_no_plain_file_isnt_waited_for_by_a_reader(book: Notebook, make: Callable[[Path], None]):
    for name in SAVES:
        make(book.folder / name)
    with pytest.raises(NotebookError, match=r"lessons\.md"):
        book.lessons()
    assert (book.drafts(), book.draft("walk", "k"), book.predictions()) == ([], None, [])
    assert preferences.read("ana") == Preferences()
    assert book.resume("walk", "k", dict) is None  # set aside, so that the next draft has a place
    book.save_draft("walk", "k", {"n": 1})
    assert book.draft("walk", "k") == {"n": 1}


@pytest.mark.parametrize(
    "make", [*ODD_FILES, lambda path: path.symlink_to("mine")], ids=[*ODD_NAMES, "a link"]
)
def test_a_lock_that_is_no_plain_file_is_refused_in_a_line(book: Notebook, make: Callable[[Path], None]):
    (book.folder / "mine").write_text("mine")
    make(book.folder / ".lock")
    for save in SAVES.values():
        with pytest.raises(NotebookError) as caught:
            save(book)
        assert caught.value.what == "odd_lock"
        assert str(book.folder / ".lock") in str(caught.value)
    assert (book.folder / "mine").read_text() == "mine"


@pytest.mark.parametrize("name", SAVES)
@pytest.mark.parametrize("ending", ["{}.tmp", ".{}.tmp", "{}.part", ".{}.part"])
def test_a_link_at_a_temporary_name_leads_nowhere(book: Notebook, tmp_path: Path, name: str, ending: str):
    target = tmp_path / "mine"
    target.write_text("mine")
    path = book.folder / name
    path.with_name(ending.format(path.name)).symlink_to(target)
    SAVES[name](book)
    assert target.read_text() == "mine"
    assert path.is_file()
    assert not path.is_symlink()


@pytest.mark.parametrize("name", SAVES)
def test_a_folder_at_the_temporary_name_is_refused_in_a_line(book: Notebook, name: str):
    path = book.folder / name
    path.with_name(f".{path.name}.part").mkdir()
    if name == "predictions.jsonl":
        SAVES[name](book)  # it only grows, and needs no other file
        return
    with pytest.raises(NotebookError):
        SAVES[name](book)
    assert not path.exists()


@pytest.mark.parametrize("name", SAVES)
def test_a_circle_of_links_is_refused_in_a_line(book: Notebook, name: str):
    (book.folder / name).symlink_to(book.folder / name)
    with pytest.raises(NotebookError):
        SAVES[name](book)


def test_lessons_larger_than_any_are_refused_and_stay(book: Notebook):
    with book.lessons_path.open("wb") as file:
        file.truncate(1 << 40)  # a terabyte of nothing
    for tried in (book.lessons, lambda: book.append_lesson(LESSON)):
        with pytest.raises(NotebookError, match="larger than 64 MB"):
            tried()
    assert book.lessons_path.stat().st_size == 1 << 40


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "9" * 5000, '{"a": ' * 50_000], ids=["brackets", "digits", "braces"]
)
def test_what_no_parser_takes_is_passed_over(book: Notebook, text: str):
    for name in SAVES:
        (book.folder / name).write_text(text)
    assert kept(book) == ([], None, [], Preferences())
    for save in SAVES.values():
        save(book)
    assert kept(book)[1:] == ({"n": 1}, [book.predictions()[0]], Preferences("light"))


@pytest.mark.parametrize("room", [0, 1, 20])
@pytest.mark.parametrize("name", SAVES)
def test_a_disk_that_fills_during_a_save_loses_nothing(book: Notebook, name: str, room: int):
    for save in SAVES.values():
        save(book)
    before = kept(book)
    (book.folder / "drafts" / "k.walk.json").touch()
    with no_room_for_now(room if name != "predictions.jsonl" else (book.folder / name).stat().st_size + room):
        with pytest.raises(NotebookError) as caught:
            {**SAVES, "lessons.md": lambda book: book.append_lesson("## Another\n")}[name](book)
        assert "\n" not in str(caught.value)
    assert kept(book) == before
    SAVES[name](book)
    assert book.predictions()[: len(before[2])] == before[2]
    assert not [path for path in book.folder.rglob(".*") if path.name != ".lock"]


@pytest.mark.parametrize("run", ["語" * 80, "é" * 200, "x" * 300, "\U0001f40d" * 100])
def test_a_draft_of_a_run_with_a_long_name_is_kept(book: Notebook, run: str):
    book.save_draft("postmortem", run, {"n": 1})
    assert book.draft("postmortem", run) == {"n": 1}
    assert book.draft("postmortem", run + "x") is None


@pytest.mark.parametrize("name", ["COM¹", "com²", "LPT³", "lpt1", "COM0", "NUL", "ｃｏｎ", " aux "])
def test_a_name_that_windows_keeps_for_a_device_is_nobodys(name: str):
    with pytest.raises(BadNameError) as caught:
        learner_name(name)
    assert caught.value.what == "taken"


@pytest.mark.parametrize("name", ["com", "Console", "COM¹ 2", "nula", "x²"])
def test_a_name_like_it_is_taken(name: str):
    assert learner_name(name) == name


def saved_by_nobody(folder: str) -> None:
    os.environ["TUTOR_LEARNERS"] = folder
    for save in SAVES.values():
        save(Notebook("warm"))  # all is imported
    become_nobody()
    for learner in ("ana", "eva"):  # one who has a notebook, and one who hasn't
        for save in SAVES.values():
            with pytest.raises(NotebookError) as caught:
                save(Notebook(learner))
            assert caught.value.what == "read_only"
    assert [lesson.lesson for lesson in Notebook("ana").lessons()] == ["Clip first"]


@pytest.mark.slow
def test_a_folder_that_may_not_be_written_in_is_told_in_a_line(
    in_sight: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TUTOR_LEARNERS", str(in_sight))
    Notebook("ana").append_lesson(LESSON)
    if os.geteuid():
        pytest.skip("an ordinary user would need another's folder: only root can make one")
    before = {path: path.read_bytes() for path in in_sight.rglob("*") if path.is_file()}
    assert in_a_child(saved_by_nobody, str(in_sight)) == 0
    after = {path: path.read_bytes() for path in in_sight.rglob("*") if path.is_file()}
    assert {path: text for path, text in after.items() if "warm" not in path.parts} == before
