"""The joined front of combinations of variants that ``dse explore`` has explored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from paretosoc.common.tables import plain_table
from paretosoc.common.text import pluralize
from paretosoc.dse.tools.choose.joined import CombinationFront, JoinedFront, join, joined_table
from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import choose
from paretosoc.results.front.epsilon import reach
from paretosoc.results.problem.objectives import format_number

if TYPE_CHECKING:
    from rich.console import RenderableType

    from paretosoc.dse.certificate.verify.checks import Check


def _proof(each: CombinationFront) -> str:
    if each.front is not None:
        return reach(each.front.proved_ppm)
    return each.reason + (", proved" if each.closed else "")


@dataclass(frozen=True, eq=False)
class JoinedResult:
    """The joined front of ``dse explore`` and the fronts that it is made of.

    Registered under ``paretosoc.results``, so the commands for results take it.
    """

    words: ClassVar[str] = "the joined front of combinations of variants"

    platform: str
    command: tuple[str, ...]
    accuracy_sources: tuple[str, ...]
    combinations: tuple[CombinationFront, ...]

    def __post_init__(self) -> None:
        """Accept combinations of the same networks and objectives.

        Raises:
            ResultError: on others.
        """
        first = self.combinations[0]
        for each in self.combinations:
            for name in ("variants", "accuracies"):
                if list(getattr(each, name)) != list(getattr(first, name)):
                    raise ResultError(f"combinations: {name}: all must be of the same networks")
        parts = [each.front or each.closed for each in self.combinations]
        if len({part.problem.objective_names for part in parts if part}) != 1 or not any(
            each.front for each in self.combinations
        ):
            raise ResultError("combinations: fronts with the same objectives are required")

    @classmethod
    def load(cls, folder: str | Path) -> JoinedResult:
        """Read a folder.

        Raises:
            ResultError: if a file is missing, was changed, or does not belong to the others.
        """
        from paretosoc.dse.tools.choose.joined_folder import read_joined

        return read_joined(Path(folder))

    @classmethod
    def verify(
        cls, folder: Path, *, ignore_hashes: bool, verify_front: Callable[..., Iterator[Check]]
    ) -> Iterator[Check]:
        """Check the front of every combination, and the joined one."""
        from paretosoc.dse.tools.choose.joined_folder import verify_joined

        return verify_joined(folder, ignore_hashes=ignore_hashes, verify_front=verify_front)

    @cached_property
    def joined(self) -> JoinedFront:
        """Return what no member of any combination dominates."""
        return join(self.platform, self.combinations, is_complete=self.proved_ppm == 0)

    @property
    def proved_ppm(self) -> int | None:
        """Return the epsilon within which the joined front is proved: the largest of its fronts',
        since it has a member as good as every member of theirs, and as every design point of a
        combination without a front of which that is proved. None: some front is not proved."""
        reached = [
            each.front.proved_ppm if each.front else 0 if each.closed else None
            for each in self.combinations
        ]
        known = [ppm for ppm in reached if ppm is not None]
        return max(known) if len(known) == len(reached) else None

    @property
    def proof(self) -> str:
        """Return how far the joined front is proved, in words."""
        return reach(self.proved_ppm)

    def __len__(self) -> int:
        return len(self.joined.members)

    def rows(self, resolution: float | None = 0.0) -> list[dict[str, Any]]:
        """Return one row per choice at a resolution, at 0 per member, as ``front.csv`` has it."""
        headings, cells = joined_table([self.joined])
        rows = [dict(zip(headings, row, strict=True)) for row in cells]
        return [rows[place] for place in self._choices(resolution)]

    def _choices(self, resolution: float | None) -> list[int]:
        """Return the positions of the choices among the members of each combination."""
        found: list[int] = []
        for each in self.combinations:
            places = [k for k, one in enumerate(self.joined.members) if one.run == each.run]
            if each.front is None or not places:
                continue
            kept = tuple(each.front.members[self.joined.members[k].member] for k in places)
            # Claims and baselines are of all members.
            left = replace(
                each.front, members=kept, baselines=(), certificate=None, epsilon=None, bounds=None
            )
            found += [places[k] for k in choose(left, resolution).members]
        return found

    def member_document(self, which: int | str, **_: object) -> NoReturn:
        """Refuse: members are in the folders of the combinations.

        Raises:
            ResultError: always. It names a folder.
        """
        self._refuse("a member")

    member_views = member_document

    @classmethod
    def drawn(
        cls, what: str, named: Sequence[tuple[str, JoinedResult]], members: Sequence[str]
    ) -> NoReturn:
        """Refuse, as :meth:`member_document`."""
        named[0][1]._refuse(f"a figure ({what})")

    def trace(self, members: Sequence[str]) -> NoReturn:
        """Refuse, as :meth:`member_document`."""
        self._refuse("a trace")

    def _refuse(self, what: str) -> NoReturn:
        folder = next(each.run for each in self.combinations if each.front is not None)
        raise ResultError(
            f"{what} is of one combination, this is {self.words}: name a folder below, such as "
            f"{folder}"
        )

    def combination_rows(self) -> list[tuple[str, int, int, str]]:
        """Return a row per combination: its name, how many members of the joined front it has, and
        of its own, and how far that is proved."""
        counts = Counter(member.run for member in self.joined.members)
        return [
            (each.label, counts[each.run], len(each.front.members) if each.front else 0,
             _proof(each))
            for each in self.combinations
        ]  # fmt: skip

    def summary_views(self) -> list[RenderableType]:
        """Return the combinations as a table, and what the joined front is."""
        table = plain_table("combination", ">in the\njoined front", ">in its\nown front", "proof")
        for label, joined, own, proof in self.combination_rows():
            table.add_row(label, str(joined), str(own), proof)
        names = ", ".join(self.joined.members[0].goals)
        text = f"Joined front over {names}: {pluralize(len(self), 'member')}, {self.proof}."
        return [table, "", text, *self.accuracy_sources]

    def views(self, *, width: int, resolution: float | None) -> list[RenderableType]:
        """Return the combinations, and a table of the choices of the joined front."""
        del width
        headings, cells = joined_table([self.joined])
        heads = [
            name if isinstance(value, str) else f">{name.replace(' [', chr(10) + '[')}"
            for name, value in zip(headings[1:], cells[0][1:], strict=True)
        ]
        table = plain_table(*heads)
        places = self._choices(resolution)
        for place in places:
            row = cells[place][1:]
            table.add_row(*(format_number(v) if isinstance(v, float) else str(v) for v in row))
        fewer = [f"{len(places)} choices of {len(self)} members: any other is near one of them."]
        return [*self.summary_views(), "", table, *(fewer if len(places) < len(self) else ())]

    def page(self, platform: str | None) -> tuple[bytes, list[str]]:
        """Return the page."""
        from paretosoc.dse.tools.choose.joined_page import joined_page

        del platform
        return joined_page(self).encode(), []
