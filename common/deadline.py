"""An instant by which work has to end."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from paretosoc.common import compiling


@dataclass(frozen=True)
class Deadline:
    """An instant of a clock in seconds, infinite without a limit.

    The clock stands still while kernels are compiled.
    """

    at: float = math.inf
    clock: Callable[[], float] = compiling.clock

    @classmethod
    def after(cls, seconds: float | None, clock: Callable[[], float] = compiling.clock) -> Deadline:
        """Return the instant ``seconds`` from now. None is no limit."""
        return cls(math.inf if seconds is None else clock() + seconds, clock)

    @property
    def is_limited(self) -> bool:
        """Return whether there is a limit."""
        return not math.isinf(self.at)

    @property
    def left(self) -> float:
        """Return the seconds that are left, at least 0."""
        return max(0.0, self.at - self.clock()) if self.is_limited else math.inf

    @property
    def is_past(self) -> bool:
        """Return whether the instant has come."""
        return self.left <= 0.0

    def share(self, part: float) -> Deadline:
        """Return the instant at which this part of the remaining time is over."""
        return self.sooner((1.0 - part) * self.left) if self.is_limited else self

    def sooner(self, seconds: float) -> Deadline:
        """Return the instant a number of seconds before this one, or after it if negative."""
        return replace(self, at=self.at - seconds)


NEVER = Deadline()
