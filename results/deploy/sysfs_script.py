"""A POSIX shell script that sets the clocks of a member through sysfs."""

from __future__ import annotations

from paretosoc.platforms.deployment import ClockControl, ControlKind
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.scripts import script_text
from paretosoc.results.errors import ResultError

_FOLDED = 96
"""Columns after which folders start a new line."""


def sysfs_script(deployment: Deployment) -> str:
    """Return the script. A domain that is off is left alone, or its CPUs go off line.

    Raises:
        ResultError: if the platform does not say how one of its clocks is set.
    """
    memory = deployment.platform.memory.domain
    lines = [
        line
        for control, khz in controls_of(deployment)
        for line in _settings(control, khz, is_memory=control.domain == memory)
    ]
    settings = "\n".join(f"    {line}" for line in lines)
    return (
        f"#!/bin/sh\n# Clocks of {deployment.title}.\n#\n{script_text('set_clocks.sh')}\n"
        f'settings() {{\n{settings}\n}}\n\nmain "$@"\n'
    )


def controls_of(deployment: Deployment) -> list[tuple[ClockControl, int | None]]:
    """Return the control of each clock of the problem, and its frequency, or None if it is off. A
    clock with one operating point needs no control.

    Raises:
        ResultError: if the platform does not say how one of its clocks is set.
    """
    platform = deployment.platform
    controls = {control.domain: control for control in deployment.board.controls}
    found = []
    for domain, khz in deployment.clocks_khz.items():
        if domain not in controls:
            if len(platform.domain_by_name[domain].operating_points) == 1:
                continue
            raise ResultError(
                f"sysfs cannot serve {platform.name}: it is not known which files set "
                f"{domain!r}; --to json has the clocks for a tool of your own"
            )
        found.append((controls[domain], khz))
    return found


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
