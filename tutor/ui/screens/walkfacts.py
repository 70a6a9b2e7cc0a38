"""FactsWalk: a walk whose learner may give what the log doesn't say of its configuration."""

from collections.abc import Sequence
from dataclasses import replace

from tutor import detectors
from tutor import walk as walks
from tutor.readers.common.beside import told
from tutor.run import facts, given
from tutor.ui.screens.walkview import WalkView
from tutor.walk import Look


class FactsWalk(WalkView):
    """A walk that takes facts at a question which the log can't answer for want of them."""

    @property
    def lacking(self) -> list[str]:
        """The facts of the configuration for want of which the log can't answer, the question's own first."""
        return [] if self.seen is None else self._lacking(self.seen)

    def _lacking(self, seen: Look) -> list[str]:
        if seen.answers:
            return []
        rules = self.asking.question.rules
        configured = [name for rule in rules for name in detectors.registry()[rule.detector].configured]
        found = (seen.finding, *seen.checks.values())
        missing = (name for one in found for name in one.facts.get("missing", ()))
        return facts.lacking(missing, list(dict.fromkeys(configured)))

    def action_fact(self) -> None:
        """Give what the log doesn't say of its configuration; the log is asked again."""
        from tutor.ui.screens.change import ChangeScreen

        asked = self.lacking
        screen = ChangeScreen("fact", self._enough, f"{asked[0]}=", _example(asked))
        self.app.push_screen(screen, self._give)

    def action_no_fact(self) -> None:
        """Say why there is no fact to give: a key that does nothing seems broken."""
        why = self.say("walk.no_fact_yet" if self.seen is None else "walk.no_fact_asked")
        self.notify(self.say("walk.no_fact", why=why), markup=False)

    def _enough(self, typed: Sequence[str]) -> list[str]:
        """The facts that were typed, if the question can go by them.

        Raises:
            BadFactError: what is wrong with them, or which others it takes.
        """
        asking = self.asking
        seen = walks.look(replace(asking, run=told(asking.run, given.parsed(typed))))
        if typed and (asked := self._lacking(seen)):
            raise given.BadFactError("not_enough", missing=asked, example=_example(asked))
        return list(typed)

    def _give(self, typed: list[str] | None) -> None:
        if typed:
            self.take_up(told(self.walk.run, given.parsed(typed)))


def _example(asked: Sequence[str]) -> str:
    return " ".join(f"{name}={facts.FACTS[name].example}" for name in asked)
