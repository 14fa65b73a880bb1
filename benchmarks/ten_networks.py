"""The distance of fronts of many networks from the true ones, and the cost of bounding it.

The first 2 to 16 of sixteen networks (ten of them are those of ``benchmarks.search``) on all units
of Xavier: at the fastest clocks, at all clocks, and at all clocks with a power cap of 20 W. For
each the front of NSGA-II, the bound of its latency, the epsilon of the whole front by bounds over
boxes (``dse/certificate/boxes``), and the plain check of them. Seconds are those of one core's
work, so that they are much the same on a busy machine. Compilation is not counted.

Usage: ``python -m benchmarks.ten_networks [--json | --markdown] [--networks N ...]
[--evaluations 50000] [--figure FILE]``. The figure has seconds against groups.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from benchmarks.harness.report import Column, Value, parser, show
from benchmarks.problems.search_problems import GROUPS_EACH, TEN_NETWORKS
from paretosoc.common.arrays import IntArray
from paretosoc.common.units import PPM, PS_PER_MS
from paretosoc.dse.certificate.boxes.prove import bound_front, default_boxes
from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.certificate.verify.solvers import wrong_bounds
from paretosoc.dse.compile.load import load_proof_code
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.restarts import RestartingNsga2
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.front.front import Front
from paretosoc.results.plots.chart import Axis, Chart
from paretosoc.results.plots.items import FORMS, Curve, Marks, solid_marks
from paretosoc.results.plots.style import COLOURS, PICTURE_MAKERS
from paretosoc.results.problem.problem import Problem

SIXTEEN = (
    *TEN_NETWORKS,
    *("alexnet", "inception_v3", "resnet34", "mnasnet1_0", "densenet121", "resnet101"),
)
COUNTS = (2, 4, 6, 8, 10, 16)
FASTEST = Options(
    groups=GROUPS_EACH, fixed=(("cpu", "max"), ("gpu", "max"), ("dla", "max"), ("emc", "max"))
)
SETTINGS = {
    "fastest clocks": FASTEST,
    "all clocks": Options(groups=GROUPS_EACH),
    "20 W": Options(groups=GROUPS_EACH, power_cap_w=Fraction(20)),
}
SEED = 1
COLUMNS = (
    Column("setting", "setting"),
    Column("networks", "networks", ","),
    Column("groups", "groups", ","),
    Column("members", "members", ","),
    Column("latency_ms", "fastest ms", ".3f"),
    Column("bound_ms", "none below ms", ".3f"),
    Column("gap", "gap", ".1%"),
    Column("epsilon", "front within", ".1%"),
    Column("boxes", "boxes", ","),
    Column("inequalities", "inequalities", ",", in_table=False),
    Column("search_s", "search s", ".1f"),
    Column("bounds_s", "bounds s", ".1f"),
    Column("check_s", "check s", ".1f"),
)


@dataclass(frozen=True)
class Case:
    """The first so many networks in a setting."""

    setting: str
    networks: int

    def make(self) -> Problem:
        """Return the problem."""
        chip = load_platform("jetson-agx-xavier")
        names = SIXTEEN[: self.networks]
        return build_problem(workload_from(names), chip, SETTINGS[self.setting]).problem


def explore(problem: Problem, evaluations: int) -> IntArray:
    """Return rows of the front that NSGA-II finds."""
    engine = RestartingNsga2(DesignSpace(problem), seed=SEED)
    return search(engine, make_outcomes(problem, jobs=1), Budget(evaluations)).rows


def measure(case: Case, evaluations: int) -> dict[str, Value]:
    """Return one row of the table."""
    problem = case.make()
    began = time.process_time()
    rows = explore(problem, evaluations)
    searched = time.process_time()
    front: Front = seed_front(problem, rows, engine="nsga2")
    made = time.process_time()
    bounded = bound_front(front, (0, 1), max_boxes=default_boxes(problem))
    found = time.process_time()
    if bounded is None:
        raise SystemExit(f"{case}: no bounds were found")
    wrong = wrong_bounds(replace(front, bounds=bounded.claim), bounded.claim, bounded.proof)
    if wrong is not None:
        raise SystemExit(f"{case}: {wrong}")
    checked = time.process_time()
    claim = bounded.claim
    fastest = min(member.objectives[0] for member in front.members)
    bound = 1 + max(a for a, b in claim.region if a is not None and b is None)
    return {
        "setting": case.setting,
        "networks": case.networks,
        "groups": problem.group_count,
        "members": len(front.members),
        "latency_ms": fastest / PS_PER_MS,
        "bound_ms": bound / PS_PER_MS,
        "gap": fastest / bound - 1,
        "epsilon": claim.epsilon_ppm / PPM,
        "boxes": claim.boxes,
        "inequalities": claim.inequalities,
        "search_s": searched - began,
        "bounds_s": found - made,
        "check_s": checked - found,
    }


def draw(rows: Sequence[Mapping[str, Value]], path: Path) -> None:
    """Draw seconds against groups for all clocks, both logarithmic."""
    chosen = [row for row in rows if row["setting"] == "all clocks"]
    groups = [float(row["groups"] or 0) for row in chosen]
    keys = (("search_s", "search"), ("bounds_s", "bounds"), ("check_s", "plain check"))
    items: list[Curve | Marks] = []
    for colour, form, (key, name) in zip(COLOURS, FORMS, keys, strict=False):
        points = [(x, float(row[key] or 0.0)) for x, row in zip(groups, chosen, strict=True)]
        items += [Curve(points, colour, 1.1), solid_marks(points, form, colour, name)]
    seconds = [y for item in items for _, y in item.points]
    x = Axis.over("groups of all networks", groups, 0.05, is_log=True)
    x = replace(x, names={count: f"{count:.0f}" for count in groups})
    y = Axis.over("seconds of one core", seconds, 0.05, is_log=True)
    path.write_bytes(PICTURE_MAKERS[path.suffix](Chart(x, y, tuple(items)).picture()))


def main(arguments: Sequence[str]) -> None:
    """Measures all cases and prints a table."""
    options = parser("benchmarks.ten_networks", "Bounds of fronts of many networks.")
    options.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    options.add_argument("--networks", type=int, nargs="+", default=COUNTS, help="how many")
    options.add_argument("--evaluations", type=int, default=50_000, help="of NSGA-II")
    options.add_argument("--figure", type=Path, help="draw seconds against groups")
    chosen = options.parse_args(arguments)
    load_proof_code()
    explore(Case("fastest clocks", 2).make(), 1000)
    cases = [Case(setting, count) for setting in SETTINGS for count in chosen.networks]
    rows = []
    for case in cases:
        rows.append(measure(case, chosen.evaluations))
        print(f"{case.setting}, {case.networks}", file=sys.stderr)
    show(
        "Bounds of fronts of many networks",
        COLUMNS,
        rows,
        as_json=chosen.json,
        as_markdown=chosen.markdown,
    )
    if chosen.figure is not None:
        draw(rows, chosen.figure)


if __name__ == "__main__":
    main(sys.argv[1:])
