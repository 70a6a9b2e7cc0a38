"""The manifest of a run folder, read by itself: a long log isn't read to list the run."""

import json
from pathlib import Path

from tutor import plainfile
from tutor.catalog import cut
from tutor.run import BadRunError, Manifest, Remark, limits
from tutor.runfolder import FORMAT, MANIFEST


def read_manifest(folder: Path) -> tuple[Manifest, list[Remark]]:
    """What the run in `folder` was meant to be, and what of it can't be understood.

    Raises:
        BadRunError: it is no plain file, no JSON, or of a newer format.
    """
    path = folder / MANIFEST
    way_out = "restore it, or move it away to read the log alone"
    try:
        given = json.loads(plainfile.read(path, limits.MANIFEST).decode("utf-8-sig"))
    except FileNotFoundError:
        return Manifest(), [Remark("no_manifest")]
    except OSError as error:
        raise BadRunError(f"{path} can't be read, {error.strerror}: {way_out}") from None
    except (ValueError, RecursionError):
        raise BadRunError(f"{path} is no JSON in UTF-8: {way_out}") from None
    if not isinstance(given, dict):
        raise BadRunError(f"{path} holds no keys: {way_out}")
    version = given.get("format") or FORMAT
    if not isinstance(version, int) or version > FORMAT:
        named = cut(str(version))
        raise BadRunError(
            f"{path} is of format {named}, this tutor reads up to {FORMAT}: upgrade tutor to read it"
        )
    manifest, odd = Manifest.parse(given)
    return manifest, [Remark("odd_manifest", {"keys": ", ".join(odd)})] if odd else []
