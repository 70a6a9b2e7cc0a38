"""Parameter norms, over all and by group."""

from tutor.lab.quantities import Columns, quantity
from tutor.lab.quantities.observation import Observation, norm


@quantity(needs=("groups",), columns=("param_norm", "param_norm_{group}"))
def parameter_norm(seen: Observation) -> Columns:
    """Norm of the parameters that the forward pass used: of all of them, and of each group."""
    norms = {f"param_norm_{group.name}": norm(group.before) for group in seen.groups}
    held = [norms[f"param_norm_{group.name}"] for group in seen.groups if group.before]
    return {"param_norm": norm(held)} | norms
