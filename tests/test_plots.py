import math
import threading
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.conftest import make_run
from tutor import plots
from tutor.plots import axes, raster
from tutor.plots.ink import ink as ink_of
from tutor.plots.sample import sample
from tutor.run import PANELS, Checkpoint, Manifest, Run


def run(rows=0, *, name="a", manifest=None, sentences=(), **signals):
    columns = {"step": pl.Series(range(rows), dtype=pl.Int64)} | signals
    return Run(
        Path(name),
        name,
        Manifest.parse(manifest or {})[0],
        pl.DataFrame(columns, strict=False),
        sentences=sentences,
    )


def lines(picture):
    return picture.plain.split("\n")


def whole_run(rows=120):
    """Every signal, with the things that logs hold: nulls, NaN, Inf, markup, escape codes."""
    loss = [1.0 + 5 * math.exp(-i / 20) for i in range(rows)]
    loss[60], loss[70], loss[71] = 9.0, math.nan, math.inf
    return run(
        rows,
        name="[red]run[/red]",
        manifest={"settings": {"grad_clip": 1.0}, "token_loss_edges": [0.0, 1.0, 2.0, 3.0]},
        sentences=("one [bold]sentence[/bold]", "two \x1b[31m words", "日本語 is wide"),
        loss=loss,
        loss_ema=loss,
        val_loss=[1.0 if i % 50 == 0 else None for i in range(rows)],
        probe_loss=loss,
        lr=[1e-3 * i for i in range(rows)],
        grad_norm=[0.0 if i % 9 == 0 else 10.0 ** (i % 5) for i in range(rows)],
        grad_norm_clipped=[1.0] * rows,
        param_norm=[30.0] * rows,
        param_norm_decay=[20.0 + i for i in range(rows)],
        adam_m_norm=[-1.0] * rows,
        adam_v_norm=[1e-300] * rows,
        activation_norms=[[1.0, 2.0, math.inf] if i % 2 else [1.0, None, 3.0] for i in range(rows)],
        token_loss_hist=[[400, 20, 1] for _ in range(rows)],
        worst_tokens=[["[red]", "\x1b[2J", "日本語", " the"] for _ in range(rows)],
        worst_token_losses=[[9.0, None, math.nan, 1.0] for _ in range(rows)],
        sentence_ids=[[0] * 480 + [1, 2, 99] if i == 60 else [i % 3, 1] for i in range(rows)],
        rare_tokens=[["tten", "[x]"] if i == 60 else [] for i in range(rows)],
        rare_counts=[[480, 1] if i == 60 else [] for i in range(rows)],
        batch_hash=[f"{i // 2:016x}" for i in range(rows)],
        loss_scale=[65536.0] * rows,
        tokens_per_second=[None] * rows,
    )


WHOLE = whole_run()
EMPTY = run()


class TestExactSize:
    @given(
        panel=st.sampled_from(PANELS),
        width=st.integers(1, 140),
        height=st.integers(1, 30),
        mark=st.none() | st.integers(-5, 130),
        view=st.none()
        | st.tuples(st.integers(-10, 130), st.integers(0, 60)).map(lambda v: (v[0], v[0] + v[1])),
        level=st.none() | st.floats(allow_nan=True, allow_infinity=True),
        subject=st.sampled_from([WHOLE, EMPTY, run(1, loss=[1.0], lr=[math.nan])]),
        compared=st.booleans(),
        colour=st.booleans(),
        lang=st.sampled_from(["en", "es"]),
    )
    def test_exactly_the_lines_and_cells_asked_for(
        self, panel, width, height, mark, view, level, subject, compared, colour, lang
    ):
        picture = plots.draw(
            subject,
            panel,
            width,
            height,
            lang=lang,
            view=view,
            mark=mark,
            level=level,
            level_label="mean + 3 std",
            colour=colour,
            others=(WHOLE,) if compared else (),
        )
        drawn = lines(picture)
        assert len(drawn) == height
        assert {cell_len(line) for line in drawn} == {width}
        assert "\x1b" not in picture.plain

    @given(st.lists(st.none() | st.floats(), min_size=1, max_size=60), st.integers(10, 90))
    def test_any_numbers_at_all(self, values, width):
        picture = plots.draw(
            run(len(values), grad_norm=pl.Series(values, dtype=pl.Float64)), "gradient", width, 9
        )
        assert {cell_len(line) for line in lines(picture)} == {width}


