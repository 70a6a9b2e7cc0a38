"""Doses: how fast v forgets a spike, and the table of the page."""

from tutor.lab.doses import CLIP, DOSES, Dose, Taken, fading, page


def test_the_rise_of_v_has_faded_when_a_third_of_it_is_left():
    v = [1.0, 1.0, 11.0, 9.0, 6.0, 4.0, 2.0]  # 1 + 10/e is 4.68
    assert fading(v, start=2, end=3) == 3


def test_a_rise_that_lasts_to_the_end_of_the_run_has_not_faded():
    assert fading([1.0, 1.0, 11.0, 9.0, 8.0], start=2, end=3) is None


def test_a_v_that_hardly_rose_has_nothing_to_fade():
    assert fading([1.0, 1.0, 1.4, 1.3], start=2, end=3) == 0


def test_the_page_counts_the_runs_of_each_dose():
    rows = [Taken(dose, seed, 2, 0.5, 7, 0.25) for dose in DOSES for seed in (0, 1)]
    slow = Dose(0.999, None)
    rows = [row for row in rows if row.dose != slow]
    rows += [Taken(slow, 0, 60, 0.0, None, 0.125), Taken(slow, 1, None, 0.0, None, 0.125)]
    lines = [line for line in page(rows).splitlines() if line.startswith("| 0.")]
    assert len(lines) == len(DOSES)
    assert "| 0.95 | 1.0 | 2 of 2 | 0 | 0 | 2 (2 to 2) | 50 % | 7 steps | 0.25 |" in lines
    told = "| 0.999 | none | 0 of 2 | 1 | 1 | 60 (60 to 60) | 0 % | more steps than the run has | 0.125 |"
    assert lines[2 * len(CLIP)] == told
    assert "18 runs" in page(rows)


def test_where_no_run_is_back_there_is_no_range():
    rows = [Taken(dose, 0, None, 0.0, 0, 0.1) for dose in DOSES]
    assert "| 0 of 1 | 0 | 1 | – | 0 % | it hardly rose | 0.1 |" in page(rows)
