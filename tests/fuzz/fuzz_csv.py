"""A log in CSV."""

from pathlib import Path

from hypothesis import strategies as st

from tests.fuzz.verdicts import judged
from tutor import readers
from tutor.run import BadRunError
from tutor.words import plain

SEEDS = [
    b"step,loss,lr\n" + b"".join(b"%d,%f,0.1\n" % (i, 3 - i / 50) for i in range(60)),
    b'\xef\xbb\xbfepoch,train_loss\r\n0,nan\r\n,2.5\r\n1,"1.0"\r\n',
]
WORDS = [
    *b'step loss epoch train_loss global_step ,, "" " nan inf - 1e400 99999999999999999999'.split(),
    *(b"\n", b"\r\n", b"\x00", b"\xff\xfe"),
]
CELLS = st.sampled_from(["", "nan", "1", "0.5", "-3", "9" * 30, '"', '"a\nb"', "\x1b[2J"]) | st.text(
    max_size=5
)
HEADERS = st.lists(
    st.sampled_from(["step", "loss", "epoch", "train_loss", "loss ", "", "lr", "a"]), max_size=5
)
INPUTS = st.tuples(HEADERS, st.lists(st.lists(CELLS, max_size=5), max_size=12)).map(
    lambda parts: "\n".join(",".join(row) for row in (parts[0], *parts[1])).encode("utf-8", "replace")
)


def check(data: bytes, folder: Path) -> None:
    path = folder / "a.csv"
    path.write_bytes(data)
    try:
        run = readers.read(path)
    except BadRunError as error:
        assert plain(str(error)) == str(error), str(error)
        return
    judged(run)
