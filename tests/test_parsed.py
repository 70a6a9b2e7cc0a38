"""Parsed YAML is kept between starts, and never taken for a file that has changed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor import paths
from tutor.words import BadFileError, Document, parsed, yamlfile


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return paths.cache()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some.yaml"
    path.write_text("bound: 0.1\nwords:\n  - yes\n  - ñandú\n", encoding="utf-8")
    return path


def never(*_: object) -> None:
    raise AssertionError("parsed again")


def test_the_second_reading_doesnt_parse(file: Path, monkeypatch: pytest.MonkeyPatch):
    first = Document(file).data
    monkeypatch.setattr(yamlfile, "data", never)
    assert Document(file).data == first == {"bound": 0.1, "words": ["yes", "ñandú"]}


def test_a_file_that_changed_is_parsed_again_even_within_the_same_second(file: Path):
    Document(file)
    file.write_text("bound: 0.2\nwords: []\n")
    assert Document(file).data["bound"] == 0.2


@pytest.mark.parametrize("torn", ["", "{", "x\n{}", "\x00", "[" * 100_000])
def test_a_torn_keep_is_passed_over(file: Path, cache: Path, torn: str):
    Document(file)
    [place] = (cache / "parsed").iterdir()
    digest = place.read_text().partition("\n")[0]
    for text in (torn, f"{digest}\n{torn}"):
        place.write_text(text)
        assert Document(file).data["bound"] == 0.1


def test_lines_are_known_of_a_file_that_was_kept(file: Path):
    Document(file)
    assert Document(file).line("words", 1) == 4


def test_what_is_wrong_is_never_kept(file: Path):
    file.write_text("a: [\n")
    for _ in range(2):
        with pytest.raises(BadFileError, match=r"some\.yaml:2"):
            Document(file)


def test_a_folder_that_cant_be_written_is_no_trouble(file: Path, cache: Path):
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    assert Document(file).data["bound"] == 0.1


KEYS = st.one_of(st.text(max_size=5), st.integers())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_what_is_kept_comes_back_as_it_was_or_not_at_all(data: dict):
    path, text = Path("any.yaml"), repr(data)
    parsed.keep(path, text, data)
    back = parsed.data(path, text)
    assert back is None or (back == data and repr(back) == repr(data))
