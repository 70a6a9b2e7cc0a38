"""YAML that would crash, flood or fool a parser: each is a problem with file and line, at once."""

import importlib.util
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from tests.children import ODD_FILES, ODD_NAMES, become_nobody, in_a_child, posix_only
from tutor import card, paths, tree
from tutor.cli import app
from tutor.words import BadFileError, Document, parsed, yamlfile

QUICK = 3.0  # seconds of this process's time, however long the file

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 3000))

ODD = {
    "a list as a key": ("a: 1\n? [a, b]\n: c\n", 2, "a key is a word or a number"),
    "a mapping as a key": ("a: 1\nb:\n  ? {a: b}\n  : c\n", 3, "a key is a word or a number"),
    "a word as an integer": ("a:\n  b: !!int x\n", 2, "'x' can't be read as int"),
    "nothing as an integer": ("a: !!int\n", 1, "'' can't be read as int"),
    "a word as a float": ("a: !!float x\n", 1, "'x' can't be read as float"),
    "a word as a truth": ("a: !!bool maybe\n", 1, "'maybe' can't be read as bool"),
    "a word as a time": ("\na: !!timestamp soon\n", 2, "'soon' can't be read as timestamp"),
    "a word as bytes": ("a: !!binary x\n", 1, "base64"),
    "a list as a set": ("a: !!set [1]\n", 1, "expected a mapping"),
    "a list of words as an order": ("a: !!omap [1]\n", 1, "expected a mapping"),
    "a class of Python's": ("a: !!python/object/apply:os.system ['true']\n", 1, "tag"),
    "a name of Python's": ("a: 1\nb: !!python/name:os.system\n", 2, "tag"),
    "a tag of nobody's": ("a: !mine x\n", 1, "tag"),
    "a day that is in no calendar": ("a: 1\nb: 2026-02-31\n", 2, "can't be read as timestamp"),
    "a year 0": ("a: 0000-01-01\n", 1, "can't be read as timestamp"),
    "a zone of 99 hours": ("a: 2026-01-01 00:00:00 +99:99\n", 1, "can't be read as timestamp"),
    "an integer of 4301 digits": (f"a:\n  b: {'9' * 4301}\n", 2, "can't be read as int"),
    "a float too large": (f"a: 1{':59' * 400}.5\n", 1, "can't be read as float"),
    "an integer without digits": ("a: 0b_\n", 1, "can't be read as int"),
    "50,000 open brackets": ("a: 1\nb: " + "[" * 50_000, 2, "is nested too deep"),
    "50,000 open braces": ("a: " + "{" * 50_000, 1, "is nested too deep"),
    "50,000 brackets, closed": ("a: " + "[" * 50_000 + "]" * 50_000, 1, "is nested too deep"),
    "50,000 lists in a line": ("- " * 50_000 + "x", 1, "is nested too deep"),
    "50,000 keys in a line": ("? " * 50_000 + "x", 1, "is nested too deep"),
    "a staircase": ("".join(" " * n + "a:\n" for n in range(1000)), 51, "is nested too deep"),
    "a billion laughs": (LAUGHS, 5, "holds more than 20,000 values"),
    "a chain of aliases": (CHAIN, 51, "is nested too deep"),
    "a list that holds itself": ("a: 1\nb: &b [*b]\n", 2, "inside what it stands for"),
    "a mapping that holds itself": ("a: &a {b: {c: *a}}\n", 1, "inside what it stands for"),
    "a mapping merged into itself": ("a: &a\n  <<: *a\n", 1, "inside what it stands for"),
    "a merge of a number": ("a:\n  <<: 3\n", 2, "merging"),
    "an alias of nothing": ("a: 1\nb: *x\n", 2, "undefined alias"),
    "100,000 keys": ("".join(f"k{n}: v\n" for n in range(100_000)), 10_000, "holds more than 20,000 values"),
    "an escape code": ("a: 1\nb: \x1b[31m\n", 2, "a character that YAML can't"),
    "a bell behind letters of two bytes": ("é: ñ\nb: é\x07\n", 2, "a character that YAML can't"),
    "two documents": ("a: 1\n---\nb: 2\n", 2, "another document"),
    "nothing": ("", 1, "holds no keys"),
    "a list": ("[a]\n", 1, "holds no keys"),
}  # fmt: skip


