"""The loader: documents in an endless stream, packed into batches.

Each epoch visits the training sentences in its own seeded order. Other documents can be inserted into the
stream (`Loader.insert`), and the batches of any stream can be rewritten (`Rewritten`): the doors for a
trigger and for a fault in the data. The stratified loader spreads any token that is rare in training.
"""

# ruff: noqa: N806, N815 (capitals name the axes of a tensor)

import hashlib
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Annotated, Any, Protocol

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor

from tutor.lab.corpus import Corpus
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings


@dataclass(frozen=True)
class Batch:
    """One micro-batch: inputs and targets (B, T), and what they were made of.

    Attributes:
        x_BT: input tokens.
        y_BT: target tokens.
        sentence_ids: the documents that it was packed from, in order.
        rare: how often each token occurs that is rare in training.
        hash: twelve hex digits of its tokens.
        mask_BT: which tokens count in the loss; None where all of them do.
    """

    x_BT: Tensor
    y_BT: Tensor
    sentence_ids: list[int]
    rare: Mapping[int, int]
    hash: str
    mask_BT: Tensor | None = None


class Stream(Protocol):
    """A source of batches that can be stopped and taken up again."""

    def step(self, step: int) -> list[Batch]:
        """The micro-batches of `step`. Steps must be asked for in order."""
        ...

    def insert(self, step: int, documents: Sequence[int], batches: int) -> None:
        """At `step` the stream meets `documents`, over and over, enough to fill `batches` steps."""
        ...

    def state(self) -> dict[str, Any]:
        """Where the stream stands, in plain numbers."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from `state`; what was inserted must be inserted again. Raises ValueError if it is none."""
        ...


_Count = Annotated[int, Field(ge=0, lt=2**40)]


class _Place(BaseModel):
    """Where a stream stands: what `Loader.state` gives."""

    model_config = ConfigDict(strict=True, extra="forbid")

    epoch: _Count
    position: _Count
    waiting: list[_Count]
    deferred: list[_Count]
    cut: tuple[_Count, _Count] | None


