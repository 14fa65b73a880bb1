"""A power mode for nvpmodel with the clocks of a member, and the board's own modes beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from paretosoc.common.units import FJ_PER_MJ, PS_PER_MS
from paretosoc.platforms.deployment import PowerMode, PowerModes
from paretosoc.results.deploy.deployment import Deployment, as_target
from paretosoc.results.deploy.sysfs_script import uncontrolled
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.objectives import format_number
from paretosoc.results.problem.problem import Problem

_CORE = re.compile(r".*/cpu([0-9]+)/online")


@dataclass(frozen=True)
class ModeCost:
    """A mode of the board, every clock at its cap, for the mapping of a member."""

    mode: PowerMode
    clocks_khz: tuple[tuple[str, int | None], ...]
    """By domain. None: off, in the mode or because nothing is mapped to it."""
    distance: float | None
    """Largest abs(log(figure / the member's)) of the times and the energy. None without figures."""
    times_ps: tuple[int, ...] | None
    """The times of :func:`times_of`, or None if the mapping cannot run in this mode, or is
    overloaded."""
    energy_fj: int | None
    """Energy of a frame or, with rates, of a period."""
    remarks: tuple[str, ...]
    """Why it cannot run, or why it takes longer than these figures, or limits that break."""

    @property
    def is_exact(self) -> bool:
        """Return whether the figures hold as they stand."""
        return self.times_ps is not None and not self.remarks


def times_of(problem: Problem, makespan_ps: int, latencies_ps: Sequence[int]) -> tuple[int, ...]:
    """Return the times that modes are compared by: the makespan, or with rates the longest response
    of each network."""
    return tuple(latencies_ps) if problem.has_rates else (makespan_ps,)


def power_modes(deployment: Deployment) -> PowerModes:
    """Return the platform's data for nvpmodel.

    Raises:
        ResultError: if the board has none.
    """
    if deployment.board.power_modes is None:
        hint = f"{as_target('json')} has the clocks for a tool of your own"
        if not uncontrolled(deployment.platform):
            hint = f"{as_target('sysfs')} sets its clocks"
        raise ResultError(
            f"nvpmodel cannot serve {deployment.platform.name}: no power modes are known of it; "
            f"{hint}"
        )
    return deployment.board.power_modes


def nearest_mode(costs: Sequence[ModeCost]) -> ModeCost | None:
    """Return the mode whose times and energy are nearest. If some modes have exact figures, only
    these count.

    None if the mapping runs in no mode.
    """
    able = [cost for cost in costs if cost.distance is not None]
    exact = [cost for cost in able if cost.is_exact]
    return min(exact or able, key=lambda cost: (cost.distance or 0, cost.mode.number), default=None)


def nearest_among(costs: Sequence[ModeCost]) -> str:
    """Return, in words, that :func:`nearest_mode` is one of fewer than all modes that can run the
    mapping."""
    able = [cost.is_exact for cost in costs if cost.times_ps is not None]
    return " without remarks" if any(able) and not all(able) else ""


def mode_cost_words(deployment: Deployment, cost: ModeCost) -> str:
    """Return the cost of a mode against the member's own clocks, in a line."""
    start = f"mode {cost.mode.number} ({cost.mode.name}): "
    if cost.times_ps is None or cost.energy_fj is None:
        return start + "; ".join(cost.remarks)
    problem, member = deployment.problem, deployment.member
    own = (*times_of(problem, member.makespan_ps, member.latencies_ps), member.energy_fj)
    values = (*cost.times_ps, cost.energy_fj)
    figures = ", ".join(
        f"{text} ({100 * (value - base) / base:+.1f} %)"
        for text, value, base in zip(_figures(problem, values), values, own, strict=True)
        if base
    )
    return start + "; ".join((figures, *cost.remarks))


def _figures(problem: Problem, values: Sequence[int]) -> list[str]:
    """Return times and the energy behind them as ``12.3 ms`` and ``456 mJ``. With rates, return
    ``detect at most 12.3 ms`` for each network."""
    *times_ps, energy_fj = values
    names = [f"{n.name} at most " for n in problem.networks] if problem.has_rates else [""]
    pairs = zip(names, times_ps, strict=True)
    texts = [f"{name}{format_number(ps / PS_PER_MS)} ms" for name, ps in pairs]
    return [*texts, f"{format_number(energy_fj / FJ_PER_MJ)} mJ"]


def nvpmodel_section(
    deployment: Deployment, modes: PowerModes, costs: Sequence[ModeCost], *, from_file: bool
) -> str:
    """Return the section, with the cost of the board's own modes in comments.

    Args:
        modes: the names to use, and the settings that are no clocks.
        from_file: whether ``modes`` were read from the board's own file.

    Raises:
        ResultError: if a clock of the member has no parameter.
    """
    number = max(mode.number for mode in modes.modes) + 1
    problem, member = deployment.problem, deployment.member
    values = (*times_of(problem, member.makespan_ps, member.latencies_ps), member.energy_fj)
    own = [text for text, value in zip(_figures(problem, values), values, strict=True) if value]
    nearest = nearest_mode(costs)
    lines = [
        f"# Clocks of {deployment.title}.",
        "# Append this to the board's own nvpmodel file (a copy of it kept aside), then:",
        f"#   sudo nvpmodel -m {number}",
        "# MAX_FREQ alone is a cap: a clock that has no MIN_FREQ here may run slower than that.",
        "# The script of '--to sysfs' holds all clocks where they are.",
        "#",
    ]
    if not from_file:
        others = [
            f"{' '.join(names)} instead of {' '.join(p.names[0])}"
            for p in modes.parameters
            for names in p.names[1:]
        ]
        lines += [
            "# The names are those of the usual release, and not all that a mode can set is here;",
            "# '--conf FILE' takes names, number and the rest from the board's own file.",
            *(f"# Another release may have {text}." for text in others),
            "#",
        ]
    lines += [
        f"# These clocks: {', '.join(own)} a {'period' if problem.has_rates else 'frame'}. The "
        "board's modes, clocks at their",
        "# caps (as jetson_clocks holds them), the same mapping, by the same model:",
        *(f"#   {mode_cost_words(deployment, cost)}" for cost in costs),
    ]
    if nearest is not None:
        name = f"mode {nearest.mode.number} ({nearest.mode.name})"
        lines.append(f"# Nearest figures, of the modes{nearest_among(costs)}: {name}.")
    lines += ["", f"< POWER_MODEL ID={number} NAME=PARETOSOC_{deployment.index} >"]
    return "\n".join([*lines, *_mode_lines(deployment, modes)]) + "\n"


def _mode_lines(deployment: Deployment, modes: PowerModes) -> list[str]:
    clocks = deployment.clocks_khz
    by_domain = {parameter.domain: parameter for parameter in modes.parameters}
    controls = {control.domain: control.online for control in deployment.board.controls}
    offline: set[str] = set()
    lines: list[str] = []
    for domain, khz in clocks.items():
        if domain not in by_domain:
            raise ResultError(
                f"nvpmodel cannot serve {deployment.platform.name}: it has no parameter for "
                f"{domain!r}; use {as_target('sysfs')}"
            )
        files = map(_CORE.fullmatch, controls.get(domain, ()))
        cores = [f"CORE_{match[1]}" for match in files if match]
        if khz is None and cores:
            # Clusters that are off are not named.
            offline.update(cores)
            continue
        slowest = deployment.platform.domain_by_name[domain].operating_points[0].frequency_khz
        parameter = by_domain[domain]
        value = (slowest if khz is None else khz) * 1000 // parameter.hertz
        limits = ("MIN_FREQ", "MAX_FREQ") if parameter.has_minimum else ("MAX_FREQ",)
        lines += [f"{name} {limit} {value}" for name in parameter.names[0] for limit in limits]
    settings = [
        f"CPU_ONLINE {line.split()[1]} 0" if line.split()[1] in offline else line
        for line in modes.settings
    ]
    return settings + lines
