"""The app's own words: whole in both languages; and text from outside is drawn as text."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tutor.words
from tutor.words import LANGUAGES, Document, fill, number, plain, say

FILES = sorted(Path(tutor.words.__file__).parent.glob("*.yaml"))


def sentences(data: dict, where: str = "") -> Iterator[tuple[str, dict]]:
    """Every place that holds a sentence in some language."""
    if set(data) & set(LANGUAGES):
        yield where, data
        return
    for key, value in data.items():
        assert isinstance(value, dict), f"{where}.{key} stands in no language"
        yield from sentences(value, f"{where}.{key}")


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_both_languages_say_the_same_thing(path: Path):
    found = dict(sentences(Document(path).data))
    assert found
    for where, words in found.items():
        assert set(words) == set(LANGUAGES), where
        assert all(words[lang].strip() for lang in LANGUAGES), where
        assert placeholders(words["en"]) == placeholders(words["es"]), where


def test_say_falls_back_to_english():
    assert say("check.fix", "fr") == say("check.fix", "en")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "–"), (3, "3"), (0.123456, "0.1235"), (float("nan"), "NaN"), (float("inf"), "Inf"),
        (float("-inf"), "-Inf"), (1e-9, "1e-09"), (True, "True"), (["a", 0.5], "a, 0.5"), ("x", "x"),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(value: object, written: str):
    assert number(value) == written


def test_an_unknown_fact_is_a_dash():
    assert fill("at {step}, {loss}", {"step": 3}) == "at 3, –"


@given(st.text())
def test_plain_text_steers_no_terminal(text: str):
    drawn = plain(text)
    assert not [character for character in drawn if unicodedata.category(character) in ("Cc", "Zl", "Zp")]
    assert len(drawn) == len(text)
