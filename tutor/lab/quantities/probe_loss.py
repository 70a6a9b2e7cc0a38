"""The loss on a batch that never changes."""

from tutor.lab.quantities import Columns, quantity
from tutor.lab.quantities.observation import Observation


@quantity(needs=("probe_loss",), columns=("probe_loss",), joined="mean")
def probe_loss(seen: Observation) -> Columns:
    """Mean loss on the fixed held-out batch, in nats: it tells a hard batch from a model that was hurt."""
    assert seen.probe_loss is not None
    return {"probe_loss": seen.probe_loss}
