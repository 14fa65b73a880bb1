"""A Pareto front with its proofs and the provenance of its costs: a result folder in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, overload

from dse.api.member import Member
from dse.certificate.summary import claims_in_words
from dse.inputs.output import check_output_file, write_output_file
from results.errors import ResultError
from results.export.result_folder import (
    CERTIFICATE,
    EPSILON,
    read_certificate,
    read_costs,
    read_results,
    write_results,
)
from results.front.certificate import CertificateStatus, ProofFiles
from results.front.cost_origins import CostOrigins
from results.front.front import Front as NumericFront
from results.front.named_members import mark_members
from results.front.select_member import choose_member
from results.problem.problem import Problem as NumericProblem

if TYPE_CHECKING:
    from pandas import DataFrame

PLOTS = ("front", "gantt", "convergence", "energy")


@dataclass(frozen=True, eq=False)
class Front(Sequence[Member]):
    """Mutually non-dominated members, by rising first objective.

    Members are found by position or by name: ``front[0]``, ``front["fastest"]``,
    ``front["lowest-energy"]``, ``front["knee"]``. Comparisons between fronts:
    ``dse compare``.

    Example:
        >>> front = dse.load("runs/demo")
        >>> front["knee"].energy_mj
        >>> front.plot("front.pdf")
        >>> front.to_pandas().query("`energy [mJ]` < 160")
    """

    numeric: NumericFront
    """The same in integers, as ``front.json`` has it."""
    costs: CostOrigins | None = None
    """Where costs came from, as ``costs.json`` has it."""
    certificate: ProofFiles | None = None
    """The proof about the whole front or its fastest member, or as far as it came."""
    epsilon: ProofFiles | None = None
    """The proof about the whole front within a tolerance."""

    @property
    def problem(self) -> NumericProblem:
        """The numeric problem, as ``problem.json`` has it."""
        return self.numeric.problem

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """All members, in order."""
        marks = mark_members(self.numeric)
        return tuple(
            Member(member, index, marks.get(index, ()), self.problem)
            for index, member in enumerate(self.numeric.members)
        )

    @property
    def is_complete(self) -> bool:
        """Whether no design point is missing, by a proof or by the search's own account."""
        return self.numeric.is_complete

    @property
    def is_certified(self) -> bool:
        """Whether a proof that anyone can check says that nothing is faster than the fastest."""
        claim = self.numeric.certificate
        return claim is not None and claim.status is CertificateStatus.CERTIFIED

    @property
    def claims(self) -> list[str]:
        """What is proved, as sentences."""
        return claims_in_words(self.numeric)

    def __len__(self) -> int:
        return len(self.numeric.members)

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    @overload
    def __getitem__(self, which: int | str) -> Member: ...
    @overload
    def __getitem__(self, which: slice) -> tuple[Member, ...]: ...
    def __getitem__(self, which: int | str | slice) -> Member | tuple[Member, ...]:
        """A member by position or by name.

        Raises:
            IndexError: where there is no such position.
            ResultError: where there is no such name; the message lists the names.
        """
        if isinstance(which, str):
            return self.members[choose_member(self.numeric, which)]
        return self.members[which]

    def save(self, folder: str | Path, *, overwrite: bool = False, pictures: bool = True) -> None:
        """Write a result folder: whole, or not at all.

        Raises:
            ResultError: where the folder exists (without ``overwrite``), holds anything but a
                result (with it), or cannot be written.
        """
        write_results(
            Path(folder),
            self.numeric,
            costs=self.costs,
            certificate=self.certificate,
            epsilon=self.epsilon,
            overwrite=overwrite,
            pictures=pictures,
        )

    @classmethod
    def load(cls, folder: str | Path) -> Front:
        """Read a result folder.

        Raises:
            ResultError: where a file is missing, was changed, or does not belong to the others; it
                names the file and the JSON path.
        """
        path = Path(folder)
        front = read_results(path)
        return cls(
            front,
            read_costs(path, front.problem),
            read_certificate(path, front.problem, name=CERTIFICATE),
            read_certificate(path, front.problem, name=EPSILON),
        )

    def plot(
        self,
        file: str | Path,
        what: str = "front",
        *,
        members: Sequence[int | str] = ("fastest",),
        overwrite: bool = True,
    ) -> None:
        """Draw a figure: ``front``, ``gantt``, ``convergence`` or ``energy``.

        Args:
            file: .svg, .pdf or .png.
            members: whose schedules or energies, for ``gantt`` and ``energy``.

        Raises:
            ResultError: on another figure, or a member that there is not.
            WorkloadError: on another suffix, or where the file cannot be written.
        """
        from results.plots.convergence import draw_convergence
        from results.plots.energy import draw_energy
        from results.plots.front import draw_front
        from results.plots.gantt import draw_gantts
        from results.plots.style import PICTURE_MAKERS, picture_settings

        if what not in PLOTS:
            raise ResultError(f"plot: one of {', '.join(PLOTS)} is required, got {what!r}")
        path = Path(file)
        check_output_file(path, option="file", overwrite=overwrite, suffixes=tuple(PICTURE_MAKERS))
        chosen = [self[which] for which in members]
        titled = [(repr(member)[1:-1], self.problem, member.numeric) for member in chosen]
        with picture_settings():
            if what == "front":
                figure = draw_front(self.numeric)
            elif what == "convergence":
                figure = draw_convergence([("", self.numeric)])
            else:
                figure = (draw_gantts if what == "gantt" else draw_energy)(titled)
            picture = PICTURE_MAKERS[path.suffix](figure)
        write_output_file(path, picture)

    def to_pandas(self) -> DataFrame:
        """A row per member: objectives with their units, names, groups per unit, clocks.

        Raises:
            ResultError: where pandas is not installed (``paretosoc[notebooks]``).
        """
        return self.numeric.to_pandas()

    def with_proof(
        self, numeric: NumericFront, certificate: ProofFiles | None, epsilon: ProofFiles | None
    ) -> Front:
        """The same with what a proof found: members, claims and their files."""
        return replace(self, numeric=numeric, certificate=certificate, epsilon=epsilon)

    def _repr_html_(self) -> str:
        return self.numeric._repr_html_()

    def __repr__(self) -> str:
        names = ", ".join(network.name for network in self.problem.networks)
        return f"<dse.Front: {len(self)} members, {names} on {self.numeric.provenance.platform}>"


def load(folder: str | Path) -> Front:
    """Read a result folder: see :meth:`Front.load`."""
    return Front.load(folder)
