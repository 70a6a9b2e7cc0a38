"""Tensors that were updated equally often are told without reading their counts at every step."""

import torch
from torch import Tensor

from tutor.lab.ages import Ages


class Count(Tensor):
    """A count that counts how often it is read."""

    reads = 0

    def __float__(self) -> float:
        Count.reads += 1
        return float(self.item())


def counts(*values: float) -> list[Tensor]:
    Count.reads = 0
    return [torch.tensor(value).as_subclass(Count) for value in values]


def test_counts_are_read_once_and_equal_ones_have_one_age():
    held, ages = counts(1.0, 1.0, 4.0), Ages()
    first = ages.of(held)
    for _ in range(10):
        ages.step(held)
        now = ages.of(held)
    assert Count.reads == 3
    assert (first[0] == first[1] != first[2], now[0] == now[1] != now[2]) == (True, True)


def test_one_that_sits_out_a_step_has_another_age():
    held, ages = counts(1.0, 1.0), Ages()
    ages.of(held)
    ages.step(held[:1])
    one, other = ages.of(held)
    assert one != other


def test_one_that_comes_later_has_an_age_of_its_own_whatever_its_count():
    held, ages = counts(3.0, 3.0), Ages()
    ages.of(held[:1])
    ages.step(held[:1])  # the first has 4 now, or 3 where the step was skipped
    one, other = ages.of(held)
    assert one != other


def test_several_groups_of_one_optimizer_are_all_kept():
    few, many, ages = counts(1.0, 1.0), counts(*[1.0] * 50), Ages()
    for _ in range(5):
        ages.of(few)
        ages.of(many)
        ages.step([*few, *many])
    assert Count.reads == 52


def test_those_of_an_optimizer_that_is_rebuilt_are_let_go():
    ages = Ages()
    for _ in range(100):
        held = counts(1.0, 1.0)
        ages.step(held)
        ages.of(held)
    assert len(ages._known) < 20
