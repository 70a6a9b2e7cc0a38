"""Every signal is listed once: its words, its kind and its panel follow from that one line."""

import pytest

from tests.conftest import make_run
from tutor import plots, signals
from tutor.plots.lines import families
from tutor.signals import PANELS, SIGNALS, Signal
from tutor.words import say


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: signal.name)
@pytest.mark.parametrize("lang", ["en", "es"])
def test_each_has_a_panel_and_words(signal: Signal, lang: str):
    assert signal.panel in PANELS
    assert say(f"signals.{signal.name}.name", lang)
    assert say(f"signals.{signal.name}.how", lang)


def test_names_are_given_once():
    assert len({signal.name for signal in SIGNALS}) == len(SIGNALS)


def test_a_group_of_the_optimizer_has_the_signal_of_all():
    assert signals.find("param_norm_no_decay") == signals.find("param_norm")
    assert signals.groups("param_norm", ["param_norm", "param_norm_decay", "lr"]) == ["param_norm_decay"]
    assert signals.find("mine") is None
    assert signals.kind_of("mine") == "number"


def test_a_signal_added_to_the_list_is_drawn_with_its_unit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(signals, "SIGNALS", (*SIGNALS, Signal("train_loss", "loss", "nats")))
    assert families(make_run({"loss": [1.0]}), "loss")[0].signals[-1] == "train_loss"


def test_curves_of_one_panel_share_an_axis_by_their_unit():
    run = make_run({"loss_scale": [1.0], "tokens_per_second": [1.0]})
    assert [family.unit for family in families(run, "throughput")] == ["scale", "speed"]
    assert "loss scale" in plots.draw(run, "throughput", 60, 12).plain
