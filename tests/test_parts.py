"""Parts: faults and triggers as plain data."""

import pytest

from tutor import parts
from tutor.parts import Part


@pytest.mark.parametrize(
    "part", [Part("frozen"), Part("boilerplate", {"step": 312, "batches": 3}), Part("x", {"at": None})]
)
def test_data_round_trips(part: Part):
    assert parts.read(part.data()) == part


@pytest.mark.parametrize("text", ["frozen", "empty-mask:step=300", "x:a=none,b=off-by-one"])
def test_words_of_a_command_round_trip(text: str):
    assert str(parts.parse(text)) == text


def test_none_and_off_mean_none():
    assert parts.parse("x:a=off").parameters == {"a": None}
    assert parts.read({"name": "x", "a": "none"}).parameters == {"a": None}


@pytest.mark.parametrize("text", ["frozen:layers", "frozen:=1"])
def test_a_parameter_without_a_value_is_refused(text: str):
    with pytest.raises(ValueError, match="a fault is name or name:key=value"):
        parts.parse(text)
