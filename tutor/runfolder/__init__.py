"""tutor's own run folder, without torch: its writer, its reader, and the tail of one that grows.

    manifest.json     what the run is meant to be, written first
    metrics.jsonl     one row a step, appended; each row whole. A run that is over may have it packed, as
                      metrics.jsonl.gz: `gzip -dc` shows it
    sentences.txt     the training sentences, by line; packed beside a packed log, as sentences.txt.gz
    command.txt       the command that began it
    truth.json        of a sealed run: the break and its faults, which its manifest keeps to itself
    checkpoints/      step-000200.pt holds the state before step 200
    ended.json        the last step, once a loop that somebody recorded has closed it
    replays/          what `tutor replay` found, a file each
    verification.json what `tutor verify` found, beside the run with the fix

Non-finite numbers are the strings "NaN", "Infinity" and "-Infinity" (as in proto3 JSON); bare NaN and
Infinity, as Python writes them, are understood too.
"""

from pathlib import Path

FORMAT = 1
MANIFEST, METRICS = "manifest.json", "metrics.jsonl"
SENTENCES, COMMAND, TRUTH = "sentences.txt", "command.txt", "truth.json"
REPLAYS, RECOVERY, VERIFICATION = "replays", "recovery.json", "verification.json"
ENDED = "ended.json"
PACKED = METRICS + ".gz"
PACKED_SENTENCES = SENTENCES + ".gz"
CHECKPOINTS = "checkpoints"


def log_in(folder: Path) -> Path:
    """The log of the run in `folder`, packed or not; where it would be when there is none."""
    plain, packed = folder / METRICS, folder / PACKED
    return packed if packed.is_file() and not plain.is_file() else plain


def is_run(folder: Path) -> bool:
    """Whether a manifest or a log of tutor's lies in it."""
    return any((folder / name).is_file() for name in (METRICS, PACKED, MANIFEST))
