"""Options as the caller writes them: on the command line, in Python, or in a campaign file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from shlex import quote

from paretosoc.common.compiling import call_begins


class Door(Enum):
    """The place in which the options of a call were written."""

    LIBRARY = "library"
    COMMAND = "command"
    CAMPAIGN = "campaign"


_DOOR = ContextVar("door", default=Door.LIBRARY)


@contextmanager
def called_from(door: Door) -> Iterator[None]:
    """Return a context, or a decorator, in which messages name options as ``door`` has them."""
    token = _DOOR.set(door)
    try:
        with call_begins():
            yield
    finally:
        _DOOR.reset(token)


def as_written(name: str, value: object = None, *, command: str = "", campaign: str = "") -> str:
    """Return an option as the caller writes it: ``--groups 10``, ``groups=10`` or ``groups: 10``.

    Args:
        name: its name in the library.
        value: its value, or values by name. None for the option alone.
        command: its name on the command line. Default: ``--`` and the name, with hyphens.
        campaign: its key in campaign files. Default: the name.
    """
    match _DOOR.get():
        case Door.COMMAND:
            option = command or f"--{name.replace('_', '-')}"
            if isinstance(value, Mapping):
                return " ".join(f"{option} {quote(f'{key}={one}')}" for key, one in value.items())
            return option if value is None or isinstance(value, bool) else f"{option} {value}"
        case Door.CAMPAIGN:
            if isinstance(value, Mapping):
                value = ", ".join(f"{key}={one}" for key, one in value.items())
            text = str(value).lower() if isinstance(value, bool) else value
            return (campaign or name) + ("" if text is None else f": {text}")
        case Door.LIBRARY:
            if isinstance(value, Mapping):
                pairs = ", ".join(f"{key!r}: {one}" for key, one in value.items())
                return f"{name}={{{pairs}}}"
            return name if value is None else f"{name}={value!r}"


def overwriting() -> str:
    """Return the option that replaces a file or folder of ours, as the caller writes it."""
    return as_written("overwrite", value=True, command="--force")


def as_engine(name: str | None = None) -> str:
    """Return the choice of an optimizer, or the option alone, as the caller writes it."""
    return as_written("optimizer", name, command="--engine", campaign="engine")
