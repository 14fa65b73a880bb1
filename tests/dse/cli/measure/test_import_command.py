"""``dse import``: what other tools print becomes a profile that an exploration takes."""

import json

import pytest

from paretosoc.fitness.profiles.layer_names import names_of
from paretosoc.results.export.result_folder import read_results
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network
from paretosoc.sdf.layer import LayerKind

NETWORK = "caffenet"
XAVIER = "jetson-agx-xavier"
COMMON = ("-n", NETWORK, "-p", XAVIER, "--at", "max")
LAYERS = [actor.layer for actor in load_network(NETWORK).graph.actors]
LAUNCHED = [layer.name for layer in LAYERS if layer.kind is not LayerKind.ACTIVATION]
DLA_PART = "{" + ",".join(layer.name for layer in LAYERS[:-1]) + "}"


def exported(rows):
    lines = [
        f', {{ "name" : "{name}", "timeMs" : {100 * time:g}, "averageMs" : {time:g}, '
        '"percentage" : 1 }'
        for name, time in rows
    ]
    return "[\n" + '  { "count" : 100 }\n' + "\n".join(lines) + "\n]\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "gpu.json").write_text(exported([(name, 0.25) for name in LAUNCHED]), "utf-8")
    rows = [("data to nvm", 0.03), (DLA_PART, 0.01), ("x from nvm", 4.99), ("prob", 0.01)]
    (tmp_path / "dla.json").write_text(exported(rows), "utf-8")
    return tmp_path


def measured_ms(dse, folder, profile, *options):
    done = dse(
        "explore", NETWORK, "-p", XAVIER, "--profile", profile, "-o", folder / "run", "--force",
        "--max-evaluations", "50", "--max-nodes", "0", "-q", *options,
    )  # fmt: skip
    assert done.status == 0, done.err
    shown = json.loads(dse("analyze", "costs", folder / "run", "--json").out)
    return shown["groups"]


def test_times_of_one_dla_hold_on_the_other_until_it_has_its_own(dse, folder):
    profile = folder / "mine.json"
    (folder / "other.json").write_text(exported([(DLA_PART, 7), ("prob", 0.01)]), "utf-8")

    def times():
        found = measured_ms(dse, folder, profile, "--units", "gpu,dla0,dla1")
        units = [group["units"] for group in found]
        return [
            [of[unit]["time_ps"] for of in units if of[unit]["origin"] == "measured"]
            for unit in ("dla0", "dla1")
        ]

    command = ("import", "trtexec", folder / "dla.json", *COMMON, "--dla", "dla0")
    done = dse(*command, "-o", profile)
    assert done.status == 0, done.err
    assert f"dla1: takes what was measured of {NETWORK} on dla0, as jetson-agx-xavier" in done.out
    assert "all rows are taken as fp16, the default of jetson-agx-xavier; --precision" in done.out
    assert "rows are taken" not in dse(*command, "--precision", "int8").out
    first, second = times()
    assert first
    assert second == first
    command = ("import", "trtexec", folder / "other.json", *COMMON, "--dla", "dla1")
    done = dse(*command, "-o", profile, "--merge")
    assert done.status == 0, done.err
    assert "describes them alike" not in done.out
    again, own = times()
    assert again == first
    assert sum(own) == pytest.approx(7 * 10**9, rel=1e-6)


def layer_info(layers, *, version=11):
    """As trtexec writes it: control characters between the nodes, escaped."""
    tensors = "I/O Tensors" if version == 11 else "Bindings"
    entries = [
        {
            "Name": name,
            "LayerType": "kgen",
            "Metadata": "\x1e".join(f"[ONNX Layer: {node}]" for node in nodes),
        }
        for name, nodes in layers.items()
    ]
    return json.dumps({"Layers": entries, tensors: [], "Engine Metadata": {}}, indent=1)


