"""The command that trains a run again with a fix, from what its manifest says of itself."""

import shlex
from collections.abc import Mapping
from typing import Any

from tutor.run import Run
from tutor.tree import Times


def fix_command(run: Run, change: Mapping[str, Any]) -> str | None:
    """The command that trains the run again with `change` laid over what was asked for then.

    A control's fix is of its break: the control has nothing to mend.

    Args:
        run: its manifest names its `break`, the `changes` asked for beyond it, and its `settings`.
        change: the fix, as a tree's leaf gives it: values by setting, or Times what the setting was.

    Returns:
        None where nothing can be run or nothing would change: no change given, a run that tutor didn't
        train, a sealed one, or a setting that can't be multiplied.
    """
    manifest = run.manifest
    if not change or not manifest.tutor or manifest.sealed:
        return None
    from tutor import settings  # a walk begins without them

    was = manifest.settings
    try:
        values = {
            name: settings.scaled(was.get(name), value.times) if isinstance(value, Times) else value
            for name, value in change.items()
        }
    except ValueError:
        return None
    if all(name in was and was[name] == value for name, value in values.items()):
        return None
    words = ["tutor", "train"]
    if card := manifest.break_name:
        words += ["--break", card]
    return shlex.join([*words, *settings.command_words({**manifest.changes, **values})])
