"""``dse baselines``: other methods' schedules and the optimum, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from paretosoc.common.units import FJ_PER_MJ, PS_PER_MS
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.option_groups import FromTable, Given
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.cli.shared.terminal import print_json, show
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.options import Scenario
from paretosoc.results.problem.objectives import ObjectiveKind

if TYPE_CHECKING:
    from rich.table import Table

    from paretosoc.dse.tools.analysis.compare_baselines import BaselineRow, Comparison
    from paretosoc.platforms.platform import Platform


DEFAULT_GROUPS = 10
BaselinesGiven = Annotated[
    Given,
    FromTable(
        (
            *("scenario", "match_repeats", "groups", "max_transitions", "units", "runtime"),
            *("fixed", "precision", "search_order", "limit"),
            *("profile", "losses", "variants", "dimensions", "batch"),
        )
    ),
]


def baselines(
    networks: opt.NetworkNames,
    platform: opt.PlatformName,
    objective: Annotated[
        str | None,
        Option(
            help="Objective to compare: latency, inverse-latency or throughput. [default: "
            "latency; in a stream throughput]"
        ),
    ] = None,
    *,
    given: BaselinesGiven,
    max_nodes: opt.MaxNodes = None,
    time_limit: opt.TimeLimit = None,
    seed: Annotated[int, Option(min=0, max=opt.MAX_SEED, help="Random seed of the search.")] = 0,
    as_json: opt.AsJson = False,
) -> None:
    """Compare the schedules of other methods with the optimum.

    Uses the GPU and one other accelerator unless --units names others, or all units if the runtime
    serves no such pair. Clocks that --fix does not name are at their fastest. Each network has
    about 10 groups unless --groups asks for others.
    """
    from paretosoc.dse.cli.shared.build import problem_from_texts
    from paretosoc.dse.tools.analysis.compare_baselines import compare
    from paretosoc.platforms.io.platform_file import load_platform

    chip = load_platform(platform)
    coarse = given["groups"] is None
    objectives = [_compared(objective, given["scenario"]), "energy"]
    given = _narrowed(given, chip, coarse=coarse) | {"objectives": objectives}
    built = problem_from_texts(networks, platform, given).built
    result = compare(
        built, chip.name, max_nodes=max_nodes, time_limit_s=time_limit, seed=seed, jobs=None
    )
    if as_json:
        print_json(_document(result))
        return
    _print(result, f"{chip.name} in {built.precision.upper()}", coarse=coarse)


def _compared(objective: str | None, scenario: Scenario | None) -> str:
    """Return the objective that is compared."""
    from paretosoc.dse.baselines.evaluate_all import COMPARED
    from paretosoc.dse.workload.objectives import OF_A_FRAME, OF_A_STREAM

    known = [kind.value for kind in COMPARED]
    if objective is not None and objective not in known:
        raise WorkloadError(
            f"--objective: one of {', '.join(known)} is required, got {objective!r}"
        )
    return objective or (OF_A_STREAM if scenario is Scenario.STREAM else OF_A_FRAME)[0]


def _narrowed(given: Given, chip: Platform, *, coarse: bool) -> Given:
    """Return options with two accelerators, the fastest clocks and few groups as defaults."""
    from paretosoc.dse.tools.analysis.compare_baselines import two_accelerators

    pair = two_accelerators(chip, given["runtime"])
    asked = given["fixed"] or []
    named = {text.partition("=")[0] for text in asked}
    fixed = [f"{domain.name}=max" for domain in chip.domains if domain.name not in named]
    default_units = None if pair is None else ",".join(pair)
    return given | {
        "groups": DEFAULT_GROUPS if coarse else given["groups"],
        "units": default_units if given["units"] is None else given["units"],
        "fixed": [*fixed, *asked],
    }


def _rows(result: Comparison) -> list[tuple[BaselineRow, bool]]:
    """Return every row of the table, and whether it is the best baseline."""
    rows = [(entry, entry.name == result.best) for entry in result.methods]
    return [*rows, (result.optimum, False)]


def _document(result: Comparison) -> dict[str, object]:
    from paretosoc.dse.tools.analysis.compare_baselines import rate_sum

    names = result.problem.objective_names
    best = dict(zip(names, result.optimum.member.objectives, strict=True))
    units = [unit.name for unit in result.problem.units]
    return {
        "networks": [
            {
                "name": network.name,
                "groups": len(network.group_names),
                "repeats": network.repeats,
                "waits_for": [result.problem.networks[n].name for n in network.waits_for],
            }
            for network in result.problem.networks
        ],
        "units": units,
        "best_baseline": result.best,
        "left_out": list(result.left_out),
        "methods": [
            {
                "name": entry.name,
                "label": entry.label,
                "best_baseline": is_best,
                "breaks": list(entry.breaks),
                "gain": entry.gain,
                "makespan_ps": entry.member.makespan_ps,
                "latencies_ps": list(entry.member.latencies_ps),
                "rate_sum_per_s": rate_sum(entry.member),
                "energy_fj": entry.member.energy_fj,
                "objectives": dict(zip(names, entry.member.objectives, strict=True)),
                "mapping": {
                    network.name: [units[entry.member.design.units[g]] for g in network.groups]
                    for network in result.problem.networks
                },
            }
            for entry, is_best in _rows(result)
        ],
        "certificate": (
            None
            if result.claim is None
            else {
                "status": result.claim.status.value,
                "objective": result.claim.objectives[0],
                "optimum": best[result.claim.objectives[0]],
                "epsilon_ppm": result.claim.epsilon_ppm,
                "lemmas": result.claim.lemmas,
                "nodes": result.claim.nodes,
                "solvers": list(result.claim.solvers),
            }
        ),
    }


def _print(result: Comparison, where: str, *, coarse: bool) -> None:
    from paretosoc.dse.baselines.evaluate_all import compared_objective
    from paretosoc.dse.certificate.summary import describe_claim
    from paretosoc.results.text.space_description import describe_space

    problem = result.problem
    repeats = [f"{n.name} x {n.repeats}" if n.repeats > 1 else n.name for n in problem.networks]
    compared = problem.objectives[compared_objective(problem)].label(problem)
    show(f"{', '.join(repeats)} on {where}")
    show(f"Space of this table: {describe_space(problem)}")
    show(_table(result))
    best = next((entry.label for entry, is_best in _rows(result) if is_best), None)
    against = "the optimum: no baseline keeps all constraints"
    if best is not None:
        against = f"{best}, the best baseline (bold)"
    show(
        f"gain: by how much the {compared} is better than that of {against}. Eq. 10 "
        "(HaX-CoNN): the sum of 1 / latency over the networks; larger is better."
    )
    if coarse:
        show(
            f"Cut into about {DEFAULT_GROUPS} groups per network, so that the optimum can be "
            "proved; 'dse explore' cuts finer unless --groups is given, and may find better."
        )
    for entry in result.methods:
        if entry.breaks:
            show(f"{entry.label} breaks: {', '.join(entry.breaks)}")
    for label in result.left_out:
        show(f"{label} does not apply to this workload")
    if result.claim is None:
        show("The optimum is the best that was found: nothing is proved of it")
    else:
        show(describe_claim(problem, result.claim, result.optimum.member.objectives))


def _table(result: Comparison) -> Table:
    from paretosoc.common.tables import plain_table
    from paretosoc.dse.tools.analysis.compare_baselines import rate_sum
    from paretosoc.results.text.member_diff import groups_by_unit

    problem = result.problem
    rows = [entry for entry, _ in _rows(result)]
    columns = [
        ("method", [entry.label for entry in rows]),
        (">latency\nms", [f"{entry.member.makespan_ps / PS_PER_MS:.3f}" for entry in rows]),
        (">Eq. 10\ninferences/s", [f"{rate_sum(entry.member):.1f}" for entry in rows]),
    ]
    for place, objective in enumerate(problem.objectives):
        if objective.kind is ObjectiveKind.THROUGHPUT:
            values = [entry.member.objectives[place] for entry in rows]
            columns.append((">throughput\nimages/s", objective.format(values)))
    columns += [
        (">energy\nmJ", [f"{entry.member.energy_fj / FJ_PER_MJ:.1f}" for entry in rows]),
        (">gain\n%", [f"{100 * entry.gain:+.1f}" for entry in rows]),
        (">transi-\ntions", [str(problem.transition_count(s.member.design)) for s in rows]),
        (
            "groups on units",
            [
                ", ".join(f"{unit} {n}" for unit, n in groups_by_unit(problem, s.member).items())
                for s in rows
            ],
        ),
    ]
    table = plain_table(*(heading for heading, _ in columns), no_wrap=True)
    for row, (entry, is_best) in enumerate(_rows(result)):
        bold = is_best or entry is result.optimum
        table.add_row(*(cells[row] for _, cells in columns), style="bold" if bold else None)
    return table