@pytest.mark.parametrize("version", [8, 11])
def test_the_inspectors_dump_names_the_layers_of_an_engine(dse, tmp_path, version):
    """Rows of names that say nothing: with the dump each has its layers, and all their times."""
    made, profile, info = (tmp_path / name for name in ("made.json", "p.json", "info.json"))
    pairs = [LAYERS[i : i + 2] for i in range(0, len(LAYERS), 2)]
    rows = {f"__myl_Fc_myl{k}_0": [layer.name for layer in pair] for k, pair in enumerate(pairs)}
    profile.write_text(exported([(name, 0.5) for name in rows]), "utf-8")
    info.write_text(layer_info(rows, version=version), "utf-8")
    without = dse("import", "trtexec", profile, *COMMON, "-o", made)
    assert without.status == 2
    assert "no row belongs to a layer" in without.err
    done = dse("import", "trtexec", profile, info, *COMMON, "-o", made)
    assert done.status == 0, done.err
    assert f"together {0.5 * len(rows):.6g} ms" in done.out
    measured = json.loads(made.read_text())["networks"][0]["layers"]
    assert sorted(tuple(entry.get("names", [entry.get("name")])) for entry in measured) == sorted(
        map(tuple, rows.values())
    )
    alone = dse("import", "trtexec", info, *COMMON)
    assert (alone.status, alone.out) == (2, "")
    assert "has no times: the JSON of --exportProfile" in alone.err
    info.write_text(layer_info(dict.fromkeys(rows, ())), "utf-8")
    short = dse("import", "trtexec", profile, info, *COMMON)
    assert "engine with --profilingVerbosity=detailed" in short.err
    for broken in ('{"Layers": 3}', '{"a": 1}', '{"Layers": [{"Name": 1}, "conv1"]}', '{"Layers"'):
        info.write_text(broken, "utf-8")
        refused = dse("import", "trtexec", profile, info, *COMMON)
        assert refused.status == 2
        assert "info.json: must" in refused.err
        if broken == '{"a": 1}':
            assert "must have a list Layers" in refused.err
            assert "got an object with a" in refused.err


def test_times_of_gpu_and_dla_reach_the_costs(dse, folder):
    made = folder / "profile.json"
    first = dse("import", "trtexec", folder / "gpu.json", *COMMON, "-o", made, "--source", "mine")
    assert first.status == 0, first.err
    assert f"gpu: {len(LAUNCHED)} of" not in first.out
    assert f"together {0.25 * len(LAUNCHED):.6g} ms" in first.out
    second = dse(
        "import", "trtexec", folder / "dla.json", *COMMON, "--dla", "dla0,dla1", "-o", made,
        "--merge", "--unit", "cpu",
    )  # fmt: skip
    assert second.status == 0, second.err
    assert "dla0: " in second.out
    assert "together 5 ms" in second.out
    document = json.loads(made.read_text("utf-8"))
    assert len(document["networks"]) == 1
    groups = measured_ms(dse, folder, made)
    for unit, total in (("gpu", 0.25 * len(LAUNCHED)), ("dla0", 5), ("dla1", 5)):
        units = [group["units"][unit] for group in groups]
        assert {item["origin"] for item in units} == {"measured"}
        assert sum(item["time_ps"] for item in units) / 1e9 == pytest.approx(total, rel=1e-9)
        assert all("gpu.json" in item["text"] for item in units)


def test_demands_and_transitions_join_the_profile(dse, folder):
    made = folder / "profile.json"
    assert dse("import", "trtexec", folder / "gpu.json", *COMMON, "-o", made).status == 0
    table = folder / "demand.csv"
    table.write_text("group,gpu_gbps,gpu_emc,dla_emc\n0,60,50,25\n", "utf-8")
    demand = dse("import", "demand", table, *COMMON, "-o", made, "--merge")
    assert demand.status == 0, demand.err
    assert "30 GB/s on dla0 (29.11 to 30.91)" in demand.out
    pairs = folder / "pairs.csv"
    pairs.write_text("after,from,to,base,run\n0,gpu,dla0,2,2.5\n1,gpu,dla0,2,1.9\n", "utf-8")
    hand_over = dse("import", "transitions", pairs, *COMMON, "-o", made, "--merge")
    assert hand_over.status == 0, hand_over.err
    assert "negative difference is not used" in hand_over.err
    groups = measured_ms(dse, folder, made)
    assert groups[0]["units"]["gpu"]["demand_kbps"] == 60_000_000
    assert groups[0]["units"]["dla0"]["demand_kbps"] == 30_000_000
    problem = read_results(folder / "run").problem
    names = [unit.name for unit in problem.units]
    gpu, dla = names.index("gpu"), names.index("dla0")
    edge = problem.edges.index((0, 1))
    assert problem.transition_ps[edge, gpu, dla] == 500_000_000


