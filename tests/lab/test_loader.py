"""The loader: packing, boilerplate, stratification."""

import json
from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.lab.small import tiny
from tutor.lab.corpus import corpus
from tutor.lab.loader import Batch, Loader, Rewritten, StratifiedLoader, build_loader, held_out
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings, build

TOKENIZER = Tokenizer(corpus().train, 512)
FOOTER = len(corpus().train)  # its id: it comes after the sentences
TTEN = TOKENIZER.encode("tten")[0]
FULL = {"batch_size": 8, "block_size": 64}


def loader(given: Settings) -> Loader:
    return build_loader(given, corpus(), TOKENIZER)


def met(given: Settings, step: int, batches: int = 3) -> Loader:
    """The loader that meets the boilerplate at `step`."""
    source = loader(given)
    source.insert(step, [FOOTER], batches)
    return source


def tokens_of(batch) -> list[int]:
    return [*batch.x_BT.flatten().tolist(), *batch.y_BT[:, -1].tolist()]


def test_the_target_of_each_token_is_the_next_one():
    batch = loader(tiny()).step(0)[0]
    assert batch.x_BT.shape == batch.y_BT.shape == (2, 16)
    assert batch.x_BT[:, 1:].tolist() == batch.y_BT[:, :-1].tolist()


def test_an_epoch_gives_every_sentence_once():
    source = loader(tiny(**FULL))
    seen: list[int] = []
    while len(seen) < FOOTER:
        for document in source.step(0)[0].sentence_ids:
            if not seen or document != seen[-1]:  # a sentence cut by the edge of a batch shows in both
                seen.append(document)
    assert sorted(seen[:FOOTER]) == list(range(FOOTER))


def test_the_same_seed_gives_the_same_batches_and_another_seed_others():
    hashes = [[loader(tiny(seed=seed)).step(0)[0].hash for _ in range(2)] for seed in (1, 2)]
    assert hashes[0][0] == hashes[0][1] != hashes[1][0]


def test_the_boilerplate_fills_its_batches_and_no_others():
    source = met(tiny(**FULL), 5)
    counts = [source.step(step)[0].rare.get(TTEN, 0) for step in range(12)]
    assert min(counts[5:8]) > 450
    assert max(counts[:5] + counts[9:]) < 10


def test_without_the_trigger_no_boilerplate_comes():
    source = loader(tiny(**FULL))
    assert all(max(source.step(step)[0].sentence_ids) < FOOTER for step in range(20))


def test_stratified_batches_hold_a_rare_token_once():
    source = met(tiny(**FULL, batching="stratified"), 5)
    assert isinstance(source, StratifiedLoader)
    for step in range(40):
        batch = source.step(step)[0]
        counts = Counter(tokens_of(batch))
        assert all(counts[token] <= 1 for token in TOKENIZER.rare), step


def test_what_waits_for_a_later_batch_stays_bounded():
    source = met(tiny(**FULL, batching="stratified"), 5)
    for step in range(600):
        source.step(step)
    waiting = source.state()["deferred"]
    sentences = [document for document in waiting if document < FOOTER]
    assert len(sentences) == len(set(sentences))


def test_stratified_batches_spread_the_boilerplate():
    source = met(tiny(**FULL, batching="stratified"), 5)
    footers = [source.step(step)[0].sentence_ids.count(FOOTER) for step in range(30)]
    assert sum(footers[5:]) > 5
    assert max(footers) <= 2  # one, and the tail of the one before


def test_rare_tokens_are_counted_over_inputs_and_last_targets():
    batch = loader(tiny(**FULL)).step(0)[0]
    counts = Counter(tokens_of(batch))
    assert dict(batch.rare) == {token: n for token, n in counts.items() if token in TOKENIZER.rare}


@pytest.mark.parametrize("batching", ["sequential", "stratified"])
def test_a_restored_loader_goes_on_where_it_stood(batching: str):
    given = tiny(**FULL, batching=batching)
    first, second = met(given, 3), met(given, 3)
    for step in range(10):
        first.step(step)
    second.restore(first.state())
    assert [first.step(s)[0].hash for s in range(10, 25)] == [second.step(s)[0].hash for s in range(10, 25)]


@given(rows=st.integers(1, 9), block=st.integers(2, 70), accumulation=st.integers(1, 3))
def test_batches_have_the_asked_shape_whatever_it_is(rows: int, block: int, accumulation: int):
    given = tiny(batch_size=rows, block_size=block, accumulation=accumulation)
    source = loader(given)
    for step in range(3):
        batches = source.step(step)
        assert len(batches) == accumulation
        assert all(batch.x_BT.shape == (rows, block) for batch in batches)


def test_what_is_held_out_is_fixed_by_the_seed():
    one, again, other = (held_out(tiny(seed=s), corpus(), TOKENIZER) for s in (1, 1, 2))
    assert one.hash == again.hash != other.hash


@pytest.mark.parametrize("role", ["control", "break"])
def test_the_batches_are_those_of_the_runs_that_ship(role: str):
    """The very tokens, step for step, from before the boilerplate to well after it."""
    rows = [json.loads(line) for line in (ROOT / f"runs/19-{role}/metrics.jsonl").read_text().splitlines()]
    source = met(build({}), 312)
    batches = [source.step(step)[0] for step in range(330)]
    assert [batch.hash for batch in batches] == [row["batch_hash"] for row in rows[:330]]
    assert [batch.sentence_ids for batch in batches] == [row["sentence_ids"] for row in rows[:330]]


def test_what_is_inserted_fills_every_micro_batch_of_its_steps():
    source = met(tiny(**FULL, accumulation=2), 4, batches=1)
    for step in range(4):
        source.step(step)
    assert all(batch.rare[TTEN] > 450 for batch in source.step(4))
    assert max(source.step(5)[1].sentence_ids) < FOOTER


def test_a_rewritten_stream_is_taken_up_again_where_it_stood():
    def reverse(step: int, batch: Batch) -> Batch:
        return replace(batch, x_BT=batch.x_BT.flip(1)) if step % 2 else batch

    plain, first, second = loader(tiny()), *(Rewritten(loader(tiny()), reverse) for _ in range(2))
    for step in range(5):
        ours, theirs = first.step(step)[0], plain.step(step)[0]
        assert torch.equal(ours.x_BT, theirs.x_BT.flip(1) if step % 2 else theirs.x_BT)
    second.restore(first.state())
    assert torch.equal(first.step(5)[0].x_BT, second.step(5)[0].x_BT)
