"""Options of a search beside networks and platform, as the user gave them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum
from fractions import Fraction

from paretosoc.common.text import did_you_mean
from paretosoc.dse.errors import WorkloadError
from paretosoc.results.problem.execution import IdleTime
from paretosoc.results.problem.objectives import Objective, ObjectiveKind

MIN_NUMBER, MAX_NUMBER = Fraction(1, 10**9), 10**9
"""Bounds of all quantities that a user gives, in the unit of the option."""

MAX_RELEASES = 1000
"""Of a network with a rate in the period of all."""

_SIMPLE = {kind.value: kind for kind in ObjectiveKind}


class ThroughputModel(Enum):
    """Definition of a pipeline's throughput. Values are the names on the command line."""

    TIMELINE = "timeline"
    """Simulated: contention, transitions and a limited number of frames in flight."""
    ANALYTIC = "analytic"
    """In closed form, with the channels between units."""
    ANALYTIC_ALL_CHANNELS = "analytic-all-channels"
    """In closed form, with all channels."""


@dataclass(frozen=True)
class Options:
    """Choices of a run. None stands for an option that was not given.

    ``objectives``: none for the usual ones of the workload. ``fixed``: domain -> ``max``, ``min``
    or a frequency in MHz, as written. ``precision``: a number format, or several separated by
    commas, among which groups choose. ``deadlines_ms``: network, or None for all -> milliseconds.
    ``deadlines_95_ms``, ``max_jitters_ms``, ``max_misses``: likewise, of responses of networks with
    rates. ``memory_caps_mb``: memory pool, or None for all together -> megabytes.
    ``max_losses_percent``: network, or None for all -> largest loss of accuracy. ``min_rates_hz``:
    network, or None for all -> least images per second, of networks that run freely. ``pins``:
    network -> (first, last, unit).
    """

    objectives: tuple[str, ...] = ()
    groups: int | None = None
    branches: bool = False
    each_layer: bool = False
    max_transitions: int | None = None
    units: tuple[str, ...] | None = None
    fixed: tuple[tuple[str, str], ...] = ()
    precision: str | None = None
    power_cap_w: Fraction | None = None
    memory_caps_mb: tuple[tuple[str | None, Fraction], ...] = ()
    energy_budget_mj: Fraction | None = None
    deadlines_ms: tuple[tuple[str | None, Fraction], ...] = ()
    deadlines_95_ms: tuple[tuple[str | None, Fraction], ...] = ()
    max_jitters_ms: tuple[tuple[str | None, Fraction], ...] = ()
    max_misses: tuple[tuple[str | None, int], ...] = ()
    max_losses_percent: tuple[tuple[str | None, Fraction], ...] = ()
    min_rates_hz: tuple[tuple[str | None, Fraction], ...] = ()
    frames_per_second: Fraction | None = None
    pins: tuple[tuple[str, int, int, str], ...] = ()
    throughput_model: ThroughputModel = ThroughputModel.TIMELINE
    pipeline_time: IdleTime = IdleTime.PERIOD
    free_running: bool = False
    frames_in_flight: int | None = None
    search_priorities: bool = False


def parse_objective(text: str, network_names: tuple[str, ...]) -> Objective:
    """Parse an objective: ``latency``, ``latency:NETWORK``, ``inverse-latency``, ``throughput``,
    ``energy``, ...

    An objective that always belongs to one network may be given without it. It is then that of the
    only network that continues another (:func:`dse.problem.build.build_problem`).

    Raises:
        WorkloadError: on an unknown name. The nearest names are suggested.
    """
    kind, colon, network = text.partition(":")
    if kind not in _SIMPLE or (colon and not _SIMPLE[kind].spec.of_one_network):
        raise WorkloadError(
            f"objective {text!r} is not known ({did_you_mean(kind, _SIMPLE)}; these take :NETWORK: "
            f"{', '.join(name for name, kind in _SIMPLE.items() if kind.spec.of_one_network)})"
        )
    if not colon:
        return Objective(_SIMPLE[kind])
    if network not in network_names:
        raise WorkloadError(
            f"objective {text!r}: there is no network {network!r} in the workload "
            f"(there are {', '.join(network_names)})"
        )
    return Objective(_SIMPLE[kind], network_names.index(network))


def parse_fixed(text: str, option: str = "--fix") -> tuple[str, str]:
    """Parse ``emc=max`` into (``emc``, ``max``).

    Raises:
        WorkloadError: if it is not of the form DOMAIN=MHZ, DOMAIN=max or DOMAIN=min.
    """
    domain, equals, value = text.partition("=")
    if not equals or not domain or not value:
        raise WorkloadError(
            f"{option}: DOMAIN=MHZ, DOMAIN=max or DOMAIN=min is required, got {text!r}"
        )
    return domain, value


def parse_number(text: str) -> Fraction | None:
    """Return a decimal number, or a quotient of integers such as 1/30, exactly. Return None for any
    other text, and for a number out of range.

    The range is below 10^12, and at most a hundred places.
    """
    if re.fullmatch(r"[0-9]{1,12}/0*[1-9][0-9]{0,11}", text):
        return Fraction(text)
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    # Looked at before it becomes a fraction: 1e999999999 would take all memory.
    if not number.is_finite() or (number and not -100 <= number.adjusted() < 12):
        return None
    return Fraction(number) if number else Fraction(0)


def parse_positive(text: str, what: str) -> Fraction:
    """Return a positive decimal number, exactly.

    Raises:
        WorkloadError: if it is none, below 10^-9 or above 10^9.
    """
    value = parse_number(text)
    if value is None or not MIN_NUMBER <= value <= MAX_NUMBER:
        raise WorkloadError(f"{what}: a number from 10^-9 to 10^9 is required, got {text!r}")
    return value


def parse_pin(text: str) -> tuple[str, int, int, str]:
    """Parse ``NETWORK:3-7=UNIT`` or ``NETWORK:3=UNIT`` into (network, 3, 7, unit). Groups count
    from 0.

    Raises:
        WorkloadError: on any other form.
    """
    place, equals, unit = text.rpartition("=")
    network, colon, groups = place.rpartition(":")
    found = re.fullmatch("([0-9]{1,9})(?:-([0-9]{1,9}))?", groups)
    if not (equals and unit and colon and network and found):
        raise WorkloadError(
            f"--pin: NETWORK:FIRST-LAST=UNIT with group numbers from 0 is required, got {text!r}"
        )
    first, last = int(found[1]), int(found[2] or found[1])
    if last < first:
        raise WorkloadError(f"--pin {text!r}: the last group lies before the first")
    return network, first, last, unit
