"""The atlas: what a break does over many seeds, beside its control.

    python -m tutor.lab.atlas no-clip --seeds 20 --runs build/atlas --table no-clip.calibration.csv

trains a control and a break for each seed, one after another, and writes one row of figures a seed. Runs
that are whole are not trained again, so it can be stopped and started. `--healthy` trains plain runs.
"""

import argparse
import csv
import shutil
import statistics
from pathlib import Path

import polars as pl

from tutor.card import Card, find, resolve
from tutor.lab.loop import train
from tutor.lab.record import METRICS
from tutor.settings import Settings

WINDOW = 100  # steps before the trigger that say how the run was
AFTER = 50  # steps after it over which harm is measured
BACK = 5  # steps averaged to say that it is back


def measure(metrics: pl.DataFrame, settings: Settings) -> dict[str, float | int | None]:
    """How one run took the trigger.

    Returns:
        `spike`: largest gradient norm while the trigger lasts, in multiples of its mean before;
        `peak`: largest loss then; `worst` and `mean`: of the next 50 steps; `back`: the steps until a
        5-step mean is within mean + 0.5 std of the 100 steps before, None if it never is; `clipped`: the
        share of the steps clipped between warm-up and trigger.
    """
    start = settings.boilerplate_step or 0
    end = start + settings.boilerplate_batches
    loss, norm = metrics["loss"].to_list(), metrics["grad_norm"].to_list()
    before = loss[start - WINDOW : start]
    bound = statistics.fmean(before) + 0.5 * statistics.pstdev(before)
    means = (statistics.fmean(loss[i : i + BACK]) for i in range(end, len(loss) - BACK + 1))
    return {
        "spike": max(norm[start:end]) / statistics.fmean(norm[start - WINDOW : start]),
        "peak": max(loss[start:end]),
        "worst": max(loss[end : end + AFTER]),
        "mean": statistics.fmean(loss[end : end + AFTER]),
        "back": next((i for i, mean in enumerate(means) if mean <= bound), None),
        "clipped": statistics.fmean(metrics["clipped"].to_list()[settings.warmup_steps : start]),
    }


def compare(control: dict, broken: dict, seed: int) -> dict:
    """One row of the table."""
    row: dict = {"seed": seed, "excess": broken["mean"] - control["mean"]}
    row |= {f"control_{key}": value for key, value in control.items()}
    row |= {f"break_{key}": value for key, value in broken.items()}
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}


def shares(rows: list[dict]) -> dict[str, int]:
    """The counts that a card publishes (`tutor.card.Calibration`)."""
    backs = [row["break_back"] for row in rows]
    return {
        "seeds": len(rows),
        "control_back": sum(row["control_back"] is not None and row["control_back"] <= 10 for row in rows),
        "excess": sum(row["excess"] >= 0.2 for row in rows),
        "spike": sum(row["break_spike"] >= 30 for row in rows),
        "recovered": sum(back is not None and back <= AFTER for back in backs),
        "lingered": sum(back is not None and back > AFTER for back in backs),
        "diverged": sum(back is None for back in backs),
    }


def run_once(settings: Settings, out: Path, card: Card | None, role: str) -> pl.DataFrame:
    """The metrics of the run in `out`, trained now unless it is whole already."""
    path = out / METRICS
    if not path.exists() or sum(1 for _ in path.open()) < settings.steps:
        shutil.rmtree(out, ignore_errors=True)
        done = train(settings, out=out, name=out.name, break_name=card and card.name, role=role)
        if done < settings.steps:
            raise SystemExit("stopped; the same command goes on from here")
    return pl.read_ndjson(path, infer_schema_length=None)


def main(words: list[str] | None = None) -> None:
    """Train what is missing, write the table, print the counts."""
    parser = argparse.ArgumentParser(prog="python -m tutor.lab.atlas", description="A break over many seeds.")
    parser.add_argument("card", nargs="?", help="a break's name or file")
    parser.add_argument("--healthy", action="store_true", help="train plain runs in place of a break")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=450)
    parser.add_argument("--runs", type=Path, required=True, help="where the runs are kept")
    parser.add_argument("--table", type=Path, help="the table to write")
    asked = parser.parse_args(words)
    if not asked.card and not asked.healthy:
        parser.error("name a break, or ask for --healthy")
    rows = []
    for seed in range(asked.seeds):
        changes = {"seed": seed, "steps": asked.steps, "checkpoint_every": None}
        changes |= {"device": "cpu", "threads": 1}  # several atlases at once fill the cores better
        if asked.healthy:
            settings, role = resolve(None, changes=changes)
            run_once(settings, asked.runs / str(seed), None, role)
            continue
        card, taken = find(asked.card), []
        for control in (True, False):
            settings, role = resolve(card, control=control, changes=changes)
            out = asked.runs / str(seed) / role
            taken.append(measure(run_once(settings, out, card, role), settings))
        rows.append(compare(*taken, seed))
        print(rows[-1], flush=True)
    if rows:
        print(shares(rows))
    if rows and asked.table:
        asked.table.parent.mkdir(parents=True, exist_ok=True)
        with asked.table.open("w", newline="") as file:
            table = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
