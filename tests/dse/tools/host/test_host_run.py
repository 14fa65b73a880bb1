"""Running for real: processes, shared memory and ONNX Runtime; predictions beside measurements."""

import dataclasses
import json
import os
import shlex

import numpy as np
import onnx
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.baselines.group_by_group import without_contention
from paretosoc.dse.certificate.certify import prove
from paretosoc.dse.engines.explore import SearchSettings, explore_problem
from paretosoc.dse.problem.build import cost_origins
from paretosoc.dse.tools.deploy.random_weights import give_random_weights, random_input
from paretosoc.dse.tools.host.machine.execution_plan import Dispatch, make_execution_plan
from paretosoc.dse.tools.host.machine.host_units import Host, HostUnit, free_cores
from paretosoc.dse.tools.host.machine.machine import HostMachine
from paretosoc.dse.tools.host.machine.sub_models import write_sub_models
from paretosoc.dse.tools.host.measure import measuring, memory_rates
from paretosoc.dse.tools.host.measure.fidelity import (
    PASSES,
    Fidelity,
    FidelityPoint,
    Prediction,
    agreement,
    measure_fidelity,
    sample_rows,
    summary_of,
)
from paretosoc.dse.tools.host.measure.kept_guarantees import kept_guarantees
from paretosoc.dse.tools.host.measure.memory_rates import changes, range_of
from paretosoc.dse.tools.host.measure.profiling import draft_problem
from paretosoc.dse.tools.host.measure.running import (
    DesignRuns,
    predict,
)
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import CertificateStatus
from paretosoc.results.front.front import Front
from paretosoc.results.problem.problem import DesignPoint
from paretosoc.sdf.onnx.parts import PartTensor
from tests.support.host_machines import ModelledMachine, tiny_model

HOST = Host("a processor", 2000.0, energy_readable=False)


def two_units():
    cores = free_cores()
    return HostUnit((cores[0],)), HostUnit((cores[-1],))


