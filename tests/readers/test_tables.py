"""Tables of other tools: what is odd about each, in files that the tools themselves wrote.

What lies in `fixtures` was written by lightning 2.6, keras 3.15, stable-baselines3 2.9 and transformers 5.23;
`ultralytics-results.csv` is made by hand, as its `save_metrics` writes one.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import same_numbers
from tests.readers.texts import BOOSTED, LONG, UNNAMED
from tutor import readers, tree
from tutor.readers.common.trainers import HUGGING_FACE, RUNNING, WINDOW
from tutor.report import Report, reports
from tutor.run import Aggregation, BadRunError, Run, called

FIXTURES = Path(__file__).parent / "fixtures"
INSTANT = Aggregation()


def written(tmp_path: Path, text: str, name: str = "log.csv") -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


def words(run: Run, signal: str = "loss") -> list[str | None]:
    """NaN as a word, so that lists can be compared; three digits."""
    return [None if one is None else f"{one:.3g}" for one in run[signal]]


def keys(run: Run) -> list[str]:
    return [remark.key for remark in run.remarks]


def test_lightnings_sparse_rows_with_a_nan_and_an_epochs_mean_beside_the_batchs():
    run = readers.read(FIXTURES / "lightning-metrics.csv")
    assert run.steps.to_list() == list(range(1, 24, 2))
    assert words(run)[:8] == ["7", "7.23", "6.89", "4.98", "6.33", "6.45", "nan", "4.49"]
    assert words(run, "val_loss")[3::4] == ["5.09", "4.58", "4.04"]
    assert run["lr"].is_not_null().all()
    assert (run.aggregation("loss"), run.remarks) == (INSTANT, ())


def test_a_loss_that_lightning_logs_once_an_epoch_is_its_mean(tmp_path: Path):
    run = readers.read(
        written(tmp_path, "epoch,step,train_loss,val_loss\n0,49,2.5,\n0,49,,2.75\n1,99,2.0,\n")
    )
    assert run.aggregation("loss") == WINDOW
    run = readers.read(written(tmp_path, "epoch,step,train_loss\n0,49,2.5\n0,99,2.25\n1,149,2.0\n"))
    assert run.counts == "steps"
    assert run.aggregation("loss") == INSTANT


def test_lightnings_single_batches_of_an_evaluation_count_no_steps(tmp_path: Path):
    """They have no epoch, whatever the metrics are called."""
    rows = (
        ",0,1.5,,,\n,1,1.6,,,\n0,12,,1.55,,\n0,12,,,0.28,\n,2,1.7,,,\n,3,1.8,,,\n1,25,,1.75,,\n1,25,,,0.17,\n"
    )
    run = readers.read(written(tmp_path, f"epoch,step,pesq_step,pesq_epoch,train_loss_epoch,lr\n{rows}"))
    assert run.steps.to_list() == [12, 25]
    assert (words(run), keys(run)) == (["0.28", "0.17"], [])


@pytest.mark.parametrize(
    "text",
    [
        "# epoch,train_loss,val_loss\n1,2.5,3.0\n2,2.0,2.75\n",
        "# lr 0.1\n# made on Monday, by hand\nepoch,train_loss,val_loss\n1,2.5,3.0\n2,2.0,2.75\n",
        "# lr 0.1\n# epoch,train_loss,val_loss\n1,2.5,3.0\n2,2.0,2.75\n",
        "# epoch\ttrain_loss\tval_loss\t\n1\t2.5\t3.0\t\n2\t2.0\t2.75\t\n",
    ],
)
def test_comments_above_a_heading_and_a_heading_that_is_one(tmp_path: Path, text: str):
    run = readers.read(written(tmp_path, text))
    assert (run.steps.to_list(), run.counts) == ([1, 2], "epochs")
    assert (words(run), words(run, "val_loss")) == (["2.5", "2"], ["3", "2.75"])


def test_without_steps_a_column_may_say_when_its_row_was_written(tmp_path: Path):
    for time in ("2024-05-13 12:26:2{}", "2024-05-13T12:26:2{}.5+02:00", "12:26:2{}", "13/05/202{}"):
        rows = "".join(f"{3 - at / 4},{time.format(at)}\n" for at in range(6))
        run = readers.read(written(tmp_path, "loss,time\n" + rows))
        assert (run["loss"].to_list(), keys(run)) == ([3, 2.75, 2.5, 2.25, 2, 1.75], ["no_steps"])
    with pytest.raises(BadRunError):
        readers.read(written(tmp_path, "loss,time\n" + "3.0,in the morning\n" * 6))


def test_without_steps_a_separator_that_ends_each_line_is_no_column(tmp_path: Path):
    run = readers.read(written(tmp_path, "Learning Rate\tTrain Loss\t\n0.1\t2.5\t\n0.1\t2.0\t\n"))
    assert words(run) == ["2.5", "2"]


class TestDeepXDE:
    TEXT = "# step, loss_train, loss_test, metrics_test\n"

    def test_its_terms_are_added_up(self, tmp_path: Path):
        rows = "0.0e+00 1.0e+00 2.0e+00 3.0e+00 4.0e+00\n1.0e+03 5.0e-01 2.5e-01 1.0e+00 1.5e+00\n"
        path = written(tmp_path, self.TEXT + rows, "loss.dat")
        run = readers.read(path)
        assert run.steps.to_list() == [0, 1000]
        assert (words(run), words(run, "val_loss")) == (["3", "0.75"], ["7", "2.5"])
        assert [one.facts["columns"] for one in run.remarks] == ["`train 1`, `train 2`", "`test 1`, `test 2`"]
        with called.called({"loss": "train 2"}):
            assert words(readers.read(path)) == ["2", "0.25"]

    def test_a_test_without_the_boundary_is_no_validation_of_what_is_trained(self, tmp_path: Path):
        path = written(
            tmp_path, self.TEXT + "0 0.1 9.0 0.1 0.0\n1000 2.0 1.0 2.0 0.0\n2000 0.5 0 0.5 0.0\n", "loss.dat"
        )
        run = readers.read(path)
        assert (run.has("val_loss"), words(run, "test 1")) == (False, ["0.1", "2", "0.5"])
        assert [one.key for one in run.remarks] == ["summed", "untested"]
        with called.called({"val_loss": "test 1"}):
            assert words(readers.read(path), "val_loss") == ["0.1", "2", "0.5"]

    def test_a_heading_alone_is_its_own_too(self, tmp_path: Path):
        with pytest.raises(BadRunError, match="holds no row with numbers"):
            readers.read(written(tmp_path, self.TEXT, "loss.dat"))

    def test_one_term_a_metric_and_a_line_that_is_torn(self, tmp_path: Path):
        rows = "0 2.5 3.5 0.1\n1000 2.0 3.0 0.1\n2000 1.0\n"
        run = readers.read(written(tmp_path, self.TEXT + rows, "loss.dat"))
        assert (words(run), words(run, "val_loss"), run.remarks) == (["2.5", "2"], ["3.5", "3"], ())


class TestMonitor:
    HEAD = '#{"t_start": 1.5, "env_id": "CartPole-v1"}\n'

    def test_an_episode_ends_at_the_steps_that_were_taken_until_then(self, tmp_path: Path):
        rows = "r,l,t,is_success\n9.5,10,0.25,0\n11.5,12,0.5,1\n13.5,14\n15.5,inf,1,1\n-1.0,3,1.25,\n"
        run = readers.read(written(tmp_path, self.HEAD + rows, "0.monitor.csv"))
        assert run.steps.to_list() == [10, 22, 25]
        assert (words(run, "episode_reward"), words(run, "is_success")) == (
            ["9.5", "11.5", "-1"],
            ["0", "1", None],
        )

    @pytest.mark.parametrize("rows", ["r,l,t", "r,l,t\n", "r,l,t\n1.0,inf,3\n2.0,0,3\n2,3\n"])
    def test_without_an_episode_it_holds_nothing(self, tmp_path: Path, rows: str):
        with pytest.raises(BadRunError, match="holds no row with numbers"):
            readers.read(written(tmp_path, self.HEAD + rows, "monitor.csv"))

    def test_what_only_looks_so_is_none(self, tmp_path: Path):
        path = written(tmp_path, "# a comment\nr,l,t\n9.5,10,0.25\n", "monitor.csv")
        with pytest.raises(BadRunError, match="one of losses"):
            readers.read(path)


class TestKeras:
    def test_epochs_of_a_second_fit_are_numbered_on_where_training_went_on(self):
        run = readers.read(FIXTURES / "keras-training.csv")
        assert run.counts == "epochs"
        assert run.steps.to_list() == list(range(7))  # the file has 0 to 3, and 0 to 2
        assert words(run) == ["12.7", "11.3", "10.1", "8.99", "8.01", "7.15", "6.35"]
        assert words(run, "val_loss")[:4] == [None, "10.4", None, "8.23"]  # NA
        assert (run.aggregation("loss"), keys(run)) == (WINDOW, ["counted_on"])

    def test_another_training_that_was_appended_takes_the_place_of_a_short_one(self, tmp_path: Path):
        run = readers.read(written(tmp_path, "epoch,loss,val_loss\n0,6.0,NA\n1,3.0,NA\n0,6.1,NA\n1,2.5,NA\n"))
        assert words(run) == ["6.1", "2.5"]
        assert (keys(run), run.before) == (["resumed"], ())

    def test_each_of_several_trainings_is_a_run(self, tmp_path: Path):
        first = ["6", "3", "2.5", "2.2", "2.1", "2"]
        second = ["6.1", "2.9", "2.4"]
        fits = [first, second, ["2.3", "2.2"]]  # the third fit goes on from the second
        rows = "".join(f"{epoch},{loss}\n" for losses in fits for epoch, loss in enumerate(losses))
        run = readers.read(written(tmp_path, f"epoch,loss\n{rows}"))
        assert (words(run), run.steps.to_list()) == ([*second, "2.3", "2.2"], [0, 1, 2, 3, 4])
        assert keys(run) == ["counted_on", "one_of"]
        assert [words(one) for one in run.before] == [first]

    def test_a_history_measured_at_every_second_epoch(self):
        run = readers.read(FIXTURES / "keras-history.json")
        assert run.steps.to_list() == [0, 1, 2, 3]
        assert words(run, "val_loss") == [None, "10.4", None, "8.23"]
        assert (run.name, run.aggregation("loss")) == ("keras-history", WINDOW)

    def test_a_history_as_pandas_dumps_one(self, tmp_path: Path):
        run = readers.read(written(tmp_path, '{"loss":{"0":2.5,"1":2.0},"val_loss":{"0":NaN,"1":2.5}}', "h"))
        assert (words(run), words(run, "val_loss")) == (["2.5", "2"], ["nan", "2.5"])

    def test_of_a_cut_history_the_whole_epochs_are_kept(self, tmp_path: Path):
        (tmp_path / "history.json").write_text('{"accuracy": [0.1, 0.2, 0.3, 0.4], "loss": [4.0, 3.0, 2.')
        run = readers.read(tmp_path / "history.json")
        assert run["loss"].to_list() == [4.0, 3.0, None, None]
        assert run.remarks[-1].key == "cut_off"
        (tmp_path / "history.json").write_text('{"loss": [4.0, 3.0, 2.0, 1.0], "val_loss": [4.5, 3.')
        run = readers.read(tmp_path / "history.json")
        assert run["loss"].to_list() == [4, 3, 2, 1]
        assert not run.has("val_loss")  # of which epochs they are isn't known

    @pytest.mark.parametrize("text", ['{"loss": [1.0', '{"loss": [}', '{"loss": []}'])
    def test_a_cut_or_empty_history_is_told_in_one_line(self, tmp_path: Path, text: str):
        with pytest.raises(BadRunError, match=r"was it cut|no row with numbers"):
            readers.read(written(tmp_path, text))


@pytest.mark.parametrize("sign", [";", "\t"])
def test_a_comma_before_the_decimals(tmp_path: Path, sign: str):
    rows = ["epoch", "loss", "val_loss", "note"], ["1", "1,8930", "1,99", "a"], ["2", "-1,6e-3", "", "b"]
    run = readers.read(written(tmp_path, "".join(sign.join(row) + "\n" for row in rows)))
    assert run["loss"].to_list() == [1.893, -1.6e-3]
    assert run["val_loss"].to_list() == [1.99, None]
    assert run.steps.to_list() == [1, 2]


class TestReinforcement:
    def test_ppos_loss_comes_late_and_is_that_of_the_last_minibatch(self):
        run = readers.read(FIXTURES / "sb3-progress.csv")
        assert run.steps.to_list() == list(range(64, 641, 64))
        assert words(run)[:3] == [None, "52.8", "32.4"]
        assert run["lr"].drop_nulls().to_list() == [0.0003] * 9
        assert (run.aggregation("loss"), keys(run)) == (INSTANT, ["rewarded"])

    def test_other_algorithms_log_means_and_may_have_no_loss_but_the_critics(self, tmp_path: Path):
        text = "time/total_timesteps,train/actor_loss,train/critic_loss\n4,,\n8,-1.5,0.5\n"
        run = readers.read(written(tmp_path, text))
        assert (words(run), run.aggregation("loss")) == ([None, "0.5"], WINDOW)

    def test_where_no_timesteps_are_logged_the_episodes_count(self, tmp_path: Path):
        text = "rollout/ep_rew_mean,time/episodes,train/critic_loss\n-50.0,1,\n-48.5,2,0.5\n"
        run = readers.read(written(tmp_path, text, "progress.csv"))
        assert (run.steps.to_list(), words(run)) == ([1, 2], [None, "0.5"])


class TestUltralytics:
    def test_names_padded_with_blanks_and_the_sum_of_the_parts(self):
        run = readers.read(FIXTURES / "ultralytics-results.csv")
        assert (words(run), words(run, "val_loss")) == (["6", "5.25", "nan"], ["6.5", "5.75", "5.38"])
        assert words(run, "lr") == ["0.07", "0.04", "0.01"]
        assert (run.aggregation("loss"), keys(run)) == (WINDOW, ["summed", "summed"])
        assert "train/box_loss" in run.remarks[0].says("es")

    def test_the_user_may_choose_one(self):
        with called.called({"loss": "train/box_loss"}):
            run = readers.read(FIXTURES / "ultralytics-results.csv")
        assert words(run) == ["1.5", "1.38", "1.25"]
        assert keys(run) == ["called", "summed"]  # that of validation


class TestYolov5:
    ROWS = "".join(
        f"      {at}/9     5.61G     {4 - at}.5    0.25    0.25    {5 - at}         7       640"
        f"    0.79    0.35    0.39    0.18     {3 - at}    0.5   {'nan' if at == 2 else '0.25'}\n"
        for at in range(3)
    )

    def test_its_epochs_without_a_heading(self, tmp_path: Path):
        run = readers.read(written(tmp_path, self.ROWS, "results.txt"))
        assert readers.sources(run.path)[0].format == "YOLOv5's results.txt"
        assert (run.steps.to_list(), run.counts) == ([0, 1, 2], "epochs")
        assert (words(run), words(run, "val_loss")) == (["5", "4", "3"], ["3.75", "2.75", "nan"])
        assert (run.aggregation("loss"), keys(run)) == (WINDOW, ["summed"])

    def test_a_row_cut_off_is_passed_over(self, tmp_path: Path):
        run = readers.read(written(tmp_path, self.ROWS + "      3/9     5.61G   1.5", "results.txt"))
        assert len(run) == 3


class TestExport:
    """A panel of Weights & Biases'."""

    TEXT = (
        '"train/global_step","a - b - train/loss","a - b - train/loss__MIN","a - b - train/loss__MAX",'
        '"c/d - train/loss","c/d - train/loss__MIN","c/d - train/loss__MAX"\n'
        '"1","4.5","4.5","4.5","","",""\n"2","","","","NaN","NaN","NaN"\n"3","4","4","4","3","3","3"\n'
    )

    def test_of_several_runs_each_is_a_source_of_its_own_in_its_own_rows(self, tmp_path: Path):
        path = written(tmp_path, self.TEXT)
        first, second = (readers.read_source(source) for source in readers.every(str(path)))
        assert (first.name, first.path, first.steps.to_list()) == ("a - b", path / "a - b", [1, 3])
        assert (second.name, second.path, words(second)) == ("c/d", path / "c_d", ["nan", "3"])
        assert second.aggregation("loss") == HUGGING_FACE  # as the name of its steps tells
        with pytest.raises(
            BadRunError, match=r"holds 2 runs, open one of them: .*c_d; tutor check takes all"
        ):
            readers.read(path)

    def test_one_is_found_by_its_path_and_its_neighbours_are_offered(self, tmp_path: Path):
        path = written(tmp_path, self.TEXT)
        assert readers.open_run(str(path / "c_d")).name == "c/d"
        with pytest.raises(BadRunError, match=r"did you mean .*c_d"):
            readers.open_run(str(path / "c_e"))

    def test_names_that_polars_would_take_for_patterns_are_names(self, tmp_path: Path):
        path = written(tmp_path, "Step,^.* - loss$,* - loss,* - loss__MIN\n1,2,3,3\n")
        assert words(readers.read(path / "*")) == ["3"]
        run = readers.read(written(tmp_path, "epoch ,loss,*,^.*$\n 1, 2,3,4\n", "padded.csv"))
        assert (words(run), words(run, "*"), words(run, "^.*$")) == (["2"], ["3"], ["4"])

    def test_a_run_without_a_row_is_told(self, tmp_path: Path):
        path = written(tmp_path, "Step,a - loss,a - loss__MIN,b - loss\n1,2,2,\n")
        with pytest.raises(BadRunError, match=r"log\.csv/b holds no row"):
            readers.read(path / "b")


