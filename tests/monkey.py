"""The monkey: random keys, clicks, pastes, resizes and runs that vanish, over every screen of the app.

    python -m tests.monkey --seed 7 --actions 10000       episodes from seed 7 on, until so many actions
    python -m tests.monkey --minutes 60                   from a seed of its own, for an hour

An episode is one seed: a folder of runs, a notebook, a place to begin and a list of actions. After each
action that gives the app time to answer, the promises of tests/ui/promises.py are checked; at the end the
way out that the footer shows is taken until the app is left, and what was written is looked up in the
notebook. What is broken is printed with its seed and the shortest list of actions that shows it.
"""

import argparse
import asyncio
import contextlib
import io
import json
import os
import re
import string
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random, SystemRandom
from typing import Any
from unittest.mock import patch

from textual import events
from textual.geometry import Size
from textual.keys import _character_to_key
from textual.pilot import Pilot, WaitForScreenTimeout

from tests.conftest import ROOT
from tests.ui import world
from tests.ui.conftest import phase_19, shown
from tests.ui.promises import broken, way_out
from tutor.notebook import Notebook, draft_key
from tutor.postmortem import PostMortem
from tutor.postmortem import from_state as read_postmortem
from tutor.ui import bindings
from tutor.ui.app import TutorApp
from tutor.ui.screens.postmortem import KIND, PostMortemScreen
from tutor.ui.screens.walk import WalkScreen
from tutor.walk import Walk, to_state

Act = tuple[Any, ...]
"""What is done, with what, and the milliseconds until the next: ("press", "enter", 20)."""

ANSWER = 2.0
"""Seconds of work within which an action is answered."""
PATIENCE = 20.0
"""Seconds on the clock: a busy machine is no fault of the app's."""
QUICK = 20
"""Milliseconds under which nobody looks at the screen between two actions."""
WAITS = (0, 0, 0, 0, 0, 5, 10, 20, 50, 100, 200)
LENGTH = 80
"""Actions of an episode."""
FRAME = 0.05
SIZES = ((120, 36), (80, 24), (60, 18), (200, 50))
EXITS = 25
"""More than enough times out of one screen, to be out of all of them."""

BOUND = sorted(
    {
        key
        for table in vars(bindings).values()
        if isinstance(table, list)
        for row in table
        for key in row.key.split(",")
    }
    - {"ctrl+q"}
)
USUAL = ("enter", "enter", "enter", "down", "up", "tab", "shift+tab", "escape", "n", "y", "p", "b", "u")
EDITING = ("home", "end", "pageup", "pagedown", "delete", "left", "right", "ctrl+c", "ctrl+a", "ctrl+x")
OTHERS = ("ctrl+v", "ctrl+k", "ctrl+w", "f5", "f12", "ctrl+at", "insert", "alt+x", "ctrl+home", "shift+end")
HAPPENS = ("grow", "grow", "cut", "rewrite", "vanish", "back")
"""What may befall a run: the one that is walked where no other is named."""
TEXTS = (
    world.MARKED,
    "\x1b[31mred\x1b[0m\x07",
    "[/oops] [",
    "e" + "\u0301" * 80,
    "\u202eשלום \u0627\u0644",
    "x" * 5000,
    "one\ntwo\r\nthree\t.",
    "損失",
    "\u200b\ufeff\U0001f469\u200d\U0001f4bb",
    "12",
    "0.5",
    "\ud800",
    "",
)


class BrokenError(AssertionError):
    """A promise that the app didn't keep. Its first line says which.

    Attributes:
        done: how many actions led to it.
    """

    done = 0


@dataclass(frozen=True)
class Episode:
    """What is played.

    Attributes:
        begun_before: whether the notebook has work in it.
        subject: the run that is walked from the start; None begins at home.
        first: keys that lead to where it begins.
    """

    lang: str
    size: tuple[int, int]
    begun_before: bool
    subject: str | None
    first: tuple[str, ...]
    acts: tuple[Act, ...]


