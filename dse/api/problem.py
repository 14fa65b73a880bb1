"""A problem: networks that share a chip, objectives, and constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

from paretosoc.dse.baselines.repeat_matching import balanced as with_matched_repeats
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.arguments import (
    check_arguments,
    check_keywords,
    check_type,
    choice,
    wrong_argument,
)
from paretosoc.dse.problem.build import BuiltProblem, build_problem
from paretosoc.dse.problem.cost_provenance import cost_origins
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import (
    Options,
    ThroughputModel,
    parse_positive,
)
from paretosoc.dse.workload.parse_options import with_batches
from paretosoc.dse.workload.per_network import (
    DEADLINE,
    DEADLINE_95,
    MAX_JITTER,
    MAX_LOSS,
    MAX_MISSES,
    MEMORY_CAP,
    MIN_RATE,
    in_whole,
)
from paretosoc.dse.workload.scenarios import Scenario, apply_scenario
from paretosoc.dse.workload.workload import Workload
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.profiles.loss_table import LossTable, load_losses
from paretosoc.fitness.profiles.profile_file import Profile, load_profile
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.problem.execution import IdleTime
from paretosoc.results.problem.objectives import objective_label
from paretosoc.results.problem.problem import Problem as NumericProblem

if TYPE_CHECKING:
    from pymoo.core.problem import Problem as PymooProblem

Networks = str | Path | Sequence[str | Path] | Workload
Number = int | float | str | Fraction


@dataclass(frozen=True, eq=False, init=False)
class Problem:
    """Networks on a chip with objectives and constraints: the input of :func:`dse.explore`.

    Example:
        >>> import paretosoc as dse
        >>> problem = dse.Problem(["vgg19", "resnet50"], "jetson-agx-xavier",
        ...                       units=["gpu", "dla0"], fixed={"emc": "max"}, max_transitions=2)
        >>> front = dse.explore(problem, dse.NSGA2(population=200), max_evaluations=20_000, seed=1)
    """

    workload: Workload
    platform: Platform
    options: Options
    built: BuiltProblem
    """The numeric problem, and the networks and costs that it was built from."""

    def __init__(
        self,
        networks: Networks,
        platform: str | Path | Platform,
        *,
        objectives: str | Sequence[str] | None = None,
        groups: int | None = None,
        branches: bool = False,
        each_layer: bool = False,
        max_transitions: int | None = None,
        units: str | Sequence[str] | None = None,
        fixed: Mapping[str, str | int | float] | None = None,
        precision: str | Sequence[str] | None = None,
        power_cap_w: Number | None = None,
        memory_cap_mb: Number | Mapping[str, Number] | None = None,
        energy_budget_mj: Number | None = None,
        deadline_ms: Number | Mapping[str, Number] | None = None,
        deadline_95_ms: Number | Mapping[str, Number] | None = None,
        max_jitter_ms: Number | Mapping[str, Number] | None = None,
        max_misses: int | Mapping[str, int] | None = None,
        max_accuracy_loss_percent: Number | Mapping[str, Number] | None = None,
        min_rate_hz: Number | Mapping[str, Number] | None = None,
        frames_per_second: Number | None = None,
        pins: Mapping[str, Mapping[tuple[int, int], str]] | None = None,
        free_running: bool = False,
        frames_in_flight: int | None = None,
        search_priorities: bool = False,
        profile: str | Path | Profile | None = None,
        losses: str | Path | LossTable | None = None,
        batch: int | Mapping[str, int] | None = None,
        scenario: str | Scenario | None = None,
        match_repeats: bool = False,
        throughput_model: str | ThroughputModel = ThroughputModel.TIMELINE,
        pipeline_time: str | IdleTime = IdleTime.PERIOD,
        **unknown: Never,
    ) -> None:
        """Build a problem from names, files or objects.

        Args:
            networks: a name of the catalogue, an ``.onnx`` file, ``NAME*COPIES``, several of these,
                one workload file, or a :class:`dse.Workload`.
            platform: a name, a file, or a :class:`dse.Platform`.
            objectives: one or more of ``latency``, ``latency:NETWORK``, ``inverse-latency``,
                ``throughput``, ``energy``, ``power``, ``efficiency``, ``stretch``, ``fairness``,
                ``accuracy-loss``, ``memory``. With rates of networks also ``relative-response``,
                ``response``, ``response-95``,
                ``jitter``, ``misses``. Default: latency and energy, or relative-response and power
                with rates.
            groups: approximate number of groups per network.
            branches: make parallel branches groups of their own.
            each_layer: cut at every legal place.
            max_transitions: changes of unit per network, at most.
            units: the units to use. Default: all.
            fixed: domain -> ``max``, ``min`` or a frequency in MHz.
            precision: number format, or several that groups choose among. Default: the platform's.
            power_cap_w: mean power, at most.
            memory_cap_mb: memory for weights and activations, at most, in all or by memory pool.
            energy_budget_mj: energy per frame, at most.
            deadline_ms: latency, at most: for all networks, or network -> milliseconds.
            deadline_95_ms: 95th percentile of responses, at most, likewise. This limit and the next
                two apply to networks with rates.
            max_jitter_ms: longest response less the shortest, at most, likewise.
            max_misses: late responses in a period, at most: for all networks, or network -> number.
            min_rate_hz: images per second, at least, of free-running networks: for all, or
                network -> rate.
            max_accuracy_loss_percent: loss of accuracy, at most: for all networks, or network ->
                percent of the metric.
            frames_per_second: rate of a periodic workload. Energy counts over the period.
            pins: network -> {(first group, last group): unit}.
            free_running: every network starts its next frame when one of its own ends.
            frames_in_flight: frames (per network when free-running) under way at a time.
            search_priorities: the search chooses the networks' priorities.
            profile: the user's own measurements.
            losses: the accuracy that number formats cost, a table or its file (CSV).
            batch: images computed at once: for all networks, or network -> images.
            scenario: one of HaX-CoNN's: ``instances``, ``same-input`` or ``stream``.
            match_repeats: repeat faster networks so that all end at about the same time.
            throughput_model: of pipelines: ``timeline`` (simulated), or in closed form ``analytic``
                or ``analytic-all-channels``.
            pipeline_time: in closed form, how long units idle per frame: ``period`` or
                ``sum-of-loads``.

        Raises:
            GraphError, PlatformError, WorkloadError, ResultError: on input that cannot be used. All
                derive from :class:`dse.DseError`.
        """
        check_keywords("Problem", unknown, problem_keywords())
        check_arguments(
            groups=groups,
            branches=branches,
            each_layer=each_layer,
            max_transitions=max_transitions,
            free_running=free_running,
            frames_in_flight=frames_in_flight,
            search_priorities=search_priorities,
            match_repeats=match_repeats,
        )
        words = "a network, several of them, or a dse.Workload"
        check_type("networks", networks, str | Path | Sequence | Workload, words)
        check_type("platform", platform, str | Path | Platform, "a name, a file or a dse.Platform")
        check_type("profile", profile, str | Path | Profile | None, "a file")
        check_type("losses", losses, str | Path | LossTable | None, "a table or its file")
        chip = platform if isinstance(platform, Platform) else load_platform(str(platform))
        if isinstance(networks, str | Path):
            networks = [networks]
        workload = (
            networks
            if isinstance(networks, Workload)
            else workload_from([str(network) for network in _each_network(networks)])
        )
        workload = with_batches(workload, _texts(batch))
        measured = load_profile(profile, chip) if isinstance(profile, str | Path) else profile
        options = Options(
            objectives=() if objectives is None else _names(objectives, "objectives"),
            groups=groups,
            branches=branches,
            each_layer=each_layer,
            max_transitions=max_transitions,
            units=None if units is None else _names(units, "units"),
            fixed=_fixed(fixed),
            precision=precision
            if isinstance(precision, str | None)
            else ",".join(_names(precision, "precision")),
            power_cap_w=_exact(power_cap_w, "power_cap_w"),
            memory_caps_mb=MEMORY_CAP.parse_all(_texts(memory_cap_mb), "memory_cap_mb"),
            energy_budget_mj=_exact(energy_budget_mj, "energy_budget_mj"),
            deadlines_ms=DEADLINE.parse_all(_texts(deadline_ms), "deadline_ms"),
            deadlines_95_ms=DEADLINE_95.parse_all(_texts(deadline_95_ms), "deadline_95_ms"),
            max_jitters_ms=MAX_JITTER.parse_all(_texts(max_jitter_ms), "max_jitter_ms"),
            max_misses=in_whole(MAX_MISSES.parse_all(_texts(max_misses), "max_misses")),
            max_losses_percent=MAX_LOSS.parse_all(
                _texts(max_accuracy_loss_percent), "max_accuracy_loss_percent"
            ),
            min_rates_hz=MIN_RATE.parse_all(_texts(min_rate_hz), "min_rate_hz"),
            frames_per_second=_exact(frames_per_second, "frames_per_second"),
            pins=_pins(pins),
            free_running=free_running,
            frames_in_flight=frames_in_flight,
            search_priorities=search_priorities,
            throughput_model=choice("throughput_model", ThroughputModel, throughput_model),
            pipeline_time=choice("pipeline_time", IdleTime, pipeline_time),
        )
        self._assemble(
            workload,
            chip,
            options,
            profile=measured,
            losses=load_losses(losses) if isinstance(losses, str | Path) else losses,
            scenario=None if scenario is None else choice("scenario", Scenario, scenario),
            match_repeats=match_repeats,
        )

    @classmethod
    def from_options(
        cls,
        workload: Workload,
        platform: Platform,
        options: Options,
        *,
        profile: Profile | None = None,
        losses: LossTable | None = None,
        scenario: Scenario | None = None,
        match_repeats: bool = False,
    ) -> Problem:
        """Build a problem from options that are parsed already, as the commands have them.

        Raises:
            DseError: on input that cannot be used.
        """
        self = cls.__new__(cls)
        self._assemble(
            workload,
            platform,
            options,
            profile=profile,
            losses=losses,
            scenario=scenario,
            match_repeats=match_repeats,
        )
        return self

    def _assemble(
        self,
        workload: Workload,
        platform: Platform,
        options: Options,
        *,
        profile: Profile | None,
        losses: LossTable | None,
        scenario: Scenario | None,
        match_repeats: bool,
    ) -> None:
        """Read, group and cost the networks, and assemble the numeric problem."""
        if scenario is not None:
            workload = apply_scenario(workload, scenario)
        if match_repeats and (options.free_running or workload.free_running):
            raise WorkloadError(
                "--balance and free-running networks exclude each other: each runs as often as it "
                "can"
            )
        if match_repeats and any(network.rate_hz is not None for network in workload.networks):
            raise WorkloadError("--balance and rate_hz (of networks) exclude each other")
        built = build_problem(workload, platform, options, profile=profile, losses=losses)
        if match_repeats:
            built = replace(built, problem=with_matched_repeats(built.problem))
        for name, value in (
            ("workload", workload),
            ("platform", platform),
            ("options", options),
            ("built", built),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        names = ", ".join(network.name for network in self.workload.networks)
        goals = ", ".join(
            objective_label(self.numeric, objective) for objective in self.numeric.objectives
        )
        count = self.numeric.group_count
        return f"<dse.Problem: {names} on {self.platform.name}, {count} groups; {goals}>"

    @property
    def numeric(self) -> NumericProblem:
        """Return costs, domains and constraints in integers, for the search and its check."""
        return self.built.problem

    @cached_property
    def costs(self) -> CostOrigins:
        """Return the origin of the cost of every group on every unit."""
        return cost_origins(self.built)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings of the import of the networks and the profile."""
        return self.built.warnings

    def as_pymoo(self) -> PymooProblem:
        """Return this problem for pymoo: integer variables, vectorised, all objectives minimised.

        Variables are a unit for every group, then an operating point for every domain. ``F`` holds
        the objectives in their integer units (:mod:`results.problem.objectives`), ``G`` one column
        per constraint, positive if it is broken, and a last one for units that cannot run a group.
        ``problem.operators()`` of the result returns sampling, crossover, mutation and duplicate
        elimination that keep rows inside the space.

        Example:
            >>> from pymoo.algorithms.moo.nsga2 import NSGA2
            >>> from pymoo.optimize import minimize
            >>> pymoo_problem = problem.as_pymoo()
            >>> algorithm = NSGA2(pop_size=100, **pymoo_problem.operators())
            >>> result = minimize(pymoo_problem, algorithm, ("n_gen", 50), seed=1)
        """
        from paretosoc.dse.search.optimizers.pymoo_adapters import DesignProblem

        return DesignProblem(DesignSpace(self.numeric))