class TestOfBatches:
    """An old Lightning's CSV: the epoch stands at each of its batches, and nothing counts these."""

    def test_its_rows_are_counted(self, tmp_path: Path):
        rows = "".join(
            f"{4 - at / 8},{at // 5},\n" + (f",{at // 5},3.5\n" if at % 5 == 4 else "") for at in range(10)
        )
        run = readers.read(written(tmp_path, "train_loss,epoch,val_loss\n" + rows, "metrics.csv"))
        assert (run.counts, len(run), run["loss"].count(), run["val_loss"].count()) == ("rows", 12, 10, 2)
        assert keys(run) == ["no_steps"]

    def test_several_runs_of_epochs_stay_several(self, tmp_path: Path):
        rows = "".join(f"{at % 5},{4 - at / 8}\n" for at in range(15))
        assert readers.read(written(tmp_path, "epoch,loss\n" + rows)).counts == "epochs"


class TestCountsNothing:
    """Episodes that each update takes: what is called a counter is the same at every row."""

    def test_rows_are_counted_by_what_goes_on(self, tmp_path: Path):
        rows = "".join(f"{at},4,{4 - at / 8}\n" for at in range(1, 7))
        run = readers.read(written(tmp_path, "update,episode,loss\n" + rows))
        assert run.steps.to_list() == [1, 2, 3, 4, 5, 6]
        unnamed = "".join(f"4,{4 - at / 8}\n" for at in range(1, 7))
        run = readers.read(written(tmp_path, "episode,loss\n" + unnamed))
        assert (run.counts, len(run)) == ("rows", 6)

    @pytest.mark.parametrize("counter", ["steps", "step"])
    def test_how_many_steps_an_episode_took_is_no_counter(self, tmp_path: Path, counter: str):
        rows = "".join(f"{at},{17 * at * at % 23},{at * 2.5}\n" for at in range(12))
        run = readers.read(written(tmp_path, f"episode,{counter},reward\n{rows}"))
        assert run.steps.to_list() == list(range(12))
        assert keys(run) == ["scores_alone", "rewarded"]


