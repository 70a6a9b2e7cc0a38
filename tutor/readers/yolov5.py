"""YOLOv5's `results.txt`, as YOLOv3 and YOLOv7 write it, too: a row an epoch, without a heading.

         0/89     5.61G   0.07745    0.0277   0.01785     0.123         7       640    0.7966 ...

The epoch of all, memory, the loss of boxes, objects and classes and their sum, the last batch's labels, the
size of images; precision, recall, two mean average precisions; and the parts of the validation loss, whose
sum isn't written. Each loss is the mean over its epoch, and NaN shows.
Source: ultralytics/yolov5's train.py (`results_file`, until v5.0), WongKinYiu/yolov7's train.py
"""

import re
from dataclasses import dataclass
from pathlib import Path

from tutor import packed
from tutor.readers.common.rows import number, run_of_table
from tutor.readers.common.trainers import WINDOW
from tutor.readers.source import Source, head
from tutor.readers.ultralytics import with_sums
from tutor.run import Remark, Run, limits

_PARTS = ("box_loss", "obj_loss", "cls_loss")
_COLUMNS = (
    *("epoch", "gpu_mem", *(f"train/{part}" for part in _PARTS), "train/loss", "labels", "img_size"),
    *("metrics/precision", "metrics/recall", "metrics/mAP_0.5", "metrics/mAP_0.5:0.95"),
    *(f"val/{part}" for part in _PARTS),
)
_BEHIND = len(_COLUMNS) - 2
_ROW = re.compile(
    r"^[ \t]*(?P<epoch>[0-9]+)/[0-9]+[ \t]+(?P<gpu_mem>[0-9.]+)G"
    rf"(?P<rest>(?:[ \t]+[-+.0-9a-z]+){{{_BEHIND}}})\s*$",
    re.MULTILINE | re.IGNORECASE,
)


@dataclass(frozen=True)
class Epochs:
    """A run in such a file."""

    path: Path
    format: str = "YOLOv5's results.txt"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Its metrics say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        import polars as pl  # only who reads a log pays for it

        text = packed.read(self.path, limits.PACKED)[0].decode("utf-8", "replace")
        cells = ((*found.group("epoch", "gpu_mem"), *found["rest"].split()) for found in _ROW.finditer(text))
        rows = pl.DataFrame(
            [[number(cell) for cell in row] for row in cells],
            schema=dict.fromkeys(_COLUMNS, pl.Float64),
            orient="row",
        )
        remarks: list[Remark] = []
        rows = with_sums(rows, self.path, remarks)
        return run_of_table(rows, self.path, remarks=remarks, aggregations={"loss": WINDOW})


def sources(path: Path) -> list[Source]:
    """A file of such rows."""
    if not path.is_file():
        return []
    return [Epochs(path)] if _ROW.match(head(path).decode("utf-8", "replace").lstrip("\n")) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