def _names(value: str | Sequence[str], what: str) -> tuple[str, ...]:
    """Return one name, or several."""
    names = (value,) if isinstance(value, str) else value
    names = tuple(names) if isinstance(names, Iterable) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise WorkloadError(f"{what}: one or more names are required, got {value!r}")
    return names


def problem_keywords() -> list[str]:
    """Names of the keyword arguments of :class:`Problem`."""
    parameters = signature(Problem.__init__).parameters.values()
    return [entry.name for entry in parameters if entry.kind is Parameter.KEYWORD_ONLY]


def unknown_keywords(given: Mapping[str, object]) -> dict[str, object]:
    """Return the names that are no keyword arguments of :class:`Problem`."""
    known = set(problem_keywords())
    return {name: value for name, value in given.items() if name not in known}


def _each_network(networks: Sequence[str | Path]) -> Sequence[str | Path]:
    for network in networks:
        check_type("networks", network, str | Path, "a name or a file for each")
    return networks


def _pins(value: object) -> tuple[tuple[str, int, int, str], ...]:
    words = "network -> {(first group, last group): unit}"
    check_type("pins", value, Mapping | None, words)
    pins = []
    for network, ranges in (value or {}).items():  # type: ignore[attr-defined]
        if not isinstance(network, str) or not isinstance(ranges, Mapping):
            raise wrong_argument("pins", words, value)
        for groups, unit in ranges.items():
            match groups, unit:
                case (int(first), int(last)), str():
                    pins.append((network, first, last, unit))
                case _:
                    raise wrong_argument("pins", words, value)
    return tuple(pins)


def _fixed(value: Mapping[str, str | int | float] | None) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping | None):
        raise WorkloadError(f"fixed: a mapping such as {{'gpu': 1377}} is required, got {value!r}")
    return tuple((domain, str(number)) for domain, number in (value or {}).items())


def _exact(value: Number | None, what: str) -> Fraction | None:
    """Return the number exactly as it is written in decimal."""
    return None if value is None else parse_positive(str(value), what)


def _texts(value: Number | Mapping[str, Any] | None) -> list[str]:
    """Return a number for all, or numbers by network or memory pool, as on the command line."""
    if isinstance(value, Mapping):
        return [f"{name}={number}" for name, number in value.items()]
    return [] if value is None else [str(value)]
