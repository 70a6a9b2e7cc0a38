"""A training in one document of JSON: its shapes, what is taken on trust, and what is none."""

import json
import math
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.readers.texts import DOCUMENTS, FOLDS
from tutor import readers
from tutor.plainfile import MEGABYTE
from tutor.readers.common import document
from tutor.readers.common.wholejson import as_json
from tutor.run import Aggregation, BadRunError, Run, called, limits

FALLING, HELD_OUT = [4.25, 3.5, 3.0, 2.5, 2.25, 2.0], [4.5, 4.0, 3.75, 3.5, 3.25, 3.125]
RISING = [0.25, 0.5, 0.75, 0.875, 0.9375, 1.0]


def read(tmp_path: Path, given: object, name: str = "results.json") -> Run:
    (tmp_path / name).write_text(given if isinstance(given, str) else json.dumps(given))
    return readers.read(tmp_path / name)


def refused(tmp_path: Path, given: object, name: str = "results.json") -> str:
    with pytest.raises(BadRunError) as caught:
        read(tmp_path, given, name)
    return str(caught.value)


def keys(run: Run) -> list[str]:
    return [one.key for one in run.remarks]


class TestAsPythonPrintsIt:
    def test_it_is_read_as_json_is(self, tmp_path: Path):
        given = {"loss": FALLING, "val_loss": HELD_OUT, "best": None}
        run = read(tmp_path, str(given), "history.txt")
        assert (run["loss"].to_list(), run["val_loss"].to_list()) == (FALLING, HELD_OUT)

    @pytest.mark.parametrize("sign", [" = ", ": "])
    def test_lists_by_name_a_line_each(self, tmp_path: Path, sign: str):
        text = f"train_losses{sign}{FALLING}\n\nval_losses{sign}{HELD_OUT}\n"
        run = read(tmp_path, text, "losses.txt")
        assert (run["loss"].to_list(), run["val_loss"].to_list()) == (FALLING, HELD_OUT)

    def test_numbers_in_a_tensor_or_of_numpy_and_nan(self, tmp_path: Path):
        run = read(
            tmp_path, "{'loss': [np.float64(2.5), tensor(2.25, device='cuda:0'), 2.0, nan]}", "log.txt"
        )
        assert run["loss"].to_list()[:3] == [2.5, 2.25, 2.0]
        assert math.isnan(run["loss"][3])


class TestObjectsOverSeveralLines:
    ROWS = "".join(f'{{\n    "step": {at},\n    "loss": {loss}\n}}\n' for at, loss in enumerate(FALLING))

    @pytest.mark.parametrize("name", ["log.json", "train.log"])
    @pytest.mark.parametrize("before", ["", "Loading data ...\n"])
    def test_one_after_another_are_rows(self, tmp_path: Path, name: str, before: str):
        assert read(tmp_path, before + self.ROWS, name)["loss"].to_list() == FALLING

    def test_with_what_json_doesnt_have(self, tmp_path: Path):
        odd = '{\n  "loss": 2.5,\n  "grad_norm": nan,\n  "lr": "1e-3",\n}\n'
        run = read(tmp_path, 4 * odd, "log.txt")
        assert (run["loss"].to_list(), run["lr"].to_list()) == ([2.5] * 4, [0.001] * 4)
        assert run["grad_norm"].is_nan().all()

    def test_of_one_whose_end_is_missing_the_whole_ones_are_kept(self, tmp_path: Path):
        run = read(tmp_path, self.ROWS[: -len(self.ROWS.splitlines()[-2]) - 8], "log.json")
        assert run["loss"].drop_nulls().to_list() == FALLING[:-1]
        assert [one.key for one in run.remarks] == ["cut_off"]
        whole = read(tmp_path, self.ROWS + "done\n", "log.json")
        assert whole.remarks == ()

    def test_two_are_quoted_somewhere(self, tmp_path: Path):
        begin = "".join(self.ROWS.splitlines(keepends=True)[:8])
        assert "no run" in refused(tmp_path, begin, "notes.txt")


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("rows", [3, 300])
def test_an_indented_document_whose_end_is_missing_is_read_at_once(tmp_path: Path, rows: int, share: float):
    """What looks for objects one after another took forever over one that never closes."""
    history = [{"epoch": at, "train_loss": 2.0 / (at + 1), "val_loss": 2.1 / (at + 1)} for at in range(rows)]
    text = json.dumps({"best": None, "history": history}, indent=4)
    path = tmp_path / "history.json"
    path.write_text(text[: int(share * len(text))])
    try:
        assert len(readers.read(path)) <= rows
    except BadRunError as error:
        assert "history.json" in str(error)