class TestIndex:
    """The numbers of its rows, which pandas writes below no name."""

    def test_they_are_the_steps_where_they_leave_some_out(self, tmp_path: Path):
        rows = "".join(f"{10 * at},{at % 3}\n" for at in range(12))
        run = readers.read(written(tmp_path, f",reward\n{rows}"))
        assert run.steps.to_list() == [*range(0, 120, 10)]
        assert keys(run) == ["guessed", "scores_alone", "rewarded"]

    def test_and_a_score_is_enough_where_they_count(self, tmp_path: Path):
        rows = "".join(f"{at},{at % 3}\n" for at in range(12))
        run = readers.read(written(tmp_path, f",reward\n{rows}"))
        assert run.steps.to_list() == [*range(12)]
        assert keys(run) == ["guessed", "scores_alone", "rewarded"]
        for odd in ("5,1\n" * 12, "".join(f"0.{at},1\n" for at in range(1, 9)), "a,1\nb,2\n"):
            with pytest.raises(BadRunError):
                readers.read(written(tmp_path, f",reward\n{odd}"))


class TestPercent:
    def test_a_number_with_the_sign_behind_it_is_one(self, tmp_path: Path):
        run = readers.read(written(tmp_path, "epoch,loss,acc\n1,2.5,50%\n2,2.25,62.5 %\n"))
        assert run["acc"].to_list() == [50.0, 62.5]


