"""The manifest of a run folder, read by itself: a long log isn't read to list the run."""

import json
from pathlib import Path

from tutor.run import BadRunError, Manifest, Remark
from tutor.runfolder import FORMAT, MANIFEST


def read_manifest(folder: Path) -> tuple[Manifest, list[Remark]]:
    """What the run in `folder` was meant to be, and what of it can't be understood.

    Raises:
        BadRunError: it is no JSON, or of a newer format.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return Manifest(), [Remark("no_manifest")]
    way_out = "restore it, or move it away to read the log alone"
    try:
        given = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError):
        raise BadRunError(f"{path} is no JSON in UTF-8: {way_out}") from None
    if not isinstance(given, dict):
        raise BadRunError(f"{path} holds no keys: {way_out}")
    version = given.get("format") or FORMAT
    if not isinstance(version, int) or version > FORMAT:
        raise BadRunError(
            f"{path} is of format {version}, this tutor reads up to {FORMAT}: upgrade tutor to read it"
        )
    manifest, odd = Manifest.parse(given)
    return manifest, [Remark("odd_manifest", {"keys": ", ".join(odd)})] if odd else []