class TestCurves:
    def test_the_marked_step_is_named_under_the_axis_right_below_its_line(self):
        drawn = lines(plots.draw(WHOLE, "parameters", 80, 12, mark=60))
        column = drawn[-1].index("^60")
        assert all(line[column] != " " for line in drawn[1:-1])
        assert sum(line[column] == "│" for line in drawn[1:-1]) >= 8

    def test_a_mark_at_the_end_keeps_its_caret_below_the_line(self):
        assert lines(plots.draw(WHOLE, "loss", 80, 12, mark=119))[-1].endswith("119^")

    def test_the_level_is_a_dashed_line_with_its_label_and_its_value(self):
        drawn = lines(plots.draw(WHOLE, "loss", 80, 12, level=4.0, level_label="mean + 3 std"))
        line = next(line for line in drawn if "4┤" in line)
        assert "╌╌╌" in line
        assert " mean + 3 std " in line

    def test_a_label_without_room_on_its_line_goes_to_the_legend(self):
        flat = run(50, loss=[1.0 + (i % 2) for i in range(50)])
        drawn = lines(plots.draw(flat, "loss", 60, 4, level=1.5, level_label="bound"))
        assert "╌╌ bound" in drawn[0]

    def test_nan_and_inf_are_gaps_with_a_mark_at_the_bottom(self):
        drawn = lines(plots.draw(WHOLE, "loss", 120, 12, view=(60, 80)))
        assert drawn[-2].count("×") == 2
        assert "× NaN/Inf" in drawn[0]

    def test_checkpoints_stand_at_the_bottom_edge_where_they_are_in_view(self):
        steady = replace(
            run(100, loss=[1.0 + i % 2 for i in range(100)]), checkpoints=(Checkpoint(20), Checkpoint(60))
        )
        drawn = lines(plots.draw(steady, "loss", 80, 12))
        assert drawn[-2].count("▣") == 2
        assert "▣ checkpoint" in drawn[0]
        assert "▣" not in plots.draw(steady, "loss", 80, 12, view=(70, 90)).plain
        assert "▣" not in plots.draw(steady, "loss", 80, 12, others=[steady]).plain

    def test_of_several_runs_the_validation_losses_stand_beside_the_losses(self):
        falls, turns = (
            run(40, name=name, loss=[2.0 - 0.02 * i for i in range(40)], val_loss=val)
            for name, val in (("falls", [2.0] * 40), ("turns", [3.0] * 40))
        )
        head = lines(plots.draw(falls, "loss", 120, 12, others=[turns]))[0]
        assert "validation loss" in head
        assert head.count("turns") == 1  # the names hold for both pictures
        assert "validation loss" not in lines(plots.draw(falls, "loss", 120, 12, mark=20, others=[turns]))[0]
        assert "validation loss" not in lines(plots.draw(falls, "loss", 40, 12, others=[turns]))[0]

    def test_of_several_runs_a_score_of_all_is_drawn_where_no_loss_is(self):
        rises, falls = (
            run(40, name=name, accuracy=[0.5 + sign * i / 100 for i in range(40)])
            for name, sign in (("rises", 1), ("falls", -1))
        )
        head = lines(plots.draw(rises, "loss", 120, 12, others=[falls]))[0]
        assert "accuracy" in head
        assert "not recorded" in plots.draw(rises, "loss", 120, 12, others=[run(40, name="lr")]).plain

    def test_a_panel_of_which_nothing_was_recorded_names_what_is_missing(self):
        steady = run(9, loss=[1.0] * 9)
        said = plots.draw(steady, "gradient", 80, 12, asked="loss").plain  # which a rule looks at instead
        assert "not recorded in this run: grad_norm" in said

    def test_a_run_of_nothing_but_nan_has_no_numbers_on_its_axis(self):
        drawn = lines(plots.draw(run(20, loss=[math.nan] * 20), "loss", 60, 8))
        assert "×" in drawn[-2]
        assert not any("┤" in line for line in drawn)

    def test_a_gradient_over_decades_says_that_its_scale_is_log(self):
        assert "log scale" in lines(plots.draw(WHOLE, "gradient", 80, 10))[0]
        assert "escala log" in lines(plots.draw(WHOLE, "gradient", 80, 10, lang="es"))[0]
        calm = run(50, grad_norm=[1.0 + i % 3 for i in range(50)])
        assert "log" not in lines(plots.draw(calm, "gradient", 80, 10))[0]

    def test_the_configured_clip_is_the_level_where_no_rule_gives_one(self):
        assert "clip" in plots.draw(WHOLE, "gradient", 80, 10).plain.replace("clipping", "")
        assert "bound" in plots.draw(WHOLE, "gradient", 80, 10, level=30.0, level_label="bound").plain

    def test_without_colour_each_curve_has_a_glyph_of_its_own(self):
        picture = plots.draw(WHOLE, "loss", 100, 14, colour=False)
        assert all(glyph in picture.plain for glyph in "●◆▲")
        assert not any("#" in str(span.style) for span in picture.spans)

    def test_a_sparse_signal_is_drawn_as_points_without_a_line(self):
        one = pl.Series([5.0 if i in (10, 90) else None for i in range(100)], dtype=pl.Float64)
        drawn = lines(plots.draw(run(100, loss=[1.0] * 100, val_loss=one), "loss", 80, 10))
        row = next(line for line in drawn[1:] if "◆" in line)
        assert row.count("◆") == 2
        assert not any(0x2800 < ord(cell) < 0x2900 for cell in row)

    def test_what_is_logged_at_every_fifth_step_is_points_near_by_and_a_line_from_afar(self):
        probe = pl.Series([2.0 if i % 5 == 0 else None for i in range(600)], dtype=pl.Float64)
        logged = run(600, loss=[1.0] * 600, probe_loss=probe)
        near = lines(plots.draw(logged, "loss", 80, 10, view=(262, 412)))
        row = next(line for line in near[1:] if "▲" in line)
        assert "⠤▲⠤" not in near[0]
        assert row.count("▲") == 30  # 265, 270 .. 410
        assert not any(0x2800 < ord(cell) < 0x2900 for cell in row)
        assert "⠤▲⠤ probe" in lines(plots.draw(logged, "loss", 80, 10))[0]

    def test_the_rarest_of_two_points_in_one_place_is_seen(self):
        fifth = pl.Series([2.0 if i % 5 == 0 else None for i in range(100)], dtype=pl.Float64)
        one = pl.Series([2.0 if i == 50 else None for i in range(100)], dtype=pl.Float64)
        drawn = lines(plots.draw(run(100, loss=[1.0] * 100, val_loss=one, probe_loss=fifth), "loss", 80, 10))
        assert "◆" in "".join(drawn[1:])

    def test_the_axis_fits_what_is_asked_about_and_the_rest_is_cut_off_there(self):
        evaluations = {20: 0.30, 50: 0.36, 80: 0.42}
        fitted = run(
            100,
            loss=[2.0 if i < 40 else 0.35 if i < 60 else 0.001 for i in range(100)],
            val_loss=[evaluations.get(i) for i in range(100)],
        )
        flat, tall = (lines(plots.draw(fitted, "loss", 80, 14, asked=asked)) for asked in ("", "val_loss"))
        assert len({row for row, line in enumerate(flat[1:]) if "◆" in line}) < 3
        rows = [row for row, line in enumerate(tall[1:-1]) if "◆" in line]
        assert rows[0] == 0  # at the top, in the middle, and at the bottom
        assert rows[-1] == len(tall) - 3
        assert len(rows) == 3
        assert "axis for val" in tall[0]
        drawn = [
            column for line in tall[1:-1] for column, cell in enumerate(line) if "\u2800" < cell <= "\u28ff"
        ]
        assert min(drawn) > 35  # of the training loss only its middle lies on that axis
        assert max(drawn) < 55

    def test_what_lies_beyond_that_axis_is_named(self):
        apart = run(90, loss=[9.0] * 90, val_loss=[0.3 if i % 30 == 0 else None for i in range(90)])
        head = lines(plots.draw(apart, "loss", 90, 12, asked="val_loss"))[0]
        assert "axis for val (raw beyond it)" in head
        assert "⠤ raw" not in head

    def test_a_huge_spike_of_validation_leaves_the_axis_to_the_training_loss_that_is_asked_about(self):
        loss = [4.0 - i / 33 for i in range(100)]

        def drawn(spike: float, asked: str) -> list[str]:
            evaluations = [spike if i == 50 else 3.0 if i % 10 == 0 else None for i in range(100)]
            spiked = run(100, loss=loss, val_loss=evaluations)
            return lines(plots.draw(spiked, "loss", 90, 14, asked=asked))

        def height(picture: list[str]) -> int:
            return sum(any("\u2800" < cell <= "\u28ff" for cell in line) for line in picture[1:-1])

        assert height(drawn(1e9, "")) < 4
        alone = drawn(1e9, "loss")
        assert height(alone) > 9
        assert "axis for raw" in alone[0]
        assert "↑" in alone[1]  # it goes on beyond the frame
        assert "◆" in "".join(alone[2:])
        near = drawn(20.0, "loss")  # one that leaves the curve its room is drawn whole
        assert "axis for" not in near[0]
        assert "↑" not in "".join(near)

    def test_where_it_is_out_of_view_the_axis_fits_the_rest(self):
        apart = run(90, loss=[9.0] * 90, val_loss=[0.3 if i == 80 else None for i in range(90)])
        drawn = plots.draw(apart, "loss", 90, 12, asked="val_loss", view=(0, 40)).plain
        assert any("\u2800" < cell <= "\u28ff" for cell in drawn)

    def test_other_runs_are_laid_over_by_name(self):
        drawn = lines(
            plots.draw(run(9, loss=[1.0] * 9), "loss", 80, 10, others=(run(9, name="b", loss=[2.0] * 9),))
        )
        assert " a  ⠤●⠤ b" in drawn[0]

    def test_a_legend_without_room_gets_shorter_before_it_is_cut(self):
        drawn = lines(plots.draw(WHOLE, "loss", 48, 8))
        assert "●EMA" in drawn[0]
        assert "▲probe" in drawn[0]


