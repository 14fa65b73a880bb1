"""How well an exact search that was ended knows how many nodes it needs until it is complete.

Every problem is searched to the end, and again up to a thirtieth, a tenth and a third of its nodes.

Usage: ``python -m benchmarks.work_left [--nodes 2000000] [--json | --markdown]``; some minutes.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import partial

import paretosoc as dse
from benchmarks.harness.report import Column, Value, parser, show
from paretosoc.dse.certificate.branch_and_bound import Incumbents, find_front
from paretosoc.dse.certificate.work_left import likely_nodes
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes

EVALUATIONS = 3_000
SHARES = (30, 10, 3)
"""Searches are ended after the nodes of the whole search over these."""
XAVIER, ORIN = "jetson-agx-xavier", "jetson-agx-orin"
PAIR, THREE = ("vgg19", "resnet50"), ("resnet50", "mobilenet_v2", "googlenet")


@dataclass(frozen=True)
class Case:
    """A workload on a board, the groups per network, its unit changes, and the objectives of the
    search: the first one, or both."""

    platform: str
    networks: tuple[str, ...]
    groups: int
    changes: int | str
    objectives: int


CASES = tuple(
    Case(platform, networks, groups, changes, objectives)
    for platform, networks, groups, changes in (
        (XAVIER, ("resnet50",), 24, "any"),
        (XAVIER, PAIR, 6, 2),
        (XAVIER, PAIR, 8, "any"),
        (XAVIER, PAIR, 12, 2),
        (XAVIER, ("alexnet", "googlenet"), 10, 2),
        (XAVIER, THREE, 6, 1),
        (XAVIER, THREE, 8, 2),
        (ORIN, ("resnet50", "mobilenet_v2"), 8, 2),
        (ORIN, ("vgg19", "googlenet"), 12, 1),
        (ORIN, THREE, 6, 2),
    )
    for objectives in (1, 2)
)
COLUMNS = (
    Column("workload", "workload"),
    Column("nodes", "nodes needed", ",d"),
    *(Column(f"ratio{k}", f"estimate after 1/{k}, over that", ".2f") for k in SHARES),
)


def measure(case: Case, most: int) -> dict[str, Value] | None:
    """Return a row of the table, or None if the search needs more nodes than ``most`` or hardly
    any."""
    problem = dse.Problem(
        list(case.networks), case.platform, groups=case.groups, max_transitions=case.changes
    ).numeric
    engine = Nsga2Engine(DesignSpace(problem), seed=1)
    found = search(engine, make_outcomes(problem), Budget(EVALUATIONS))
    columns = tuple(range(case.objectives))
    known = Incumbents(found.objectives[:, list(columns)], found.rows)
    run = partial(find_front, problem, objectives=columns, known=known, jobs=1)
    whole = run(max_nodes=most)
    if not whole.complete or whole.nodes < 3_000:
        return None
    row: dict[str, Value] = {
        "workload": f"{', '.join(case.networks)} on {case.platform}, {case.groups} groups, "
        f"{case.changes} changes, {'latency' if case.objectives == 1 else 'latency and energy'}",
        "nodes": whole.nodes,
    }
    for k in SHARES:
        ended = run(max_nodes=whole.nodes // k)
        nodes = likely_nodes(problem, ended.root, ended.nodes)
        row[f"ratio{k}"] = (
            None if nodes is None else (nodes - ended.nodes) / (whole.nodes - ended.nodes)
        )
    return row


def main() -> None:
    """Measures and prints."""
    arguments = parser("benchmarks.work_left", (__doc__ or "").splitlines()[0])
    arguments.add_argument("--markdown", action="store_true", help="print Markdown")
    arguments.add_argument("--nodes", type=int, default=2_000_000, help="of each [%(default)s]")
    chosen = arguments.parse_args()
    rows = [row for case in CASES if (row := measure(case, chosen.nodes)) is not None]
    notes = []
    for k in SHARES:
        ratios = [float(value) for row in rows if (value := row[f"ratio{k}"]) is not None]
        factors = [max(ratio, 1 / ratio) for ratio in ratios]
        notes.append(
            f"After 1/{k} of the nodes {len(ratios)} of {len(rows)} searches have an estimate, "
            f"off by a factor of {statistics.median(factors):.1f} in the median, "
            f"{max(factors):.0f} at most."
        )
    show(
        "Nodes that a search needs",
        COLUMNS,
        rows,
        as_json=chosen.json,
        as_markdown=chosen.markdown,
        notes=notes,
    )


if __name__ == "__main__":
    main()
