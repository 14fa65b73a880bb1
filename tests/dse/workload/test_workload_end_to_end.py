"""Copies, repeats, waiting, arrival, deadlines and frames: from the file to every member."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from benchmarks.oracles.frame_energy import frame_energy_fj
from paretosoc.dse.cli.main import run
from paretosoc.dse.inputs.kinds_by_name import Sizes
from paretosoc.dse.workload.with_options import with_dimensions
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.check.members.closed_form import idle_mw as idle_power
from paretosoc.fitness.check.members.frames import simulate
from paretosoc.fitness.execution import schedule_of
from paretosoc.fitness.simulate_long_run import make_long_run_evaluator
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.problem.execution import Periodic, Pipeline

NETWORKS = """\
networks:
  - name: first
    network: nets/narrow.onnx
    copies: 2
    max_transitions: 1
  - name: second
    network: nets/wide.onnx
    repeats: 3
    waits_for: [first]
    arrival_ms: 0.05
    pins: [{first: 0, unit: gpu}]
  - name: third
    network: nets/narrow.onnx
    arrival_ms: 0.4
    repeats: 2
    deadline_ms: 2.5
"""


def convolutions(channels, count):
    """A chain of 3 x 3 convolutions on a picture of 32 x 32 and any batch size."""
    nodes, weights = [], []
    for n in range(count):
        weights.append(
            helper.make_tensor(
                f"w{n}",
                TensorProto.FLOAT,
                [channels, channels, 3, 3],
                np.zeros(channels * channels * 9, dtype=np.float32),
            )
        )
        nodes.append(helper.make_node("Conv", [f"t{n}", f"w{n}"], [f"t{n + 1}"], pads=[1, 1, 1, 1]))
    shape = ["N", channels, 32, 32]
    graph = helper.make_graph(
        nodes,
        "convolutions",
        [helper.make_tensor_value_info("t0", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(f"t{count}", TensorProto.FLOAT, shape)],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workload")
    (folder / "nets").mkdir()
    onnx.save(convolutions(16, 3), folder / "nets" / "narrow.onnx")
    onnx.save(convolutions(48, 4), folder / "nets" / "wide.onnx")
    return folder


def explored(place: Path, name: str, head: str, *more: str, evaluations: int = 2000):
    (place / f"{name}.yaml").write_text(head + NETWORKS)
    arguments = [
        *("explore", str(place / f"{name}.yaml"), "-p", "jetson-agx-xavier", "--quiet"),
        *(
            "-o",
            str(place / name),
            "--max-evaluations",
            str(evaluations),
            "--units",
            "gpu,dla0",
            *more,
        ),
    ]
    assert run(arguments) == 0
    return read_results(place / name)


@pytest.fixture(scope="module")
def front(place):
    return explored(place, "frame", "")


def test_the_problem_is_what_the_file_says(front):
    networks = front.problem.networks
    assert [network.name for network in networks] == ["first", "first#2", "second", "third"]
    assert [network.repeats for network in networks] == [1, 1, 3, 2]
    assert [network.waits_for for network in networks] == [(), (), (0, 1), ()]
    assert [network.arrival_ps for network in networks] == [0, 0, 50_000_000, 400_000_000]
    assert [network.max_transitions for network in networks] == [1, 1, None, None]
    assert [network.deadline_ps for network in networks] == [None, None, None, 2_500_000_000]
    names = [unit.name for unit in front.problem.units]
    pinned = front.problem.allowed[networks[2].first_group]
    assert [name for name, free in zip(names, pinned, strict=True) if free] == ["gpu"]
    assert "frame.yaml" in [entry.name for entry in front.provenance.inputs]


def test_every_member_is_what_the_plain_evaluator_says(front):
    assert len(front.members) > 5
    for member in front.members:
        timeline = simulate(front.problem, member.design)
        assert schedule_of(front.problem, member.design) == timeline.schedule
        assert member.latencies_ps == timeline.latency_ps[0]
        energy = frame_energy_fj(front.problem, member.design)
        assert member.objectives == (timeline.frame_end_ps[0], energy)


def test_every_schedule_keeps_the_rules_of_the_file(front):
    for member in front.members:
        rows = schedule_of(front.problem, member.design).groups
        assert {(row.network, row.repeat) for row in rows} == {
            (0, 1), (1, 1), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2)
        }  # fmt: skip
        start = {key: min(r.start_ps for r in rows if (r.network, r.repeat) == key)
                 for key in {(r.network, r.repeat) for r in rows}}  # fmt: skip
        end = {key: max(r.end_ps for r in rows if (r.network, r.repeat) == key) for key in start}
        assert start[3, 1] >= 400_000_000
        assert start[2, 1] >= max(end[0, 1], end[1, 1], 50_000_000)
        assert start[2, 2] >= end[2, 1]
        assert start[2, 3] >= end[2, 2]
        assert start[3, 2] >= end[3, 1]
        assert member.latencies_ps[2] == end[2, 3] - 50_000_000
        assert member.latencies_ps[3] == end[3, 2] - 400_000_000 <= 2_500_000_000
        # One mapping for all repeats.
        assert len({(row.group, row.unit) for row in rows}) == front.problem.group_count


def test_copies_may_have_mappings_of_their_own(front):
    first, second = front.problem.networks[:2]
    assert first.groups.stop == second.groups.start
    assert first.group_names == second.group_names
    assert any(
        member.design.units[list(first.groups)].tolist()
        != member.design.units[list(second.groups)].tolist()
        for member in front.members
    )


def test_a_frame_rate_holds_idle_power_for_the_whole_period(place):
    front = explored(place, "periodic", "frames_per_second: 99.9\n")
    assert front.problem.execution == Periodic(10_010_010_010)
    for member in front.members:
        makespan = simulate(front.problem, member.design).frame_end_ps[0]
        energy = frame_energy_fj(front.problem, member.design)
        idle_mw, idle_of_rest = idle_power(front.problem, member.design)
        energy += (sum(idle_mw) + idle_of_rest) * (10_010_010_010 - makespan)
        assert member.objectives == (makespan, energy)
        assert makespan <= 10_010_010_010


@pytest.mark.parametrize(("more", "cap_mw"), [((), 25_000), (("--power-cap", "12.5"), 12_500)])
def test_the_smaller_power_cap_holds(place, more, cap_mw):
    front = explored(place, f"cap{cap_mw}", "power_cap_w: 25\n", *more)
    assert front.problem.power_cap_mw == cap_mw
    looser = explored(place, f"looser{cap_mw}", "power_cap_w: 25\n", *more, "--power-cap", "26")
    assert looser.problem.power_cap_mw == cap_mw


def test_the_command_line_wins_over_the_frame_rate_of_the_file(place):
    front = explored(place, "faster", "frames_per_second: 20\n", "--fps", "100")
    assert front.problem.execution == Periodic(10_000_000_000)


@pytest.mark.parametrize("frames", [1, 3])
def test_frames_in_flight_reach_the_pipeline(place, frames):
    head = f"frames_in_flight: {frames}\n"
    objectives = ("--objective", "throughput", "--objective", "energy")
    front = explored(place, f"flight{frames}", head, *objectives, evaluations=600)
    assert front.problem.execution == Pipeline(frames)
    for member in front.members[:4]:
        period = make_long_run_evaluator(front.problem)(member.design.row[None])
        # The mean over networks of images per second.
        networks, images = len(front.problem.networks), sum(front.problem.images)
        assert member.objectives[0] == -(-networks * int(period.frame_period_ps[0]) // images)
        ends = simulate(front.problem, member.design, frames=60, in_flight=frames).frame_end_ps
        mean = networks / images * (ends[50] - ends[20]) / 30
        assert member.objectives[0] == pytest.approx(mean, rel=0.02)


def test_dimensions_of_the_file_and_of_the_command_line(place):
    text = "networks: [{network: nets/wide.onnx, dimensions: {N: 2}}]"
    (place / "batch.yaml").write_text(text)
    arguments = ["-p", "jetson-agx-xavier", "--max-evaluations", "200", "--quiet"]

    def slowest(name, *more):
        folder = str(place / name)
        assert run(["explore", str(place / "batch.yaml"), *arguments, "-o", folder, *more]) == 0
        return max(member.makespan_ps for member in read_results(place / name).members)

    assert slowest("batch") < slowest("batch8", "--dim", "N=8")


def test_a_size_may_be_that_of_one_network():
    workload = workload_of(["a.onnx", "b.onnx"])
    given = with_dimensions(
        workload,
        Sizes().parse(["seq=8", "b:seq=1", "b:x:2=3", "x:0=4", "a=5", "a:=6"], "--dim"),
    )
    shared = {"seq": 8, "x:0": 4, "a": 5, "a:": 6}
    assert [dict(network.dimensions) for network in given.networks] == [
        shared,
        {**shared, "seq": 1, "x:2": 3},
    ]


def test_only_a_dimension_that_no_network_has_is_refused(place, capsys):
    networks = [str(place / "nets/wide.onnx"), "squeezenet"]
    more = ["-p", "jetson-agx-xavier", "--max-evaluations", "50", "--quiet", "--dim", "N=2"]
    assert run(["explore", *networks, *more, "-o", str(place / "used")]) == 0
    assert "dimension" not in capsys.readouterr().err
    assert run(["explore", *networks, *more, "--dim", "NN=2", "-o", str(place / "unused")]) == 2
    message = "--dim: no network has a dynamic dimension 'NN' (did you mean N?)"
    assert message in capsys.readouterr().err
    for more_sizes, message in (
        ("squeezenet:N=2", "network 'squeezenet' has no dynamic dimension 'N'"),
        ("N=3", "one size for each dimension is required, got N=2 and N=3"),
    ):
        command = ["explore", *networks, *more, "--dim", more_sizes, "-o", str(place / "unused")]
        assert run(command) == 2
        assert message in capsys.readouterr().err


def test_a_size_in_a_file_is_one_of_its_network(place, capsys):
    """Not only of some network of the workload."""
    entries = [
        {"network": str(place / "nets/wide.onnx"), "dimensions": {"N": 2}},
        {"network": "squeezenet", "dimensions": {"N": 2}},
    ]
    file = place / "sizes.json"
    file.write_text(json.dumps({"networks": entries}))
    assert run(["explore", str(file), "-p", "jetson-agx-xavier", "-o", str(place / "sizes")]) == 2
    message = "dse: network 'squeezenet' has no dynamic dimension 'N' (its sizes are fixed)"
    assert message in capsys.readouterr().err


def test_a_size_of_one_network_is_that_of_a_command_for_one(place, capsys):
    network = str(place / "nets/wide.onnx")
    assert run(["network", network, "--dim", "N=3", "--json"]) == 0
    plain = capsys.readouterr().out
    assert run(["network", network, "--dim", "N=2", "--dim", "wide:N=3", "--json"]) == 0
    assert capsys.readouterr().out == plain


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("networks: [{network: vgg19, pins: [{first: 999, unit: gpu}]}]", "pin vgg19:999=gpu: "),
        ("networks: [{network: vgg19, pins: [{first: 0, unit: npu}]}]", "no unit 'npu'"),
        ("networks: [{network: vgg19, waits_for: [vgg19]}]", "in a circle: 'vgg19' for 'vgg19'"),
        ("networks: [{network: vgg18}]", "did you mean vgg19"),
        ("networks: [{network: w.yaml}]", "not an ONNX model"),
    ],
)
def test_bad_files_are_one_line_and_status_2(tmp_path, capsys, text, part):
    (tmp_path / "w.yaml").write_text(text)
    arguments = ["-p", "jetson-agx-xavier", "-o", str(tmp_path / "out"), "--quiet"]
    assert run(["explore", str(tmp_path / "w.yaml"), *arguments]) == 2
    message = capsys.readouterr().err
    assert message.startswith("dse: ")
    assert part in message
    assert message.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_deadline_that_cannot_be_met_is_told(tmp_path, capsys):
    (tmp_path / "w.yaml").write_text("networks: [{network: squeezenet, deadline_ms: 1e-9}]")
    arguments = ["-p", "jetson-agx-xavier", "--max-evaluations", "300", "--quiet"]
    assert run(["explore", str(tmp_path / "w.yaml"), *arguments, "-o", str(tmp_path / "o")]) == 3
    assert "latency of squeezenet" in capsys.readouterr().err
