"""The app's own words: whole in both languages; and text from outside is drawn as text."""

import importlib.util
import shutil
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tutor.words
from tutor.words import LANGUAGES, Document, fill, fill_known, number, plain, say

FOLDER = Path(tutor.words.__file__).parent
OTHERS = [lang for lang in LANGUAGES if lang != "en"]


def sentences(data: dict, where: str = "") -> Iterator[tuple[str, str]]:
    """Every sentence by the keys that lead to it."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from sentences(value, f"{where}.{key}")
        else:
            yield f"{where}.{key}", value


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def parts(lang: str) -> list[str]:
    return sorted(path.name for path in (FOLDER / lang).glob("*.yaml"))


@pytest.mark.parametrize("part", parts("en"))
@pytest.mark.parametrize("lang", OTHERS)
def test_every_language_says_the_same_thing(lang: str, part: str):
    english, other = (dict(sentences(Document(FOLDER / name / part).data)) for name in ("en", lang))
    assert english
    assert english.keys() == other.keys()
    for where, sentence in english.items():
        assert sentence.strip(), where
        assert other[where].strip(), where
        assert placeholders(sentence) == placeholders(other[where]), where


def test_every_language_has_every_part():
    assert OTHERS == ["es"]
    assert [parts(lang) for lang in OTHERS] == [parts("en")] * len(OTHERS)


def test_a_language_is_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copytree(FOLDER, tmp_path / "words")
    shutil.copytree(FOLDER / "es", tmp_path / "words" / "fr")
    (tmp_path / "words" / "fr" / "map.yaml").write_text("title: La carte\n")
    spec = importlib.util.spec_from_file_location("words_with_french", tmp_path / "words" / "__init__.py")
    assert spec and spec.loader
    words = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, words)
    spec.loader.exec_module(words)
    assert words.LANGUAGES == ("en", "es", "fr")
    assert words.say("map.title", "fr") == "La carte"
    assert words.say("map.title", "pt") == words.say("map.title", "en")


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


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"norm": 0.1, "times": 2}, "The norm is 0.1; the loss 2x. A mask does so."),
        ({"norm": 0.1}, "The norm is 0.1. A mask does so."),
    ],
)
def test_a_clause_that_is_left_out_leaves_its_full_stop(facts: dict, told: str):
    assert fill_known("The norm is {norm}; the loss {times}x. A mask does so.", facts) == told


@pytest.mark.parametrize(
    ("sentence", "rows", "told"),
    [
        ("{rows} rows", 1, "1 row"),
        ("{rows} rows", 2, "2 rows"),
        ("{rows} rows", 1.0, "1 row"),
        ("{rows} rows are left", 1, "1 row is left"),
        ("1 of {rows} rows", 1, "1 of 1 row"),
        ("{rows} rows, {n} steps", 1, "1 row, 11 steps"),
        ("{rows} filas seguidas", 1, "1 fila"),
        ("{rows} rowspan", 1, "1 rowspan"),
    ],
)
def test_of_one_nothing_is_said_in_the_plural(sentence: str, rows: float, told: str):
    assert fill(sentence, {"rows": rows, "n": 11}) == told


def test_an_unknown_fact_is_a_dash():
    assert fill("at {step}, {loss}", {"step": 3}) == "at 3, –"


@given(st.text())
def test_plain_text_steers_no_terminal(text: str):
    drawn = plain(text)
    assert not [character for character in drawn if unicodedata.category(character) in ("Cc", "Zl", "Zp")]
    assert len(drawn) == len(text)
