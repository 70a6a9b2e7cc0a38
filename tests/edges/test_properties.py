"""What holds of any log: no rule fails, and a unit or a cadence makes no run sick or well."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import make_run, shipped
from tests.edges.columns import INF, NAN, Columns
from tests.edges.test_edges import CASES, judged
from tests.fuzz import fuzz_walks
from tutor.report import Report
from tutor.run import Run

pytestmark = pytest.mark.slow

LOSSES = ("loss", "val_loss", "probe_loss")
NUMBERS = (*LOSSES, "grad_norm", "grad_norm_clipped", "lr", "loss_scale", "skipped", "param_norm")
VALUES = st.one_of(
    st.none(),
    st.floats(-1e6, 1e6),
    st.floats(0, 10),
    st.sampled_from([0.0, 1.0, 1e-300, 1e300, NAN, INF, -INF]),
)
MANIFESTS = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from(["fp32", "bf16", "fp16", "fp8"]),
        "vocab_size": st.sampled_from([0, 1, 2, 512]),
        "settings": st.fixed_dictionaries(
            {},
            optional={"grad_clip": st.sampled_from([None, 1.0]), "beta2": st.sampled_from([0.95, 0.999, 1])},
        ),
        "schedule": st.just({"warmup_steps": 10, "schedule_steps": 40}),
        "batch": st.just({"rows": 4, "tokens_per_row": 8}),
    },
)


@st.composite
def logs(draw: st.DrawFn) -> Run:
    """Any log of up to 60 rows: whatever columns, numbers and gaps between steps."""
    rows = draw(st.integers(1, 60))

    def column(values: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(values, min_size=rows, max_size=rows))

    gaps = column(st.sampled_from([1, 1, 1, 10, 500]))
    begin = draw(st.sampled_from([0, 1, 5000]))
    columns: Columns = {"step": [begin + sum(gaps[:row]) for row in range(rows)]}  # type: ignore[arg-type]
    for name in draw(st.sets(st.sampled_from(NUMBERS))):
        columns[name] = column(VALUES)
    if draw(st.booleans()):
        columns["batch_hash"] = column(st.sampled_from([None, "a", "b"]))
    if draw(st.booleans()):
        columns["rare_tokens"] = column(st.sampled_from([None, [], ["tten"]]))
        columns["rare_counts"] = column(st.sampled_from([None, [], [3.0], [NAN, 2.0]]))
    return make_run(columns, draw(MANIFESTS))


@given(logs())
def test_no_log_makes_a_rule_fail(run: Run):
    report = Report(run, shipped("phase-19"))
    assert report.verdict in ("healthy", "flaw", "undecided")
    for lang in ("en", "es"):
        assert report.text(lang).plain


@given(fuzz_walks.INPUTS)
def test_nor_does_one_of_any_course(data: bytes):
    fuzz_walks.check(data, Path())


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize("name", CASES)
def test_the_unit_of_a_loss_decides_nothing(name: str, factor: float):
    run = CASES[name][0]()
    there = [pl.col(column).cast(float) * factor for column in LOSSES if column in run.frame.columns]
    said, at = judged(replace(run, frame=run.frame.with_columns(there)))
    _, verdict, ends = CASES[name]
    assert (said, at in ends) == (verdict, True), f"{said} at {at}"


@pytest.mark.parametrize("name", CASES)
def test_a_sparser_cadence_turns_no_verdict_round(name: str):
    """Windows in steps then hold fewer rows, so another leaf may be found, or nothing be settled."""
    run = CASES[name][0]()
    sparser = replace(run, frame=run.frame.with_columns(step=pl.col("step") * 10))
    assert (judged(sparser)[0] == "sick") == (CASES[name][1] == "sick")
