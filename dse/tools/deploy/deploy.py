"""A member of a front as files that set up a board: the Python entry behind ``dse deploy``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from dse.tools.analysis.power_modes import mode_costs
from dse.tools.deploy.check_onnx import WrittenPart, check_equality
from dse.tools.deploy.find_models import check_models, searched_model
from dse.tools.deploy.targets import Target
from dse.tools.deploy.texts import engines_script, network_files
from platforms.deployment import PowerModes
from results.deploy.deployment import Deployment, check_platform
from results.deploy.deployment_document import DeployedModel, deployment_to_document
from results.deploy.deployment_folder import check_deployment_folder, write_deployment
from results.deploy.nvpmodel_conf import parse_nvpmodel_conf, power_modes_of
from results.deploy.nvpmodel_section import (
    ModeCost,
    mode_cost_words,
    nearest_mode,
    nvpmodel_section,
    power_modes,
)
from results.deploy.sysfs_script import sysfs_script
from results.deploy.trtexec_script import check_trtexec
from results.errors import ResultError
from results.io.canonical_json import Json
from sdf.onnx.parts import cut_model, save_part

NVPMODEL_FILE = "nvpmodel.conf"
SYSFS_FILE = "set_clocks.sh"
TRTEXEC_FILE = "engines.sh"


def deploy(
    deployment: Deployment,
    target: Target,
    folder: Path,
    *,
    conf: Path | None = None,
    models: Mapping[str, str] | None = None,
    check: bool = True,
    overwrite: bool = False,
) -> list[str]:
    """Writes a deployment.

    Args:
        deployment: the member, and the board.
        target: what for.
        folder: where to, with ``deployment.json`` in every case.
        conf: the board's own nvpmodel file.
        models: network to the file of its model, where it is no longer where it was.
        check: compare sub-models with the uncut model by ONNX Runtime.
        overwrite: replace an older deployment.

    Returns:
        What to tell the user, a line each.

    Raises:
        ResultError, GraphError: where the format cannot serve the platform or a unit, a model
            cannot be found or is not that of the search, sub-models differ from the uncut model, or
            the folder cannot be written.
    """
    check_platform(deployment)
    check_deployment_folder(folder, overwrite=overwrite)
    notes = _idle_cpu_notes(deployment) if target in (Target.NVPMODEL, Target.SYSFS) else []

    def fill(part: Path) -> Callable[[dict[str, str]], dict[str, Json]]:
        parts: list[DeployedModel] | None = None
        modes: tuple[ModeCost, ...] | None = None
        if target is Target.NVPMODEL:
            text, modes = _nvpmodel(deployment, conf)
            (part / NVPMODEL_FILE).write_text(text, "utf-8")
            notes.extend(_mode_notes(deployment, modes))
        elif target is Target.SYSFS:
            _write_script(part / SYSFS_FILE, sysfs_script(deployment))
        elif target is not Target.JSON:
            if target is Target.TRTEXEC:
                check_trtexec(deployment)
                _write_script(part / TRTEXEC_FILE, engines_script(deployment))
            parts = _write_models(
                deployment, part, models or {}, notes, check=check, uncut=target is Target.TRTEXEC
            )
        return lambda files: deployment_to_document(
            deployment, target=target.value, files=files, models=parts, modes=modes
        )

    write_deployment(folder, fill, overwrite=overwrite)
    return notes


def _nvpmodel(deployment: Deployment, conf: Path | None) -> tuple[str, tuple[ModeCost, ...]]:
    modes: PowerModes = power_modes(deployment)
    if conf is not None:
        try:
            text = conf.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "is no text"
            raise ResultError(f"{conf}: cannot be read: {why}") from None
        modes = power_modes_of(parse_nvpmodel_conf(text, str(conf)), modes, str(conf))
    (costs,) = mode_costs([deployment], modes)
    return nvpmodel_section(deployment, modes, costs, from_file=conf is not None), costs


def _idle_cpu_notes(deployment: Deployment) -> list[str]:
    """A warning where a CPU that the member has no use for would run at its slowest clock."""
    platform, units = deployment.platform, deployment.problem.units
    used = {units[u].name for u in set(deployment.member.design.units.tolist())}
    notes = []
    for unit in platform.units:
        domain = unit.clocks[0]
        khz = deployment.clocks_khz.get(domain)
        slowest = platform.domain_by_name[domain].operating_points[0].frequency_khz
        hosts = any(other.host == domain for other in platform.units)
        if unit.kind == "cpu" and unit.name not in used and khz == slowest and not hosts:
            notes.append(
                f"{domain} is set to its slowest clock, {khz / 1000:g} MHz: no group runs there, "
                f"but launches and your application do; see 'dse explore --fix {domain}=MHZ'"
            )
    return notes


def _mode_notes(deployment: Deployment, costs: tuple[ModeCost, ...]) -> list[str]:
    nearest = nearest_mode(costs)
    if nearest is None:
        return ["The mapping runs in none of the board's own modes."]
    return [f"Nearest of the board's own modes: {mode_cost_words(deployment, nearest)}."]


def _write_script(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    path.chmod(0o755)


def _write_models(
    deployment: Deployment,
    folder: Path,
    models: Mapping[str, str],
    notes: list[str],
    *,
    check: bool,
    uncut: bool,
) -> list[DeployedModel]:
    names = [network.name for network in deployment.problem.networks]
    check_models(models, names)
    deployed = []
    for n, files in enumerate(network_files(deployment)):
        layers = [deployment.layers(segment) for segment in deployment.segments(n)]
        assert deployment.origins is not None, "the layers are known"
        network = deployment.origins.networks[n]
        model, dimensions = searched_model(network, models), dict(network.source.dimensions)
        if uncut and len(layers) > 1:
            everything = [name for names in layers for name in names]
            (entire,) = cut_model(
                model.data, model.folder, [everything], dimensions=dimensions, label=model.label
            )
            save_part(entire, folder / files.whole, model.folder)
        parts = cut_model(
            model.data, model.folder, layers, dimensions=dimensions, label=model.label
        )
        written = []
        for part, file in zip(parts, files.segments, strict=True):
            save_part(part, folder / file, model.folder)
            written.append(WrittenPart(part, folder / file))
        count = f"{names[n]}: {len(parts)} {'part' if len(parts) == 1 else 'parts'}"
        equality: dict[str, Json] | None = None
        if check:
            found = check_equality(model.data, model.folder, written, label=names[n])
            equality = asdict(found)
            notes.append(
                f"{count}, {found.tensors} of their tensors compared with the uncut model on "
                f"random input by {found.runtime}: "
                + (
                    "equal to the last bit."
                    if found.largest_difference == 0
                    else f"largest difference {found.largest_difference:g}."
                )
            )
            if found.random_weights:
                notes.append(
                    f"{names[n]}: the model holds no trained values for {found.random_weights} "
                    "weights; the files serve timing only. For results, "
                    "explore an .onnx file with its weights."
                )
        else:
            notes.append(f"{count}, not compared with the uncut model.")
        deployed.append(DeployedModel(files.segments, parts, equality))
    return deployed
