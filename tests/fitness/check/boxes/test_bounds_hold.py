"""No weights, good or bad, exclude a design point that there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.enumerated.formats import enumerated_formats
from benchmarks.problems.enumerated.frames import enumerated
from benchmarks.problems.enumerated.models import enumerated_model
from benchmarks.problems.enumerated.rates import enumerated_rates
from benchmarks.problems.enumerated.space import Enumerated, holds_a_point
from paretosoc.fitness.check.boxes.check import CheckedBounds
from paretosoc.fitness.check.boxes.frame_time import frame_time
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import Leaf
from tests.support.proofs.random_boxes import random_corner, random_proof
from tests.support.sample import SAMPLE

CHUNKS, PER_CHUNK = SAMPLE, 30
DRAWS = [enumerated, enumerated_model, enumerated_rates, enumerated_formats]


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_weights_exclude_a_design_point(
    chunk: int, draw: Callable[[int], Enumerated | None]
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
        found = draw(seed)
        if found is None:
            continue
        rng = np.random.default_rng((7, seed))
        checked = CheckedBounds(found.problem, random_proof(rng, found.problem))
        for _ in range(30):
            corner = random_corner(rng, found.possible)
            if checked.is_empty(corner):
                assert not holds_a_point(found.feasible, corner), (seed, corner)
                seen["closed"] += 1
            else:
                seen["open"] += 1
    assert min(seen["closed"], seen["open"]) > 50, seen


def test_networks_have_no_classes_of_their_own_where_frames_overlap() -> None:
    refused = 0
    for seed in range(40):
        found = enumerated_model(seed)
        if found is None:
            continue
        problem = found.problem
        time = frame_time(problem, range(len(problem.objectives)))
        if time.in_flight in (None, 1) or time.of_streams:
            continue
        proof = replace(
            random_proof(np.random.default_rng(seed), problem),
            apart=(0,),
            classes=tuple((0, 0) if u == first else () for u, first in enumerate(problem.unit_of)),
            multipliers=(),
            tree=(Leaf(()),),
        )
        with pytest.raises(ResultError, match=r"\$\.apart: there must be none"):
            CheckedBounds(problem, proof)
        refused += 1
    assert refused > 3
