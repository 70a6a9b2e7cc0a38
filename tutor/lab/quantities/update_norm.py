"""The norm of the update."""

from tutor.lab.quantities import Columns, quantity
from tutor.lab.quantities.observation import Observation, norm


@quantity(needs=("groups",), columns=("update_norm",))
def update_norm(seen: Observation) -> Columns:
    """Norm of how far the parameters moved, weight decay included."""
    pairs = [zip(group.after, group.before, strict=True) for group in seen.groups]
    return {"update_norm": norm([after - before for group in pairs for after, before in group])}
