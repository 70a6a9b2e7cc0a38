"""A log of text as a run: what a reader hands on once it has said what the lines of its tool look like."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tutor import packed
from tutor.readers.common.lines import LOOKED_AT, Lines
from tutor.readers.common.rows import About, configured, run_of_frame
from tutor.run import Aggregation, Manifest, Remark, Run


@dataclass(frozen=True)
class TextLog:
    """A run in a file of text.

    Attributes:
        path: the file.
        format: what `check` calls it.
        lines: what its lines look like.
        aggregations: as `run_of_table` takes them.
        settings: what the text above the first row says of the configuration, by its own names.
        numbered: whether its lines say at which step they are; else the rows are counted.
    """

    path: Path
    format: str
    lines: Lines
    aggregations: Mapping[str, Aggregation] = field(default_factory=dict)
    settings: Callable[[str], Iterable[tuple[str, str]]] | None = None
    numbered: bool = True

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """A log of text says nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        from tutor.readers.common.extract import frame_of  # polars: only who reads a log pays for it

        remarks: list[Remark] = []
        frame = frame_of(self.path, self.lines, remarks)
        if not self.numbered:
            remarks.append(Remark("rows_counted"))
        manifest = configured(self.settings(_above(self.path))) if self.settings else Manifest()
        about = About(name=self.path.name, aggregations=self.aggregations, remarks=remarks, manifest=manifest)
        if not self.numbered:
            about["counts"] = "rows"
        return run_of_frame(frame, self.path, **about)


def _above(path: Path) -> str:
    """The text of a file's beginning, in which its first row comes."""
    return packed.head(path, LOOKED_AT).decode("utf-8", "replace")
