"""Remarks: one quiet line on what the reader passed over in this log, and all that is known of the run."""

from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from tutor.run import Run, facts
from tutor.words import number, plain, say


def remarks(run: Run, lang: str) -> list[str]:
    """What the reader passed over, one line each, safe to draw."""
    return [*map(plain, run.told(lang))]


def about(run: Run, lang: str) -> list[str]:
    """What is known of the run's configuration, and what isn't; before it, what the reader passed over."""
    known = facts.known(run.manifest)
    values = [f"{name} {value if isinstance(value, str) else number(value)}" for name, value in known.items()]
    unknown = [name for name in facts.FACTS if name not in known]
    return [
        *remarks(run, lang),
        *([plain(say("walk.configured", lang, facts=values))] if values else []),
        *([say("walk.unconfigured", lang, facts=unknown)] if unknown else []),
    ]


class Remarks(Static):
    """The first remark, and how many more there are; a click shows them all.

    Attributes:
        about: the run, once it is read.
    """

    auto_links = reactive(False)  # the link keeps its own colours

    def __init__(self) -> None:
        super().__init__()
        self.about: Run | None = None
        self.display = False

    def show(self, lang: str, *, first: bool) -> None:
        """Draw the line where there is something to say and nothing is answered yet (`first`)."""
        found = remarks(self.about, lang) if self.about and first else []
        self.display = bool(found)
        if found:
            more = say("walk.more_remarks", lang, count=len(found) - 1) if len(found) > 1 else ""
            click = "@click=screen.remarks"
            self.update(
                Content.assemble(
                    ("i ", f"bold $accent {click}"), (f"{found[0]}{more}", f"$foreground-muted {click}")
                )
            )
