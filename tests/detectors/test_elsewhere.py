"""Whether evaluation sees anything of what training learns, on small arrays with known answers."""

import math

import pytest

from tests.detectors.test_course import falling, judged
from tests.detectors.test_held_out import gap
from tutor.detectors import NO_DATA, NOT_YET, Finding

ROWS = 101
EVERY = 10
LOSS = falling(ROWS, 6.2, 1.2)
V = {"vocab_size": 512}  # ln V is 6.238


def each(values: list[float | None]) -> list[float | None]:
    """Evaluations at every tenth row."""
    return [values[row // EVERY] if row % EVERY == 0 else None for row in range(ROWS)]


def found(values: list[float | None], manifest: dict | None = None, **columns: list) -> Finding:
    return judged("evaluation_sees", manifest, **{"loss": LOSS, "val_loss": each(values), **columns})


class TestOneNumber:
    def test_while_training_falls(self):
        one = found([6.2401] * 11)
        assert (one.outcome, one.facts["value"], one.facts["rows"]) == ("one-number", 6.2401, 11)
        assert one.facts["fallen"] == pytest.approx(100 * (1 - 1.25 / 6.2))
        assert (one.measured, one.bound) == (pytest.approx(1 - 1.25 / 6.2), 0.2)

    @pytest.mark.parametrize(
        "values",
        [
            [6.2401] * 10 + [6.2402],
            [6.2] * 11,  # of two digits: rounding makes any two the same
            [6.2401] * 4 + [None] * 7,
            [6.2401] * 9 + [None] * 2,  # a copy that hardly moves shows in more digits, or later
            [0.0] * 11,  # of these another question asks
        ],
    )
    def test_but_no_number_that_may_be_chance(self, values: list[float | None]):
        assert found(values).outcome == NO_DATA

    def test_of_few_evaluations_the_scores_beside_them_have_to_agree(self):
        few, f1 = [0.3732] * 4 + [None] * 7, [0.8661] * 4 + [None] * 7
        assert found(few, eval_f1=each(f1)).outcome == "one-number"
        assert found(few, F1=each(f1)).outcome == "one-number"
        assert found(few, train_f1=each(f1)).outcome == NO_DATA
        moved = [0.8661, 0.8662, 0.8663, 0.8664] + [None] * 7
        assert found(few, eval_f1=each(moved)).outcome == NO_DATA
        assert found([0.3732] * 11, eval_f1=each([*f1[:4], *[0.9] * 7])).outcome == NO_DATA
        trains = falling(ROWS, 0.2, 0.9)
        assert found([0.3732] * 11, acc=trains).outcome == "one-number"  # of training, it may be
        assert found([0.3732] * 11, val_mae=each(falling(11, 1.5, 0.3))).outcome == NO_DATA
        assert found([0.3732] * 11, eval_runtime=each(falling(11, 9.1, 9.3))).outcome == "one-number"

    def test_not_where_the_last_evaluation_may_be_written_again(self):
        assert judged("evaluation_sees", loss=LOSS, val_loss=[4.1741] * ROWS).outcome == NO_DATA

    def test_not_where_answers_are_as_wrong_as_can_be(self):
        assert found([14.5063] * 11, loss=falling(ROWS, 2.3, 0.4)).outcome == NO_DATA

    @pytest.mark.parametrize("loss", [[2.0] * ROWS, [2.0, 1.9] * 50 + [2.0], falling(ROWS, 1.0, 0.9)])
    def test_where_training_learns_nothing_the_weights_may_stand_still(self, loss: list[float]):
        assert found([6.2401] * 11, loss=loss).outcome == NO_DATA

    def test_few_rows_that_are_means_need_no_order(self):
        few = {"step": [1, 2, 3, 4], "val_loss": [0.37321] * 4, "val_f1": [0.8661] * 4}
        loss = [0.1421, 0.1036, 0.1836, 0.0423]
        assert judged("evaluation_sees", loss=loss, **few).outcome == NO_DATA  # of single batches


class TestNeverUnder:
    RISES = (6.27, 6.33, 7.05, 7.8, 9.2, 10.3, 9.6, 11.7, 11.1, 12.7, 11.3)

    def test_what_an_untrained_model_costs(self):
        one = found([*self.RISES], V)
        assert (one.outcome, one.facts["cost"]) == ("never-under", pytest.approx(math.log(512)))
        assert (one.facts["first"], one.facts["lowest"], one.facts["latest"]) == (6.27, 6.27, 11.3)
        assert (one.facts["begun"], one.facts["early"]) == (pytest.approx(5.25), 7.05)
        assert one.facts["latest_step"] == 100
        assert one.facts["trained"] == pytest.approx(1.25)
        assert (one.measured, one.bound) == (9.6, pytest.approx(0.98 * math.log(512)))
        assert one.level == one.bound

    def test_nor_the_first_loss_where_that_is_higher(self):
        hot = falling(ROWS, 9.0, 1.2)
        assert found([7.0 + 0.1 * row for row in range(11)], V, loss=hot).outcome == NO_DATA
        assert found([9.0 + 0.1 * row for row in range(11)], V, loss=hot).facts["cost"] == 9.0

    def test_one_evaluation_under_it_sees(self):
        one = found([6.27, 6.0, *self.RISES[2:]], V)
        assert (one.outcome, one.facts["lowest"], one.facts["lowest_step"]) == ("sees", 6.0, 10)

    def test_the_untrained_model_itself_shows_nothing(self):
        """What is learned by heart between two evaluations was learned so from the data of training."""
        memorised = falling(10, 6.2, 0.5) + [0.1] * (ROWS - 10)
        assert found([*self.RISES], V, loss=memorised).outcome == NO_DATA

    def test_a_score_of_training_is_none_of_evaluation(self):
        rising = falling(ROWS, 0.1, 0.9)
        assert found([*self.RISES], V, mean_token_accuracy=rising, train_acc=rising).outcome == "never-under"

    def test_without_a_vocabulary_nobody_knows_what_that_is(self):
        assert found([*self.RISES]).outcome == NO_DATA

    def test_not_where_training_may_have_learned_its_data_by_heart_before(self):
        late = each([*[None] * 7, *self.RISES[4:8]])
        late[ROWS - 2] = 11.0  # five of them
        assert judged("evaluation_sees", V, loss=LOSS, val_loss=late).outcome == NO_DATA
        assert found([None, *self.RISES[1:]], V).outcome == "never-under"

    def test_not_where_training_learns_little(self):
        assert found([*self.RISES], V, loss=falling(ROWS, 6.2, 3.5)).outcome == NO_DATA

    def test_not_in_another_unit_in_which_it_falls(self):
        assert found([80.0 - 5 * row for row in range(11)], V).outcome == "sees"

    def test_not_where_a_score_rises(self):
        assert found([*self.RISES], V, val_acc=falling(ROWS, 0.1, 0.9)).outcome == NO_DATA

    def test_not_in_a_log_that_begins_late(self):
        late = [1000 + row for row in range(ROWS)]
        assert found([*self.RISES], V, step=late).outcome == NO_DATA


@pytest.mark.parametrize(
    ("columns", "outcome"),
    [
        ({"val_loss": [1.0]}, NO_DATA),
        ({"loss": [1.0], "val_loss": [1.0]}, NOT_YET),
        ({"loss": [math.nan] * 20, "val_loss": [math.inf] * 20}, NO_DATA),
        ({"loss": [3.0, 2.0] * 10, "val_loss": [math.nan] * 20}, NOT_YET),
        ({"loss": [3.0, None] * 10, "val_loss": [None, 2.0] * 10}, NO_DATA),
    ],
)
def test_poor_logs(columns: dict, outcome: str):
    assert judged("evaluation_sees", **columns).outcome == outcome


def test_a_gap_that_was_there_from_the_beginning_is_left_to_phase_19():
    val = each([*TestNeverUnder.RISES])
    assert gap(V, loss=LOSS, val_loss=val).outcome == "elsewhere"
    assert gap(V, loss=LOSS, val_loss=each([6.2401] * 11)).facts["highest"] == 6.2401
    assert gap(loss=LOSS, val_loss=val).outcome == "overfits"
