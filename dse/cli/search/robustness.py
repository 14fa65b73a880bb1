"""``dse analyze robustness``: how fragile a member of a front is when costs are off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.console import Console

from paretosoc.common.units import FJ_PER_MJ, PPM_PER_PERCENT, PS_PER_MS
from paretosoc.dse.cli.shared.options import MAX_SEED, AsJson, Folder, MemberName
from paretosoc.dse.cli.shared.tables import plain_table
from paretosoc.dse.tools.analysis.robustness import ERRORS_PERCENT, OVERLOADED
from paretosoc.dse.tools.analysis.robustness import robustness as look
from paretosoc.fitness.simulate import row_of
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.front.named_members import choose_member, mark_members
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.text.member_diff import clocks_mhz, groups_by_unit

if TYPE_CHECKING:
    from rich.console import Console

    from paretosoc.dse.tools.analysis.robustness import GroupError, Robustness, Spread
    from paretosoc.results.front.front import Front
    from paretosoc.results.problem.problem import Problem

_TIMES = {
    ObjectiveKind.LATENCY: ("makespan", "ms", PS_PER_MS),
    ObjectiveKind.RELATIVE_RESPONSE: ("relative response", "%", PPM_PER_PERCENT),
}


def robustness(
    folder: Folder,
    member: MemberName = "fastest",
    samples: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Number of trials per error size.")
    ] = 500,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Random seed.")] = 0,
    error: Annotated[
        list[int] | None,
        typer.Option(min=1, max=90, help="Error size in percent. Repeatable. [default: 5, 10, 20]"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how a member, and the choice of the fastest one, respond to errors in the costs."""

    front = read_results(folder)
    index = choose_member(front, member)
    rows = np.stack([row_of(entry.design) for entry in front.members])
    result = look(
        front.problem,
        rows,
        index,
        samples=samples,
        seed=seed,
        errors_percent=tuple(error or ERRORS_PERCENT),
    )
    if as_json:
        print(json.dumps(_document(front.problem, result), indent=2))
    else:
        _print(front, result)


def _document(problem: Problem, result: Robustness) -> dict[str, object]:
    from dataclasses import asdict

    document = asdict(result)
    # What is overloaded has no figure.
    for level in document["levels"]:
        for spread in (level["time"], level["regret_ppm"]):
            spread |= {key: None for key, value in spread.items() if value == OVERLOADED}
        for entry in level["worst_groups"]:
            network, name = _group(problem, entry["group"])
            time = None if entry["time"] == OVERLOADED else entry["time"]
            entry |= {"network": network, "name": name, "time": time}
    return {**document, "objective": result.objective.kind.spec.file_name}


def _group(problem: Problem, group: int) -> tuple[str, str]:
    """Return network and name of a group."""
    network = next(entry for entry in problem.networks if group in entry.groups)
    return network.name, network.group_names[group - network.first_group]


def _print(front: Front, result: Robustness) -> None:
    problem = front.problem
    console = Console(highlight=False)
    member = front.members[result.member]
    marks = ", ".join(mark_members(front).get(result.member, ()))
    title, unit, factor = _TIMES[result.objective.kind]
    used = ", ".join(f"{name} {count}" for name, count in groups_by_unit(problem, member).items())
    clocks = ", ".join(
        f"{name} {mhz:.0f}" for name, mhz in clocks_mhz(problem, member).items() if mhz is not None
    )
    console.print(
        f"member {result.member}{f' ({marks})' if marks else ''}: "
        f"{result.time / factor:.4g} {unit}, {result.energy_fj / FJ_PER_MJ:.4g} mJ; "
        f"groups on {used}; MHz: {clocks}"
    )
    console.print(
        f"Every group's time on every unit off by up to this percentage, {result.samples} "
        f"samples each, seed {result.seed}:\n"
    )
    table = plain_table()
    table.add_column("error", justify="right", no_wrap=True)
    for heading in (f"{title}, {unit}", "energy, mJ"):
        table.add_column(f"{heading}\nmin / median / 95 % / max", justify="right", no_wrap=True)
    if any(level.feasible_ppm < 10**6 for level in result.levels):
        table.add_column("meets all\nconstraints", justify="right", no_wrap=True)
    for level in result.levels:
        cells = [
            f"{level.percent} %",
            _spread(level.time, factor),
            _spread(level.energy_fj, FJ_PER_MJ),
        ]
        if len(table.columns) > len(cells):
            cells.append(f"{level.feasible_ppm / 1e4:.1f} %")
        table.add_row(*cells)
    console.print(table)
    console.print()
    _print_fastest(console, front, result)
    console.print("\nOne group alone off by its full error, the three that hurt most:")
    for level in result.levels:
        worst = "; ".join(_worst(problem, result, entry) for entry in level.worst_groups)
        console.print(f"  {level.percent} %: {worst}")


def _print_fastest(console: Console, front: Front, result: Robustness) -> None:
    if len(front.members) == 1:
        console.print("The front has one member: no other can be faster.")
        return

    console.print(
        f"Member {result.fastest} is the fastest of {len(front.members)} without errors. With:"
    )
    table = plain_table()
    for title in ("error", "still the\nfastest", "within 1 %\nof the best"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("slower than the best\nmedian / 95 % / max", justify="right", no_wrap=True)
    for level in result.levels:
        regret = level.regret_ppm
        spread = (regret.median, regret.percentile_95, regret.largest)
        table.add_row(
            f"{level.percent} %",
            f"{level.still_fastest_ppm / 1e4:.1f} %",
            f"{level.near_fastest_ppm / 1e4:.1f} %",
            " / ".join(_shown(value, 1e4, ".2f") for value in spread) + " %",
        )
    console.print(table)


def _spread(spread: Spread, factor: int) -> str:
    values = (spread.least, spread.median, spread.percentile_95, spread.largest)
    return " / ".join(_shown(value, factor, ".4g") for value in values)


def _shown(value: int, factor: float, form: str) -> str:
    return "overloaded" if value == OVERLOADED else format(value / factor, form)


def _worst(problem: Problem, result: Robustness, entry: GroupError) -> str:
    network, name = _group(problem, entry.group)
    first = next(n.first_group for n in problem.networks if n.name == network)
    faster = "" if entry.factor_ppm > 10**6 else ", when faster"
    change = f"{100 * (entry.time / result.time - 1):+.2f} %"
    if entry.time == OVERLOADED:
        change = "overloaded"
    return f"{network} group {entry.group - first} ({name}{faster}): {change}"
