"""Forks, replays, recoveries and verified fixes of real, tiny runs."""

import errno
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.lab.conftest import Shared
from tests.lab.small import EARLY, SMALL, boilerplate, recipe, rows_of, timeless
from tutor import readers
from tutor.lab import checkpoint, command, experiment, recover
from tutor.lab.assembly import assemble, plan_of, recipe_of
from tutor.lab.fork import Change, changed, fork
from tutor.lab.loop import resume, train
from tutor.lab.passages import Passages
from tutor.lab.recover import NotPossibleError, blamed, found_again, incident_of
from tutor.lab.replay import Asked, combinations, replay, state_of
from tutor.lab.rewind import rewind, same_bits
from tutor.lineage import experiments_on
from tutor.parts import Part
from tutor.run.recovery import Recovery
from tutor.run.replay import Replay
from tutor.settings import build

SPIKE = {**SMALL, "steps": 225, "checkpoint_every": 90}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny run of 30 steps with checkpoints at 10, 20 and 30, and boilerplate at 12."""
    out = tmp_path_factory.mktemp("runs") / "ran"
    train(recipe(boilerplate(12)), out=out)
    return out


@pytest.fixture(scope="module")
def spiked(shared: Shared) -> Path:
    """A small run that meets a bad batch at 180 without a clip; checkpoints at 90 and 180."""
    spike = assemble(build({**SPIKE, "grad_clip": None}), boilerplate(EARLY))
    return shared("spiked", lambda out: train(spike, out=out))


def alike(rows: list[dict]) -> list[dict]:
    """Rows without what a fork's own checkpoints and clock decide."""
    return [{key: value for key, value in row.items() if key != "checkpoint"} for row in timeless(rows)]


class TestRewind:
    def test_steps_trained_again_are_those_of_the_log(self, ran: Path):
        back = rewind(ran, recipe_of(ran), [14, 17])
        assert (back.base, sorted(back.states)) == (10, [14, 17])
        assert [row["step"] for row in back.rows] == list(range(10, 17))
        assert same_bits(back.rows, rows_of(ran)) is None

    def test_without_a_checkpoint_it_begins_at_the_beginning(self, ran: Path):
        assert rewind(ran, recipe_of(ran), [3]).base == 0

    def test_another_arithmetic_is_noticed(self, ran: Path):
        rows = [dict(row) for row in rows_of(ran)]
        rows[5]["loss"] *= 1 + 1e-6
        back = rewind(ran, recipe_of(ran), [8])
        assert same_bits(back.rows, rows) == 5

    def test_states_stay_as_they_were(self, ran: Path):
        back = rewind(ran, recipe_of(ran), [10, 15])
        saved = torch.load(checkpoint.path_of(ran, 10), weights_only=True)
        for name, weight in saved["model"].items():
            assert torch.equal(weight, back.states[10]["model"][name])
        held, kept = (one["optimizer"]["state"][0]["exp_avg"] for one in (saved, back.states[10]))
        assert torch.equal(held, kept)


