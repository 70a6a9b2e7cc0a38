"""EvidenceGrid: panels against hypotheses. The learner fills a cell; then the log's word appears in it."""

from dataclasses import dataclass

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.coordinate import Coordinate
from textual.message import Message
from textual.widgets import Button, DataTable, Static

from tutor.postmortem import VERDICTS, PostMortem, Problem
from tutor.postmortem.form import Cell
from tutor.postmortem.text import LETTERS, panel_name
from tutor.run import PANELS
from tutor.ui import bindings
from tutor.ui.widgets.sections import Section
from tutor.words import plain, say

SIGNS = {True: "=", False: "≠", None: "·"}  # the log agrees, differs, has no rule
FIRST_COLUMN, COLUMN = 17, 12  # a gap after the longest name of a panel; five hypotheses fit on 80


class Cells(DataTable):
    """A table whose cells change at a key press or a click."""

    BINDINGS = bindings.CELLS

    @dataclass
    class Filled(Message):
        """A cell was filled, or emptied with ""."""

        row: int
        column: int
        verdict: Cell | None

    @property
    def panel(self) -> str:
        """The panel of the row at hand."""
        return PANELS[self.cursor_row]

    def action_turn(self) -> None:
        """The next verdict."""
        self.post_message(self.Filled(self.cursor_row, self.cursor_column, None))

    def action_clear_cell(self) -> None:
        """No verdict."""
        self.post_message(self.Filled(self.cursor_row, self.cursor_column, ""))

    async def _on_click(self, event: events.Click) -> None:
        await super()._on_click(event)
        if (meta := event.style.meta).get("row", -1) >= 0 and meta.get("column", -1) > 0:
            self.action_turn()


class EvidenceGrid(Section):
    """Section 3."""

    part = "evidence"

    def fields(self) -> ComposeResult:
        """What the letters stand for, the grid, and what the log says of the cell at hand."""
        with Horizontal(classes="legend"):
            yield Static(Content(self._legend()))
        yield Cells(id="cells", cell_padding=0, zebra_stripes=False, cursor_type="cell", fixed_columns=1)
        yield Static(classes="said")
        with Horizontal(classes="row"):
            yield Button(Content(self.words("rest_silent")), id="silence", compact=True)

    def _legend(self) -> str:
        return "\n".join(
            f"{letter} {plain(h.words(self.lang))}"
            for letter, h in zip(LETTERS, self.pm.hypotheses, strict=False)
        )

    def on_mount(self) -> None:
        """Fill the grid."""
        table = self.query_one(Cells)
        table.add_column(Text(self.words("heads.panel")), width=FIRST_COLUMN)
        for letter in LETTERS[: len(self.pm.hypotheses)]:
            table.add_column(letter, width=COLUMN)
        for panel in PANELS:
            table.add_row(
                Content(panel_name(panel, self.lang)), *(self._cell(panel, h.key) for h in self.pm.hypotheses)
            )
        table.cursor_coordinate = Coordinate(0, 1)

    def _cell(self, panel: str, key: str) -> Content:
        verdict = self.pm.cell(panel, key)
        if not verdict:
            return Content.styled("–", "$foreground-muted")
        style = {"favours": "bold", "silent": "$foreground-muted"}.get(verdict, "")
        word = say(f"postmortem.verdicts.{verdict}", self.lang)
        return Content.assemble((word, style), f" {SIGNS[self._agrees(panel, key)]}")

    def _agrees(self, panel: str, key: str) -> bool | None:
        reading = self.pm.reading(panel, key)
        return None if reading is None else reading.verdict == self.pm.cell(panel, key)

    @on(Cells.Filled)
    def _filled(self, event: Cells.Filled) -> None:
        event.stop()
        if event.column < 1:
            return
        panel, key = PANELS[event.row], self.pm.hypotheses[event.column - 1].key
        verdict = event.verdict
        if verdict is None:
            now = self.pm.cell(panel, key)
            verdict = VERDICTS[(VERDICTS.index(now) + 1) % len(VERDICTS)] if now else VERDICTS[0]
        self.post_message(self.Edited(lambda pm: pm.with_cell(panel, key, verdict)))

    @on(Button.Pressed, "#silence")
    def _fill_rest(self) -> None:
        def change(pm: PostMortem) -> PostMortem:
            for panel in PANELS:
                for hypothesis in pm.hypotheses:
                    if not pm.cell(panel, hypothesis.key):
                        pm = pm.with_cell(panel, hypothesis.key, "silent")
            return pm

        self.post_message(self.Edited(change))

    @on(DataTable.CellHighlighted)
    def _moved(self) -> None:
        self._say()

    def show(self, pm: PostMortem, problems: list[Problem]) -> None:
        """Draw the cells anew, and what the log says."""
        super().show(pm, problems)
        table = self.query_one(Cells)
        for row, panel in enumerate(PANELS):
            for column, hypothesis in enumerate(pm.hypotheses, 1):
                table.update_cell_at(Coordinate(row, column), self._cell(panel, hypothesis.key))
        self._say()

    def fine(self) -> str:
        """How much is filled."""
        filled = sum(bool(verdict) for verdict in self.pm.evidence.values())
        return self.words("live.evidence", count=filled, cells=len(PANELS) * len(self.pm.hypotheses))

    def _say(self) -> None:
        table = self.query_one(Cells)
        if not table.row_count or table.cursor_column < 1:
            self.query_one(".said", Static).update("")
            return
        panel = PANELS[table.cursor_row]
        hypothesis = self.pm.hypotheses[table.cursor_column - 1]
        verdict, reading = self.pm.cell(panel, hypothesis.key), self.pm.reading(panel, hypothesis.key)
        yours = self.words(f"verdicts.{verdict}") if verdict else ""
        if not verdict:
            words = plain(hypothesis.words(self.lang))
            line = self.words("cell.empty", panel=panel_name(panel, self.lang), hypothesis=words)
        elif reading is None:
            line = self.words("cell.mute", yours=yours)
        else:
            key = "cell.agree" if reading.verdict == verdict else "cell.differ"
            word = self.words(f"verdicts.{reading.verdict}")
            line = self.words(key, yours=yours, word=word, why=reading.because(self.lang))
        self.query_one(".said", Static).update(Content(line))
