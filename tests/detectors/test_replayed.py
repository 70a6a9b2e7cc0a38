"""Where a step was taken again, what it showed decides what the log alone can't tell."""

import json
from pathlib import Path

import pytest

from tests.conftest import write_run
from tutor import readers
from tutor.detectors import NO_DATA
from tutor.detectors.origin import first_non_finite, range_of_fp16
from tutor.run import Run
from tutor.run.replay import Passage, Replay


def passage(name: str, phase: str = "forward", *, good: bool = False) -> Passage:
    return Passage.model_validate(
        {"name": name, "phase": phase, "finite_in": True, "finite_out": good, "largest": 1.0}
    )


def kept(run: Path, at: int, dtype: str, *passages: Passage) -> None:
    state = {"weights": at, "m": at, "v": at}
    found = Replay(at=at, batch=at, dtype=dtype, state=state, loss=1.0, grad_norm=1.0, passages=passages)
    path = run / "replays" / f"{at}-{dtype}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found.model_dump(mode="json")))


def lost(folder: Path, dtype: str = "fp32") -> Path:
    """Six finite rows and six of NaN; the log says no more than that."""
    rows = [
        {"step": s, "loss": 1.0 if s < 6 else "NaN", "grad_norm": 1.0 if s < 6 else "NaN"}
        | {"activation_norms": [1.0, 1.0]}
        for s in range(12)
    ]
    return write_run(folder / "run", rows, {"dtype": dtype})


def read(path: Path) -> Run:
    return readers.read(path)


class TestWhere:
    def test_the_log_alone_cannot_tell(self, tmp_path: Path):
        assert first_non_finite(read(lost(tmp_path)), None).outcome == NO_DATA

    @pytest.mark.parametrize(
        ("name", "phase", "outcome"),
        [
            ("token losses", "forward", "log-softmax"),
            ("reduction", "forward", "reduction"),
            ("tokens (gradient)", "backward", "embedding-gradient"),
            ("blocks.1.attention", "forward", "elsewhere"),
            ("blocks.1.widen", "backward", "elsewhere"),
        ],
    )
    def test_the_module_that_broke_decides(self, tmp_path: Path, name: str, phase: str, outcome: str):
        run = lost(tmp_path)
        kept(run, 6, "fp32", passage("tokens", good=True), passage(name, phase))
        found = first_non_finite(read(run), None)
        assert found.outcome == outcome
        assert found.facts["layer"] == (1 if "blocks" in name else None)

    def test_an_activation_in_fp16(self, tmp_path: Path):
        run = lost(tmp_path, "fp16")
        kept(run, 6, "fp16", passage("blocks.0.widen"))
        assert first_non_finite(read(run), None).outcome == "fp16-activation"

    def test_a_replay_of_another_step_decides_nothing(self, tmp_path: Path):
        run = lost(tmp_path)
        kept(run, 8, "fp32", passage("reduction"))
        assert first_non_finite(read(run), None).outcome == NO_DATA

    def test_a_file_of_somebody_elses_is_passed_over(self, tmp_path: Path):
        run = lost(tmp_path)
        kept(run, 6, "fp32", passage("reduction"))
        for name, text in {"a.json": "{", "b.json": "[]", "c.json": '{"at": "x"}'}.items():
            (run / "replays" / name).write_text(text)
        assert len(read(run).replays) == 1


class TestRange:
    @pytest.mark.parametrize(("good", "outcome"), [(True, "yes"), (False, "no")])
    def test_the_same_step_in_fp32_decides(self, tmp_path: Path, good: bool, outcome: str):
        run = lost(tmp_path, "fp16")
        kept(run, 6, "fp16", passage("blocks.0.widen"))
        kept(run, 6, "fp32", passage("blocks.0.widen", good=good))
        assert range_of_fp16(read(run), None).outcome == outcome

    def test_without_it_the_log_does(self, tmp_path: Path):
        run = lost(tmp_path, "fp16")
        kept(run, 6, "fp16", passage("blocks.0.widen"))
        assert range_of_fp16(read(run), None).outcome == NO_DATA
