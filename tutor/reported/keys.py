"""The keys of what `tutor check --json` prints; docs/check-json.md tells of each.

`python -m tutor.reported` prints the JSON Schema that is made of this, docs/check.schema.json. A key is
only ever added; were one to change its meaning or go, `FORMAT` would go up.
"""

from typing import Any, Literal

from typing_extensions import TypedDict

FORMAT = 1

Verdict = Literal["healthy", "flaw", "undecided"]
Value = float | int | Literal["NaN", "Infinity", "-Infinity"]
"""A number, also where JSON has none for it."""


class FixData(TypedDict):
    """A fix in words, and as a command where it is one; one that only looks finds the cause alone."""

    words: str
    command: str | None
    only_looks: bool


class LeafData(TypedDict):
    """The end that a walk has reached: its id and name, what it means, its smallest fix as a command, and all
    fixes, the smallest first.
    """

    id: str
    name: str
    means: str
    fix: str | None
    fixes: list[FixData]


class LineData(TypedDict):
    """A line of what the log says; see `tutor.saying.Line`."""

    role: str
    text: str
    label: str
    note: str
    verdict: str
    decides: bool
    value: Any
    bound: Value | None
    step: int | None
    window: tuple[int, int] | None
    sources: list[str]


class CheckData(TypedDict):
    """What one of several rules of a question found."""

    outcome: str
    facts: dict[str, Any]


class QuestionData(TypedDict):
    """A question that was asked: what the log says of it, and the outcome that was taken."""

    id: str
    ask: str
    log_says: str
    outcome: str | None
    by: Literal["log", "assumed"] | None
    step: int | None
    bound: Value | None
    margin: Value | None
    close: bool
    facts: dict[str, Any]
    checks: dict[str, CheckData]
    sources: list[str]
    sentences: list[str]
    lines: list[LineData]


class TreeData(TypedDict):
    """One tree, walked with nobody watching."""

    tree: str
    verdict: Verdict
    too_early: list[str]
    assumed: list[str]
    questions: list[QuestionData]
    leaf: LeafData | None


class OutcomeData(TypedDict):
    """An answer that somebody may give, and what it is called."""

    id: str
    label: str


class AskedData(TypedDict):
    """A question that the log can't answer, and whose answer would settle what the run is."""

    tree: str
    id: str
    ask: str
    outcomes: list[OutcomeData]


class SignalData(TypedDict):
    """A signal that was not recorded, and how to record it."""

    signal: str
    how: str


class SettlesData(TypedDict):
    """What would settle a verdict: signals to record, rows that are still to come, a question to answer."""

    record: list[SignalData]
    rows: int | None
    question: AskedData | None


class RowData(TypedDict):
    """A row of the table that a leaf shows."""

    label: str
    state: str
    sentence: str


class Checked(TreeData):
    """A run that was checked: the tree that decides, and beside it those walked before and after.

    `verdict` is that of the whole run, and `leaf` None where the log is not enough to name one. `question`,
    with its `section`, is the one that decided, and `step`, `value`, `bound`, `margin`, `window` and `signal`
    are what it saw: of a flaw the last that was measured on the way to its leaf; of one without a leaf the
    last symptom; None where nothing is wrong, and each of them where the answer isn't a matter of degree.
    What is about the whole run shows from the first step on that the rule looked at.
    """

    format: Literal[1]
    run: str
    cause: str | None
    section: str | None
    question: str | None
    step: int | None
    value: Any
    bound: Value | None
    margin: Value | None
    window: tuple[int, int] | None
    signal: str | None
    settles: SettlesData | None
    remarks: list[str]
    table: list[RowData]
    before: list[TreeData]
    after: list[TreeData]


class Refused(TypedDict):
    """A run that couldn't be read, and why."""

    format: Literal[1]
    run: str
    error: str


class _Happened(TypedDict):
    event: Literal["verdict", "silent", "rows", "trouble", "readable", "end"]
    time: str
    last_step: int | None
    trouble: str | None
    withdrawn: str | None


class Followed(_Happened, Checked):
    """With `--follow`: the run as it stands, what happened to it, and when."""


class Awaited(_Happened):
    """With `--follow`: a run that has no two rows yet."""

    format: Literal[1]
    run: str


Printed = list[Checked | Refused] | Followed | Awaited
"""What is printed: once, or with `--follow` on each line."""


def schema() -> dict[str, Any]:
    """The JSON Schema of what is printed: every key is there, and no other."""
    from pydantic import ConfigDict, TypeAdapter

    made = TypeAdapter(Printed, config=ConfigDict(extra="forbid")).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "tutor check --json", **made}
