"""What public functions do with what they are given: each call works, or says what is wrong."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import paretosoc as dse
from paretosoc.dse.workload.options import Scenario

PLATFORM = "jetson-agx-xavier"
SMALL = {"groups": 2, "units": ["gpu", "dla0"], "fixed": {"emc": "max", "cpu": "max"}}


def make(networks: object = "alexnet", **options: object) -> dse.Problem:
    return dse.Problem(networks, PLATFORM, **{**SMALL, **options})


@pytest.fixture(scope="module")
def problem() -> dse.Problem:
    return make(["alexnet", "squeezenet"], deadline_ms=20)


@pytest.fixture(scope="module")
def front(problem: dse.Problem) -> dse.Front:
    return dse.explore(problem, max_evaluations=300, seed=1)


@pytest.fixture(scope="module")
def folder(front: dse.Front, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("arguments") / "run"
    front.save(place, pictures=False)
    return place


REFUSED_BY_PROBLEM = {
    "networks: a network, several": lambda: dse.Problem(5, PLATFORM),
    "networks: a name or a file for each is required, got 5": lambda: make(["alexnet", 5]),
    "platform: a name, a file": lambda: dse.Problem("alexnet", 5),
    "groups: an integer from 1 .* got '5'": lambda: make(groups="5"),
    "groups: an integer from 1 .* got 0": lambda: make(groups=0),
    "groups: an integer from 1 .* got True": lambda: make(groups=True),
    "free_running: True or False is required, got 'yes'": lambda: make(free_running="yes"),
    "groups: an integer from 1 .* or layers, branches, .* got 'yes'": lambda: make(groups="yes"),
    "deadline_ms: a number from 10.-9 to 10.9 is required, got '9'": lambda: make(deadline_ms="9"),
    "deadline_ms: a number from .* got 10000": lambda: make(deadline_ms=10**400),
    "power_cap_w: a number from .* got Fraction": lambda: make(power_cap_w=Fraction(10**400)),
    "deadline_ms: a number from .* got Decimal.'sNaN'": lambda: make(deadline_ms=Decimal("sNaN")),
    "deadline_ms: a number from .* got Decimal.'1E-9": lambda: make(
        deadline_ms=Decimal("1e-999999999")
    ),
    "max_transitions: an integer from 0 .* got -1": lambda: make(max_transitions=-1),
    "frames_in_flight: an integer": lambda: make(frames_in_flight=0),
    "pins: network -> .* got {'alexnet': 3}": lambda: make(pins={"alexnet": 3}),
    "pins: network -> .* got 3": lambda: make(pins=3),
    "pins: network -> .* 0 <= first group <= last group is r.*-1": lambda: make(
        ["alexnet", "squeezenet"], pins={"squeezenet": {(-1, 0): "gpu"}}
    ),
    "pins: network -> .* got {'alexnet': {.1, 0.: 'gpu'}}": lambda: make(
        pins={"alexnet": {(1, 0): "gpu"}}
    ),
    "batch: an integer from 1 .*, or several, is required, got .]": lambda: make(batch=[]),
    "batch: an integer .* got {'alexnet': .]}": lambda: make(batch={"alexnet": []}),
    "fixed: a mapping such as {'gpu': 1377} is required, got {1: 2}": lambda: make(fixed={1: 2}),
    "fixed: max, min or a frequency in MHz for each domain is required, got 1000": lambda: make(
        fixed={"gpu": 10**400}
    ),
    "dimensions: a mapping such as {'batch': 1} is .* got {1: 2}": lambda: make(dimensions={1: 2}),
    "networks: names or networks=, not both": lambda: dse.Workload(
        "alexnet", networks=dse.Workload("vgg19").networks
    ),
    "networks: a tuple of networks is required, got 3": lambda: dse.Workload(networks=3),
    "frames_in_flight: an integer from 1 to 8 is required, got 9": lambda: dse.Workload(
        "vgg19", frames_in_flight=9
    ),
    "frames_per_second: a number from .* got -9": lambda: dse.Workload(
        "vgg19", frames_per_second=-9
    ),
    "power_cap_w: a number from .* got 10000000000": lambda: dse.Workload(
        "vgg19", power_cap_w=10**10
    ),
    "runs: of 'a': fronts or their folders is required, got 3": lambda: dse.statistics({"a": 3}),  # type: ignore[dict-item]
    "runs: of 'a': fronts .* got 'runs/demo'": lambda: dse.statistics({"a": "runs/demo"}),
    "fronts: fronts or their folders is required, got 'runs/": lambda: dse.attainment("runs/demo"),
    "folder: a path is required, got 3": lambda: dse.choose("alexnet", [PLATFORM], folder=3),
    "prove: True or False is required, got 'no'": lambda: dse.choose("alexnet", prove="no"),
    "on_progress: a function": lambda: dse.choose("alexnet", on_progress=5),
    "prices: a number of at least 0 for each board is required, got {1: 2}": lambda: dse.choose(
        "alexnet",
        [PLATFORM],
        prices={1: 2},  # type: ignore[dict-item]
    ),
    "named: one front at least is required, got .]": lambda: dse.Front.figure("front", []),
    "max_transitions: an integer from 0 to 10.6, or any, is": lambda: make(max_transitions="few"),
    "scenario: one of instances, same-input, stream .* 'x'": lambda: make(scenario="x"),
    "scenario='stream': throughput is required among the obj.*got latency, energy": lambda: make(
        ["alexnet", "squeezenet"], scenario="stream", objectives=["latency", "energy"]
    ),
    "throughput_model: one of timeline, analytic": lambda: make(throughput_model="fast"),
    "pipeline_time: one of period, sum-of-loads": lambda: make(pipeline_time="T"),
    "objectives: one or more names are required, got 5": lambda: make(objectives=5),
    "units: one or more names are required, got 5": lambda: make(units=5),
    "profile: a file is required, got 5": lambda: make(profile=5),
    r"no argument 'maxtransitions' \(did you mean max_transitions\?\)": lambda: make(
        maxtransitions=3
    ),
    "no argument 'seed'": lambda: make(seed=3),
    "networks: a name or a file for each is required, got 7": lambda: dse.Workload("vgg19", 7),
    "no network 'vgg20'.*did you mean vgg": lambda: dse.Workload("vgg19", "vgg20"),
    "got 'cam.yaml': dse.Problem": lambda: dse.Workload("cam.yaml"),
    "frames_in_flight: an integer from 1 .* got 0": lambda: dse.Workload(
        "vgg19", frames_in_flight=0
    ),
    "population: an integer from 2 .* got -7": lambda: dse.NSGA2(population=-7),
    "neighbours: an integer from 0": lambda: dse.NSGA2(neighbours=-1),
    "make: a function is required, got 'nsga2'": lambda: dse.Pymoo(make="nsga2"),
    "front: a front, or its folder, is required, got 5": lambda: dse.limits(5),
}


@pytest.mark.parametrize("message", REFUSED_BY_PROBLEM)
def test_what_cannot_be_built_is_refused(message: str) -> None:
    with pytest.raises(dse.DseError, match=message):
        REFUSED_BY_PROBLEM[message]()


REFUSED_BY_EXPLORE = {
    "max_evaluations: an integer from 1 .* got 0": {"max_evaluations": 0},
    "max_evaluations: an integer from 1 .* got -3": {"max_evaluations": -3},
    "max_evaluations: an integer from 1 .* got 'many'": {"max_evaluations": "many"},
    "time_limit_s: a number of seconds from 0.001 .* got -3": {"time_limit_s": -3},
    "time_limit_s: a number of seconds from 0.001 .* got nan": {"time_limit_s": float("nan")},
    "seed: an integer from 0 .* got -1": {"seed": -1},
    "seed: an integer from 0 .* got None": {"seed": None},
    "jobs: an integer from 1 .* got 0": {"jobs": 0},
    "stop_when_stalled: an integer": {"stop_when_stalled": 0},
    "on_progress: a function": {"on_progress": 5},
    "checkpoint: a file": {"checkpoint": 5},
    "the name of an optimizer is required, got 'nsga7'; did you mean nsga": {"optimizer": "nsga7"},
    "optimizer: an object with start": {"optimizer": 5},
    "max_transitions: are part of the problem": {"max_transitions": 3},
    r"no argument 'maxtransitions' \(did you mean max_transitions\?\)": {"maxtransitions": 3},
    "no argument 'evaluations'": {"evaluations": 3},
}


@pytest.mark.parametrize("message", REFUSED_BY_EXPLORE)
def test_what_cannot_be_explored_is_refused(message: str, problem: dse.Problem) -> None:
    with pytest.raises(dse.DseError, match=message):
        dse.explore(problem, **REFUSED_BY_EXPLORE[message])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: dse.certify(f, time_limit_s=-1), "time_limit_s: a number of seconds"),
        (lambda f: dse.certify(f, max_nodes=0), "max_nodes: an integer from 1"),
        (lambda f: dse.limits(f, seed=-1), "seed: an integer from 0"),
        (lambda f: dse.verify(f, checker="slow"), "checker: one of plain, fast"),
        (lambda f: dse.verify(f, solver_seconds=0), "solver_seconds: a number"),
        (lambda f: dse.verify(f / "none"), "none"),
        (lambda f: dse.verify(5), "folder: a path is required, got 5"),
        (lambda f: dse.load(dse.load(f)), "folder: a path is required, got <dse.Front"),
        (lambda f: dse.load(f).plot(5), "file: a path is required, got 5"),
        (lambda f: dse.load(f).save(5), "folder: a path is required, got 5"),
        (lambda f: dse.load(f).plot(f / "a.svg", "gantt", members="knee"), "members: a list of"),
        (lambda f: dse.load(f).plot(f / "a.svg", "gantt", members=5), "members: a list of"),
        (lambda f: dse.load(f).trace("fastest"), "members: a list of"),
        (lambda f: dse.Front.figure("gantt", [("", dse.load(f))], "knee"), "members: a list of"),
        (lambda f: dse.load(f).to_optuna(5), "path: a path is required, got 5"),
        (lambda f: dse.load(f).to_optuna(f), "path .*: a file is required, got a folder"),
        (lambda f: dse.load(f).views(width=80, resolution="few"), "resolution: a number from 0"),
        (lambda f: dse.load(f).choices("few"), "resolution: a number from 0 to below 1 .* 'few'"),
        (lambda f: dse.load(f).rows("few"), "resolution: a number from 0 to below 1 .* 'few'"),
        (lambda f: dse.deploy(5, "sysfs", f), "front: a front, or its folder"),
        (lambda f: dse.plan_measurements(5), "front: a front, or its folder"),
        (lambda f: dse.deploy(f, "sysf", f), "target: the name of a deployment format"),
        (lambda f: dse.deploy(dse.load(f), 5, f), "target: the name of a format"),
        (lambda f: dse.deploy(dse.load(f), "json", f, member=999), "member 999: there are members"),
        (lambda f: dse.deploy(dse.load(f), "json", f, models=5), "models: a mapping"),
        (lambda f: dse.deploy(dse.load(f), "trtexec", f, tensorrt=10), "tensorrt: a version"),
        (lambda f: dse.deploy(dse.load(f), "nvpmodel", f, nvpmodel_conf=5), "nvpmodel_conf: a pa"),
        (lambda f: dse.deploy(dse.load(f), "json", f, check=1), "check: True or False"),
        (lambda f: dse.load(f / "none"), "none"),
    ],
)
def test_what_cannot_be_done_with_a_folder(
    call: Callable[[Path], object], message: str, folder: Path
) -> None:
    with pytest.raises(dse.DseError, match=message):
        call(folder)


def test_members_are_named_by_position_everywhere(front: dse.Front, tmp_path: Path) -> None:
    assert front.trace([0, "fastest"]) == front.trace(["0", "fastest"])
    by_text = dse.Front.drawn("gantt", [("", front)], ["0"])
    assert dse.Front.drawn("gantt", [("", front)], [0]) == by_text


def test_an_empty_front_has_no_price_of_limits(front: dse.Front) -> None:
    empty = replace(front, numeric=replace(front.numeric, members=()))
    with pytest.raises(dse.DseError, match="the front is empty: it has no member"):
        dse.limits(empty)


def test_a_small_error_is_not_taken_for_none(front: dse.Front) -> None:
    small = front.confidence(draws=20, error=1e-5)
    assert small == front.confidence(draws=20, error=0.001)
    assert small != front.confidence(draws=20, error=0)


def test_a_proof_of_energy_alone_says_nothing_of_speed() -> None:
    front = dse.certify(dse.explore(make(objectives=["energy"]), max_evaluations=100))
    assert front.is_complete
    assert not front.is_certified


def test_a_share_of_runs_is_any_number(front: dse.Front) -> None:
    found = dse.attainment([front, front], np.int64(50))
    assert np.array_equal(found, dse.attainment([front, front], 50))


def test_names_stand_for_what_they_name(problem: dse.Problem) -> None:
    by_name = make(["alexnet", "squeezenet"], scenario="stream")
    assert by_name.numeric.networks[1].waits_for == (0,)
    assert [entry.kind.value for entry in by_name.numeric.objectives] == ["throughput", "latency"]
    by_object = make(["alexnet", "squeezenet"], scenario=Scenario.STREAM)
    assert by_object.numeric.networks[1].waits_for == (0,)
    analytic = make(objectives=["throughput"], throughput_model="analytic")
    timeline = make(objectives=["throughput"], throughput_model="timeline")
    assert type(analytic.numeric.execution) is not type(timeline.numeric.execution)
    for options in ({"optimizer": "random"}, {"platform": "random"}):
        named = dse.explore(problem, max_evaluations=50, **options)
        assert named.numeric.provenance.engine == "random"
    assert make(max_transitions=np.int64(1)).numeric.networks[0].max_transitions == 1


def test_a_workload_is_made_of_names() -> None:
    workload = dse.Workload("vgg19", "resnet50*2", frames_per_second=29.97)
    assert [network.name for network in workload.networks] == ["vgg19", "resnet50", "resnet50#2"]
    assert workload.frames_per_second == Fraction(2997, 100)
    assert repr(workload) == "<dse.Workload: vgg19, resnet50, resnet50#2>"
    assert replace(workload, free_running=True).networks == workload.networks


def test_the_exact_search_proves(problem: dse.Problem) -> None:
    by_exact = dse.explore(problem, dse.exact())
    assert by_exact.is_complete
    assert by_exact.is_certified
    assert by_exact.claims
    proved = dse.certify(dse.explore(problem, max_evaluations=300, seed=1))
    assert np.array_equal(by_exact.values, proved.values)


def test_verify_checks_when_it_is_called(folder: Path, tmp_path: Path) -> None:
    seen: list[str] = []
    report = dse.verify(folder, on_check=lambda check: seen.append(check.name))
    assert [check.name for check in report] == seen
    assert len(report) == len(seen) > 1
    for name in ("problem.json", "front.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes().replace(b"1", b"2", 1))
    wrong = dse.verify(tmp_path)
    assert not wrong.holds
    assert not wrong
    assert wrong.exit_status == 1
    with pytest.raises(dse.DseError, match="files does not hold"):
        dse.verify(tmp_path, raise_on_failure=True)


def test_what_is_shown_fits_a_few_lines(
    problem: dse.Problem, front: dse.Front, folder: Path
) -> None:
    mapping = {"alexnet": "gpu", "squeezenet": "gpu"}
    evaluated = dse.evaluate(problem, mapping)
    assert isinstance(evaluated.member, dse.Member)
    shown = [
        *(problem, problem.numeric, problem.platform, problem.workload),
        *(front, front.numeric, front[0], front[0].scheduled, front[0].scheduled.schedule),
        *(evaluated, evaluated.scheduled, dse.limits(folder), dse.verify(folder)),
        dse.compare(front, folder),
        *(dse.NSGA2(), dse.exact(), dse.annealing(), dse.random_search(), dse.exhaustive()),
    ]
    for entry in shown:
        assert len(repr(entry)) < 400, type(entry)


def test_values_have_units_in_their_names(front: dse.Front) -> None:
    assert front.objectives == ("latency [ms]", "energy [mJ]")
    assert front.values.shape == (len(front), 2)
    assert front.values[0].tolist() == [front[0].latency_ms, front[0].energy_mj]
    assert list(front[0].display) == list(front.objectives)
    for price in dse.limits(front).prices:
        assert price.limit.startswith("latency of ")
        assert price.limit.endswith(" [ms]")
        assert price.at == 20
        assert price.relaxed_to > 20
        assert price.objective in front.objectives
        assert price.without <= price.then < price.now


def test_one_library_under_two_names() -> None:
    assert sorted(dir(dse)) == sorted([*dse.__all__, "__version__"])
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module("paretosoc.nothing")
        pytest.fail("there is no such module")


def test_a_wrong_size_names_its_dimension() -> None:
    with pytest.raises(dse.DseError, match="dimensions of 'past': an integer from 1 to 10\\^9"):
        dse.Problem(["qwen2-0.5b"], "rk3588", dimensions={"past": "3"})  # type: ignore[dict-item]
