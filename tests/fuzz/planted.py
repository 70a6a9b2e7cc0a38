"""A target that fails as $PLANTED says on an input with an `x` in it, for tests of the driver itself."""

import os
import signal
from pathlib import Path

from hypothesis import strategies as st

SEEDS = [b"fine"]
WORDS = [b"x"]
INPUTS = st.text(alphabet="abcx", max_size=20).map(str.encode)


def check(data: bytes, folder: Path) -> None:
    if b"x" in data:
        match os.environ["PLANTED"]:
            case "raise":
                raise RuntimeError("planted")
            case "memory":
                bytearray(1 << 34)
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "hang":
                while True:
                    pass
