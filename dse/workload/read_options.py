"""Reading options: values of the library, or texts of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paretosoc.dse.inputs.kinds_by_name import is_pin
from paretosoc.dse.workload.fields import parse_limit
from paretosoc.dse.workload.options import FIELDS, FILES, LIMITS, Options


def read_options(given: Mapping[str, object]) -> Options:
    """Return options from values of the library, by name. None stands for one that is not given.

    Raises:
        WorkloadError: on the first value that is not of its kind, or out of range.
    """
    values = {
        name: FIELDS[name].kind.read(value, name)
        for name, value in given.items()
        if value is not None
    }
    return Options(**{name: value for name, value in values.items() if name not in FILES})


def by_owner(fixes: Sequence[str]) -> dict[str, list[str]]:
    """Return the texts of ``--fix`` under the options that they set, ``fixed`` and ``pins``."""
    pins = [text for text in fixes if is_pin(text)]
    return {"fixed": [text for text in fixes if text not in pins], "pins": pins}


def parse_options(given: Mapping[str, Any]) -> Options:
    """Return the options given on the command line.

    ``given`` has them by their names in the library, pins among ``fixed``, and ``limit``, the texts
    of ``--limit``. The strictest of several values of a limit holds.

    Raises:
        WorkloadError: on the first text that does not have the form required.
    """
    values: dict[str, Any] = {
        name: FIELDS[name].parse(value, FIELDS[name].option)
        for name, value in {**given, **by_owner(given.get("fixed") or ())}.items()
        if value is not None and name != "limit" and name not in FILES
    }
    for text in given.get("limit") or ():
        found, value = parse_limit(text, LIMITS)
        name = LIMITS[found].name
        if isinstance(value, tuple):
            value = (*values.get(name, ()), *value)
        else:
            value = FIELDS[name].strictest((value, values.get(name)))
        values[name] = value
    return Options(**values)
