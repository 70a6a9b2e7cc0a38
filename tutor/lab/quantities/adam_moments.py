"""Adam's moments, and how the gradient compares with them."""

from tutor.lab.quantities import Columns, quantity
from tutor.lab.quantities.norms import root, total
from tutor.lab.quantities.observation import Observation


@quantity(needs=("moments",), columns=("adam_m_norm", "adam_v_norm", "adam_ratio_rms"))
def adam_moments(seen: Observation) -> Columns:
    """Norms of Adam's m and v, and the RMS of g / sqrt(v) with v corrected for its start at zero.

    The RMS is that of StableAdamW (Wortsman et al. 2023, arXiv 2304.13013), over all parameters. v is held
    at eps squared or above, so that a coordinate which never had a gradient counts as 0 and not as 0 / 0.
    """
    sums = [group.sums for group in seen.groups]
    return {
        "adam_m_norm": root([part for one in sums for part in one.m]),
        "adam_v_norm": root([part for one in sums for part in one.v]),
        "adam_ratio_rms": (total([part for one in sums for part in one.ratios]) / seen.size).sqrt(),
    }
