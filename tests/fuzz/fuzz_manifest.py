"""A manifest beside a sound log."""

import json
from pathlib import Path

from hypothesis import strategies as st

from tests.fuzz.verdicts import judged
from tutor import readers
from tutor.run import BadRunError, Manifest
from tutor.words import plain

KEYS = ("format", *(field.alias or name for name, field in Manifest.model_fields.items()), "checkpoint_every")
SEEDS = [
    json.dumps(
        {
            "format": 1, "name": "r", "dtype": "fp32", "vocab_size": 512, "seed": 3,
            "settings": {"grad_clip": 1.0, "beta2": 0.95, "steps": 60, "checkpoint_every": 20},
            "batch": {"rows": 4, "tokens_per_row": 8, "accumulation": 1},
            "schedule": {"warmup_steps": 10, "schedule_steps": 60, "lr_max": 3e-4},
            "groups": [{"name": "decay", "weight_decay": 0.1}],
            "aggregations": {"loss": {"over": "running", "shows_nan": False}},
            "token_loss_edges": [0, 1, 2],
        }
    ).encode(),
    b"{}",
]  # fmt: skip
WORDS = [
    *(f'"{key}":'.encode() for key in KEYS),
    *b"null true NaN 1e400 -1 0 999999999999999999999999999999 [] {} [[[".split(),
    *rb'"instant" "window" "bf16" "fp16" "\u001b[31m" "\ud800"'.split(),
]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.just(10**30)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=8,
)
INPUTS = (
    st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), VALUES, max_size=6) | VALUES
).map(lambda value: json.dumps(value).encode())  # fmt: skip
ROWS = b"".join(
    b'{"step": %d, "loss": %f, "grad_norm": 1.5, "lr": 0.1, "loss_scale": 1024, "skipped": 0}\n'
    % (i, 3 - i / 50)
    for i in range(60)
)


def check(data: bytes, folder: Path) -> None:
    (folder / "metrics.jsonl").write_bytes(ROWS)
    (folder / "manifest.json").write_bytes(data)
    for source in readers.sources(folder):
        for lang in ("en", "es"):
            said = source.describe(lang)
            assert plain(said) == said
    try:
        run = readers.read(folder)
    except BadRunError as error:
        assert plain(str(error)) == str(error), str(error)
        return
    judged(run)