class TestShapes:
    @pytest.mark.parametrize("shape", DOCUMENTS)
    @pytest.mark.parametrize("indent", [None, 2])
    def test_each_gives_the_same_numbers(self, tmp_path: Path, shape: str, indent: int | None):
        run = read(tmp_path, json.dumps(json.loads(DOCUMENTS[shape]), indent=indent))
        assert readers.sources(run.path)[0].format == "a document of JSON"
        assert run.steps.to_list() == [1, 2, 3]
        assert run["loss"].to_list()[:2] == [4.25, 3.5]
        assert math.isnan(run["loss"][2])
        assert run["val_loss"].to_list() == [4.5, None, 3.75]

    @pytest.mark.parametrize("shape", ["lists of a set each", "under a key", "rows under a key"])
    def test_scalars_beside_are_facts_of_the_configuration(self, tmp_path: Path, shape: str):
        assert read(tmp_path, DOCUMENTS[shape]).manifest.schedule.lr_max == 0.1

    def test_a_clip_among_the_settings_is_the_runs(self, tmp_path: Path):
        config = {"max_grad_norm": 1.5, "betas": [0.9, 0.95]}
        run = read(tmp_path, {"config": config, "losses": FALLING})
        assert (run.manifest.settings["grad_clip"], run.manifest.settings["beta2"]) == (1.5, 0.95)
        assert not [name for name in run.frame.columns if "betas" in name]

    def test_what_tensorboards_page_downloads(self, tmp_path: Path):
        rows = [[1.7e9 + at, 10 * at, loss] for at, loss in enumerate(FALLING)]
        run = read(tmp_path, rows, "run-train-tag-epoch_loss.json")
        assert (run.steps.to_list(), run["loss"].to_list()) == ([0, 10, 20, 30, 40, 50], FALLING)
        held_out = read(tmp_path, rows, "run-validation-tag-epoch_loss.json")
        assert held_out["val_loss"].to_list() == FALLING
        assert keys(read(tmp_path, rows, "download.json")) == ["guessed"]

    def test_names_that_tutor_doesnt_know_keep_theirs(self, tmp_path: Path):
        run = read(
            tmp_path, {"train": {"loss": FALLING, "acc": RISING}, "val": {"acc": RISING, "loss": HELD_OUT}}
        )
        assert (run["train/acc"].to_list(), run["val/acc"].to_list()) == (RISING, RISING)

    def test_losses_of_several_runs_are_a_run_each(self, tmp_path: Path):
        with pytest.raises(BadRunError, match=r"holds 2 runs, open one of them: .*/fold_1, .*/fold_2"):
            read(tmp_path, FOLDS)
        first, second = (readers.open_run(str(tmp_path / "results.json" / f"fold_{at}")) for at in (1, 2))
        assert (first.name, first["loss"].to_list(), second["val_loss"].to_list()) == (
            "fold_1",
            [4.25, 3.5],
            [4.25, 3.5],
        )
        assert second.manifest.schedule.lr_max == 0.1

    def test_runs_in_a_list_are_called_by_a_name_of_their_own(self, tmp_path: Path):
        runs = [{"fold": at, "history": {"loss": FALLING}} for at in (3, 4)]
        read_ = pytest.raises(BadRunError, match=r"json/fold-3, .*json/fold-4")
        with read_:
            read(tmp_path, {"dataset": "cifar", "folds": runs})

    @pytest.mark.parametrize("key", ["resnet", "training_metrics", "history"])
    def test_the_only_run_is_the_files_whatever_its_key(self, tmp_path: Path, key: str):
        run = read(tmp_path, {key: {"train_losses": FALLING, "val_losses": HELD_OUT}, "seed": 3})
        assert (run.path, run["val_loss"].to_list()) == (tmp_path / "results.json", HELD_OUT)


