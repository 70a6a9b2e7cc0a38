"""The numbers of the post-mortem's own rules, each with its source. The tree's come with the incident."""

from tutor.detectors.windows import Window

EMA_STEPS = 50
"""Span of the EMA that gives the loss before, and steps after the peak at which the loss is read again.
The form's own: section 1 asks for just these."""

LATER_STEPS = 500
"""Steps after the peak at which the loss of an incident in a long run is read again. The form's own: its
incident variant asks for just these."""

LOOK_AHEAD = 500
"""Steps in which a recovery is looked for. Ours: section 1 asks when it came, a tree whether in time."""

SETTLED = 10
"""Steps after it began from which a run with the fix is expected at its baseline.
Ours: a contained spike takes less."""

BASELINE = Window(steps=100, rows=20)
"""The window before it began that gives the baseline, where the tree names none.
The form's own: section 1 asks for the mean over 100 steps."""

CALM_RATIO = 3.0
"""Below so many times its baseline, a gradient norm shows no batch that stands out. Ours: that of
runs/19-control stays under 1.9 outside its bad batch."""

LIFT = 2.0
"""Above so many times its baseline, an activation norm, an RMS of g/sqrt(v) or a share of tokens has risen.
Ours: the first two stay under 1.7 in runs/19-control, outside its bad batch."""

RESET_SHARE = 0.2
"""Adam's v keeps at least beta2 of itself from step to step (https://arxiv.org/abs/1412.6980): what falls to
a fifth of itself from one row to the next was built anew, unless beta2 is below 0.2."""

RESET_STEPS, RESET_ROWS = 20, 5
"""Steps before it began, and the fewest rows, in which that fall is looked for. Ours."""

LAST_FINITE_STEPS = 3
"""Steps before the first NaN in which the gradient that caused it is looked for. Ours."""

DOUBTED = 0.1
"""A hypothesis that a panel rules out should not stay more likely than this. Ours, a judgement."""

KEPT_IN_CASE = 0.05
"""A hypothesis of at most this probability is kept in case, and needs nothing that supports it. Ours."""

TOLERANCE = 0.01
"""What section 6 begins with: the same seed on another machine moves a loss by less. Ours, a judgement."""

PROBE_RISE = 0.6
"""Nats by which the loss on the probe may rise where no harm was done. Ours: over 20 seeds it rose by
0.39 at most after a batch that was clipped, by 1.12 at least after one that was not; the tree asks by it."""

AS_BEFORE = 3.0
"""A signal counts as back where it was under its mean before plus so many std: the walk's own sieve."""

WIDE = 100.0
"""From so many times its lowest value a loss is read on a scale of decades: a 50-step EMA still holds 2 % of
what lay 100 steps back, and is then that old value. Ours: language models stay under 20 times."""

FEWEST_ROWS = 5
"""Rows after it began that section 6 looks ahead at least: in a log of a row each 1000 steps, 100 hold none.
Ours."""

LEVEL_SHARE = 0.05
"""The share of the rows whose median makes a level, where the tree names none. Ours: no batch moves it."""

FEWEST_AT_END = 3
"""And no fewer rows than that make one at the end of a run. Ours: the fewest that an odd one doesn't move."""

SPARSE = 1.5
"""From so many times the steps that a row of section 1 is named after, it is named after its rows. Ours."""
