"""What experiments found, as files beside a run's log."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tutor import plainfile, terminal


def keep(path: Path, data: Mapping[str, Any]) -> None:
    """Write `data` as JSON, all of it or nothing; where that can't be, a line says so."""
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        plainfile.replace(path, text.encode())
    except OSError as error:
        terminal.warn(f"{path} can't be written ({error.strerror}): what was found isn't kept")
