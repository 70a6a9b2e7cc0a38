"""Settings: what is refused before anything is trained."""

import pytest

from tutor import settings


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