@pytest.mark.parametrize("what", ODD)
def test_odd_yaml_is_a_problem_with_file_and_line(what: str, tmp_path: Path):
    text, line, said = ODD[what]
    path = tmp_path / "my.yaml"
    path.write_text(text)
    began = time.process_time()
    for read in (Document, tree.load, card.load):
        with pytest.raises(BadFileError) as caught:
            read(path)
        [problem] = caught.value.problems
        assert (problem.path, problem.line) == (path, line)
        assert said in problem.what
        assert str(caught.value).count("\n") == 0
        assert len(str(caught.value)) < len(str(path)) + 700
    assert time.process_time() - began < QUICK


@pytest.mark.parametrize("what", ["a list as a key", "50,000 open brackets", "an escape code"])
def test_the_parser_in_python_finds_the_same(what: str, monkeypatch: pytest.MonkeyPatch):
    """Where PyYAML comes without its parser in C."""
    text, line, said = ODD[what]

    monkeypatch.delattr(yaml, "CSafeLoader")
    named = importlib.util.spec_from_file_location("without_c", yamlfile.__file__)
    assert named
    assert named.loader
    without_c = importlib.util.module_from_spec(named)
    named.loader.exec_module(without_c)
    with pytest.raises(without_c.YamlError, match=said) as caught:
        without_c.data(text)
    assert caught.value.line == line


def test_aliases_and_merges_within_reason_are_read():
    assert yamlfile.data("a: &a {x: 1}\nb: *a\nc:\n  <<: *a\n  y: 2\n") == {
        "a": {"x": 1},
        "b": {"x": 1},
        "c": {"x": 1, "y": 2},
    }


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("".join(f"k{n}: v\n" for n in range(3000)), 3000),
        ("questions:\n" + "".join(f"  q{n}: v\n" for n in range(3000)), 3000),
        (f'{"k" * 900}: v\n"a\\nb\\e[31m": v\n', 2),
    ],
    ids=["keys", "questions", "long names"],
)
def test_many_problems_are_told_at_once_and_not_all(tmp_path: Path, text: str, problems: int):
    path = tmp_path / "my.yaml"
    path.write_text(text)
    (tmp_path / "my.en.yaml").write_text("title: mine\n")
    began = time.process_time()
    with pytest.raises(BadFileError) as caught:
        tree.load(path)
    assert time.process_time() - began < QUICK
    assert len(caught.value.problems) >= problems
    lines = str(caught.value).splitlines()
    assert all(line.startswith(str(tmp_path)) and len(line) < len(str(path)) + 700 for line in lines)
    assert len(lines) == min(101, len(caught.value.problems))
    assert ("more problems" in lines[-1]) is (problems > 100)


@posix_only
@pytest.mark.parametrize("make", ODD_FILES, ids=ODD_NAMES)
@pytest.mark.parametrize("name", ["my.yaml", "my.en.yaml"])
def test_what_is_no_plain_file_is_never_waited_for(
    tmp_path: Path, name: str, make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "my.yaml").write_text("tree: my\n")
    (tmp_path / name).unlink(missing_ok=True)
    make(tmp_path / name)
    for words in (["trees", "check"], ["check", "19-break", "--tree"]):
        done = CliRunner().invoke(app, [*words, str(tmp_path / "my.yaml")])
        assert done.exit_code == 2
        assert f"{tmp_path / name}:1: can't be read: " in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_file_too_large_is_no_tree(tmp_path: Path):
    path = tmp_path / "my.yaml"
    path.write_bytes(b"# " + bytes(2_000_000).replace(b"\0", b"x"))
    with pytest.raises(BadFileError, match=r"my\.yaml:1: can't be read: it is larger than 1 MB"):
        Document(path)


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where what a file was parsed to is kept, for this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return paths.cache() / "parsed"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some.yaml"
    path.write_text("bound: 0.1\n")
    return path