class TestMissing:
    @pytest.mark.parametrize("panel", PANELS)
    @pytest.mark.parametrize("lang", ["en", "es"])
    def test_a_panel_says_what_was_not_recorded_and_how_to_log_it(self, panel, lang):
        text = plots.draw(run(9), panel, 100, 8, lang=lang).plain
        assert ("was not recorded" if lang == "en" else "no se registró") in text
        assert ("to have it" if lang == "en" else "para tener") in text

    def test_absent_companions_are_named_in_the_legend(self):
        drawn = lines(plots.draw(run(9, grad_norm=[1.0] * 9), "gradient", 80, 8))
        assert "not recorded: after" in drawn[0]

    def test_a_view_without_rows_says_so(self):
        assert "no row in steps 500..600" in plots.draw(WHOLE, "loss", 80, 8, view=(500, 600)).plain

    def test_titles_in_both_languages(self):
        assert plots.panel_title("loss") == "Loss"
        assert plots.panel_title("loss", "es") == "Pérdida"
        assert all(plots.panel_title(panel, lang) for panel in PANELS for lang in ("en", "es"))


class TestBatchAndTokens:
    def test_repeats_are_folded_and_markup_stays_text(self):
        text = plots.draw(WHOLE, "batch", 100, 14, mark=60).plain
        assert "483 sentences, 4 distinct" in text
        assert "one [bold]sentence[/bold] ×480" in text
        assert "␛[31m" in text
        assert "#99" in text  # no text is known for it

    def test_a_rare_token_stands_out_against_the_batches_before(self):
        text = plots.draw(WHOLE, "batch", 100, 14, mark=60).plain
        assert "“tten” ×480  (at most ×0 in the 20 before)" in text

    def test_numbers_that_a_reader_gives_as_floats_or_nulls_are_counts_all_the_same(self):
        subject = run(
            2,
            sentences=("a", "b"),
            sentence_ids=[[0.0], [0.0, 1.0, None, 1.0]],
            rare_tokens=[[], ["x", "y"]],
            rare_counts=[[], [3.0, None]],
        )
        text = plots.draw(subject, "batch", 80, 8).plain
        assert "b ×2" in text
        assert "“x” ×3  “y”  " in text

    def test_a_batch_fed_twice_is_seen_by_its_hash(self):
        assert "the same as at step 60" in plots.draw(WHOLE, "batch", 100, 14, mark=61).plain
        assert "differs from the 20 before" in plots.draw(WHOLE, "batch", 100, 14, mark=60).plain

    def test_the_worst_tokens_stand_beside_the_histogram(self):
        text = plots.draw(WHOLE, "tokens", 100, 12, mark=60).plain
        assert "“[red]”    9.0 ████" in text
        assert "“␛[2J”" in text

    def test_the_layer_that_grows_most_is_named_with_its_factor(self):
        subject = run(3, activation_norms=[[1.0, 1.5, 30.0, 31.0]] * 3)
        text = plots.draw(subject, "activations", 60, 8, mark=1).plain
        assert "block 2      30 ×20" in text

    def test_many_layers_are_folded_but_never_the_steepest(self):
        norms = [1.0 + layer for layer in range(48)]
        norms[30:] = [norm + 500 for norm in norms[30:]]
        text = plots.draw(run(1, activation_norms=[norms]), "activations", 60, 8).plain
        assert "block 30" in text
        assert "and 42 more layers" in text


