"""A log of ours: rows of JSON, whatever they hold, make a run or one clear line; and so when it grows."""

import json
from pathlib import Path

from hypothesis import strategies as st

from tests.fuzz.verdicts import judged
from tutor import readers
from tutor.run import BadRunError
from tutor.words import plain

COLUMNS = (
    "step",
    "loss",
    "val_loss",
    "grad_norm",
    "lr",
    "batch_hash",
    "rare_tokens",
    "skipped",
    "checkpoint",
)
SEEDS = [
    b"".join(
        b'{"step": %d, "loss": %f, "grad_norm": 1.5, "batch_hash": "a%d"}\n' % (i, 3 - i / 50, i)
        for i in range(60)
    ),
    b'{"step": 0, "loss": NaN, "rare_tokens": ["a"], "rare_counts": [2]}\n{"step": 1, "loss": "Infinity"}\n{',
]
WORDS = [
    *(f'"{name}":'.encode() for name in COLUMNS),
    *b'{"step": null true NaN -Infinity "NaN" "" 1e400 -1 0.5 9223372036854775808 {} [['.split(),
    *rb'"\ud800" \u0000 \u001b'.split(),
    *(b"}\n{", b"1" * 30, b"\xef\xbb\xbf", b"\r\n"),
]

NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, 2**63, -(2**63), -1, 0.5, 1e300])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | NUMBERS
    | st.text(max_size=8)
    | st.sampled_from(["NaN", "\ud800", "\x1b[31m"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
ROWS = st.fixed_dictionaries(
    {}, optional={"step": st.integers(0, 400) | VALUES, "loss": st.floats() | VALUES}
    | dict.fromkeys(COLUMNS[2:], VALUES)
    | {"": VALUES, "\ud800": VALUES},
)  # fmt: skip
LINES = (
    ROWS.map(lambda row: json.dumps(row).encode())
    | VALUES.map(lambda value: json.dumps(value).encode())
    | st.binary(max_size=20)
)
INPUTS = st.tuples(st.lists(LINES, max_size=12), st.binary(max_size=8)).map(
    lambda parts: b"\n".join(parts[0]) + parts[1] + b"\n"
)


def check(data: bytes, folder: Path) -> None:
    log = folder / "metrics.jsonl"
    log.write_bytes(data)
    try:
        run = readers.read(folder)
    except BadRunError as error:
        assert plain(str(error)) == str(error), str(error)
        return
    judged(run)
    if not data.endswith(b"\n"):
        return  # a last line without its end waits, since more of it may come
    half = data.rfind(b"\n", 0, len(data) // 2) + 1
    log.write_bytes(data[:half])
    try:
        before = readers.read(folder)
    except BadRunError:
        return
    log.write_bytes(data)
    grown = readers.read(folder, before)
    assert grown.steps.to_list() == run.steps.to_list()
