"""Section 5 read as what can be run: lines of `tutor train ...`, of settings, or of another trainer.

A line that begins with # is a remark, as in a shell. Nothing else may stand in the section: words before a
command would be kept as something that can be run, and can't.
"""

import argparse
import re
import shlex
from collections.abc import Iterator, Sequence, Set
from typing import Any, NoReturn

from tutor import catalog, settings
from tutor.postmortem.about import About, Option
from tutor.postmortem.form import PostMortem
from tutor.postmortem.parsing import sentences
from tutor.words import say

RATES = ("lr", "learning_rate", "lr_max", "learning-rate")
"""What trainers call the learning rate."""

LAUNCHERS = ("python", "python3", "torchrun", "accelerate", "deepspeed", "srun", "sbatch", "bash", "sh", "uv")
"""What begins a command of another trainer, besides a path or a script."""

_ASSIGNMENTS = re.compile(r"[A-Za-z_]\w*=[^\s,;=]+(?:\s*[,;\s]\s*[A-Za-z_]\w*=[^\s,;=]+)*[.,;]?")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=([^\s,;=]+)")
_ENTRY = re.compile(r"[\w.\-]+\s*[:=]\s*\S+")
_BEHIND = re.compile(r"\s*#\s.*")  # a remark behind a change
_OPTION = re.compile(r"--?[A-Za-z][\w.\-]*")


class NotAChangeError(ValueError):
    """What stands there can't be run: `key` names the sentence in tutor/words, `facts` fill it."""

    def __init__(self, key: str, **facts: Any) -> None:
        self.key, self.facts = key, facts
        super().__init__(key)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise NotAChangeError("bad_change", reason=message)


def _parser() -> _Parser:
    """The options of `tutor train`."""
    parser = _Parser(prog="tutor train", add_help=False, allow_abbrev=False)
    parser.add_argument("--break", dest="card")
    parser.add_argument("--set", dest="settings", action="append", default=[])
    for name in settings.OPTIONS:
        parser.add_argument(f"--{name}")
    for name in ("--out", "--resume"):
        parser.add_argument(name)
    parser.add_argument("--fault", action="append")
    for name in ("--control", "--sealed"):
        parser.add_argument(name, action="store_true")
    return parser


def remarks(text: str) -> str:
    """The lines that begin with #."""
    return "\n".join(line for line in _lines(text) if line.startswith("#"))


def changes(text: str, about: About) -> dict[str, str | None]:
    """The settings that section 5 changes, by name; {} where it holds remarks alone.

    Raises:
        NotAChangeError: a line can't be run, names what there isn't, or changes nothing.
    """
    found: dict[str, str | None] = {}
    for line in _lines(text):
        if not line.startswith("#"):
            found |= _ours(line, about) if about.ours else _of_another_trainer(line)
    if about.ours and found:
        try:
            settings.build(found)
        except ValueError as error:
            raise NotAChangeError("bad_change", reason=str(error)) from None
        if all(_same(about.settings.get(name), value) for name, value in found.items()):
            raise NotAChangeError("same_change", changes=", ".join(f"{n}={v}" for n, v in found.items()))
    return found


def _lines(text: str) -> Iterator[str]:
    joined = re.sub(r"\\\n", " ", text)
    for line in map(str.strip, joined.splitlines()):
        change = line if line.startswith("#") else _BEHIND.sub("", line)
        if change:
            yield change.strip("`")


def _ours(line: str, about: About) -> dict[str, str | None]:
    if _ASSIGNMENTS.fullmatch(line):
        return _assigned([f"{name}={value}" for name, value in _ASSIGNMENT.findall(line)])
    words = _words(line.removeprefix("$ "))
    if words[:2] == ["tutor", "train"]:
        words = words[2:]
    elif not words[0].startswith("--"):
        raise NotAChangeError("no_change", line=line)
    given = _parser().parse_args(words)
    if given.card and about.breaks and given.card not in about.breaks and not given.card.endswith(".yaml"):
        raise NotAChangeError("bad_change", reason=catalog.unknown("break", given.card, about.breaks))
    options = {name: value for name in settings.OPTIONS if (value := getattr(given, name)) is not None}
    return options | _assigned(given.settings)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line) or [""]
    except ValueError:
        raise NotAChangeError("no_change", line=line) from None