class TestLongRuns:
    ROWS = 1_000_000

    def long(self):
        steps = pl.Series("step", range(self.ROWS), dtype=pl.Int64)
        frame = pl.DataFrame({"step": steps}).with_columns(loss=1.0 + (pl.col("step") * 0.37).sin() * 0.1)
        spiked = pl.when(pl.col("step") == 765_432).then(9.0).otherwise("loss")
        return Run(Path("long"), "long", Manifest(), frame.with_columns(loss=spiked, loss_ema="loss"))

    def test_one_spike_in_a_million_rows_is_drawn(self):
        drawn = lines(plots.draw(self.long(), "loss", 110, 16, mark=765_432))
        column = drawn[-1].index("^")
        assert 0x2800 < ord(drawn[1][column]) < 0x2900

    def test_every_column_keeps_its_extremes_and_its_nan(self):
        steps = pl.Series(range(10_000), dtype=pl.Int64)
        signal = pl.Series([math.nan if i == 5_000 else float(i % 7) for i in range(10_000)])
        found = sample(steps, signal, (0, 9_999), 50)
        assert (min(found.values), max(found.values)) == (0.0, 6.0)
        assert len(found.values) == 2 * 50
        assert found.bad == (25,)


class TestViews:
    def test_around_the_mark_and_the_whole_run_without_one(self):
        subject = run(600)
        assert plots.default_view(subject, "loss", 312) == (262, 412)
        assert plots.default_view(subject, "loss") == (0, 599)
        assert plots.default_view(subject, "loss", 10) == (0, 150)
        assert plots.default_view(subject, "loss", 590) == (449, 599)
        assert plots.default_view(EMPTY, "loss", 3) == (0, 1)

    def test_where_rows_are_scarce_the_view_widens(self):
        subject = Run(Path("x"), "x", Manifest(), pl.DataFrame({"step": range(0, 20_000, 50)}))
        first, last = plots.default_view(subject, "loss", 10_000)
        assert first < 10_000 < last
        assert (last - first) / 50 >= 12

    def test_zoom_and_pan_never_leave_the_run(self):
        subject = run(600)
        assert plots.zoom((200, 400), 2, subject) == (250, 350)
        assert plots.zoom((200, 400), 2, subject, around=200) == (200, 300)
        assert plots.zoom((200, 400), 0.1, subject) == (0, 599)
        assert plots.pan((200, 400), 0.5, subject) == (300, 500)
        assert plots.pan((500, 599), 1, subject) == (500, 599)
        assert plots.pan((0, 100), -1, subject) == (0, 100)

    @given(st.integers(-50, 700), st.integers(1, 700), st.floats(0.01, 100), st.floats(-5, 5))
    def test_any_view_stays_inside(self, first, span, factor, share):
        subject = run(600)
        for view in (
            plots.zoom((first, first + span), factor, subject),
            plots.pan((first, first + span), share, subject),
            plots.default_view(subject, "loss", first),
        ):
            assert 0 <= view[0] < view[1] <= 599


