"""Watching: what a screen over an experiment at work can do: stop it, leave it at work, begin another."""

from tutor.ui.screens.page import Page
from tutor.ui.trials import Trial


class Watching(Page):
    """A page over a `trial`. Gives whether another is wished for."""

    trial: Trial

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        """Stop only what is at work; begin another once it has ended."""
        if action == "stop":
            return self.trial.alive
        if action == "another":
            return not self.trial.alive
        return super().check_action(action, parameters)

    def action_stop(self) -> None:
        """End the experiment."""
        self.trial.stop()

    def action_another(self) -> None:
        """Begin another."""
        self.dismiss(True)

    def action_close(self) -> None:
        """Back to the leaf; the experiment goes on."""
        self.dismiss(False)
