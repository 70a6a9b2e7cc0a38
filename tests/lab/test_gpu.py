"""What only a GPU shows: passed over where there is none."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from tests.bench.loops import Watched
from tests.lab.small import boilerplate, recipe, rows_of, timeless
from tests.lab.test_faults import IN_FP16, PLANNED
from tutor.lab import Recorder
from tutor.lab.loop import resume, train
from tutor.lab.trainer import Trainer
from tutor.parts import Part

pytestmark = [
    pytest.mark.train,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here"),
]


def logged(folder: Path) -> list[str]:
    return [str(row) for row in timeless(rows_of(folder))]  # a NaN equals no other, its word does


class TestResumed:
    """A run that is cut at step 17 and taken up again logs what the run that was never stopped logs."""

    @staticmethod
    def check(
        folder: Path, trigger: Sequence[Part] = (), faults: Sequence[Part] = (), dtype: str = "fp32"
    ) -> None:
        def given(**changes: object):
            return recipe(trigger, faults, device="cuda", dtype=dtype, **changes)

        train(given(), out=folder / "whole")
        train(given(steps=17), out=folder / "cut")
        assert resume(folder / "cut", given()) == 30
        assert logged(folder / "cut") == logged(folder / "whole")

    @pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp16"])
    def test_in_each_dtype(self, tmp_path: Path, dtype: str):
        self.check(tmp_path, boilerplate(8, 2), dtype=dtype)

    @pytest.mark.parametrize("fault", PLANNED, ids=str)
    def test_with_each_fault(self, tmp_path: Path, fault: Part):
        self.check(tmp_path, faults=[fault])

    @pytest.mark.parametrize("fault", IN_FP16, ids=str)
    def test_with_each_fault_of_fp16(self, tmp_path: Path, fault: Part):
        self.check(tmp_path, faults=[fault], dtype="fp16")

    def test_with_dropout_which_draws_from_the_devices_own_generator(self, tmp_path: Path):
        self.check(tmp_path, [Part("dropout", {"rate": 0.2})])


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_the_first_row_is_that_of_the_cpu(tmp_path: Path, dtype: str):
    for device in ("cpu", "cuda"):
        train(recipe(device=device, dtype=dtype, steps=1), out=tmp_path / device)
    (cpu,), (cuda,) = (rows_of(tmp_path / device) for device in ("cpu", "cuda"))
    assert cpu.keys() == cuda.keys()
    for column in ("loss", "grad_norm", "param_norm", "update_norm", "val_loss", "probe_loss"):
        assert cuda[column] == pytest.approx(cpu[column], rel=2e-3 if dtype == "fp32" else 3e-2), column
    assert cuda["batch_hash"] == cpu["batch_hash"]


@contextmanager
def _waiting_is_an_error() -> Iterator[None]:
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


class TestNothingWaitsForTheDevice:
    def test_in_a_step_that_is_recorded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("tutor.lab.recorder.recorder.FLUSH_SECONDS", math.inf)
        loop = Watched.begun("cuda")
        with Recorder(tmp_path / "run", loop.model, loop.optimizer, flush_rows=1000) as recorder:
            loop.recorded(recorder)  # the first makes the folder, which holds how the weights began
            with _waiting_is_an_error():
                for _ in range(10):
                    loop.recorded(recorder)
        assert all(math.isfinite(row["grad_norm"]) for row in rows_of(tmp_path / "run"))

    @pytest.mark.parametrize("dtype", ["fp32", "bf16"])  # under fp16 torch's own scaler waits
    def test_in_a_step_of_the_lab(self, dtype: str):
        trainer = Trainer(recipe(device="cuda", dtype=dtype))
        trainer.step(0)
        with _waiting_is_an_error():
            for step in range(1, 10):
                trainer.step(step)
