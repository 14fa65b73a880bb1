"""A runtime says which units a problem has, how each takes its work, and what networks keep to."""

import json
from pathlib import Path

import numpy as np
import pytest

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.problem.runtime_limits import transition_limit, with_defaults
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.read_options import parse_options, read_options
from paretosoc.dse.workload.workload import workload_of
from paretosoc.dse.workload.workload_file import load_workload
from paretosoc.platforms.io.platform_file import load_platform, platform_names
from paretosoc.results.problem.execution import ENGINE, GROUP, SHARED
from paretosoc.results.problem.runtimes import RUNTIMES, Runtime

PAIR = workload_of(["squeezenet", "resnet18"])


def built(platform, workload=PAIR, **options):
    return build_problem(workload, load_platform(platform), read_options(options | {"groups": 4}))


def dispatches(platform, runtime):
    units = built(platform, runtime=runtime).problem.units
    return {unit.name: (unit.dispatch, unit.sharing_permille) for unit in units}


def test_each_runtime_serves_its_units_in_its_way():
    dlas = {"dla0": (ENGINE, 0), "dla1": (ENGINE, 0)}
    xavier = "jetson-agx-xavier"
    assert dispatches(xavier, "trtexec") == {"gpu": (SHARED, 120), **dlas}
    assert dispatches(xavier, "deepstream") == {"gpu": (SHARED, 120), **dlas}
    assert dispatches(xavier, "triton") == {"cpu": (ENGINE, 0), "gpu": (ENGINE, 0), **dlas}
    assert dispatches(xavier, "onnxruntime") == {"cpu": (SHARED, 0), "gpu": (SHARED, 120), **dlas}
    everything = dict.fromkeys(("cpu", "gpu", "dla0", "dla1"), (GROUP, 0))
    assert dispatches(xavier, "none") == everything
    assert set(dispatches("rk3588", "rknn")) == {"a55", "a76", "npu0", "npu1", "npu2"}
    assert dispatches("rk3588", "rknn")["npu2"] == (ENGINE, 0)
    assert built(xavier, runtime="trtexec").problem.runtime == "trtexec"
    assert built(xavier, runtime="none").problem.runtime is None


def test_a_runtime_of_a_platform_is_one_of_the_table_and_serves_units_of_it():
    for name in platform_names():
        platform = load_platform(name)
        runtime = platform.deployment and platform.deployment.runtime
        if runtime is not None:
            rules = RUNTIMES[Runtime(runtime)]
            assert rules.places(platform), name
            assert rules.refusal((platform.default_precision,)) is None


@pytest.mark.parametrize(
    ("platform", "options", "message"),
    [
        (
            "jetson-agx-xavier",
            {"runtime": "trtexec", "units": "cpu,gpu"},
            "runtime='trtexec': TensorRT serves gpu, dla0, dla1 of jetson-agx-xavier, got cpu, "
            "gpu; runtime='triton' serves these",
        ),
        (
            "snapdragon-865",
            {"runtime": "rknn"},
            "RKNN serves no unit of snapdragon-865, whose default is runtime='none'",
        ),
        (
            "rk3588",
            {"runtime": "onnxruntime"},
            "ONNX Runtime serves no unit of rk3588, whose default is runtime='rknn'",
        ),
        (
            "jetson-agx-orin",
            {"runtime": "deepstream", "precision": "int8,fp16"},
            "runtime='deepstream': DeepStream has one number format for all groups, got int8, fp16",
        ),
        (
            "jetson-nano",
            {"runtime": "trtexec", "pins": {"squeezenet": "cpu"}},
            "pin squeezenet=cpu: runtime='trtexec': TensorRT serves gpu of jetson-nano, "
            "got gpu, cpu; runtime='triton' serves these",
        ),
        ("jetson-tx2", {"runtime": "nothing"}, "runtime: one of trtexec, triton,.* is required"),
        ("jetson-tx2", {"dispatch": "all"}, "dispatch: one of group, engine, shared"),
        ("jetson-tx2", {"dispatch": {"dla0": "group"}}, "there is no unit 'dla0' in the search"),
        (
            "jetson-tx2",
            {
                "runtime": "trtexec",
                "throughput_model": "analytic",
                "objectives": ["throughput"],
            },
            "runtime: none is required with the closed form, got trtexec",
        ),
    ],
)
def test_what_does_not_fit_is_refused(platform, options, message):
    with pytest.raises(WorkloadError, match=message):
        built(platform, **options)


def test_a_dispatch_by_hand():
    units = built("jetson-agx-xavier", runtime="trtexec", dispatch={"gpu": "group"}).problem.units
    assert [unit.dispatch for unit in units] == [GROUP, ENGINE, ENGINE]
    assert units[0].sharing_permille == 0
    options = parse_options({"dispatch": ["engine", "gpu=shared"], "max_transitions": ["any"]})
    assert dict(options.dispatch) == {None: "engine", "gpu": "shared"}
    assert options.max_transitions == ((None, "any"),)


