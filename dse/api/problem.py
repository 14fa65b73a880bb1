"""A problem: networks that share a chip, objectives, and constraints."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from paretosoc.common.text import pluralize
from paretosoc.dse.baselines.repeat_matching import balanced as with_matched_repeats
from paretosoc.dse.compile.load import check_address_space
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.arguments import check_keywords, check_type
from paretosoc.dse.problem.build import BuiltProblem, build_problem, cost_origins
from paretosoc.dse.problem.runtime_limits import with_defaults
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import FIELDS, Options, ProblemOptions, as_written
from paretosoc.dse.workload.read_options import read_options
from paretosoc.dse.workload.workload import Workload
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.profiles.loss_table import LossTable, load_losses
from paretosoc.fitness.profiles.profile_file import Profile, load_profile
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.problem.problem import Problem as NumericProblem

if TYPE_CHECKING:
    from pymoo.core.problem import Problem as PymooProblem

Networks = str | Path | Sequence[str | Path] | Workload


@dataclass(frozen=True, eq=False, init=False)
class Problem:
    """Networks on a chip with objectives and constraints: the input of :func:`dse.explore`.

    Examples:
        >>> import paretosoc as dse
        >>> problem = dse.Problem(["vgg19", "resnet50"], "jetson-agx-xavier",
        ...                       units=["gpu", "dla0"], fixed={"emc": "max"}, max_transitions=2)
        >>> front = dse.explore(problem, dse.NSGA2(population=200), max_evaluations=20_000, seed=1)
    """

    platform: Platform
    options: Options
    built: BuiltProblem
    """The numeric problem, and the networks and costs that it was built from."""

    def __init__(
        self, networks: Networks, platform: str | Path | Platform, **options: Unpack[ProblemOptions]
    ) -> None:
        """Build a problem from names, files or objects.

        Args:
            networks: a name of the catalogue, an ``.onnx`` file, a dataflow graph of SDF3
                (``.xml``), ``NAME*COPIES``, several of these, one workload file, or a
                :class:`dse.Workload`.
            platform: a name, a file, or a :class:`dse.Platform`.
            options: objectives, limits, and how networks are cut and run, as listed below
                and in the table of options.

        Raises:
            GraphError, PlatformError, WorkloadError, ResultError: on input that cannot be used. All
                derive from :class:`dse.DseError`.
        """
        check_keywords("Problem", unknown_keywords(options), FIELDS)
        words = "a network, several of them, or a dse.Workload"
        check_type("networks", networks, str | Path | Sequence | Workload, words)
        check_type("platform", platform, str | Path | Platform, "a name, a file or a dse.Platform")
        profile, losses = options.get("profile"), options.get("losses")
        check_type("profile", profile, str | Path | Profile | None, "a file")
        check_type("losses", losses, str | Path | LossTable | None, "a table or its file")
        chip = platform if isinstance(platform, Platform) else load_platform(str(platform))
        if isinstance(networks, str | Path):
            networks = [networks]
        workload = networks
        if not isinstance(workload, Workload):
            for network in workload:
                check_type("networks", network, str | Path, "a name or a file for each")
            workload = workload_from([str(network) for network in workload])
        self._assemble(workload, chip, read_options(options), profile, losses)

    @classmethod
    def from_options(
        cls,
        workload: Workload,
        platform: Platform,
        options: Options,
        *,
        profile: str | Path | Profile | None = None,
        losses: str | Path | LossTable | None = None,
    ) -> Problem:
        """Build a problem from options that are parsed already, as the commands have them.

        Raises:
            DseError: on input that cannot be used.
        """
        self = cls.__new__(cls)
        self._assemble(workload, platform, options, profile, losses)
        return self

    def _assemble(
        self,
        workload: Workload,
        platform: Platform,
        options: Options,
        profile: str | Path | Profile | None,
        losses: str | Path | LossTable | None,
    ) -> None:
        """Read, group and cost the networks, and assemble the numeric problem."""
        check_address_space()
        if options.match_repeats and (options.free_running or workload.free_running):
            raise WorkloadError(
                f"{as_written('match_repeats')} and free-running networks exclude each other: each "
                "runs as often as it can"
            )
        if options.match_repeats and any(n.rate_hz is not None for n in workload.networks):
            raise WorkloadError(
                f"{as_written('match_repeats')} and rate_hz (of networks) exclude each other"
            )
        options = with_defaults(options, platform, workload)
        built = build_problem(
            workload,
            platform,
            options,
            profile=load_profile(profile, platform) if isinstance(profile, str | Path) else profile,
            losses=load_losses(losses) if isinstance(losses, str | Path) else losses,
        )
        if options.match_repeats:
            built = replace(built, problem=with_matched_repeats(built.problem))
        for name, value in (("platform", platform), ("options", options), ("built", built)):
            object.__setattr__(self, name, value)

    @property
    def workload(self) -> Workload:
        """Return the networks, with the sizes, batches and scenario of the options."""
        return self.built.workload

    def __repr__(self) -> str:
        names = ", ".join(network.name for network in self.workload.networks)
        goals = ", ".join(objective.label(self.numeric) for objective in self.numeric.objectives)
        count = pluralize(self.numeric.group_count, "group")
        return f"<dse.Problem: {names} on {self.platform.name}, {count}; {goals}>"

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
        """Return the warnings of importing networks and profile, and the groups that units cannot
        run."""
        return (*self.built.warnings, *self.built.refused)

    def as_pymoo(self) -> PymooProblem:
        """Return this problem for pymoo: integer variables, vectorised, all objectives minimised.

        Variables are a unit for every group, then an operating point for every domain. ``F`` holds
        the objectives in their integer units (:mod:`results.problem.objectives`), ``G`` one column
        per constraint, positive if it is broken, and a last one for units that cannot run a group.
        ``problem.operators()`` of the result returns sampling, crossover, mutation and duplicate
        elimination that keep rows inside the space.

        Examples:
            >>> from pymoo.algorithms.moo.nsga2 import NSGA2
            >>> from pymoo.optimize import minimize
            >>> pymoo_problem = problem.as_pymoo()
            >>> algorithm = NSGA2(pop_size=100, **pymoo_problem.operators())
            >>> result = minimize(pymoo_problem, algorithm, ("n_gen", 50), seed=1)
        """
        from paretosoc.dse.search.optimizers.pymoo_adapters import DesignProblem

        return DesignProblem(DesignSpace(self.numeric))


def unknown_keywords(given: Mapping[str, object]) -> dict[str, object]:
    """Return the names that are no keyword arguments of :class:`Problem`."""
    return {name: value for name, value in given.items() if name not in FIELDS}


def _described_options() -> str:
    """Return the options as the lines of a docstring."""
    lines = [f"{name}: {field.description}" for name, field in FIELDS.items()]
    wrapped = [textwrap.wrap(line, 88, subsequent_indent="    ") for line in lines]
    text = "Options:\n" + "\n".join(f"    {line}" for lines in wrapped for line in lines)
    return textwrap.indent(text, " " * 8)


# Notebooks show what is there at run time, editors the annotations.
Problem.__init__.__doc__ = f"{Problem.__init__.__doc__}\n{_described_options()}"
