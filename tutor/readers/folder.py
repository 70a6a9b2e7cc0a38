"""tutor's own run folder (see `tutor.runfolder`), its log alone, or any log of JSON with a row a step."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tutor.readers.jsonlines import first_row
from tutor.readers.source import Source
from tutor.run import BadRunError, Manifest, Run, called
from tutor.runfolder import METRICS, PACKED, is_run
from tutor.runfolder.manifest import read_manifest
from tutor.words import plain, quoted, say


@dataclass(frozen=True)
class Folder:
    """A run in a folder: its manifest and its log."""

    path: Path
    log: str = METRICS
    format: str = "a run folder of tutor"

    def describe(self, lang: str) -> str:
        """Its dtype, steps and seed, as far as the manifest says."""
        manifest = self._manifest
        words = [plain(manifest.dtype)] if manifest.dtype else []
        for key in ("steps", "seed"):
            if isinstance(value := manifest.settings.get(key), int):
                words.append(say(f"walk.{key}", lang, **{key: value}))
        return " · ".join(words)

    def read(self, since: Run | None = None) -> Run:
        """The run, from where it was read before where it has only grown."""
        from tutor.runfolder.reader import read_run  # polars: only who reads a log pays for it

        return read_run(self.folder, since, self.log)

    @cached_property
    def _manifest(self) -> Manifest:
        """What its manifest says; nothing where it can't be read. Read once for all languages."""
        try:
            manifest, _ = read_manifest(self.folder)
        except (BadRunError, OSError):
            return Manifest()
        return manifest

    @property
    def folder(self) -> Path:
        """Where manifest and log lie."""
        return self.path if self.log == METRICS else self.path.parent


def sources(path: Path) -> list[Source]:
    """A folder with a log or a manifest of ours in it, that log itself, or another file with rows of JSON."""
    if is_run(path):
        return [Folder(path)]
    if path.name in (METRICS, PACKED) and path.is_file():
        return [Folder(path.parent)]
    if path.is_file() and "step" in (first_row(path) or {}):
        return [Folder(path, path.name, "rows of JSON")]
    return []


def lacks(path: Path) -> str | None:
    """Rows of JSON without a `step`."""
    row = first_row(path)
    if not row or any(isinstance(one, list | dict) for one in row.values()):  # a document on one line
        return None
    told = f"its rows of JSON need a `step` and a `loss`; the first has {quoted(row)}"
    said = [name for name in called.names_for(path).values() if name and name not in row]
    if said:
        return f"{told}, and not {quoted(said)}, which --map names"
    return f"{told}; where they are called otherwise, say how: --map step=NAME,loss=NAME"
