"""Long logs, which are read a piece at a time: wherever they are cut, they say the same."""

import math
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.readers.texts import BOOSTED, PRINTED, TEXTS, UNNAMED
from tutor import readers
from tutor.readers.common.alike import of_any_digit
from tutor.run import BadRunError, limits

CSV = 'step,loss,lr,note\n0,2.5,,"a\nb"\n1,nan,1e-3,"c, ""d"""\n2,NA,0.5,\n'
WIDE = "step,loss\n0,2.5\n1,nan,3\n2,0.5,,\n"
LOGS = [
    *TEXTS.values(),
    *BOOSTED.values(),
    *UNNAMED.values(),
    WIDE,
    CSV,
    CSV.replace(",note", "").replace(',"a\nb"', "").replace(',"c, ""d"""', ""),
]
SEVERAL = [*TEXTS.values(), *BOOSTED.values(), *UNNAMED.values(), *(text for text, _ in PRINTED.values())]
LINES = [line for text in SEVERAL for line in text.splitlines()]


def read(path: Path, data: bytes, piece: int | None = None, many: int | None = None) -> object:
    """What the run says, or why there is none."""
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as sizes:
        if piece:
            sizes.setattr("tutor.readers.common.pieces.PIECE", piece)
        if many:
            sizes.setattr("tutor.readers.common.alike.MANY", many)
        try:
            run = readers.read(path)
        except BadRunError as error:
            assert "\n" not in str(error)
            return str(error)
    columns = sorted(run.frame.columns)
    return run.frame.select(columns).fill_nan(-math.pi).to_dict(as_series=False), run.remarks


@pytest.mark.parametrize("text", LOGS)
@pytest.mark.parametrize("piece", [pytest.param(1, marks=pytest.mark.slow), 50])
def test_wherever_it_is_cut_a_log_says_the_same(tmp_path: Path, text: str, piece: int):
    path = tmp_path / ("a.csv" if text.startswith("step,") else "log.txt")
    for data in (text.encode(), text.replace("\n", "\r\n").encode()):
        assert read(path, data, piece) == read(path, data)


@pytest.mark.parametrize("text", SEVERAL)
def test_lines_of_one_form_say_the_same_cut_out_as_looked_at(tmp_path: Path, text: str):
    path, data = tmp_path / "log.txt", text.encode()
    assert read(path, data, many=1) == read(path, data, many=10**9)


@given(
    lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=4),
    drawn=st.randoms(use_true_random=False),
)
def test_so_do_lines_with_other_digits(tmp_path: Path, lines: list[str], drawn: Random):
    each = (re.sub("[0-9]", lambda _: str(drawn.randrange(10)), line) for line in lines for _ in range(4))
    path, data = tmp_path / "log.txt", "".join(f"{line}\n" for line in each).encode()
    assert read(path, data, many=2) == read(path, data, many=10**9)


@pytest.mark.parametrize(
    ("pattern", "free"),
    [
        (r"step ([0-9]+): (?P<p1>nan|[-0-9.]{1,30})", r"step ([0-9]+): (?P<p1>nan|[-0-9.]{1,30})"),
        (r"iter= 0 \[1", r"iter= [0-9] \[[0-9]"),
        (r"[1-9][^05a-z][^0-9]", r"[0-91-9][\s\S][^0-9]"),
    ],
)
def test_a_pattern_that_asks_for_some_digits_is_told(pattern: str, free: str):
    assert of_any_digit(pattern) == free


ROUND = next(line for line in LINES if "train-logloss" in line)


@given(
    lines=st.lists(st.sampled_from(LINES) | st.text(max_size=12), max_size=9),
    ends=st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    spoilt=st.lists(st.tuples(st.integers(0, 500), st.binary(max_size=3)), max_size=3),
    piece=st.integers(1, 200),
)
@example(lines=["iter 0: loss 2.0, time", "iter 1: loss 1.0"], ends="\n", spoilt=[(30, b"\x00\x01")], piece=9)
@example(
    lines=[line for line in LINES if "learn: " in line or "train-auc" in line or line.startswith("# step")][
        ::-1
    ],
    ends="\n",
    spoilt=[],
    piece=2,
)
@example(  # the second line has a name of its own before one that the first has, too
    lines=[ROUND, "saved", ROUND.replace("train-logloss", "t\x01rain-logloss")], ends="\n", spoilt=[], piece=2
)
def test_any_lines_say_the_same_in_pieces(
    tmp_path: Path, lines: list[str], ends: str, spoilt: list[tuple[int, bytes]], piece: int
):
    data = ends.join(lines).encode("utf-8", "surrogatepass")
    for place, more in spoilt:
        data = data[: place % (len(data) + 1)] + more + data[place % (len(data) + 1) :]
    assert read(tmp_path / "log.txt", data, piece) == read(tmp_path / "log.txt", data)


def test_names_that_change_from_row_to_row_are_told_apart(tmp_path: Path):
    rows = [
        "{'loss': 3.0, 'a': 1}",
        "{'loss': 2.0, 'b': '1,204'}",
        "{'c': 3, 'loss': 1.0}",
        "{'b': 4, 'b': 5}",
    ]
    path = tmp_path / "log.txt"
    path.write_text("\n".join(rows))
    frame = readers.read(path).frame
    assert frame["loss"].to_list() == [3.0, 2.0, 1.0]
    assert frame["a"].to_list() == [1.0, None, None]
    assert frame["b"].to_list() == [None, 1204.0, 5.0]  # the last of a name, and commas between thousands
    assert frame["c"].to_list() == [None, None, 3.0]


def test_a_table_whose_later_cells_are_words_keeps_its_numbers(tmp_path: Path):
    rows = "".join(f"{step},{3 - step / 1000}\n" for step in range(2000))
    (tmp_path / "a.csv").write_text(f"step,loss\n{rows}2000, 0.5\n2001,high\n2002,0.25\n")
    run = readers.read(tmp_path / "a.csv")
    assert run["loss"].to_list()[1999:] == [1.001, 0.5, None, 0.25]
    assert [one.key for one in run.remarks] == ["odd_values"]


def test_where_each_row_brings_a_new_name_the_first_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "CELLS", 100)
    monkeypatch.setattr(limits, "FEW_COLUMNS", 4)
    monkeypatch.setattr("tutor.readers.common.pieces.PIECE", 300)
    (tmp_path / "log.txt").write_text("".join(f"{{'loss': 1.5, 'a{row}': {row}}}\n" for row in range(60)))
    run = readers.read(tmp_path / "log.txt")
    assert (len(run), run["loss"].null_count()) == (60, 0)
    assert run.frame.width <= 5
    assert "too_many" in [remark.key for remark in run.remarks]