def episode(seed: int, length: int = LENGTH) -> Episode:
    """The episode of that seed."""
    rng = Random(seed)
    begun_before = rng.random() < 0.6
    if begun_before and rng.random() < 0.7:
        subject, first = "19-break", rng.choice([(), ("p",), ("p", "enter"), ("enter",), ("c",), ("m",)])
    else:
        subject, first = rng.choice([None, *world.NAMES, *world.NAMES]), ()
    acts = tuple(act for _ in range(length) for act in _acts(rng))[:length]
    return Episode(rng.choice(["en", "es"]), rng.choice(SIZES), begun_before, subject, first, acts)


def _acts(rng: Random) -> list[Act]:
    """One thing that somebody might do, mostly a single action."""
    wait, x, y = rng.choice(WAITS), rng.random(), rng.choice([rng.random(), rng.random(), 0.999, 0.03])
    kinds: dict[Callable[[], list[Act]], int] = {
        lambda: [("press", rng.choice(BOUND), wait)]: 30,
        lambda: [("press", rng.choice(USUAL), wait)]: 22,
        lambda: [("press", rng.choice(EDITING), wait)]: 5,
        lambda: [("press", rng.choice((*string.printable[:94], *OTHERS)), wait)]: 6,
        lambda: [
            ("press", key := rng.choice(["enter", "escape", "q"]), rng.choice([0, 5])),
            ("press", key, wait),
        ]: 5,
        lambda: [("paste", rng.choice(TEXTS), wait)]: 4,
        lambda: [("press", key, 0) for key in rng.choice(["nan", "lesson", "0.25", "42", "tema"])]: 2,
        lambda: [("click", x, y, rng.choice([1, 1, 1, 2, 3]), wait)]: 10,
        lambda: [("wheel", x, y, rng.choice([-1, 1]), rng.random() < 0.3, wait)]: 3,
        lambda: [("drag", x, y, rng.random(), rng.random(), wait)]: 3,
        lambda: [("resize", rng.randint(20, 220), rng.randint(8, 60), wait)]: 4,
        lambda: [("resize", *rng.choice(SIZES), wait)]: 4,
        lambda: [("language", wait)]: 2,
        lambda: [("theme", wait)]: 1,
        lambda: [("press", "ctrl+p", wait)]: 3,
        lambda: [(rng.choice(HAPPENS), rng.choice([None, rng.choice(world.NAMES)]), wait)]: 3,
        lambda: [("reopen", wait)]: 1,
    }
    [chosen] = rng.choices(list(kinds), list(kinds.values()))
    return chosen()


class Play:
    """One episode, played in `folder`."""

    def __init__(self, episode: Episode, folder: Path):
        self.episode, self.folder = episode, folder
        self.left = list(episode.acts)
        self._stuck: BrokenError | None = None
        self._seen: dict[Keeping, PostMortem | Walk | None] = {}
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
                raise BrokenError(_said(error)) from error
            self._look_up()
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
            raise BrokenError(f"beside the app: {_said(error)}") from error

    # Acting

    async def _do(self, pilot: Pilot, act: Act) -> None:
        kind, *what, wait = act
        app: Any = pilot.app
        self._check_left(app)
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
                for event in _events(kind, what, app.size):
                    app._driver.process_message(event)
        await asyncio.sleep(wait / 1000)
        if wait >= QUICK:
            await self._check(pilot)

    async def _settle(self, pilot: Pilot) -> None:
        """Until every message is answered, the reading of a run among it."""
        clock, work = time.monotonic(), time.process_time()
        await self._answered(pilot)
        while pilot.app.files.busy and time.monotonic() - clock < ANSWER:
            await asyncio.sleep(FRAME / 5)
        await self._answered(pilot)
        self._check_left(pilot.app)
        if time.process_time() - work > 2 * ANSWER:
            raise BrokenError("no answer within two seconds")

    async def _answered(self, pilot: Pilot) -> None:
        names = [type(screen).__name__ for screen in pilot.app.screen_stack]
        try:
            await pilot._wait_for_screen(timeout=PATIENCE)
        except WaitForScreenTimeout:
            self._stuck = BrokenError(f"no answer at all, on {names}\n{_tasks()}")
            raise self._stuck from None

    async def _check(self, pilot: Pilot) -> None:
        """Check the promises. A screen that is being drawn is given a moment."""
        app: Any = pilot.app
        await self._settle(pilot)
        self._see(app)
        self._check_stray()
        until = time.monotonic() + PATIENCE / 10
        while found := list(broken(app)):
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

    # What was written

    def _see(self, app: TutorApp) -> None:
        """Take note of the screens that keep drafts, and of how they began."""
        for screen in app.screen_stack:
            if isinstance(screen, PostMortemScreen | WalkScreen) and _work(screen):
                self._seen.setdefault(screen, _work(screen))

    def _look_up(self) -> None:
        """What was written on each screen is in the notebook, unless a later one took its place."""
        last = {(type(screen), _key(screen)): screen for screen in self._seen}
        for screen in last.values():
            work = _work(screen)
            if work in (self._seen[screen], getattr(screen, "_lesson", None)):
                continue
            notebook, kind = _notebook(screen), type(screen).__name__
            draft = notebook.draft("walk" if isinstance(screen, WalkScreen) else KIND, _key(screen))
            if draft is None:
                raise BrokenError(f"what was written on {kind} isn't in the notebook")
            if isinstance(work, PostMortem):
                same = read_postmortem(draft).with_log_of(work) == work
            else:
                state = json.loads(json.dumps(to_state(work)))
                same = {name: draft.get(name) for name in state} == state
            if not same:
                raise BrokenError(f"the draft of {kind} isn't as it was left")
        self._seen.clear()