def test_the_runtime_of_onnx(dse, folder):
    events, clock = [], 100
    for run in range(3):
        start = clock
        for name in LAUNCHED:
            args = {"op_name": "Conv", "provider": "CPUExecutionProvider"}
            duration = 1000 if run else 50_000
            events.append(
                {"cat": "Node", "name": f"{name}_kernel_time", "ts": clock, "dur": duration}
                | {"args": args}
            )
            clock += duration
        events.append(
            {"cat": "Session", "name": "model_run", "ts": start, "dur": clock - start, "args": {}}
        )
    (folder / "ort.json").write_text(json.dumps(events), "utf-8")
    done = dse("import", "onnxruntime", folder / "ort.json", *COMMON)
    assert done.status == 0, done.err
    assert f"together {len(LAUNCHED)} ms" in done.out
    other = dse(
        "import", "onnxruntime", folder / "ort.json", *COMMON, "--unit", "CUDA=gpu", "--skip", 0
    )
    assert other.status == 2
    assert "no node is a layer" in other.err


LINE = (
    "RAM 1/2MB (lfb 1x2MB) CPU [10%@1190] EMC_FREQ {emc}%@2133 GR3D_FREQ 99%@1377 "
    "GPU {gpu}/100 CPU 500/500 SOC 1000/900 CV 0/0 VDDRQ 100/100 SYS5V 2000/2000\n"
)


def test_a_log_of_the_board_is_shown_and_taken(dse, folder):
    (folder / "busy.log").write_text(LINE.format(emc=52, gpu=6000) * 3, "utf-8")
    (folder / "idle.log").write_text(LINE.format(emc=2, gpu=400) * 3, "utf-8")
    table = dse("import", "tegrastats", folder / "busy.log")
    assert table.status == 0
    assert "EMC load" in table.out
    document = json.loads(dse("import", "tegrastats", folder / "busy.log", "--json").out)
    board = next(item for item in document["quantities"] if item["name"] == "board")
    assert (document["samples"], board["median"]) == (3, 9600)
    made = folder / "profile.json"
    done = dse(
        "import", "tegrastats", folder / "busy.log", "--idle", folder / "idle.log", "--group", 0,
        *COMMON, "-o", made,
    )  # fmt: skip
    assert done.status == 0, done.err
    (part,) = json.loads(made.read_text("utf-8"))["networks"][0]["groups"]
    assert part["power_mw"] == {"gpu": 5600}
    assert part["traffic_percent"] == {"gpu": 50}
    assert part["notes"] == {"gpu": "EMC load 52 % less 2 % of the idle board"}
    groups = measured_ms(dse, folder, made)
    assert groups[0]["units"]["gpu"]["dynamic_mw"] == 5600


