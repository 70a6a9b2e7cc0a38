"""Settings: every number and choice of a training run, with its default and its meaning.

The lab builds a recipe from them; a break's card and a leaf's fix name them; `tutor train --set` takes
them. They stand apart from the lab so that cards can be checked where torch is not installed.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tutor import catalog

OPTIONS = ("seed", "steps", "device", "dtype")
"""Settings for which `tutor train` has an option of their own; the others are given by `--set`."""

MOST_STEPS = 1_000_000_000  # of a schedule; a run itself has fewer
MOST_MEMORY = 16e9  # bytes that a run may need; the default one needs half a gigabyte


class Settings(BaseModel):
    """The settings of one training run. Every field can be given as `--set name=value`."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    seed: int = Field(
        42, ge=0, le=2**31 - 1, description="seeds the weights, the order of the batches and the probe"
    )
    steps: int = Field(
        600, ge=1, le=1_000_000, description="stop after so many steps; the schedule keeps its own horizon"
    )

    lr: float = Field(1e-3, ge=0, description="peak learning rate (lr_max)")
    min_lr: float = Field(1e-4, ge=0, description="learning rate at the end of the cosine")
    warmup_steps: int = Field(100, ge=0, le=MOST_STEPS, description="steps of linear warm-up")
    schedule_steps: int = Field(
        2000, ge=1, le=MOST_STEPS, description="the step at which the cosine reaches min_lr"
    )

    beta1: float = Field(0.9, ge=0, lt=1, description="decay of Adam's first moment m")
    beta2: float = Field(0.95, ge=0, lt=1, description="decay of Adam's second moment v")
    eps: float = Field(1e-8, gt=0, le=1e6, description="added to sqrt(v)")
    weight_decay: float = Field(0.1, ge=0, description="decay of tensors with two dimensions or more")
    grad_clip: float | None = Field(1.0, gt=0, description="bound on the gradient norm, or none")
    accumulation: int = Field(1, ge=1, le=1024, description="micro-batches averaged into one step")

    batch_size: int = Field(8, ge=1, le=4096, description="rows of a batch")
    block_size: int = Field(64, ge=2, le=4096, description="tokens of a row")
    batching: Literal["sequential", "stratified"] = Field(
        "sequential",
        description="sequential: documents in the order they come; stratified: at most one occurrence in a "
        "batch of any token that is rare in training",
    )

    vocab_size: int = Field(512, ge=258, le=4096, description="tokens of the byte-level BPE")
    n_layer: int = Field(4, ge=1, le=96, description="transformer blocks")
    n_embd: int = Field(128, ge=4, le=4096, description="width")
    n_head: int = Field(4, ge=1, le=128, description="attention heads; divides n_embd")

    dtype: Literal["fp32", "bf16", "fp16"] = Field("fp32", description="arithmetic of the forward pass")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field("auto", description="where to train")

    threads: int | None = Field(
        None, ge=1, le=256, description="threads of the CPU, or none for as many as torch takes by itself"
    )

    val_every: int = Field(50, ge=1, le=MOST_STEPS, description="steps between validations")
    probe_every: int = Field(
        5,
        ge=1,
        le=MOST_STEPS,
        description="steps between looks at the probe, two fixed held-out rows; each is a forward pass",
    )
    checkpoint_every: int | None = Field(
        200, ge=1, le=MOST_STEPS, description="steps between checkpoints, or none"
    )


def names() -> list[str]:
    """Every setting's name, in the order of the class."""
    return list(Settings.model_fields)


def build(changes: Mapping[str, Any], base: Settings | None = None) -> Settings:
    """Settings with `changes` laid over `base` (the defaults when None).

    Raises:
        ValueError: an unknown name (the nearest is offered), a value out of bounds, or sizes that together
            don't fit in memory; in one line.
    """
    for name in changes:
        if name not in Settings.model_fields:
            raise ValueError(catalog.unknown("setting", name, names()))
    values = (base.model_dump() if base else {}) | dict(changes)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"][:1])
        raise ValueError(f"{name}={catalog.cut(str(first['input']))}: {first['msg'].lower()}") from None
    if settings.n_embd % settings.n_head:
        raise ValueError(f"n_head={settings.n_head} doesn't divide n_embd={settings.n_embd}")
    if (needed := memory(settings)) > MOST_MEMORY:
        raise ValueError(
            f"the sizes are too large together: a step needs about {needed / 1e9:.0f} GB of memory, over "
            f"{MOST_MEMORY / 1e9:.0f} GB; lower batch_size, block_size, accumulation, n_layer or n_embd"
        )
    return settings


def memory(settings: Settings) -> float:
    """Bytes that a step needs, about: the terms that grow with the sizes, by measured peaks in fp32."""
    s = settings
    tokens = s.batch_size * s.block_size
    weights = 12 * s.n_layer * s.n_embd**2 + s.vocab_size * s.n_embd
    kept = 28 * weights  # weight, gradient, m, v, the copy before the update, scratch
    forward = tokens * (80 * s.n_layer * s.n_embd + 20 * s.vocab_size)
    streams = 4 * tokens * s.accumulation * (s.n_layer + 1) * s.n_embd  # measured after the update
    return kept + forward + streams


def parse(assignments: Iterable[str]) -> dict[str, Any]:
    """`["grad_clip=none", "lr=3e-4"]` as changes for `build`; "none" is None.

    Raises:
        ValueError: an assignment without `=`.
    """
    changes: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"--set takes name=value, not {catalog.cut(assignment)!r}")
        changes[name.strip()] = None if value.strip().lower() in {"none", "off"} else value.strip()
    return changes


def scaled(was: Any, times: float) -> int | float:
    """So many times what a setting was, to six digits; of a whole number the nearest whole one.

    Raises:
        ValueError: what it was isn't a number.
    """
    if isinstance(was, bool) or not isinstance(was, int | float):
        raise ValueError(f"{times:g} times {was!r}: that isn't a number")
    value = float(f"{was * times:.6g}")
    return round(value) if isinstance(was, int) else value


def assignments(changes: Mapping[str, Any]) -> list[str]:
    """Changes as `--set` takes them: `["lr=0.001", "grad_clip=none"]`."""
    return [f"{name}={'none' if value is None else value}" for name, value in changes.items()]


def command_words(changes: Mapping[str, Any], *, options: bool = True) -> list[str]:
    """Changes as a person types them after `tutor train`: `["--device", "cpu", "--set", "lr=0.001"]`.

    Other commands have none of its `options`, and take every setting by `--set`.
    """
    typed = []
    own = OPTIONS if options else ()
    for name in own:
        if name in changes:
            typed += [f"--{name}", str(changes[name])]
    for assignment in assignments({name: value for name, value in changes.items() if name not in own}):
        typed += ["--set", assignment]
    return typed
