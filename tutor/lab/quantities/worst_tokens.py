"""The tokens that were predicted worst."""

from tutor.lab.quantities import Columns, quantity
from tutor.lab.quantities.observation import Observation

WORST = 5


@quantity(needs=("losses", "targets"), columns=("worst_token_losses", "worst_tokens"), joined="worst")
def worst_tokens(seen: Observation) -> Columns:
    """The five largest losses, in nats, NaN first, and the ids of the tokens that had them."""
    assert seen.losses is not None
    assert seen.targets is not None
    worst = seen.losses.topk(min(WORST, len(seen.losses)))
    return {"worst_token_losses": worst.values, "worst_tokens": seen.targets[worst.indices]}
