"""About: the run and the walk that a post-mortem is about, and the fixes that its leaf names."""

from collections.abc import Mapping

from pydantic import Field

from tutor.run import PANELS
from tutor.words import Strict


class Option(Strict):
    """A fix that the leaf names.

    Attributes:
        offered: its words by language.
        command: what can be run, a command or settings; "" where it is a fix in words alone.
        changes: the settings that it changes, by tutor's names.
    """

    offered: Mapping[str, str]
    command: str = ""
    changes: tuple[str, ...] = ()

    def words(self, lang: str) -> str:
        """The fix in `lang`."""
        return self.offered.get(lang) or self.offered.get("en") or self.command


class About(Strict):
    """The run and the walk that a post-mortem is about.

    Attributes:
        run: the run's name; `folder` where it lies, `mark` how its log begins; `tree` the tree's name, `leaf`
            the leaf's in words.
        path: the answers, as shown.
        nan: whether the run ended in NaN or Inf.
        last_finite: step of the last checkpoint before the first non-finite loss, where there is one.
        keeps: whether it is known which checkpoints were saved.
        sound: the last step at which a loss that was logged shows finite weights, in a run that ended in NaN.
        calm: the last step before the loss climbed into the NaN; None where it didn't climb there.
        lr: peak learning rate that the run was meant to have or, where nobody says, had; None where it isn't
            known.
        ours: whether tutor trained it, so that its settings are known by name.
        signals: what the log holds.
        panels: the panels of which the log holds anything.
        stops: whether the leaf's fix may end the run earlier.
        whole: whether what is wrong shows in the course of the whole run, and not around a step.
        settings: what the run was trained with, as typed: "none", "0.001".
        options: the fixes that the leaf names, the smallest first.
        breaks: the cards that a command may name.
    """

    run: str
    tree: str
    folder: str = ""
    mark: str = ""
    leaf: str = ""
    path: str = ""
    nan: bool = False
    last_finite: int | None = None
    keeps: bool = True
    sound: int | None = None
    calm: int | None = None
    lr: float | None = None
    ours: bool = False
    signals: tuple[str, ...] = ()
    panels: tuple[str, ...] = PANELS
    stops: bool = False
    whole: bool = False
    settings: Mapping[str, str] = Field(default_factory=dict)
    options: tuple[Option, ...] = ()
    breaks: tuple[str, ...] = ()
