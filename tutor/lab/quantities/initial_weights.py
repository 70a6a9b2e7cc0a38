"""What every named parameter is like before the first step: a fact of the run, not of a step."""

from typing import Any

from torch import Tensor, nn

from tutor.lab.shards import whole

NORMS = (nn.LayerNorm, nn.RMSNorm, nn.GroupNorm, nn.modules.batchnorm._NormBase)


def initial_weights(model: nn.Module) -> dict[str, dict[str, Any]]:
    """By name of the parameter: `shape`, `mean`, `std` (of the whole population), and `kind`.

    The kind is "embedding", "linear", "norm", "bias" or "other". A parameter that two modules share has
    the name and the kind of the first. Where parameters are sharded, every process has to call it.
    """
    return {
        f"{path}.{name}" if path else name: _statistics(weight) | {"kind": _kind(module, name)}
        for path, module, name, weight in _owned(model)
    }


def _owned(model: nn.Module) -> list[tuple[str, nn.Module, str, Tensor]]:
    """Each parameter once: path of its module, the module, its name there, and its values."""
    seen: set[int] = set()
    owned = []
    for path, module in model.named_modules():
        for name, weight in module.named_parameters(recurse=False):
            if id(weight) not in seen:
                seen.add(id(weight))
                owned.append((path, module, name, weight.detach()))
    return owned


def _statistics(weight: Tensor) -> dict[str, Any]:
    weight = whole(weight)
    return {
        "shape": list(weight.shape),
        "mean": weight.float().mean().item(),
        "std": weight.float().std(correction=0).item(),
    }


def _kind(module: nn.Module, name: str) -> str:
    if isinstance(module, NORMS):
        return "norm"
    if name.endswith("bias"):
        return "bias"
    if isinstance(module, nn.Embedding):
        return "embedding"
    return "linear" if isinstance(module, nn.Linear) else "other"
