"""Instances measured one after the other, chosen by the options that such benchmarks share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from benchmarks.harness.against import add_option
from benchmarks.harness.report import parser

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class Named(Protocol):
    """An instance."""

    @property
    def name(self) -> str:
        """Return the name of the instance."""
        ...


One = TypeVar("One", bound=Named)


def measure_chosen(
    module: str,
    description: str,
    instances: Sequence[One],
    measure: Callable[[One, argparse.Namespace], DataclassInstance],
    *,
    time_limit_s: float,
    limits: str,
    load: Callable[[], object],
    add_options: Callable[[argparse.ArgumentParser], object] = lambda _: None,
    arguments: Sequence[str] | None,
) -> tuple[argparse.Namespace, list[dict[str, Any]]]:
    """Return the options, and a row of figures for each instance that they choose.

    Args:
        measure: of an instance and the options. ``time_limit`` is one of them, in seconds.
        time_limit_s: by default.
        limits: description of the parts that the time limit is for.
        load: has machine code compiled, or read from the cache, before anything is measured.
        add_options: more of them.
        arguments: of the command line. None: this process's.
    """
    options = parser(module, description)
    options.add_argument(
        "--time-limit", type=float, default=time_limit_s, help=f"seconds, {limits}"
    )
    add_option(options)
    add_options(options)
    options.add_argument("--only", default="", help="instances whose names contain this")
    chosen = options.parse_args(arguments)
    wanted = [instance for instance in instances if chosen.only in instance.name]
    if not wanted:
        options.error(f"--only: no instance has {chosen.only!r} in its name")
    load()
    rows = []
    for instance in wanted:
        print(f"{instance.name} ...", file=sys.stderr)
        rows.append(asdict(measure(instance, chosen)))
    return chosen, rows
