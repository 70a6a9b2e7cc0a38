"""What the cells of a notebook printed, and tables of HTML.

`two-runs.ipynb` in `fixtures` was run by nbclient 0.11: a loop of our own, and a Trainer of transformers 5.24
on four weights, which shows its rows as a table.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor import readers
from tutor.readers import jupyter
from tutor.readers.common.html import as_markdown
from tutor.run import BadRunError, Run, limits

NOTEBOOK = Path(__file__).parent / "fixtures" / "two-runs.ipynb"
LINES, AGAIN = ([f"Epoch {epoch}, loss: {top / epoch:.3f}\n" for epoch in range(1, 8)] for top in (3.0, 3.1))
TABLE = (
    "<p>[2/2]</p><table border='1'>"
    "<thead><tr><th>epoch</th><th>train_loss</th><th>valid_loss</th></tr></thead>"
    "<tbody><tr><td>0</td><td>0.5</td><td>0.6</td></tr><tr><td>1</td><td>0.25</td><td>nan</td></tr></tbody>"
    "</table>"
)
BAR = "\r 50%|###  | 1/2 [00:00<00:00]"
KEYS = ["cells", "cell_type", "outputs", "text", "data", "text/html", "execution_count"]
TAGS = ["<table>", "</table>", "<tr>", "<td>", "</td", "<th a='>'>", "1", "|", "&lt;", "\n"]


def stream(*lines: str, name: str = "stdout") -> dict[str, object]:
    return {"output_type": "stream", "name": name, "text": [*lines]}


def cell(*outputs: dict[str, object], number: int | None = None, code: str = "train()") -> dict[str, object]:
    return {"cell_type": "code", "execution_count": number, "source": code, "outputs": [*outputs]}


def written(tmp_path: Path, *cells: dict[str, object]) -> Path:
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": [*cells], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))
    return path


def runs_in(path: Path) -> list[Run]:
    return [run for source in readers.listed(path) for run in readers.runs_of(source)]


def test_each_cell_that_printed_a_log_is_a_run_called_by_its_number():
    loop, trainer = readers.sources(NOTEBOOK)
    assert [loop.path, trainer.path] == [NOTEBOOK / "1", NOTEBOOK / "3"]
    assert loop.format == "a cell of a Jupyter notebook"
    assert loop.describe("en") == "In [1]: # a line through noisy points, fitted by hand"
    first, second = loop.read(), trainer.read()
    assert (first.path, first.name) == (NOTEBOOK / "1", "two-runs.ipynb/1")
    assert (first.steps.to_list(), first["loss"][0]) == ([*range(1, 13)], 1.05778)
    assert second.steps.to_list() == [*range(10, 100, 10), 96]
    assert (second["loss"][0], second["val_loss"][9]) == (9.235242, 0.113741)
    assert second.aggregation("loss").over == "window"
    assert "nan_hidden" in [remark.key for remark in second.remarks]


def test_one_of_them_is_opened_by_its_number():
    assert readers.open_run(str(NOTEBOOK / "3"))["val_loss"][0] == 10.567461
    with pytest.raises(BadRunError, match=r"two-runs\.ipynb holds 2 runs, open one of them: .*ipynb/1, "):
        readers.read(NOTEBOOK)
    with pytest.raises(BadRunError, match=r"no run at .*two-runs\.ipynb/2"):
        readers.open_run(str(NOTEBOOK / "2"))


def test_the_only_one_is_the_notebook_itself(tmp_path: Path):
    path = written(tmp_path, cell(stream("hello\n", "there\n")), cell(stream(*LINES), number=4))
    assert [source.path for source in readers.sources(path)] == [path]
    assert readers.read(path)["loss"].to_list()[:2] == [3.0, 1.5]


def test_cells_that_were_never_numbered_are_called_by_their_place(tmp_path: Path):
    path = written(tmp_path, cell(stream(*LINES)), cell(), cell(stream(*LINES)))
    assert [run.path.name for run in runs_in(path)] == ["cell 1", "cell 3"]


def test_a_cell_that_trains_twice_holds_two_runs(tmp_path: Path):
    path = written(tmp_path, cell(stream(*LINES, *AGAIN), number=2))
    first, second = runs_in(path)
    assert (first.path, second.path) == (path / "1", path / "2")
    assert second.steps.to_list() == [*range(1, 8)]


def test_a_notebook_that_is_saved_again_is_read_anew(tmp_path: Path):
    (source,) = readers.sources(written(tmp_path, cell(stream(*LINES[:4]))))
    written(tmp_path, cell(stream(*LINES)))
    assert len(source.read()) == 7
    written(tmp_path, cell())
    with pytest.raises(BadRunError, match="was the notebook run again"):
        source.read()


def test_a_notebook_of_many_pictures_says_how_to_save_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "DOCUMENT", 100)
    with pytest.raises(BadRunError, match="clear the outputs that hold pictures"):
        readers.read(written(tmp_path, cell(stream(*LINES))))


def test_a_notebook_of_very_many_cells_is_looked_at_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jupyter, "_CELLS_READ", 2)
    cells = [
        cell(),
        cell(stream("one\n", "two\n")),
        cell(stream(*LINES), number=5),
        cell(stream(*AGAIN), number=6),
    ]
    (source,) = readers.sources(written(tmp_path, *cells))
    assert source.describe("en").startswith("In [5]")


def test_what_was_printed_between_bars_of_progress(tmp_path: Path):
    """tqdm writes to standard error, and each is an output of its own."""
    outputs = [one for line in LINES for one in (stream(BAR, name="stderr"), stream(line))]
    run = readers.read(written(tmp_path, cell(*outputs)))
    assert run["loss"].to_list()[:2] == [3.0, 1.5]


def test_a_table_that_fastai_shows(tmp_path: Path):
    shown = {"output_type": "display_data", "data": {"text/html": [TABLE], "text/plain": ["<HTML object>"]}}
    run = readers.read(written(tmp_path, cell(shown)))
    assert run.steps.to_list() == [0, 1]
    assert run["loss"].to_list() == [0.5, 0.25]
    assert str(run["val_loss"].to_list()) == "[0.6, nan]"


def test_a_page_with_such_a_table(tmp_path: Path):
    (tmp_path / "page.html").write_text(f"<html><body>{TABLE}</body></html>")
    assert readers.read(tmp_path / "page.html")["loss"].to_list() == [0.5, 0.25]


def test_a_notebook_of_version_3(tmp_path: Path):
    shown = {"output_type": "display_data", "html": [TABLE]}
    old = {"cell_type": "code", "prompt_number": 7, "input": ["fit()\n"], "outputs": [shown]}
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps({"worksheets": [{"cells": [old]}], "nbformat": 3}))
    (source,) = readers.sources(path)
    assert (source.read()["loss"].to_list(), source.describe("en")) == ([0.5, 0.25], "In [7]: fit()")


def test_one_saved_without_output_says_so(tmp_path: Path):
    path = written(tmp_path, cell(), cell(stream("loss\n")))
    with pytest.raises(BadRunError, match="was it saved without its output"):
        readers.read(path)


def test_a_cell_that_failed_tells_of_what_came_before(tmp_path: Path):
    failed = {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["Epoch 99, loss: 7"]}
    assert readers.read(written(tmp_path, cell(stream(*LINES), failed))).steps[-1] == 7


PARTS = st.none() | st.integers() | st.text(max_size=30) | st.sampled_from([TABLE, *LINES, "code"])
VALUES = st.recursive(
    PARTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=20,
)


@given(cells=VALUES)
def test_whatever_a_notebook_holds_is_read_or_told(tmp_path: Path, cells: object):
    path = tmp_path / "any.ipynb"
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}))
    try:
        found = readers.every(str(path))
    except BadRunError:
        return
    for source in found:
        assert len(source.read())


@given(page=st.lists(st.sampled_from(TAGS)))
def test_whatever_a_page_holds_its_tables_have_a_rule_below_their_first_row(page: list[str]):
    for table in filter(None, as_markdown("".join(page)).split("\n\n")):
        first, rule, *_ = table.split("\n")
        assert first.startswith("| ")
        assert set(rule) == set("| -")