class TestCounting:
    def test_where_held_out_data_is_measured_each_time_it_is_an_epoch(self, tmp_path: Path):
        run = read(tmp_path, {"train_losses": FALLING, "val_losses": HELD_OUT})
        assert (run.counts, run.aggregation("loss"), keys(run)) == (
            "epochs",
            Aggregation("window"),
            ["taken_for_epochs"],
        )

    @pytest.mark.parametrize("beside", [{"num_epochs": 6}, {"config": {"epochs": 6}}])
    def test_or_where_the_settings_name_as_many_epochs(self, tmp_path: Path, beside: dict[str, object]):
        assert read(tmp_path, {"train_losses": FALLING, **beside}).counts == "epochs"

    def test_else_they_are_counted_from_0_as_a_csvs(self, tmp_path: Path):
        run = read(tmp_path, {"train_losses": FALLING, "num_epochs": 2})
        assert (run.counts, run.steps.to_list(), keys(run)) == ("rows", [0, 1, 2, 3, 4, 5], ["no_steps"])

    def test_a_shorter_list_is_spread_evenly_and_a_longer_one_passed_over(self, tmp_path: Path):
        run = read(
            tmp_path, {"epoch": [*range(6)], "loss": FALLING, "val_loss": [4.0, 3.5, 3.0], "batches": [1] * 9}
        )
        assert run["val_loss"].to_list() == [None, 4.0, None, 3.5, None, 3.0]
        assert keys(run) == ["spread", "longer"]
        assert "`val_loss`" in run.remarks[0].says("en") and "`batches`" in run.remarks[1].says("es")

    def test_rates_of_each_step_count_where_nothing_counts_the_losses(self, tmp_path: Path):
        run = read(tmp_path, {"losses": [4.0, 3.0], "lrs": [0.5, 0.25, 0.125, 0.0625]})
        assert (run["lr"].count(), run["loss"].to_list()) == (4, [None, 4.0, None, 3.0])

    def test_keras_counts_from_0_and_has_its_own_reader(self, tmp_path: Path):
        run = read(tmp_path, {"loss": FALLING, "val_loss": HELD_OUT})
        assert (readers.sources(run.path)[0].format, run.steps.to_list()) == (
            "a History of Keras",
            [0, 1, 2, 3, 4, 5],
        )
        counted = read(tmp_path, {"loss": FALLING, "epochs": [3, 4, 5, 6, 7, 8]})
        assert (counted.steps.to_list(), counted.counts) == ([3, 4, 5, 6, 7, 8], "epochs")


class TestTrust:
    """`train` and `val` alone may be losses or anything else."""

    @pytest.mark.parametrize(
        ("given", "name"),
        [
            ({"train": RISING, "val": RISING}, "loss_history.json"),  # a run that diverges
            ({"train": FALLING, "val": HELD_OUT}, "results.json"),
            ({"train": [one / 9 for one in FALLING], "val": RISING}, "training_metrics.json"),
            ([{"epoch": at, "train": loss, "val": loss} for at, loss in enumerate(FALLING)], "results.json"),
        ],
    )
    def test_they_are_losses_where_a_name_says_so_or_as_they_fall(
        self, tmp_path: Path, given: object, name: str
    ):
        run = read(tmp_path, given, name)
        assert {"loss", "val_loss"} <= {*run.frame.columns}
        assert "loss = `train`, val_loss = `val`" in next(
            one.says("en") for one in run.remarks if one.key == "guessed"
        )

    @pytest.mark.parametrize(
        ("rows", "name"),
        [
            ([[10 * at, loss, loss] for at, loss in enumerate(FALLING)], "results.json"),
            ([[-at, loss, loss] for at, loss in enumerate(FALLING)], "losses.json"),  # counts nothing
            ([[at, loss, loss, loss] for at, loss in enumerate(FALLING)], "losses.json"),
        ],
    )
    def test_other_rows_without_names_may_be_anything(self, tmp_path: Path, rows: object, name: str):
        with pytest.raises(BadRunError, match="no run that tutor can read"):
            read(tmp_path, rows, name)

    def test_the_values_of_one_row_by_their_numbers(self, tmp_path: Path):
        run = read(tmp_path, [{str(at): loss for at, loss in enumerate(FALLING)}], "loss_log.json")
        assert run["loss"].to_list() == FALLING

    def test_rows_of_three_in_a_file_called_after_its_losses_are_a_step_and_both(self, tmp_path: Path):
        rows = [[10 * at, loss, loss + 1] for at, loss in enumerate(FALLING)]
        run = read(tmp_path, rows, "loss_history.json")
        assert (run.steps.to_list(), run["loss"].to_list()) == ([0, 10, 20, 30, 40, 50], FALLING)
        assert (run["val_loss"][0], "guessed" in keys(run)) == (FALLING[0] + 1, True)

    @pytest.mark.parametrize(
        ("given", "name"),
        [
            ({"train": RISING, "val": RISING}, "results.json"),
            ({"train": [100 * one for one in RISING], "val": RISING}, "results.json"),
            ({"train": FALLING, "val": FALLING}, "accuracy.json"),
            ({"accuracy": {"train": FALLING, "val": FALLING}}, "results.json"),
            ({"train": [0.5] * 6, "val": [0.5] * 6}, "results.json"),
        ],
    )
    def test_else_the_line_names_the_way_to_say_so(self, tmp_path: Path, given: dict, name: str):
        said = refused(tmp_path, given, name)
        column = "accuracy/train" if "accuracy" in given else "train"
        assert f"say so with --map loss={column}" in said
        with called.called({"loss": column}):
            assert read(tmp_path, given, name)["loss"].count() == 6

    def test_of_two_metrics_by_set_neither_is_a_run(self, tmp_path: Path):
        given = {one: {"train": FALLING, "val": HELD_OUT} for one in ("mse", "mae")}
        assert "--map loss=mse/train" in refused(tmp_path, given)

    def test_what_is_said_stands(self, tmp_path: Path):
        with called.called({"loss": "val", "val_loss": "train"}):
            run = read(tmp_path, {"train": FALLING, "val": HELD_OUT}, "loss_history.json")
        assert (run["loss"].to_list(), run["val_loss"].to_list()) == (HELD_OUT, FALLING)


