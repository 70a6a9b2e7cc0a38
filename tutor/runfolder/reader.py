"""A run folder read: its manifest, its log, its sentences and checkpoints.

Given the run as it was read before, only what the log has grown by is read.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from tutor import packed, plainfile
from tutor.run import Aggregation, BadRunError, Checkpoint, Manifest, Remark, Run, called, limits, names
from tutor.run.apart import says_sets, told_apart
from tutor.run.normalise import hidden, normalise, revealed
from tutor.run.replay import Replay
from tutor.runfolder import CHECKPOINTS, METRICS, PACKED_SENTENCES, REPLAYS, SENTENCES, log_in
from tutor.runfolder.log import NULL, read_rows, with_nan
from tutor.runfolder.manifest import read_manifest
from tutor.runfolder.rows import parse_rows
from tutor.runfolder.tail import Position, tail
from tutor.words import plain

AGGREGATIONS = {"loss_ema": Aggregation("running", shows_nan=False)}
"""What isn't the value of its step: the trainer leaves NaN and Inf out of its average."""

_MUTE = ("no_loss", "loss_unlogged", "scores_alone")
_PASSING = ("torn_line", *_MUTE)  # remarks that hold until the log has grown


def read_run(folder: Path, since: Run | None = None, log: str = METRICS) -> Run:
    """The run in `folder`.

    Args:
        folder: where it lies.
        since: the same run as it was read before.
        log: the log's name in the folder.

    Raises:
        BadRunError: there is no log, or none that can be read.
        OSError: a file can't be opened.
    """
    path = log_in(folder) if log == METRICS else folder / log
    if since and (grown := _grown(path, since)):
        return grown
    manifest, remarks = read_manifest(folder)
    if not path.is_file():
        raise BadRunError(f"{path} is missing: the run was never logged; train it again")
    file = path.stat().st_ino
    rows, size = read_rows(path, remarks)
    rows = told_apart(with_nan(rows, path, remarks), remarks)
    said = called.checked(path, rows.columns)
    frame, more = normalise(rows, names.mapping(rows.columns, path), path)
    sentences = _sentences(folder, remarks)
    frame, told, nan = revealed(frame, _told(manifest))
    if manifest.source:
        remarks.append(Remark("source", {"source": plain(manifest.source)}))
    return Run(
        path=folder if log == METRICS else path,
        name=str(manifest.name or (folder if log == METRICS else path).resolve().name),
        manifest=manifest,
        frame=frame,
        checkpoints=_checkpoints(folder, frame, manifest),
        sentences=sentences,
        replays=_replays(folder),
        remarks=(*said, *remarks, *more, *hidden(told), *nan),
        aggregations={**AGGREGATIONS, **told},
        position=Position(file, size),
    )


def _told(manifest: Manifest) -> dict[str, Aggregation]:
    """What the manifest declares of the signals."""
    return {name: Aggregation(one.over, one.shows_nan) for name, one in manifest.aggregations.items()}


def _grown(path: Path, since: Run) -> Run | None:
    """The run with the rows that its log has grown by; None where it must be read as a whole."""
    # Where rows were counted for want of steps, steps that come now tell of those rows too.
    counted = any(one.key == "no_steps" for one in since.remarks)
    if counted or not isinstance(since.position, Position) or not path.is_file():
        return None
    new = tail(path, since.position)
    last = new.data[new.data.rstrip().rfind(b"\n") + 1 :]
    if new.anew or NULL.search(last):  # which all the rows together may show to be a NaN
        return None
    checkpoints = _checkpoints(path.parent, since.frame, since.manifest)
    if not new.data.strip():
        return since if checkpoints == since.checkpoints else replace(since, checkpoints=checkpoints)
    remarks: list[Remark] = []
    try:
        rows = parse_rows(new.data, path, remarks)
        anew = says_sets(rows)  # a few rows may be of one set alone: all together tell them apart
        rows, more = normalise(rows, names.mapping(rows.columns, path), path)
    except BadRunError:
        return None
    # Rows that go back or repeat concern those before them.
    anew |= int(rows["step"][0]) <= int(since.steps[-1])
    if anew or remarks or _hides_nan(rows, since) or any(one.key not in _MUTE for one in more):
        return None
    frame = pl.concat([since.frame, rows], how="diagonal")
    mute = "loss" not in frame.columns or frame["loss"].null_count() == frame.height
    kept = [one for one in since.remarks if one.key not in _PASSING]
    return replace(
        since,
        frame=frame,
        checkpoints=_checkpoints(path.parent, frame, since.manifest),
        remarks=(*kept, *(more if mute else ())),
        position=new.position,
    )


def _hides_nan(rows: pl.DataFrame, since: Run) -> bool:
    """Whether a row has a loss of 0, of a trainer that writes that for NaN: only all rows together tell."""
    told = _told(since.manifest).get("loss")
    hides = told is not None and not told.shows_nan and "loss" in rows.columns
    return hides and bool((rows["loss"] == 0).any())


def _checkpoints(folder: Path, frame: pl.DataFrame, manifest: Manifest) -> tuple[Checkpoint, ...] | None:
    """Those on disk and those the log says were saved, ascending; None where neither can say.

    `step-000200` is the state before step 200. One that was being written when the run was killed is none.
    """
    logged = frame["checkpoint"].drop_nulls().to_list() if "checkpoint" in frame.columns else []
    configured = "checkpoint_every" in manifest.settings
    if not (logged or configured or (folder / CHECKPOINTS).is_dir()):
        return None
    files = [path for path in (folder / CHECKPOINTS).glob("step-*") if path.suffix != ".part"]
    found: dict[int, Path | None] = dict.fromkeys(_steps(logged))
    found |= {step: path for path in files for step in _steps([path.stem])}
    return tuple(Checkpoint(step, found[step]) for step in sorted(found))


def _steps(names: Iterable[str]) -> list[int]:
    numbers = (found[0] for name in names if (found := re.search(r"[0-9]+", name)))
    return [int(number) for number in numbers if len(number) <= limits.CHECKPOINT_DIGITS]


def _replays(folder: Path) -> tuple[Replay, ...]:
    """What `tutor replay` has kept; a file that isn't of its making is passed over."""
    found = []
    for path in sorted((folder / REPLAYS).glob("*.json"))[: limits.REPLAYS]:
        with suppress(OSError, ValidationError):
            found.append(Replay.model_validate_json(plainfile.read(path, limits.MANIFEST)))
    return tuple(found)


def _sentences(folder: Path, remarks: list[Remark]) -> tuple[str, ...]:
    plainly, wrapped = folder / SENTENCES, folder / PACKED_SENTENCES
    try:
        if wrapped.is_file() and not plainly.exists():
            data, _ = packed.read(wrapped, limits.SENTENCES)
        else:
            data = plainfile.read(plainly, limits.SENTENCES)
    except FileNotFoundError:
        return ()
    except OSError as error:
        remarks.append(Remark("sentences", {"why": error.strerror}))
        return ()
    return tuple(data.decode(errors="replace").splitlines())
