"""A member as files that set up a board."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from paretosoc.dse.api.front import Front, front_of
from paretosoc.dse.inputs.arguments import check_arguments, check_type, path_of
from paretosoc.dse.tools.deploy.deploy import deploy as deploy_member
from paretosoc.dse.tools.deploy.deploy import fastest_served
from paretosoc.dse.tools.deploy.job import Options
from paretosoc.dse.tools.deploy.searched_inputs import searched_platform
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.front.named_members import choose_member


def deploy(
    front: Front | str | Path,
    target: str,
    folder: str | Path,
    *,
    member: int | str | None = None,
    platform: str | Path | Platform | None = None,
    models: Mapping[str, str] | None = None,
    nvpmodel_conf: str | Path | None = None,
    tensorrt: str | None = None,
    check: bool = True,
    overwrite: bool = False,
) -> list[str]:
    """Write the files that set up a board for a member of a front.

    Args:
        front: a front, or its folder.
        target: name of a format, as ``dse deploy --to`` has it.
        folder: destination. A file ``deployment.json`` in it lists everything that was written.
        member: position or name. Default: the fastest one that the format can serve.
        platform: the platform's file, if it has no name.
        models: network -> file of its model, if it is no longer where it was.
        nvpmodel_conf: the board's own nvpmodel file.
        tensorrt: TensorRT's version. Default: the newest below 11 that serves the board.
        check: compare parts of models with the uncut ones by ONNX Runtime.
        overwrite: replace an older deployment.

    Returns:
        Notes for the user, a line each.

    Raises:
        DseError: if the format cannot serve the platform or a unit, a model cannot be found or
            is not that of the search, or the folder cannot be written.

    Examples:
        >>> dse.deploy(front, "trtexec", "runs/engines", member="knee")
    """
    front = front_of(front)
    check_type("target", target, str, "the name of a format")
    check_type("models", models, Mapping | None, "a mapping from networks to files")
    check_type("tensorrt", tensorrt, str | None, "a version such as '10.3'")
    check_arguments(check=check, overwrite=overwrite)
    if platform is None:
        chip = searched_platform(front.numeric)
    else:
        chip = platform if isinstance(platform, Platform) else load_platform(str(platform))
    if member is None:
        deployment, notes = fastest_served(front.numeric, chip, front.costs, target)
    else:
        index = choose_member(front.numeric, str(member))
        deployment, notes = Deployment(front.numeric, index, chip, front.costs), []
    return notes + deploy_member(
        deployment,
        target,
        path_of(folder),
        Options(
            None if nvpmodel_conf is None else path_of(nvpmodel_conf, "nvpmodel_conf"),
            models or {},
            check=check,
            tensorrt=tensorrt,
        ),
        overwrite=overwrite,
    )