class TestNone:
    @pytest.mark.parametrize(
        "given",
        [
            {"name": "a", "version": "1.0", "scripts": {"train": "node loss.js"}, "files": ["loss"]},
            {"loss_weights": [1.0] * 9, "hidden": [64, 64], "train": True, "loss": "mse"},
            {
                "model": {"vocab": {"loss": 1, "train": 2}, "merges": [["l", "o"]]},
                "added_tokens": [{"id": 0}],
            },
            {"cells": [{"outputs": [{"text": ["Epoch 1 loss: 2.0"]}], "execution_count": 1}], "nbformat": 4},
            {"epoch": 3, "train_loss": 0.5, "val_loss": 0.4},
            [{"model": "a", "loss": 0.5}, {"model": "b", "loss": 0.4}],
            {"results": [{"text": "one", "loss": 0.5}, {"text": "two", "loss": 0.4}]},
            {"loss": [], "val_loss": []},
            {"loss": {"type": "ce", "weights": [1, 2]}},
            [[1, 2], [3, 4], [2, 1]],
        ],
    )
    def test_what_has_no_list_of_losses(self, tmp_path: Path, given: object):
        assert "is no run that tutor can read" in refused(tmp_path, json.dumps(given, indent=2))

    def test_one_that_a_tools_reader_knows_is_that_tools(self, tmp_path: Path):
        rows = [{"step": at, "loss": loss, "epoch": at / 4} for at, loss in enumerate(FALLING)]
        (tmp_path / "trainer_state.json").write_text(json.dumps({"log_history": rows, "loss": FALLING}))
        assert readers.sources(tmp_path / "trainer_state.json")[0].format == "a Trainer's trainer_state.json"

    @pytest.mark.parametrize(
        "text", ['{"loss":' * 30_000, '{"loss":[' * 30_000, "[" * 100_000, '{"loss": [9e']
    )
    def test_one_that_is_no_json_or_nested_without_end(self, tmp_path: Path, text: str):
        assert "was it cut?" in refused(tmp_path, text) or "is no run" in refused(tmp_path, text)

    def test_one_too_large_for_memory_is_told_so(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(limits, "DOCUMENT", MEGABYTE // 2)
        assert "larger than 0.5 MB" in refused(tmp_path, {"train_losses": [2.0] * 200_000})

    def test_a_file_of_nothing_but_keys_is_given_up(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(limits, "RUNS", 100)
        looks: list[object] = []
        monkeypatch.setattr(document, "listed", lambda given, cut: looks.append(given))
        groups = {f"a{at}": {f"b{to}": {"c": [1, 2]} for to in range(900)} for at in range(5)}
        refused(tmp_path, groups | {"epochs": [1, 2]})
        assert len(looks) < 200_000


@pytest.mark.parametrize(
    ("text", "losses"),
    [
        ('{"epochs": [1, 2, 3], "train_losses": [4.25, 3.5, 3.0], "val_losses": [4.5, 4.', [4.25, 3.5, 3.0]),
        ('{"epochs": [1, 2, 3], "metrics": {"loss": [4.25, 3.5, 3.', [4.25, 3.5]),
        ('{"config": {"lr": 0.1}, "history": [{"epoch": 1, "loss": 4.25}, {"epoch": 2, "lo', [4.25]),
        ('[{"epoch": 1, "loss": 4.25}, {"epoch": 2, "loss": 3.5}, {"epo', [4.25, 3.5]),
        ('{"loss": [[1, 4.25], [2, 3.5], [3,', [4.25, 3.5]),
    ],
)
def test_of_one_that_is_cut_short_what_is_whole_is_kept(tmp_path: Path, text: str, losses: list[float]):
    run = read(tmp_path, text)
    assert (run["loss"].drop_nulls().to_list(), run.steps[0]) == (losses, 1)
    assert run.remarks[-1].key == "cut_off"


def test_a_list_as_long_as_the_loss_is_whole_where_the_document_is_cut_after_it(tmp_path: Path):
    run = read(tmp_path, '{"loss": [4.25, 3.5, 3.0], "val_loss": [4.5, 4.0, 3.75], "lr": [')
    assert run["val_loss"].to_list() == [4.5, 4.0, 3.75]


NUMBERS = st.floats(width=32) | st.integers(-9, 9) | st.none()
LISTS = st.lists(NUMBERS, max_size=9)
NAMES = st.sampled_from(
    [
        *["train", "val", "loss", "train_losses", "val_loss", "epochs", "step", "history", "metrics"],
        *["fold_1", "1", "2", "acc", "lr", "values", "steps"],
    ]
)
TREES = st.recursive(
    LISTS | NUMBERS | st.text(max_size=3) | st.lists(st.lists(NUMBERS, min_size=2, max_size=3), max_size=4),
    lambda inner: st.dictionaries(NAMES, inner, max_size=5) | st.lists(inner, max_size=4),
    max_leaves=12,
)


@given(tree=TREES, cut=st.integers(0, 9))
def test_any_document_is_runs_or_one_clear_line(tmp_path: Path, tree: object, cut: int):
    text = json.dumps(tree)
    (tmp_path / "a.json").write_text(text[: len(text) - cut])
    try:
        runs = [readers.read_source(source) for source in readers.every(str(tmp_path / "a.json"))]
    except BadRunError as error:
        assert "\n" not in str(error)
    else:
        assert all(run.steps.is_sorted() and run.steps.is_unique().all() for run in runs)


@given(
    losses=st.lists(st.floats(width=32), min_size=2, max_size=30),
    every=st.integers(1, 5),
    rows=st.booleans(),
    key=st.sampled_from(["", "history", "fold_1"]),
)
def test_any_losses_are_given_back(tmp_path: Path, losses: list[float], every: int, rows: bool, key: str):
    held_out = [loss if (at + 1) % every == 0 else None for at, loss in enumerate(losses)]
    columns = {"epochs": [*range(len(losses))], "training_losses": losses, "validation_losses": held_out}
    table = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    given = table if rows else columns
    run = read(tmp_path, {key: given} if key else given)
    assert run.steps.to_list() == columns["epochs"]
    found = run["val_loss"].to_list() if run.has("val_loss") else [None] * len(losses)
    for one, wanted in (*zip(run["loss"], losses, strict=True), *zip(found, held_out, strict=True)):
        assert one == wanted or (wanted is not None and math.isnan(wanted) and math.isnan(one))


class TestObjectsALine:
    """Objects in groups, one a line: what the reader of rows can't take."""

    ROWS = "".join(
        json.dumps({"epoch": at, "train": {"loss": 3 - at / 4}, "val": {"loss": 4 - at / 4}}) + "\n"
        for at in range(4)
    )

    def test_they_are_the_rows_of_a_table(self, tmp_path: Path):
        (tmp_path / "log.jsonl").write_text(self.ROWS + "\n")
        run = readers.read(tmp_path / "log.jsonl")
        assert (run.steps.to_list(), run["loss"].to_list()) == ([0, 1, 2, 3], [3.0, 2.75, 2.5, 2.25])
        assert run["val_loss"].to_list() == [4.0, 3.75, 3.5, 3.25]
        assert not run.unseen

    @pytest.mark.parametrize("end", ['{"epoch": 4, "tra', "Traceback (most recent call last):\n", "[1]\n"])
    def test_what_comes_after_the_last_is_told(self, tmp_path: Path, end: str):
        (tmp_path / "log.jsonl").write_text(self.ROWS + end)
        run = readers.read(tmp_path / "log.jsonl")
        assert (len(run), run.unseen) == (4, True)


class TestNulls:
    """JSON has no NaN: JavaScript and pandas write null for it."""

    LOSS = [2.5, 2.25, None, None, None, None, None]

    def test_nulls_that_end_a_loss_are_nan(self, tmp_path: Path):
        run = read(tmp_path, [{"epoch": at, "loss": one} for at, one in enumerate(self.LOSS)])
        assert run["loss"].to_list()[:2] == [2.5, 2.25]
        assert run["loss"].is_nan().to_list() == [False, False, *5 * [True]]
        assert keys(run) == ["null_is_nan"]
        assert "`loss`" in run.remarks[0].says("en") and "5" in run.remarks[0].says("es")

    def test_also_where_no_loss_was_ever_a_number(self, tmp_path: Path):
        run = read(tmp_path, [{"epoch": at, "loss": None} for at in range(6)])
        assert (run.steps.to_list(), run["loss"].is_nan().sum()) == ([*range(6)], 6)

    def test_also_in_lists(self, tmp_path: Path):
        run = read(tmp_path, {"epochs": [*range(7)], "train_losses": self.LOSS})
        assert run["loss"].is_nan().sum() == 5

    @pytest.mark.parametrize("loss", [[2.5, None, 2.0, *5 * [None]], [2.5, 2.25, 2.0, *4 * [None]]])
    def test_between_numbers_or_few_they_may_be_rows_without_one(
        self, tmp_path: Path, loss: list[float | None]
    ):
        run = read(tmp_path, [{"epoch": at, "acc": 0.5, "loss": one} for at, one in enumerate(loss)])
        assert (run["loss"].is_nan().sum(), keys(run)) == (0, [])

    @pytest.mark.parametrize("val", [7 * [None], LOSS])
    def test_those_of_validation_say_that_there_was_none(self, tmp_path: Path, val: list[float | None]):
        rows = [{"epoch": at, "loss": 3 - at / 4, "val_loss": one} for at, one in enumerate(val)]
        run = read(tmp_path, rows)
        assert (run["loss"].is_nan().sum(), keys(run)) == (0, [])
        assert not run.has("val_loss") or run["val_loss"].is_nan().sum() == 0

    def test_a_table_of_models_without_losses_is_no_run(self, tmp_path: Path):
        with pytest.raises(BadRunError):
            read(tmp_path, [{"epoch": at, "loss": None} for at in range(4)])


@pytest.mark.parametrize("form", ["rows.json", "rows.jsonl", "rows.csv"])
def test_parts_of_epochs_are_no_counter(tmp_path: Path, form: str):
    rows = [{"epoch": round(0.01 * at, 2), "loss": loss} for at, loss in enumerate(FALLING)]
    said = {
        "rows.json": json.dumps(rows),
        "rows.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows),
        "rows.csv": "epoch,loss\n" + "".join(f"{row['epoch']},{row['loss']}\n" for row in rows),
    }
    path = tmp_path / form
    path.write_text(said[form])
    assert readers.read(path)["loss"].to_list() == FALLING


def test_rewards_or_scores_by_epoch_alone_are_a_run(tmp_path: Path):
    path = tmp_path / "history.json"
    path.write_text(json.dumps({"epoch": [1, 2, 3, 4, 5], "mean_return": [0.5, 1.5, 1.0, 2.0, 2.5]}))
    run = readers.read(path)
    assert (run.steps.to_list(), run["mean_return"].to_list()) == ([1, 2, 3, 4, 5], [0.5, 1.5, 1.0, 2.0, 2.5])
    history = {"accuracy": [0.5, 0.6, 0.7, 0.8, 0.9], "val_accuracy": [0.5, 0.6, 0.6, 0.5, 0.5]}
    path.write_text(json.dumps(history))
    assert readers.read(path)["val_accuracy"].to_list() == history["val_accuracy"]
    path.write_text(json.dumps({"episode_rewards": [-20.0, -19.5, -20.0, 14.0, -11.5], "seed": 3}))
    run = readers.read(path)
    assert (run.steps.to_list(), run["episode_rewards"].to_list()[3]) == ([0, 1, 2, 3, 4], 14.0)
    for odd in ({"mean_return": [0.5, 1.5, 1.0, 2.0, 2.5]}, {"epoch": [1, 2, 3], "val_acc": [0.5, 0.6, 0.7]}):
        path.write_text(json.dumps(odd))  # nothing counts; too few
        with pytest.raises(BadRunError):
            readers.read(path)


class TestOfOneName:
    LISTS = "\n".join(
        f"{name}:{values}" for name, values in (("BRNN", FALLING), ("BRNN", HELD_OUT), ("BRNN", [1.0]))
    )

    def test_lists_of_one_file_called_after_losses_are_a_run_each(self, tmp_path: Path):
        (tmp_path / "loss_log.txt").write_text(self.LISTS)
        runs = [readers.read_source(source) for source in readers.every(str(tmp_path / "loss_log.txt"))]
        assert [run.path.name for run in runs] == ["BRNN", "BRNN 2"]  # one value is no course
        assert [run["loss"].to_list() for run in runs] == [FALLING, HELD_OUT]

    @pytest.mark.parametrize("names", [("recon", "kl"), ("actor", "critic"), ("G", "D"), ("cls", "bbox")])
    def test_lists_of_several_names_may_be_parts_of_one_loss(self, tmp_path: Path, names: tuple[str, str]):
        given = dict(zip(names, (FALLING, HELD_OUT), strict=True))
        assert "where one is the loss, say so" in refused(tmp_path, given, "losses.json")

    def test_their_total_is_the_loss(self, tmp_path: Path):
        run = read(tmp_path, {"bbox": HELD_OUT, "total": FALLING}, "losses.json")
        assert run["loss"].to_list() == FALLING


class TestBelowNames:
    def text(self, first: list[object], second: list[object]) -> str:
        below = "\n".join(map(str, first)), "\n".join(map(str, second))
        return f"Train Loss:\n{below[0]}\n\nVal Loss:\n\n{below[1]}\n"

    def test_values_a_line_each_below_two_names_are_two_lists(self, tmp_path: Path):
        run = read(tmp_path, self.text(FALLING, HELD_OUT), "losses.txt")
        assert (run["loss"].to_list(), run["val_loss"].to_list()) == (FALLING, HELD_OUT)

    @pytest.mark.parametrize("value", ["nan", "NaN", "-nan", "inf", "-Inf"])
    def test_what_is_not_finite_is_a_value_too(self, tmp_path: Path, value: str):
        run = read(tmp_path, self.text([*FALLING, value, 1.0], HELD_OUT), "losses.txt")
        assert len(run["loss"]) == 8
        assert not math.isfinite(run["loss"][6])

    @pytest.mark.parametrize("value", ["1E-05", "+0.5", ".5", "2."])
    def test_numbers_however_they_are_written(self, tmp_path: Path, value: str):
        run = read(tmp_path, self.text([*FALLING, value], HELD_OUT), "losses.txt")
        assert run["loss"][6] == float(value)

    def test_values_below_one_name_are_a_table_of_one_column(self, tmp_path: Path):
        run = read(tmp_path, "loss:\n" + "\n".join(map(str, FALLING)) + "\n", "a.csv")
        assert run["loss"].to_list() == FALLING

    def test_a_file_that_says_anything_else_is_none(self, tmp_path: Path):
        text = self.text(FALLING, HELD_OUT) + "done\n"
        assert as_json(text.encode()) == text.encode()

    def test_blanks_without_end_are_passed_at_once(self):
        text = b"Start" + b" " * 200_000 + b".\n"
        before = time.process_time()
        assert as_json(text) == text
        assert time.process_time() - before < 2

    @pytest.mark.parametrize("number", ["0.9", "1e-3", "-2.5E+4"])
    def test_a_number_between_lists_is_one_beside_them(self, tmp_path: Path, number: str):
        run = read(tmp_path, f"Train Loss: {FALLING}\nscore: {number}\nVal Loss: {HELD_OUT}\n", "end.txt")
        assert (run["loss"].to_list(), run["val_loss"].to_list()) == (FALLING, HELD_OUT)
