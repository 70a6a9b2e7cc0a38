"""The mean loss over the tokens of the step."""

from tutor.lab.quantities import Columns, quantity
from tutor.lab.quantities.observation import Observation


@quantity(needs=("losses",), columns=("loss",), joined="mean")
def loss(seen: Observation) -> Columns:
    """Mean loss over all tokens, in nats, whatever reduction was trained on."""
    assert seen.losses is not None
    return {"loss": seen.losses.mean()}
