"""EvidenceGrid: panels against hypotheses. The learner fills a cell; then the log's word appears in it."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.coordinate import Coordinate
from textual.message import Message
from textual.widgets import Button, DataTable, Static

from tutor.postmortem import VERDICTS, PostMortem, Problem, began_at, tensions
from tutor.postmortem.form import Cell, Verdict
from tutor.postmortem.text import LETTERS, panel_name
from tutor.run import PANELS, Run
from tutor.ui import bindings
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.section import Section
from tutor.words import plain, say

SIGNS = {True: "=", False: "≠", None: "·"}  # the log agrees, differs, has no rule
SIGN_STYLES = {True: "bold $success", False: "bold reverse $error", None: "$foreground-muted"}
PROVEN = "✓"
FIRST_COLUMN, COLUMN = 17, 12  # a gap after the longest name of a panel; five hypotheses fit on 80
NARROW, NARROW_FROM = 10, 6  # and six with short words
SAID = 3  # lines that are kept for what the log says: as the styles have it


class Cells(DataTable):
    """A table whose cells change at a key press or a click."""

    BINDINGS = bindings.CELLS

    @dataclass
    class Filled(Message):
        """A cell was filled, or emptied with ""."""

        row: int
        column: int
        verdict: Cell | None

    def __init__(self, panels: Sequence[str]) -> None:
        super().__init__(id="cells", cell_padding=0, zebra_stripes=False, cursor_type="cell", fixed_columns=1)
        self.panels = panels

    @property
    def panel(self) -> str:
        """The panel of the row at hand."""
        return self.panels[self.cursor_row]

    def validate_cursor_coordinate(self, value: Coordinate) -> Coordinate:
        """Off the names of the panels: there no key would do anything."""
        row, column = super().validate_cursor_coordinate(value)
        return Coordinate(row, max(column, 1)) if len(self.columns) > 1 else Coordinate(row, column)

    def action_fill(self, verdict: Verdict) -> None:
        """That verdict."""
        self._fill(verdict)

    def action_turn(self) -> None:
        """The next verdict."""
        self._fill(None)

    def action_clear_cell(self) -> None:
        """No verdict."""
        self._fill("")

    def _fill(self, verdict: Cell | None) -> None:
        if self.panels:  # a log may have nothing that any panel draws
            self.post_message(self.Filled(self.cursor_row, self.cursor_column, verdict))

    async def _on_click(self, event: events.Click) -> None:
        await super()._on_click(event)
        if (meta := event.style.meta).get("row", -1) >= 0 and meta.get("column", -1) > 0:
            self.action_turn()


class EvidenceGrid(Section):
    """Section 3, of the panels that the log has. Cells that a rule of the log can judge are marked."""

    part = "evidence"

    def __init__(self, pm: PostMortem, lang: str, run: Run | None = None) -> None:
        super().__init__(pm, lang, run)
        self.panels = pm.panels
        self._narrow = len(pm.hypotheses) >= NARROW_FROM
        self._filled_last: tuple[str, str] | None = None
        self._told = Content("")

    def fields(self) -> ComposeResult:
        """The grid and what the log says of its cells, what the letters stand for, and the row's panel."""
        with Horizontal(id="beside"):
            with Vertical(id="grid"):
                yield Cells(self.panels)
                yield Static(Content(self._absent()), classes="marks")
                yield Static(classes="said")
                yield Static(classes="proven")
                with Horizontal(classes="legend"):
                    yield Static()
                    yield Button(Content(self.words("rest_silent")), id="silence", compact=True)
            if self.run is not None:
                yield Plot(self.run)

    def _absent(self) -> str:
        """What the signs of the cells mean, and the panels that aren't asked about."""
        absent = [panel_name(panel, self.lang) for panel in PANELS if panel not in self.panels]
        told = self.words("absent", panels=absent) if absent else ""
        return "\n".join(filter(None, (self.words("marks"), told)))

    def _legend(self) -> Content:
        """The hypotheses; one whose probability the evidence contradicts is marked."""
        contradicted = {found.hypothesis.key: found for found in tensions(self.pm)}
        lines = []
        for letter, hypothesis in zip(LETTERS, self.pm.hypotheses, strict=False):
            p = hypothesis.probability.strip()
            found = contradicted.get(hypothesis.key)
            against = ""
            if found:
                word = say(f"postmortem.verdicts.{found.verdict}", self.lang)
                against = f"({panel_name(found.panel, self.lang)}: {word}) "
            lines.append(
                Content.assemble(
                    (f"{letter} ", "bold"),
                    (f"≠ {p} {against}", "bold $error") if found else (f"{p} ", "$foreground-muted"),
                    plain(hypothesis.words(self.lang)),
                )
            )
        return Content("\n").join(lines)

    def on_mount(self) -> None:
        """Fill the grid and go to its first marked cell."""
        for table in self.query(Cells):  # none where the app is left while this is mounted
            table.add_column(Text(self.words("heads.panel")), width=FIRST_COLUMN)
            for letter in LETTERS[: len(self.pm.hypotheses)]:
                table.add_column(letter, width=NARROW if self._narrow else COLUMN)
            for panel in self.panels:
                table.add_row(self._row_name(panel), *(self._cell(panel, h.key) for h in self.pm.hypotheses))
            table.cursor_coordinate = self._next_empty(Coordinate(0, 0)) or Coordinate(0, 1)

    def _row_name(self, panel: str) -> Content:
        """A panel's name, with a sign where the learner proved something on it."""
        sign = f" {PROVEN}" if self.pm.proven_on(panel) else ""
        return Content.assemble(panel_name(panel, self.lang), (sign, SIGN_STYLES[True]))

    def _next_empty(self, after: Coordinate) -> Coordinate | None:
        """The next empty cell, along the rows and around the end: of those that are marked, else of all."""
        empty = [
            (Coordinate(row, column), self.pm.judged(panel, hypothesis.key))
            for row, panel in enumerate(self.panels)
            for column, hypothesis in enumerate(self.pm.hypotheses, 1)
            if not self.pm.cell(panel, hypothesis.key)
        ]
        cells = [cell for cell, marked in empty if marked] or [cell for cell, _ in empty]
        return next((cell for cell in cells if cell > after), cells[0] if cells else None)

    def _cell(self, panel: str, key: str) -> Content:
        verdict = self.pm.cell(panel, key)
        if not verdict:
            marked = self.pm.judged(panel, key)
            return Content.styled(*(("○", "bold $accent") if marked else ("–", "$foreground-muted")))
        style = {"favours": "bold", "silent": "$foreground-muted"}.get(verdict, "")
        words = "brief" if self._narrow else "verdicts"
        word, agrees = self.words(f"{words}.{verdict}"), self._agrees(panel, key)
        return Content.assemble((SIGNS[agrees], SIGN_STYLES[agrees]), (f" {word}", style))

    def _agrees(self, panel: str, key: str) -> bool | None:
        reading = self.pm.reading(panel, key)
        return None if reading is None else reading.agrees(self.pm.cell(panel, key))

    @on(Cells.Filled)
    def _filled(self, event: Cells.Filled) -> None:
        event.stop()
        if event.column < 1:
            return
        panel, key = self.panels[event.row], self.pm.hypotheses[event.column - 1].key
        verdict = event.verdict
        if verdict is None:
            now = self.pm.cell(panel, key)
            verdict = VERDICTS[(VERDICTS.index(now) + 1) % len(VERDICTS)] if now else VERDICTS[0]
        self.post_message(self.Edited(lambda pm: pm.with_cell(panel, key, verdict)))
        if event.verdict:  # said outright, not turned to: on to the next cell
            self._filled_last = panel, key
            self.pm = self.pm.with_cell(panel, key, event.verdict)
            here = Coordinate(event.row, event.column)
            self.query_one(Cells).cursor_coordinate = self._next_empty(here) or here

    @on(Button.Pressed, "#silence")
    def _fill_rest(self) -> None:
        def change(pm: PostMortem) -> PostMortem:
            for panel in self.panels:
                for hypothesis in pm.hypotheses:
                    if not (pm.cell(panel, hypothesis.key) or pm.judged(panel, hypothesis.key)):
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
        for row, panel in enumerate(self.panels):
            for column, hypothesis in enumerate(pm.hypotheses, 1):
                table.update_cell_at(Coordinate(row, column), self._cell(panel, hypothesis.key))
        self.query_one(".legend Static", Static).update(self._legend())
        self._say()

    def fine(self) -> str:
        """How much is filled."""
        filled = sum(bool(verdict) for verdict in self.pm.evidence.values())
        return self.words("live.evidence", count=filled, cells=len(self.panels) * len(self.pm.hypotheses))

    def _say(self) -> None:
        """The log's word on the cell that was filled last, then the cell at hand; and its panel beside."""
        table = self.query_one(Cells)
        if not table.row_count or table.cursor_column < 1:
            self._tell(Content(""))
            return
        here = table.panel, self.pm.hypotheses[table.cursor_column - 1].key
        cells = [cell for cell in (self._filled_last, here) if cell]
        if self._filled_last == here or self.pm.cell(*here):
            cells = [here]
        self._tell(Content("\n").join(self._said(*cell) for cell in cells))
        self._say_proven(table.panel)
        from tutor import plots

        for plot in self.query(Plot):
            if plot.panel != table.panel or plot.view is None:
                view = plots.whole(self.run) if self.run and self.pm.about.whole else None
                plot.show(table.panel, began_at(self.pm), None, view)

    def _tell(self, told: Content) -> None:
        """Show what the log says. Where a short terminal has no line for how the section stands, what is
        missing is said below that, if nothing else goes out of sight for it.
        """
        self._told = told
        place, standing = self.query_one(".said", Static), self.query_one(".standing", Static)
        place.update(told)
        if not (self.screen.has_class("-short") and standing.has_class("open") and place.size.width):
            return
        place.update(Content("\n").join(part for part in (told, Content(str(standing.content))) if part))
        lines = max(SAID, place.get_content_height(self.size, self.app.size, place.size.width))
        below = self.query_one("#beside").virtual_region.bottom - place.size.height
        if lines > SAID and below + lines > self.size.height:
            place.update(told)

    def on_resize(self) -> None:
        """There may be a line more now, or one less."""
        if self.query(".said") and self.query(".standing"):  # none where it is being left
            self._tell(self._told)

    def _say_proven(self, panel: str) -> None:
        """What the learner proved on the row's panel."""
        found = [self.words("proven", text=text) for text in self.pm.proven_on(panel)]
        place = self.query_one(".proven", Static)
        place.display = bool(found)
        lines = [Content.assemble((PROVEN, SIGN_STYLES[True]), f" {line}") for line in found]
        place.update(Content("\n").join(lines))

    def _said(self, panel: str, key: str) -> Content:
        hypothesis = next(h for h in self.pm.hypotheses if h.key == key)
        letter = LETTERS[self.pm.hypotheses.index(hypothesis)]
        verdict, reading = self.pm.cell(panel, key), self.pm.reading(panel, key)
        if not verdict:
            return Content(self.words("cell.empty", panel=panel_name(panel, self.lang), letter=letter))
        yours = self.words(f"verdicts.{verdict}")
        where = f" {panel_name(panel, self.lang)} · {letter}: "
        agrees = self._agrees(panel, key)
        if reading is None:
            said = self.words("cell.mute", yours=yours)
        else:
            word = self.words(f"verdicts.{reading.verdict}")
            same = "agree" if reading.verdict == verdict else "agree_too"
            told = {True: same, False: "differ", None: "cant_tell"}[agrees]
            said = self.words(f"cell.{told}", yours=yours, word=word, why=reading.because(self.lang))
        return Content.assemble((SIGNS[agrees], SIGN_STYLES[agrees]), (where, "$foreground-muted"), said)
