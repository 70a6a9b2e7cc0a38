"""Found: what the home screen shows, as the notebook and the folders of runs have it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutor import tree as trees
from tutor.notebook import Notebook, NotebookError
from tutor.notebook.scores import Finished, Score, calibration, finished
from tutor.ui import runs
from tutor.ui.cases import Cases, cases_of
from tutor.ui.runs import RunEntry
from tutor.words import SaidError, plain

Draft = Mapping[str, Any]


@dataclass(frozen=True)
class Found:
    """What there is to show.

    Attributes:
        new: whether nothing is in the notebook yet.
        trees: names of the trees that can be walked.
        entries: the runs; those with an open walk come first.
        walks: drafts of walks, the latest first.
        finished: the latest walk over each run that reached its leaf, by the run's folder.
        begun: run and tree of each post-mortem left half written.
        lessons: what each lesson says, and of which run it is; oldest first.
        calibration: how many predictions were right, by how sure the learner was.
        cases: the sealed runs, and which of them were solved.
        wrong: why the lessons can't be read.
    """

    new: bool
    trees: Sequence[str]
    entries: Sequence[RunEntry]
    walks: Sequence[Draft]
    finished: Mapping[str, Finished]
    begun: Sequence[tuple[str, str]]
    lessons: Sequence[tuple[str, str]]
    calibration: Mapping[int, Score]
    cases: Cases
    wrong: SaidError | None

    def walk(self, entry: RunEntry, tree: str | None) -> Draft | None:
        """The draft of the walk over the run in the tree named; without one, the latest."""
        over = (walk for walk in self.walks if walk.get("run") == place(entry))
        return next((walk for walk in over if tree in (None, walk.get("tree"))), None)

    @property
    def left(self) -> Draft | None:
        """The latest walk still open; none over a run that was walked to an end in another tree since."""
        ended = set[object]()
        for walk in self.walks:
            if not walk.get("done") and walk.get("run") not in ended:
                return walk
            ended.add(walk.get("run"))
        return None


def place(entry: RunEntry) -> str:
    """Where the run lies, as the notebook names it."""
    return str(entry.path.resolve())


def find(learner: str, tree: str | None, inside: Path | None = None) -> Found:
    """Look through the notebook and the folders, for the tree of that name or, without one, for all.

    With `inside` for the runs alone that lie in that file or folder of several.
    """
    notebook = Notebook(learner)
    drafts = notebook.drafts()
    walks = [draft.data for draft in drafts if draft.kind == "walk" and "name" in draft.data]
    left = [walk for walk in walks if not walk.get("done")]
    if inside is None:
        walked = [*(str(walk.get("run")) for walk in walks), *(one.run for one in finished(drafts))]
        entries = runs.available(also=map(Path, walked))
    else:
        entries = runs.inside(inside)
        places = {place(entry) for entry in entries}
        walks, left = ([walk for walk in some if walk.get("run") in places] for some in (walks, left))
    here = [str(walk.get("run")) for walk in left if tree in (None, walk.get("tree"))]
    lessons, wrong = [], None
    try:
        lessons = [(plain(lesson.lesson), lesson.run) for lesson in notebook.lessons()]
    except NotebookError as error:
        wrong = error
    return Found(
        new=notebook.new,
        trees=tuple(trees.available()),
        entries=sorted(entries, key=lambda one: here.index(place(one)) if place(one) in here else len(here)),
        walks=walks,
        finished={one.run: one for one in reversed(finished(drafts)) if tree in (None, one.tree)},
        begun=[_about(draft.data) for draft in drafts if draft.kind == "postmortem"],
        lessons=lessons,
        calibration=calibration(notebook.predictions()),
        cases=cases_of(entries, drafts),
        wrong=wrong,
    )


def _about(data: Draft) -> tuple[str, str]:
    """Run and tree of a post-mortem's draft, as they are to be shown; "" for one that it doesn't name."""
    about = data.get("about")
    about = about if isinstance(about, dict) else {}
    return plain(str(about.get("run", ""))), plain(str(about.get("tree", "")))
