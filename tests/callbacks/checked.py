"""What `tutor check` says of a folder that a callback wrote."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from tutor.cli import app


def checked(folder: Path) -> tuple[int, dict[str, Any]]:
    """The exit code of `tutor check --json`, 0 for healthy and 1 for a flaw, and what it prints."""
    done = CliRunner().invoke(app, ["check", str(folder), "--json"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    [told] = json.loads(done.stdout)
    return done.exit_code, told
