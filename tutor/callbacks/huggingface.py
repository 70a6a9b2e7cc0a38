"""Hugging Face: `Trainer(..., callbacks=[TutorCallback("runs/mine")])`.

The Trainer logs the mean loss of `logging_steps` steps, with NaN left out, and shows a callback the gradient
only once it was clipped. So the loss of each step is taken from what the model returns, and the norm before
clipping from accelerate, which clips. Where the model returns no loss (it is computed outside of it, or
smoothed), the Trainer's own mean is recorded at the steps that it logs, and declared as such.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
# (accelerate and transformers needn't be there where types are checked)

import re
from collections.abc import Mapping
from functools import wraps
from os import PathLike
from typing import Any

from accelerate import Accelerator
from transformers import (
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from tutor.callbacks.folder import folder_for
from tutor.lab import Recorder


class TutorCallback(TrainerCallback):
    """Records what `tutor.lab.Recorder` does: a row for each update of the weights, counted from 0.

    Row 100 is the step that the Trainer begins with a `global_step` of 100: the one after `checkpoint-100`.
    """

    def __init__(self, folder: str | PathLike[str], **settings: Any) -> None:
        """A run to be recorded in `folder`.

        Args:
            folder: of the run; `tutor.callbacks.folder` says what happens where there is something.
            settings: more of them to keep in the manifest, by name: plain values.
        """
        self._folder, self._settings = folder, settings
        self._recorder: Recorder | None = None
        self._losses: _Losses | None = None
        self._norms: _Norms | None = None
        self._held_out: list[float] = []  # losses of the sets that were evaluated since the last step

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **given: Any
    ) -> None:
        """Watch model and optimizer. The folder is made at the first step."""
        self._stop()
        model, optimizer = given["model"], given["optimizer"]
        self._losses, self._norms = _Losses(model), _Norms()
        self._recorder = Recorder(
            folder_for(self._folder, state.global_step, main=state.is_world_process_zero),
            model,
            getattr(optimizer, "optimizer", optimizer),  # accelerate's is around torch's
            scaler=getattr(optimizer, "scaler", None),
            settings=settings_of(args, state) | schedule_of(given["lr_scheduler"]) | self._settings,
            dtype="fp16" if args.fp16 else "bf16" if args.bf16 else None,
            vocab_size=getattr(getattr(model, "config", None), "vocab_size", None),
            resume=state.global_step > 0,
        )

    def on_optimizer_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Add the row of the step, while its gradients are still there."""
        if self._recorder and self._losses and self._norms:
            loss = self._losses.taken(devices=args.world_size if args.average_tokens_across_devices else 1)
            if loss is None:
                self._recorder.declare(loss={"over": "window", "shows_nan": not args.logging_nan_inf_filter})
            self._recorder.step(loss, step=state.global_step, grad_norm=self._norms.taken())
            self._held_out = []

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: Mapping[str, Any],
        **_: Any,
    ) -> None:
        """Take the Trainer's mean where there is nothing better."""
        if self._recorder and self._losses and not self._losses.seen and "loss" in logs:
            self._recorder.measure(loss=float(logs["loss"]))

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        metrics: Mapping[str, Any],
        **_: Any,
    ) -> None:
        """The loss on what is held out belongs to the step just taken; of several sets it is their mean."""
        of_sets = [value for name, value in metrics.items() if re.fullmatch("eval_.+_loss", name)]
        self._held_out += [metrics["eval_loss"]] if "eval_loss" in metrics else of_sets
        if self._recorder and self._held_out:
            self._recorder.measure(val_loss=sum(self._held_out) / len(self._held_out))

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Note the checkpoint, and write all rows before it: training may go on from here."""
        if self._recorder:
            self._recorder.measure(checkpoint=f"checkpoint-{state.global_step}")
            self._recorder.flush()

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Write what is left."""
        self._stop()

    def _stop(self) -> None:
        """Take every hook off."""
        for part in (self._recorder, self._losses, self._norms):
            if part:
                part.close()
        self._recorder = self._losses = self._norms = None


class _Losses:
    """The losses that the model returns in training.

    Attributes:
        seen: whether there were any.
    """

    def __init__(self, model: Any) -> None:
        self.seen = False
        self._losses: list[Any] = []
        self._summed = False
        self._hook = model.register_forward_hook(self._passed, with_kwargs=True)

    def taken(self, devices: int) -> Any:
        """The mean loss of the micro-batches since the last call, a tensor; None where there was none.

        Args:
            devices: by how many the Trainer multiplies a loss whose tokens are counted over all of them.
        """
        losses, self._losses = self._losses, []
        if not losses:
            return None
        return sum(losses) * devices if self._summed else sum(losses) / len(losses)

    def close(self) -> None:
        """Watch no more."""
        self._hook.remove()

    def _passed(self, model: Any, _args: object, given: Mapping[str, Any], output: Any) -> None:
        if not model.training:
            return
        loss: Any = None
        if isinstance(output, Mapping):
            loss = output.get("loss")
        elif isinstance(output, tuple):
            loss = output[0]
        if getattr(loss, "ndim", None) == 0:
            self.seen = True
            self._losses.append(loss.detach())
            # Told how many tokens the step has, over all micro-batches, a model divides by that.
            self._summed = given.get("num_items_in_batch") is not None


class _Norms:
    """The norms of the gradient before clipping. The Trainer keeps them to itself, so accelerate is asked."""

    def __init__(self) -> None:
        self._newest: Any = None
        self._clip = clip = Accelerator.clip_grad_norm_

        @wraps(clip)
        def noted(accelerator: Accelerator, *args: Any, **given: Any) -> Any:
            self._newest = clip(accelerator, *args, **given)
            return self._newest

        Accelerator.clip_grad_norm_ = noted

    def taken(self) -> Any:
        """The norm of the step, a tensor; None where something else clipped."""
        newest, self._newest = self._newest, None
        return newest

    def close(self) -> None:
        """Give accelerate its own back."""
        Accelerator.clip_grad_norm_ = self._clip


def settings_of(args: TrainingArguments, state: TrainerState) -> dict[str, Any]:
    """What the Trainer was told, by the names that tutor's settings have."""
    known = {
        "seed": args.seed,
        "lr": args.learning_rate,
        "grad_clip": args.max_grad_norm or None,
        "batch_size": args.train_batch_size * args.world_size,
        "accumulation": args.gradient_accumulation_steps,
        "steps": state.max_steps,
    }
    if args.save_strategy in ("steps", "no"):
        known["checkpoint_every"] = state.save_steps if args.save_strategy == "steps" else None
    return known


def schedule_of(scheduler: Any) -> dict[str, Any]:
    """One of transformers' schedules, as it is: the Trainer may have been given another than it was told.

    Empty for any other schedule.
    """
    scheduler = getattr(scheduler, "scheduler", scheduler)  # accelerate's is around torch's
    rule: Any = next(iter(getattr(scheduler, "lr_lambdas", ())), None)
    function: Any = getattr(rule, "func", rule)
    if getattr(function, "__module__", None) != "transformers.optimization":
        return {}
    numbers, peak = getattr(rule, "keywords", {}), max(scheduler.base_lrs)
    name = function.__name__.removeprefix("_get_").removesuffix("_lambda").partition("_schedule")[0]
    return {
        "schedule": name,
        "warmup_steps": numbers.get("num_warmup_steps", 0),
        "schedule_steps": numbers.get("num_training_steps"),
        "lr_max": peak,
        "lr_min": peak * numbers.get("min_lr_rate", 0.0),
    }
