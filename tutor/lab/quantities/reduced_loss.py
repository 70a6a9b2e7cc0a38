"""The loss that was trained on."""

from tutor.lab.quantities import Columns, quantity
from tutor.lab.quantities.observation import Observation


@quantity(needs=("objective",), columns=("reduced_loss",), joined="mean")
def reduced_loss(seen: Observation) -> Columns:
    """The scalar whose gradient the step took: losses reduced, and micro-batches accumulated.

    In a healthy run it is the mean loss. It is the number of tokens times that where losses are summed,
    and NaN where a mask leaves 0 / 0, however well the mean over tokens looks.
    """
    assert seen.objective is not None
    return {"reduced_loss": seen.objective}
