"""One point of a front, in the units that people use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from paretosoc.common.options import as_written
from paretosoc.common.units import FJ_PER_MJ, PS_PER_MS
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.kinds import wrong_argument
from paretosoc.results.front.front import Member as NumericMember
from paretosoc.results.front.schedule import ScheduledMember
from paretosoc.results.problem.objectives import displayed, shown_values, significant
from paretosoc.results.problem.problem import Problem as NumericProblem
from paretosoc.results.problem.rates import reaction_ps
from paretosoc.results.text.member_diff import clocks_mhz
from paretosoc.results.text.rates import energy_per_image_mj, images_per_second


@dataclass(frozen=True, eq=False)
class Member:
    """A design point: a unit for every group, an operating point for every clock domain.

    Examples:
        >>> best = front["fastest"]
        >>> best.latency_ms, best.energy_mj, best.clocks_mhz, best.mapping["vgg19"]
    """

    numeric: NumericMember
    """The same in integers: picoseconds, femtojoules, indices."""
    index: int
    """Position in the front, or -1 if the design point is in none."""
    marks: tuple[str, ...]
    """Names of the member: ``fastest``, ``knee``, ..."""
    _problem: NumericProblem

    @property
    def latency_ms(self) -> float:
        """Return the makespan of one frame alone, in ms. With rates, return the longest response of
        all networks."""
        if self.numeric.responses is not None:
            return max(self.numeric.latencies_ps) / PS_PER_MS
        return self.numeric.makespan_ps / PS_PER_MS

    @cached_property
    def latencies_ms(self) -> dict[str, float]:
        """Return the latency of each network in one frame alone, in ms, counted from its arrival.
        With rates, return the longest response."""
        pairs = zip(self._problem.networks, self.numeric.latencies_ps, strict=True)
        return {network.name: value / PS_PER_MS for network, value in pairs}

    @cached_property
    def responses(self) -> dict[str, dict[str, float]]:
        """Return ``longest_ms``, ``percentile_95_ms``, ``jitter_ms`` and ``misses`` of a period for
        each network. Empty unless networks have rates of their own."""
        entries = self.numeric.responses or ()
        longest = self.latencies_ms.items()
        return {
            name: {
                "longest_ms": latency,
                "percentile_95_ms": entry.percentile_95_ps / PS_PER_MS,
                "jitter_ms": entry.jitter_ps / PS_PER_MS,
                "misses": entry.misses,
            }
            for (name, latency), entry in zip(longest, entries, strict=bool(entries))
        }

    def reaction_ms(self, chain: Sequence[str]) -> float | None:
        """Return an upper bound of the time from an event to the output of a chain of networks with
        rates, each of which reads the newest result of the one before it, or waits for it. With
        ``guarantee`` it holds for all times in the tolerance and all releases within their jitter,
        if units keep the planned order. None if the member is overloaded.

        Raises:
            WorkloadError: on a network that is not there or there twice, or without rates.

        Examples:
            >>> front["knee"].reaction_ms(["detect", "track"])
        """
        names, label = [network.name for network in self._problem.networks], as_written("chain")
        if not self._problem.has_rates:
            raise WorkloadError(
                f"{label}: networks with rates are required; 'latency' is for frames"
            )
        if isinstance(chain, str) or len(set(chain)) < max(2, len(chain)):
            raise wrong_argument(label, "a list of two or more networks, each once,", chain)
        for name in chain:
            if name not in names:
                raise WorkloadError(f"{label}: there is no network {name!r} ({', '.join(names)})")
        responses = self._responses_ps()
        if responses is None:
            return None
        places = [names.index(name) for name in chain]
        return reaction_ps(self._problem, responses, places) / PS_PER_MS

    def _responses_ps(self) -> Sequence[int] | None:
        """Return the longest response of each network, guaranteed where the problem guarantees
        them. None if one has no bound."""
        problem, tolerance = self._problem, self._problem.tolerance_permille
        if not problem.guarantee or tolerance is None:
            return None if self.numeric.is_overloaded else self.numeric.latencies_ps
        from paretosoc.fitness.guarantee.layout import make_guarantees

        bounds = make_guarantees(problem, tolerance)(self.numeric.design.row[None])
        if bounds.makespan_ps[0] > (problem.execution.period_ps or 0):
            return None
        return [int(each) for each in bounds.latency_ps[0]]

    @property
    def energy_mj(self) -> float:
        """Return the energy of a frame (per image when free-running), in mJ."""
        return self.numeric.energy_fj / FJ_PER_MJ

    @property
    def energy_per_image_mj(self) -> float:
        """Return the energy per image over all networks, in mJ. Each image of a batch counts."""
        return energy_per_image_mj(self._problem, self.numeric)

    @cached_property
    def images_per_second(self) -> dict[str, float]:
        """Return images per second of each network. Empty unless frames follow each other at a
        known rate."""
        rates = images_per_second(self._problem, self.numeric) or ()
        pairs = zip(self._problem.networks, rates, strict=bool(rates))
        return {network.name: rate for network, rate in pairs}

    @cached_property
    def energy_by_unit_mj(self) -> dict[str, float]:
        """Return the energy of each unit, in mJ. Memory and board take the rest."""
        pairs = zip(self._problem.units, self.numeric.energy_by_unit_fj, strict=True)
        return {unit.name: value / FJ_PER_MJ for unit, value in pairs}

    @cached_property
    def values(self) -> dict[str, float]:
        """Return the value of each objective, in the unit of
        :attr:`results.problem.objectives.Objective.unit`."""
        labels = (objective.label(self._problem) for objective in self._problem.objectives)
        shown = shown_values(self._problem.objectives, self.numeric.objectives)
        return dict(zip(labels, shown, strict=True))

    @cached_property
    def clocks_mhz(self) -> dict[str, float | None]:
        """Return the frequency of each clock domain in MHz, or None for a domain that is off."""
        return clocks_mhz(self._problem, self.numeric)

    @cached_property
    def mapping(self) -> dict[str, tuple[str, ...]]:
        """Return the unit of each group, by network."""
        units = [self._problem.units[u].name for u in self.numeric.design.units.tolist()]
        return {
            network.name: tuple(units[group] for group in network.groups)
            for network in self._problem.networks
        }

    @property
    def transitions(self) -> int:
        """Return the edges between groups on different units."""
        return self._problem.transition_count(self.numeric.design)

    @cached_property
    def scheduled(self) -> ScheduledMember:
        """Return the member with its schedule. The schedule is simulated, since files do not hold
        it. Its ``to_pandas()`` has a row per execution, ``schedule.groups`` the integers."""
        # Imported here: few commands simulate a member.
        from paretosoc.fitness.execution import scheduled

        return scheduled(self._problem, self.numeric)

    @cached_property
    def display(self) -> dict[str, float]:
        """Return the value of each ``objective [unit]``, named like the columns of
        ``to_pandas()``."""
        return displayed(self._problem, self.numeric.objectives)

    @property
    def values_text(self) -> str:
        """Return the objectives with their units, in one line."""
        pairs = zip(self._problem.objectives, self.values.items(), strict=True)
        return ", ".join(
            f"{label} {significant(value)} {objective.heading(self._problem)}"
            for objective, (label, value) in pairs
        )

    def __repr__(self) -> str:
        number = "" if self.index < 0 else f" {self.index}"
        name = f" ({', '.join(self.marks)})" if self.marks else ""
        return f"<dse.Member{number}{name}: {self.values_text}>"
