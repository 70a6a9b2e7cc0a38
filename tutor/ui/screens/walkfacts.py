"""FactsWalk: a walk whose learner may give what the log doesn't say of its configuration."""

from collections.abc import Sequence

from tutor.readers.common.beside import told
from tutor.run import facts, given
from tutor.ui.screens.walkview import WalkView


class FactsWalk(WalkView):
    """A walk that takes facts at a question which the log can't answer for want of them."""

    @property
    def lacking(self) -> list[str]:
        """The facts of the configuration for want of which the log can't answer."""
        if self.seen is None or self.seen.answers:
            return []
        found = (self.seen.finding, *self.seen.checks.values())
        return facts.lacking(name for one in found for name in one.facts.get("missing", ()))

    def action_fact(self) -> None:
        """Give what the log doesn't say of its configuration; the log is asked again."""
        from tutor.ui.screens.change import ChangeScreen

        asked = self.lacking
        example = " ".join(f"{name}={facts.FACTS[name].example}" for name in asked)
        self.app.push_screen(ChangeScreen("fact", _facts, f"{asked[0]}=", example), self._give)

    def _give(self, typed: list[str] | None) -> None:
        if typed:
            self.take_up(told(self.walk.run, given.parsed(typed)))


def _facts(typed: Sequence[str]) -> list[str]:
    """The facts that were typed, if they are some. Raises ValueError with what is wrong with them."""
    given.parsed(typed)
    return list(typed)