def test_what_is_wrong_is_one_line(dse, folder):
    gpu, made = folder / "gpu.json", folder / "profile.json"
    plain = ("-n", NETWORK, "-p", XAVIER)
    cases = [
        ((gpu, *plain), "missing: gpu, emc"),
        ((gpu, *plain, "--at", "gpu=1", "--at", "emc=max"), "nearest are"),
        ((gpu, *plain, "--at", "npu=1"), "there is no domain 'npu'"),
        ((gpu, *COMMON, "--unit", "npu"), "has no unit 'npu'"),
        ((gpu, *COMMON, "--unit", ","), "at least one unit is required"),
        ((gpu, "-n", "vgg19", "-p", XAVIER, "--at", "max"), "no row belongs to a layer"),
        ((folder / "dla.json", *COMMON), "--dla must name the unit"),
        ((gpu, *COMMON, "--median"), "--median needs medians"),
        ((folder / "none.json", *COMMON), "cannot be read"),
    ]
    for arguments, expected in cases:
        done = dse("import", "trtexec", *arguments, "-o", made)
        assert (done.status, len(done.lines)) == (2, 1), arguments
        assert expected in done.err
        assert not made.exists()
    assert dse("import", "trtexec", gpu, *COMMON, "-o", made).status == 0
    again = dse("import", "trtexec", gpu, *COMMON, "-o", made)
    assert again.status == 2
    assert "--merge adds to it" in again.err
    before = made.read_bytes()
    gpu.write_text(exported([(name, 0.5) for name in LAUNCHED]), "utf-8")
    clash = dse("import", "trtexec", gpu, *COMMON, "-o", made, "--merge")
    assert clash.status == 2
    assert "is in both profiles: 0.25 and 0.5 (import their files at once for means)" in clash.err
    assert made.read_bytes() == before
    # Whole MHz in the file are the same clock.
    document = json.loads(before)
    (record,) = document["networks"]
    record["clocks_mhz"] = {name: round(mhz) for name, mhz in record["clocks_mhz"].items()}
    made.write_text(json.dumps(document), "utf-8")
    clash = dse("import", "trtexec", gpu, *COMMON, "-o", made, "--merge")
    assert "is in both profiles: 0.25 and 0.5" in clash.err
    assert dse("import", "trtexec", gpu, *COMMON, "-o", made, "--force").status == 0
    assert dse("import", "tegrastats", gpu).status == 2
    assert dse("import", "tegrastats", gpu, "--group", 1).status == 2


def test_nodes_that_a_runtime_renamed_are_found_by_what_they_make():
    network = group_network(load_network("squeezenet").graph, None)
    names = names_of(network)
    # n1, an activation, makes r1; ONNX Runtime calls the convolution it was fused into r1_nchwc.
    assert names.find("r1_nchwc").layers == names.find("node_of_r1").layers == ("n1",)
    assert names.find("n1").layers == ("n1",)
    assert names.find("r999_nchwc").layers == ()


def test_a_vendors_table_reaches_the_costs(dse, tmp_path):
    table, made = tmp_path / "README.md", tmp_path / "profile.json"
    table.write_text(
        "| model_name | dtype | RK3588 |\n| - | - | - |\n"
        "| squeezenet | INT8 | 250 |\n| net | INT8 | 9 |\n| mine | INT8 | 500 |\n",
        "utf-8",
    )
    chip = ("-p", "rk3588")
    done = dse("import", "rknn", table, *chip, "-o", made, "--network", "mine=shufflenet")
    assert done.status == 0, done.err
    assert "net: not in the catalogue; --network net=FILE.onnx takes it" in done.err
    assert "squeezenet, int8, npu2: " in done.out
    assert "shufflenet, int8, npu0: " in done.out
    run = dse(
        "explore", "squeezenet", *chip, "--profile", made, "-o", tmp_path / "run",
        "--max-evaluations", "50", "--max-nodes", "0", "-q",
    )  # fmt: skip
    assert run.status == 0, run.err
    shown = json.loads(dse("analyze", "costs", tmp_path / "run", "--json").out)
    units = [group["units"]["npu1"] for group in shown["groups"]]
    assert sum(item["time_ps"] for item in units) == pytest.approx(4 * 10**9, rel=1e-9)


def test_a_table_without_any_known_network_is_refused(dse, tmp_path):
    table = tmp_path / "perf.yaml"
    table.write_text("precisions: {}", "utf-8")
    refused = dse("import", "qai-hub", table, "-p", "snapdragon-8-elite")
    assert refused.status == 2
    assert "must have the device 'Samsung Galaxy S25', got none" in refused.err
    other = dse("import", "qai-hub", table, "-p", "rk3588")
    assert "--device: a device of the table is required with rk3588" in other.err
