"""Replay: what one step of a run showed when it was taken again, as `tutor replay` keeps it."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Phase = Literal["forward", "backward"]


class _Data(BaseModel):
    # NaN and Inf are kept as words: bare NaN isn't JSON.
    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings", defer_build=True)


class Passage(_Data):
    """A module, or a stage of the loss, as the values of one step went through it.

    Attributes:
        name: the module's, as the model calls it, or "logits", "token losses", "reduction", "objective".
        phase: on the way forward, or on the way back.
        finite_in: whether everything that came in was finite.
        finite_out: whether everything that it gave was, its own gradients included on the way back.
        largest: the largest finite magnitude of what it gave; None where nothing was finite.
    """

    name: str
    phase: Phase
    finite_in: bool
    finite_out: bool
    largest: float | None

    @property
    def broke(self) -> bool:
        """Whether what is not finite began here."""
        return self.finite_in and not self.finite_out


class Moved(_Data):
    """How far one parameter moved in an update: `share` is the norm of the change over its own norm."""

    name: str
    share: float


class Violent(_Data):
    """The first update that moved a parameter far more than is usual for it.

    Attributes:
        step: the update's.
        name: the parameter's.
        share: the norm of its change over its own norm.
        times: how many times its median over the steps before.
    """

    step: int
    name: str
    share: float
    times: float


class Replay(_Data):
    """One step taken again.

    Attributes:
        at: the step.
        batch: the step whose batch it was given.
        dtype: of its forward pass.
        state: before which step each part of the state was taken: "weights", "m" and "v".
        base: the checkpoint that it began from; 0 for the beginning.
        differs: the first step at which what was trained again isn't what the log has; None where none is.
        loss: that was trained on, in nats.
        grad_norm: before clipping, unscaled.
        passages: in the order in which the values went.
        moved: the parameters that this update moved farthest, the farthest first.
        violent: None where no update of those trained again stands out.
        after: how many further steps were trained.
        mean_after: the mean loss of these, in nats; None without any.
        losses_after: of each of them.
    """

    at: int
    batch: int
    dtype: str
    state: Mapping[str, int] = Field(default_factory=dict)
    base: int = 0
    differs: int | None = None
    loss: float
    grad_norm: float
    passages: tuple[Passage, ...] = ()
    moved: tuple[Moved, ...] = ()
    violent: Violent | None = None
    after: int = 0
    mean_after: float | None = None
    losses_after: tuple[float, ...] = ()

    @property
    def culprit(self) -> Passage | None:
        """Where what is not finite began; None where all was finite, or nothing was from the start."""
        return next((one for one in self.passages if one.broke), None)

    @property
    def finite(self) -> bool:
        """Whether all values of the step were."""
        return all(one.finite_out for one in self.passages)

    @property
    def as_it_was(self) -> bool:
        """Whether it is the run's own step: its batch, its state, its dtype aside."""
        return self.batch == self.at and set(self.state.values()) <= {self.at}
