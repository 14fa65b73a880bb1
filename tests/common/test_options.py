"""Messages name options as the caller wrote them: command, library, campaign file."""

import ast
import re
from pathlib import Path

import pytest

import paretosoc as dse
from paretosoc.common.options import Door, as_written, called_from

ROOT = Path(__file__).parents[2]
OF_COMMANDS = (
    # What only commands call.
    *("dse/cli", "dse/papers", "dse/tools/campaign/analyse", "dse/tools/campaign/execute/dask"),
    *(
        "dse/tools/sensitivity",
        "dse/tools/host",
        "dse/tools/dask_cluster",
        "fitness/profiles/profilers",
        "fitness/calibration",
    ),
    # What parses the texts of the command line.
    *("dse/workload/fields.py", "dse/workload/options.py"),
)
OF_OTHER_PROGRAMS = "--layerDeviceTypes "


@pytest.mark.parametrize(
    ("door", "expected"),
    [
        (Door.LIBRARY, ["deadline_ms", "groups=10", "groups='layers'", "flag=True", "d={'a': 1}"]),
        (Door.COMMAND, ["--deadline", "--groups 10", "--groups layers", "--flag", "-d a=1"]),
        (Door.CAMPAIGN, ["deadline_ms", "groups: 10", "groups: layers", "flag: true", "d: a=1"]),
    ],
)
def test_an_option_as_each_caller_writes_it(door, expected):
    with called_from(door):
        assert [
            as_written("deadline_ms", command="--deadline"),
            as_written("groups", 10),
            as_written("groups", "layers"),
            as_written("flag", value=True),
            as_written("d", {"a": 1}, command="-d"),
        ] == expected


def texts_of(node):
    """The texts of a message, without what is said of other programs and whole commands."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("as_written", "as_target"):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield re.sub("'dse .*", "", node.value)
    for child in ast.iter_child_nodes(node):
        yield from texts_of(child)


def test_no_message_of_the_library_names_an_option_of_the_command_by_hand():
    found = []
    for room in ("common", "sdf", "platforms", "fitness", "results", "dse"):
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if name.startswith(OF_COMMANDS) or "scripts/" in name:
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Raise):
                    found += [
                        f"{name}:{node.lineno}: {text}"
                        for text in texts_of(node)
                        if re.search("--[a-z]", text.replace(OF_OTHER_PROGRAMS, ""))
                    ]
    assert found == []


REFUSED = [
    ({"deadline_ms": {"nothing": 9}}, "deadline_ms: there is no network 'nothing'"),
    ({"fixed": {"nothing": 9}}, "fixed: jetson-agx-xavier has no domain 'nothing'"),
    ({"min_rate_hz": 9}, "min_rate_hz: free_running is required"),
    (
        {"frames_in_flight": 2},
        "frames_in_flight=2: the objective throughput, on the timeline, or f",
    ),
    ({"memory_cap_mb": {"nothing": 9}}, "memory_cap_mb: no unit of this problem has the memory"),
    ({"max_accuracy_loss_percent": 1}, "max_accuracy_loss_percent: losses is required"),
    ({"search_order": "networks"}, "search_order='networks': two networks or more are required"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_the_library_names_its_arguments(options, message):
    with pytest.raises(dse.DseError) as refused:
        dse.Problem(["squeezenet"], "jetson-agx-xavier", **options)
    assert str(refused.value).startswith(message)
    assert "--" not in str(refused.value)
