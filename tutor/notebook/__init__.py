"""Notebook: what a learner keeps, in learners/<name>/: lessons, drafts and predictions.

lessons.md holds every post-mortem, oldest first; it is the learner's to read and to edit, and tutor/lesson.py
knows what an entry looks like. Every write goes under one lock and, but for predictions.jsonl that only
grows, through a temporary file that replaces the old one: a save that is cut short leaves the old file whole.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from tutor import paths, plainfile
from tutor.learner import learner_name
from tutor.lesson import Lesson, marked, parse
from tutor.notebook.files import NotebookError, locked, read, refused, replace, rescue, unreadable

__all__ = [
    "Draft",
    "Lesson",
    "Notebook",
    "NotebookError",
    "draft_key",
    "rescue",
]

LONGEST_NAME = 200  # bytes of what a draft's file is called, but for its endings

T = TypeVar("T")


def draft_key(run: str, tree: str, folder: str | Path) -> str:
    """The key of the draft of `tree` over `run`: two runs of one name in two folders keep apart."""
    where = hashlib.sha256(os.fsencode(Path(folder).resolve())).hexdigest()[:8]
    return f"{run}-{tree}-{where}"


@dataclass(frozen=True)
class Draft:
    """Work that was left, or a walk at its leaf: `kind` is "walk", "finished" or "postmortem".

    `saved` is an ISO time with offset.
    """

    kind: str
    key: str
    saved: str
    data: dict[str, Any]


class Notebook:
    """The notebook of one learner. Making one touches no file; reading passes over what is torn.

    Attributes:
        learner: the name, tidied.
        folder: learners/<name>.
    """

    def __init__(self, learner: str, home: Path | None = None) -> None:
        self.learner = learner_name(learner)
        self.folder = (home or paths.learners()) / self.learner

    @property
    def lessons_path(self) -> Path:
        """Where the lessons are."""
        return self.folder / "lessons.md"

    @property
    def new(self) -> bool:
        """Whether nothing that was learned is kept in it yet."""
        kept = ("drafts", "predictions.jsonl", self.lessons_path.name)
        return not any((self.folder / name).exists() for name in kept)

    # Lessons

    def append_lesson(self, markdown: str) -> Path:
        """Add one lesson at the end of lessons.md; one whose id stands there already is not added again.

        Args:
            markdown: the entry, from its marker or its `## ` heading on.

        Raises:
            NotebookError: the file can't be written; it is as it was before.
        """
        id, text = marked(markdown)
        new = text.encode("utf-8", "replace")
        with locked(self.folder):
            path = self.lessons_path
            old = read(path)
            if any(lesson.id == id for lesson in parse(old.decode("utf-8", "replace"))):
                return path
            # Bytes, so that whatever a hand has put there stays as it is.
            gap = b"" if not old else b"\n" if old.endswith(b"\n") else b"\n\n"
            replace(path, old + gap + new)
        return path

    def amend(self, lesson: Lesson, body: str) -> None:
        """Put `body` in place of what stands in lessons.md under that lesson; all else stays as it is.

        Raises:
            NotebookError: the file can't be written, or the lesson isn't in it any more.
        """
        with locked(self.folder):
            path = self.lessons_path
            before, found, after = read(path).rpartition(lesson.body.encode("utf-8", "replace"))
            if not found:
                raise NotebookError("gone", path=str(path), lesson=lesson.lesson)
            replace(path, before + body.strip().encode("utf-8", "replace") + after)

    def lessons(self) -> list[Lesson]:
        """Every lesson, oldest first; none where the file is missing.

        Raises:
            NotebookError: there is a file that can't be read.
        """
        try:
            return parse(read(self.lessons_path).decode("utf-8", "replace"))
        except OSError as error:
            raise unreadable(self.lessons_path, error) from None

    # Drafts

    def save_draft(self, kind: str, key: str, data: Mapping[str, Any]) -> Path:
        """Keep `data` (plain values) as the draft of `kind` under `key`, in place of an earlier one.

        Raises:
            NotebookError: it can't be written.
        """
        path = self._draft_path(kind, key)
        saved = datetime.now().astimezone().isoformat(timespec="seconds")
        text = json.dumps(
            {"kind": kind, "key": key, "saved": saved, "data": data}, ensure_ascii=True, default=str
        )
        with locked(self.folder):
            path.parent.mkdir(exist_ok=True)
            replace(path, text.encode())
        return path

    def draft(self, kind: str, key: str) -> dict[str, Any] | None:
        """The draft of `kind` under `key`, or None where there is none that can be read."""
        found = _read_draft(self._draft_path(kind, key))
        return found.data if found and (found.kind, found.key) == (kind, key) else None

    def resume(self, kind: str, key: str, parse: Callable[[Mapping[str, Any]], T]) -> T | None:
        """What `parse` makes of the draft of `kind` under `key`; None where there is none.

        A draft that can't be read, or that `parse` refuses with a ValueError, is set aside.

        Raises:
            NotebookError: it can't be set aside.
        """
        state = self.draft(kind, key)
        if state is not None:
            with suppress(ValueError):
                return parse(state)
        self.set_aside(kind, key)
        return None

    def drafts(self) -> list[Draft]:
        """Every draft that can be read, the latest first."""
        found = [_read_draft(path) for path in (self.folder / "drafts").glob("*.json")]
        return sorted((draft for draft in found if draft), key=lambda draft: draft.saved, reverse=True)

    def set_aside(self, kind: str, key: str) -> Path | None:
        """Rename a draft that can't be read, so that the next one doesn't overwrite it.

        Returns:
            Its new path; None where there is no draft.

        Raises:
            NotebookError: it can't be renamed.
        """
        path = self._draft_path(kind, key)
        if not path.exists():
            return None
        aside, number = path.with_suffix(".broken"), 1
        while aside.exists():
            number += 1
            aside = path.with_suffix(f".broken-{number}")
        try:
            return path.rename(aside)
        except OSError as error:
            raise refused(path, error) from None

    def drop_draft(self, kind: str, key: str) -> None:
        """Remove a draft; that there is none is fine.

        Raises:
            NotebookError: it can't be removed.
        """
        path = self._draft_path(kind, key)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise refused(path, error) from None

    def _draft_path(self, kind: str, key: str) -> Path:
        name = re.sub(r"[^\w-]+", "_", key)[:80]
        while len(name.encode()) > LONGEST_NAME:  # a folder's entry has at most 255 bytes, endings included
            name = name[:-1]
        if name != key:  # two keys that look alike once tidied keep apart
            name += "-" + hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:8]
        return self.folder / "drafts" / f"{name}.{kind}.json"

    # Predictions

    def record_prediction(
        self,
        *,
        run: str,
        tree: str,
        question: str,
        predicted: str,
        found: str,
        confidence: int,
        hints: int = 0,
        attempt: str = "",
        seen_before: bool = False,
        close: bool = False,
    ) -> None:
        """Add one prediction, with what the log said then, to predictions.jsonl.

        Args:
            run: the run's name; `tree` the tree's, `question` the question's id in it.
            predicted: the outcome that the learner chose; `found` the one to choose by what the log says.
            confidence: from 1 to 5.
            hints: how many the learner had read.
            attempt: id of the walk in which it was made; "" where it isn't known.
            seen_before: whether the log had answered this question already when the prediction was made: such
                a prediction says nothing of what the learner knew.
            close: whether the log decided by a hair: then nobody was wrong.

        Raises:
            NotebookError: it can't be written.
        """
        entry: dict[str, Any] = {"when": datetime.now().astimezone().isoformat(timespec="seconds")}
        entry |= {"run": run, "tree": tree, "question": question, "predicted": predicted, "found": found}
        entry |= {"confidence": confidence, "hints": hints, "attempt": attempt, "seen_before": seen_before}
        entry["close"] = close
        path = self.folder / "predictions.jsonl"
        with locked(self.folder):
            plainfile.append_line(path, json.dumps(entry).encode())

    def predictions(self) -> list[dict[str, Any]]:
        """Every prediction that can be read, oldest first, each as `record_prediction` was given it.

        Those kept by an older tutor have no `attempt`, `seen_before` or `close`.
        """
        try:
            lines = read(self.folder / "predictions.jsonl").split(b"\n")
        except OSError:
            return []
        return [entry for line in lines if isinstance(entry := _json(line), dict)]


def _json(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _read_draft(path: Path) -> Draft | None:
    try:
        raw = _json(read(path))
        draft = Draft(raw["kind"], raw["key"], str(raw["saved"]), raw["data"])
    except (OSError, TypeError, KeyError):
        return None
    return draft if isinstance(draft.data, dict) else None
