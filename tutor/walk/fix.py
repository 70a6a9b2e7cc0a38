"""The command that trains a run again with a fix, or the settings that another trainer has for it."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from tutor.run import Run
from tutor.run.facts import Known
from tutor.tree import Times
from tutor.words import number

CALLED = {"lr": "lr_max"}
"""Settings of tutor's own that the facts of a configuration call otherwise."""

FLAGS = ("bf16", "fp16")
"""Switches by which other trainers say their dtype: none of them takes its name."""


def fix_values(run: Run, change: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The settings that a fix comes to on that run, by name; see `fix_command` for what None means."""
    if not change or not run.manifest.tutor or run.manifest.sealed:
        return None
    from tutor import settings  # a walk begins without them

    was = run.manifest.settings
    try:
        values = {
            name: settings.scaled(was.get(name), value.times) if isinstance(value, Times) else value
            for name, value in change.items()
        }
    except ValueError:
        return None
    return None if all(name in was and was[name] == value for name, value in values.items()) else values


def own_settings(run: Run, change: Mapping[str, Any]) -> list[str]:
    """The settings that a fix comes to, as another trainer's configuration calls them.

    `["learning_rate: 0.0001 (args.json)"]`; [] where the run's own configuration names none of them.
    """
    found = _own(run, change)
    return [f"{known.called}: {new}" + (f" ({known.place})" if known.place else "") for known, new in found]


def own_lines(run: Run, change: Mapping[str, Any]) -> list[str]:
    """As `own_settings`, as lines of such a configuration."""
    return [f"{known.called}: {new}" for known, new in _own(run, change)]


def _own(run: Run, change: Mapping[str, Any]) -> Iterator[tuple[Known, str]]:
    """What the run's own configuration says of each setting of a fix, with its new value."""
    for name, value in change.items():
        known = run.origins.get(CALLED.get(name, name))
        if known is None or known.called in FLAGS:
            continue
        new = _times(known.value, value) if isinstance(value, Times) else value
        if new is not None and new != known.value:
            yield known, number(new)


def _times(was: object, change: Times) -> float | None:
    return was * change.times if isinstance(was, int | float) else None


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
    manifest, values = run.manifest, fix_values(run, change)
    if values is None:
        return None
    from tutor import settings

    words = ["tutor", "train"]
    if card := manifest.break_name:
        words += ["--break", card]
    return shlex.join([*words, *settings.command_words({**manifest.changes, **values})])
