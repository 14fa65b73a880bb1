"""Clocks of a member in sysfs: a POSIX shell script that sets them, and their present state on a
board."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from paretosoc.platforms.deployment import ClockControl, ControlKind
from paretosoc.platforms.platform import Platform
from paretosoc.results.deploy.deployment import Deployment, as_target
from paretosoc.results.deploy.scripts import script_text
from paretosoc.results.errors import ResultError

_FOLDED = 96
"""Columns after which folders start a new line."""


def sysfs_script(deployment: Deployment, as_is: Collection[str] = ()) -> str:
    """Return the script. A domain that is off is left alone, or its CPUs go off line.

    Args:
        as_is: domains that are left alone, too.

    Raises:
        ResultError: if the platform does not say how one of its clocks is set.
    """
    memory = deployment.platform.memory.domain
    lines = [
        line
        for control, khz in controls_of(deployment, as_is)
        for line in _settings(control, khz, is_memory=control.domain == memory)
    ]
    settings = "\n".join(f"    {line}" for line in lines)
    return (
        f"#!/bin/sh\n# Clocks of {deployment.title}.\n#\n{script_text('set_clocks.sh')}\n"
        f'settings() {{\n{settings}\n}}\n\nmain "$@"\n'
    )


def controls_of(
    deployment: Deployment, as_is: Collection[str] = ()
) -> list[tuple[ClockControl, int | None]]:
    """Return the control of each clock of the problem, and its frequency, or None if it is off. A
    clock with one operating point needs no control.

    Args:
        as_is: domains that have none, and are left alone.

    Raises:
        ResultError: if the platform does not say how one of its clocks is set.
    """
    platform = deployment.platform
    controls = {control.domain: control for control in deployment.board.controls}
    unknown = uncontrolled(platform)
    found = []
    for domain, khz in deployment.clocks_khz.items():
        if domain in as_is:
            continue
        if domain in unknown:
            raise ResultError(
                f"sysfs cannot serve {platform.name}: it is not known which files set "
                f"{domain!r}; {as_target('json')} has the clocks for a tool of your own"
            )
        if domain in controls:
            found.append((controls[domain], khz))
    return found


def uncontrolled(platform: Platform) -> frozenset[str]:
    """Return the domains with several operating points that no file sets."""
    board = platform.deployment
    known = {control.domain for control in board.controls} if board else set()
    return frozenset(
        domain.name
        for domain in platform.domains
        if domain.name not in known and len(domain.operating_points) > 1
    )


def _settings(control: ClockControl, khz: int | None, *, is_memory: bool) -> list[str]:
    name = control.domain
    if khz is None:
        if control.online:
            return [f"offline {name} {path}" for path in control.online]
        return [f"# {name}: off, since nothing of this member runs on it; left alone"]
    value = khz if control.kind is ControlKind.CPUFREQ else khz * 1000
    role = "memory" if is_memory else "unit"
    lines = [f"online {name} {path}" for path in control.online]
    for paths in control.nodes:
        line = f"clock {role} {control.kind.value} {name} {value}"
        gap = " " if len(line) + sum(map(len, paths)) < _FOLDED else " \\\n        "
        lines.append(line + "".join(f"{gap}{path}" for path in paths))
    return lines


_LIMITS = {
    ControlKind.CPUFREQ: ("scaling_min_freq", "scaling_max_freq"),
    ControlKind.DEVFREQ: ("min_freq", "max_freq"),
}
_RATES = {
    ControlKind.BPMP: ("rate", "mrq_rate_locked"),
    ControlKind.OVERRIDE: ("clk_rate", "clk_state"),
}
"""The actual rate, and the file that keeps it there by being 1."""
_ROUNDING = 100
"""The firmware rounds a rate to one that it can make: one part in a hundred."""
_LONGEST = 64
"""Bytes of a number."""


@dataclass(frozen=True)
class Setting:
    """A number in a file, and the value that the member requires."""

    domain: str
    path: str
    """Below the root. For a folder that is missing, all its paths."""
    wanted: int
    found: int | None
    """None if there is no such file, or no number in it."""
    slack: int = 0

    @property
    def is_as_planned(self) -> bool:
        """Return whether the file has the value that the member requires."""
        return self.found is not None and abs(self.found - self.wanted) <= self.slack

    @property
    def words(self) -> str:
        """Return the setting in one line."""
        found = "is missing" if self.found is None else f"is {self.found}"
        wanted = "" if self.is_as_planned else f", must be {self.wanted}"
        return f"{self.domain}: {self.path} {found}{wanted}"


def sysfs_state(deployment: Deployment, root: Path) -> list[Setting]:
    """Return every setting of the member as it is on the board. Nothing is written.

    Args:
        root: the folder before all paths: ``/`` on the board, a copy of its files elsewhere.

    Raises:
        ResultError: if the platform does not say how one of its clocks is set.
    """
    return [
        setting
        for control, khz in controls_of(deployment)
        for setting in _state(control, khz, root)
    ]


def _state(control: ClockControl, khz: int | None, root: Path) -> Iterator[Setting]:
    name = control.domain
    for path in control.online:
        yield Setting(name, path, 0 if khz is None else 1, number_in(root, path))
    if khz is None:
        return
    value = khz if control.kind is ControlKind.CPUFREQ else khz * 1000
    for paths in control.nodes:
        node = next((path for path in paths if (root / path.lstrip("/")).is_dir()), None)
        if node is None:
            yield Setting(name, " or ".join(paths), value, None)
        elif control.kind in _RATES:
            rate, lock = (f"{node}/{file}" for file in _RATES[control.kind])
            yield Setting(name, rate, value, number_in(root, rate), value // _ROUNDING)
            yield Setting(name, lock, 1, number_in(root, lock))
        else:
            for file in _LIMITS[control.kind]:
                yield Setting(name, f"{node}/{file}", value, number_in(root, f"{node}/{file}"))


def number_in(root: Path, path: str) -> int | None:
    """Return the number in a file of sysfs below a folder, or None if there is none."""
    try:
        with (root / path.lstrip("/")).open("rb") as file:
            text = file.read(_LONGEST).strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
