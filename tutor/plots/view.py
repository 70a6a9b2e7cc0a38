"""View: the first and the last step that a panel shows. Pure functions; a view never leaves the run."""

from tutor.run import Run

View = tuple[int, int]

_BEFORE, _AFTER = 50, 100  # steps beside the mark: a spike's baseline, and room to see it recover
_MIN_ROWS = 12  # where rows are 10 or 50 steps apart, the window widens to hold so many


def whole(run: Run) -> View:
    """From the first logged step to the last ((0, 1) for an empty log)."""
    if not len(run):
        return 0, 1
    return int(run.steps[0]), int(run.steps[-1])


def default_view(run: Run, panel: str, mark: int | None = None) -> View:
    """The steps to show first: around the mark, or the whole run without one."""
    first, last = whole(run)
    if mark is None or panel in ("batch", "tokens"):
        return first, last
    cadence = (last - first) / max(1, len(run) - 1)
    stretch = max(1.0, _MIN_ROWS * cadence / (_BEFORE + _AFTER))
    return _clamp(mark - round(_BEFORE * stretch), mark + round(_AFTER * stretch), run)


def zoom(view: View, factor: float, run: Run, around: int | None = None) -> View:
    """The view with its span divided by `factor` (2 shows half of it), about `around` or its middle."""
    first, last = view
    fixed = min(max(around, first), last) if around is not None else (first + last) / 2
    return _clamp(round(fixed - (fixed - first) / factor), round(fixed + (last - fixed) / factor), run)


def pan(view: View, share: float, run: Run) -> View:
    """The view moved by `share` of its span, towards later steps where positive."""
    first, last = view
    shift = round((last - first) * share)
    return _clamp(first + shift, last + shift, run)


def _clamp(first: int, last: int, run: Run) -> View:
    """The span moved inside the run, cut where the run is shorter, never under two steps."""
    start, end = whole(run)
    span = min(max(last - first, 2), max(end - start, 1))
    first = min(max(first, start), max(start, end - span))
    return first, first + span
