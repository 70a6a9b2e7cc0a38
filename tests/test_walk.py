"""The walk: over recorded runs to their leaves, by hand where the log is silent, back, and resumed."""

import json
import math

import pytest

from tests.conftest import make_run, shipped
from tutor import readers, tree, walk
from tutor.detectors import NO_DATA, NOT_YET
from tutor.saying import after_prediction

PHASE_19 = shipped("phase-19")


def leaf(run) -> str:
    return walk.unattended(run, PHASE_19)[0].at


def flat(length: int = 600, **columns):
    """A quiet fp32 run, with some columns replaced."""
    base = {
        "loss": [2.0 - 1e-3 * i + (0.02 if i % 2 else -0.02) for i in range(length)],
        "grad_norm": [1.0] * length,
        "lr": [1e-3] * length,
        "param_norm": [10.0] * length,
        "batch_hash": [str(i) for i in range(length)],
        "val_loss": [2.0 - 1e-3 * i if i % 50 == 0 else None for i in range(length)],
    }
    return make_run(base | columns, {"dtype": "fp32"})


class TestRecordedRuns:
    def test_the_break_reaches_a_flaw(self):
        end, looks = walk.unattended(readers.open_run("runs/19-break"), PHASE_19)
        assert end.at == "unclipped-batch"
        assert end.focus == 312
        assert walk.flawed(end)
        path = ["1.1", "1.4", "2.1", "2.2", "2.3", "2.5", "2.4", "2.6"]
        assert [look.question for look in looks] == path
        assert all(answer.by == "log" for answer in end.answers)

    def test_the_controls_batch_did_no_harm_and_every_section_is_walked(self):
        end, looks = walk.unattended(readers.open_run("runs/19-control"), PHASE_19)
        assert end.at == "healthy"
        assert end.focus == 312
        assert not walk.flawed(end)
        said = {look.question: look.outcome for look in looks}
        assert (said["2.3"], said["2.5"]) == ("batch", "contained")
        sections = {question.section("en") for question in PHASE_19.questions.values()}
        assert {PHASE_19.questions[id].section("en") for id in said} == sections
        assert all(answer.by == "log" for answer in end.answers)

    def test_the_fix_is_a_command(self):
        end, _ = walk.unattended(readers.open_run("runs/19-break"), PHASE_19)
        commands = [walk.fix_command(end.run, fix.change) for fix in end.leaf.fixes]
        assert "tutor train --break no-clip --device cpu --set grad_clip=1.0" in commands

    @pytest.mark.parametrize("manifest", [{"command": "python train.py --lr 3e-4"}, {}])
    def test_no_command_for_a_run_that_tutor_did_not_train(self, manifest: dict):
        run = make_run({"loss": [1.0]}, manifest)
        assert walk.fix_command(run, {"grad_clip": 1.0}) is None

    def test_a_controls_fix_is_of_the_break_and_goes_to_a_new_folder(self):
        manifest = {"tutor": "0.1.0", "break": "no-clip", "role": "control"}
        run = make_run({"loss": [1.0]}, manifest | {"command": "tutor train --control --out runs/x"})
        assert walk.fix_command(run, {"lr": 1e-4}) == "tutor train --break no-clip --set lr=0.0001"

    def test_no_command_that_changes_nothing(self):
        run = make_run({"loss": [1.0]}, {"tutor": "0.1.0", "settings": {"grad_clip": 1.0}})
        assert walk.fix_command(run, {"grad_clip": 1.0}) is None
        assert walk.fix_command(run, {"grad_clip": 0.5}) == "tutor train --set grad_clip=0.5"
        assert walk.fix_command(run, {}) is None

    def test_what_was_asked_for_over_the_break_stays_but_for_what_the_fix_changes(self):
        manifest = {"tutor": "0.2.0", "break": "mine/no clip.yaml", "changes": {"n_layer": 2, "lr": 0.01}}
        run = make_run({"loss": [1.0]}, manifest | {"settings": {"n_layer": 2, "lr": 0.01}})
        assert walk.fix_command(run, {"lr": tree.Times(times=0.5)}) == (
            "tutor train --break 'mine/no clip.yaml' --set n_layer=2 --set lr=0.005"
        )
        plain = make_run({"loss": [1.0]}, {"tutor": "0.2.0", "break": None, "changes": {"n_layer": 2}})
        assert walk.fix_command(plain, {"lr": 1e-4}) == "tutor train --set n_layer=2 --set lr=0.0001"

    def test_a_sealed_run_gives_no_command(self):
        run = make_run({"loss": [1.0]}, {"tutor": "0.2.0", "sealed": True, "settings": {"lr": 1.0}})
        assert walk.fix_command(run, {"lr": 1e-4}) is None

    def test_a_walk_ends_where_the_log_says_something_else_by_now(self):
        run = flat()
        walked = walk.begin(run, PHASE_19)
        for outcome in ("no", "untrained", "no"):
            walked = walk.predict(walked, outcome, 3)
            walked = walk.go_on(walked, walk.look(walked))
        assert walked.at == "3.1"
        state = json.loads(json.dumps(walk.to_state(walked)))
        assert walk.from_state(run, PHASE_19, state).at == walked.at
        loss = run["loss"].to_list()
        loss[300] = 9.0
        assert walk.from_state(flat(loss=loss), PHASE_19, state).at == "2.1"