class TestAxes:
    @pytest.mark.parametrize(
        ("value", "spread", "words"),
        [
            (0.0, None, "0"),
            (2.5, 2.5, "2.5"),
            (0.30000000000000004, 0.1, "0.3"),
            (0.0005, None, "5e-4"),
            (1e30, None, "1e30"),
            (65536.0, None, "65.54k"),
            (1_500_000.0, None, "1.5M"),
            (-7.0, 1.0, "-7"),
        ],
    )
    def test_labels_are_short(self, value, spread, words):
        assert axes.label(value, spread) == words

    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_no_label_is_longer_than_the_gutter(self, value):
        assert len(axes.label(value)) <= 8

    @given(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9),
        st.sampled_from([30, 1e3]),
    )
    def test_every_value_has_a_place_and_ticks_are_few(self, values, log_beyond):
        scale = axes.scale(values, log_beyond)
        assert all(0 <= scale.share(value) <= 1 for value in values)
        assert len(scale.ticks(4)) <= 16

    def test_a_short_dip_does_not_stretch_a_log_axis(self):
        assert axes.scale([0.6] * 97 + [10.0, 1e-4, 1e-5], 8) == axes.Scale(0.6, 10.0, True)
        assert axes.scale([0.6] * 50 + [10.0] + [1e-3] * 50, 8) == axes.Scale(1e-3, 10.0, True)

    def test_a_climb_over_many_decades_is_no_dip(self):
        climb = [10.0**power for power in range(0, 32, 2)]
        assert axes.scale(climb, 8).low == 1.0
        assert axes.scale([1.0] + [1e20] * 30, 8).low == 1e8

    def test_the_level_is_always_on_the_axis(self):
        assert axes.scale([1.0] * 99 + [20.0], 8, level=0.01).low == 0.01
        assert axes.scale([1.0] * 99 + [2.0], 8, level=5.0).high == 5.0

    def test_ticks_are_round(self):
        assert [words for _, words in axes.scale([0.9, 9.4], 1e3).ticks(4)] == ["2", "4", "6", "8"]
        assert [words for _, words in axes.scale([0.01, 90.0], 30).ticks(4)] == ["0.01", "0.1", "1", "10"]
        assert [words for _, words in axes.Scale(2e-3, 2.0, True).ticks(2)] == ["0.01", "0.1", "1"]