class _LeftError(Exception):
    """The app is left, or has failed."""


Keeping = PostMortemScreen | WalkScreen


def _work(screen: Keeping) -> PostMortem | Walk | None:
    return screen.pm if isinstance(screen, PostMortemScreen) else screen._walk


def _key(screen: Keeping) -> str:
    if isinstance(screen, PostMortemScreen):
        return screen._key
    walk = screen._walk
    return draft_key(walk.run.name, walk.tree.tree, walk.run.path) if walk else ""


def _notebook(screen: Keeping) -> Notebook:
    return screen.notebook if isinstance(screen, PostMortemScreen) else screen.keeper.notebook


def _events(kind: str, what: Sequence[Any], size: Size) -> Iterator[events.Event]:
    """What the terminal would send; places are shares of its size."""

    def place(x: float, y: float) -> tuple[int, int]:
        return min(int(x * size.width), size.width - 1), min(int(y * size.height), size.height - 1)

    def mouse(
        event: type[events.MouseEvent], x: int, y: int, *, button: int = 0, **how: bool
    ) -> events.Event:
        keys = {"shift": False, "meta": False, "ctrl": False} | how
        return event(None, x=x, y=y, delta_x=0, delta_y=0, button=button, screen_x=x, screen_y=y, **keys)

    match kind, *what:
        case "press", key:
            yield events.Key(*_key_event(key))
        case "paste", text:
            yield events.Paste(text)
        case "click", x, y, times:
            at = place(x, y)
            yield mouse(events.MouseMove, *at)
            for _ in range(times):
                yield mouse(events.MouseDown, *at, button=1)
                yield mouse(events.MouseUp, *at, button=1)
        case "wheel", x, y, way, shift:
            event = events.MouseScrollDown if way > 0 else events.MouseScrollUp
            yield mouse(event, *place(x, y), shift=shift)
        case "drag", x, y, to_x, to_y:
            yield mouse(events.MouseDown, *place(x, y), button=1)
            yield mouse(events.MouseMove, *place((x + to_x) / 2, (y + to_y) / 2), button=1)
            yield mouse(events.MouseMove, *place(to_x, to_y), button=1)
            yield mouse(events.MouseUp, *place(to_x, to_y), button=1)
        case _:
            raise ValueError(f"nobody can {kind}")


def _key_event(key: str) -> tuple[str, str | None]:
    """The key's name, and the character that it types, if any."""
    if len(key) == 1:
        return (key if key.isalnum() else _character_to_key(key)), key
    typed = {
        "space": " ",
        "enter": "\r",
        "tab": "\t",
        "plus": "+",
        "minus": "-",
        "comma": ",",
        "full_stop": ".",
    }
    return key, typed.get(key)