def _assigned(assignments: Sequence[str]) -> dict[str, str | None]:
    try:
        return settings.parse(one.rstrip(".)`\"'") for one in assignments)
    except ValueError as error:
        raise NotAChangeError("bad_change", reason=str(error)) from None


def _of_another_trainer(line: str) -> dict[str, str | None]:
    """Its names are its own, so a line is read by its form alone."""
    found: dict[str, str | None] = dict(_ASSIGNMENT.findall(line))
    if _ASSIGNMENTS.fullmatch(line) or _ENTRY.fullmatch(line):
        name, _, value = re.sub(r"\s*[:=]\s*", "=", line, count=1).partition("=")
        return found or {name: value}
    words = _words(line.removeprefix("$ "))
    first = words[0]
    launched = first in LAUNCHERS or "/" in first or first.endswith((".py", ".sh")) or "=" in first
    if not (launched or _OPTION.match(first)) or not any(_OPTION.match(word) for word in words):
        raise NotAChangeError("no_change", line=line)
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if option := _OPTION.match(word):
            name, equals, value = word.lstrip("-").partition("=")
            found[name if equals else option.group().lstrip("-")] = value if equals else after
    return found


def _same(was: str | None, value: str | None) -> bool:
    given = "none" if value is None else value
    if was is None:
        return False
    try:
        return float(was) == float(given)
    except ValueError:
        return was == given


def offered(about: About, lang: str) -> str:
    """What section 5 begins with once there is a cause: the leaf's smallest fix that can be run.

    A run that ended in NaN goes back first, to weights that were still finite and, where the loss climbed
    there, to before it did. Nothing else that can't be run
    stands there: a fix in words alone is for the learner to write.
    """
    lines = []
    if about.nan and about.last_finite is not None:
        lines.append(f"# {say('postmortem.go_back', lang, step=about.last_finite)}")
    elif about.nan and about.sound is not None and not about.keeps:
        finite = say("postmortem.go_back_before", lang, step=about.sound)
        calm = say("postmortem.go_back_calm", lang, step=about.calm)
        lines.append(f"# {finite if about.calm is None else calm}")
    if command := next((option.command for option in about.options if option.command), ""):
        lines.append(command)
    return "\n".join(lines)


def with_cause(pm: PostMortem, cause: str, lang: str) -> PostMortem:
    """The same with a cause. The fix follows it: offered with the first one, gone with its last word."""
    fix, untouched = offered(pm.about, lang), pm.remediation.strip()
    if sentences(cause) and not untouched:
        return pm.but(cause=cause, remediation=fix)
    if not sentences(cause) and untouched == fix:
        return pm.but(cause=cause, remediation="")
    return pm.but(cause=cause)


def with_option(pm: PostMortem, number: int, lang: str) -> PostMortem:
    """The same with another of the leaf's fixes, from 0; remarks stay. One in words alone becomes a remark,
    above what is to be run.
    """
    option = pm.about.options[number]
    if option.command:
        lines = (remarks(pm.remediation), option.command)
    else:
        lines = (f"# {option.words(lang)}", pm.remediation.strip())
    return pm.but(remediation="\n".join(filter(None, lines)))


def not_taken(pm: PostMortem) -> tuple[Option, ...]:
    """The fixes that the leaf names and section 5 doesn't: neither in words nor by what they change."""
    try:
        changed = set(changes(pm.remediation, pm.about))
    except NotAChangeError:
        changed = set()
    changed = {"lr" if name in RATES else name for name in changed}
    kept = set(_lines(pm.remediation))
    return tuple(option for option in pm.about.options if not _taken(option, kept, changed))


def _taken(option: Option, kept: Set[str], changed: Set[str]) -> bool:
    """Whether a fix stands in section 5, whose lines are `kept` and which has `changed` these settings."""
    if option.command in kept or any(f"# {words}" in kept for words in option.offered.values()):
        return True
    return not option.command and not changed.isdisjoint(option.changes)