class TestEndsInBlanks:
    """pandas writes a NaN as nothing at all."""

    FELL = "".join(f"{epoch},{2.5 - 0.1 * epoch},{2.6 - 0.1 * epoch},0.5\n" for epoch in range(6))

    @pytest.mark.parametrize("named", ["epoch,loss,val_loss,acc", "epoch,train_loss,val_loss,acc"])
    def test_they_are_nan_in_the_training_loss(self, tmp_path: Path, named: str):
        blanks = "".join(f"{epoch},,,0.1\n" for epoch in range(6, 10))
        run = readers.read(written(tmp_path, f"{named}\n{self.FELL}{blanks}"))
        assert words(run)[5:] == ["2", *4 * ["nan"]]
        assert words(run, "val_loss")[5:] == ["2.1", *4 * [None]]
        assert "blank_is_nan" in keys(run)

    @pytest.mark.parametrize(
        "rows",
        [
            "6,,,0.1\n7,,,0.1\n",  # few: of a last test, perhaps
            "6,,2.0,0.1\n7,,1.9,0.1\n8,,1.8,0.1\n",  # another loss was measured
            "6,,,0.1\n7,1.9,,0.1\n8,,,0.1\n9,,,0.1\n10,,,0.1\n",  # in between too
            ",,,0.1\n,,,0.2\n,,,0.3\n",  # nothing counts them
        ],
    )
    def test_or_they_say_nothing(self, tmp_path: Path, rows: str):
        run = readers.read(written(tmp_path, f"epoch,train_loss,val_loss,acc\n{self.FELL}{rows}"))
        assert "blank_is_nan" not in keys(run)
        assert not any(one == "nan" for one in words(run))


