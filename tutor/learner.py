"""Who is learning: names that can be a folder's, in any alphabet."""

import contextlib
import getpass
import os
import unicodedata

from tutor.words import SaidError, plain

LONGEST_NAME = 48

# Names of devices on Windows, which takes COM¹ for COM1 too.
_RESERVED = {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}


class BadNameError(SaidError, ValueError):
    """A learner's name that can't be a folder's."""

    part = "learner"


def learner_name(name: str) -> str:
    """`name` made tidy (outer spaces gone, Unicode composed), fit to be a folder's.

    Raises:
        BadNameError: it is empty or too long, or has other than letters, digits, spaces, `-` and `_`.
    """
    name = unicodedata.normalize("NFC", name).strip()
    if not name:
        raise BadNameError("empty")
    # A folder's name has at most 255 bytes on common file systems, and a letter up to 4.
    if len(name) > LONGEST_NAME:
        raise BadNameError("long", length=len(name), longest=LONGEST_NAME)
    bad = sorted({plain(c) for c in name if not _may_stand_in_name(c)})
    if bad:
        raise BadNameError("signs", name=plain(name), signs=" ".join(bad))
    if unicodedata.normalize("NFKC", name).casefold() in _RESERVED or not any(c.isalnum() for c in name):
        raise BadNameError("taken", name=name)
    return name


def _may_stand_in_name(character: str) -> bool:
    return character in " -_" or unicodedata.category(character)[0] in "LMN"


def default_learner() -> str:
    """Who is learning: $TUTOR_LEARNER, else the login name made fit, else "learner".

    Raises:
        BadNameError: $TUTOR_LEARNER is set to what can't be a name.
    """
    if named := os.environ.get("TUTOR_LEARNER"):
        return learner_name(named)
    with contextlib.suppress(OSError, KeyError, ImportError, BadNameError):
        login = getpass.getuser()
        return learner_name("".join(c if _may_stand_in_name(c) else "-" for c in login)[:LONGEST_NAME])
    return "learner"
