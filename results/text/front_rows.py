"""A front's members as rows of plain data, for JSON and LaTeX, and fronts and schedules as pandas
tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from paretosoc.common.units import FJ_PER_MJ, PS_PER_MS
from paretosoc.results.front.choices import Choices, choose
from paretosoc.results.front.front import Front, Member
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.io.optional import optional_import
from paretosoc.results.problem.execution import SearchedOrder
from paretosoc.results.problem.objectives import displayed, format_number
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.rates import member_relative_ppm
from paretosoc.results.text.member_diff import clocks_mhz, groups_by_unit

if TYPE_CHECKING:
    from pandas import DataFrame

    from paretosoc.results.front.schedule import Schedule, ScheduledGroup

Row = dict[str, Any]


def table_rows(front: Front, choices: Choices) -> list[Row]:
    """Return one row per choice, as plain data for JSON.

    Keys: ``member`` (position in ``front.json``), ``marks``, ``stands_for`` (how many members),
    ``objectives`` (integers, all minimised), ``display`` (label with unit to value: ms, mJ, W,
    rates), ``robust`` (the same of the front's measure, null without one), ``groups_by_unit``,
    ``clocks_mhz`` (null if off), ``priorities`` (by network, of all or each of its groups, null
    unless they are searched), ``transitions``, ``responses`` (null without rates of networks, else
    per network ``longest_ps``, ``percentile_95_ps``, ``jitter_ps``, ``misses``), ``rates`` (null if
    networks share a frame, else per network ``uhz`` and ``relative_ppm``, its share of its rate
    alone).
    """
    problem = front.problem
    marks = mark_members(front)
    names = problem.objective_names
    networks = [network.name for network in problem.networks]
    searches = problem.searched_order is not None
    return [
        {
            "member": i,
            "marks": list(marks.get(i, ())),
            "stands_for": choices.counts[i],
            "objectives": dict(zip(names, member.objectives, strict=True)),
            "display": displayed(problem, member.objectives),
            "robust": None if member.robust is None else displayed(problem, member.robust),
            "groups_by_unit": groups_by_unit(problem, member),
            "clocks_mhz": clocks_mhz(problem, member),
            "priorities": dict(zip(networks, problem.priorities(member.design), strict=True))
            if searches
            else None,
            "transitions": problem.transition_count(member.design),
            "responses": _responses(problem, member),
            "rates": _rates(problem, member),
        }
        for i, member in ((entry.member, front.members[entry.member]) for entry in choices.entries)
    ]


def _responses(problem: Problem, member: Member) -> dict[str, dict[str, int]] | None:
    if member.responses is None:
        return None
    entries = zip(problem.networks, member.latencies_ps, member.responses, strict=True)
    return {
        network.name: {"longest_ps": longest, **asdict(entry)}
        for network, longest, entry in entries
    }


def _rates(problem: Problem, member: Member) -> dict[str, dict[str, int]] | None:
    if member.free_run is None:
        return None
    shares = member_relative_ppm(problem, member)
    return {
        network.name: {"images_uhz": uhz, "relative_ppm": ppm}
        for network, uhz, ppm in zip(
            problem.networks, member.free_run.rates_uhz(problem.images), shares, strict=True
        )
    }


def front_latex(front: Front, choices: Choices) -> str:
    """Return the choices as a ``tabular`` for LaTeX: position, names, objectives."""
    from paretosoc.common.tables import tabular

    rows = [
        [str(row["member"]), ", ".join(row["marks"]), *map(format_number, row["display"].values())]
        for row in table_rows(front, choices)
    ]
    titles = [objective.title(front.problem) for objective in front.problem.objectives]
    return tabular(f"rl{'r' * len(titles)}", ["member", "name", *titles], rows)


EXTRA = "notebooks"


def front_frame(front: Front) -> DataFrame:
    """Return a row per member, its position the index: objectives with their units, those of a
    front's measure (``p90 of latency [ms]``), ``marks``, groups on each unit (``groups_on_gpu``),
    clocks (``gpu_mhz``, NaN if off), priorities if each network has one (``vgg19_priority``),
    ``transitions``, energies. Networks that run freely each add their rate (``vgg19_hz``) and its
    share of the rate alone (``vgg19_of_alone``). Networks with rates add the longest response, 95th
    percentile and jitter, and misses (``vgg19_longest_ms``, ``vgg19_percentile_95_ms``,
    ``vgg19_jitter_ms``, ``vgg19_misses``). ``makespan_ms``: the end of the last execution.

    Raises:
        ResultError: if pandas is not installed.
    """
    pandas = optional_import("pandas", extra=EXTRA, purpose="to_pandas")
    problem = front.problem
    measure = None if front.robust is None else front.robust.measure
    rows: list[dict[str, Any]] = []
    for row, member in zip(table_rows(front, choose(front, 0)), front.members, strict=True):
        display, groups, clocks = row["display"], row["groups_by_unit"], row["clocks_mhz"]
        robust, responses = row["robust"] or {}, row["responses"] or {}
        rates, priorities = row["rates"] or {}, row["priorities"] or {}
        rows.append(
            {
                **display,
                **{f"{measure} of {name}": robust[name] for name in robust},
                "marks": ", ".join(row["marks"]),
                **{f"groups_on_{unit.name}": groups.get(unit.name, 0) for unit in problem.units},
                **{f"{name}_mhz": clock for name, clock in clocks.items()},
                **{
                    f"{name}_priority": levels[0]
                    for name, levels in priorities.items()
                    if problem.searched_order is SearchedOrder.NETWORKS
                },
                "transitions": row["transitions"],
                "makespan_ms": member.makespan_ps / PS_PER_MS,
                "energy_mj": member.energy_fj / FJ_PER_MJ,
                **{f"{name}_hz": rate["images_uhz"] / 1e6 for name, rate in rates.items()},
                **{
                    f"{name}_{figure.replace('_ps', '_ms')}": (
                        value / PS_PER_MS if figure.endswith("_ps") else value
                    )
                    for name, entry in responses.items()
                    for figure, value in entry.items()
                },
                **{f"{name}_of_alone": rate["relative_ppm"] / 1e6 for name, rate in rates.items()},
            }
        )
    frame = pandas.DataFrame(rows)
    frame.index.name = "member"
    clock_columns = [f"{domain.name}_mhz" for domain in problem.domains]
    if rows:
        frame[clock_columns] = frame[clock_columns].astype(float)
    return frame


def schedule_frame(schedule: Schedule, problem: Problem | None = None) -> DataFrame:
    """Return a row per execution: frame, network, repeat, group, unit, and the instants in ps. With
    ``problem``, networks and units have their names and ``group`` is counted within its network.
    Without it, all three are indices. ``contention_ps`` is the time that contention adds,
    ``waited_ps`` the time from ready to start.

    Raises:
        ResultError: if pandas is not installed.
    """
    pandas = optional_import("pandas", extra=EXTRA, purpose="to_pandas")
    return pandas.DataFrame(
        {
            **(row._asdict() if problem is None else _named(row, problem)),
            "contention_ps": row.contention_ps,
            "waited_ps": row.waited_ps,
        }
        for row in schedule.groups
    )


def _named(row: ScheduledGroup, problem: Problem) -> dict[str, Any]:
    network, unit = problem.networks[row.network], problem.units[row.unit].name
    own = {"network": network.name, "group": row.group - network.first_group, "unit": unit}
    return row._asdict() | own
