"""Long logs of every text format, and by which expressions polars finds their numbers."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Text:
    """A format.

    Attributes:
        name: of its file.
        line: that of a step, given the step, its loss and its norm of the gradient.
        columns: a regular expression for each column, by which polars finds it in the lines; empty where
            polars has a reader of the format.
        head: what the file begins with.
    """

    name: str
    line: Callable[[int, float, float], str]
    columns: tuple[str, ...] = ()
    head: str = ""

    def write(self, folder: Path, length: int) -> Path:
        """A healthy run of `length` rows."""
        path = folder / self.name
        with path.open("w") as file:
            file.write(self.head)
            file.writelines(f"{line}\n" for line in self._lines(length))
        return path

    def _lines(self, length: int) -> Iterator[str]:
        draw = random.Random(0)
        for step in range(length):
            loss = 2.0 + 8.0 / (1 + step / 1000) + draw.gauss(0, 0.05)
            yield self.line(step, loss, 0.5 + draw.random() / 5)

    def reading(self, path: Path) -> str:
        """A program by which polars reads the same columns of the file."""
        if self.name.endswith(".csv"):
            return f"import polars; polars.read_csv({str(path)!r})"
        if not self.columns:
            return f"import polars; polars.read_ndjson({str(path)!r})"
        return (
            "import polars as pl\n"
            f"lines = pl.read_csv({str(path)!r}, has_header=False, separator='\\x01', quote_char=None)\n"
            f"lines.select(pl.first().str.extract(one).cast(pl.Float64, strict=False).alias(one) "
            f"for one in {self.columns!r})"
        )


def _trainer(step: int, loss: float, norm: float) -> str:
    return str({"loss": round(loss, 4), "grad_norm": norm, "learning_rate": 3e-4, "epoch": step / 1e4})


def _fairseq(step: int, loss: float, norm: float) -> str:
    row = {
        "epoch": 1,
        "loss": f"{loss:.3f}",
        "ppl": "9.5",
        "num_updates": str(step + 1),
        "lr": "2e-05",
        "gnorm": f"{norm:.3f}",
        "loss_scale": "8",
        "train_wall": "21",
    }
    return f"2024-01-01 10:00:00 | INFO | train_inner | {json.dumps(row)}"


TEXTS = {
    "nanoGPT": Text(
        "nanogpt.log",
        lambda step, loss, norm: (
            f"iter {step}: loss {loss:.4f}, time {90 + norm:.2f}ms, mfu {15 + norm:.2f}%"
        ),
        (r"iter (\d+):", r"loss ([^,]+),"),
    ),
    "build-nanogpt": Text(
        "build-nanogpt.log",
        lambda step, loss, norm: (
            f"step {step:5d} | loss: {loss:.6f} | lr 6.0000e-04 | norm: {norm:.4f} | dt: 338.22ms | "
            f"tok/sec: {1e6 + norm:.2f}"
        ),
        (
            r"^step +(\d+)",
            *(rf" {one}:? ([^ ]+)" for one in ("loss", "lr", "norm")),
            r"dt: ([^m]+)",
            r"sec: (.*)",
        ),
    ),
    "build-nanogpt's log.txt": Text(
        "log.txt",
        lambda step, loss, norm: f"{step} train {loss:.6f}",
        (r"^(\d+) ", r"train (.*)"),
    ),
    "torchtune": Text(
        "torchtune.txt",
        lambda step, loss, norm: f"Step {step} | loss:{loss:.12f} lr:0.0003 grad_norm:{norm:.12f} ",
        (r"^Step (\d+)", *(rf"{one}:([^ ]+) " for one in ("loss", "lr", "grad_norm"))),
    ),
    "llm.c": Text(
        "main.log",
        lambda step, loss, norm: f"s:{step} trl:{loss:.4f} lr:0.000600 norm:{norm:.2f}",
        (r"^s:(\d+)", *(rf"{one}:([^ ]+)" for one in ("trl", "lr", "norm"))),
    ),
    "modded-nanogpt": Text(
        "modded.txt",
        lambda step, loss, norm: (
            f"step:{step}/6200 train_loss:{loss:.4f} train_time:{step * 90}ms step_avg:{90 + norm:.2f}ms"
        ),
        (r"^step:(\d+)/", r"train_loss:([^ ]+)"),
    ),
    "torchtitan": Text(
        "titan.log",
        lambda step, loss, norm: (
            f"[titan] 2024-01-01 10:00:00,123 - root - INFO - \x1b[31mstep: {step:2}  \x1b[32m"
            f"loss: {loss:7.4f}  \x1b[38;2;180;60;0mgrad_norm: {norm:7.4f}  "
            f"\x1b[33mmemory:  9.54GiB(12.05%)  \x1b[34mtps: {7e3 + norm:,.0f}  \x1b[35mmfu: 49.01%\x1b[39m"
        ),
        (r"step: +(\d+)", r"loss: +([^ ]+)", r"grad_norm: +([^ ]+)", r"tps: +([^ ]+)"),
        head="[rank0]: starting\n",
    ),
    "nanochat": Text(
        "nanochat.log",
        lambda step, loss, norm: (
            f"step {step:05d}/1000000 ({step / 1e4:.2f}%) | loss: {loss:.6f} | lrm: 1.00 | dt: 320.12ms | "
            f"tok/sec: {1e6 + norm:,.0f} | mfu: 45.00 | total time: {step / 100:.2f}m"
        ),
        (r"^step (\d+)/", r"\| loss: ([^ ]+)", r"lrm: ([^ ]+)", r"tok/sec: ([^ ]+)"),
    ),
    "llama.cpp": Text(
        "llama.log",
        lambda step, loss, norm: (
            f"train: [=====>     ] data={step + 1:07d}/1000001 loss={loss:.5f}±{norm:.5f} acc=31.20±0.10%"
        ),
        (r"data=(\d+)/", r"/(\d+) loss", r"loss=([^±]+)±"),
    ),
    "Megatron-LM": Text(
        "megatron.out",
        lambda step, loss, norm: (
            f" iteration {step + 1:8d}/ 1000000 | consumed samples: {step * 512:12d} | elapsed time per "
            f"iteration (ms): {3e3 + norm:.1f} | learning rate: 3.000E-04 | global batch size:   512 | "
            f"lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: {norm:.3f} | "
            "number of skipped iterations:   0 | number of nan iterations:   0 |"
        ),
        (
            r"iteration +(\d+)/",
            *(
                rf" {one}: +([^ ]+)"
                for one in (
                    "learning rate",
                    "lm loss",
                    "loss scale",
                    "grad norm",
                    "number of skipped iterations",
                )
            ),
        ),
    ),
    "DeepSpeed": Text(
        "deepspeed.log",
        lambda step, loss, norm: (
            f"[2024-01-01 10:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step={step}, "
            "skipped=3, "
            "lr=[9.65e-06, 9.65e-06], mom=[(0.9, 0.95), (0.9, 0.95)]"
        ),
        (r"step=(\d+),", r"skipped=(\d+)", r"lr=\[([^,]+),"),
    ),
    "fairseq": Text(
        "fairseq.log",
        _fairseq,
        tuple(rf'"{one}": "([^"]+)"' for one in ("loss", "num_updates", "lr", "gnorm", "loss_scale")),
    ),
    "Marian": Text(
        "train.log",
        lambda step, loss, norm: (
            f"[2024-01-01 10:00:00] Ep. 1 : Up. {step} : Sen. 6,912 : Cost {loss:.8f} : Time 9.12s : "
            f"912.00 words/s : gNorm {norm:.4f} : L.r. 3.0000e-04"
        ),
        (r" Up\. (\d+) ", r" Cost ([^ ]+)", r" gNorm ([^ ]+)", r" L\.r\. ([^ ]+)"),
    ),
    "a Trainer's output": Text(
        "trainer.out",
        _trainer,
        tuple(rf"'{one}': ([^,}}]+)" for one in ("loss", "grad_norm", "learning_rate", "epoch")),
    ),
    "printed lines": Text(
        "printed.log",
        lambda step, loss, norm: f"Step {step}: grad_norm={norm:.4f}, loss={loss:.4f}, lr=0.0003",
        (r"^Step (\d+):", *(rf"{one}=([^,]+)" for one in ("grad_norm", "loss", "lr"))),
    ),
    "printed lines of epochs": Text(
        "epochs.log",
        lambda step, loss, norm: (
            f"2024-01-01 10:00:00,257 - mmdet - INFO - Epoch [{step // 1000 + 1}][{step % 1000 + 1}/1000]\t"
            f"lr: 1.0e-02, eta: 5:02:49, time: 0.784, loss_cls: {loss / 10:.4f}, acc: {100 - 5 * loss:.4f}, "
            f"loss: {loss:.4f}, grad_norm: {norm:.4f}"
        ),
        (
            r"Epoch \[(\d+)\]",
            r"\]\[(\d+)/",
            r"\]\[\d+/(\d+)\]",
            *(rf"\b{one}: ([^,]+)" for one in ("lr", "time", "loss_cls", "acc", "loss", "grad_norm")),
        ),
    ),
    "CSV": Text(
        "metrics.csv",
        lambda step, loss, norm: f"{step},{loss!r},{norm!r},0.0003,{1e5 + norm!r}",
        head="step,loss,grad_norm,lr,tokens_per_second\n",
    ),
    "JSON lines": Text(
        "trainer_log.jsonl",
        lambda step, loss, norm: json.dumps(
            {"current_steps": step, "total_steps": 1_000_000, "loss": loss, "lr": 3e-4, "epoch": norm}
        ),
    ),
}
