"""Frequencies on the ladder of a clock domain."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from paretosoc.common.errors import DseError
from paretosoc.platforms.errors import PlatformError

ROUNDING_KHZ = 1000
"""Logs and people give whole MHz: 675 or 676 for 675.75."""


def ladder_index(
    ladder_khz: Sequence[int],
    khz: int | Fraction,
    label: str,
    error: type[DseError] = PlatformError,
) -> int:
    """Return the index of a frequency on a ladder: the same, or one less than 1 MHz from it.

    Raises:
        DseError: of the class ``error``, if there is none. It starts with ``label`` and names the
            nearest.
    """
    asked = Fraction(khz)
    near = sorted(ladder_khz, key=lambda point: (abs(asked - point), point))[:2]
    if abs(asked - near[0]) >= ROUNDING_KHZ:
        nearest = " and ".join(f"{point / 1000:g}" for point in sorted(near))
        raise error(
            f"{label}: {float(asked) / 1000:g} MHz is not on the ladder; nearest "
            f"{'is' if len(near) == 1 else 'are'} {nearest} MHz"
        )
    return ladder_khz.index(near[0])