class TestRaster:
    def test_a_dot_in_each_corner(self):
        cells = raster.braille([[(0, 0.0)], [(19, 1.0)]], 10, 3)
        assert (cells[2][0], cells[0][9]) == (0x40, 0x08)
        assert sum(map(sum, cells)) == 0x48

    def test_pictures_drawn_at_once_do_not_mix(self):
        want = {height: raster.braille([[(0, 0.0), (39, height / 9)]], 20, 5) for height in range(1, 9)}
        wrong = []

        def work(height):
            for _ in range(5):
                if raster.braille([[(0, 0.0), (39, height / 9)]], 20, 5) != want[height]:
                    wrong.append(height)

        threads = [threading.Thread(target=work, args=(height,)) for height in want]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_a_hash_alone_is_a_batch_panel_too():
    run = make_run({"loss": [1.0] * 9, "batch_hash": list("abcdefghi")})
    assert "e" in plots.draw(run, "batch", 80, 12, mark=4).plain


class TestSmoothing:
    def test_a_row_is_the_mean_of_those_about_it_and_of_fewer_at_the_ends(self):
        values = pl.Series([0.0, 3.0, 6.0, 9.0, 30.0])
        assert plots.smoothing.smoothed(values, 3).to_list() == [1.5, 3.0, 6.0, 15.0, 19.5]

    def test_nothing_is_made_up_where_nothing_was_logged_and_nan_stays(self):
        values = pl.Series([1.0, None, 3.0, math.nan, 5.0, math.inf])
        first, missing, third, bad, fifth, infinite = plots.smoothing.smoothed(values, 3).to_list()
        assert (first, missing, third, fifth, infinite) == (1.0, None, 3.0, 5.0, math.inf)
        assert math.isnan(bad)

    def test_a_run_is_offered_what_half_its_rows_are_enough_for(self):
        short, long = run(45), run(200)
        assert plots.smoothing.offered(short) == (0, 5, 20)
        assert [plots.smoothing.following(short, rows) for rows in (0, 5, 20)] == [5, 20, 0]
        assert plots.smoothing.following(short, 100) == 0  # 100 comes from a longer run
        assert plots.smoothing.fitting(short, 100) == 20
        assert plots.smoothing.fitting(long, 100) == 100

    def test_the_logged_curve_stays_faint_behind_it_and_the_legend_names_each_curve_once(self):
        noisy = run(120, loss=[1.0 + i % 2 for i in range(120)])
        raw, smooth = (plots.draw(noisy, "loss", 80, 12, smooth=rows) for rows in (0, 20))
        assert lines(raw)[0] == lines(smooth)[0]
        faint = ink_of(True, True).faint
        assert not any(span.style == faint for span in raw.spans)
        assert any(span.style == faint for span in smooth.spans)

    def test_it_leaves_a_nan_a_mark(self):
        drawn = lines(plots.draw(WHOLE, "loss", 120, 12, view=(60, 80), smooth=20))
        assert drawn[-2].count("×") == 2


def test_a_log_of_scores_alone_is_drawn_in_the_panel_of_the_loss():
    earned = run(40, episode_reward=[float(i) for i in range(40)], seconds=[1.0] * 40)
    told = plots.draw(earned, "loss", 60, 10).plain
    assert "episode_reward" in told
    assert "seconds" not in told
    assert "not recorded" in plots.draw(earned, "gradient", 60, 10).plain
    assert "not recorded" in plots.draw(run(40, seconds=[1.0] * 40), "loss", 60, 10).plain


def test_scores_are_drawn_beside_the_losses_where_a_question_is_about_them():
    scored = run(
        40,
        loss=[1.0] * 40,
        **{"top1": [50.0] * 40, "train_acc": [90.0] * 40, "val_acc": [60.0] * 40, "val_f1": [0.5] * 40},
    )
    told = plots.draw(scored, "loss", 100, 10, asked="scores").plain
    assert all(name in told for name in ("train_acc", "val_acc", "top1"))
    assert told.index("val_acc") < told.index("top1")  # the two that are held against each other come first
    assert "val_f1" not in told  # it would lie on the axis
    assert "val_acc" not in plots.draw(scored, "loss", 100, 10).plain
