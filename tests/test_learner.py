"""Who is learning: which names will do."""

import pytest

from tutor.learner import BadNameError, default_learner, learner_name


@pytest.mark.parametrize("name", ["ana", "Ana María", "李雷", "अनु", "x-1_y", "  spaced  "])
def test_taken(name):
    assert learner_name(name) == name.strip()


@pytest.mark.parametrize(
    "name",
    ["", "   ", ".", "..", "a/b", "a\\b", "../x", "a\x1b[31m", "a\nb", "x" * 49, "con", "---", "a.b", "‮"],
)
def test_refused_in_one_line_with_a_way_out(name):
    with pytest.raises(BadNameError) as caught:
        learner_name(name)
    for line in (str(caught.value), caught.value.says("es")):
        assert line.isprintable()
        assert ";" in line or ":" in line


def test_default_is_the_environment_then_the_login_then_learner(monkeypatch):
    monkeypatch.setenv("TUTOR_LEARNER", "ana")
    assert default_learner() == "ana"
    monkeypatch.delenv("TUTOR_LEARNER")
    monkeypatch.setattr("getpass.getuser", lambda: "DOMAIN\\ana.b")
    assert default_learner() == "DOMAIN-ana-b"
    monkeypatch.setattr("getpass.getuser", lambda: "...")
    assert default_learner() == "learner"


def test_a_bad_name_in_the_environment_is_said(monkeypatch):
    monkeypatch.setenv("TUTOR_LEARNER", "a/b")
    with pytest.raises(BadNameError):
        default_learner()
