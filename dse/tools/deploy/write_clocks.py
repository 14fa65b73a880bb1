"""The clocks of a member as files of nvpmodel and sysfs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paretosoc.common.files import read_file
from paretosoc.dse.tools.analysis.power_modes import mode_costs
from paretosoc.dse.tools.deploy.job import Job, Written
from paretosoc.platforms.deployment import PowerModes
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.nvpmodel_conf import parse_nvpmodel_conf, power_modes_of
from paretosoc.results.deploy.nvpmodel_section import (
    ModeCost,
    mode_cost_words,
    nearest_mode,
    nvpmodel_section,
    power_modes,
)
from paretosoc.results.deploy.sysfs_script import sysfs_script
from paretosoc.results.errors import ResultError

NVPMODEL_FILE = "nvpmodel.conf"
SYSFS_FILE = "set_clocks.sh"
MAX_CONF_BYTES = 1 << 20
"""A board's own file has some ten kilobytes."""


def write_nvpmodel(job: Job) -> Written:
    """Writes a power mode."""
    text, modes = _nvpmodel(job.deployment, job.options.conf)
    job.write_text(NVPMODEL_FILE, text)
    return Written(tuple(_mode_notes(job.deployment, modes)), modes=modes)


def write_sysfs(job: Job) -> Written:
    """Writes the script that sets clocks."""
    job.write_text(SYSFS_FILE, sysfs_script(job.deployment), executable=True)
    return Written()


def nvpmodel_texts(deployments: Sequence[Deployment]) -> list[str]:
    """Return the power mode of each member of one front.

    Raises:
        ResultError: if the board has no power modes.
    """
    modes = power_modes(deployments[0])
    return [
        nvpmodel_section(deployment, modes, costs, from_file=False)
        for deployment, costs in zip(deployments, mode_costs(deployments, modes), strict=True)
    ]


def _nvpmodel(deployment: Deployment, conf: Path | None) -> tuple[str, tuple[ModeCost, ...]]:
    modes: PowerModes = power_modes(deployment)
    if conf is not None:
        try:
            text = read_file(conf, ResultError, MAX_CONF_BYTES).decode("utf-8")
        except UnicodeDecodeError:
            raise ResultError(f"{conf}: must be UTF-8 text") from None
        modes = power_modes_of(parse_nvpmodel_conf(text, str(conf)), modes, str(conf))
    (costs,) = mode_costs([deployment], modes)
    return nvpmodel_section(deployment, modes, costs, from_file=conf is not None), costs


def _mode_notes(deployment: Deployment, costs: tuple[ModeCost, ...]) -> list[str]:
    nearest = nearest_mode(costs)
    if nearest is None:
        return ["The mapping runs in none of the board's own modes."]
    return [f"Nearest of the board's own modes: {mode_cost_words(deployment, nearest)}."]
