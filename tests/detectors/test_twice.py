"""A softmax before a loss that has its own: answers of a classifier that gets surer, and losses of tokens."""

import math
import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.conftest import make_run, numbers
from tests.detectors.test_course import falling
from tutor.detectors import Finding, apply

LN_V = math.log(512)
CEILING = math.log(511 + math.e)


def found(manifest: dict[str, object] | None = None, **columns: Sequence[object]) -> Finding:
    return apply("initial_loss", make_run(columns, manifest), numbers("initial_loss", "phase-18"))


def softmax(logits: Sequence[float]) -> list[float]:
    shares = [math.exp(one - max(logits)) for one in logits]
    return [one / sum(shares) for one in shares]


def once(logits: Sequence[float], right: int) -> float:
    """The cross-entropy of logits."""
    return -math.log(softmax(logits)[right])


def twice(logits: Sequence[float], right: int) -> float:
    """The cross-entropy that gets their softmax in place of them."""
    return once(softmax(logits), right)


def smoothed(logits: Sequence[float], right: int) -> float:
    """The cross-entropy with a tenth of the target spread over all classes."""
    each = [once(logits, place) for place in range(len(logits))]
    return 0.9 * each[right] + 0.1 * sum(each) / len(each)


def squares(logits: Sequence[float], right: int) -> float:
    return sum((one - (place == right)) ** 2 for place, one in enumerate(softmax(logits)))


Loss = Callable[[Sequence[float], int], float]


def noisy(loss: Loss, classes: int, seed: int = 0) -> dict[str, list[float]]:
    """The losses and accuracies over epochs of a classifier that is ever surer, and less often wrong."""
    rng = random.Random(seed)
    rows: dict[str, list[float]] = {"loss": [], "accuracy": []}
    for epoch in range(16):
        wrong, scale = 0.4 * math.exp(-epoch / 5) + 0.01, 2.0 + 3.0 * epoch
        costs, hits = [], 0
        for _ in range(500):
            right = rng.randrange(classes)
            said = right if rng.random() > wrong else (right + rng.randrange(1, classes)) % classes
            logits = [scale * ((place == said) + 0.1 * rng.random()) for place in range(classes)]
            costs.append(loss(logits, right))
            hits += said == right
        rows["loss"].append(sum(costs) / len(costs))
        rows["accuracy"].append(hits / 500)
    return rows


class TestByAnswers:
    @pytest.mark.parametrize("classes", [2, 3, 5, 10, 20])
    @pytest.mark.parametrize("seed", range(3))
    def test_the_loss_keeps_to_the_floor_of_so_many_classes(self, classes: int, seed: int):
        told = found(**noisy(twice, classes, seed))
        assert (told.outcome, told.facts["classes"]) == ("twice-scored", classes)
        assert told.facts["floor"] == pytest.approx(math.log(1 + (classes - 1) / math.e))
        assert told.facts["of_each"] == pytest.approx(1.0, abs=0.3)

    @pytest.mark.parametrize("loss", [once, smoothed, squares])
    @pytest.mark.parametrize("classes", [2, 3, 5, 10, 20])
    def test_no_other_loss_does(self, loss: Loss, classes: int):
        assert found(**noisy(loss, classes)).outcome != "twice-scored"

    def test_nor_one_to_which_a_penalty_is_added(self):
        for classes in (2, 5, 10):
            rows = noisy(once, classes)
            floor = math.log(1 + (classes - 1) / math.e)
            rows["loss"] = [one + floor for one in rows["loss"]]
            assert found(**rows).outcome != "twice-scored"

    def test_evaluation_tells_where_training_has_no_score(self):
        rows = noisy(twice, 5)
        told = found(loss=falling(16), val_loss=rows["loss"], val_accuracy=rows["accuracy"])
        assert (told.outcome, told.facts["classes"]) == ("twice-scored", 5)
        percent = [100 * one for one in rows["accuracy"]]
        assert found(loss=rows["loss"], train_acc=percent).outcome == "twice-scored"

    def test_few_rows_or_answers_that_are_mostly_wrong_tell_nothing(self):
        rows = noisy(twice, 10)
        few = {name: values[-4:] for name, values in rows.items()}
        assert found(**few).outcome != "twice-scored"
        alike = {name: [values[-1]] * 10 for name, values in rows.items()}
        assert found(**alike).outcome != "twice-scored"
        known = found({"vocab_size": 9}, **rows)
        assert known.outcome != "twice-scored"  # it is the floor of ten


@given(
    st.lists(
        st.tuples(st.floats(), st.floats() | st.none(), st.floats(), st.floats() | st.none()),
        min_size=1,
        max_size=12,
    )
)
@example([(1e4 - row, row / 10, 1e13, row / 10) for row in range(12)])
@example([(1e308 * (row % 2), 0.9 + row / 100, 1e308, 0.9) for row in range(10)])
def test_whatever_is_logged_as_a_loss_and_an_accuracy(rows: list[tuple[float | None, ...]]):
    columns = dict(zip(("loss", "acc", "val_loss", "val_acc"), zip(*rows, strict=True), strict=True))
    assert found(**columns).outcome  # and no error


class TestByTokens:
    ROWS = tuple(LN_V - 0.1 * row / 40 for row in range(40))

    def told(self, worst: float, loss: Sequence[float] = ROWS, **manifest: object) -> str:
        tokens = [[worst, worst - 0.01, worst - 0.5]] * len(loss)
        return found({"vocab_size": 512} | manifest, loss=loss, worst_token_losses=tokens).outcome

    def test_none_ever_costs_more_than_a_guess(self):
        assert self.told(CEILING) == "twice"
        assert self.told(CEILING + 0.01) == "near"

    def test_of_a_loss_that_has_not_come_down_nothing_is_known(self):
        assert self.told(CEILING, [LN_V - 0.04 * row / 40 for row in range(40)]) == "near"
        assert self.told(CEILING, self.ROWS[-19:]) == "near"
        assert self.told(CEILING, [*self.ROWS[:-1], math.nan]) == "near"

    def test_nor_of_one_that_comes_down_below_the_floor(self):
        """As a model that sees its targets: no token may be costly, but one that is right costs nothing."""
        assert self.told(CEILING, [LN_V - 1.1 * row / 40 for row in range(42)]) == "near"
        assert self.told(CEILING, [LN_V - 0.9 * row / 40 for row in range(40)]) == "twice"

    def test_nor_without_the_tokens_or_their_number(self):
        assert found({"vocab_size": 512}, loss=self.ROWS).outcome == "near"
        assert self.told(CEILING, vocab_size=None) != "twice"