def whole_outputs(model, output, seed=0):
    """The whole model's result, with the weights and inputs that the parts get."""
    import onnxruntime

    whole = onnx.ModelProto.FromString(model.SerializeToString())
    give_random_weights(whole, (), seed, "whole")
    session = onnxruntime.InferenceSession(
        whole.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    shape = tuple(entry.dim_value for entry in model.graph.input[0].type.tensor_type.shape.dim)
    image = random_input(seed, PartTensor("image", shape, 1), np.float32)
    return session.run([output], {"image": image})[0]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    models = {
        "full": tiny_model(4, name="full"),
        "bare": tiny_model(3, name="bare", weights=False),
    }
    for name, model in models.items():
        onnx.save(model, str(folder / f"{name}.onnx"))
    return folder, models


def test_groups_handed_from_process_to_process_give_what_the_whole_gives(files, tmp_path):
    folder, models = files
    networks = [str(folder / f"{name}.onnx") for name in models]
    units = two_units()
    built = draft_problem(workload_from(networks), units, HOST, Options())
    problem = built.problem
    parts = write_sub_models(problem, cost_origins(built), tmp_path / "parts")
    assert parts.random_weights == (0, 3)
    points = np.zeros(len(problem.domains), dtype=np.int64)
    with HostMachine(units, parts, slots=2) as machine:
        for mapping in ([g % 2 for g in range(problem.group_count)], [1] * problem.group_count):
            design = DesignPoint(np.array(mapping), points)
            for dispatch in Dispatch:
                plan = make_execution_plan(problem, design, frames=5, in_flight=2)
                done = machine.execute(plan, dispatch=dispatch)
                assert (done.end_ns > done.start_ns).all()
                for i, instance in enumerate(plan.instances):
                    for other in (*instance.after, *instance.release_after):
                        assert done.end_ns[other] <= done.start_ns[i]
                for n, (name, model) in enumerate(models.items()):
                    output = model.graph.output[0].name
                    expected = whole_outputs(model, output)
                    assert np.abs(expected).max() > 0
                    for slot in range(2):
                        found = machine.tensor(n, output, slot=slot)
                        np.testing.assert_allclose(
                            found, expected, rtol=1e-4, atol=1e-6, err_msg=name
                        )
        with pytest.raises(ResultError, match="at most 2 frames in flight"):
            machine.execute(make_execution_plan(problem, design, frames=5, in_flight=3))


def test_a_process_that_ends_is_told(files, tmp_path):
    folder, _ = files
    units = two_units()
    built = draft_problem(workload_from([str(folder / "full.onnx")]), units, HOST, Options())
    parts = write_sub_models(built.problem, cost_origins(built), tmp_path / "parts")
    (tmp_path / "parts" / "0" / "1.onnx").write_bytes(b"no model")
    with (
        pytest.raises(ResultError, match="ONNX Runtime cannot run it"),
        HostMachine(units, parts, slots=1),
    ):
        pass
    parts = write_sub_models(built.problem, cost_origins(built), tmp_path / "again")
    with HostMachine(units, parts, slots=1) as machine:
        machine._processes[0].kill()
        machine._processes[0].join()
        with pytest.raises(ResultError, match=r"its process ended \(exit status -9\)"):
            machine.stream({0: None}, 0.01)


@pytest.fixture(scope="module")
def front():
    rng = np.random.default_rng(11)
    problem = random_problem(
        rng,
        RandomShape(
            networks=(2, 2), groups=(4, 4), units=(2, 2), points=(1, 1), graphs=False,
            waiting=False, unsupported=0.0,
        ),
    )  # fmt: skip
    return front_of(problem)


def front_of(problem) -> Front:
    from paretosoc.dse.problem.build import BuiltProblem
    from paretosoc.dse.workload.workload import Workload

    built = BuiltProblem(
        *(Workload(()), problem),
        networks=(),
        sources=(),
        costs=(),
        precision="fp32",
        inputs=(),
        warnings=(),
    )
    return explore_problem(built, SearchSettings(max_evaluations=300, jobs=1), platform="host")


def test_a_machine_that_obeys_the_model_has_no_error(front):
    machine = ModelledMachine(front.problem)
    found = measure_fidelity(machine, front, samples=8, frames=5, seed=1)
    assert machine.executed == 2 * PASSES * len(found.points)
    summary = summary_of(found)
    assert summary.makespan.largest_error < 1e-4
    assert summary.rate.largest_error < 0.2
    assert summary.makespan.rank_correlation == pytest.approx(1)
    assert summary.best_rank == 1
    assert found.points[0].name == "fastest"
    assert summary.makespan_without.median_error >= summary.makespan.median_error


def test_a_proof_of_the_lowest_energy_is_none_of_speed(front):
    names = front.problem.objective_names
    for name in names:
        proved = prove(front, (names.index(name),))
        assert proved.status is CertificateStatus.CERTIFIED
        certified = dataclasses.replace(proved.front, certificate=proved.claim)
        machine = ModelledMachine(front.problem)
        found = measure_fidelity(machine, certified, samples=1, frames=5, seed=1)
        assert found.is_certified is name.startswith("latency")


def test_what_others_take_of_the_memory_is_told(front):
    machine = ModelledMachine(front.problem, reads=(20.0, 21.0, 12.0))
    found = measure_fidelity(machine, front, samples=1, frames=5, seed=1)
    assert found.together_gbps == pytest.approx((40, 42, 24, 24))
    assert changes(found.together_gbps)
    assert not changes(found.together_gbps[:2])
    assert range_of(found.together_gbps) == "24.0 to 42.0"
    assert range_of(found.together_gbps[2:]) == "24.0"


def test_a_machine_at_half_the_pace_is_half_wrong(front):
    found = measure_fidelity(
        ModelledMachine(front.problem, pace=2.0), front, samples=5, frames=5, seed=1
    )
    summary = summary_of(found)
    assert summary.makespan.median_error == pytest.approx(0.5, abs=1e-3)
    assert summary.makespan.rank_correlation == pytest.approx(1)


def test_runs_are_held_against_what_is_guaranteed(front):
    problem = dataclasses.replace(front.problem, tolerance_permille=(900, 1000))
    design = front.members[0].design
    late = []
    for pace in (0.99, 2.0):
        runs = DesignRuns(problem, design, dispatch=Dispatch.PLANNED)
        runs.run(ModelledMachine(problem, pace=pace), 6)
        kept = kept_guarantees(problem, design, runs.result())
        assert len(kept) == 2
        # The time that groups took over the tolerance adds up to more than any frame is late.
        assert all(entry.beyond == entry.late for entry in kept)
        idle = dataclasses.replace(runs.result(), beyond_ns=np.zeros(6))
        refuted = kept_guarantees(problem, design, idle)
        assert [entry.unexplained for entry in refuted] == [entry.late for entry in kept]
        assert all((entry.longest_ms > entry.guaranteed_ms) == (entry.late > 0) for entry in kept)
        late.append(sum(entry.late for entry in kept))
    assert late == [0, 12]
    assert kept_guarantees(front.problem, design, runs.result()) == ()


def test_the_sample_is_the_fastest_member_and_rows_that_differ(front):
    rows = sample_rows(front, 9, seed=4)
    assert len({row.tobytes() for row in rows}) == len(rows) <= 10
    assert (rows == sample_rows(front, 9, seed=4)).all()
    fastest = min(front.members, key=lambda member: member.makespan_ps)
    assert predict(front.problem, front.problem.design_of(rows[0])).makespan_ms == pytest.approx(
        fastest.makespan_ps / 1e9
    )


def test_contention_switched_off_is_never_slower_for_one_unit_at_a_time(front):
    plain = without_contention(front.problem)
    assert all(unit.contention is None for unit in plain.units)
    design = front.members[0].design
    runs = DesignRuns(plain, design, dispatch=Dispatch.PLANNED)
    runs.run(ModelledMachine(plain), 6)
    ran, told = runs.result(), predict(plain, design)
    assert ran.group_ns == pytest.approx([1e6 * value for value in told.group_ms], abs=1)
    assert ran.latency_ns == pytest.approx([1e6 * value for value in told.latency_ms], abs=1)


def test_agreement():
    found = agreement([1, 2, 3, 5], [1, 2, 4, 4.5])
    assert found.median_error == pytest.approx((0 + 1 / 9) / 2)
    assert found.largest_error == 0.25
    assert found.rank_correlation == pytest.approx(1)
    assert agreement([1, 2], [2, 1]).rank_correlation is None
    assert agreement([1, 1, 1], [1, 2, 3]).rank_correlation is None
    assert agreement([3, 2, 1], [1, 2, 3]).rank_correlation == pytest.approx(-1)
    with pytest.raises(ValueError, match="at least one"):
        agreement([], [])


def test_the_picture_has_every_point():
    from paretosoc.dse.tools.host.measure.fidelity import draw_fidelity
    from paretosoc.results.plots.style import COLOURS

    points = tuple(
        FidelityPoint(
            f"p{k}", (0, 1), Prediction(k + 1, k + 0.5, k + 1.1, 0.01),
            Prediction(9 - k, 9.5 - k, 8.9 - k, 0.02), 5, 0.0,
        )
        for k in range(4)
    )  # fmt: skip
    found = Fidelity(
        points,
        best=0,
        is_certified=True,
        unit_names=("cpu0", "cpu1"),
        together_gbps=(30.0,),
    )
    picture = draw_fidelity(found)
    assert picture.svg() == draw_fidelity(found).svg()
    # Four points in each of two panels, and one in the legend.
    circles = [part for part in picture.parts if getattr(part, "ink", "") == COLOURS[1]]
    assert len(circles) == 2 * 4 + 1
    assert b">certified fastest<" in picture.svg()


def check_tasks(dse, tmp_path, network, host):
    """Tasks run as functions of the user, in the order of the plan and on the planned unit."""
    programs, folder = tmp_path / "programs.py", tmp_path / "tasks"
    programs.write_text(
        "import os, time\nDATA = 3\n"
        "def wait():\n    end = time.perf_counter() + 0.004\n"
        "    while time.perf_counter() < end: pass\n"
        f"def mark():\n    open({str(tmp_path / 'cores')!r}, 'a')"
        ".write(f'{sorted(os.sched_getaffinity(0))}')\n"
        "def fail(): raise ValueError('no frame')\n"
    )
    unit = f"cpu{two_units()[0].cores[0]}"
    workload = tmp_path / "tasks.json"
    tasks = [
        {"name": "first", "times": [{"unit": unit, "ms": 4}], "copies": 2},
        {"name": "last", "waits_for": ["full"], "times": [{"unit": unit, "ms": 1}]},
    ]
    networks = [{"network": str(network), "name": "full", "waits_for": ["first"]}]
    workload.write_text(json.dumps({"tasks": tasks, "networks": networks}))
    explored = dse(
        *("explore", workload, "-p", host / "platform.json", "--profile", host / "profile.json"),
        *("--objective", "latency", "-q", "--max-nodes", "0", "-o", folder),
    )
    assert explored.status == 0, explored.err
    first, last = ("--task", f"first={programs}:wait"), ("--task", f"last={programs}:mark")
    ran = dse("run", folder, "--frames", 5, "--json", *first, *last)
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    times = {group["network"]: group["ms"]["measured"] for group in found["groups"]}
    assert min(times["first"], times["first#2"]) >= 4
    assert found["latency_ms"]["last"]["measured"] >= 8
    assert set((tmp_path / "cores").read_text().replace("]", "],").split(",")) == {
        f"[{two_units()[0].cores[0]}]",
        "",
    }
    for given, words in (
        (first, "task 'last': --task last=FILE.py:FUNCTION is required"),
        ((*first, *last, "--task", f"other={programs}:mark"), "there is no task 'other'"),
        ((*first, "--task", f"last={programs}:DATA"), "a function 'DATA' is required"),
        ((*first, "--task", f"last={programs}:fail"), f"{programs}: fail: ValueError: no frame"),
        ((*first, "--task", "last=mark"), "TASK=FILE.py:FUNCTION is required"),
        ((*first, "--task", "last=none.py:mark"), "there is no file 'none.py'"),
        ((*first, "--task", f"first={programs}:other"), "for each TASK is required, got first="),
    ):
        refused = dse("run", folder, *given)
        assert (refused.status, words in refused.err) == (2, True), refused.err
    refused = dse("profile", workload, "-o", tmp_path / "none")
    assert "'first' is a task, whose times are in its file" in refused.err


def test_the_way_of_a_user(dse, files, tmp_path, monkeypatch):
    folder, _ = files
    monkeypatch.setattr(measuring, "STREAM_S", 0.02)
    monkeypatch.setattr(memory_rates, "STREAM_S", 0.02)
    networks = [folder / "full.onnx", folder / "bare.onnx"]
    host, made = tmp_path / "host", tmp_path / "host-front"
    dynamic = onnx.load(str(networks[0]))
    width = dynamic.graph.input[0].type.tensor_type.shape.dim[3]
    sizes = ("--dim", f"width={width.dim_value}")
    width.dim_param = "width"
    onnx.save(dynamic, str(tmp_path / "full.onnx"))
    given = (tmp_path / "full.onnx", networks[1], *sizes)
    done = dse("profile", *given, "--platform", "host", "--frames", 3, "-o", host)
    assert done.status == 0, done.err
    assert {p.name for p in host.iterdir()} >= {"platform.json", "profile.json"}
    _, *example = shlex.split(done.out.splitlines()[-1])
    explored = dse(*example, "--max-evaluations", 300, "-q", "--max-nodes", "0")
    assert explored.status == 0, explored.err
    shown = dse("show", made, "--member", 0).out
    assert "no power is known\n" in shown
    assert " mJ" not in shown
    ran = dse("run", made, "--frames", 5, "--json")
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert len(document["groups"]) == 7
    assert document["makespan_ms"]["measured"] > 0
    assert document["frames"] == {"run": 5, "counted": 5}
    table = dse("run", made, "--frames", 5, "--dispatch", "fifo")
    assert "makespan, ms" in table.out
    assert "guaranteed" not in table.out
    assert "cores taken by others" in table.out
    rates, rated = tmp_path / "rates.yaml", tmp_path / "rated"
    rates.write_text(
        "networks: "
        + json.dumps([
            {"network": str(networks[0]), "rate_hz": 50},
            {"network": str(networks[1]), "rate_hz": 25, "priority": 1},
        ])
    )  # fmt: skip
    explored = dse(
        *("explore", rates, "-p", host / "platform.json", "--profile", host / "profile.json"),
        *("--max-evaluations", 100, "-q", "--max-nodes", "0", "-o", rated),
    )
    assert explored.status == 0, explored.err
    ran = dse("run", rated, "--frames", 5, "--json")
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert (document["periods"], len(document["groups"])) == (5, 7)
    assert document["responses"]["full"]["longest_ms"]["measured"] > 0
    table = dse("run", rated, "--frames", 5, "--dispatch", "fifo")
    assert "longest response of bare, ms" in table.out
    assert "5 periods of 40 ms" in table.out
    assert "8 periods of 40 ms" in dse("run", rated, "--seconds", "0.3").out
    for refused, words in ((("--swap",), "--swap: is for frames"), ((), "group executions")):
        endless = dse("run", rated, "--seconds", 80_000, *refused)
        assert (endless.status, words in endless.err) == (2, True)
    # DSE_SWAP_SECONDS=600: ten minutes of workloads that change, frames that must not be lost.
    seconds = os.environ.get("DSE_SWAP_SECONDS", "0.5")
    swapped = dse("run", made, "--seconds", seconds, "--swap", "--json")
    assert swapped.status == 0, swapped.err
    counts = json.loads(swapped.out)
    assert (counts["lost"], counts["doubled"]) == (0, 0)
    assert counts["frames"] >= 1
    fixed = dse("run", made, "--seconds", "0.2")
    assert "0 swaps of the schedule; groups of frames lost: 0, doubled: 0" in fixed.out
    assert "--swap: needs --seconds" in dse("run", made, "--swap").err
    check_tasks(dse, tmp_path, networks[0], host)
    picture = tmp_path / "fidelity.png"
    found = dse("measure", "fidelity", made, "--samples", 2, "-o", picture, "--json", "-q")
    assert found.status == 0, found.err
    assert len(json.loads(found.out)["points"]) == 3
    assert len(json.loads(found.out)["together_gbps"]) == 4
    assert picture.read_bytes().startswith(b"\x89PNG")
    refused = dse("measure", "fidelity", made, "--samples", 2, "-o", picture)
    assert (refused.status, len(refused.lines)) == (2, 1)
    gone = dse("run", made, "--model", "nothing=x.onnx")
    assert "there is no network 'nothing'" in gone.err


def test_a_result_for_another_machine_is_refused(dse, pair_folder):
    done = dse("run", pair_folder)
    assert (done.status, len(done.lines)) == (2, 1)
    assert "unit 'gpu': is not one of this machine" in done.err
