"""``dse deploy``: a member of a front as files that set up a board."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option, refuse_options
from paretosoc.dse.cli.shared.terminal import written
from paretosoc.dse.errors import WorkloadError

if TYPE_CHECKING:
    from paretosoc.results.deploy.deployment import Deployment


def deploy(
    folder: opt.Folder,
    to: Annotated[
        str,
        Option(
            "--to",
            metavar="FORMAT",
            help="Output format: nvpmodel, sysfs, trtexec, deepstream, triton, onnx, onnxruntime, "
            "openvino, rknn, ros2, iree, llama-cpp, json, or one that an installed package "
            "registers.",
        ),
    ],
    output: Annotated[
        Path | None, Option("--output", "-o", help="Output folder.", show_default=False)
    ] = None,
    check: Annotated[
        Path | None,
        Option(
            metavar="ROOT",
            help="Compare the clocks set now with the member: '/', or a copy of the board's /sys.",
        ),
    ] = None,
    member: Annotated[
        str | None,
        Option(help="Member: an index or a name; default: the fastest that the format can serve."),
    ] = None,
    platform: opt.BoardFile = None,
    conf: Annotated[
        Path | None, Option(help="The board's nvpmodel file, whose names and modes are used.")
    ] = None,
    tensorrt: Annotated[
        str | None,
        Option(
            metavar="VERSION",
            help="TensorRT's version: 8, 10, 11; default: the board's newest below 11.",
        ),
    ] = None,
    model: opt.ModelFiles = None,
    no_check: Annotated[
        bool, Option("--no-check", help="Skip the comparison with the uncut model.")
    ] = False,
    force: Annotated[bool, Option("--force", help="Overwrite an existing deployment.")] = False,
) -> int:
    """Write the files that set up a member of a front on a board.

    With --check nothing is written. Exit status 1: a clock is not as planned.
    """
    from paretosoc.dse.tools.deploy.deploy import deploy as write_deployment
    from paretosoc.dse.tools.deploy.deploy import fastest_served, format_named
    from paretosoc.dse.tools.deploy.formats import FORMATS
    from paretosoc.dse.tools.deploy.job import Options
    from paretosoc.dse.tools.deploy.searched_inputs import parse_models, platform_or_searched
    from paretosoc.results.deploy.deployment import Deployment
    from paretosoc.results.export.result_folder import read_costs, read_results
    from paretosoc.results.front.named_members import choose_member

    if (output is None) == (check is None):
        raise WorkloadError("--output or --check: exactly one is required")
    models = parse_models(model)
    front = read_results(folder)
    chip, origins = platform_or_searched(platform, front), read_costs(folder, front.problem)
    deployment, notes = (
        fastest_served(front, chip, origins, to)
        if member is None
        else (Deployment(front, choose_member(front, member), chip, origins), [])
    )
    form = format_named(to, deployment)
    for name in ("check", "conf", "model", "no_check", "tensorrt"):
        option = f"--{name.replace('_', '-')}"
        if option not in form.takes:
            able = [f"--to {to}" for to, each in FORMATS.own.items() if option in each.takes]
            refuse_options(f"only {', '.join(able)} can use it", name)
    if output is None:
        assert check is not None, "one of them was given"
        return _compare(deployment, check)
    notes += write_deployment(
        deployment,
        to,
        output,
        Options(conf, models, check=not no_check, tensorrt=tensorrt),
        overwrite=force,
    )
    print(deployment.title)
    for line in notes:
        print(line)
    print(written(output))
    return 0


def _compare(deployment: Deployment, root: Path) -> int:
    """Print every setting beside the member's value, and return the exit status."""
    from paretosoc.results.deploy.sysfs_script import sysfs_state

    if not root.is_dir():
        raise WorkloadError(f"--check: a folder is required, got {str(root)!r}")
    settings = sysfs_state(deployment, root)
    print(deployment.title)
    for setting in settings:
        print(setting.words)
    wrong = sum(not setting.is_as_planned for setting in settings)
    print(f"{wrong} of {len(settings)} settings differ" if wrong else "all settings as planned")
    return 1 if wrong else 0
