"""Logs of pytorch-CycleGAN-and-pix2pix: the generator's loss is the sum of its terms."""

import math
from pathlib import Path

import pytest

from tutor import readers
from tutor.run import Run

HEADING = "================ Training Loss (Mon Jan  1 10:00:00 2024) ================\n"
PIX2PIX = "G_GAN: {} G_L1: 20.5 D_real: 0.25 D_fake: 0.75 "


def read(folder: Path, text: str) -> Run:
    (folder / "loss_log.txt").write_text(text)
    return readers.read(folder / "loss_log.txt")


def row(epoch: int, images: int, terms: str, data: str = ", data: 0.013") -> str:
    return f"(epoch: {epoch}, iters: {images}, time: 0.199{data}) {terms}\n"


def test_the_terms_of_the_generator_are_added_up(tmp_path: Path):
    run = read(tmp_path, HEADING + row(1, 100, PIX2PIX.format(1.5)) + row(1, 200, PIX2PIX.format(0.5)))
    assert (run.steps.to_list(), run["loss"].to_list()) == ([100, 200], [22.0, 21.0])
    assert run["d_real"].to_list() == [0.25, 0.25]


def test_of_a_cyclegan_those_of_both_sides(tmp_path: Path):
    terms = "D_A: 0.5 G_A: 1.0 cycle_A: 2.0 idt_A: 3.0 D_B: 0.5 G_B: 4.0 cycle_B: 5.0 idt_B: 6.0 "
    assert read(tmp_path, row(1, 400, terms) + row(1, 800, terms))["loss"].to_list() == [21.0, 21.0]


def test_a_total_is_taken_as_it_is(tmp_path: Path):
    terms = "G_GAN: 1.0 D_real: 0.5 D_fake: 0.5 G: 5.5 NCE: 4.5 "
    assert read(tmp_path, row(1, 100, terms) + row(1, 200, terms))["loss"].to_list() == [5.5, 5.5]


def test_a_term_that_is_nan_makes_the_loss_so(tmp_path: Path):
    run = read(tmp_path, row(1, 100, PIX2PIX.format(1.5)) + row(1, 200, PIX2PIX.format("nan")))
    assert run["loss"][0] == 22.0
    assert math.isnan(run["loss"][1])


@pytest.mark.parametrize(
    ("at", "steps"),
    [
        ([(1, 100), (1, 200), (2, 100), (2, 200)], [100, 200, 300, 400]),  # images begin anew each epoch
        ([(5, 4), (9, 3), (13, 12)], [5, 9, 13]),  # seldom a row
        ([(1, 100), (1, 200), (2, 300), (2, 400)], [100, 200, 300, 400]),  # they go on
    ],
)
def test_steps_go_on_from_epoch_to_epoch(tmp_path: Path, at: list[tuple[int, int]], steps: list[int]):
    text = "".join(row(epoch, images, PIX2PIX.format(1.5), data="") for epoch, images in at)
    assert read(tmp_path, text).steps.to_list() == steps


def test_an_adversarial_term_alone_is_no_loss_of_a_run(tmp_path: Path):
    """It is low where the discriminator is weak, whatever the generator draws."""
    run = read(tmp_path, row(1, 100, "D: 0.5 G_A: 1.5 G_B: 0.5") + row(1, 200, "D: 0.25 G_A: 2.5 G_B: 0.5"))
    assert not run.has("loss")


@pytest.mark.parametrize(
    "terms", ["loss: 5.5 G_L1: 4.5 G_GAN: 1.0", "G_L1: 4.5 total: 5.5 psnr: 20.5 lr: 0.1"]
)
def test_a_loss_that_is_printed_is_taken_and_scores_are_no_terms(tmp_path: Path, terms: str):
    assert read(tmp_path, row(1, 100, terms) + row(1, 200, terms))["loss"].to_list() == [5.5, 5.5]


def test_scores_and_rates_are_no_terms(tmp_path: Path):
    terms = "G_GAN: 1.0 G_L1: 4.5 psnr: 20.5 lambda: 100.0 depth: 0.5 step: 7"
    run = read(tmp_path, row(1, 100, terms) + row(1, 200, terms))
    assert (run.steps.to_list(), run["loss"].to_list()) == ([100, 200], [5.5, 5.5])


def test_commas_between_the_terms_and_a_rank_before(tmp_path: Path):
    text = "".join(f"[Rank 0] (epoch: 1, iters: {at}, time: 0.1) , G_GAN: 1.5, G_L1: 19.5\n" for at in (1, 2))
    assert read(tmp_path, text)["loss"].to_list() == [21.0, 21.0]
