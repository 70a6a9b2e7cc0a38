"""The trainer: the only room that imports torch."""

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tutor.lab.recorder import Recorder

__all__ = ["Recorder"]

_WITHOUT_TORCH = (
    "tutor's Recorder needs torch: pip install torch; "
    "for plain numbers, without it, there is tutor.runfolder.journal.Journal"
)

# torch looks for NumPy as it loads and warns where there is none; the lab has no use for it.
warnings.filterwarnings("ignore", message="Failed to initialize NumPy")


def __getattr__(name: str) -> Any:
    """`Recorder`, loaded when it is asked for: not every command of the lab needs it.

    Raises:
        ModuleNotFoundError: torch isn't installed; it says what to do about it.
    """
    if name != "Recorder":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from tutor.lab.recorder import Recorder
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ModuleNotFoundError(_WITHOUT_TORCH, name="torch") from None
    return Recorder
