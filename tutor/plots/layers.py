"""Layers: the activations' norms, over steps at the left, by layer at the marked step at the right."""

from rich.text import Text

from tutor.plots.request import Request


def draw(request: Request) -> list[Text]:
    """The panel."""
    return request.missing("activation_norms")
