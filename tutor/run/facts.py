"""Facts of a run's configuration, by the names that trainers give them: what a log doesn't hold itself.

    understood({"max_grad_norm": "1.0", "bf16": True})   ->   grad_clip 1.0, dtype "bf16"

Sources: Hugging Face's TrainingArguments and model configs, Lightning's Trainer, Megatron-LM's and nanoGPT's
arguments, DeepSpeed's config, and the names of tutor's own settings.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tutor.run import dtypes
from tutor.run.manifest import Manifest

Check = Callable[[object], Any]
"""The fact that a value says, None where it says none."""


@dataclass(frozen=True)
class Known:
    """A fact as it is known: its value, what it was called, and where."""

    value: Any
    called: str
    place: str = ""


def whole(given: object) -> int | None:
    """A whole number from 1 on."""
    value = real(given)
    return int(value) if value is not None and value >= 1 and value == int(value) else None


def real(given: object) -> float | None:
    """A finite number, in text or not."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return None
    try:
        value = float(given)
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def _positive(given: object) -> float | None:
    value = real(given)
    return value if value is not None and value > 0 else None


def _from_zero(given: object) -> float | None:
    value = real(given)
    if value is None or value < 0:
        return None
    return int(value) if value == int(value) else value


def _share(given: object) -> float | None:
    value = real(given)
    return value if value is not None and 0 <= value < 1 else None


def _clip(given: object) -> float | str | None:
    """The bound on the gradient norm, or OFF: for every trainer 0 turns clipping off, as nothing does."""
    if given is None or given in (OFF, "none", "None", "null"):
        return OFF
    value = _from_zero(given)
    return value if value or value is None else OFF


def _dtype(given: object) -> str | None:
    return dtypes.understood(given) if isinstance(given, str) else None


def _kind(given: object) -> str | None:
    """A schedule by its kind: a word."""
    word = str(given).lower().removeprefix("schedulertype.") if isinstance(given, str) else ""
    return word if re.fullmatch(r"[a-z_]{3,40}", word) else None


OFF = "off"
"""The clip of a run that doesn't clip."""


@dataclass(frozen=True)
class Fact:
    """A fact of a configuration.

    Attributes:
        place: where a manifest has it.
        check: what a value says of it.
        example: a value, as a person types it.
        names: what trainers call it, the surest first.
    """

    place: tuple[str, ...]
    check: Check
    example: str
    names: tuple[str, ...]


FACTS: Mapping[str, Fact] = {
    "vocab_size": Fact(
        ("vocab_size",), whole, "50257", ("vocab_size", "padded_vocab_size", "n_vocab", "vocab")
    ),
    "dtype": Fact(("dtype",), _dtype, "bf16", ("dtype", "precision", "mixed_precision", "compute_dtype")),
    "grad_clip": Fact(
        ("settings", "grad_clip"),
        _clip,
        "1.0",
        (
            "grad_clip",
            "max_grad_norm",
            "gradient_clip_val",
            "gradient_clipping",
            "clip_grad",
            "clip_grad_norm",
        ),
    ),
    "beta2": Fact(("settings", "beta2"), _share, "0.95", ("beta2", "adam_beta2", "betas.1", "adam_betas.1")),
    "lr_max": Fact(
        ("schedule", "lr_max"), _positive, "3e-4", ("lr_max", "learning_rate", "lr", "max_lr", "base_lr")
    ),
    "lr_min": Fact(("schedule", "lr_min"), _from_zero, "0", ("lr_min", "min_lr", "eta_min")),
    "warmup_steps": Fact(
        ("schedule", "warmup_steps"),
        _from_zero,
        "100",
        ("warmup_steps", "warmup_iters", "lr_warmup_iters", "num_warmup_steps", "lr_warmup_steps"),
    ),
    "schedule_steps": Fact(
        ("schedule", "schedule_steps"),
        whole,
        "2000",
        ("schedule_steps", "lr_decay_iters", "max_steps", "total_steps", "num_training_steps", "max_iters"),
    ),
    "schedule": Fact(
        ("schedule", "kind"), _kind, "cosine", ("schedule", "lr_scheduler_type", "lr_decay_style")
    ),
    "accumulation": Fact(
        ("batch", "accumulation"),
        whole,
        "4",
        (
            "accumulation",
            "gradient_accumulation_steps",
            "accumulate_grad_batches",
            "grad_accumulation_steps",
            "grad_accum_steps",
            "accumulation_steps",
            "accum_iter",
        ),
    ),
    "steps_per_epoch": Fact(
        ("batch", "steps_per_epoch"),
        whole,
        "1",
        ("steps_per_epoch", "num_update_steps_per_epoch", "batches_per_epoch", "num_training_batches"),
    ),
}
"""What rules ask of a configuration, by the name that `--set` takes."""

_FLAGS = {"bf16": ("bf16", "bf16.enabled"), "fp16": ("fp16", "fp16.enabled")}
_WEIGHTS = ("torch_dtype",)
_RATIO = ("warmup_ratio", "lr_warmup_fraction")
_WARMUP = FACTS["warmup_steps"].names
_IN_STEPS = ("warmup_steps", "schedule_steps", "schedule")
_IN_UPDATES = ("lr_scheduler_type", "per_device_train_batch_size", "num_train_epochs", "train_iters")
"""Settings of trainers whose logs count updates: Hugging Face's, Megatron-LM."""


