"""Import names of this program that another installed distribution owns, too."""

from __future__ import annotations

from importlib.metadata import packages_distributions

_OURS = "paretosoc"


def owners_of_dse() -> tuple[str, ...]:
    """Return the other distributions that installed a package ``dse``, which ``import dse`` finds
    before ours."""
    return tuple(sorted({*packages_distributions().get("dse", ())} - {_OURS}))
