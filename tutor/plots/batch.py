"""Batch: what the network was fed at the marked step, and at its neighbours."""

from rich.text import Text

from tutor.plots.request import Request


def draw(request: Request) -> list[Text]:
    """The panel."""
    return request.missing("sentence_ids")
