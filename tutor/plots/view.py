"""View: the first and the last step that a panel shows. Pure functions; a view never leaves the run."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

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


def rows_in(run: Run, view: View) -> tuple[int, int]:
    """The first row in view, and one past the last."""
    first, last = view
    return bisect_left(run.steps, first), bisect_right(run.steps, last)


def column_of(view: View, step: int | None, columns: int) -> int | None:
    """The column of cells, of so many over the view, in which a step stands; None where it isn't in view."""
    first, last = view
    if step is None or not first <= step <= last:
        return None
    return round((step - first) * (2 * columns - 1) / max(1, last - first)) // 2


def overlaps(view: View, other: View) -> bool:
    """Whether the two share a step."""
    return other[0] <= view[1] and view[0] <= other[1]


def holding(view: View, step: int, run: Run) -> View:
    """The view, moved no farther than it takes to hold `step`."""
    first, last = view
    shift = min(0, step - first) + max(0, step - last)
    return _clamp(first + shift, last + shift, run)


def followed(view: View, before: Run, after: Run, kept: Iterable[int | None] = ()) -> View:
    """The view once the run has grown: one that showed the end shows the new end, any other stays.

    One of the whole run shows the whole of it. What is to be `kept` in sight, the mark and the cursor, holds
    the view back: it goes no farther than leaves as much before them as it shows before a spike.
    """
    (first, last), (start, end), now = view, whole(before), whole(after)
    if not len(before) or (first <= start and last >= end):
        return now
    if last < end:
        return view
    room = min((step - first for step in kept if step is not None and first <= step <= last), default=None)
    shift = now[1] - end
    if room is not None:
        shift = min(shift, max(0, room - (last - first) * _BEFORE // (_BEFORE + _AFTER)))
    return first + shift, last + shift


def around_checkpoints(run: Run, mark: int | None) -> View:
    """The view around the mark, widened to the checkpoints on either side (the run's ends without them)."""
    start, end = whole(run)
    if mark is None:
        return start, end
    first, last = default_view(run, "", mark)
    steps = [one.resumes_at for one in run.checkpoints or ()]
    before = max((step for step in steps if step <= mark), default=start)
    after = min((step for step in steps if step > mark), default=last)
    margin = max(2, (last - first) // 20)  # so that none hides at the edge
    return max(start, min(first, before - margin)), min(end, max(last, after + margin))


def around_ruling(run: Run, mark: int | None, window: View | None, step: int | None) -> View:
    """What a rule looked at and decided by, and the mark's own view where that lies in it."""
    if window is None:
        held = default_view(run, "", step if mark is None else mark)
        return held if step is None else _widened(held, step, run)
    margin = max(2, (window[1] - window[0]) // 20)
    first, last = window[0] - margin, window[1] + margin
    if mark is not None and first <= mark <= last:
        near = default_view(run, "", mark)
        first, last = min(first, near[0]), max(last, near[1])
    view = _clamp(first, last, run)
    return view if step is None else _widened(view, step, run)


def _widened(view: View, step: int, run: Run) -> View:
    if view[0] <= step <= view[1]:
        return view
    margin = max(2, (view[1] - view[0]) // 20)
    return _clamp(min(view[0], step - margin), max(view[1], step + margin), run)


def _clamp(first: int, last: int, run: Run) -> View:
    """The span moved inside the run, cut where the run is shorter, never under two steps."""
    start, end = whole(run)
    span = min(max(last - first, 2), max(end - start, 1))
    first = min(max(first, start), max(start, end - span))
    return first, first + span