class TestLeaves:
    """The leaves that phase-19 reaches from a log alone, each from a run with that one trait."""

    def test_healthy(self):
        assert leaf(flat()) == "healthy"

    def said(self, run) -> dict[str, str]:
        """What the walk took for the answer, by question."""
        return {answer.question: answer.outcome for answer in walk.unattended(run, PHASE_19)[0].answers}

    def test_a_blip_is_a_remark_on_the_way_and_what_comes_after_it_is_asked_too(self):
        loss = flat()["loss"].to_list()
        loss[300] = 2.5
        blip = flat(loss=loss)
        assert leaf(blip) == "healthy"
        assert {"2.8": "blip", "3.1": "no", "4.1": "no", "5.1": "no", "5.5": "no"}.items() <= self.said(
            blip
        ).items()
        assert leaf(flat(loss=loss, grad_norm=[1.0] * 590 + [math.nan] * 10)) == "non-finite-gradient"
        loss[500:] = [3.0] * 100
        assert leaf(flat(loss=loss)) == "diverged"

    def test_a_spike_that_towers_or_lasts_is_an_instability(self):
        loss = flat()["loss"].to_list()
        loss[300] = 40.0
        assert leaf(flat(loss=loss)) == "instability"
        loss[300:303] = [2.5] * 3
        assert leaf(flat(loss=loss)) == "instability"

    def test_schedule_bug(self):
        loss, lr = flat()["loss"].to_list(), [1e-3 - 1e-6 * i for i in range(600)]
        loss[300] = 2.5
        smooth = flat(loss=loss, lr=lr)
        assert self.said(smooth)["2.3"] == "none", "the same spike on a smooth schedule"
        assert leaf(smooth) == "healthy"
        lr[300:] = [1e-3] * 300
        assert leaf(flat(loss=loss, lr=lr)) == "schedule-bug"

    def test_a_planned_restart_is_a_remark(self):
        loss, lr = flat()["loss"].to_list(), [1e-3 * (1 - i % 150 / 200) for i in range(600)]
        loss[300] = 2.5
        restarts = flat(loss=loss, lr=lr)
        assert (self.said(restarts)["2.3"], leaf(restarts)) == ("planned", "healthy")

    def test_loader_bug(self):
        loss, hashes = flat()["loss"].to_list(), [str(i) for i in range(600)]
        loss[300], hashes[300] = 2.5, hashes[295]
        assert leaf(flat(loss=loss, batch_hash=hashes)) == "loader-bug"

    def struck(self, settings: dict, checkpoints: list[int] | None = None, rows: int = 300, **columns):
        """A run that a batch with 50 times the gradient struck at step 300, `rows` rows long."""
        loss = [
            1.0 + (0.02 if i % 2 else -0.02) + (3.0 if 300 <= i < 300 + rows else 0.0) for i in range(600)
        ]
        norms = [50.0 if i == 300 else 1.0 for i in range(600)]
        run = flat(loss=loss, grad_norm=norms, **columns)
        given = {"dtype": "fp32", "settings": settings}
        return make_run(run.frame.to_dict(as_series=False), given, checkpoints=checkpoints)

    def advice(self, run) -> tuple[str, list[str]]:
        """The leaf, and which advice it gives for the answers taken."""
        end, _ = walk.unattended(run, PHASE_19)
        given = {answer.question: answer.outcome for answer in end.answers}
        told = end.leaf.advice_for(given)
        return end.at, [name for name, one in end.leaf.advice.items() if one in told]

    @pytest.mark.parametrize(
        ("checkpoints", "rows", "advice"),
        [
            ([], 300, "train-again"),
            (None, 300, "train-again"),  # nobody knows of one
            ([200], 300, "reload"),
            ([200], 20, "carry-on"),
        ],
    )
    def test_an_unclipped_batch_whatever_came_after_and_advice_that_depends_on_it(
        self, checkpoints: list[int] | None, rows: int, advice: str
    ):
        run = self.struck({"grad_clip": None, "beta2": 0.999}, checkpoints, rows)
        assert self.advice(run) == ("unclipped-batch", [advice])

    @pytest.mark.parametrize(("beta2", "found"), [(0.999, "slow-second-moment"), (0.95, "bad-batch")])
    @pytest.mark.parametrize("checkpoints", [[], [200]])
    def test_a_batch_that_did_harm_though_it_was_clipped(
        self, beta2: float, found: str, checkpoints: list[int]
    ):
        clipped = [1.0] * 600
        run = self.struck({"grad_clip": 1.0, "beta2": beta2}, checkpoints, grad_norm_clipped=clipped)
        assert leaf(run) == found
        assert leaf(self.struck({"grad_clip": 1.0, "beta2": beta2}, checkpoints)) == found

    def test_a_rise_for_good_that_no_batch_explains(self):
        loss = [1.0 + (0.02 if i % 2 else -0.02) + (3.0 if i >= 300 else 0.0) for i in range(600)]
        end, _ = walk.unattended(flat(loss=loss), PHASE_19)
        assert (end.at, walk.flawed(end)) == ("diverged", True)

    def rising(self, **columns):
        return flat(loss=[1.0 + 0.004 * i + (0.2 if i % 2 else -0.2) for i in range(600)], **columns)

    def test_drift(self):
        lr = [1e-3 * abs(i - 300) / 300 for i in range(600)]
        assert leaf(self.rising(lr=lr)) == "schedule-inverted"
        assert leaf(self.rising(param_norm=[10.0 * 1.01**i for i in range(600)])) == "decay-too-low"
        assert leaf(self.rising(param_norm=[10.0 * 0.99**i for i in range(600)])) == "decay-too-high"
        assert leaf(self.rising(grad_norm=[1.0 + i / 100 for i in range(600)])) == "away-from-minimum"
        assert leaf(self.rising()) == "diverged"

    def test_a_rate_that_only_rises_under_a_rising_loss_is_a_warm_up_without_end(self):
        run = self.rising(lr=[1e-5 * (i + 1) for i in range(600)])
        assert leaf(run) == "schedule-inverted"  # no warm-up is configured: the log decides
        warmed = make_run(run.frame.to_dict(as_series=False), {"schedule": {"warmup_steps": 100}})
        assert leaf(warmed) == "schedule-inverted"

    def test_what_goes_wrong_without_a_spike(self):
        evaluated = [i % 50 == 0 for i in range(600)]
        turned = [1.5 + abs(i - 200) / 400 if there else None for i, there in enumerate(evaluated)]
        assert leaf(flat(val_loss=turned)) == "overfitting"
        broken = [math.nan if there else None for there in evaluated]
        assert leaf(flat(val_loss=broken)) == "evaluation-not-finite"
        assert leaf(flat(loss=[6.2] * 600)) == "never-learned"
        assert leaf(flat(grad_norm=[1.0 + i / 20 for i in range(600)])) == "gradient-grows"
        assert leaf(flat(grad_norm=[0.0] * 600, loss=[6.2] * 600)) == "zero-gradient"
        stuck = flat()["loss"].to_list()[:250] + [1.75] * 350
        assert leaf(flat(grad_norm=[1.0] * 250 + [0.0] * 350, loss=stuck)) == "zero-gradient"
        assert leaf(flat(grad_norm=[1.0] * 100 + [math.inf] * 500)) == "non-finite-gradient"
        assert leaf(flat(skipped=[1.0] * 600)) == "every-step-skipped"

    @pytest.mark.parametrize("length", [11, 60, 600])
    def test_three_rows_of_non_finite_gradients_at_the_end_are_enough(self, length: int):
        norms = [1.0] * (length - 3) + [math.nan] * 3
        assert leaf(flat(length, grad_norm=norms)) == "non-finite-gradient"

    @pytest.mark.parametrize(
        ("scale", "found"),
        [
            ([1024.0] * 600, "scaling-not-engaged"),
            ([2.0 ** (10 - i // 40) for i in range(600)], "systematic-overflow"),
        ],
    )
    def test_precision(self, scale: list[float], found: str):
        columns = flat().frame.to_dict(as_series=False)
        columns |= {"loss_scale": scale, "grad_norm": [math.inf if i % 10 == 0 else 1.0 for i in range(600)]}
        assert leaf(make_run(columns, {"dtype": "fp16"})) == found

    def test_questions_of_the_loss_scale_are_not_put_to_bf16(self):
        columns = flat().frame.to_dict(as_series=False)
        columns["grad_norm"] = [math.inf if i % 10 == 0 else 1.0 for i in range(600)]
        assert leaf(make_run(columns, {"dtype": "bf16"})) == "non-finite-gradient"

    def test_a_few_skipped_steps_are_healthy(self):
        columns = flat().frame.to_dict(as_series=False)
        columns["grad_norm"] = [math.inf if i % 50 == 0 else 1.0 for i in range(600)]
        run = make_run(columns, {"dtype": "fp16"})
        assert (self.said(run)["3.1"], leaf(run)) == ("skipped", "healthy")


class TestUnattended:
    def test_nan_stops_where_a_person_is_needed_and_is_a_flaw(self):
        end, _ = walk.unattended(flat(loss=[1.0] * 300 + [math.nan] * 300), PHASE_19)
        assert end.at == "1.3"
        assert walk.flawed(end)

    def test_nan_that_no_later_question_explains_is_no_health(self):
        run = make_run({"loss": [2.0 - 1e-3 * i for i in range(300)] + [math.nan] * 3}, {"dtype": "fp16"})
        end, _ = walk.unattended(run, PHASE_19)
        assert (walk.verdict(end), walk.named(end)) == ("flaw", None)

    def test_a_loss_alone_is_walked_with_assumptions(self):
        end, looks = walk.unattended(make_run({"loss": flat()["loss"]}), PHASE_19)
        assert end.at == "healthy"
        silent = [look.question for look in looks if look.outcome == NO_DATA]
        assert silent == ["5.6", "5.7", "5.4", "5.5"]
        assert [answer.question for answer in end.answers if answer.by == "assumed"] == silent
        assert walk.verdict(end) == "undecided"

    def test_a_short_run_is_not_there_yet(self):
        loss = [4.0 - 0.04 * i for i in range(50)]
        end, looks = walk.unattended(flat(50, loss=loss), PHASE_19)
        said = {look.question: look.outcome for look in looks}
        assert (said["2.1"], said["4.1"]) == ("no", NOT_YET)
        assert not walk.flawed(end)
        assert walk.verdict(end) == "undecided"
        end, looks = walk.unattended(flat(5, loss=loss[:5]), PHASE_19)
        assert {look.question: look.outcome for look in looks}["2.1"] == NOT_YET
        assert (walk.flawed(end), walk.verdict(end)) == (False, "undecided")

    def test_no_loss_at_all(self):
        end, _ = walk.unattended(make_run({"lr": [1.0]}), PHASE_19)
        assert all(answer.by == "assumed" for answer in end.answers)
        assert not walk.flawed(end)
        assert walk.verdict(end) == "undecided"


class TestByHand:
    def test_who_does_not_know_goes_on_with_what_is_assumed(self):
        """As the walk with nobody watching does: so it is never called healthy."""
        at = walk.begin(make_run({"loss": flat()["loss"]}), PHASE_19)
        while isinstance(at, walk.AtQuestion):
            at = walk.go_on(at, walk.look(at), walk.UNSURE)
        alone, looks = walk.unattended(at.run, PHASE_19)
        assert at.answers == alone.answers
        assert walk.unanswered(at) == ["5.4", "5.5"]
        assert (at.at, walk.verdict(at)) == ("healthy", "undecided")
        assert walk.looked_back(at) == looks

    def test_nothing_is_assumed_where_a_person_has_to_say(self):
        run = make_run({"loss": [2.0 - 1e-3 * i for i in range(300)] + [math.nan] * 3})
        at = walk.begin(run, PHASE_19)
        for _ in ("1.1", "1.6"):
            at = walk.go_on(at, walk.look(at), walk.UNSURE)
        assert at.at == "1.2"
        with pytest.raises(ValueError, match="an answer is needed"):
            walk.go_on(at, walk.look(at), walk.UNSURE)

    def test_the_log_decides_not_the_prediction(self):
        begun = walk.begin(flat(), PHASE_19)
        predicted = walk.predict(begun, "yes", 4)
        gone = walk.go_on(predicted, walk.look(predicted))
        assert (gone.at, gone.answers[0].outcome, gone.answers[0].by) == ("1.4", "no", "log")
        assert gone.answers[0].prediction == walk.Prediction("yes", 4)
        assert begun.prediction is None

    def test_who_gives_the_answer_under_which_the_logs_own_stands_is_right(self):
        still = make_run({"val_loss": [2.50431] * 60}, {"dtype": "fp32"})
        at = walk.begin(still, PHASE_19, ("5.3", None))
        seen = walk.look(at)
        assert (seen.outcome, "held-out-still" in at.question.offered) == ("held-out-still", False)
        right, wrong = (walk.go_on(walk.predict(at, said, 3), seen) for said in ("no", "yes"))
        assert [walk.score(one.answers) for one in (right, wrong)] == [(1, 1), (0, 1)]
        for gone, verdict in ((right, "right"), (wrong, "wrong")):
            said = gone.answers[-1].prediction
            lines = after_prediction(at.question, said, seen, "en")
            assert lines[0].verdict == verdict
            assert any(line.role == "tempting" for line in lines) is (verdict == "wrong")
            assert walk.from_state(still, PHASE_19, walk.to_state(gone)).answers == gone.answers

    def test_without_data_the_learner_decides_and_it_is_marked(self):
        begun = walk.begin(make_run({"lr": [1.0]}), PHASE_19)
        seen = walk.look(begun)
        assert not seen.answers
        with pytest.raises(ValueError, match="an answer is needed"):
            walk.go_on(begun, seen)
        gone = walk.go_on(begun, seen, "yes")
        assert (gone.at, gone.answers[0].by) == ("1.6", "learner")

    def test_the_answers_are_those_that_were_offered_unless_that_is_no_choice(self):
        learned = walk.begin(flat(), PHASE_19, ("5.3", None))
        assert list(learned.by_hand) == list(learned.offered)
        assert "earns-nothing" not in learned.by_hand  # no run of rewards
        turned = walk.begin(make_run({"loss": [2.0] * 300}, {}), PHASE_19, ("5.4", None))
        assert list(turned.offered) == ["no"]
        assert "turns" in turned.by_hand  # validation may be known from elsewhere
        assert "score-lost" not in turned.by_hand

    def test_hints_that_were_shown_stay_shown_whichever_way_one_comes_back(self):
        run = make_run({"loss": flat()["loss"]})
        at = walk.begin(run, PHASE_19)
        at = walk.take(at, "no", "log", walk.look(at))
        at = walk.reveal(walk.reveal(at))
        here, first = at.at, walk.back(at)
        assert first.hints == 0
        again = walk.take(first, "no", "log", walk.look(first))
        assert (again.at, again.hints) == (here, 2)
        kept = walk.from_state(run, PHASE_19, walk.to_state(first))
        assert walk.take(kept, "no", "log", walk.look(kept)).hints == 2
        odd = walk.from_state(run, PHASE_19, walk.to_state(first) | {"hinted": {here: 99}})
        assert walk.take(odd, "no", "log", walk.look(odd)).hints == len(again.question.hints)

    def test_hints_are_counted_and_end(self):
        walked = walk.begin(flat(), PHASE_19)
        for expected in (1, 2, 3, 3):
            walked = walk.reveal(walked)
            assert walked.hints == expected

    def test_back_undoes_the_prediction_then_the_answer(self):
        begun = walk.reveal(walk.begin(flat(), PHASE_19))
        predicted = walk.predict(begun, "no", 2)
        gone = walk.go_on(predicted, walk.look(predicted))
        again = walk.predict(gone, "untrained", 1)
        assert (walk.back(again).at, walk.back(again).prediction) == (gone.at, None)
        assert walk.back(again).answers == gone.answers
        returned = walk.back(gone)
        assert (returned.at, returned.answers, returned.hints) == ("1.1", (), 1)
        assert walk.back(walk.back(returned)) == returned

    def test_another_step_can_be_taken_up(self):
        loss = flat()["loss"].to_list()
        loss[200], loss[400] = 3.0, 6.0
        walked = walk.begin(flat(loss=loss), PHASE_19)
        for _ in range(3):
            walked = walk.go_on(walked, walk.look(walked))
        assert walked.focus == 400
        other = walk.pick(walked, 200)
        assert walk.look(other).finding.facts["step"] == 201


class TestPassedOver:
    def test_on_to_what_the_run_recorded_something_of(self):
        begun = walk.begin(make_run({"episode_reward": [float(i % 7) for i in range(300)]}), PHASE_19)
        assert walk.unrecorded(begun)
        there = walk.pass_over(begun)
        assert there.at == "5.3"  # which a reward answers
        assert {answer.by for answer in there.answers} == {"assumed"}
        assert {answer.prediction for answer in there.answers} == {None}
        assert not walk.unrecorded(there)
        assert walk.pass_over(there) is there

    def test_a_question_that_the_log_answers_stays(self):
        begun = walk.begin(flat(), PHASE_19)
        assert not walk.unrecorded(begun)
        assert walk.pass_over(begun) is begun

    def test_what_only_a_fact_of_the_configuration_lacks_is_asked(self):
        losses = [3.0 - i / 50 if i < 30 else math.nan for i in range(40)]
        at = walk.begin(make_run({"loss": losses}), PHASE_19)
        while at.at != "1.2":  # the dtype, which the learner may know
            at = walk.go_on(at, walk.look(at))
        assert not walk.look(at).answers
        assert not walk.unrecorded(at)


class TestWhatTheLogHasSaid:
    """A prediction made after the log has spoken is marked so, for good."""

    def answered(self, outcome: str) -> walk.AtQuestion:
        return walk.predict(walk.begin(flat(), PHASE_19), outcome, 5)

    def test_the_first_prediction_is_the_learners_own(self):
        assert not self.answered("yes").prediction.seen_before

    def test_one_made_after_a_look_is_not_however_far_the_walk_went_on(self):
        walked = walk.predict(walk.back(self.answered("yes")), "no", 5)
        assert walked.prediction.seen_before
        gone = walk.go_on(walked, walk.look(walked))
        assert gone.answers[0].prediction.seen_before
        returned = walk.predict(walk.back(gone), "no", 5)
        assert returned.prediction.seen_before

    def test_who_comes_back_and_says_the_same_keeps_what_was_right(self):
        walked = self.answered("no")
        gone = walk.go_on(walked, walk.look(walked))
        kept = walk.from_state(flat(), PHASE_19, json.loads(json.dumps(walk.to_state(walk.back(gone)))))
        returned = walk.predict(kept, "no", 5)
        assert not returned.prediction.seen_before
        gone = walk.go_on(returned, walk.look(returned))
        assert walk.score(gone.answers) == (1, 1)
        changed = walk.predict(walk.back(gone), "yes", 5)
        assert changed.prediction.seen_before
        assert not walk.predict(walk.back(changed), "no", 5).prediction.seen_before  # what was said first

    def test_another_step_is_another_matter(self):
        loss = flat()["loss"].to_list()
        loss[200], loss[400] = 3.0, 6.0
        walked = walk.begin(flat(loss=loss), PHASE_19)
        for _ in range(3):
            walked = walk.go_on(walked, walk.look(walked))
        assert (walked.at, walked.focus) == ("2.2", 400)
        walked = walk.back(walk.predict(walked, "no", 3))
        assert walk.predict(walked, "yes", 3).prediction.seen_before
        assert not walk.predict(walk.pick(walked, 200), "yes", 3).prediction.seen_before

    def test_it_survives_leaving(self):
        state = json.loads(json.dumps(walk.to_state(walk.back(self.answered("yes")))))
        again = walk.predict(walk.from_state(flat(), PHASE_19, state), "no", 5)
        assert again.prediction.seen_before

    def test_a_draft_from_before_tells_by_its_predictions(self):
        state = walk.to_state(self.answered("yes"))
        for key in ("spoken", "id", "attempt"):
            del state[key]
        del state["prediction"]["seen_before"]
        walked = walk.from_state(flat(), PHASE_19, state)
        assert walked.prediction == walk.Prediction("yes", 5)
        assert walk.predict(walk.back(walked), "no", 5).prediction.seen_before

    def test_a_new_attempt_begins_afresh_and_knows_that_it_is_the_second(self):
        first = self.answered("yes")
        second = walk.again(first)
        assert (second.attempt, second.answers, second.prediction) == (2, (), None)
        assert second.id != first.id
        assert not walk.predict(second, "no", 5).prediction.seen_before
        kept = walk.from_state(flat(), PHASE_19, walk.to_state(second))
        assert (kept.id, kept.attempt) == (second.id, 2)


class TestStart:
    """A walk that began where a leaf of another tree led."""

    def begun(self):
        return walk.begin(readers.open_run("runs/19-break"), PHASE_19, ("3.1", 312))

    def test_it_begins_at_that_question_and_step_and_ends_there_too(self):
        begun = self.begun()
        assert (begun.at, begun.focus, begun.start) == ("3.1", 312, ("3.1", 312))
        went = walk.take(begun, next(iter(begun.question.outcomes)), "learner", walk.look(begun))
        assert went.start == begun.start
        assert walk.back(went) == begun
        assert walk.back(begun) == begun
        assert (walk.again(went).at, walk.again(went).focus) == ("3.1", 312)

    def test_its_draft_begins_there(self):
        begun = self.begun()
        went = walk.go_on(begun, walk.look(begun), next(iter(begun.question.outcomes)))
        state = json.loads(json.dumps(walk.to_state(went)))
        kept = walk.from_state(begun.run, PHASE_19, state)
        assert (kept.at, kept.start, kept.answers) == (went.at, begun.start, went.answers)

    def test_a_draft_that_does_not_say_began_at_the_first_question(self):
        state = walk.to_state(self.begun())
        del state["start"]
        assert walk.from_state(flat(), PHASE_19, state).start == ("1.1", None)
        gone = walk.to_state(self.begun()) | {"start": ["99", 312]}
        assert walk.from_state(flat(), PHASE_19, gone).start == ("1.1", None)


class TestDraft:
    def test_round_trip_through_json(self):
        run = readers.open_run("runs/19-break")
        walked = walk.begin(run, PHASE_19)
        for outcome in ("no", "high", "no"):
            walked = walk.predict(walk.reveal(walked), outcome, 2)
            walked = walk.go_on(walked, walk.look(walked))
        walked = walk.reveal(walk.predict(walked, "yes", 5))
        again = walk.from_state(run, PHASE_19, json.loads(json.dumps(walk.to_state(walked))))
        assert (again.at, again.focus, again.hints, again.prediction) == (
            "2.2",
            312,
            1,
            walk.Prediction("yes", 5),
        )
        assert again.answers == walked.answers

    def test_what_a_draft_makes_up_is_left_out(self):
        walked = walk.predict(walk.begin(flat(), PHASE_19), "no", 3)
        state = walk.to_state(walked)
        made_up = state | {"prediction": {"outcome": "zzz", "confidence": 3}, "hints": 99}
        again = walk.from_state(flat(), PHASE_19, made_up)
        assert (again.prediction, again.hints) == (None, 3)
        wild = walk.from_state(flat(), PHASE_19, state | {"prediction": {"outcome": "no", "confidence": 77}})
        assert wild.prediction.confidence == 5
        with pytest.raises(ValueError, match="can't be read"):
            walk.from_state(flat(), PHASE_19, state | {"focus": "there"})

    @pytest.mark.parametrize("state", [{}, {"answers": 3}, {"answers": [{}]}, {"answers": [None]}])
    def test_a_broken_draft_is_refused(self, state: dict):
        with pytest.raises(ValueError, match="can't be read"):
            walk.from_state(flat(), PHASE_19, state)

    def test_an_answer_the_tree_no_longer_has_ends_the_draft_there(self):
        walked = walk.begin(flat(), PHASE_19)
        walked = walk.go_on(walked, walk.look(walked))
        state = walk.to_state(walked)
        state["answers"][0]["outcome"] = "perhaps"
        assert walk.from_state(flat(), PHASE_19, state).at == "1.1"


@pytest.mark.parametrize(
    ("columns", "offered"),
    [
        ({"loss": [1.0] * 8}, {"no"}),
        ({"val_acc": [0.5] * 8}, {"score-lost", "left-behind", "score-kept", "no"}),
        (
            {"loss": [1.0] * 8, "val_loss": [1.0] * 8},
            {"non-finite", "all-zero", "turns", "both", "jumps", "some", "slightly", "no"},
        ),
    ],
)
def test_only_what_a_log_may_show_is_offered(columns: dict[str, list[float]], offered: set[str]):
    at = walk.begin(make_run(columns), shipped("phase-19"), ("5.4", None))
    assert isinstance(at, walk.AtQuestion)
    assert set(at.offered) == offered
    several = make_run({name: [1.0] * 8 for name in ("val_loss", "val_a/loss", "val_b/loss")})
    alone = walk.begin(make_run({"val_loss": [1.0] * 8}), shipped("phase-19"), ("5.4", None))
    assert isinstance(alone, walk.AtQuestion)
    assert "rises" in alone.offered
    assert "one-set" in walk.begin(several, shipped("phase-19"), ("5.4", None)).offered


@pytest.mark.parametrize(("said", "excused"), [("schedule", "open"), ("batch", "open"), ("state", None)])
def test_what_only_a_check_without_data_would_show_makes_nobody_wrong(said: str, excused: str | None):
    """2.3 of a log of the loss alone: neither the learning rate nor the gradient is in it."""
    run = make_run({"loss": [*[2.0 - row / 100 for row in range(40)], 9.0, 9.0, *[1.6] * 20]})
    at = walk.begin(run, shipped("phase-19"), ("2.3", 40))
    assert isinstance(at, walk.AtQuestion)
    at = walk.predict(at, said, 3)
    seen = walk.look(at)
    assert seen.outcome == "none"
    assert walk.excuse(at.question, at.prediction, seen) == excused
    lines = after_prediction(at.question, at.prediction, seen, "en")
    assert ("tempting" in [line.role for line in lines]) is (excused is None)


@pytest.mark.parametrize("said", ["near", "far"])
def test_what_the_log_leaves_open_makes_nobody_wrong(said: str):
    """1.4 of a log without a vocabulary: the first loss may well be near ln V."""
    at = walk.begin(flat(), PHASE_19)
    at = walk.go_on(at, walk.look(at))
    assert isinstance(at, walk.AtQuestion)
    offered = [one for one in at.offered if not at.question.outcomes[one].open]
    at = walk.predict(at, offered[("near", "far").index(said)], 3)
    seen = walk.look(at)
    assert at.question.outcomes[seen.outcome].open
    assert walk.excuse(at.question, at.prediction, seen) == "open"
    after = walk.go_on(at, seen)
    assert walk.score(after.answers) == (0, 0)
