"""A Pareto front with its proofs and the provenance of its costs: a result folder in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretosoc.common.files import replace_file
from paretosoc.common.options import as_written
from paretosoc.common.text import pluralize
from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.api.member import Member
from paretosoc.dse.api.result import MEMBERS
from paretosoc.dse.api.views.pictures import front_figure, front_page
from paretosoc.dse.api.views.sureness import choice_intervals, quick_confidence
from paretosoc.dse.api.views.terminal import front_views, member_views
from paretosoc.dse.certificate.summary import describe_claims
from paretosoc.dse.inputs.arguments import check_arguments, check_list, check_type, path_of
from paretosoc.dse.inputs.kinds import Quantity
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.results.costs.cost_origins import CostError, CostOrigins
from paretosoc.results.errors import MissingMemberError, ResultError
from paretosoc.results.export.result_folder import (
    CERTIFICATE,
    EPSILON,
    read_bounds,
    read_certificate,
    read_costs,
    read_results,
    write_results,
)
from paretosoc.results.front.bounds import BoundProof
from paretosoc.results.front.certificate import ProofArtifacts
from paretosoc.results.front.choices import DEFAULT_RESOLUTION, DRAWS, Confidence, choose
from paretosoc.results.front.front import Front as NumericFront
from paretosoc.results.front.front_document import scheduled_to_document
from paretosoc.results.front.named_members import (
    FASTEST,
    choose_member,
    is_fastest_certified,
    mark_members,
    member_title,
)
from paretosoc.results.problem.problem import Problem as NumericProblem
from paretosoc.results.text.front_rows import front_latex, table_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from rich.console import RenderableType

    from paretosoc.dse.certificate.outcome import ProofOutcome
    from paretosoc.dse.tools.analysis.cost_draws import CostErrors
    from paretosoc.results.plots.picture import Picture


_ERROR = Quantity("SHARE", Fraction(0), Fraction(1))


@dataclass(frozen=True, eq=False)
class Choice:
    """A member, and how many members it stands for, itself included."""

    member: Member
    stands_for: int


@dataclass(frozen=True, eq=False)
class Front(Sequence[Member]):
    """Mutually non-dominated members, by rising first objective.

    Members are found by position or by name: ``front[0]``, ``front["fastest"]``,
    ``front["lowest-energy"]``, ``front["knee"]``. Comparisons between fronts:
    ``dse compare``.

    Examples:
        >>> front = dse.load("runs/demo")
        >>> front["knee"].energy_mj
        >>> front.plot("front.pdf")
        >>> front.to_pandas().query("`energy [mJ]` < 160")
    """

    numeric: NumericFront
    """The same in integers, as ``front.json`` has it."""
    costs: CostOrigins | None = None
    """Origins of the costs, as in ``costs.json``."""
    certificate: ProofArtifacts | None = None
    """The proof, complete or not, of the front or of its fastest member."""
    epsilon: ProofArtifacts | None = None
    """The proof of the front within a tolerance."""
    bounds: BoundProof | None = None
    """Bounds over boxes of operating points if the search for a proof has not ended."""

    @property
    def problem(self) -> NumericProblem:
        """Return the numeric problem, as ``problem.json`` has it."""
        return self.numeric.problem

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Return all members, in order."""
        marks = mark_members(self.numeric)
        return tuple(
            Member(member, index, marks.get(index, ()), self.problem)
            for index, member in enumerate(self.numeric.members)
        )

    def choices(self, resolution: float = DEFAULT_RESOLUTION) -> tuple[Choice, ...]:
        """Return the members that stand for all others: the named ones and the fewest others, so
        that every member is within ``resolution`` of one of them in every objective.

        Of members that would serve as well, the one with the fewest transitions is taken, then with
        the fewest units, then with the clocks nearest to those of a governor.

        Raises:
            ResultError: unless the resolution is at least 0 and below 1.

        Examples:
            >>> for choice in front.choices(0.02):
            ...     print(choice.member, choice.stands_for)
        """
        return tuple(
            Choice(self.members[entry.member], len(entry.stands_for))
            for entry in choose(self.numeric, resolution).entries
        )

    def confidence(
        self,
        goal: str | None = None,
        *,
        resolution: float | None = None,
        draws: int = DRAWS,
        seed: int = 0,
        error: float | None = None,
    ) -> Confidence:
        """Return how sure the choices are: all members simulated with costs drawn from their
        errors, which ``costs`` states.

        Args:
            goal: ``fastest``, ``lowest-energy``, ``knee``, or the name of another objective's best;
                None for all names of the front. What breaks a limit is not the best.
            resolution: of the choices; None: that of the tables.
            draws: how often costs are drawn.
            seed: the same seed gives the same result.
            error: a standard error of times, such as 0.1, in place of the stated ones: of every
                network on every unit, and of every group's share. Powers are exact. It is rounded
                up to whole thousandths.

        Raises:
            WorkloadError: on an argument out of bounds.
            ResultError: if the front is empty, there is no such goal, or no errors are known.

        Examples:
            >>> sure = front.confidence("fastest")
            >>> sure.choices[0].intervals["latency [ms]"], sure.choices[0].goals["fastest"].best
        """
        from paretosoc.dse.tools.analysis.confidence import confidence as sureness
        from paretosoc.dse.tools.analysis.cost_draws import same_errors

        check_arguments(draws=draws, seed=seed)
        check_type("goal", goal, str | None, "the name of a goal")
        if error is not None:
            permille = ceil(1000 * _ERROR.read(error, "error"))
            errors = same_errors(self.problem, CostError(network=permille, group=permille))
        elif self.costs is not None:
            errors = self.stated_errors
        else:
            raise ResultError(
                "costs.json is required, which says how far costs are off; "
                f"{as_written('error', value=0.1, command='--error 10')} takes its place"
            )
        return sureness(
            self.numeric, errors, goal=goal, resolution=resolution, draws=draws, seed=seed
        )

    @property
    def stated_errors(self) -> CostErrors:
        """Return how far costs are off by ``costs.json``, with what was measured since.

        Raises:
            ResultError: if the result folder has no such file.
        """
        from paretosoc.dse.tools.analysis.cost_draws import stated_errors
        from paretosoc.results.deploy.deployment import require_origins

        return stated_errors(self.problem, require_origins(self.costs))

    def update(self, measurements: str | Path | Mapping[str, Any]) -> Front:
        """Return this front with measurements of the board: ``confidence`` and
        :func:`dse.plan_measurements` know them from then on. Costs, members and proofs stay.

        Args:
            measurements: ``results.json`` as ``measure.py`` wrote it, or its content.

        Raises:
            ResultError: if a field is not as it must be, was changed or is of another front, or
                something was taken before. The message names the field.

        Examples:
            >>> front = front.update("plan/results.json")
            >>> front.confidence("fastest").advised("fastest").goals["fastest"].is_sure
        """
        from paretosoc.dse.tools.measuring.experiments import with_measurements
        from paretosoc.results.deploy.deployment import require_origins

        check_type("measurements", measurements, str | Path | Mapping, "a file, or its content,")
        costs = with_measurements(self.problem, require_origins(self.costs), measurements)
        return replace(self, costs=costs)

    @property
    def is_complete(self) -> bool:
        """Return whether no design point is missing, by a proof or by the search's own account."""
        return self.numeric.is_complete

    @property
    def is_certified(self) -> bool:
        """Return whether a checkable proof shows that nothing is faster than the fastest member."""
        return is_fastest_certified(self.numeric)

    @property
    def claims(self) -> list[str]:
        """Return the proved claims as sentences."""
        return describe_claims(self.numeric)

    @property
    def objectives(self) -> tuple[str, ...]:
        """Names of the columns of ``values``: ``latency [ms]``, ``energy [mJ]``, ..."""
        return tuple(objective.title(self.problem) for objective in self.problem.objectives)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Return an array [members, objectives], in the units that ``objectives`` names."""
        rows = [list(member.display.values()) for member in self.members]
        return np.array(rows, dtype=np.float64).reshape(len(self), len(self.objectives))

    def __len__(self) -> int:
        return len(self.numeric.members)

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    @overload
    def __getitem__(self, which: int | str) -> Member: ...
    @overload
    def __getitem__(self, which: slice) -> tuple[Member, ...]: ...
    def __getitem__(self, which: int | str | slice) -> Member | tuple[Member, ...]:
        """Return a member by position or by name.

        Raises:
            MissingMemberError: if there is no such position. It is an IndexError, too.
            ResultError: if there is no such name. The message lists the names.
            WorkloadError: on anything that is neither.
        """
        if isinstance(which, str):
            return self.members[choose_member(self.numeric, which)]
        check_type("member", which, Integral | slice, "a position, a slice or a name")
        try:
            return self.members[which]
        except IndexError:
            last = len(self) - 1
            known = f"0 to {last}" if last >= 0 else "it is empty"
            raise MissingMemberError(
                f"member: a position in the front ({known}) is required, got {which}"
            ) from None

    @cached_property
    def quick_confidence(self) -> Confidence | None:
        """Return the confidence in the choices from the few draws that the picture shows.

        None if the costs or their errors are not known, or draws take long to simulate.
        """
        return quick_confidence(self)

    def save(
        self,
        folder: str | Path,
        *,
        overwrite: bool = False,
        pictures: bool = True,
        report: bool = False,
    ) -> None:
        """Write a result folder atomically. ``report``: with the HTML report.

        Raises:
            ResultError: if the folder exists (without ``overwrite``), holds anything but a
                result (with it), or cannot be written.
        """
        check_arguments(overwrite=overwrite, pictures=pictures, report=report)
        write_results(
            path_of(folder),
            self.numeric,
            costs=self.costs,
            certificate=self.certificate,
            epsilon=self.epsilon,
            bounds=self.bounds,
            intervals=choice_intervals(self) if pictures else None,
            overwrite=overwrite,
            pictures=pictures,
            report=self.page()[0] if report else None,
        )

    @classmethod
    def load(cls, folder: str | Path) -> Front:
        """Read a result folder.

        Raises:
            ResultError: if a file is missing, was changed, or does not belong to the others. The
                message names the file and the JSON path.
        """
        path = path_of(folder)
        front = read_results(path)
        return cls(
            front,
            read_costs(path, front.problem),
            read_certificate(path, front.problem, name=CERTIFICATE),
            read_certificate(path, front.problem, name=EPSILON),
            read_bounds(path, front.problem),
        )

    def plot(
        self,
        file: str | Path,
        what: str = "front",
        *,
        members: Sequence[int | str] = ("fastest",),
        overwrite: bool = False,
    ) -> None:
        """Draw a figure: ``front``, ``gantt``, ``convergence``, ``energy`` or ``roofline``.

        Args:
            file: .svg, .pdf or .png.
            members: members to draw in ``gantt``, ``energy`` and ``roofline``.
            overwrite: replace a file that exists.

        Raises:
            ResultError: on another figure, or a member that does not exist.
            WorkloadError: on another suffix, a file that exists, or one that cannot be written.
        """
        from paretosoc.results.plots.style import PICTURE_MAKERS

        check_arguments(overwrite=overwrite)
        path = path_of(file, "file")
        check_output_file(path, option="file", overwrite=overwrite, suffixes=tuple(PICTURE_MAKERS))
        picture = self.drawn(what, [("", self)], members)
        replace_file(path, PICTURE_MAKERS[path.suffix](picture))

    @classmethod
    def figure(
        cls, what: str, named: Sequence[tuple[str, Self]], members: Sequence[int | str] = ()
    ) -> Figure:
        """Return a matplotlib figure of one or several fronts, to be saved within
        ``picture_settings()``.

        Args:
            what: ``front``, ``gantt``, ``convergence``, ``energy`` or ``roofline``.
            named: fronts with the names that they have in the figure.
            members: members to draw. Default: the fastest one (and the one with the lowest energy).

        Raises:
            ResultError: on another figure, or a member that does not exist.
        """
        return cls.drawn(what, named, members).figure()

    @classmethod
    def drawn(
        cls, what: str, named: Sequence[tuple[str, Self]], members: Sequence[int | str] = ()
    ) -> Picture:
        """Return what :meth:`figure` does, without matplotlib."""
        return front_figure(what, named, members)

    def trace(self, members: Sequence[int | str] = (FASTEST,)) -> tuple[bytes, list[str]]:
        """Return schedules in the Trace Event Format, for Perfetto, and titles of the members."""
        from paretosoc.results.export.trace import trace_bytes

        check_list("members", members, MEMBERS)
        front = self.numeric
        chosen = dict.fromkeys(choose_member(front, which) for which in members)
        titles = [(member_title(front, index), self[index].scheduled) for index in chosen]
        return trace_bytes(titles), [title for title, _ in titles]

    def node_data(self, which: int | str = FASTEST) -> dict[str, bytes]:
        """Return unit, time and energy of every layer of a member, as node data of Model Explorer,
        by the networks' names.

        Raises:
            ResultError: if there is no such member, or the front has no ``costs.json``.
        """
        from paretosoc.results.deploy.deployment import require_origins
        from paretosoc.results.export.trace import node_data

        return node_data(self[which].scheduled, require_origins(self.costs))

    def to_optuna(self, path: str | Path, name: str = "front") -> None:
        """Write the members as the trials of a study of Optuna, in an SQLite file.

        Examples:
            >>> front.to_optuna("front.db")  # then: optuna-dashboard sqlite:///front.db

        Raises:
            ResultError: if Optuna is not installed (``paretosoc[optuna]``).
            WorkloadError: on a path that cannot be written.
        """
        from paretosoc.results.export.optuna_study import write_study

        place = path_of(path, "path")
        check_output_file(place, option="path", overwrite=True)
        with temporary_folder() as folder:
            write_study(self.numeric, folder / "study.db", name)
            replace_file(place, (folder / "study.db").read_bytes())

    def page(self, platform: str | None = None) -> tuple[bytes, list[str]]:
        """Return the HTML report, and notes if it lacks deployments or error bars.

        Raises:
            PlatformError, ResultError: if ``platform`` is not the front's platform.
        """
        return front_page(self, platform)

    def rows(self, resolution: float | None = 0.0) -> list[dict[str, Any]]:
        """Return one row of plain data per choice at a resolution, as ``dse show --json`` prints
        them. At 0 there is one per member. None: the resolution of the tables. With a tolerance
        each has a ``guarantee``: see :class:`results.text.rates.GuaranteeFigures`."""
        from paretosoc.fitness.guarantee.first_come import guarantee_figures

        choices = choose(self.numeric, resolution)
        rows: list[dict[str, Any]] = table_rows(self.numeric, choices)
        if self.problem.tolerance_permille is not None and rows:
            designs = [self.numeric.members[index].design for index in choices.members]
            for row, figures in zip(rows, guarantee_figures(self.problem, designs), strict=True):
                row["guarantee"] = asdict(figures)
        return rows

    def member_document(self, which: int | str) -> dict[str, Any]:
        """Return one member as ``front.json`` has it, with its schedule."""
        member = self[which]
        return {"member": member.index, **scheduled_to_document(member.scheduled)}

    def views(self, *, width: int, resolution: float | None = None) -> list[RenderableType]:
        """Return the table of choices and the claims, for a terminal."""
        return front_views(self, width=width, resolution=resolution)

    def member_views(self, which: int | str, *, all_rows: bool = False) -> list[RenderableType]:
        """Return one member for a terminal: mapping, clocks, schedule and deployment formats."""
        return member_views(self, which, all_rows=all_rows)

    def to_pandas(self) -> DataFrame:
        """Return a data frame with a row per member: objectives with units, names, groups per unit,
        clocks.

        Raises:
            ResultError: if pandas is not installed (``paretosoc[notebooks]``).
        """
        return self.numeric.to_pandas()

    def to_latex(self, resolution: float | None = None) -> str:
        """Return the choices as a ``tabular`` for LaTeX (booktabs): position, names, objectives.

        Args:
            resolution: see :meth:`choices`. None: that of the tables.
        """
        return front_latex(self.numeric, choose(self.numeric, resolution))

    def hypervolume(self, reference: ArrayLike | None = None) -> float:
        """Return the hypervolume up to a point, in the units of ``objectives`` multiplied with each
        other. Members beyond the point count nothing. It warns if all are.

        Args:
            reference: a value per objective, in their order. Default: 1.1 times the worst value of
                each over this front. To compare fronts, give all the same point.

        Raises:
            WorkloadError: if the point does not have one number per objective.
            ResultError: if the front is empty.
        """
        from paretosoc.dse.api.indicators import hypervolume

        return hypervolume(self, reference)

    def igd(self, reference: Front | str | Path) -> float:
        """Return the inverted generational distance: the mean distance from a member of the
        reference front to the nearest member of this one, with the reference's range of each
        objective as 1.

        Raises:
            ResultError: if a front is empty, or the objectives are not the same.
        """
        import moocore

        from paretosoc.dse.api.indicators import scaled

        return float(moocore.igd(*scaled(self, reference)))

    def additive_epsilon(self, reference: Front | str | Path) -> float:
        """Return the least that must be taken off all objectives of this front, each a share of the
        reference front's range, until it dominates or equals every member of the reference.
        Negative if there is something to spare. ``epsilon`` is the proof within a tolerance.

        Raises:
            ResultError: if a front is empty, or the objectives are not the same.
        """
        import moocore

        from paretosoc.dse.api.indicators import scaled

        rows, others = scaled(self, reference)
        return float(moocore.epsilon_additive(rows, ref=others))

    def with_proof(self, proof: ProofOutcome) -> Front:
        """Return this front with the results of a proof: its members, claims and files."""
        return replace(
            self,
            numeric=proof.front,
            certificate=proof.certificate,
            epsilon=proof.epsilon,
            bounds=proof.bounds,
        )

    def _repr_html_(self) -> str:
        return self.numeric._repr_html_()

    def __repr__(self) -> str:
        names = ", ".join(network.name for network in self.problem.networks)
        members, platform = pluralize(len(self), "member"), self.numeric.provenance.platform
        return f"<dse.Front: {members}, {names} on {platform}>"


def front_of(front: Front | str | Path) -> Front:
    """Return a front, or read the one of a folder.

    Raises:
        WorkloadError: if it is neither.
        ResultError: if the folder cannot be read.
    """
    check_type("front", front, Front | str | Path, "a front, or its folder,")
    return front if isinstance(front, Front) else Front.load(front)


def load(folder: str | Path) -> Front:
    """Read a result folder: see :meth:`Front.load`."""
    return Front.load(folder)
