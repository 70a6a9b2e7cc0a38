"""tutor's own run folder, without torch: its writer, its reader, and the tail of one that grows.

    manifest.json     what the run is meant to be, written first
    metrics.jsonl     one row a step, appended; each row whole
    sentences.txt     the training sentences, by line
    command.txt       the command that began it
    truth.json        what was broken, where the manifest is sealed
    checkpoints/      step-000200.pt holds the state before step 200

Non-finite numbers are the strings "NaN", "Infinity" and "-Infinity" (as in proto3 JSON); bare NaN and
Infinity, as Python writes them, are understood too.
"""

FORMAT = 1
MANIFEST, METRICS = "manifest.json", "metrics.jsonl"
SENTENCES, COMMAND, TRUTH = "sentences.txt", "command.txt", "truth.json"
CHECKPOINTS = "checkpoints"
