"""Objectives of a user's own: figures computed from those of the model.

A package registers one under the entry point ``paretosoc.objectives``, so that commands know it by
name. In Python it is known from when a problem is given it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from paretosoc.common.plugins import Registry
from paretosoc.results.errors import ResultError

if TYPE_CHECKING:
    from paretosoc.common.arrays import FloatArray, IntArray
    from paretosoc.results.problem.objectives import ObjectiveKind, ObjectiveSpec

LARGEST = 2.0**61
"""Of the integers, so that differences stay in int64. Those of infinite figures are this large."""


@dataclass(frozen=True, eq=False)
class OwnObjective:
    """An objective that is a function of other objectives.

    ``name``: as users type it. ``of``: the objectives that it is computed from, by name, such as
    ``latency`` or ``latency:vgg19``. ``compute``: takes an array [n] for each of them, in the units
    that tables show, and returns [n] figures. ``unit``: of the figures. ``decimals``: figures are
    rounded to so many. ``larger_is_better``: maximise it. ``meaning``: says in tables what it is,
    if the name does not. ``monotone``: declares that the figure never becomes better if one of
    those that it is computed from becomes worse. Then its front is proved by theirs. Otherwise the
    exact search has no bound on it.

    Raises:
        ResultError: on a name that is one of the program's, or has a space, comma or colon.

    Examples:
        >>> edp = dse.OwnObjective("edp", of=("latency", "energy"), unit="mJ ms",
        ...                        compute=lambda latency, energy: latency * energy,
        ...                        monotone=True)
        >>> front = dse.explore(["vgg19", "resnet50"], "jetson-agx-xavier",
        ...                     objectives=["latency", edp], max_evaluations=5_000)
        >>> front["least-edp"].values
    """

    name: str
    of: Sequence[str]
    compute: Callable[..., FloatArray]
    unit: str = ""
    decimals: int = 3
    larger_is_better: bool = False
    meaning: str = ""
    monotone: bool = False

    def __post_init__(self) -> None:
        from paretosoc.results.problem.objectives import ObjectiveKind

        label, taken = f"objective {self.name!r}", [kind.value for kind in ObjectiveKind]
        if not self.name or set(self.name) & set(" ,:=") or self.name in taken:
            raise ResultError(
                f"{label}: a name without spaces, commas, colons and equals signs is required "
                f"that is none of the program's ({', '.join(taken)})"
            )
        if isinstance(self.of, str) or not self.of:
            raise ResultError(f"{label}: of: one or more objectives are required, got {self.of!r}")
        for part in self.of:
            if part.partition(":")[0] not in taken:
                raise ResultError(f"{label}: of: must be among {', '.join(taken)}; got {part!r}")
            kind, colon, _ = part.partition(":")
            if not colon and ObjectiveKind(kind).spec.needs_network:
                raise ResultError(f"{label}: of: {kind}:NETWORK is required, got {part!r}")
            if colon and not ObjectiveKind(kind).spec.of_one_network:
                raise ResultError(f"{label}: of: {kind} is never of one network, got {part!r}")
        if not 0 <= self.decimals <= 9:
            raise ResultError(f"{label}: decimals: 0 to 9 are required, got {self.decimals}")

    @property
    def value(self) -> str:
        """Return its name, as for the program's kinds."""
        return self.name

    @property
    def kinds(self) -> tuple[ObjectiveKind, ...]:
        """Return the kinds of the objectives that it is computed from."""
        from paretosoc.results.problem.objectives import ObjectiveKind

        return tuple(ObjectiveKind(part.partition(":")[0]) for part in self.of)

    @cached_property
    def spec(self) -> ObjectiveSpec:
        """Return its names, unit and models: those of all that it is computed from."""
        from paretosoc.results.problem.execution import EXECUTION_MODELS
        from paretosoc.results.problem.objectives import ObjectiveSpec

        scale = (-1 if self.larger_is_better else 1) * 10**self.decimals
        specs = [kind.spec for kind in self.kinds]
        return ObjectiveSpec(
            file_name=self.name,
            label=self.name,
            unit=self.unit,
            best=f"{'most' if self.larger_is_better else 'least'} {self.name}",
            display=lambda value: value / scale,
            models=tuple(
                model for model in EXECUTION_MODELS if all(model in spec.models for spec in specs)
            ),
            larger_is_better=self.larger_is_better,
            needs_frame=any(spec.needs_frame for spec in specs),
            meaning=self.meaning,
        )

    def integers(self, figures: Sequence[FloatArray]) -> IntArray:
        """Return [n] integers to minimise.

        Args:
            figures: [n] for each objective that it is computed from, as displayed.

        Raises:
            ResultError: if the function fails, or returns no numbers of this shape.
        """
        import numpy as np

        label, count = f"objective {self.name!r}", len(figures[0])
        try:
            with np.errstate(all="ignore"):
                found = np.asarray(self.compute(*figures), dtype=float)
        except Exception as error:
            raise ResultError(f"{label}: {type(error).__name__}: {error}") from error
        if found.shape != (count,) or np.isnan(found).any():
            raise ResultError(
                f"{label}: an array of {count} numbers is required of compute, got one of the "
                f"shape {list(found.shape)}{' with nan' * bool(np.isnan(found).any())}"
            )
        with np.errstate(over="ignore"):
            scaled = np.rint(found * (-1 if self.larger_is_better else 1) * 10.0**self.decimals)
        return np.clip(scaled, -LARGEST, LARGEST).astype(np.int64)


_GIVEN: dict[str, OwnObjective] = {}
OWN_OBJECTIVES: Registry[OwnObjective] = Registry(
    "paretosoc.objectives",
    "an objective",
    lambda found: isinstance(found, OwnObjective),
    "a dse.OwnObjective",
    _GIVEN,
    ResultError,
)
"""Objectives of installed packages, and those that problems of this process were given."""


def remember(objective: OwnObjective) -> str:
    """Make an objective known in this process, and return its name.

    The last one of a name holds, as a cell of a notebook does that is run again.
    """
    _GIVEN[objective.name] = objective
    return objective.name
