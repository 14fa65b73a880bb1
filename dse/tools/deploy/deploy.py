"""A member of a front as files that set up a board: the Python entry behind ``dse deploy``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dse.tools.deploy.formats import FORMATS
from dse.tools.deploy.job import Job, Options
from dse.tools.deploy.targets import Target
from results.deploy.deployment import Deployment, check_platform
from results.deploy.deployment_document import deployment_to_document
from results.deploy.deployment_folder import check_deployment_folder, write_deployment
from results.io.canonical_json import Json


def deploy(
    deployment: Deployment,
    target: Target,
    folder: Path,
    options: Options,
    *,
    overwrite: bool = False,
) -> list[str]:
    """Writes a deployment.

    Args:
        deployment: the member, and the board.
        target: what for.
        folder: where to, with ``deployment.json`` in every case.
        options: what the user says of it.
        overwrite: replace an older deployment.

    Returns:
        What to tell the user, a line each.

    Raises:
        ResultError, GraphError: where the format cannot serve the platform or a unit, a model
            cannot be found or is not that of the search, sub-models differ from the uncut model, or
            the folder cannot be written.
    """
    chosen = FORMATS[target]
    check_platform(deployment)
    check_deployment_folder(folder, overwrite=overwrite)
    chosen.check(deployment)
    notes: list[str] = []

    def fill(part: Path) -> Callable[[dict[str, str]], dict[str, Json]]:
        written = chosen.write(Job(deployment, part, options))
        notes.extend(written.notes)
        return lambda files: deployment_to_document(
            deployment,
            target=target.value,
            files=files,
            models=written.models,
            modes=written.modes,
            providers=written.providers,
            devices=written.devices,
        )

    write_deployment(folder, fill, overwrite=overwrite)
    return notes
