"""The parts of anyone's model: what lies in its wrappings, its layers, its embedding."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from torch import nn

_WRAPPINGS = {"DistributedDataParallel": "module", "DataParallel": "module", "OptimizedModule": "_orig_mod"}
"""By class, where a wrapping keeps the model; OptimizedModule is torch.compile's."""


def unwrapped(model: nn.Module) -> nn.Module:
    """The model that was wrapped for several processes or compiled."""
    place = _WRAPPINGS.get(type(model).__name__)
    return unwrapped(getattr(model, place)) if place else model


def layers_of(model: nn.Module, named: Sequence[str] | None) -> list[nn.Module]:
    """The model's layers, in order.

    Args:
        model: unwrapped.
        named: their names among its modules; where it is None, the largest list of modules of one kind.

    Raises:
        ValueError: there is no module of such a name.
    """
    modules = dict(model.named_modules())
    if named is None:
        return max(_lists(model), key=_size, default=[])
    for name in named:
        if name not in modules:
            raise ValueError(f"layers: the model has no module {name!r}; model.named_modules() has the names")
    return [modules[name] for name in named]


def _lists(model: nn.Module) -> Iterator[list[nn.Module]]:
    for module in model.modules():
        if isinstance(module, nn.ModuleList | nn.ModuleDict | nn.Sequential):
            children = list(module.children())
            if len({type(child) for child in children}) == 1 and _size(children):
                yield children


def _size(modules: Sequence[nn.Module]) -> int:
    return sum(weight.numel() for module in modules for weight in module.parameters())


def embedding_of(model: nn.Module) -> nn.Embedding | None:
    """The first embedding, which is that of the tokens; None in a model without one."""
    return next((module for module in model.modules() if isinstance(module, nn.Embedding)), None)


def workhorse(model: nn.Module) -> nn.Module | None:
    """The module with the largest matrix that isn't an embedding: it computes in the model's dtype."""
    found = [
        (weight.numel(), module)
        for module in model.modules()
        if not isinstance(module, nn.Embedding)
        for weight in module.parameters(recurse=False)
        if weight.ndim > 1
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """The model in evaluation mode; each part of it has its own mode again afterwards."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