@posix_only
class TestKept:
    """The folder of kept YAML, however it was tampered with: the file is parsed, and its words are right."""

    @pytest.mark.parametrize(
        "put",
        [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero"), lambda path: path.symlink_to(path)],
    )
    def test_what_is_no_plain_file_is_passed_over(
        self, file: Path, cached: Path, put: Callable[[Path], None]
    ):
        Document(file)
        [place] = cached.iterdir()
        place.unlink()
        put(place)
        for _ in range(2):
            assert Document(file).data == {"bound": 0.1}

    def test_a_huge_one_is_passed_over(self, file: Path, cached: Path):
        Document(file)
        [place] = cached.iterdir()
        with place.open("ab") as kept_file:
            kept_file.truncate(1 << 40)  # a terabyte of nothing
        assert Document(file).data == {"bound": 0.1}

    def test_a_link_at_the_temporary_name_leads_nowhere(self, file: Path, cached: Path, tmp_path: Path):
        target = tmp_path / "mine"
        target.write_text("mine")
        Document(file)
        [place] = cached.iterdir()
        place.unlink()
        place.with_name(f".{place.name}.{os.getpid()}").symlink_to(target)
        Document(file)
        assert target.read_text() == "mine"
        assert [path.name for path in cached.iterdir()] == [place.name]

    @pytest.mark.parametrize("mode", [0o777, 0o770])
    def test_a_folder_that_others_may_write_in_isnt_believed(self, file: Path, cached: Path, mode: int):
        Document(file)
        [place] = cached.iterdir()
        place.write_text(place.read_text().replace("0.1", "9.9"))
        assert Document(file).data == {"bound": 9.9}  # one's own is believed
        cached.chmod(mode)
        assert Document(file).data == {"bound": 0.1}
        place.unlink()
        Document(file)
        assert list(cached.iterdir()) == []

    def test_another_users_folder_isnt_believed_even_by_a_link(
        self, file: Path, cached: Path, tmp_path: Path
    ):
        if os.geteuid():
            pytest.skip("only root can give a folder away")
        theirs = tmp_path / "theirs"
        Document(file)
        cached.rename(theirs)
        [place] = theirs.iterdir()
        place.write_text(place.read_text().replace("0.1", "9.9"))
        cached.symlink_to(theirs)
        assert Document(file).data == {"bound": 9.9}
        os.chown(theirs, 65534, 65534)
        assert Document(file).data == {"bound": 0.1}

    def test_without_a_home_nothing_is_kept(
        self, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        monkeypatch.setattr(Path, "expanduser", lambda path: path)  # as where nobody is logged in
        monkeypatch.chdir(tmp_path)
        assert Document(file).data == {"bound": 0.1}
        assert {path.name for path in tmp_path.iterdir()} == {"some.yaml"}


def read_by_nobody(file: str, cache: str) -> None:
    os.environ["XDG_CACHE_HOME"] = cache
    yamlfile.data("warm: up")
    become_nobody()
    assert Document(Path(file)).data == {"bound": 0.1}
    assert parsed.data(Path(file), "bound: 0.1\n") is None


@posix_only
@pytest.mark.slow
def test_a_cache_that_may_not_be_written_is_no_trouble(in_sight: Path):
    (in_sight / "some.yaml").write_text("bound: 0.1\n")
    (in_sight / "cache").mkdir(mode=0o555)
    assert in_a_child(read_by_nobody, str(in_sight / "some.yaml"), str(in_sight / "cache")) == 0
    assert list((in_sight / "cache").iterdir()) == []