def understood(settings: Mapping[str, object], place: str = "") -> dict[str, Known]:
    """The facts that settings say, by tutor's names; what two of them contradict each other about is none.

    What is counted in steps is taken only where the log counts the same steps: many a loop logs each of the
    micro-batches of an update, and its warm-up then looks as many times too slow.

    Args:
        settings: by the trainer's names, in groups or not: `optimizer.betas.1` is `betas.1` too.
        place: where they were found, for people.
    """
    by_name = _by_name(settings)
    found = {
        name: Known(value, called, place)
        for name, fact in FACTS.items()
        for called, value in _first(by_name, fact.names, fact.check)
    }
    for called, dtype in _dtypes(by_name, "dtype" in found):
        found["dtype"] = Known(dtype, called, place)
    horizon = _value(found, "schedule_steps")
    warmup = found.get("warmup_steps")
    if warmup is None or warmup.value < 1:  # Hugging Face's ratio counts where the steps are left at 0
        ratios = _first(by_name, (*_RATIO, *_WARMUP), _share)
        for called, ratio in [one for one in ratios if one[1]]:
            found.pop("warmup_steps", None)
            if isinstance(horizon, int):
                found["warmup_steps"] = Known(math.ceil(ratio * horizon), called, place)
    alike = any(name in by_name for name in _IN_UPDATES) or _value(found, "accumulation") == 1
    dropped = _IN_STEPS if not alike else () if "warmup_steps" in found else ("schedule",)
    return {name: fact for name, fact in found.items() if name not in dropped}


def stated(settings: Mapping[str, object], place: str) -> dict[str, Known]:
    """The facts that a person wrote down by tutor's own names."""
    given = {name: fact.check(settings[name]) for name, fact in FACTS.items() if name in settings}
    return {name: Known(value, name, place) for name, value in given.items() if value is not None}


def _value(facts: Mapping[str, Known], name: str) -> object:
    """The value of a fact; None where it isn't among those known."""
    return facts[name].value if name in facts else None


def _by_name(settings: Mapping[str, object]) -> dict[str, list[object]]:
    """The settings by each end of their dotted names, in small letters."""
    by_name: dict[str, list[object]] = {}
    for name, value in settings.items():
        parts = name.lower().replace("-", "_").replace("/", ".").split(".")
        for begin in range(len(parts)):
            by_name.setdefault(".".join(parts[begin:]), []).append(value)
    return by_name


def _first(by_name: Mapping[str, list[object]], names: Iterable[str], check: Check) -> list[tuple[str, Any]]:
    """The first of these names that says something, with what it says; [] where it says two things."""
    for name in names:
        said = [value for given in by_name.get(name, ()) if (value := check(given)) is not None]
        if said:
            return [(name, said[0])] if all(value == said[0] for value in said) else []
    return []


def _dtypes(by_name: Mapping[str, list[object]], known: bool) -> list[tuple[str, str]]:
    """The dtype of the forward pass by a trainer's switches; else, where no name says it, by the weights'."""
    said = {dtype: _first(by_name, names, _flag) for dtype, names in _FLAGS.items()}
    on = [(found[0][0], dtype) for dtype, found in said.items() if found and found[0][1]]
    if on or known:
        return on if len(on) == 1 else []
    half = [(name, dtype) for name, dtype in _first(by_name, _WEIGHTS, _dtype) if dtype != "fp32"]
    off = [(found[0][0], "fp32") for found in said.values() if found]
    return half or (off[:1] if len(off) == len(_FLAGS) else [])


def _flag(given: object) -> bool | None:
    return {"true": True, "false": False}.get(str(given).lower())


def lacking(missing: Iterable[str], configured: Sequence[str]) -> list[str]:
    """The facts that would stand for what a rule lacks: not a signal, but a part of the manifest.

    Args:
        missing: what it lacks: facts, or a key of the manifest for all the facts under it.
        configured: the facts that the rule goes by, the one that it asks about first.
    """
    asked = set(missing)
    found = [name for name, fact in FACTS.items() if name in asked or fact.place[0] in asked]
    return [name for name in configured if name in found] or found


def known_in(manifest: Manifest, fact: str) -> bool:
    """Whether the manifest says anything about the fact: that clipping is off is said, too."""
    return _said(manifest, fact) is not None


def known(manifest: Manifest) -> dict[str, Any]:
    """What a manifest says of its configuration: its facts by name, in the order of `FACTS`."""
    said = {name: _said(manifest, name) for name in FACTS}
    return {name: value for name, value in said.items() if value is not None}


def _said(manifest: Manifest, fact: str) -> Any:
    """What the manifest says of the fact; None for nothing."""
    data: Any = manifest.given
    for key in FACTS[fact].place:
        if not isinstance(data, Mapping) or key not in data:
            return None
        data = data[key]
    return OFF if data is None and fact == "grad_clip" else data


def with_facts(manifest: Manifest, facts: Mapping[str, Known]) -> Manifest:
    """The manifest with these facts in their places, over what is there."""
    data = dict(manifest.given)
    for name, fact in facts.items():
        value = None if fact.value == OFF else fact.value
        *groups, last = FACTS[name].place
        if groups:
            group = dict(data.get(groups[0]) or {})
            group[last] = value
            data[groups[0]] = group
        else:
            data[last] = value
    return Manifest.parse(data)[0]
