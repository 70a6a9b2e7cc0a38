"""What must be so of any run that was read: check and compare speak of it, in text and in JSON."""

import json
from functools import cache

from rich.console import Console

from tutor import tree
from tutor.compare import compare, render
from tutor.report import Report
from tutor.run import Run
from tutor.tree import Tree, numbers
from tutor.words import plain


@cache
def phase_19() -> Tree:
    """The tree walked."""
    return tree.find("phase-19")


def judged(run: Run) -> Report:
    """The run, walked with nobody watching and drawn in both languages."""
    assert len(run) > 0
    assert run.steps.is_sorted()
    assert run.steps.n_unique() == len(run)
    report = Report(run, phase_19())
    if run.unseen:
        assert report.verdict != "healthy"
    for lang in ("en", "es"):
        said = report.text(lang, explain=True, width=80).plain
        assert plain(said, lines=True) == said, said
        assert json.dumps(report.data(lang), allow_nan=False)
    found = compare(run, run, spike=numbers("spike", phase_19()), recovery=numbers("recovery", phase_19()))
    console = Console(width=80, highlight=False)
    with console.capture() as captured:
        console.print(render(found))
    said = captured.get()
    assert plain(said, lines=True) == said, said
    return report