class TestOddEndsAndNames:
    """What pandas, Windows and loops of one's own make of a CSV."""

    def test_a_list_that_pandas_wrote_without_a_name(self, tmp_path: Path):
        rows = "".join(f"{at},{2.9 - at / 100}\n" for at in range(20))
        run = readers.read(written(tmp_path, ",0\n" + rows, "loss.csv"))
        assert (run["loss"][19], "guessed" in keys(run)) == (2.71, True)
        held_out = readers.read(written(tmp_path, ",0\n" + rows, "val_loss.csv"))
        assert held_out["val_loss"][0] == 2.9
        with pytest.raises(BadRunError):
            readers.read(written(tmp_path, ",0\n" + rows, "accuracy.csv"))

    def test_lines_that_end_in_two_carriage_returns(self, tmp_path: Path):
        text = ",loss,val_loss\r\r\n" + "".join(f"{at},{2 - at / 10},{3 - at / 10}\r\r\n" for at in range(9))
        run = readers.read(written(tmp_path, text))
        assert (len(run), run["loss"][8], run["val_loss"][8]) == (9, 1.2, 2.2)

    @pytest.mark.parametrize("step", ["global_iter", "train_step", "Current Step"])
    def test_other_names_of_the_step(self, tmp_path: Path, step: str):
        text = f"time,{step},train_loss\n" + "".join(f"10:0{at},{at * 5},{2 - at / 10}\n" for at in range(9))
        assert readers.read(written(tmp_path, text)).steps.to_list() == [at * 5 for at in range(9)]


class TestDownloaded:
    """A scalar from TensorBoard's page, in a file that is called after it."""

    TEXT = "Wall time,Step,Value\n1650382697.1,400,0.5\n1650383541.7,800,0.25\n1650384385.8,1200,nan\n"

    @pytest.mark.parametrize(
        ("name", "signal"),
        [("train_loss.csv", "loss"), ("run-a-tag-Loss_val.csv", "val_loss"), ("eval_loss.csv", "val_loss")],
    )
    def test_the_files_name_says_what_it_is(self, tmp_path: Path, name: str, signal: str):
        run = readers.read(written(tmp_path, self.TEXT, name))
        assert (words(run, signal), run.steps.to_list()) == (["0.5", "0.25", "nan"], [400, 800, 1200])
        assert keys(run)[0] == "guessed"

    @pytest.mark.parametrize("name", ["accuracy.csv", "scalar.csv"])
    def test_of_another_the_user_has_to_say(self, tmp_path: Path, name: str):
        with pytest.raises(BadRunError, match="--map"):
            readers.read(written(tmp_path, self.TEXT, name))


