"""Adam's moments, and how the gradient compares with them."""

import torch
from torch import Tensor

from tutor.lab.quantities import Columns, quantity
from tutor.lab.quantities.observation import Moments, Observation, norm, scratch


@quantity(needs=("moments",), columns=("adam_m_norm", "adam_v_norm", "adam_ratio_rms"))
def adam_moments(seen: Observation) -> Columns:
    """Norms of Adam's m and v, and the RMS of g / sqrt(v) with v corrected for its start at zero.

    The RMS is that of StableAdamW (Wortsman et al. 2023, arXiv 2304.13013), over all parameters. v is held
    at eps squared or above, so that a coordinate which never had a gradient counts as 0 and not as 0 / 0.
    """
    moments = seen.moments
    squares = torch.stack([_squared_ratio(one) for one in moments])
    return {
        "adam_m_norm": norm([one.m for one in moments]),
        "adam_v_norm": norm([one.v for one in moments]),
        "adam_ratio_rms": (squares.sum() / seen.size).sqrt(),
    }


def _squared_ratio(one: Moments) -> Tensor:
    """The sum of g squared / v over one tensor."""
    gradient = one.gradient.flatten()
    ratio = torch.clamp(one.v.flatten(), min=one.eps**2, out=scratch(one.v))
    torch.div(gradient, ratio, out=ratio)
    corrected = 1 - one.beta2**one.updates
    # Adam counts on the CPU unless it is fused or capturable; a tensor from there would wait for the device.
    return torch.dot(gradient, ratio) * (corrected if corrected.device == ratio.device else corrected.item())
