"""Co-runs of whole networks: the plan, the table, and which law the times support."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from paretosoc.fitness.calibration.co_runs import (
    MEMORY,
    CoRun,
    fit_co_runs,
    plan,
    read_co_runs,
)
from paretosoc.platforms.errors import PlatformError

NETWORKS, UNITS = ("a", "b", "c", "d"), ("gpu", "dla0")
SENSITIVE = {"a": 0.0, "b": 0.1, "c": 0.3, "d": 0.6}


def times(ratio, noise=0.0):
    """Times of the whole plan: ``ratio`` (run) times the one alone."""
    rng = np.random.default_rng(1)
    found = {}
    for pair in plan(NETWORKS, UNITS):
        for run in filter(None, pair):
            alone = 1 + NETWORKS.index(run.network) + 10 * UNITS.index(run.unit)
            longer = 1.0
            if run.beside == MEMORY:
                longer += SENSITIVE[run.network]
            elif run.beside:
                longer = ratio(run)
            found[run] = alone * longer * float(np.exp(noise * rng.normal()))
    return found


def test_the_plan_has_every_network_alone_and_every_pair_on_all_pairs_of_units() -> None:
    runs = [run for pair in plan(NETWORKS, UNITS) for run in pair if run is not None]
    assert len(set(runs)) == len(runs) == 4 * 2 + 4 * 2 + 6 * 4 * 2
    assert {run.pair for run in runs if run.beside not in ("", MEMORY)} == {
        frozenset(pair) for pair in combinations(NETWORKS, 2)
    }
    assert sum(run.is_shared for run in runs) == 6 * 2 * 2


@pytest.mark.parametrize(
    ("law", "ratio", "parameters"),
    [
        ("no contention", lambda run: 1.0, {}),
        ("one factor", lambda run: 1.2, {"factor": 0.2}),
        ("sharing a unit", lambda run: 1.12 if run.is_shared else 1.0, {"sharing": 0.12}),
        (
            "sharing, another unit",
            lambda run: 1.12 if run.is_shared else 1.3,
            {"sharing": 0.12, "another unit": 0.3},
        ),
        (
            "sharing, share of the loss beside memory",
            lambda run: 1.12 if run.is_shared else 1 + SENSITIVE[run.network] / 2,
            {"sharing": 0.12, "of the loss beside memory": 0.5},
        ),
        (
            "sharing, another unit by unit",
            lambda run: 1.12 if run.is_shared else {"gpu": 1.3, "dla0": 1.02}[run.unit],
            {"sharing": 0.12, "another unit, dla0": 0.02, "another unit, gpu": 0.3},
        ),
    ],
)
def test_the_law_that_made_the_times_is_supported(law, ratio, parameters) -> None:
    fit = fit_co_runs(times(ratio, noise=0.003))
    supported = fit.laws[fit.supported]
    assert supported.law == law
    assert supported.parameters == pytest.approx(parameters, abs=0.02)
    assert supported.median_error < 0.01
    assert fit.pairs == 6


def test_errors_are_those_of_pairs_that_were_left_out() -> None:
    """One pair is odd: the others do not predict it, nor does it change their predictions much."""
    odd = frozenset("ab")
    fit = fit_co_runs(times(lambda run: 2.0 if run.pair == odd else 1.1))
    one = next(law for law in fit.laws if law.law == "one factor")
    assert one.median_error == pytest.approx(0, abs=1e-9)
    assert one.worst_error == pytest.approx(1 - 1.1 / 2)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("a,gpu,,,", "ms must be above 0, got ''"),
        ("a,gpu,b,,1", "both or none of beside and beside_unit"),
        ("a,gpu,b,dla0,1", "a time of 'a' alone on 'gpu' is required"),
        ("a,gpu,,,1", "at least 3 pairs of networks are required, got 0"),
    ],
)
def test_what_is_wrong_is_named(rows, expected, tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"network,unit,beside,beside_unit,ms\n{rows}\n", "utf-8")
    with pytest.raises(PlatformError, match=expected):
        fit_co_runs(read_co_runs([path]))


def test_the_median_of_rounds_counts(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("network,unit,beside,beside_unit,ms\na,gpu,,,1\na,gpu,,,9\na,gpu,,,2\n")
    assert read_co_runs([path]) == {CoRun("a", "gpu", "", ""): 2.0}
