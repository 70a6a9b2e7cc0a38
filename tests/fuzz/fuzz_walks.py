"""Logs of any course, made by a seed: each tree is walked over them, each answer put into words, and the
post-mortem begun.
"""

from pathlib import Path
from random import Random

from hypothesis import strategies as st

from tests.conftest import shipped
from tests.edges.courses import log_of
from tutor.begun import begun
from tutor.saying import of_look
from tutor.walk import unattended

SEEDS = [b"1", b"2", b"a log"]
WORDS = [b"0", b"9"]
INPUTS = st.binary(min_size=4, max_size=12)


def check(data: bytes, folder: Path) -> None:
    run = log_of(Random(data))
    for name in ("phase-18", "phase-19", "scale"):
        end, looks = unattended(run, shipped(name))
        for seen in looks:
            assert all(of_look(end.tree.questions[seen.question], seen, lang) for lang in ("en", "es"))
        if end.leaf:
            begun(end, "en")
