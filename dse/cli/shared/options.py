"""Options that several commands share, as types for their parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from paretosoc.dse.cli.shared.option_groups import table_option
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.inputs.arguments import MAX_COUNT as MAX_COUNT
from paretosoc.dse.inputs.arguments import MAX_DRAWS
from paretosoc.dse.inputs.arguments import MAX_SECONDS as MAX_SECONDS
from paretosoc.dse.inputs.arguments import MAX_SEED as MAX_SEED
from paretosoc.dse.inputs.arguments import MAX_SIZE as MAX_SIZE
from paretosoc.dse.workload.options import FIELDS
from paretosoc.dse.workload.with_options import with_dimensions
from paretosoc.dse.workload.workload import workload_of

NetworkNames = Annotated[
    list[str],
    Argument(
        help="Networks: names (see 'dse networks'), .onnx files, dataflow graphs of SDF3 (.xml), "
        "NAME*COPIES, or one workload file (.yaml, .json)."
    ),
]
PlatformName = Annotated[
    str,
    Option(
        "--platform",
        "-p",
        help="Platform: a name (see 'dse platforms') or a JSON file, followed by @MODE for one of "
        "its power modes. 'dse explore' takes several modes of it: @MODE,MODE or @all.",
    ),
]
Folder = Annotated[Path, Argument(help="Result folder.", metavar="DIR")]
CampaignFolder = Annotated[Path, Argument(help="Folder of a campaign.", metavar="DIR")]
DaskAddress = Annotated[
    str | None,
    Option("--dask", metavar="ADDRESS", help="Address of a Dask scheduler, or its scheduler file."),
]
Processes = Annotated[
    int | None, Option("--jobs", min=1, max=1024, help="Worker processes. [default: all cores]")
]
AsJson = Annotated[bool, Option("--json", help="Print JSON.")]
Live = Annotated[
    bool,
    Option("--live", help="Serve a page on this machine that shows the run. Needs the extra live."),
]
Output = Annotated[Path, Option("--output", "-o", help="Output folder.")]
Force = Annotated[bool, Option("--force", help="Overwrite an existing result.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print errors only.")]
BoardFile = Annotated[
    str | None, Option("--platform", "-p", help="Platform file, if the platform has no name.")
]
Draws = Annotated[int, Option(min=1, max=MAX_DRAWS, help="How often costs are drawn.")]
Seed = Annotated[int, Option(min=0, max=MAX_SEED, help="Random seed.")]
Threads = Annotated[int, Option(min=1, max=MAX_SIZE, help="Number of cores per unit.")]
WeightSeed = Annotated[
    int, Option(min=0, max=MAX_SEED, help="Random seed for weights that a model lacks.")
]
Source = Annotated[
    str | None, Option("--source", help="Board and software, recorded with the values.")
]

TimeLimit = Annotated[
    float | None,
    Option(
        "--time-limit",
        min=0.001,
        max=MAX_SECONDS,
        help="Time limit in seconds, start and pictures included. Compiling kernels, at the first "
        "use, comes on top.",
    ),
]
MaxNodes = Annotated[
    int | None,
    Option(
        "--max-nodes",
        min=1,
        max=MAX_COUNT,
        help="Maximum number of nodes per search of the proof. [default: 4,000,000]",
    ),
]
Jobs = Annotated[int | None, Option(min=1, max=1024, help="Worker threads. [default: all cores]")]
ProfileFile = Annotated[Path | None, table_option("profile")]
Dimensions = Annotated[list[str] | None, table_option("dimensions")]
Batches = Annotated[list[str] | None, table_option("batch")]
GroupCount = Annotated[str | None, table_option("groups")]
Precision = Annotated[str | None, table_option("precision")]
MemberName = Annotated[
    str,
    Option("--member", help="Member: an index, or a name such as fastest, knee or lowest-energy."),
]
ModelFiles = Annotated[
    list[str] | None, Option("--model", help="New location of a model: NETWORK=FILE. Repeatable.")
]
Tasks = Annotated[
    list[str] | None,
    Option(
        "--task", help="Python function that is run for a task: TASK=FILE.py:FUNCTION. Repeatable."
    ),
]


def sizes_of(dimensions: list[str] | None, network: str = "") -> dict[str, int]:
    """Return sizes by name of a dimension from the texts of ``--dim``, those of ``network`` among
    them without its name.

    Raises:
        WorkloadError: on another form, a size below 1, or two sizes of a dimension.
    """
    sizes = FIELDS["dimensions"].kind.parse(dimensions or (), "--dim")
    if not network or not sizes:
        return dict(sizes)
    return dict(with_dimensions(workload_of([network]), sizes).networks[0].dimensions)
