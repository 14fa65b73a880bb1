"""What each format would say of each member of a front, and which formats can serve a member."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dse.tools.analysis.power_modes import mode_costs
from dse.tools.deploy.targets import Target
from results.deploy.deployment import Deployment, check_platform
from results.deploy.nvpmodel_section import nvpmodel_section, power_modes
from results.deploy.sysfs_script import sysfs_script
from results.deploy.trtexec_script import NetworkFiles, check_trtexec, trtexec_script
from results.errors import ResultError


def deployment_texts(deployments: Sequence[Deployment]) -> list[dict[str, str]]:
    """For each member of one front the text of each format that is one text, by its name on the
    command line; where a format cannot serve the platform or a unit, what to use instead.

    Raises:
        ResultError: where the platform is not that of the search.
    """
    if not deployments:
        return []
    check_platform(deployments[0])
    try:
        modes = power_modes(deployments[0])
    except ResultError as error:
        sections = [str(error)] * len(deployments)
    else:
        sections = [
            nvpmodel_section(deployment, modes, costs, from_file=False)
            for deployment, costs in zip(deployments, mode_costs(deployments, modes), strict=True)
        ]
    return [
        {
            Target.NVPMODEL.value: section,
            Target.SYSFS.value: _text_or_reason(sysfs_script, deployment),
            Target.TRTEXEC.value: _text_or_reason(engines_script, deployment),
        }
        for deployment, section in zip(deployments, sections, strict=True)
    ]


def fitting_targets(deployment: Deployment) -> dict[str, str | None]:
    """Every format by its name on the command line, and why it cannot serve the member; None where
    it can."""
    reasons: dict[str, str | None] = {}
    checks: dict[Target, Callable[[Deployment], object]] = {
        Target.NVPMODEL: power_modes,
        Target.SYSFS: sysfs_script,
        Target.TRTEXEC: check_trtexec,
        Target.ONNX: lambda deployment: deployment.layers(deployment.segments(0)[0]),
    }
    for target in Target:
        check = checks.get(target, check_platform)
        try:
            check_platform(deployment)
            check(deployment)
        except ResultError as error:
            reasons[target.value] = str(error)
        else:
            reasons[target.value] = None
    return reasons


def _text_or_reason(make: Callable[[Deployment], str], deployment: Deployment) -> str:
    try:
        return make(deployment)
    except ResultError as error:
        return str(error)


def engines_script(deployment: Deployment) -> str:
    """The script that builds an engine of each part."""
    return trtexec_script(deployment, network_files(deployment))


def network_files(deployment: Deployment) -> tuple[NetworkFiles, ...]:
    """Names of the ONNX files of each network."""
    taken: set[str] = set()
    files = []
    for n, network in enumerate(deployment.problem.networks):
        stem = re.sub(r"[^A-Za-z0-9_.+-]", "_", network.name).lstrip("-.") or "network"
        name, copy = stem, 2
        while name in taken:
            name, copy = f"{stem}_{copy}", copy + 1
        taken.add(name)
        segments = deployment.segments(n)
        model_name = f"{name}.onnx"
        units = [deployment.problem.units[segment.unit].name for segment in segments]
        files.append(
            NetworkFiles(
                model_name,
                (model_name,)
                if len(segments) == 1
                else tuple(f"{name}.{k}.{unit}.onnx" for k, unit in enumerate(units)),
            )
        )
    return tuple(files)
