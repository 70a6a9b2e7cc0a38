"""A comparison as two tables, for the terminal and for the app's own screen."""

import json
from typing import Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from tutor.compare.measures import ABSENT, Comparison
from tutor.words import number, plain, say

_NEVER = "recovered"
"""The measure that says something where it has no value."""


def render(comparison: Comparison, lang: str = "en") -> Group:
    """The comparison as two tables: what was configured differently, and what came of it."""
    parts: list[Any] = []
    if comparison.spans:
        told = zip(comparison.names, comparison.spans, strict=True)
        spans = [f"{plain(name)} {first}..{last}" for name, (first, last) in told]
        parts.append(Text(say("compare.no_step_shared", lang, spans=spans) + "\n", style="bold"))
    parts.append(_heading("configured", lang))
    if comparison.settings:
        settings = _table(comparison)
        for one in comparison.settings:
            settings.add_row(Text(plain(one.key)), _setting(one.a, lang), _setting(one.b, lang))
        parts.append(settings)
    else:
        parts.append(Text(say("compare.same", lang) + "\n"))
    facts = {"step": comparison.step, "window": comparison.window, "within": comparison.within}
    at_the_end = "no_spike" if comparison.through is None else "no_spike_through"
    if comparison.window is None:
        parts.append(_heading("not_asked", lang))
    elif not comparison.losses:
        parts.append(_heading("no_loss", lang))
    else:
        key = "measured" if comparison.step is not None else at_the_end
        parts.append(_heading(key, lang, through=comparison.through, **facts))
    if comparison.parted is not None:
        parts.append(Text(say("compare.parted", lang, step=comparison.parted)))
    if not comparison.measures:
        return Group(*parts)
    measures = _table(comparison)
    peak = next((one for one in comparison.measures if one.key == "peak"), None)
    whole = comparison.through is not None
    for measure in comparison.measures:
        if measure.a is None and measure.b is None and measure.key != _NEVER:
            continue
        if whole and measure.signal:  # from here on it is no longer the steps that both have
            measures.add_section()
            measures.add_row(Text(say("compare.whole", lang), style="bold"), "", "")
            whole = False
        facts |= {"signal": plain(measure.signal)}
        label = Text(say(f"compare.measure.{measure.key}", lang, **facts))
        for_ = ((measure.a, peak and peak.a), (measure.b, peak and peak.b))
        measures.add_row(label, *(Text(_cell(measure.key, value, at_peak, lang)) for value, at_peak in for_))
    return Group(*parts, measures)


def _heading(key: str, lang: str, **facts: Any) -> Text:
    return Text(say(f"compare.{key}", lang, **facts), style="bold")


def _table(comparison: Comparison) -> Table:
    table = Table(box=box.SIMPLE)
    table.add_column("", overflow="fold")
    for name in comparison.names:
        table.add_column(Text(plain(name)), justify="right", overflow="fold")
    return table


def _setting(value: Any, lang: str) -> Text:
    if value is None:
        return Text(say("compare.off", lang))
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        return Text(plain(number(value)))
    return Text(plain(json.dumps(value, ensure_ascii=False, default=list)))  # as the manifest has it


def _cell(key: str, value: float | None, peak: float | None, lang: str) -> str:
    """A measure; a run that never was at the spike, or isn't finite there, has nothing to recover from."""
    if value is None:
        return say("compare.not_recovered", lang) if key == _NEVER and peak is not None else ABSENT
    return f"{number(value)}×" if key == "grad_ratio" else number(value)
