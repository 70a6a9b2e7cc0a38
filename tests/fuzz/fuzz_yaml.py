"""A tree or a card, its graph or its prose: sound, or problems each with its file and line."""

from pathlib import Path

from hypothesis import strategies as st

from tests.conftest import ROOT
from tutor.cli import checking
from tutor.words import BadFileError

SPLIT = b"\n# prose\n"
"""Between the graph and its English prose."""

TREES = ROOT / "trees"
CARD = b"".join(
    [(TREES / "breaks/no-clip.yaml").read_bytes(), SPLIT, (TREES / "breaks/no-clip.en.yaml").read_bytes()]
)
SMALL = b"""tree: my
start: a
sections: {}
questions:
  a:
    section: s
    panel: loss
    rule: {detector: non_finite_loss}
    outcomes:
      yes: {leaf: bad, kind: symptom}
      no: {leaf: good}
leaves:
  bad: {verdict: flaw}
  good: {verdict: healthy}
# prose
title: Mine
about: A small one
sections: {s: Section}
questions:
  a: {title: A, ask: Is it?, why: So, look: There, hints: [one], outcomes: {yes: {label: y, says: s}}}
leaves: {bad: {name: Bad, means: That}, good: {name: Good, means: This}}
"""
SEEDS = [CARD, SMALL, b"a: [1, {b: c}]\n" + SPLIT]
WORDS = [
    *b"!!int !!float !!timestamp !!python/name:os.system !!set !!omap !!binary !!null !mine ! << = ~".split(),
    *b"&a *a [ ] { } ? - : | > ' \" # --- ... %YAML .nan .inf -.inf 0x 0b_ 1e400 2026-02-31 99999999".split(),
    *b"questions: outcomes: leaves: rule: detector: numbers: sources: next: ladder: fixes: change:".split(),
    *b"trigger: faults: expect: calibration: name: answer: kind: says: hints: {step} {a.b} {0!r:>9}".split(),
]
PIECES = [piece for seed in SEEDS for piece in seed.splitlines(keepends=True)]


def _spoilt(seed: bytes) -> st.SearchStrategy[bytes]:
    """A sound file with lines left out or doubled, and words put in."""
    lines = seed.splitlines(keepends=True)
    spots = st.lists(st.integers(0, len(lines) - 1), max_size=3)
    words = st.sampled_from(WORDS) | st.binary(max_size=4)

    def spoil(given: tuple[list[int], list[int], list[tuple[int, bytes]]]) -> bytes:
        gone, twice, put = given
        text = b"".join(line * (1 + (n in twice)) for n, line in enumerate(lines) if n not in gone)
        for at, word in put:
            at %= len(text) + 1
            text = text[:at] + b" " + word + b" " + text[at:]
        return text

    return st.tuples(spots, spots, st.lists(st.tuples(st.integers(0, 10**5), words), max_size=3)).map(spoil)


INPUTS = (
    st.sampled_from(SEEDS).flatmap(_spoilt)
    | st.lists(st.sampled_from(PIECES + WORDS), max_size=20).map(b"".join)
    | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass"))
)


def check(data: bytes, folder: Path) -> None:
    graph, _, prose = data.partition(SPLIT)
    (folder / "my.yaml").write_bytes(graph)
    (folder / "my.en.yaml").write_bytes(prose)
    try:
        assert checking.describe(folder / "my.yaml")
    except BadFileError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.path.parent == folder
            assert problem.path.name in ("my.yaml", "my.en.yaml")
            lines = problem.path.read_text(encoding="utf-8", errors="replace").splitlines()
            assert 1 <= problem.line <= len(lines) + 1
            assert "\n" not in str(problem)
