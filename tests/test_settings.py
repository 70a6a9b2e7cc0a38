"""Settings: what is refused before anything is trained, and how changes are typed."""

import pytest
import typer

from tutor import settings
from tutor.cli import app


@pytest.mark.parametrize(
    "name",
    ["batch_size", "block_size", "accumulation", "n_layer", "n_embd", "vocab_size", "threads", "steps"],
)
def test_a_size_out_of_reason_is_refused_in_one_line(name: str):
    with pytest.raises(ValueError, match=rf"^{name}=100000000: input should be less than or equal to \d+$"):
        settings.build({name: "100000000"})


def test_a_seed_too_large_for_the_generators_is_refused():
    with pytest.raises(ValueError, match=r"^seed="):
        settings.build({"seed": 2**64})


def test_sizes_that_are_too_large_together_are_refused():
    with pytest.raises(ValueError, match=r"needs about \d+ GB of memory, over 16 GB; lower batch_size"):
        settings.build({"batch_size": 4096, "block_size": 1024})


@pytest.mark.parametrize("changes", [{}, {"batch_size": 512}, {"n_embd": 768, "n_layer": 12}])
def test_what_fits_is_taken(changes: dict):
    assert settings.memory(settings.build(changes)) < settings.MOST_MEMORY


def test_changes_are_typed_by_the_options_that_there_are():
    changes = {"lr": 1e-4, "device": "cpu", "grad_clip": None, "seed": 7}
    words = ["--seed", "7", "--device", "cpu", "--set", "lr=0.0001", "--set", "grad_clip=none"]
    assert settings.command_words(changes) == words


def test_train_has_an_option_for_just_these_settings():
    command = typer.main.get_command(app)
    assert isinstance(command, typer.core.TyperGroup)
    options = {option.name for option in command.commands["train"].params}
    assert [name for name in settings.names() if name in options] == sorted(
        settings.OPTIONS, key=settings.names().index
    )


@pytest.mark.parametrize(("was", "times", "gives"), [(100, 2, 100 * 2), (1e-3, 0.1, 1e-4), (3, 0.5, 2)])
def test_a_multiple_of_a_whole_number_is_one(was: float, times: float, gives: float):
    found = settings.scaled(was, times)
    assert (found, type(found)) == (gives, type(was))
