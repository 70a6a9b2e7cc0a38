"""Signals: every column that tutor knows, once, and the panel that draws it.

To add one, add its line here and its words (name, how to log it) in `words/<language>/signals.yaml`: readers
take its kind from here, panels what they draw and in which unit, and a question that misses it says how to
log it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

Panel = Literal[
    "loss", "lr", "gradient", "activations", "parameters", "optimizer", "tokens", "batch", "throughput"
]
PANELS: tuple[Panel, ...] = get_args(Panel)
"""The nine panels, numbered from 1 in this order on every screen and named so in trees."""

Kind = Literal["number", "flag", "text", "numbers", "texts"]
"""What a row holds: one number, true or false, one text, or a list of numbers or of texts."""


@dataclass(frozen=True)
class Signal:
    """A column of a run.

    Attributes:
        name: the column's.
        panel: the panel that draws it.
        unit: of its numbers; those of one panel and one unit share an axis. Empty for texts and flags.
        kind: what a row holds.
        by_group: whether there may be a column for each optimizer group too, `<name>_<group>`.
    """

    name: str
    panel: Panel
    unit: str = ""
    kind: Kind = "number"
    by_group: bool = False


SIGNALS = (
    Signal("loss", "loss", "nats"),
    Signal("loss_ema", "loss", "nats"),
    Signal("val_loss", "loss", "nats"),
    Signal("probe_loss", "loss", "nats"),
    Signal("reduced_loss", "loss", "objective"),  # what is trained on; drawn where it isn't the mean loss
    Signal("lr", "lr", "lr"),
    Signal("grad_norm", "gradient", "norm"),
    Signal("grad_norm_clipped", "gradient", "norm"),
    Signal("grad_norm_rest", "gradient", "norm without the embedding"),  # not drawn: hardly differs
    Signal("clipped", "gradient", kind="flag"),
    Signal("activation_norms", "activations", "norm", "numbers"),
    Signal("param_norm", "parameters", "norm", by_group=True),
    Signal("adam_m_norm", "optimizer", "norm"),
    Signal("adam_v_norm", "optimizer", "norm"),
    Signal("adam_ratio_rms", "optimizer", "norm"),
    Signal("update_norm", "optimizer", "norm"),
    Signal("token_loss_hist", "tokens", "tokens", "numbers"),
    Signal("worst_tokens", "tokens", kind="texts"),
    Signal("worst_token_losses", "tokens", "nats", "numbers"),
    Signal("sentence_ids", "batch", kind="numbers"),
    Signal("rare_tokens", "batch", kind="texts"),
    Signal("rare_counts", "batch", "tokens", "numbers"),
    Signal("batch_hash", "batch", kind="text"),
    Signal("batch_subset", "batch", kind="text"),
    Signal("loss_scale", "throughput", "scale"),
    Signal("skipped_steps", "throughput", "steps"),
    Signal("tokens_per_second", "throughput", "speed"),
    Signal("checkpoint", "loss", kind="text"),
)
"""In the order in which a panel draws them."""


@cache
def _by_name() -> dict[str, Signal]:
    return {signal.name: signal for signal in SIGNALS}


def find(column: str) -> Signal | None:
    """The signal that a column holds, of the model or of one optimizer group; None for other columns."""
    if found := _by_name().get(column):
        return found
    return next((s for s in SIGNALS if s.by_group and column.startswith(f"{s.name}_")), None)


def kind_of(column: str) -> Kind:
    """What a row of the column holds: one number where the column is none of ours."""
    found = find(column)
    return found.kind if found else "number"


def of_panel(panel: str) -> tuple[Signal, ...]:
    """The signals that a panel draws, in order."""
    return tuple(signal for signal in SIGNALS if signal.panel == panel)


def groups(name: str, columns: Iterable[str]) -> list[str]:
    """Of `columns`, those that hold the signal `name` of one optimizer group each."""
    return [column for column in columns if column.startswith(f"{name}_")]
