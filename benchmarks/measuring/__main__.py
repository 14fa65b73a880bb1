"""How many measurements until a choice is really good, with published figures as hidden truth.

Each decision starts from the program's estimates. A policy measures one stretch of a network after
another, each time the member with the least expected loss is taken, and the count ends when that
member's true regret is below 1 %. Policies: the value of information per minute (``dse measure
next``), any order, the order of the grid, and the corners of the clocks first. All of them have the
same experiments, errors and draws. *clairvoyant* is the fewest measurements of any order, found
with the truth by trying all sets, the small ones first; ``+``: at least so many, for there are too
many sets of this size. Decisions that are right before the first measurement are left out.

Usage: ``python -m benchmarks.measuring [--quick] [--json | --markdown]``, ten minutes.
``--exponents`` prints by how much the exponents of times over clocks are off in published grids.
``--live`` decides on this machine instead, see :mod:`benchmarks.measuring.live`.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from benchmarks.harness.report import Column, Value, parser, show
from benchmarks.measuring.cases import BUILDERS, GOALS, Case
from benchmarks.measuring.exponents import exponents
from benchmarks.measuring.live import decide_here
from benchmarks.measuring.replay import (
    POLICIES,
    Replay,
    at_random,
    fewest_needed,
    measurements_needed,
)

MOST = 12
"""Measurements after which a policy has failed, which counts as one more."""
SEEDS = 3
"""Orders of the random policy, whose median counts."""
QUICK = (0, 4)
COLUMNS = (
    Column("decision", "decision"),
    Column("kind", "of"),
    Column("goal", "goal"),
    Column("members", "members", "d"),
    Column("experiments", "experiments", "d"),
    Column("regret", "regret before", ".1%"),
    *(Column(name, name, ".0f") for name in POLICIES),
    Column("clairvoyant", "clairvoyant"),
)


def rows_of_case(case: Case) -> list[dict[str, Value] | None]:
    """Return a row of the table for each goal, None if the choice is right from the start."""
    replay = Replay(case)
    return [_row_of(replay, goal) for goal in GOALS]


def _row_of(replay: Replay, goal: str) -> dict[str, Value] | None:
    case = replay.case
    needed: dict[str, float] = {}
    for name, policy in POLICIES.items():
        seeds = range(SEEDS if policy is at_random else 1)
        counts = []
        for seed in seeds:
            count, regrets = measurements_needed(replay, goal, policy, seed=seed, most=MOST)
            if count == 0:
                return None
            counts.append(MOST + 1 if count is None else count)
        needed[name] = median(counts)
    fewest, is_exact = fewest_needed(replay, goal, most=MOST)
    return {
        "decision": case.name,
        "kind": "mappings" if len(case.truth.units) > 1 else "clocks",
        "goal": goal,
        "members": len(case.front.members),
        "experiments": len(replay.grid),
        "regret": regrets[0],
        **needed,
        "clairvoyant": f"{fewest}{'' if is_exact else '+'}",
    }


def summaries(rows: Sequence[dict[str, Value]]) -> list[str]:
    """Return the medians of all decisions, and of each kind."""
    kinds = dict.fromkeys(str(row["kind"]) for row in rows)
    chosen = [("all", rows), *((k, [row for row in rows if row["kind"] == k]) for k in kinds)]
    lines = []
    for kind, own in chosen:
        medians = {name: median(float(str(row[name])) for row in own) for name in POLICIES}
        least = min(value for name, value in medians.items() if name != "value")
        words = ", ".join(f"{name} {value:g}" for name, value in medians.items())
        share = f"{medians['value'] / least:.0%} of the best of the others"
        fewest = [float(str(row["clairvoyant"]).rstrip("+")) for row in own]
        bound = median(fewest)
        lines.append(
            f"Medians of {len(own)} decisions ({kind}): {words}, clairvoyant at least {bound:g}; "
            f"by value {share}, clairvoyant at least {bound / least:.0%}."
        )
        others = [min(float(str(row[name])) for name in POLICIES if name != "value") for row in own]
        never = sum(2 * mine > other for mine, other in zip(fewest, others, strict=True))
        lines.append(f"No order needs half of the best other in {never} of them.")
    return [*lines, f"{MOST + 1}: not within {MOST}."]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    options = parser("benchmarks.measuring", "Measurements until a choice is right.")
    options.add_argument("--markdown", action="store_true", help="print Markdown")
    options.add_argument("--quick", action="store_true", help="two cases only")
    options.add_argument("--exponents", action="store_true", help="errors of clocks' exponents")
    options.add_argument("--live", action="store_true", help="decide on this machine")
    chosen = options.parse_args(arguments)
    if chosen.live:
        decide_here()
        return
    if chosen.exponents:
        exponents(as_json=chosen.json, as_markdown=chosen.markdown)
        return
    builders = [BUILDERS[k] for k in QUICK] if chosen.quick else BUILDERS
    cases = [build() for build in builders]
    found = [row for case in cases for row in rows_of_case(case)]
    rows = [row for row in found if row is not None]
    left_out = f"{len(found) - len(rows)} of {len(found)} decisions were right from the start."
    show(
        "Measurements until the true regret is below 1 %",
        COLUMNS,
        rows,
        as_json=chosen.json,
        as_markdown=chosen.markdown,
        notes=[*summaries(rows), left_out],
    )


if __name__ == "__main__":
    main()