class TestOthers:
    @pytest.mark.parametrize("mark", [",", ";", "\t"])
    @pytest.mark.parametrize("names", ["step,loss", "loss"])
    def test_a_table_is_parted_by_commas_semicolons_or_tabs(self, tmp_path: Path, mark: str, names: str):
        text = f"note,{names}\nx,1,2.5\ny,2,nan\n" if "step" in names else "loss,lr\n2.5,1\nnan,1\n"
        run = readers.read(written(tmp_path, text.replace(",", mark)))
        assert (words(run), run.steps.to_list()) == (["2.5", "nan"], [1, 2] if "step" in names else [0, 1])

    @pytest.mark.parametrize("mark", [",", ";"])
    def test_cells_beyond_the_heading_are_kept_and_can_be_named(self, tmp_path: Path, mark: str):
        text = "step,loss\n0,4.5,5.5\n1,4\n2,3.5,nan,\n".replace(",", mark)
        run = readers.read(written(tmp_path, text))
        assert (words(run), words(run, "3")) == (["4.5", "4", "3.5"], ["5.5", None, "nan"])
        assert (keys(run), run.unseen) == (["wider"], True)
        assert "--map val_loss=3" in run.remarks[0].says("en")
        with called.called({"val_loss": "3"}):
            run = readers.read(written(tmp_path, text))
        assert (words(run, "val_loss"), "wider" in keys(run)) == (["5.5", None, "nan"], False)

    def test_a_tensor_of_one_number_is_the_number(self, tmp_path: Path):
        (tmp_path / "log.csv").write_text(
            "step,loss,val_loss,clipped\n"
            "0,\"tensor(2.5, device='cuda:0', grad_fn=<NllLossBackward0>)\",[2.75],False\n"
            '1,"tensor(nan, grad_fn=<NllLossBackward0>)",np.float32(2.25),False\n'
            '2,tensor(1.5),"array([2.], dtype=float32)",True\n'
        )
        run = readers.read(tmp_path / "log.csv")
        assert [str(one) for one in run["loss"]] == ["2.5", "nan", "1.5"]
        assert run["val_loss"].to_list() == [2.75, 2.25, 2.0]
        assert not run.remarks

    def test_a_tensor_of_several_numbers_is_none(self, tmp_path: Path):
        (tmp_path / "log.csv").write_text('step,loss,other\n0,2.5,"tensor([1., 2.])"\n1,2.25,tensor(x)\n')
        run = readers.read(tmp_path / "log.csv")
        assert run["loss"].to_list() == [2.5, 2.25]
        assert run["other"].null_count() == 2

    def test_an_empty_cell_at_the_end_of_each_row_is_no_column(self, tmp_path: Path):
        run = readers.read(written(tmp_path, "step,loss\n0,4.5,\n1,4,\n"))
        assert (words(run), run.frame.columns, run.remarks) == (["4.5", "4"], ["step", "loss"], ())

    def test_the_index_that_pandas_writes_has_no_name(self, tmp_path: Path):
        run = readers.read(written(tmp_path, ",loss,index\n0,4.5,7\n1,nan,7\n"))
        assert (words(run), words(run, "index (as logged)")) == (["4.5", "nan"], ["0", "1"])
        assert keys(run) == ["no_steps"]

    @pytest.mark.parametrize(
        ("name", "rows"),
        [("losses.csv", "0,.1,.2\n1,.3,.4\n2,.5,nan\n"), ("log.csv", "0,4.5,4.75\n1,4,4.5\n2,3.5,nan\n")],
    )
    def test_columns_called_as_sets_of_data_are_losses_by_the_files_name_or_as_they_fall(
        self, tmp_path: Path, name: str, rows: str
    ):
        run = readers.read(written(tmp_path, "epoch,train,valid\n" + rows, name))
        assert (run.steps.to_list(), words(run, "val_loss")[-1]) == ([0, 1, 2], "nan")
        assert "loss = `train`, val_loss = `valid`" in run.remarks[0].says("en")

    def test_where_nothing_says_loss_the_error_that_is_minimised_is_one(self, tmp_path: Path):
        run = readers.read(written(tmp_path, "Epoch,R2,RMSE,val_rmse\n1,.1,4.5,5\n2,.2,4,nan\n"))
        assert (words(run), words(run, "val_loss")) == (["4.5", "4"], ["5", "nan"])
        assert "loss = `RMSE`, val_loss = `val_rmse`" in run.remarks[0].says("en")
        matches = readers.read(
            written(tmp_path, "step,mean_reward,win_rate,loss_rate,n_loss\n1,-2,0,1,9\n2,-1,0,1,9\n")
        )
        assert not matches.has("loss")  # those that were lost
        with pytest.raises(BadRunError, match="--map loss=COLUMN"):  # of models, it seems
            readers.read(written(tmp_path, "layers,mse\n1,4.5\n2,4\n", "table.csv"))

    def test_a_held_out_error_of_the_losses_own_size_is_the_validation(self, tmp_path: Path):
        run = readers.read(written(tmp_path, "epoch,train_loss,val_mse,val_r2\n1,.8,.7,.1\n2,.5,nan,.2\n"))
        assert (words(run), words(run, "val_loss")) == (["0.8", "0.5"], ["0.7", "nan"])
        assert "val_loss = `val_mse`" in run.remarks[0].says("en")
        for header in ("train_loss,val_mae", "train_loss,train_mse", "train_loss,val_accuracy"):
            path = written(tmp_path, f"epoch,{header}\n1,.8,31\n2,.5,25\n", "other.csv")
            assert not readers.read(path).has("val_loss")  # of another unit, or no error on held-out data
        own = written(tmp_path, "epoch,train_loss,val_mse,val_loss\n1,.8,.7,.6\n2,.5,.6,.5\n", "own.csv")
        assert words(readers.read(own), "val_loss") == ["0.6", "0.5"]

    def test_values_in_a_file_that_is_called_after_its_loss(self, tmp_path: Path):
        text = "step,value\n5,1.5\n10,1.25\n"
        for name, signal in (("train_loss.csv", "loss"), ("val_loss.csv", "val_loss")):
            assert words(readers.read(written(tmp_path, text, name)), signal) == ["1.5", "1.25"]
        with pytest.raises(BadRunError, match="--map loss=COLUMN"):
            readers.read(written(tmp_path, text, "accuracy.csv"))

    def test_in_a_file_of_losses_columns_called_alike_but_for_the_set_are_a_pair(self, tmp_path: Path):
        text = "epoch,val eval,val mate,train eval,train mate\n1,.5,.4,.9,.7\n2,.4,.4,.5,.5\n"
        run = readers.read(written(tmp_path, text, "losses.csv"))
        assert (words(run), words(run, "val_loss")) == (["0.9", "0.5"], ["0.5", "0.4"])
        assert not readers.read(written(tmp_path, text.replace("eval,t", "acc,t"), "losses.csv")).has("loss")
        with pytest.raises(BadRunError, match="--map loss=COLUMN"):
            readers.read(written(tmp_path, text, "results.csv"))

    @pytest.mark.parametrize(
        ("word", "known"),
        [
            *((word, True) for word in ("finetuning", "model")),
            *((word, False) for word in ("train", "loss", "dev_set")),
        ],
    )
    def test_a_word_before_all_names_says_nothing(self, tmp_path: Path, word: str, known: bool):
        names = ("train_loss_epoch", "train_loss_step", "val_acc", "val_loss")
        heading = ",".join(["epoch", *(f"{word}/{name}" for name in names), "step"])
        rows = ["0,,0.7,,,49", "0,,0.6,,,99", "0,0.65,,0.5,0.8,99", "1,,0.5,,,149"]
        run = readers.read(written(tmp_path, "\n".join([heading, *rows, ""]), "metrics.csv"))
        logged = [value for value in run["val_loss"].to_list() if value] if run.has("val_loss") else []
        assert ((words(run), logged) == (["0.7", "0.6", "0.5"], [0.8])) is known

    def test_in_a_file_of_losses_the_one_total_that_is_not_0_all_along_is_it(self, tmp_path: Path):
        text = "epoch,data_mse,sup_total,unsup_total\n1,0.0,0.0,5.8\n2,0.0,0.0,5.5\n"
        assert words(readers.read(written(tmp_path, text, "loss_history.csv"))) == ["5.8", "5.5"]
        for odd, name in ((text, "history.csv"), (text.replace(",0.0,5.8", ",0.1,5.8"), "loss_history.csv")):
            with pytest.raises(BadRunError, match="--map loss=COLUMN"):
                readers.read(written(tmp_path, odd, name))

    @pytest.mark.parametrize("name", ["log.csv", "accuracy.csv"])
    def test_columns_called_so_that_may_be_shares_are_asked_for(self, tmp_path: Path, name: str):
        with pytest.raises(BadRunError, match="--map loss=COLUMN"):
            readers.read(written(tmp_path, "epoch,train,valid\n0,.1,.2\n1,.3,.4\n2,.5,.6\n", name))

    def test_a_printed_line_with_semicolons_is_no_header(self, tmp_path: Path):
        run = readers.read(written(tmp_path, "step: 1; loss: 2.5\nstep: 2; loss: nan\n"))
        assert (words(run), run.steps.to_list()) == (["2.5", "nan"], [1, 2])

    def test_llamafactory_hides_nan_as_the_trainer_beneath_it_does(self, tmp_path: Path):
        row = {"current_steps": 10, "total_steps": 20, "loss": 2.0, "lr": 0.1, "elapsed_time": "0:00:09"}
        run = readers.read(written(tmp_path, json.dumps(row) + "\n", "trainer_log.jsonl"))
        assert (run.steps.to_list(), run.aggregation("loss")) == ([10], HUGGING_FACE)

    def test_several_sets_that_the_trainer_evaluates_come_in_rows_of_their_own(self):
        state, printed = (
            readers.read(FIXTURES / name) for name in ("trainer_state.json", "trainer-output.txt")
        )
        assert state.steps.to_list() == list(range(2, 21, 2))
        assert words(state)[4:6] == words(printed)[4:6] == ["4.9", "nan"]
        assert words(state, "val_loss")[4::5] == ["3.92", "nan"]
        assert words(printed, "val_loss")[4::5] == ["3.92", "nan"]

    @pytest.mark.parametrize(
        ("names", "told"),
        [
            (("train/loss", "train/global_step"), HUGGING_FACE),
            (("train/loss", "train/epoch", "train/learning_rate"), HUGGING_FACE),
            (("loss", "train_runtime"), HUGGING_FACE),
            (("train/loss", "train/lrm"), RUNNING),
            (("train_loss_epoch",), WINDOW),
            (("epoch_loss",), WINDOW),
            (("train/loss", "train/learning_rate", "train/clip_range"), INSTANT),
            (("Train/Samples/train_loss",), INSTANT),
            (("loss", "lr"), INSTANT),
        ],
    )
    def test_in_a_store_of_anybodys_the_names_tell_what_the_loss_is(self, tmp_path, names, told):
        text = f"step,{','.join(names)}\n" + f"1{',2.0' * len(names)}\n"
        assert readers.read(written(tmp_path, text)).aggregation("loss") == told

    def test_steps_that_count_samples_are_told(self, tmp_path: Path):
        run = readers.read(written(tmp_path, "step,Train/Samples/train_loss,Train/Samples/lr\n512,2.0,0.1\n"))
        assert (words(run), words(run, "lr"), keys(run)) == (["2"], ["0.1"], ["in_samples"])

    @pytest.mark.parametrize(
        "place", ["swanlog/run-1/backup.swanlab", "run-1/backup.swanlab", ".aim/run_metadata.sqlite"]
    )
    def test_stores_that_are_not_read_ask_for_an_export(self, tmp_path: Path, place: str):
        file = tmp_path / place
        file.parent.mkdir(parents=True)
        file.write_bytes(b"\x00\x01" * 99)
        for path in (file, file.parent, tmp_path):
            with pytest.raises(
                BadRunError, match=r"a store of (SwanLab|Aim), .* as a CSV and give that"
            ) as no:
                readers.read(path)
            assert "\n" not in str(no.value)


