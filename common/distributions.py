"""Import names of this program that another installed distribution owns, too."""

from __future__ import annotations

from importlib.metadata import packages_distributions

IMPORT_NAMES = ("common", "dse", "fitness", "platforms", "results", "sdf")
DISTRIBUTION = "paretosoc"


def foreign_owners() -> dict[str, tuple[str, ...]]:
    """Import name to the other distributions that installed files under it.

    The later of two such installations has overwritten files of the earlier one.
    """
    owners = packages_distributions()
    found = {name: {*owners.get(name, ())} - {DISTRIBUTION} for name in IMPORT_NAMES}
    return {name: tuple(sorted(others)) for name, others in found.items() if others}
