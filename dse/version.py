"""The version of the program, and others that own one of its names."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, packages_distributions, version

_OURS = "paretosoc"


def program_version() -> str:
    """Return the version of the installed distribution, or ``unknown`` from a bare source tree."""
    try:
        return version(_OURS)
    except PackageNotFoundError:
        return "unknown"


VERSION = program_version()
"""As ``dse.__version__``."""


def owners_of_dse() -> tuple[str, ...]:
    """Return the other distributions that installed a package ``dse``, which ``import dse`` finds
    before ours."""
    return tuple(sorted({*packages_distributions().get("dse", ())} - {_OURS}))
