"""The sums over a group's tensors, as a CPU takes them and as a GPU does."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tutor.lab.quantities import group as room
from tutor.lab.quantities.group import Group, Moments, Pieces, by_blocks, by_lists, sums_of

WAYS = pytest.mark.parametrize("pieces", [by_blocks, by_lists])
UPDATES = (1.0, 3.0, 1.0, 1.0)
BETA2, EPS = 0.999, 1e-8


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(room, "BLOCK", 64)
    monkeypatch.setattr(room, "ALONE", 200)
    monkeypatch.setattr(room, "AT_ONCE", 70)
    room._memory.cache_clear()
    yield
    room._memory.cache_clear()


def stepped() -> Group:
    """Tensors of several blocks, of one and of none; the fifth has no moments, the sixth no gradient."""
    torch.manual_seed(0)
    before = [torch.randn(shape) for shape in ((30, 70), (64,), (0,), (3, 3), (4, 4), (5,))]
    gradients = [torch.randn_like(one) for one in before[:5]]
    gradients[0][0] = 0
    v = [0.001 * g.square() for g in gradients[:4]]
    v[0][0] = 0  # as where there never was a gradient
    moments = Moments(
        [0.1 * g for g in gradients[:4]], v, list(map(torch.tensor, UPDATES)), UPDATES, BETA2, EPS
    )
    after = [one + 1e-3 * torch.randn_like(one) for one in before]
    return Group("a", before, after, gradients, moments)


def squares(tensors: Sequence[Tensor]) -> float:
    return sum(float(tensor.double().square().sum()) for tensor in tensors)


def added(parts: Sequence[Tensor]) -> float:
    return sum(map(float, parts))


@WAYS
def test_each_way_gives_what_doubles_give(pieces: Pieces):
    seen = stepped()
    found = sums_of(seen, pieces)
    assert seen.moments
    moved = [after.double() - before.double() for before, after in zip(seen.before, seen.after, strict=True)]
    corrected = [
        g.double() / (v.double().clamp(min=EPS**2) / (1 - BETA2**updates)).sqrt()
        for g, v, updates in zip(seen.gradients[:4], seen.moments.v, UPDATES, strict=True)
    ]
    assert added(found.before) == pytest.approx(squares(seen.before), rel=1e-5)
    assert added(found.moved) == pytest.approx(squares(moved), rel=1e-3)
    assert added(found.gradients) == added(found.rest) == pytest.approx(squares(seen.gradients), rel=1e-5)
    assert added(found.m) == pytest.approx(squares(seen.moments.m), rel=1e-5)
    assert added(found.v) == pytest.approx(squares(seen.moments.v), rel=1e-5)
    assert added(found.ratios) == pytest.approx(squares(corrected), rel=1e-4)


@WAYS
@pytest.mark.parametrize("embedding", range(5))
def test_the_rest_is_finite_where_the_embedding_alone_is_not(pieces: Pieces, embedding: int):
    seen = replace(stepped(), embedding=embedding)
    if seen.gradients[embedding].numel():
        seen.gradients[embedding].view(-1)[0] = float("inf")
    found = sums_of(seen, pieces)
    others = [g for place, g in enumerate(seen.gradients) if place != embedding]
    assert added(found.rest) == pytest.approx(squares(others), rel=1e-5)
    assert added(found.gradients) == pytest.approx(squares(seen.gradients), rel=1e-5)


@WAYS
def test_of_nothing(pieces: Pieces):
    assert not any(vars(sums_of(Group("a", [], [], [], None), pieces)).values())
