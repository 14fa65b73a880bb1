"""Proofs that a problem adds nothing to known points, against all of its design points."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from benchmarks.problems.enumerated.frames import enumerated
from benchmarks.problems.enumerated.models import enumerated_model
from benchmarks.problems.enumerated.rates import enumerated_rates
from paretosoc.dse.certificate import close as close_module
from paretosoc.dse.certificate.certify import Limits
from paretosoc.dse.certificate.close import close
from paretosoc.dse.certificate.verify.verify import verify
from paretosoc.results.export.result_folder import write_closed
from paretosoc.results.front.dominance import non_dominated

LIMITS = Limits(nodes=20_000)


@pytest.mark.parametrize(
    ("draw", "simulates"),
    [(enumerated, False), (enumerated_model, True), (enumerated_rates, True),
     (enumerated_rates, False)],
)  # fmt: skip
def test_a_closed_problem_has_nothing_better_than_the_points(
    tmp_path, monkeypatch, draw, simulates: bool
) -> None:
    """The points are the front, better ones, worse ones, or a part of the front."""
    if not simulates:
        monkeypatch.setattr(close_module, "simulate_closed", lambda *_: None)
    said: Counter[tuple[bool, bool]] = Counter()
    for seed in range(16):
        found, rng = draw(seed), np.random.default_rng((7, seed))
        if found is None:
            continue
        best = found.feasible[non_dominated(found.feasible)]
        wide = np.abs(best)
        points = [
            best,
            best - wide // 2,
            best + rng.integers(0, 3, best.shape) * (wide // 50),
            best[rng.integers(0, 2, len(best)) > 0],
        ][seed % 4]
        reached = all((points <= row).all(axis=1).any() for row in best)
        closed = close(found.problem, points, limits=LIMITS, jobs=1)
        said[closed is not None, reached] += 1
        if closed is None:
            continue
        assert reached
        assert closed.is_reached_by(points)
        assert closed.is_infeasible == (not len(best))
        assert not len(best) or not closed.is_reached_by(best + wide + 1)
        folder = tmp_path / str(seed)
        write_closed(folder, closed)
        assert all(check.holds for check in verify(folder, closed=True))
    assert said[True, True] >= 4, said
    assert said[False, False] >= 1, said
