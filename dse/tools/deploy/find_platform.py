"""The platform of a search, found again."""

from __future__ import annotations

import shlex
from itertools import pairwise

from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform, platform_names
from paretosoc.platforms.platform import Platform
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Front


def searched_platform(front: Front) -> Platform:
    """Return the platform of a front: by its name, or of the file that the command of the search
    named, as seen from here, if that is still the same.

    Raises:
        PlatformError: if neither is there.
        ResultError: if the file is another one now.
    """
    source = front.provenance
    file = None if source.platform in platform_names() else _file_of(source.command)
    if file is None:
        return load_platform(source.platform)
    chip = load_platform(file)
    if all((entry.name, entry.sha256) != (chip.name, chip.sha256) for entry in source.inputs):
        raise ResultError(
            f"platform {source.platform!r}: {file} is not the file that was explored (another "
            "SHA-256); explore it again, or name the old file with --platform"
        )
    return chip


def _file_of(command: str) -> str | None:
    """Return the value after ``--platform`` in a command."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    for word, after in pairwise((*words, "")):
        if word in ("-p", "--platform"):
            return after
        if word.startswith("--platform="):
            return word.partition("=")[2]
    return None


def platform_or_searched(given: str | None, front: Front) -> Platform:
    """Return the platform that the user names, else that of the search.

    Raises:
        PlatformError, ResultError: as :func:`searched_platform`. The message names the option.
    """
    if given is not None:
        return load_platform(given)
    try:
        return searched_platform(front)
    except PlatformError as error:
        raise ResultError(f"--platform: the file of the search is required: {error}") from None
