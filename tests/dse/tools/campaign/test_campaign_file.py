"""Campaign files: the product and what changes it, names, tags, hashes, and bad input."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import onnx
import pytest
from onnx import TensorProto, helper

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.campaign.execute.planning import once_and_each
from paretosoc.dse.tools.campaign.plan.campaign_file import load_plan
from paretosoc.dse.tools.campaign.plan.run_inputs import inputs_of
from paretosoc.dse.tools.campaign.plan.settings import RunSettings, options_of

BASE = {
    "networks": ["alexnet", "squeezenet", "resnet18"],
    "platforms": ["jetson-tx2", "jetson-agx-xavier"],
}


def plan_of(tmp_path, **keys):
    path = tmp_path / "campaign.json"
    path.write_text(json.dumps(BASE | keys))
    return load_plan(path)


def test_all_lists_are_multiplied(tmp_path):
    plan = plan_of(
        tmp_path,
        together=[1, 2],
        power_caps_w=[None, 12.5],
        objectives=["latency, energy", "throughput,energy"],
        seeds=3,
    )
    workloads = [
        names for size in (1, 2) for names in itertools.combinations(BASE["networks"], size)
    ]
    expected = set(
        itertools.product(
            workloads,
            BASE["platforms"],
            (None, "12.5"),
            ("latency, energy", "throughput, energy"),
            range(3),
        )
    )
    found = [
        (s.networks, s.platform, s.power_cap_w, s.objectives, s.seed)
        for s in (run.settings for run in plan.runs)
    ]
    assert len(found) == len(expected)
    assert set(found) == expected
    assert len({run.name for run in plan.runs}) == len(found)


def test_sizes_of_a_network_are_left_out_of_runs_without_it(tmp_path):
    shape = ["N", 3, "side", "side"]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", ends[:1], ends[1:])
    onnx.save(helper.make_model(graph), tmp_path / "own.onnx")
    networks = {"networks": ["own.onnx", "alexnet", "squeezenet"], "together": 2}

    def sizes(*dimensions):
        plan = plan_of(tmp_path, **networks, platforms=["jetson-tx2"], dimensions=dimensions)
        return [(run.workload.name, run.settings.dimensions) for run in plan.runs]

    assert sizes("x:2=8, side=16", "own:side=32") == [
        *(("own+alexnet", text) for text in ("x:2=8, side=16", "own:side=32")),
        *(("own+squeezenet", text) for text in ("x:2=8, side=16", "own:side=32")),
        ("alexnet+squeezenet", None),
    ]
    # No network has it: all runs say so.
    assert [text for _, text in sizes("side=8, sode=8")] == [*["side=8, sode=8"] * 2, "sode=8"]


def test_values_of_a_network_are_left_out_of_runs_without_it(tmp_path):
    pairs = {"networks": ["vgg16", "alexnet", "squeezenet"], "together": 2}

    def texts(name, plural, *values, **more):
        chosen = {"platforms": ["jetson-tx2"], plural: list(values)}
        plan = plan_of(tmp_path, **pairs, **chosen, **more)
        return [(run.workload.name, getattr(run.settings, name)) for run in plan.runs]

    for name, plural in (
        *(("deadline_ms", "deadlines_ms"), ("batch", "batches"), ("max_misses", "miss_limits")),
        ("max_transitions", "transition_limits"),
    ):
        assert texts(name, plural, "vgg16=3", None) == [
            *(("vgg16+alexnet", text) for text in ("vgg16=3", None)),
            *(("vgg16+squeezenet", text) for text in ("vgg16=3", None)),
            ("alexnet+squeezenet", None),
        ]
    found = texts("fixed", "fixed", "gpu=max, vgg16=gpu, alexnet:0-1=gpu")
    assert [text for _, text in found] == [
        "gpu=max, vgg16=gpu, alexnet:0-1=gpu",
        "gpu=max, vgg16=gpu",
        "gpu=max, alexnet:0-1=gpu",
    ]
    # No network has it.
    with pytest.raises(WorkloadError, match=r"deadline_ms: there is no network 'vgg' in .* vgg16"):
        texts("deadline_ms", "deadlines_ms", 50, "vgg=3")
    added = {"include": [{"workload": "vgg19", "deadline_ms": "vgg19=7, alexnet=2"}]}
    assert texts("deadline_ms", "deadlines_ms", "vgg19=5", **added) == [
        *((f"{one}+{two}", None) for one, two in itertools.combinations(pairs["networks"], 2)),
        ("vgg19", "vgg19=7"),
    ]


def test_caps_of_memory_are_numbers_or_texts_by_pool(tmp_path):
    plan = plan_of(tmp_path, memory_caps_mb=[None, 60.5, "500, dla=4"])
    found = {
        run.settings.memory_cap_mb: options_of(run.settings).memory_cap_mb for run in plan.runs
    }
    assert found == {
        None: (),
        "60.5": ((None, Fraction("60.5")),),
        "500, dla=4": ((None, Fraction(500)), ("dla", Fraction(4))),
    }


def test_objectives_follow_the_workload_where_none_are_given(tmp_path):
    (tmp_path / "rates.yaml").write_text(
        "networks: [{network: alexnet, rate_hz: 30}, {network: squeezenet, rate_hz: 10}]"
    )
    rated = {"workloads": ["rates.yaml"], "include": [{"workload": "rates.yaml", "seed": 9}]}
    plan = plan_of(tmp_path, **rated, miss_limits=["alexnet=1, squeezenet=0"])
    found = {(run.workload.name, run.settings.objectives) for run in plan.runs}
    alone = {(name, "latency, energy") for name in BASE["networks"]}
    assert found == {("rates", "relative-response, power"), *alone}
    (limits,) = {options_of(run.settings).max_misses for run in plan.runs if "rates" in run.name}
    assert limits == (("alexnet", 1), ("squeezenet", 0))
    with pytest.raises(WorkloadError, match=r"objective latency and rate_hz .* exclude each other"):
        plan_of(tmp_path, **rated, objectives=["latency, energy"])
    with pytest.raises(WorkloadError, match="objective jitter is of responses: rate_hz is"):
        plan_of(tmp_path, objectives=["jitter, energy"])


def test_free_running_networks_are_a_list_like_others(tmp_path):
    plan = plan_of(
        tmp_path,
        objectives=["throughput, power"],
        free_running=[False, True],
        frames_in_flight=[None, 3],
        exclude=[{"free_running": False, "frames_in_flight": 3}],
    )
    found = {(run.settings.free_running, run.settings.frames_in_flight) for run in plan.runs}
    assert found == {(None, None), (True, None), (True, 3)}
    for run in plan.runs:
        options = options_of(run.settings)
        assert options.free_running == bool(run.settings.free_running)
        assert options.frames_in_flight == run.settings.frames_in_flight
        assert RunSettings.from_document(run.settings.to_document()) == run.settings
    # What is not asked for is not in the hash: False is the same run as nothing.
    assert (
        plan.runs[0].settings.to_document().keys() & {"free_running", "frames_in_flight"} == set()
    )


def test_least_rates_are_a_list_like_others(tmp_path):
    limits = [None, 5, "alexnet=7.5, 2"]
    plan = plan_of(
        tmp_path, objectives=["throughput, power"], free_running=[True], min_rates_hz=limits
    )
    found = {run.settings.min_rate_hz: options_of(run.settings).min_rate_hz for run in plan.runs}
    assert found == {
        None: (),
        "5": ((None, 5),),
        "alexnet=7.5, 2": (("alexnet", Fraction(15, 2)), (None, 2)),
        "2": ((None, 2),),
    }


def test_a_workload_file_that_runs_freely_may_have_rates(tmp_path):
    """Whether there is a common frame is known from the file, before anything runs."""
    (tmp_path / "w.yaml").write_text("{free_running: true, networks: [{network: alexnet}]}")
    keys = {"networks": [], "workloads": ["w.yaml"], "min_rates_hz": [5]}
    base = {key: value for key, value in (BASE | keys).items() if value}
    (tmp_path / "c.json").write_text(json.dumps(base | {"objectives": ["fairness, power"]}))
    assert len(load_plan(tmp_path / "c.json").runs) == 2
    (tmp_path / "c.json").write_text(json.dumps(base | {"objectives": ["latency, power"]}))
    with pytest.raises(WorkloadError, match="the objective latency exclude each other"):
        load_plan(tmp_path / "c.json")


def test_runs_of_one_problem_follow_each_other(tmp_path):
    plan = plan_of(tmp_path, engines=["nsga2", "random"], seeds=[5, 3])
    keys = [(run.workload.name, run.settings.platform) for run in plan.runs]
    assert len([key for key, _ in itertools.groupby(keys)]) == 6


def test_exclude_include_and_tags(tmp_path):
    plan = plan_of(
        tmp_path,
        together=2,
        power_caps_w=[None, 10, 20],
        exclude=[
            {"platform": "jetson-tx2", "power_cap_w": [10, 20]},
            {"network": "resnet18", "platform": "jetson-agx-xavier"},
        ],
        include=[
            {"workload": "vgg19, vgg19", "seed": 9, "name": "twins", "tags": {"size": "large"}},
        ],
        tags=[
            {"set": {"size": "small", "kind": "pair"}},
            {"when": {"network": ["alexnet", "squeezenet"]}, "set": {"kind": "old"}},
        ],
    )
    kept = {
        (run.workload.name, run.settings.platform, run.settings.power_cap_w) for run in plan.runs
    }
    tx2, xavier = BASE["platforms"]
    assert kept == {
        ("alexnet+squeezenet", tx2, None),
        ("alexnet+resnet18", tx2, None),
        ("squeezenet+resnet18", tx2, None),
        ("alexnet+squeezenet", xavier, None),
        ("alexnet+squeezenet", xavier, "10"),
        ("alexnet+squeezenet", xavier, "20"),
        ("vgg19+vgg19", tx2, None),
    }
    twins = next(run for run in plan.runs if run.name == "twins")
    assert twins.settings.seed == 9
    assert twins.tags == {"size": "large", "kind": "pair"}
    assert {run.tags["kind"] for run in plan.runs if "squeezenet" in run.workload.members} == {
        "old",
        "pair",
    }


def test_a_warm_start_names_the_run_before_it(tmp_path):
    plan = plan_of(
        tmp_path,
        power_caps_w=[None, 20],
        objectives=["latency, energy", "latency, power"],
        seeds=[0, 1],
        warm_start=["power_cap_w", "objectives"],
    )
    for run in plan.runs:
        first = run.settings.power_cap_w is None and run.settings.objectives == "latency, energy"
        assert (run.after is None) == first
        if run.after is not None:
            other = plan.runs[run.after]
            assert (other.workload, other.settings.platform, other.settings.seed) == (
                run.workload,
                run.settings.platform,
                run.settings.seed,
            )


def test_numbers_mean_the_same_however_they_are_written(tmp_path):
    path = tmp_path / "a.yaml"
    for text in ("20", "20.0", "2e1", "20.000"):
        path.write_text(f"networks: [alexnet]\nplatforms: [jetson-tx2]\npower_caps_w: [{text}]\n")
        assert [run.settings.power_cap_w for run in load_plan(path).runs] == ["20"]


def written(folder, data=b"network"):
    folder.mkdir()
    (folder / "net.onnx").write_bytes(data)
    (folder / "c.json").write_text(
        json.dumps({"networks": ["net.onnx"], "platforms": ["jetson-tx2"]})
    )
    (entry,) = inputs_of(load_plan(folder / "c.json"), "program")
    return entry


def test_the_hash_follows_the_content_and_not_the_place(tmp_path):
    one, other = written(tmp_path / "one"), written(tmp_path / "other")
    assert one.hash == other.hash
    assert one.settings.networks != other.settings.networks
    assert written(tmp_path / "changed", b"Network").hash != one.hash


def test_every_input_counts(tmp_path):
    entry = written(tmp_path / "one")
    settings = entry.settings
    others = [
        replace(entry, program="another"),
        replace(entry, keep=("costs", "front")),
        replace(entry, starts_from="0" * 64),
        replace(entry, contents=(*entry.contents[:-1], ("platform", "0" * 64))),
        *(
            replace(entry, settings=replace(settings, **change))
            for change in (
                {"platform": "jetson-agx-orin"},
                {"objectives": "latency, power"},
                {"power_cap_w": "20"},
                {"energy_budget_mj": "20"},
                {"deadline_ms": "20"},
                {"min_rate_hz": "20"},
                {"frames_per_second": "20"},
                {"max_transitions": 0},
                {"groups": 5},
                {"groups": "layers"},
                {"units": "gpu"},
                {"fixed": "gpu=max"},
                {"precision": "fp32"},
                {"batch": "4"},
                {"losses": "losses.csv"},
                {"max_accuracy_loss_percent": "1"},
                {"memory_cap_mb": "100"},
                {"free_running": True},
                {"frames_in_flight": 3},
                {"engine": "random"},
                {"max_evaluations": 1},
                {"seed": 1},
                {"prove": True},
            )
        ),
    ]
    assert len({entry.hash, *(other.hash for other in others)}) == 1 + len(others)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"platforms": []}, "platforms"),
        ({"platforms": ["jetson-txx2"]}, "jetson-txx2"),
        ({"networks": ["alexnett"]}, "alexnett"),
        ({"networks": ["missing.onnx"]}, "missing.onnx"),
        ({"workloads": ["alexnet, nothing"]}, "workloads[0]"),
        ({"workloads": ["missing.yaml"]}, "workloads[0]"),
        ({"workloads": [["alexnet"]]}, "workloads[0] must be a text or an object, got a list"),
        ({"together": 4}, "there are 3 networks"),
        ({"engines": ["nsga9"]}, "nsga2"),
        ({"objectives": ["latency, lateness"]}, "lateness"),
        ({"objectives": ["latency:vgg19, energy"]}, "no network 'vgg19'"),
        ({"seeds": [-1]}, "seeds"),
        ({"power_caps_w": [0]}, "power_caps_w"),
        ({"fixed": ["gpu"]}, "fixed: DOMAIN=MHZ"),
        (
            {"exclude": [{"platform": "jetson-agx-orin"}]},
            "exclude[0]: fits no run: platform must be one of jetson-tx2, jetson-agx-xavier, got",
        ),
        (
            {"networks": ["alexnet", "vgg19"], "exclude": [{"network": ["alexnet", "vgg19"]}]},
            "exclude[0]: fits no run: no workload has all of alexnet, vgg19",
        ),
        ({"exclude": [{"seed": []}]}, "exclude[0].seed must have at least 1 item,"),
        ({"exclude": [{"units": [["gpu"]]}]}, "exclude[0].units[0] must be a text or"),
        (
            {"exclude": [{"deadline_ms": {"alexnet": 3}}]},
            "exclude[0].deadline_ms must be a text or",
        ),
        ({"exclude": [{"network": "alexnet"}, {"platform": BASE["platforms"]}]}, "no run is left"),
        ({"tags": [{"when": {"seed": 4}, "set": {"a": 1}}]}, "fits no run: seed must be one of 0"),
        ({"tags": [{"set": {"platform": "mine"}}]}, "no field of runs has is required"),
        ({"include": [{"seed": 4, "tags": {"first": "a"}}]}, "is required, got 'first'"),
        ({"include": [{"workload": "alexnet", "name": "alexnet / jetson-tx2", "seed": 4}]}, "name"),
        ({"keep": ["picture"]}, "keep"),
        ({"warm_start": ["platform"]}, "warm_start"),
        ({"speed": 1}, "speed"),
        ({"free_running": [1]}, "free_running"),
        ({"free_running": [True]}, "the objective latency exclude each other"),
        ({"frames_in_flight": [9]}, "frames_in_flight"),
        ({"min_rates_hz": [5]}, "min_rate_hz: free_running is required"),
        ({"min_rates_hz": [0]}, "min_rates_hz"),
        ({"min_rates_hz": ["alexnet="]}, "min_rate_hz: [NETWORK=]HZ from 10^-9"),
        ({"memory_caps_mb": [0]}, "memory_caps_mb"),
        ({"memory_caps_mb": ["dla="]}, "memory_cap_mb: [POOL=]MB from 10^-9"),
        ({"objectives": ["throughput, fairness"]}, "fairness: free_running is required"),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path, dse, keys, message):
    path = tmp_path / "campaign.json"
    path.write_text(json.dumps(BASE | keys))
    outcome = dse("campaign", "check", path, "--no-probe")
    assert outcome.status == 2
    assert len(outcome.lines) == 1
    assert message in outcome.err


def test_a_file_without_networks_says_what_it_must_have(tmp_path, dse):
    path = tmp_path / "campaign.json"
    path.write_text(json.dumps({"platforms": BASE["platforms"]}))
    outcome = dse("campaign", "check", path, "--no-probe")
    assert "must have networks or workloads" in outcome.err


def test_the_same_run_twice_needs_names(tmp_path):
    with pytest.raises(WorkloadError, match="names of their own"):
        plan_of(tmp_path, workloads=[{"networks": "vgg19", "name": "alexnet"}])


@pytest.mark.parametrize(
    ("short", "longer", "once", "each"),
    [
        ((2.0, 1000), (4.0, 3000), 1.0, 0.001),
        # As many evaluations: a second between the two runs is chance, and not a pace.
        ((2.0, 1000), (3.0, 1000), 2.0, 0.0),
        ((3.0, 437), (2.0, 437), 2.0, 0.0),
        ((3.0, 1000), (2.0, 3000), 3.0, 0.0),
    ],
)
def test_two_short_runs_tell_what_a_run_takes(short, longer, once, each):
    assert once_and_each(short, longer) == pytest.approx((once, each))