class TestFork:
    @pytest.mark.parametrize("at", [0, 10, 20])
    def test_with_nothing_changed_it_is_the_run(self, ran: Path, tmp_path: Path, at: int):
        fork(ran, at, Change(), tmp_path / "fork", command="")
        assert alike(rows_of(tmp_path / "fork")) == alike(rows_of(ran))

    def test_up_to_the_fork_it_is_the_run_and_then_it_is_not(self, ran: Path, tmp_path: Path):
        fork(ran, 10, Change(settings={"lr": 3e-3}), tmp_path / "fork", command="")
        ours, theirs = rows_of(tmp_path / "fork"), rows_of(ran)
        assert alike(ours[:10]) == alike(theirs[:10])
        assert ours[10]["loss"] == theirs[10]["loss"]  # the same weights meet the same batch
        assert ours[11]["loss"] != theirs[11]["loss"]

    def test_it_is_resumed_with_its_change(self, ran: Path, tmp_path: Path):
        change = Change(actions=(Part("skip-batches", {"step": 12, "batches": 3}),))
        fork(ran, 10, change, tmp_path / "whole", command="")
        shutil.copytree(tmp_path / "whole", tmp_path / "cut")
        log = (tmp_path / "cut" / "metrics.jsonl").read_text().splitlines(keepends=True)
        (tmp_path / "cut" / "metrics.jsonl").write_text("".join(log[:23]))
        resume(tmp_path / "cut", recipe_of(tmp_path / "cut"))
        assert timeless(rows_of(tmp_path / "cut")) == timeless(rows_of(tmp_path / "whole"))

    def test_skipped_batches_are_never_met(self, ran: Path, tmp_path: Path):
        change = Change(actions=(Part("skip-batches", {"step": 12, "batches": 3}),))
        fork(ran, 10, change, tmp_path / "fork", command="")
        ours, theirs = ([row["batch_hash"] for row in rows_of(run)] for run in (tmp_path / "fork", ran))
        assert ours[:12] == theirs[:12]
        assert ours[12:27] == theirs[15:]

    def test_swapped_documents_are_in_no_batch(self, ran: Path, tmp_path: Path):
        bad = blamed(readers.read(ran), 12, 3)
        text = "+".join(map(str, bad))
        change = Change(actions=(Part("swap-documents", {"step": 10, "documents": text}),))
        fork(ran, 10, change, tmp_path / "fork", command="")
        held = {one for row in rows_of(tmp_path / "fork")[10:] for one in row["sentence_ids"]}
        assert bad
        assert bad.isdisjoint(held)

    def test_a_fault_is_taken_out(self, tmp_path: Path):
        train(recipe(faults=(Part("empty-mask", {"step": 12, "steps": None}),)), out=tmp_path / "broken")
        fork(tmp_path / "broken", 10, Change(without=("empty-mask",)), tmp_path / "fork", command="")
        assert rows_of(tmp_path / "broken")[-1]["loss"] == "NaN" or rows_of(tmp_path / "broken")[-1][
            "reduced_loss"
        ] in ("NaN", 0.0)
        assert float(rows_of(tmp_path / "fork")[-1]["reduced_loss"]) > 0

    def test_its_lineage_names_the_run_and_the_step(self, ran: Path, tmp_path: Path):
        fork(ran, 20, Change(settings={"lr": 3e-3}), tmp_path / "fork", command="tutor fork")
        told = readers.read(tmp_path / "fork").manifest
        assert [(one.at, one.run, one.action) for one in told.lineage] == [(20, str(ran), "lr=0.003")]
        assert (told.role, told.command) == ("fork", "tutor fork")

    def test_from_fp32_into_fp16_the_scale_is_fresh(self, ran: Path, tmp_path: Path):
        fork(ran, 20, Change(settings={"dtype": "fp16"}), tmp_path / "fork", command="")
        assert rows_of(tmp_path / "fork")[-1]["loss_scale"]

    def test_a_checkpoint_of_another_model_is_refused(self, ran: Path, tmp_path: Path):
        with pytest.raises(ValueError, match=r"other parameters|not \["):
            fork(ran, 10, Change(settings={"n_embd": 32}), tmp_path / "fork", command="")
        assert not (tmp_path / "fork").exists()

    def test_a_disk_that_fills_up_leaves_nothing_half_made(
        self, ran: Path, tmp_path: Path, monkeypatch, capfd
    ):
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(checkpoint, "save", full)
        assert experiment.run_fork(ran, 10, Change(), out=tmp_path / "fork") == 1
        assert "No space left on device; nothing of it is kept" in capfd.readouterr().err
        assert not (tmp_path / "fork").exists()

    @pytest.mark.parametrize("damage", ["cut", "empty", "text"])
    def test_a_torn_checkpoint_is_refused(self, ran: Path, tmp_path: Path, damage: str, capfd):
        shutil.copytree(ran, tmp_path / "run")
        path = checkpoint.path_of(tmp_path / "run", 10)
        whole = path.read_bytes()
        path.write_bytes({"cut": whole[: len(whole) // 2], "empty": b"", "text": b"torch"}[damage])
        assert experiment.run_fork(tmp_path / "run", 10, Change(), out=tmp_path / "fork") == 2
        assert "can't be resumed from" in capfd.readouterr().err

    def test_a_fault_that_the_run_has_not_is_refused(self, ran: Path):
        with pytest.raises(ValueError, match="did you mean boilerplate"):
            changed(plan_of(ran), Change(without=("boilerplat",)))

    def test_a_hostile_checkpoint_runs_no_code(self, ran: Path, tmp_path: Path):
        shutil.copytree(ran, tmp_path / "run")
        path, struck = checkpoint.path_of(tmp_path / "run", 10), tmp_path / "struck"
        torch.save({"next_step": 10, "model": _Hostile(str(struck))}, path)
        with pytest.raises(ValueError, match="holds more than tensors"):
            fork(tmp_path / "run", 10, Change(), tmp_path / "fork", command="")
        assert not struck.exists()


class _Hostile:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)


class TestForkCommand:
    def test_where_there_is_no_checkpoint_the_nearest_is_offered(self, ran: Path, capfd):
        assert experiment.run_fork(ran, 13, Change()) == 2
        said = capfd.readouterr().err
        assert "no checkpoint of the state before step 13" in said
        assert "--at 10" in said
        assert "--retrace trains the steps 10 to 12 again" in said

    def test_retraced_it_is_the_run_up_to_there(self, ran: Path, tmp_path: Path):
        change = Change(settings={"lr": 3e-3})
        assert experiment.run_fork(ran, 13, change, retrace=True, out=tmp_path / "fork") == 0
        assert alike(rows_of(tmp_path / "fork")[:13]) == alike(rows_of(ran)[:13])
        assert checkpoint.path_of(tmp_path / "fork", 13).exists()

    @pytest.mark.parametrize(
        ("at", "steps", "said"),
        [(31, None, "outside"), (30, None, "nothing left to train"), (20, 15, "nothing left to train")],
    )
    def test_bad_places_are_told(self, ran: Path, at: int, steps: int | None, said: str, capfd):
        assert experiment.run_fork(ran, at, Change(), steps=steps) == 2
        assert said in capfd.readouterr().err

    def test_a_taken_folder_is_left_alone(self, ran: Path, tmp_path: Path, capfd):
        (tmp_path / "taken").mkdir()
        (tmp_path / "taken" / "notes.txt").touch()
        assert experiment.run_fork(ran, 10, Change(), out=tmp_path / "taken") == 2
        assert "never overwritten" in capfd.readouterr().err


class TestElsewhere:
    """A run that was trained on a device that isn't here."""

    @pytest.fixture
    def moved(self, ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        copy = tmp_path / "moved"
        shutil.copytree(ran, copy)
        manifest = json.loads((copy / "manifest.json").read_text())
        manifest["settings"]["device"] = "mps"
        (copy / "manifest.json").write_text(json.dumps(manifest))
        monkeypatch.setattr("tutor.lab.assembly.devices", lambda: ["cpu"])
        return copy

    def test_it_is_forked_on_what_is_here_and_says_so(self, moved: Path, tmp_path: Path, capfd):
        change = Change(settings={"lr": 1e-4, "steps": 23})
        assert experiment.run_fork(moved, 20, change, out=tmp_path / "fork") == 0
        assert (
            "was trained on mps, which isn't here: what follows is trained on cpu" in capfd.readouterr().out
        )
        assert json.loads((tmp_path / "fork" / "manifest.json").read_text())["device"] == "cpu"

    def test_it_is_not_taken_up_and_its_log_stays(self, moved: Path, capfd):
        before = (moved / "metrics.jsonl").read_bytes()
        assert command.run_train(None, {}, resume=moved) == 2
        assert "was trained on mps, which isn't here: resume it where it is" in capfd.readouterr().err
        assert (moved / "metrics.jsonl").read_bytes() == before


class TestLineage:
    def test_what_was_tried_is_found_with_what_was_tried_on_that(self, tmp_path: Path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        runs = tmp_path / "runs"
        train(recipe(), out=runs / "first")
        fork(runs / "first", 10, Change(settings={"lr": 3e-3}), runs / "second", command="")
        fork(runs / "second", 10, Change(settings={"lr": 1e-3}), runs / "recover" / "A", command="")
        assert [(one.path.name, one.change, one.at) for one in experiments_on(runs / "first")] == [
            ("second", "lr=0.003", 10)
        ]
        [deeper] = experiments_on(Path("runs/second"))
        assert (deeper.path.name, deeper.verified) == ("A", None)
        assert deeper.end is not None
        assert experiments_on(runs / "recover" / "A") == []


class TestReplay:
    def test_the_step_is_that_of_the_log(self, ran: Path):
        [found] = replay(ran, [Asked(14)], rows_of(ran))
        row = rows_of(ran)[14]
        assert found.loss == pytest.approx(row["reduced_loss"], rel=1e-6)
        assert found.grad_norm == pytest.approx(row["grad_norm"], rel=1e-5)
        assert found.finite
        assert found.culprit is None
        assert (found.base, found.differs) == (0, None)

    def test_steps_after_it_are_those_of_the_log(self, ran: Path):
        [found] = replay(ran, [Asked(14, after=5)], rows_of(ran))
        assert found.losses_after == pytest.approx([row["loss"] for row in rows_of(ran)[15:20]], rel=1e-6)

    def test_another_batch_is_given(self, ran: Path):
        mine, other = replay(ran, [Asked(14), Asked(14, batch=25)], rows_of(ran))
        assert mine.loss != other.loss
        same, later = replay(ran, [Asked(14, batch=14), Asked(25)], rows_of(ran))
        assert same.loss == mine.loss
        assert later.loss != other.loss  # the same batch, another state

    def test_a_batch_from_before_is_found_too(self, ran: Path):
        [found] = replay(
            ran, [Asked(14, batch=4, state=dict.fromkeys(("weights", "m", "v"), 4))], rows_of(ran)
        )
        assert found.loss == pytest.approx(rows_of(ran)[4]["reduced_loss"], rel=1e-6)

    def test_parts_of_the_state_each_come_from_where_they_are_asked(self, ran: Path):
        asked = [Asked(15, state=one, after=3) for one in combinations(11, 15)]
        found = replay(ran, asked, rows_of(ran))
        weights = {one.state["weights"]: one.loss for one in found}
        assert len(set(weights.values())) == 2  # the step's own loss depends on the weights alone
        assert len({one.mean_after for one in found}) == 7
        again = replay(ran, [asked[3]], rows_of(ran))
        assert again[0].mean_after == found[3].mean_after  # one way leaves the others' states alone

    def test_in_fp32_a_step_of_fp16_succeeds(self, tmp_path: Path):
        hot = (Part("hot-activations", {"gain": 3000.0}), Part("no-scaler"))
        train(recipe(faults=hot, dtype="fp16", steps=12), out=tmp_path / "run")
        step = experiment.step_to_replay(readers.read(tmp_path / "run"))
        half, single = replay(
            tmp_path / "run", [Asked(step), Asked(step, fp32=True)], rows_of(tmp_path / "run")
        )
        assert not half.finite
        assert half.culprit is not None
        assert "widen" in half.culprit.name
        assert single.finite

    @pytest.mark.parametrize(
        ("fault", "phase", "name"),
        [
            (Part("empty-mask", {"step": 12, "steps": None}), "forward", "reduction"),
            (Part("log-of-softmax"), "forward", "token losses"),
            (Part("inf-embedding"), "backward", "tokens (gradient)"),
        ],
    )
    def test_where_it_begins_is_named(self, tmp_path: Path, fault: Part, phase: str, name: str):
        hot = (Part("hot-init", {"times": 2000.0}),) if fault.name == "log-of-softmax" else ()
        train(recipe(faults=(*hot, fault), grad_clip=None), out=tmp_path / "run")
        run = readers.read(tmp_path / "run")
        [found] = replay(tmp_path / "run", [Asked(experiment.step_to_replay(run))], rows_of(tmp_path / "run"))
        assert found.culprit is not None
        assert (found.culprit.phase, found.culprit.name) == (phase, name)

    @pytest.mark.slow
    def test_the_first_violent_update_is_named(self, spiked: Path):
        [found] = replay(spiked, [Asked(EARLY + 4)], rows_of(spiked))
        assert found.violent is not None
        assert EARLY <= found.violent.step <= EARLY + 3

    def test_what_it_finds_is_kept_beside_the_run(self, ran: Path, tmp_path: Path):
        shutil.copytree(ran, tmp_path / "run")
        seen: list[Replay] = []
        assert experiment.run_replay(tmp_path / "run", [Asked(14)], seen.extend) == 0
        [kept] = (tmp_path / "run" / "replays").iterdir()
        assert Replay.model_validate_json(kept.read_bytes()) == seen[0]

    @pytest.mark.parametrize(
        ("text", "parts"),
        [("11", {"weights": 11, "m": 11, "v": 11}), ("m=3,v=4", {"m": 3, "v": 4}), (None, {})],
    )
    def test_parts_are_read(self, text: str | None, parts: dict[str, int]):
        assert state_of(text) == parts

    @pytest.mark.parametrize("text", ["w=3", "m", "m=x", "m=-1"])
    def test_odd_parts_are_told(self, text: str):
        with pytest.raises(ValueError, match="--state"):
            state_of(text)


class TestPassages:
    def test_a_module_is_found_where_its_children_are_sound(self):
        class Bad(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.nn.Linear(2, 2)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return self.inner(x) / 0.0

        model = torch.nn.Sequential(torch.nn.Linear(2, 2), Bad(), torch.nn.Linear(2, 2))
        passages = Passages(model)
        with passages.watched():
            model(torch.ones(1, 2))
        assert next(one for one in passages.all() if one.broke).name == "1"

    def test_hooks_are_taken_off(self):
        model = torch.nn.Sequential(torch.nn.Linear(2, 2))
        passages = Passages(model)
        with passages.watched():
            model(torch.ones(1, 2))
        model(torch.ones(1, 2))
        assert len(passages.all()) == 1


def test_the_spike_asked_for_is_the_one_in_the_run_that_was_trained_again(tmp_path: Path):
    for name, begins in (("first", (150, 250)), ("again", (151, 251))):
        loss = [1 + 0.01 * (step % 2) for step in range(400)]
        for step, height in zip(begins, (3.0, 8.0), strict=True):
            loss[step : step + 4] = [height] * 4
        rows = [json.dumps({"step": step, "loss": value}) for step, value in enumerate(loss)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    asked = incident_of(tmp_path / "first.jsonl", 150)
    again = found_again(asked, tmp_path / "again.jsonl")
    assert (asked.spike, again.spike, again.seen) == (150, 151, asked.seen)
    assert incident_of(tmp_path / "again.jsonl").spike == 251  # the tallest, where none is named


@pytest.mark.slow
class TestRecover:
    @pytest.fixture(scope="class")
    def found(self, spiked: Path, tmp_path_factory: pytest.TempPathFactory) -> Recovery:
        shown: list[Recovery] = []
        out = tmp_path_factory.mktemp("recover") / "out"
        with pytest.MonkeyPatch.context() as patch:  # a minute of training less
            patch.setattr(recover, "SOON", 30)
            patch.setattr(recover, "LATE", 60)
            assert experiment.run_recover(spiked, "ABCDE", shown.append, out=out) == 0
        assert Recovery.model_validate_json((out / "recovery.json").read_bytes()) == shown[0]
        return shown[0]

    def test_each_action_is_tried_and_measured(self, found: Recovery):
        assert [one.action for one in found.outcomes] == list("ABCDE")
        assert found.spike == EARLY
        assert all(one.late is not None for one in found.outcomes)

    def test_going_back_costs_what_lies_between(self, found: Recovery):
        cost = {one.action: one for one in found.outcomes}
        assert cost["A"].steps == 0
        assert cost["B"].steps == found.seen - 180
        assert cost["C"].steps == found.seen - 90
        per_step = SMALL.get("batch_size", 8) * SMALL.get("block_size", 64)
        assert cost["C"].tokens == cost["C"].steps * per_step

    def test_who_skips_or_swaps_does_not_spike_again_and_who_meets_it_again_does(self, found: Recovery):
        again = {one.action: one.again for one in found.outcomes}
        assert (again["B"], again["C"], again["E"]) == (None, None, None)
        assert again["D"] is not None

    def test_losses_of_those_who_skip_are_lower_soon(self, found: Recovery):
        soon = {one.action: one.soon for one in found.outcomes}
        assert soon["B"] is not None
        assert soon["A"] is not None
        assert soon["B"] < soon["A"]

    def test_a_run_without_a_spike_has_nothing_to_recover_from(self, ran: Path, tmp_path: Path, capfd):
        calm = tmp_path / "calm"
        train(recipe(steps=20), out=calm)
        assert experiment.run_recover(calm, "A", lambda _: None) == 2
        assert "no spike to recover from" in capfd.readouterr().err

    def test_a_run_that_ends_in_nan_is_saved_by_skipping_the_batch(self, tmp_path: Path):
        train(recipe(faults=(Part("empty-mask", {"step": 12}),), steps=20), out=tmp_path / "run")
        shown: list[Recovery] = []
        assert experiment.run_recover(tmp_path / "run", "AB", shown.append, out=tmp_path / "out") == 0
        [found] = shown
        carried, skipped = found.outcomes
        assert found.spike == 12
        assert carried.again is not None
        assert skipped.again is None
        assert found.best == skipped

    def test_without_batches_logged_there_is_nothing_to_swap(self, spiked: Path, tmp_path: Path):
        rows = [{k: v for k, v in row.items() if k != "sentence_ids"} for row in rows_of(spiked)]
        (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        with pytest.raises(NotPossibleError, match="no subset can be told"):
            blamed(readers.read(tmp_path / "log.jsonl"), EARLY, 5)


@pytest.mark.slow
class TestFixes:
    def test_the_smallest_fix_is_trained_from_the_same_seed(self, spiked: Path, tmp_path: Path):
        code, told = experiment.run_fix(spiked, Change(settings={"grad_clip": 1.0}), tmp_path / "fix")
        assert (code, told) == (0, "grad_clip=1.0")
        manifest = readers.read(tmp_path / "fix").manifest
        assert (manifest.role, manifest.seed) == ("fix", readers.read(spiked).manifest.seed)
        assert manifest.given["of"] == str(spiked)
        assert rows_of(tmp_path / "fix")[0]["loss"] == rows_of(spiked)[0]["loss"]

    def test_a_change_that_changes_nothing_is_refused(self, spiked: Path, tmp_path: Path, capfd):
        code, _ = experiment.run_fix(spiked, Change(settings={"grad_clip": None}), tmp_path / "fix")
        assert code == 2
        assert "changes nothing" in capfd.readouterr().err

    def test_a_card_without_that_fix_names_those_it_has(self, ran: Path, tmp_path: Path, capfd):
        code, _ = experiment.run_fix(ran, "clip", tmp_path / "fix")
        assert code == 2
        assert "no break" in capfd.readouterr().err


def test_no_experiment_ends_in_a_traceback_on_a_folder_that_is_no_run(tmp_path: Path, capfd):
    (tmp_path / "metrics.jsonl").write_text('{"step": 0, "loss": 1.0}\n{"step": 1, "loss": 1.0}\n')
    tries: list[Callable[[], int]] = [
        lambda: experiment.run_fork(tmp_path, 0, Change()),
        lambda: experiment.run_replay(tmp_path, [Asked(0)], lambda _: None),
        lambda: experiment.run_recover(tmp_path, "A", lambda _: None),
        lambda: experiment.run_fix(tmp_path, Change(settings={"lr": 1.0}), tmp_path / "fix")[0],
    ]
    for attempt in tries:
        assert attempt() == 2
        assert capfd.readouterr().err.startswith("tutor: ")
