"""What is known of a run's configuration: from its log, from the files beside it, and from the user.

JSON and YAML are read as data, however they are tagged: no file that could run code is opened, so Hugging
Face's `training_args.bin`, a pickle, is not.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tutor import plainfile
from tutor.readers.source import Source
from tutor.run import BadRunError, Remark, Run
from tutor.run.facts import Known, known_in, stated, understood, with_facts
from tutor.run.given import BESIDE, said

_FILES = (
    BESIDE,
    "training_args.json",  # Hugging Face's arguments, where somebody kept them as text
    "training_args.y*ml",  # LLaMA-Factory's
    "args.json",
    "args.y*ml",
    "hparams.y*ml",  # Lightning
    "files/config.yaml",  # Weights & Biases
    "*config*.y*ml",
    "ds_config*.json",  # DeepSpeed
    "*config*.json",  # a model's of Hugging Face among them
)
_REPLACED = ("beside", "given", "no_manifest")  # remarks that facts are said anew, or found after all
_PARAMS = "params"  # MLflow: a file for each
_LOGS = ("runs", "logs")
"""What the folder of event files is called in the folder of a run, each start in a folder of its own."""

_CHECKPOINT = "checkpoint-"  # and the number of its step: how Hugging Face calls the folder of each

_LARGEST = {".json": 1_000_000, ".yaml": 100_000, ".yml": 100_000, "": 10_000}
"""Bytes of a file that is read, by its suffix. YAML takes a second for 100 kB."""

_ALIKE = 4  # files by one pattern, and twenty times as many parameters
_Settings = tuple[str, Mapping[str, object]]
_NODES = 10_000
"""Values of a file that are looked at: aliases in YAML can make any number of a few lines."""


def read_source(source: Source, since: Run | None = None) -> Run:
    """The source's run; see `readers.read`. Raises BadRunError where it can't be read."""
    try:
        return completed(source.read(since))
    except OSError as error:
        raise BadRunError(f"{source.path} can't be read: {error.strerror}") from None


def completed(run: Run) -> Run:
    """The run with what its settings, the files beside its log and the user say of its configuration.

    What the run says of itself stands, but for what the user says.
    """
    # One of several in a file has no files of its own.
    files = [*_files(run.path)] if not run.manifest.tutor and run.path.exists() else []
    found = {} if run.manifest.tutor else _found(run, files)
    beside = {name: value for _, settings in reversed(files) for name, value in settings.items()}
    run = replace(run, beside=beside) if beside != run.beside else run  # one that didn't grow is the same run
    unsaid = {name: fact for name, fact in found.items() if not known_in(run.manifest, name)}
    return told(run, {**unsaid, **said()})


def told(run: Run, facts: Mapping[str, Known]) -> Run:
    """The run with these facts, over what is known of it; no file is read."""
    origins = {**run.origins, **facts}
    if origins == run.origins:
        return run
    kept = [one for one in run.remarks if one.key not in _REPLACED]
    manifest = with_facts(run.manifest, facts)
    return replace(run, manifest=manifest, origins=origins, remarks=(*kept, *_remarks(run.path, origins)))


def _remarks(log: Path, origins: Mapping[str, Known]) -> Iterator[Remark]:
    """A line for each place but the log itself that facts come from."""
    for place in dict.fromkeys(fact.place for fact in origins.values() if fact.place != log.name):
        facts = [f"{name} {fact.value}" for name, fact in origins.items() if fact.place == place]
        told = {"facts": facts}
        yield Remark("beside", told | {"place": place}) if place else Remark("given", told)


def _found(run: Run, files: Sequence[_Settings]) -> dict[str, Known]:
    """The facts in the run's own settings, then in each file, the surest first."""
    found = understood(run.manifest.settings, run.path.name)
    for place, settings in files:
        found = (stated if place == BESIDE else understood)(settings, place) | found
    return found


def _files(log: Path) -> Iterator[_Settings]:
    """The name and the settings of each file that may say something of the run whose log this is."""
    for folder in _folders(log):
        params = sorted((folder / _PARAMS).glob("*"))[: 20 * _ALIKE]
        if named := {path.name: text.strip() for path in params if (text := _text(path)) is not None}:
            yield f"{_PARAMS}/", named
        for pattern in _FILES:
            for path in sorted(folder.glob(pattern))[:_ALIKE]:
                if settings := _settings(path):
                    yield path.name, settings


def _folders(log: Path) -> Iterator[Path]:
    """Where such files lie: beside the log; above a checkpoint or a folder of event files; in the last
    checkpoint.
    """
    folder = log if log.is_dir() else log.resolve().parent
    yield folder
    if folder.name.startswith(_CHECKPOINT):
        yield folder.parent
    elif folder.parent.name in _LOGS:
        yield folder.parent.parent
    yield from sorted(folder.glob(f"{_CHECKPOINT}*"), key=lambda one: (len(one.name), one.name))[-1:]


def _text(path: Path) -> str | None:
    with suppress(OSError, KeyError, UnicodeDecodeError):
        return plainfile.read(path, _LARGEST[path.suffix]).decode("utf-8-sig")
    return None


def _settings(path: Path) -> dict[str, object]:
    """The values in a file of JSON or YAML by their dotted names; {} where it is none, or too large."""
    text = _text(path)
    try:
        data = json.loads(text or "") if path.suffix == ".json" else _of_yaml(text or "")
    except (ValueError, RecursionError):
        return {}
    settings = flat(data)
    if "model_type" in settings and "dtype" in settings:  # a model's: that of the weights as they were saved
        settings["torch_dtype"] = settings.pop("dtype")
    return settings


def _of_yaml(text: str) -> object:
    from tutor.readers.common import plainyaml  # few logs have such a file beside them

    return plainyaml.data(text)


def flat(data: object) -> dict[str, object]:
    """Nested mappings and lists as one mapping: `{"optimizer": {"betas": [0.9]}}` is `optimizer.betas.0`."""
    found: dict[str, object] = {}
    waiting: list[tuple[str, object]] = [("", data)]
    for _ in range(_NODES):
        if not waiting:
            break
        name, value = waiting.pop()
        inside = value.items() if isinstance(value, Mapping) else None
        if inside is None and isinstance(value, list):
            inside = enumerate(value)
        if inside is None:
            found[name.removesuffix(".value")] = value  # Weights & Biases keeps each as {value: ...}
            continue
        waiting += [(f"{name}.{key}" if name else str(key), one) for key, one in inside]
    return found
