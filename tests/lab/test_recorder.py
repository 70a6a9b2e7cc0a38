"""The recorder: anyone's loop into a run folder."""

# ruff: noqa: N806 (capitals name the axes of a tensor)

import json
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from tests.lab.small import rows_of, tiny
from tutor import readers
from tutor.lab import Recorder
from tutor.lab.assembly import assemble
from tutor.lab.loop import train
from tutor.lab.model import build_model

pytestmark = pytest.mark.train

SETTINGS = {"grad_clip": 1.0}


class TestOurOwnTraining:
    """Our network, trained by a loop that a person wrote, beside the lab's own training of it."""

    def by_hand(self, folder: Path, accumulation: int) -> None:
        recipe = assemble(tiny(accumulation=accumulation))
        settings = recipe.settings
        model = build_model(settings, recipe.tokenizer.size)
        named = list(model.named_parameters())
        optimizer = torch.optim.AdamW(
            [
                {"params": [p for _, p in named if p.ndim >= 2], "weight_decay": 0.1, "name": "decay"},
                {"params": [p for _, p in named if p.ndim < 2], "weight_decay": 0.0, "name": "no_decay"},
            ],
            betas=(settings.beta1, settings.beta2),
        )
        loader = recipe.loader(settings, recipe.corpus, recipe.tokenizer)
        with Recorder(folder, model, optimizer, settings=SETTINGS) as recorder:
            for step in range(settings.steps):
                for group in optimizer.param_groups:
                    group["lr"] = recipe.schedule(step)
                total, token_losses, targets = 0.0, [], []
                for batch in loader.step(step):
                    logits_BTV, _ = model(batch.x_BT)
                    losses = F.cross_entropy(logits_BTV.flatten(0, 1), batch.y_BT.flatten(), reduction="none")
                    loss = losses.mean() / accumulation
                    loss.backward()
                    total += loss.detach()
                    token_losses.append(losses)
                    targets.append(batch.y_BT)
                grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
                recorder.step(total, grad_norm=grad_norm, token_losses=token_losses, targets=targets)

    @pytest.mark.parametrize("accumulation", [1, 2])
    def test_its_columns_are_the_labs(self, tmp_path: Path, accumulation: int):
        self.by_hand(tmp_path / "mine", accumulation)
        train(assemble(tiny(accumulation=accumulation)), out=tmp_path / "lab")
        mine, labs = rows_of(tmp_path / "mine"), rows_of(tmp_path / "lab")
        alike = [
            "loss", "loss_ema", "reduced_loss", "lr", "grad_norm", "grad_norm_clipped", "grad_norm_rest",
            "param_norm", "param_norm_decay", "param_norm_no_decay", "update_norm", "adam_m_norm",
            "adam_v_norm", "adam_ratio_rms", "activation_norms", "worst_token_losses",
        ]  # fmt: skip
        for one, other in zip(mine, labs, strict=True):
            for column in alike:
                assert one[column] == pytest.approx(other[column], rel=2e-3), (one["step"], column)
            for column in ("step", "clipped", "token_loss_hist"):
                assert one[column] == other[column], (one["step"], column)

    def test_its_manifest_is_the_labs(self, tmp_path: Path, tiny_run: Path):
        self.by_hand(tmp_path / "mine", 1)
        mine, labs = (
            json.loads((folder / "manifest.json").read_text()) for folder in (tmp_path / "mine", tiny_run)
        )
        for key in ("dtype", "device", "vocab_size", "parameters", "groups", "initial", "batch"):
            assert mine[key] == labs[key], key
        for setting in ("beta1", "beta2", "eps", "weight_decay", "grad_clip"):
            assert mine["settings"][setting] == labs["settings"][setting]
        run = readers.open_run(str(tmp_path / "mine"))
        assert run.remarks == ()
