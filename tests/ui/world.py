"""What the monkey plays in: a working folder with every kind of run, and a notebook with work in it."""

import json
import math
import os
import shutil
import tempfile
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tests.conftest import ROOT, write_run
from tests.test_postmortem import filled
from tests.ui.conftest import leave_at_the_leaf, phase_19, recorded, to_the_leaf
from tutor.begun import begun
from tutor.notebook import Notebook, draft_key
from tutor.postmortem import to_markdown, to_state
from tutor.ui.formkeeper import KIND

MARKED = "odd[red]zzq"
SWALLOWED = "oddzzq"
"""What would stand on the screen in place of `MARKED` if markup from outside were obeyed."""

HOSTILE = {
    "markup": MARKED,
    "escape": "odd\x1b[31m\x07",
    "closing": "odd[",
    "click": "[@click=app.quit]odd [bold",
    "right-to-left": "\u202eשלום \u0627\u0644",
    "combining": "e" + "\u0301" * 60,
    "long": "n" * 250,
    "lines": "one\ntwo\r\n",
    "bytes": os.fsdecode(b"odd-\xff\xfe"),
    "wide": "損失が跳ねる" * 6,
}
"""Names of runs that a terminal, or whatever draws markup, would stumble over."""


def rows(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """A log of training that spikes in the middle."""
    rng = Random(seed)
    found = [
        {
            "step": t,
            "loss": 3.0 / (1 + t / 50) + 0.05 * rng.random(),
            "grad_norm": 1 + rng.random(),
            "lr": 1e-3,
        }
        for t in range(count)
    ]
    for row in found[count // 2 : count // 2 + 3]:
        row |= {"loss": 9.0, "grad_norm": 80.0}
    return found


def _odd_rows() -> list[dict[str, Any]]:
    """Strings that a log may hold, in every column that holds strings."""
    return [
        row | {"batch_hash": "[red]zzq", "rare_tokens": [MARKED, "\x1b[2J"], "rare_counts": [400, 1]}
        for row in rows(120)
    ]


def _runs() -> dict[str, tuple[list[dict[str, Any]], Mapping[str, Any] | None]]:
    nan = [row | ({"loss": math.nan} if row["step"] > 60 else {}) for row in rows(120)]
    sparse = [row if row["step"] % 10 == 0 else {"step": row["step"], "lr": 1e-3} for row in rows(300)]
    return {
        "short": (rows(3), {}),
        "one-row": (rows(1), {}),
        "no-rows": ([], {}),
        "nan": (nan, {"settings": {"seed": 1}}),
        "bare": (rows(200), None),
        "sparse": (sparse, {}),
        "long": (rows(5000), {"settings": {"seed": 2, "grad_clip": 1.0}}),
        "odd-inside": (_odd_rows(), {"dtype": MARKED, "settings": {"dtype": "\x1b[31m", "seed": MARKED}}),
    } | {name: (rows(60), {}) for name in HOSTILE.values()}


@cache
def _template() -> tempfile.TemporaryDirectory[str]:
    """The runs, written once for the process, and removed with it."""
    kept = tempfile.TemporaryDirectory(prefix="monkey-runs-")
    folder = Path(kept.name)
    for name, (log, manifest) in _runs().items():
        write_run(folder / name, log, manifest)
    shutil.copytree(ROOT / "runs" / "19-break", folder / "ours")
    return kept


NAMES = (*_runs(), "ours")
"""The runs that lie in the folder, where they may grow, be cut or vanish."""


def build(folder: Path, *, begun_before: bool) -> None:
    """Fill `folder` with runs; with `begun_before`, ana's notebook with a walk at its leaf, a post-mortem
    that is whole but for saving, and lessons.
    """
    shutil.copytree(_template().name, folder / "runs", symlinks=True)
    if not begun_before:
        return
    run, tree, notebook = recorded("19-break"), phase_19(), Notebook("ana")
    leave_at_the_leaf(run, tree)
    pm = filled(begun(to_the_leaf(run, tree), "en"))
    key = draft_key(pm.about.run, pm.about.tree, pm.about.folder)
    notebook.save_draft(KIND, key, to_state(pm))
    for line in ("Clip first.", MARKED, "\x1b[31m [/oops] " + "long " * 80):
        other = begun(to_the_leaf(run, tree), "en")
        notebook.append_lesson(to_markdown(filled(other).but(lesson=line), "en", datetime(2026, 1, 2)))


def happen(what: str, run: Path) -> None:
    """What may befall the folder of a run while it is open: nothing where it isn't there."""
    log, aside = run / "metrics.jsonl", run.with_name(f".{run.name[:100]}-aside")
    if what == "back" and aside.exists() and not run.exists():
        aside.rename(run)
    if not log.exists():
        return
    match what:
        case "vanish":
            shutil.rmtree(aside, ignore_errors=True)
            run.rename(aside)
        case "cut":
            os.truncate(log, log.stat().st_size // 3)
        case "rewrite":
            log.write_text("".join(json.dumps(row) + "\n" for row in rows(40, seed=9)))
        case "grow":
            last = log.read_bytes().count(b"\n")
            with log.open("a") as file:
                file.writelines(json.dumps(row | {"step": last + row["step"]}) + "\n" for row in rows(30))
                file.write('{"step": ')  # a row that is being written
