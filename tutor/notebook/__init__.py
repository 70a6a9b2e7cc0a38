"""Notebook: what a learner keeps, in learners/<name>/: lessons, drafts and predictions.

lessons.md holds every post-mortem, oldest first; it is the learner's to read and to edit. A lesson begins
at a line `## <the lesson>`; the line before may carry its id, the line after its date, run and path:

    <!-- lesson 3fa85f64 -->
    ## Clip the gradient before you trust the loss

    2026-11-20 14:03 · 19-break · phase-19: 1.1 no → 2.1 yes → recoverable

Every write goes under one lock and, but for predictions.jsonl that only grows, through a temporary file
that replaces the old one: a save that is cut short leaves the old file whole.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tutor import paths
from tutor.learner import learner_name
from tutor.notebook.files import NotebookError, locked, read, refused, replace, rescue, unreadable

__all__ = [
    "Draft",
    "Lesson",
    "Notebook",
    "NotebookError",
    "draft_key",
    "parse",
    "rescue",
]

_MARKER = re.compile(r"^<!-- lesson ([0-9a-f]{8,64}) -->\s*$")
_HEADING = re.compile(r"^##[ \t]+(\S.*)$")
_META = re.compile(r"^(\d{4}-\d\d-\d\d(?: \d\d:\d\d)?) · (.*?) · (.*)$")


def draft_key(run: str, tree: str, folder: str | Path) -> str:
    """The key of the draft of `tree` over `run`: two runs of one name in two folders keep apart."""
    where = hashlib.sha256(os.fsencode(Path(folder).resolve())).hexdigest()[:8]
    return f"{run}-{tree}-{where}"


@dataclass(frozen=True)
class Lesson:
    """One entry of lessons.md.

    Attributes:
        lesson: the line that heads it.
        date: "2026-11-20 14:03", or "" in an entry written by hand.
        run: the run's name, or "".
        path: tree and answers, or "".
        body: the entry's Markdown, whole, its heading included.
        id: as its marker has it, or "".
    """

    lesson: str
    date: str
    run: str
    path: str
    body: str
    id: str = ""


@dataclass(frozen=True)
class Draft:
    """Work that was left. `kind` is "walk" or "postmortem"; `saved` is an ISO time with offset."""

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

    def __init__(self, learner: str, home: Path | None = None):
        self.learner = learner_name(learner)
        self.folder = (home or paths.learners()) / self.learner

    @property
    def lessons_path(self) -> Path:
        """Where the lessons are."""
        return self.folder / "lessons.md"

    # Lessons

    def append_lesson(self, markdown: str) -> Path:
        """Add one lesson at the end of lessons.md; one whose id stands there already is not added again.

        Args:
            markdown: the entry, from its marker or its `## ` heading on.

        Raises:
            NotebookError: the file can't be written; it is as it was before.
        """
        text = markdown.strip() + "\n"
        if not (marker := _MARKER.match(text.partition("\n")[0])):
            digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
            text = f"<!-- lesson {digest} -->\n{text}"
        id = marker.group(1) if marker else digest
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
    ) -> None:
        """Add one prediction, with what the log said then, to predictions.jsonl.

        Raises:
            NotebookError: it can't be written.
        """
        when = datetime.now().astimezone().isoformat(timespec="seconds")
        entry = {"when": when, "run": run, "tree": tree, "question": question, "predicted": predicted}
        entry |= {"found": found, "confidence": confidence, "hints": hints}
        path = self.folder / "predictions.jsonl"
        with locked(self.folder), path.open("ab+") as file:
            if size := file.seek(0, os.SEEK_END):
                file.seek(size - 1)
            torn = size and file.read(1) != b"\n"
            file.write((b"\n" if torn else b"") + json.dumps(entry).encode() + b"\n")

    def predictions(self) -> list[dict[str, Any]]:
        """Every prediction that can be read, oldest first."""
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
        raw = _json(path.read_bytes())
        draft = Draft(raw["kind"], raw["key"], str(raw["saved"]), raw["data"])
    except (OSError, TypeError, KeyError):
        return None
    return draft if isinstance(draft.data, dict) else None


def parse(text: str) -> list[Lesson]:
    """The lessons in the text of a lessons.md, whatever a hand has done to it."""
    entries: list[tuple[str, list[str]]] = []
    marker = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        if found := _MARKER.match(line):
            marker = found.group(1)
        elif _HEADING.match(line):
            entries.append((marker, [line]))
            marker = ""
        elif entries:
            entries[-1][1].append(line)
    return [_lesson(id, lines) for id, lines in entries]


def _lesson(id: str, lines: list[str]) -> Lesson:
    second = next((line for line in lines[1:] if line.strip()), "")
    date, run, path = found.groups() if (found := _META.match(second)) else ("", "", "")
    lesson = _HEADING.match(lines[0]).group(1).strip()
    return Lesson(lesson, date, run, path.strip(), "\n".join(lines).strip(), id)
