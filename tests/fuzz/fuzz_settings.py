"""What is typed after `--set`: settings that a recipe can be made of, or one short line."""

import math
from pathlib import Path

from hypothesis import strategies as st

from tutor import settings

SEEDS = [b"grad_clip=none", b"lr=3e-4\nwarmup_steps=5", b"batching=stratified\nn_layer=2"]
WORDS = [
    *(f"{name}=".encode() for name in settings.names()),
    *b"none off nan inf -inf -1 0 1e400 1e-400 1e308 1.5 true 0x10 _ 99999999999999999999 fp16 auto".split(),
]
VALUES = (
    st.sampled_from(WORDS)
    | st.integers().map(lambda number: str(number).encode())
    | st.floats().map(lambda number: str(number).encode())
    | st.text(max_size=20).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | st.integers(1, 5000).map(lambda digits: b"9" * digits)
)
NAMES = st.sampled_from(settings.names()).map(str.encode) | st.binary(max_size=9)
INPUTS = st.lists(st.tuples(NAMES, VALUES).map(b"=".join) | VALUES, max_size=4).map(b"\n".join)


def check(data: bytes, folder: Path) -> None:
    typed = data.decode("utf-8", "surrogateescape").split("\n")  # as the shell hands it over
    try:
        built = settings.build(settings.parse(typed))
    except ValueError as error:
        assert len(str(error)) < 700
        return
    assert settings.memory(built) <= settings.MOST_MEMORY
    values = built.model_dump()
    assert all(math.isfinite(value) for value in values.values() if isinstance(value, int | float))
    assert settings.build(values) == built
