"""Manifest: what a run was meant to be, typed for the rooms that ask."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tutor.run import dtypes

Number = int | float


class _Part(BaseModel):
    """Frozen; keys that no room asks for are kept, so that runs can be compared by them."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)


class Batch(_Part):
    """What one step is trained on: `rows` sequences of `tokens_per_row`, `accumulation` times."""

    rows: int | None = None
    tokens_per_row: int | None = None
    accumulation: int | None = None

    @property
    def tokens(self) -> int:
        """Tokens of a step; 0 where it isn't known."""
        return (self.rows or 0) * (self.tokens_per_row or 0) * (self.accumulation or 1)


class Schedule(_Part):
    """The learning rate's schedule, in steps."""

    warmup_steps: Number | None = None
    schedule_steps: Number | None = None
    lr_max: Any = None


class Group(_Part):
    """An optimizer group."""

    name: str | None = None
    weight_decay: Number | None = None


class Aggregated(_Part):
    """What a trainer made of a signal's values before it logged one; see `tutor.run.Aggregation`."""

    over: Literal["instant", "window", "running"] = "instant"
    shows_nan: bool = True


class Manifest(_Part):
    """What a run was meant to be. Every field is None or empty where the format doesn't say.

    Attributes:
        tutor: the version that trained it; None for a run of another trainer.
        command: that trained it.
        break_name: how `--break` names the card.
        role: "plain", "control", "break" or "fix".
        sealed: whether what was broken lies in `truth.json` instead.
        faults: each `{"name": ..., parameters}`, in the order in which they were applied.
        trigger: what happens to control and break alike, each `{"name": ..., "step": ..., parameters}`.
        changes: settings that the person asked for over the card's.
        dtype: of the forward pass, as the tool calls it; see `precision`.
        aggregations: by signal, where the log doesn't hold the value of its step.
        token_loss_edges: of the bins of `token_loss_hist`, in nats, one more than there are bins.
    """

    name: str | None = None
    tutor: str | None = None
    command: str | None = None
    break_name: str | None = Field(default=None, alias="break")
    role: str | None = None
    sealed: bool = False
    settings: Mapping[str, Any] = {}
    faults: Annotated[tuple[Mapping[str, Any], ...], Field(strict=False)] = ()
    trigger: Annotated[tuple[Mapping[str, Any], ...], Field(strict=False)] = ()
    changes: Mapping[str, Any] = {}
    seed: int | None = None
    dtype: str | None = None
    device: str | None = None
    vocab_size: int | None = None
    batch: Batch = Batch()
    schedule: Schedule = Schedule()
    groups: Annotated[tuple[Group, ...], Field(strict=False)] = ()
    aggregations: Mapping[str, Aggregated] = {}
    token_loss_edges: Annotated[tuple[Number, ...], Field(strict=False)] | None = None

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> tuple["Manifest", tuple[str, ...]]:
        """The manifest, and the keys of what can't be understood and was dropped."""
        try:
            return cls.model_validate(given), ()
        except ValidationError as error:
            odd = tuple(dict.fromkeys(str(place["loc"][0]) for place in error.errors()))
            return cls.model_validate({key: given[key] for key in given if key not in odd}), odd

    @property
    def given(self) -> dict[str, Any]:
        """What was given and understood, unknown keys included, as plain data."""
        return self.model_dump(by_alias=True, exclude_unset=True)

    @property
    def precision(self) -> dtypes.Dtype | None:
        """The dtype of the forward pass, "fp32", "bf16" or "fp16"; None where unknown or another."""
        return dtypes.understood(self.dtype) if self.dtype else None

    def knows(self, key: str) -> bool:
        """Whether anything was given under `key`."""
        return self.given.get(key) is not None
