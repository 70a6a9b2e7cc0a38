"""An episode played: each action done, the promises checked, the way out taken, the notebook looked into."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

from textual import events
from textual.geometry import Size
from textual.pilot import Pilot, WaitForScreenTimeout

from tests.conftest import ROOT
from tests.monkey.broken import BrokenError, said, tasks
from tests.monkey.episode import Act, Episode
from tests.monkey.kept import Kept
from tests.monkey.terminal import events_of
from tests.ui import world
from tests.ui.conftest import phase_19, shown
from tests.ui.promises import broken, way_out
from tutor.ui import trials
from tutor.ui.app import TutorApp
from tutor.ui.trials import Kind, Trial

ANSWER = 2.0
"""Seconds of work within which an action is answered."""
PATIENCE = 20.0
"""Seconds on the clock: a busy machine is no fault of the app's."""
QUICK = 20
"""Milliseconds under which nobody looks at the screen between two actions."""
FRAME = 0.05
EXITS = 25
"""More than enough times out of one screen, to be out of all of them."""


class Play:
    """One episode, played in `folder`."""

    def __init__(self, episode: Episode, folder: Path):
        self.episode, self.folder = episode, folder
        self.left = list(episode.acts)
        self._stuck: BrokenError | None = None
        self._scrolled = False
        self._kept = Kept()
        self._lessons: dict[Path, bytes] = {}
        self._stray: list[BaseException] = []

    async def run(self) -> None:
        """Play it.

        Raises:
            BrokenError: a promise wasn't kept.
        """
        asyncio.get_running_loop().set_exception_handler(self._take_stray)
        world.build(self.folder, begun_before=self.episode.begun_before)
        left = self.left
        while True:
            app = self._app()
            try:
                async with app.run_test(size=self.episode.size, notifications=True) as pilot:
                    with contextlib.suppress(_LeftError):
                        for key in self.episode.first:
                            await self._settle(pilot)
                            await self._do(pilot, ("press", key, 200))
                        while left and left[0][0] != "reopen":
                            await self._do(pilot, left.pop(0))
                        await self._leave(pilot, by_footer=not left)
            except BrokenError:
                raise
            except asyncio.CancelledError:  # an app that is stuck can't be closed in good order
                raise self._stuck or BrokenError("the app was cancelled") from None
            except Exception as error:
                raise BrokenError(said(error)) from error
            self._kept.look_up()
            self._check_stray()
            if not left:
                return
            if left[0][0] == "reopen":
                left.pop(0)

    def _app(self) -> TutorApp:
        subject = self.episode.subject
        path = None
        if subject is not None:
            path = ROOT / "runs" / subject if subject == "19-break" else self.folder / "runs" / subject
        return TutorApp(
            learner="ana", lang=self.episode.lang, subject=path, walked_tree=phase_19(), greet=True
        )

    def _take_stray(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        self._stray.append(error or BrokenError(str(context.get("message"))))

    def _check_stray(self) -> None:
        if self._stray:
            error = self._stray[0]
            raise BrokenError(f"beside the app: {said(error)}") from error

    # Acting

    async def _do(self, pilot: Pilot, act: Act) -> None:
        kind, *what, wait = act
        app: Any = pilot.app
        self._check_left(app)
        if kind in ("press", "paste", "wheel"):
            self._scrolled = kind == "wheel"
        match kind:
            case "language" if app.screen.is_modal:  # the key doesn't reach through it
                pass
            case "language" | "theme":
                app.call_later(getattr(app, f"action_{kind}"))
            case "resize":
                size = Size(*what)
                app._driver._size = size
                app._driver.send_message(events.Resize(size, size))
            case "grow" | "cut" | "rewrite" | "vanish" | "back":
                world.happen(kind, self.folder / "runs" / (what[0] or self.episode.subject or "ours"))
            case _:
                for event in events_of(kind, what, app.size):
                    app._driver.process_message(event)
        await asyncio.sleep(wait / 1000)
        if wait >= QUICK:
            await self._check(pilot)

    async def _settle(self, pilot: Pilot) -> None:
        """Until every message is answered, the reading of a run among it."""
        clock, work = time.monotonic(), time.process_time()
        await self._answered(pilot)
        app: Any = pilot.app
        while app.files.busy and time.monotonic() - clock < ANSWER:
            await asyncio.sleep(FRAME / 5)
        await self._answered(pilot)
        self._check_left(pilot.app)
        if time.process_time() - work > 2 * ANSWER:
            raise BrokenError("no answer within two seconds")

    async def _answered(self, pilot: Pilot) -> None:
        """Each widget answers. One that is taken away with the question still before it never does, so it is
        asked twice: of an app that is stuck none answers the second time either.
        """
        names = [type(screen).__name__ for screen in pilot.app.screen_stack]
        for last in (False, True):
            try:
                await pilot._wait_for_screen(timeout=PATIENCE)
                return
            except WaitForScreenTimeout:
                if last:
                    self._stuck = BrokenError(f"no answer at all, on {names}\n{tasks()}")
                    raise self._stuck from None

    async def _check(self, pilot: Pilot) -> None:
        """Check the promises. A screen that is being drawn is given a moment."""
        app: Any = pilot.app
        await self._settle(pilot)
        self._kept.see(app)
        self._check_stray()
        until = time.monotonic() + PATIENCE / 10
        while found := list(broken(app, scrolled=self._scrolled)):
            if time.monotonic() > until:
                raise BrokenError(f"{found[0]}, at {app.size.width} x {app.size.height}\n{shown(app)}")
            await asyncio.sleep(FRAME)
            await self._settle(pilot)
        for path in (self.folder / "learners").glob("*/lessons.md"):
            before, now = self._lessons.get(path, b""), path.read_bytes()
            if not now.startswith(before):
                raise BrokenError("lessons.md was changed where it stood")
            self._lessons[path] = now

    def _check_left(self, app: Any) -> None:
        if app._exception or app._exit:
            raise _LeftError

    # Leaving

    async def _leave(self, pilot: Pilot, *, by_footer: bool) -> None:
        """Out of the app, by what the footer shows or in one stroke."""
        app: Any = pilot.app
        if not by_footer:
            await self._do(pilot, ("press", "ctrl+q", 0))
            await self._settle(pilot)
        for _ in range(EXITS):
            await self._check(pilot)
            way = way_out(app)
            assert way, "the promises were just checked"
            await self._do(pilot, ("press", way.key, 0))
            await self._settle(pilot)
        raise BrokenError(f"no way out of the app leads past {app.screen_stack}")


class _LeftError(Exception):
    """The app is left, or has failed."""


def _tried_at_once(run: Path, change: Sequence[str], *, kind: Kind = "verify", **_: object) -> Trial:
    """In place of a training that takes minutes: one that has ended, and left the run as it is."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    trial = Trial(str(run), " ".join(change), str(run), "said", process.pid, kind)
    place = trials._place(run, kind)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(asdict(trial)))
    return trial


def play(found: Episode) -> BrokenError | None:
    """Play an episode in a folder of its own; what it broke, if anything."""
    with tempfile.TemporaryDirectory(prefix="monkey-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        named = {"TUTOR_LEARNERS": str(folder / "learners"), "TUTOR_LEARNER": "ana"}
        named["XDG_CACHE_HOME"] = str(Path(tempfile.gettempdir()) / "monkey-cache")
        tries = (
            patch("tutor.ui.trials.begin", _tried_at_once),
            patch("tutor.ui.trials.can_train", lambda: True),
        )
        with contextlib.chdir(folder), patch.dict(os.environ, named), tries[0], tries[1]:
            played = Play(found, folder)
            try:
                asyncio.run(played.run())
            except BrokenError as error:
                error.done = len(found.acts) - len(played.left)
                return error
    return None
