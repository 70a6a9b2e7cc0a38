"""The run, its manifest and the names of dtypes."""

import pytest

from tests.conftest import make_run
from tutor.run import Checkpoint, Manifest, Remark, dtypes
from tutor.words import LANGUAGES


class TestManifest:
    def test_typed_and_unknown_keys_are_kept(self):
        given = {
            "break": "no-clip",
            "seed": 1,
            "mine": {"a": [1]},
            "batch": {"rows": 8, "tokens_per_row": 64},
        }
        manifest, odd = Manifest.parse(given)
        assert (manifest.break_name, manifest.seed, manifest.batch.tokens, odd) == ("no-clip", 1, 512, ())
        assert manifest.given == given

    def test_what_cannot_be_understood_is_dropped_and_named(self):
        manifest, odd = Manifest.parse({"seed": "7", "schedule": "cosine", "dtype": "fp32", "groups": [3]})
        assert set(odd) == {"seed", "schedule", "groups"}
        assert (manifest.seed, manifest.schedule.warmup_steps, manifest.dtype) == (None, None, "fp32")

    def test_faults_are_plain_data(self):
        faults = [{"name": "summed-loss", "scale": 2.0}]
        assert Manifest.parse({"faults": faults})[0].faults == tuple(faults)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("fp32", "fp32"), ("float32", "fp32"), ("torch.float32", "fp32"), ("32-true", "fp32"), ("no", "fp32"),
        ("bf16", "bf16"), ("bfloat16", "bf16"), ("bf16-mixed", "bf16"), ("mixed_bfloat16", "bf16"),
        ("fp16", "fp16"), ("torch.float16", "fp16"), ("half", "fp16"), ("16-mixed", "fp16"),
        ("amp_fp16", "fp16"), ("FP16", "fp16"), ("fp8", None), ("", None),
    ],
)  # fmt: skip
def test_dtype_names_of_other_tools(name: str, dtype: str | None):
    assert dtypes.understood(name) == dtype


def test_a_checkpoint_by_a_step():
    run = make_run({"loss": [1.0]}, checkpoints=(200, 400))
    assert [run.checkpoint_by(step) for step in (199, 200, 399)] == [None, Checkpoint(200), Checkpoint(200)]


def test_the_revision_changes_when_the_log_grows():
    assert make_run({"loss": [1.0]}).revision == make_run({"loss": [1.0]}).revision
    assert make_run({"loss": [1.0]}).revision != make_run({"loss": [1.0, 1.0]}).revision
    assert hash(make_run({"loss": [1.0]}).revision)


def test_remarks_speak_both_languages():
    remark = Remark("resumed", {"count": 3})
    assert all("3" in remark.says(lang) for lang in LANGUAGES)
    assert remark.says("en") != remark.says("es")


def test_the_rows_that_recorded_a_signal_are_sought_once():
    run = make_run({"loss": [3.0, None, 2.0], "lr": [1.0] * 3, "val_loss": [None] * 3})
    known = run.logged("loss")
    assert known["loss"].to_list() == [3.0, 2.0]
    assert run.logged("loss") is known  # with what was measured of it
    assert run.logged("lr") is run
    assert len(run.logged("val_loss")) == 0
