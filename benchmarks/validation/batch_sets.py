"""Published times of batches, and their predictions from the time of one image."""

from __future__ import annotations

from benchmarks.validation.clock_sets import (
    BATCHES,
    BOARDS_NETWORK,
    board_subjects,
    estimated_ps,
)
from benchmarks.validation.scores import Comparison

BATCH_TIMES = "Xavier, Xavier NX, Nano, batches, time"


def batches() -> list[Comparison]:
    """Compare each board's largest batch at every GPU clock with predictions from one image.

    They are the time of one image at that clock times the images, or as the program's estimate of a
    batch is to that of one image.
    """
    found = []
    for board, sizes in BATCHES.items():
        (one, _), (several, _) = board_subjects({board: sizes})
        images, chip = sizes[-1], f"jetson-{board}"
        estimates = [
            estimated_ps(chip, "gpu", BOARDS_NETWORK, one, batch, "fp32") for batch in (1, images)
        ]
        ratio = estimates[1] / estimates[0]
        found += [
            Comparison(
                BATCH_TIMES,
                f"one image on {chip}; {images} images",
                law,
                "ms",
                one.measured_ms * factor,
                several.measured_ms,
            )
            for law, factor in (("times the images", images), ("the program's estimate", ratio))
        ]
    return found
