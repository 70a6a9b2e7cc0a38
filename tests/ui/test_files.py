"""What is read and written beside the screen: in order, away from the app's thread, and whole at the end."""

import threading
import time

from tests.conftest import ROOT
from tests.ui.conftest import WIDE, settle
from tutor import readers
from tutor.notebook import Notebook
from tutor.ui.files import Files
from tutor.words import SaidError


async def test_saves_keep_their_order_and_close_waits_for_them():
    files, saved = Files(), []

    def save(number: int) -> None:
        time.sleep(0.02 if number == 0 else 0)  # the first is the slowest
        saved.append(number)

    for number in range(5):
        files.save(lambda number=number: save(number), refused=lambda error: None)
    assert saved == []  # nobody waited
    await files.close()
    assert saved == [0, 1, 2, 3, 4]


async def test_whoever_reads_the_notebook_sees_what_was_saved_before():
    files, kept = Files(), []

    def save() -> None:
        time.sleep(0.02)
        kept.append("a draft")

    files.save(save, refused=lambda error: None)
    assert await files.notes(lambda: list(kept)) == ["a draft"]
    await files.close()
    assert files.busy == 0


async def test_who_saves_is_told_why_it_was_refused():
    class RefusedError(SaidError):
        part = "notebook"

    def save() -> None:
        raise RefusedError("read_only", path="/somewhere")

    files, told = Files(), []
    files.save(save, refused=told.append)
    while files.busy:
        await files.read(lambda: None)
    assert [error.facts["path"] for error in told] == ["/somewhere"]
    await files.close()


async def test_a_walk_reads_and_saves_away_from_the_apps_thread(walk, monkeypatch):
    threads: dict[str, set[threading.Thread]] = {}

    def watched(name: str, act):
        def called(*arguments, **named):
            threads.setdefault(name, set()).add(threading.current_thread())
            return act(*arguments, **named)

        return called

    monkeypatch.setattr(readers, "read", watched("read", readers.read))
    for name in ("draft", "drafts", "save_draft", "record_prediction", "lessons"):
        monkeypatch.setattr(Notebook, name, watched(name, getattr(Notebook, name)))
    app = walk(ROOT / "runs" / "19-break")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("n", "enter", "enter", "c")  # an answer, and the sibling beside it
        await settle(pilot)
        app.go_home()
        await settle(pilot)
    assert set(threads) == {"read", "draft", "drafts", "save_draft", "record_prediction", "lessons"}
    for name, used in threads.items():
        assert threading.main_thread() not in used, name


async def test_what_was_not_saved_yet_is_saved_on_leaving(walk, monkeypatch):
    save = Notebook.save_draft

    def slowly(self, *arguments):
        time.sleep(0.1)
        return save(self, *arguments)

    monkeypatch.setattr(Notebook, "save_draft", slowly)
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("n", "enter", "enter", "q")  # leave while the disk is busy
    assert Notebook("ana").drafts()[0].data["at"] == "1.4"
