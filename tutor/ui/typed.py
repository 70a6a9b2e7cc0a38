"""InTutor: tells the type checker that a widget's or a screen's app is TutorApp.

Textual types `app` as any App, so `self.app.lang` would be an error. Mixed in before Textual's own class:

    class Title(InTutor, Widget): ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tutor.ui.app import TutorApp


class InTutor:
    """A widget, screen or command provider that lives in TutorApp. Nothing happens at run time."""

    if TYPE_CHECKING:

        @property
        def app(self) -> TutorApp:
            """The app."""
            ...
