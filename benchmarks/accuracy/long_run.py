"""Reported rates beside those of the recurring state.

Random pipelines and free-running networks, of 1 to 4 networks of 1 to 5 groups on 1 to 4 units,
with 1 to 8 frames in flight. An oracle simulates each until its whole state at the end of a round
is one that has been there before, for up to 2,000 rounds. If there is one, the exact rates are
known. Errors are those of the throughput, which is the mean over the networks if they run freely,
and the largest of any network's rate.

Usage: ``python -m benchmarks.accuracy.long_run [--json]``, some minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np

from benchmarks.harness.report import Column, parser, show
from benchmarks.oracles.recurring_state import MAX_ROUNDS, random_stream, recurring_periods
from paretosoc.fitness.simulate_long_run import make_long_run_evaluator

COLUMNS = (
    Column("kind", "kind"),
    Column("problems", "problems"),
    Column("recurring", "recurring"),
    Column("median_percent", "median %", ".4f"),
    Column("percentile_99_percent", "99th percentile %", ".3f"),
    Column("worst_percent", "worst %", ".3f"),
    Column("above_3_percent", "above 3 %"),
    Column("median_of_networks_percent", "network: median %", ".4f"),
    Column("worst_network_percent", "network: worst %", ".3f"),
)
PIPELINES, FREE = 600, 400


@dataclass(frozen=True)
class Errors:
    """Errors of rates against those of the recurring state."""

    kind: str
    problems: int
    recurring: int
    median_percent: float
    percentile_99_percent: float
    worst_percent: float
    above_3_percent: int
    median_of_networks_percent: float
    worst_network_percent: float


def measure(kind: str, seeds: range, *, free_running: bool) -> Errors:
    """Return the errors on random problems."""
    whole, each = [], []
    for seed in seeds:
        found = errors_of(seed, free_running=free_running)
        if found is not None:
            whole.append(found[0])
            each.append(max(found[1:]))
    return Errors(
        kind=kind,
        problems=len(seeds),
        recurring=len(whole),
        median_percent=100 * float(np.median(whole)),
        percentile_99_percent=100 * float(np.percentile(whole, 99)),
        worst_percent=100 * max(whole),
        above_3_percent=sum(error > 0.03 for error in whole),
        median_of_networks_percent=100 * float(np.median(each)),
        worst_network_percent=100 * max(each),
    )


def errors_of(seed: int, *, free_running: bool, most: int = MAX_ROUNDS) -> list[float] | None:
    """Return relative errors of the throughput and of each stream's rate, or None if no state
    recurs within ``most`` rounds."""
    problem, design = random_stream(seed, free_running=free_running)
    exact = recurring_periods(problem, design, most=most)
    if exact is None:
        return None
    runs = make_long_run_evaluator(problem)(design.row[None])
    images = problem.images if free_running else (1,) * len(exact)
    rates = (number / period for number, period in zip(images, exact, strict=True))
    mean = len(exact) / sum(rates, Fraction(0))
    pairs = [(int(runs.frame_period_ps[0]), mean)]
    pairs += zip(runs.stream_period_ps[0].tolist(), exact, strict=True)
    return [abs(float(period / Fraction(found)) - 1) for found, period in pairs]


def run() -> list[Errors]:
    """Measure pipelines, then free-running networks."""
    return [
        measure("pipelines", range(PIPELINES), free_running=False),
        measure("free-running", range(FREE), free_running=True),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the errors."""
    options = parser(
        "benchmarks.accuracy.long_run", "Rates against the recurring state."
    ).parse_args(arguments)
    show(
        "Throughput against that of the state that recurs",
        COLUMNS,
        [asdict(errors) for errors in run()],
        as_json=options.json,
        notes=["Networks: the largest error of any network's rate."],
    )


if __name__ == "__main__":
    main()
