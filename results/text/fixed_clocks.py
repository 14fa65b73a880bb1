"""Clock domains that a search leaves alone, and why, as text."""

from __future__ import annotations

from paretosoc.results.problem.problem import Problem


def describe_fixed_clocks(problem: Problem) -> str | None:
    """Return ``cpu at 1190.4 MHz (no unit of gpu, dla0 runs on it, and it is never off); emc at
    2133 MHz (fixed)``: all domains that have several operating points and may run at one only, or
    None if there is none."""
    used = {clock for unit in problem.units for clock in unit.clocks} | {problem.memory_domain}
    parked: list[str] = []
    fixed: list[str] = []
    for d, domain in enumerate(problem.domains):
        if len(domain.frequencies_khz) == 1 or domain.allowed.sum() != 1:
            continue
        khz = domain.frequencies_khz[int(domain.allowed.argmax())]
        (fixed if d in used else parked).append(f"{domain.name} at {khz / 1000:g} MHz")
    parts = []
    if parked:
        units = ", ".join(dict.fromkeys(unit.unit_name for unit in problem.units))
        they = "it is" if len(parked) == 1 else "they are"
        parts.append(f"{', '.join(parked)} (no unit of {units} runs on it, and {they} never off)")
    if fixed:
        parts.append(f"{', '.join(fixed)} (fixed)")
    return "; ".join(parts) if parts else None
