"""How the losses of the tokens are spread."""

import torch

from tutor.lab.quantities import Columns, quantity
from tutor.lab.quantities.observation import Observation

BIN_WIDTH, BINS = 0.5, 24  # nats; what is over the last edge counts in the last bin
EDGES = [BIN_WIDTH * i for i in range(BINS + 1)]


@quantity(needs=("losses",), columns=("token_loss_hist",), joined="sum")
def token_histogram(seen: Observation) -> Columns:
    """How many tokens have a loss in each bin of half a nat from 0 to 12; NaN and Inf count in the last."""
    assert seen.losses is not None
    finite = torch.nan_to_num(seen.losses.float(), nan=EDGES[-1], posinf=EDGES[-1])
    bins = finite.div(BIN_WIDTH).clamp(0, BINS - 1).long()
    return {"token_loss_hist": (bins == torch.arange(BINS, device=bins.device)[:, None]).sum(1)}
