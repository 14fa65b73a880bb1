"""The version of the program."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def program_version() -> str:
    """Return the version of the installed distribution, or ``unknown`` from a bare source tree."""
    try:
        return version("paretosoc")
    except PackageNotFoundError:
        return "unknown"


VERSION = program_version()
"""As ``dse.__version__``."""
