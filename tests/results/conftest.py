"""Problems and fronts for the tests of results: two networks on a chip of three units."""

import importlib.util
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from weakref import WeakKeyDictionary

import numpy as np
import pytest

from paretosoc.results.export.report import report_html
from paretosoc.results.export.result_folder import write_results
from paretosoc.results.front.dominance import non_dominated, reference_point
from paretosoc.results.front.front import Front, HypervolumePoint, InputFile, Member, Provenance
from paretosoc.results.front.schedule import Schedule, ScheduledGroup, ScheduledMember
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import (
    ContentionTable,
    ProblemDomain,
    ProblemNetwork,
    ProblemUnit,
)
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.problem_file import problem_to_document

LATENCY_ENERGY = (Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY))
LADDERS = {
    "cpu": (729_600, 1_190_400, 2_265_600),
    "gpu": (318_750, 522_750, 675_750, 905_250, 1_198_500, 1_377_000),
    "dla": (550_000, 1_050_000, 1_395_200),
    "emc": (1_062_400, 1_600_000, 2_133_000),
}
_SCHEDULES: WeakKeyDictionary[DesignPoint, Schedule] = WeakKeyDictionary()


@cache
def load_recompute() -> ModuleType:
    path = Path(__file__).parents[1] / "support" / "recompute_front.py"
    spec = importlib.util.spec_from_file_location("recompute_front", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build_problem(seed=0, groups=(6, 5), objectives=LATENCY_ENERGY) -> Problem:
    """Costs that behave like a chip's: faster clocks cost more, units differ, memory is shared."""
    rng = np.random.default_rng(seed)
    names = list(LADDERS)
    total = sum(groups)
    macs = rng.integers(50, 900, total) * 10**6
    traffic = rng.integers(2, 30, total) * 10**6
    units = []
    for name, clocks, lanes, idle_mw, busy_mw in (
        ("cpu", ("cpu", "emc"), 32, 300, 6000),
        ("gpu", ("gpu", "cpu", "emc"), 512, 400, 12000),
        ("dla", ("dla", "emc"), 256, 100, 3500),
    ):
        scale = np.meshgrid(*(np.array(LADDERS[c]) / LADDERS[c][-1] for c in clocks), indexing="ij")
        compute = macs / (lanes * LADDERS[clocks[0]][-1] * 1e3)
        memory = traffic / 60e9
        shape = (total, *scale[0].shape)
        column = (slice(None), *(None for _ in scale))
        seconds = compute[column] / scale[0] + memory[column] / scale[-1]
        time = np.broadcast_to(seconds * 1e12, shape).astype(np.int64)
        demand = np.broadcast_to(traffic[column] / seconds / 1e3, shape).astype(np.int64)
        dynamic = np.broadcast_to(busy_mw * scale[0] ** 2.4 + 300 * scale[-1], shape)
        dynamic = dynamic.astype(np.int64)
        if name == "dla":
            time = time.copy()
            time[rng.choice(total, min(2, total), replace=False)] = -1
        points = len(LADDERS["emc"])
        units.append(
            ProblemUnit(
                name=name,
                clocks=tuple(names.index(c) for c in clocks),
                time_ps=time,
                demand_kbps=demand,
                dynamic_mw=dynamic,
                idle_mw=(idle_mw * (0.5 + scale[0] / 2)).astype(np.int64),
                contention=None
                if name == "cpu"
                else ContentionTable(
                    **{
                        key: np.full(points, value, dtype=np.int64)
                        for key, value in {
                            "normal_kbps": 38_100_000,
                            "total_kbps": 87_200_000,
                            "balance_kbps": 45_300_000,
                            "peak_kbps": 137_000_000,
                            "minor_num": 3,
                            "minor_den": 137_000,
                            "proportional_num": 74,
                            "proportional_den": 100_000,
                            "intensive_num": 74,
                            "intensive_den": 4_608_154_296_875,
                            "memory_kbps": 140_000_000,
                        }.items()
                    }
                ),
                max_segments=16 if name == "dla" else None,
            )
        )
    networks, edges, first = [], [], 0
    for n, size in enumerate(groups):
        networks.append(
            ProblemNetwork(
                name=("vgg19", "resnet50", "tiny")[n],
                first_group=first,
                group_names=tuple(f"g{g}" for g in range(size)),
                repeats=2 if n == 2 else 1,
                waits_for=(0,) if n == 2 else (),
                arrival_ps=10**8 if n == 1 else 0,
                max_transitions=3 if n == 0 else None,
            )
        )
        edges += [(g, g + 1) for g in range(first, first + size - 1)]
        if n == 1 and size > 2:
            edges.append((first, first + size - 1))
        first += size
    transition = rng.integers(2 * 10**7, 3 * 10**8, (len(edges), 3, 3))
    transition[:, range(3), range(3)] = 0
    return Problem(
        networks=tuple(networks),
        edges=tuple(edges),
        transition_ps=transition,
        domains=tuple(
            ProblemDomain(
                name=name,
                frequencies_khz=ladder,
                voltages_mv=tuple(
                    None if name == "dla" else 600 + 60 * i for i in range(len(ladder))
                ),
                may_be_off=name in ("gpu", "dla"),
                static_mw=np.arange(1, len(ladder) + 1) * (900 if name == "emc" else 60),
                allowed=np.ones(len(ladder), dtype=np.bool_),
            )
            for name, ladder in LADDERS.items()
        ),
        units=tuple(units),
        memory_domain=3,
        board_mw=1500,
        allowed=np.stack([unit.time_ps.reshape(total, -1)[:, 0] > 0 for unit in units], axis=1),
        objectives=objectives,
    )


def random_design(problem: Problem, rng: np.random.Generator) -> DesignPoint:
    """Stretches of groups on units that are allowed; canonical clocks."""
    units = np.zeros(problem.group_count, dtype=np.int64)
    for network in problem.networks:
        unit = int(rng.integers(len(problem.units)))
        for group in network.groups:
            if rng.random() < 0.15 or not problem.allowed[group, unit]:
                unit = int(rng.choice(np.flatnonzero(problem.allowed[group])))
            units[group] = unit
    points = np.array([rng.integers(len(d.frequencies_khz)) for d in problem.domains])
    for d, on in enumerate(domains_on(problem, units)):
        points[d] = points[d] if on else 0
    return DesignPoint(units, points)


def domains_on(problem: Problem, units: np.ndarray) -> tuple[bool, ...]:
    needed = {clock for unit in units for clock in problem.units[unit].clocks}
    return tuple(not d.may_be_off or i in needed for i, d in enumerate(problem.domains))


def simulate_member(problem: Problem, document: dict, design: DesignPoint) -> Member:
    recompute = load_recompute()
    names = [unit.name for unit in problem.units]
    unit_of = [names[unit] for unit in design.units]
    point = {d.name: int(p) for d, p in zip(problem.domains, design.operating_points, strict=True)}
    rows = recompute.replay(document, unit_of, point)
    values, by_unit = recompute.figures(document, unit_of, point, rows)
    executions = []
    for (frame, network, repeat, group), times in rows.items():
        unit = int(design.units[group])
        at = (group, *design.operating_points[list(problem.units[unit].clocks)])
        alone = int(problem.units[unit].time_ps[at])
        executions.append(ScheduledGroup(frame, network, repeat, group, unit, *times, alone))
    _SCHEDULES[design] = Schedule(tuple(executions))
    return Member(
        design=design,
        objectives=tuple(values.get(name, 0) for name in problem.objective_names),
        domain_on=domains_on(problem, design.units),
        latencies_ps=tuple(values[f"latency_ps:{n.name}"] for n in problem.networks),
        makespan_ps=values["latency_ps"],
        energy_fj=values["energy_fj"],
        energy_by_unit_fj=tuple(by_unit.values()),
    )


def build_members(problem: Problem, count, seed=0) -> list[Member]:
    """So many random design points."""
    rng = np.random.default_rng(seed)
    document = problem_to_document(problem)
    return [simulate_member(problem, document, random_design(problem, rng)) for _ in range(count)]


def build_front(problem: Problem, samples=250, seed=0) -> Front:
    """The non-dominated of so many random design points."""
    members = build_members(problem, samples, seed)
    values = np.array([member.objectives for member in members], dtype=np.int64)
    kept = sorted(non_dominated(values), key=lambda i: members[i].objectives)
    return Front(
        problem=problem,
        members=tuple(members[i] for i in kept),
        provenance=Provenance(
            version="0.1.0",
            engine="random",
            seed=seed,
            evaluations=samples,
            stopped_by="budget",
            seconds=0.25,
            inputs=(InputFile("vgg19.onnx", "ab" * 32),),
            platform="three-units",
            precision="int8",
            command="dse explore vgg19 resnet50 -p three-units",
            convergence=(HypervolumePoint(100, 0.9), HypervolumePoint(samples, 1.0)),
            reference_point=tuple(float(value) for value in reference_point(values)),
        ),
    )


@pytest.fixture(scope="session")
def recompute():
    """The stranger's script as a module."""
    return load_recompute()


@pytest.fixture(scope="session")
def problem():
    return build_problem()


@pytest.fixture(scope="session")
def front(problem):
    return build_front(problem)


@pytest.fixture(scope="session")
def three_objective_front():
    objectives = (*LATENCY_ENERGY, Objective(ObjectiveKind.LATENCY, 1))
    return build_front(build_problem(seed=3, objectives=objectives), samples=120)


@pytest.fixture(scope="session")
def make_problem():
    return build_problem


@pytest.fixture(scope="session")
def make_design():
    return random_design


@pytest.fixture(scope="session")
def make_front():
    return build_front


@pytest.fixture(scope="session")
def make_members():
    return build_members


@pytest.fixture(scope="session")
def schedule_of():
    """The schedules of design points that were built here."""
    return lambda problem, design: _SCHEDULES[design]


@pytest.fixture(scope="session")
def scheduled():
    return lambda problem, member: ScheduledMember(problem, member, _SCHEDULES[member.design])


@pytest.fixture(scope="session")
def as_formats():
    """A scheduled member as if GPU and DLA were two number formats of one unit."""

    def changed(shown):
        cpu, gpu, dla = shown.problem.units
        units = (
            replace(cpu, name="cpu:fp16", unit="cpu", number_format="fp16"),
            replace(gpu, unit="chip", number_format="fp16"),
            replace(dla, unit="chip", number_format="int8"),
        )
        return replace(shown, problem=replace(shown.problem, units=units))

    return changed


@pytest.fixture(scope="session")
def report(schedule_of):
    return lambda front: report_html(front, schedule_of)


@pytest.fixture
def folder(front, tmp_path):
    """The front in a folder of its own, without pictures."""
    write_results(tmp_path / "run", front, pictures=False)
    return tmp_path / "run"