# Playing, and the shortest list of actions that shows what is broken


def play(found: Episode) -> BrokenError | None:
    """Play an episode in a folder of its own; what it broke, if anything."""
    with tempfile.TemporaryDirectory(prefix="monkey-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        named = {"TUTOR_LEARNERS": str(folder / "learners"), "TUTOR_LEARNER": "ana"}
        named["XDG_CACHE_HOME"] = str(Path(tempfile.gettempdir()) / "monkey-cache")
        with contextlib.chdir(folder), patch.dict(os.environ, named):
            played = Play(found, folder)
            try:
                asyncio.run(played.run())
            except BrokenError as error:
                error.done = len(found.acts) - len(played.left)
                return error
    return None


def shortest(found: Episode, shows: Callable[[Episode], bool], seconds: float) -> Episode:
    """The episode with every stretch of actions left out that isn't needed to show it (Zeller's ddmin)."""
    until, length = time.monotonic() + seconds, max(1, len(found.acts) // 2)
    while length and time.monotonic() < until:
        at, shorter = 0, False
        while at < len(found.acts) and time.monotonic() < until:
            without = replace(found, acts=found.acts[:at] + found.acts[at + length :])
            if shows(without):
                found, shorter = without, True
            else:
                at += length
        length = min(length, len(found.acts)) if shorter and length == 1 else length // 2
    return found


def sign(error: BrokenError) -> str:
    """What is broken, without the sizes and steps that differ from play to play."""
    return re.sub(r"\d+", "0", str(error).splitlines()[0])


def _tasks() -> str:
    """What every task waits for."""
    told = io.StringIO()
    for task in asyncio.all_tasks():
        task.print_stack(file=told, limit=4)
    return told.getvalue()


def _said(error: BaseException) -> str:
    """An exception's kind and the place in tutor that it passed last, then the whole of it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/tutor/" in frame.filename] or frames
    place = f"{'/'.join(Path(ours[-1].filename).parts[-2:])} in {ours[-1].name}" if ours else "?"
    whole = "".join(traceback.format_exception(error, chain=False))
    return f"{type(error).__name__} at {place}: {str(error)[:200]!r}\n{whole}"


def report(seed: int, error: BrokenError, seconds: float) -> str:
    """What to say of a seed that broke something."""

    def shows(one: Episode) -> bool:
        other = play(one)
        return other is not None and sign(other) == sign(error)

    found = episode(seed)
    found = shortest(replace(found, acts=found.acts[: error.done]), shows, seconds)
    acts = "".join(f"    {act!r},\n" for act in found.acts)
    how = (
        f"{found.lang}, {found.size}, run {found.subject!r}, first {found.first}, before {found.begun_before}"
    )
    return f"seed {seed}: {error}\n  {how}; the shortest way there:\n{acts}"


def main() -> int:
    """Play until the actions or the minutes are up; exit 1 where something was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.monkey", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**9))
    parser.add_argument("--actions", type=int, default=None)
    parser.add_argument("--minutes", type=float, default=None)
    parser.add_argument("--shrink", type=float, default=120, help="seconds to look for a shorter way")
    how = parser.parse_args()
    begun, seed, done, kinds = time.monotonic(), how.seed, 0, dict[str, int]()
    most = how.actions or (LENGTH if how.minutes is None else float("inf"))
    until = begun + 60 * how.minutes if how.minutes else float("inf")
    while done < most and time.monotonic() < until:
        found = episode(seed)
        if error := play(found):
            if sign(error) not in kinds:
                print(report(seed, error, how.shrink), flush=True)
            kinds[sign(error)] = kinds.get(sign(error), 0) + 1
        seed, done = seed + 1, done + len(found.acts)
    minutes = (time.monotonic() - begun) / 60
    print(
        f"seeds {how.seed} to {seed - 1}: {done} actions in {minutes:.1f} min, {len(kinds)} kinds of failure"
    )
    for kind, count in kinds.items():
        print(f"  {count} x {kind}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
