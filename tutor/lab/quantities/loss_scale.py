"""The factor on the loss under fp16, and the steps that it cost."""

from tutor.lab.quantities import Columns, quantity
from tutor.lab.quantities.observation import Observation


@quantity(needs=("scale", "scale_after"), columns=("loss_scale", "skipped"), joined="first")
def loss_scale(seen: Observation) -> Columns:
    """The loss scale of the step, and whether the step was skipped: the scaler lowers it only then."""
    assert seen.scale is not None
    assert seen.scale_after is not None
    return {"loss_scale": seen.scale, "skipped": seen.scale_after < seen.scale}
