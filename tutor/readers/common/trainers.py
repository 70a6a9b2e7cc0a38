"""What values stand for in a store that keeps any trainer's: known by names that only one trainer logs.

Weights & Biases, TensorBoard, trackio, MLflow and tables hold what they are given. Their readers leave it to
the columns to say who wrote them.

- Hugging Face: `train/global_step`, or `train/epoch` and `train/learning_rate`, beside `train/loss`: its
  callbacks put `train/` before each name; or `train_runtime`, which comes at the end of training. Its loss is
  a mean since the row before, and hides NaN.
  Source: transformers/integrations/integration_utils.py (`rewrite_logs`), transformers/trainer.py
- Lightning and Keras: a name that says `epoch` is the mean over one.
  Source: lightning/pytorch/trainer/connectors/logger_connector/result.py, keras/src/callbacks/tensorboard.py
- nanochat: `train/lrm`. Its loss is an average of .9 over the steps so far. Source: scripts/base_train.py
- DeepSpeed: `Train/Samples/train_loss` counts samples, not steps. Source: deepspeed/runtime/engine.py
"""

import re
from collections.abc import Collection, Iterator, Mapping

from tutor.run import Aggregation, Remark, scoring

HUGGING_FACE = Aggregation("window", shows_nan=False)
WINDOW = Aggregation("window")
RUNNING = Aggregation("running")

_EPOCH = re.compile(r"(^|[_/])epoch([_/]|$)")
_SCORED = re.compile(r"scores?$", re.IGNORECASE)  # an episode's, or of any model's answers


def aggregations(columns: Collection[str], loss: str | None) -> Mapping[str, Aggregation]:
    """What the loss is, as far as the names tell; {} where it is taken for the value of its step.

    Args:
        columns: the log's own names.
        loss: the one of them that is read as the loss.
    """
    if loss is None:
        return {}
    has = set(columns)
    if "train/lrm" in has:
        return {"loss": RUNNING}
    prefixed = "train/global_step" in has or {"train/epoch", "train/learning_rate"} <= has
    if (loss == "train/loss" and prefixed) or "train_runtime" in has:
        return {"loss": HUGGING_FACE}
    return {"loss": WINDOW} if _EPOCH.search(loss.lower()) else {}


def remarks(columns: Collection[str]) -> Iterator[Remark]:
    """What the names say of how to take the values."""
    if any(scoring.is_reward(column) and not _SCORED.search(column) for column in columns):
        yield Remark("rewarded")
    if any(column.strip().lower().startswith("train/samples/") for column in columns):
        yield Remark("in_samples")
