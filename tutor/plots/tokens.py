"""Tokens: the histogram of per-token losses at the marked step, and the worst tokens."""

from rich.text import Text

from tutor.plots.request import Request


def draw(request: Request) -> list[Text]:
    """The panel."""
    return request.missing("token_loss_hist")
