"""What the optimizers do in a step, heard of by their hooks."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from tutor.lab.instruments import Update, names_of
from tutor.lab.quantities.group import Group


class Updates:
    """Hooks on all optimizers that train a model.

    A step begins as the first of them does and ends with the last. One that isn't called in a step, or that a
    scaler skips, changes nothing.
    """

    def __init__(
        self,
        optimizers: Sequence[torch.optim.Optimizer],
        begin: Callable[[], None],
        end: Callable[[], None],
    ) -> None:
        """Hooks that call `begin` before the first optimizer's step and `end` after the last one's."""
        self._optimizers, self._begin, self._end = optimizers, begin, end
        self._updates = {id(one): Update() for one in optimizers}
        self._stepped: set[int] = set()  # in the step under way
        self._hooks = [one.register_step_pre_hook(self._begins) for one in optimizers]
        self._hooks += [one.register_step_post_hook(self._ends) for one in optimizers]

    @property
    def lr(self) -> float | Tensor:
        """The first group's learning rate."""
        return self._optimizers[0].param_groups[0]["lr"]

    def groups(self, embedding: Tensor | None) -> list[Group]:
        """The groups of all optimizers, in the step that has ended; the embedding's gradient told apart."""
        names = iter(names_of(self._optimizers))
        groups: list[Group] = []
        for one in self._optimizers:
            own = [name for _, name in zip(one.param_groups, names, strict=False)]
            update, moved = self._updates[id(one)], id(one) in self._stepped
            groups += update.groups(one, own, embedding, moved=moved)
        return groups

    def over(self) -> None:
        """The step was measured: what comes belongs to the next."""
        self._stepped = set()

    def remove(self) -> None:
        """Take the hooks off."""
        for hook in self._hooks:
            hook.remove()

    def _begins(self, optimizer: torch.optim.Optimizer, *_: object) -> None:
        if not self._stepped:
            self._begin()
        self._updates[id(optimizer)].begins(optimizer)

    def _ends(self, optimizer: torch.optim.Optimizer, *_: object) -> None:
        self._stepped.add(id(optimizer))
        self._updates[id(optimizer)].ended(optimizer)
        if len(self._stepped) == len(self._optimizers):
            self._end()
