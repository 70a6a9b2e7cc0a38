"""Evidence: what runs showed for a claim and against it, side by side: a remedy helped here and not there.

A claim is a file in `trees/evidence/`, its sentences in every language in it; what was seen names its source.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import Field

from tutor import catalog
from tutor.words import BadFileError, Document, Strict, Words, say
from tutor.words.document import validate

FOLDER = "evidence"
MARKS = {True: "+", False: "-"}


class Seen(Strict):
    """What one run, or one series of runs, showed; `holds`: for the claim."""

    holds: bool
    where: Words
    what: Words
    source: str


class Claim(Strict):
    """A claim about what helps or what is seen, and the leaves by tree at which it is worth knowing."""

    claim: Words
    leaves: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    seen: tuple[Seen, ...] = Field(min_length=2)

    def counted(self, holds: bool) -> int:
        """How many speak for it, or against it."""
        return sum(one.holds == holds for one in self.seen)


def available() -> dict[str, Path]:
    """Every claim's file by name, a user's own before the shipped one of the same name."""
    return catalog.listing("trees", _files)


def _files(folder: Path) -> Iterable[tuple[str, Path]]:
    return ((path.stem, path) for path in sorted((folder / FOLDER).glob("*.yaml")))


def find(name: str) -> Claim:
    """The claim of that name.

    Raises:
        ValueError: there is none; BadFileError, one of them, where its file can't be understood.
    """
    known = available()
    if name not in known:
        raise ValueError(catalog.unknown("claim", name, known))
    document = Document(known[name])
    return validate(Claim, document.data, document.problem)


def about(tree: str, leaf: str) -> dict[str, Claim]:
    """The claims worth knowing at a leaf, by name."""
    claims: dict[str, Claim] = {}
    for name in available():
        with suppress(BadFileError):  # a file of somebody's own hides no other claim
            claims[name] = find(name)
    return {name: claim for name, claim in claims.items() if leaf in claim.leaves.get(tree, ())}


def told(claim: Claim, lang: str) -> Iterator[str]:
    """The claim, then what was seen, for it and against it, each with its source."""
    yield claim.claim(lang)
    for holds in (True, False):
        yield ""
        yield say("evidence.for" if holds else "evidence.against", lang)
        for one in (one for one in claim.seen if one.holds == holds):
            yield f"  {MARKS[holds]} {one.where(lang)}: {one.what(lang)}"
            yield f"    {one.source}"


def in_a_line(name: str, claim: Claim, lang: str) -> str:
    """The claim with how much speaks for it and against it, and where to read on."""
    counts = {"held": claim.counted(True), "failed": claim.counted(False)}
    return say("evidence.line", lang, claim=claim.claim(lang).rstrip("."), name=name, **counts)