SEEDS = [path.read_bytes() for path in sorted(FIXTURES.iterdir()) if path.suffix in (".csv", ".json", ".txt")]
SEEDS += [text.encode() for text in (TestExport.TEXT, LONG, *UNNAMED.values(), *BOOSTED.values())]
SEEDS.append((TestDeepXDE.TEXT + "0 1 2 3 4\n9 1 2 3 nan\n").encode())
SEEDS.append(f"{TestMonitor.HEAD}r,l,t\n9.5,10,0.25\n11.5,12,0.5\n".encode())
SEEDS.append(b"# made\n# epoch,loss\n0,2.5\n1,2.0\n")
SEEDS.append(b"epoch;loss\n0\n0;4.5;5.5\n1;4\n2;3.5;nan;\n")


@given(
    seed=st.sampled_from(SEEDS),
    cuts=st.lists(st.tuples(st.integers(0, 1500), st.integers(0, 40), st.binary(max_size=8)), max_size=4),
)
def test_whatever_a_table_holds_is_runs_or_one_clear_line(
    tmp_path: Path, seed: bytes, cuts: list[tuple[int, int, bytes]]
):
    for at, length, put in cuts:
        seed = seed[:at] + put + seed[at + length :]
    (tmp_path / "log").write_bytes(seed)
    try:
        runs = [readers.read_source(source) for source in readers.every(str(tmp_path / "log"))]
    except BadRunError as error:
        assert "\n" not in str(error)
    else:
        assert all(run.steps.is_sorted() and run.steps.is_unique().all() for run in runs)


