"""Logs of other tools: the first byte says under which name a file is written, the rest what it holds.

From 128 on, the file is packed: so what is spoilt is also what was packed, and not only the packing.
"""

import gzip
import json
from pathlib import Path

from hypothesis import strategies as st

from tests.fuzz.verdicts import judged
from tests.readers.texts import ALIGNED, BOOSTED, DOCUMENTS, FOLDS, LONG, PRINTED, TABLE, TEXTS, UNNAMED
from tutor import readers
from tutor.run import BadRunError
from tutor.words import plain

NAMES = (
    "log.txt",
    "trainer_state.json",
    "metrics.csv",
    "a.jsonl",
    "events.out.tfevents.1.h.1.0",
    "run-a.wandb",
    "runs.db",
    "loss_history.json",
    "train.ipynb",
    "page.html",
)
FIXTURES = Path(__file__).parents[1] / "readers" / "fixtures"
TABLES = ("keras-training", "lightning-metrics", "sb3-progress", "ultralytics-results")
PACKED = 128
STATE = b'{"log_history": [{"step": 1, "loss": 2.0, "grad_norm": NaN}, {"step": 1, "eval_loss": 2.5}]}'

INDENTED = [(b"\x01", STATE), *((b"\x07", text) for text in DOCUMENTS.values())]

SEEDS = [
    *(b"\x00" + text.encode() for text in TEXTS.values()),
    *(b"\x00" + text.encode() for text, _ in PRINTED.values()),
    *(b"\x00" + text.encode() for text in (TABLE, *ALIGNED.values(), *BOOSTED.values(), *UNNAMED.values())),
    *(b"\x02" + text.encode() for text in (LONG, "epoch;loss\n0\n0;4.5;5.5\n1;4;5;\n")),
    b"\x01" + STATE,
    b"\x02epoch,step,train_loss_step,val_loss\n0,49,2.5,\n0,49,,2.75\n",
    b'\x03{"current_steps": 10, "loss": 2.0, "lr": 0.1}\n',
    b"\x04" + (FIXTURES / "events.out.tfevents.1700000000.host.1.0").read_bytes(),
    b"\x05" + (FIXTURES / "run-offline.wandb").read_bytes(),
    *(b"\x06" + (FIXTURES / name).read_bytes() for name in ("mlflow.db", "trackio.db")),
    *(b"\x02" + (FIXTURES / f"{name}.csv").read_bytes() for name in TABLES),
    b"\x02Step,a - loss,a - loss__MIN,b - loss,b - loss__MIN\n1,2,2,,\n2,,,3,3\n",
    b"\x03" + (FIXTURES / "keras-history.json").read_bytes(),
    *(b"\x07" + text.encode() for text in (*DOCUMENTS.values(), FOLDS)),
    b"\x08" + (FIXTURES / "two-runs.ipynb").read_bytes(),
    b"\x09<table><tr><th>step<th>loss<tr><td>1<td>2.0<tr><td>2<td>nan</table>",
    *(kind + json.dumps(json.loads(text), indent=4).encode() for kind, text in INDENTED),
]
SEEDS += [
    *(bytes([PACKED + seed[0]]) + seed[1:] for seed in SEEDS),
    *(seed[:1] + gzip.compress(seed[1:], mtime=0) for seed in SEEDS[::3]),
    *(b"\x00" + text.encode("utf-16") for text in TEXTS.values()),
]
WORDS = [
    *b"iter step: loss nan inf trl: train_loss: num_updates log_history eval_loss __MIN :W&B".split(),
    *(
        b"\n",
        b"\r",
        b"{'loss': ",
        b" | ",
        b"\x1b[31m",
        b"Epoch 1/2\n",
        b"[1][2/9] ",
        b"\x80" * 9,
        b"\xff" * 8,
    ),
]
INPUTS = st.tuples(
    st.integers(0, len(NAMES) - 1).flatmap(lambda name: st.sampled_from([name, PACKED + name])),
    st.sampled_from([seed[1:] for seed in SEEDS]),
    st.binary(max_size=30),
).map(lambda parts: bytes([parts[0]]) + parts[1] + parts[2])


def check(data: bytes, folder: Path) -> None:
    kind, held = data[0] if data else 0, data[1:]
    path = folder / NAMES[kind % PACKED % len(NAMES)]
    path.write_bytes(gzip.compress(held, mtime=0) if kind >= PACKED else held)
    try:
        runs = [readers.read_source(source) for source in readers.every(str(path))]
    except BadRunError as error:
        assert plain(str(error)) == str(error), str(error)
        return
    finally:
        path.unlink()
    for run in runs:
        judged(run)