def test_a_network_keeps_one_dla_core_under_deepstream():
    problem = built("jetson-agx-xavier", runtime="deepstream")
    columns = {unit.name: column for unit, column in zip(
        problem.problem.units, problem.problem.allowed.T, strict=True)}  # fmt: skip
    for network, (kept, lost) in zip(
        problem.problem.networks, (("dla0", "dla1"), ("dla1", "dla0")), strict=True
    ):
        assert columns[kept][network.groups].any()
        assert not columns[lost][network.groups].any()
        assert columns["gpu"][network.groups].all()
    assert sum("DeepStream has one of" in text for text in problem.warnings) == 2
    (text, _) = [text for text in problem.warnings if "DeepStream has one of" in text]
    assert text.endswith("of dla0, dla1 in a network: dla0, or the one of pins")
    pinned = built(
        "jetson-agx-xavier", runtime="deepstream", pins={"squeezenet": {(1, 1): "dla1"}}
    ).problem
    assert not pinned.allowed[:4, 1].any()
    pins = {"squeezenet": {(1, 1): "dla1", (2, 2): "dla0"}}
    with pytest.raises(WorkloadError, match="one of dla0, dla1 is required for each network"):
        built("jetson-agx-xavier", runtime="deepstream", pins=pins)


def test_runtime_and_limits_in_a_workload_file(tmp_path):
    file = tmp_path / "w.json"
    network = {"network": "squeezenet", "max_transitions": "any"}
    file.write_text(json.dumps({"networks": [network], "runtime": "triton"}))
    workload = load_workload(file)
    assert built("jetson-agx-xavier", workload).problem.runtime == "triton"
    assert built("jetson-agx-xavier", workload, runtime="none").problem.runtime is None
    assert built("jetson-agx-xavier", workload).problem.networks[0].max_transitions is None
    file.write_text(json.dumps({"networks": [network], "runtime": "tensorrt"}))
    with pytest.raises(WorkloadError, match="runtime"):
        load_workload(file)


def limit_of(rows, edges=None, asked="chosen"):
    """The default limit for a table of what units can run: a row for each group."""
    allowed = np.array(rows, dtype=bool)
    units = built("jetson-agx-xavier").problem.units[: allowed.shape[1]]
    chain = [(g, g + 1) for g in range(len(rows) - 1)] if edges is None else edges
    return transition_limit(asked, allowed, chain, units)


def test_unit_changes_that_layers_force_do_not_count():
    assert limit_of([[1, 1]] * 5) == (2, 0)
    # Three groups cannot change more often.
    assert limit_of([[1, 1]] * 3) == (None, 0)
    # The second unit can run three of five groups, and is left twice.
    assert limit_of([[1, 1], [1, 0], [1, 1], [1, 0], *[[1, 1]] * 4]) == (6, 4)
    # Of a unit that can run fewer than half of the groups nothing is forced.
    assert limit_of([[1, 1], [1, 0], [1, 0], [1, 0], [1, 1]]) == (2, 0)
    # No unit can run everything: the changes of the mapping that stays longest.
    assert limit_of([[1, 0], [0, 1], [1, 0], [0, 1], [1, 0], *[[0, 1]] * 5]) == (7, 5)
    rows = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 1], *[[0, 0, 1]] * 2]
    assert limit_of(rows) == (4, 2)
    assert limit_of([[1, 1]] * 2, edges=[]) == (None, 0)
    assert limit_of([[1, 1]] * 5, asked=1) == (1, 0)
    assert limit_of([[1, 0], [0, 1]], asked="any") == (None, 0)
    assert limit_of([[1, 0], [0, 1]], asked=None) == (None, 0)


def test_a_forced_change_is_said():
    chip = load_platform("rk3588")
    workload = workload_of(["swin_v2_t"])
    made = build_problem(
        workload, chip, with_defaults(Options(runtime=Runtime.RKNN), chip, workload)
    )
    (limit,) = [network.max_transitions for network in made.problem.networks]
    assert limit > 10
    assert not [text for text in made.warnings if "unit changes" in text]
    (text,) = [text for text in made.refused if "unit changes" in text]
    most = "a mapping that runs all it can on npu0 or npu1 or npu2 has"
    assert f"at most {limit} unit changes, as {most} {limit - 2} (" in text


def test_a_unit_that_no_network_could_use_is_not_said_to_be_left_out():
    """An image processor is a unit of tasks, whatever the runtime serves."""
    vic = Path(__file__).parents[3] / "examples" / "platforms" / "orin_nano_vic.json"
    assert not [text for text in built(vic, runtime="trtexec").warnings if "not used" in text]
    assert "gpu: not used" in " ".join(built("rk3588", runtime="rknn").warnings)


def test_defaults_of_commands():
    xavier = load_platform("jetson-agx-xavier")
    assert with_defaults(Options(), xavier, PAIR).runtime is Runtime.TRTEXEC
    assert with_defaults(Options(), load_platform("snapdragon-865"), PAIR).runtime is Runtime.NONE
    of_one = (("squeezenet", 1),)
    given = with_defaults(Options(max_transitions=of_one), xavier, PAIR)
    assert given.max_transitions == (*of_one, (None, "chosen"))
    for papers in (Options(match_repeats=True), read_options({"scenario": "stream"})):
        assert with_defaults(papers, xavier, PAIR) == papers