@given(losses=st.lists(st.floats(width=32), min_size=1, max_size=30), every=st.integers(1, 5))
def test_any_history_gives_its_numbers_back(tmp_path: Path, losses: list[float], every: int):
    history = {"loss": losses, "val_loss": losses[every - 1 :: every]}
    run = readers.read(written(tmp_path, json.dumps(history), "history.json"))
    held_out = run["val_loss"].drop_nulls() if run.has("val_loss") else ()
    for found, wanted in ((run["loss"], losses), (held_out, history["val_loss"])):
        assert same_numbers(found, wanted)


class TestScores:
    """What rises as a model learns: enough for a run, and no loss."""

    def test_a_score_and_a_counter_are_a_run(self, tmp_path: Path):
        (tmp_path / "log.csv").write_text("epoch,val_acc\n0,0.5\n1,0.6\n")
        run = readers.read(tmp_path / "log.csv")
        assert not run.has("loss")
        assert [remark.key for remark in run.remarks] == ["scores_alone"]

    def test_without_a_counter_they_are_none(self, tmp_path: Path):
        (tmp_path / "log.csv").write_text("model,val_acc\na,0.5\nb,0.6\n")
        with pytest.raises(BadRunError, match="one of losses"):
            readers.read(tmp_path / "log.csv")

    def test_a_weight_that_grows_is_told(self, tmp_path: Path):
        for last, told in ((0.5, True), (0.1, False)):
            (tmp_path / "log.csv").write_text(f"epoch,loss,beta\n0,0.5,0.1\n1,0.6,{last}\n")
            assert ("reweighted" in keys(readers.read(tmp_path / "log.csv"))) == told

    def test_one_that_is_named_as_a_loss_is_told(self, tmp_path: Path):
        (tmp_path / "log.csv").write_text("epoch,val_acc,loss_of_acc\n0,0.5,2\n1,0.6,1\n")
        for column, told in (("val_acc", True), ("loss_of_acc", False)):
            with called.called({"loss": column}):
                run = readers.read(tmp_path / "log.csv")
            assert ("score_as_loss" in [remark.key for remark in run.remarks]) == told

    def test_a_reward_that_is_lost_needs_no_loss(self, tmp_path: Path):
        rewards = [*range(20), *range(20, 0, -1)]
        rows = (f"{at},{reward}" for at, reward in enumerate(rewards))
        (tmp_path / "log.csv").write_text("\n".join(("step,eval/episode_reward", *rows)))
        [report] = [one for _, one in reports([str(tmp_path / "log.csv")], tree.find("phase-18"), tree.find)]
        assert isinstance(report, Report)
        assert report.data("en")["leaf"]["id"] == "score-lost"


@pytest.mark.parametrize(
    ("deep", "found"), [("", 1), ("outputs/run/lightning_logs/version_0", 1), ("a/b/c/d/e", 0)]
)
def test_a_run_lies_a_few_folders_down(tmp_path: Path, deep: str, found: int):
    """`outputs/run/lightning_logs/version_0/metrics.csv`, of the folder that somebody trains in."""
    (tmp_path / deep).mkdir(parents=True, exist_ok=True)
    (tmp_path / deep / "metrics.csv").write_text("epoch,step,train_loss\n0,9,2.5\n1,19,2.25\n")
    (tmp_path / "train.py").write_text("print('step 1, loss 2.5')\n")
    assert len(readers.sources(tmp_path)) == found


def test_a_link_to_a_folder_or_up_again_holds_no_other_runs(tmp_path: Path):
    (tmp_path / "run1").mkdir()
    (tmp_path / "run1" / "metrics.csv").write_text("epoch,step,train_loss\n0,9,2.5\n1,19,2.25\n")
    (tmp_path / "last").symlink_to(tmp_path / "run1")
    (tmp_path / "latest").symlink_to(tmp_path)
    assert [one.path.parent.name for one in readers.sources(tmp_path)] == ["run1"]


def test_names_may_stand_behind_tabs(tmp_path: Path):
    text = "epoch,\tloss,\tval_loss\n" + "".join(f"{at},\t{4 - at / 4},\t{5 - at / 4}\n" for at in range(6))
    run = readers.read(written(tmp_path, text))
    assert (run["loss"][-1], run["val_loss"][-1], run.steps[-1]) == (2.75, 3.75, 5)