class Loader:
    """Batches of `rows` x (`row_length` + 1) tokens; a document cut by the edge goes on in the next batch."""

    def __init__(self, settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> None:
        self._settings = settings
        self._documents = [array("q", tokenizer.document(text)) for text in corpus.train]
        self._documents += [array("q", tokenizer.encode(text)) for text in corpus.boilerplate]  # torn: no end
        self._rare = tokenizer.rare
        self._rare_of = [tokenizer.rare.intersection(document) for document in self._documents]
        self._epoch_size = len(corpus.train)
        self._needed = settings.batch_size * (settings.block_size + 1)
        self._epoch, self._position, self._order = 0, 0, self._shuffled(0)
        self._inserted: dict[int, list[int]] = {}  # by step
        self._waiting: deque[int] = deque()  # inserted documents that the stream still has to give
        self._deferred: list[int] = []  # documents kept back for a later batch
        self._cut: tuple[int, int] | None = None  # document and offset at which the last batch ended

    def step(self, step: int) -> list[Batch]:
        """The micro-batches of `step`. Steps must be asked for in order."""
        self._waiting.extend(self._inserted.get(step, ()))
        return [self._batch() for _ in range(self._settings.accumulation)]

    def insert(self, step: int, documents: Sequence[int], batches: int) -> None:
        """At `step` the stream meets `documents`, over and over, enough to fill `batches` steps.

        They come before the epoch goes on, and are no part of it.
        """
        room = batches * self._settings.accumulation * self._needed
        inserted = self._inserted.setdefault(step, [])
        for document in cycle(documents):
            if room <= 0:
                break
            inserted.append(document)
            room -= len(self._documents[document])

    def state(self) -> dict[str, Any]:
        """Where the stream stands, in plain numbers."""
        return {
            "epoch": self._epoch,
            "position": self._position,
            "waiting": list(self._waiting),
            "deferred": list(self._deferred),
            "cut": self._cut,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from `state`; what was inserted must be inserted again.

        Raises:
            ValueError: it isn't what `state` gave for this stream.
        """
        try:
            place = _Place.model_validate(state)
        except ValidationError as error:
            raise ValueError(f"its loader's {error.errors()[0]['loc'][0]} is none") from None
        lengths = [len(document) for document in self._documents]
        documents = [*place.waiting, *place.deferred]
        if place.cut:
            documents.append(place.cut[0])
        known = place.position <= self._epoch_size and all(one < len(lengths) for one in documents)
        if not known or (place.cut and place.cut[1] > lengths[place.cut[0]]):
            raise ValueError("its loader stands at a document that this run hasn't")
        self._epoch, self._position, self._cut = place.epoch, place.position, place.cut
        self._order = self._shuffled(self._epoch)
        self._waiting, self._deferred = deque(place.waiting), list(place.deferred)

    def _batch(self) -> Batch:
        tokens, ids = array("q"), list[int]()
        if self._cut:
            self._add(tokens, ids, *self._cut)
        documents = self._choose(set(self._rare.intersection(tokens)))
        while len(tokens) < self._needed:
            self._add(tokens, ids, next(documents), 0)
        return pack(tokens, self._settings.batch_size, ids, self._rare)

    def _add(self, tokens: "array[int]", ids: list[int], document: int, offset: int) -> None:
        """Append the document from `offset`; what doesn't fit is left for the next batch."""
        ids.append(document)
        part = self._documents[document][offset:]
        room = self._needed - len(tokens)
        tokens.extend(part[:room])
        self._cut = (document, offset + room) if len(part) > room else None

    def _choose(self, taken: set[int]) -> Iterator[int]:  # noqa: ARG002 (the stratified loader asks)
        """Documents for a batch that already holds the rare tokens `taken`."""
        while True:
            yield self._from_stream()

    def _from_stream(self) -> int:
        if self._waiting:
            return self._waiting.popleft()
        if self._position == self._epoch_size:
            self._epoch, self._position = self._epoch + 1, 0
            self._order = self._shuffled(self._epoch)
        self._position += 1
        return self._order[self._position - 1]

    def _shuffled(self, epoch: int) -> list[int]:
        rng = torch.Generator().manual_seed(self._settings.seed * 1_000_003 + epoch)
        return torch.randperm(self._epoch_size, generator=rng).tolist()


class StratifiedLoader(Loader):
    """At most one occurrence a batch of any rare token, however often the stream repeats it.

    A document whose rare tokens are in the batch already waits for a later one; those that waited longest
    come first, and a sentence waits once. (A single sentence that holds a rare token twice can't be split,
    and stays whole.)
    """

    def _choose(self, taken: set[int]) -> Iterator[int]:
        later = 0  # what didn't fit once won't fit this batch: one pass over the deferred is enough
        while later < len(self._deferred):
            if taken.isdisjoint(rare := self._rare_of[self._deferred[later]]):
                taken |= rare
                yield self._deferred.pop(later)
            else:
                later += 1
        while True:
            document = self._from_stream()
            if taken.isdisjoint(rare := self._rare_of[document]):
                taken |= rare
                yield document
            elif document >= self._epoch_size or document not in self._deferred:
                # The stream can hold more rare tokens than there are batches to take one each. A sentence
                # waits only once at a time, or more and more would wait; an inserted document waits as often
                # as it was inserted.
                self._deferred.append(document)


class Rewritten:
    """A stream whose batches are rewritten on their way to the model: `rewrite(step, batch)`."""

    def __init__(self, stream: Stream, rewrite: Callable[[int, Batch], Batch]) -> None:
        self._stream, self._rewrite = stream, rewrite
        self.insert, self.state, self.restore = stream.insert, stream.state, stream.restore

    def step(self, step: int) -> list[Batch]:
        """The micro-batches of `step`, rewritten."""
        return [self._rewrite(step, batch) for batch in self._stream.step(step)]


def build_loader(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Loader:
    """The loader that `settings.batching` names."""
    kind = {"sequential": Loader, "stratified": StratifiedLoader}[settings.batching]
    return kind(settings, corpus, tokenizer)


def pack(tokens: Sequence[int], rows: int, ids: list[int], rare: frozenset[int]) -> Batch:
    """`tokens` cut into rows; the target of each token is the one after it."""
    held = array("q", tokens)
    tokens_BT = torch.frombuffer(held, dtype=torch.int64).view(rows, -1)
    counts = Counter(token for token in held if token in rare)
    digest = hashlib.blake2b(held.tobytes(), digest_size=6).hexdigest()
    return Batch(tokens_BT[:, :-1], tokens_BT[:, 1:], ids, counts, digest)


def held_out(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Batch:
    """All of the validation sentences in an order drawn from the seed, packed into whole rows.

    Its first rows are the probe.
    """
    rng = torch.Generator().manual_seed(settings.seed)
    order = torch.randperm(len(corpus.validation), generator=rng).tolist()
    tokens = [token for i in order for token in tokenizer.document(corpus.validation[i])]
    row = settings.block_size + 1
    rows = max(1, len(tokens) // row)
    while len(tokens) < row:
        tokens += tokens
    return pack(tokens[: rows * row], rows, order, tokenizer.rare)
