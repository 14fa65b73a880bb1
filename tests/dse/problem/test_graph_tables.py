"""Dataflow graphs as problems: costs, and throughput as the analyses of graphs have it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretosoc as dse
from benchmarks.problems.enumerated.space import all_designs
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.build import BuiltProblem, build_problem
from paretosoc.dse.problem.runtime_limits import with_defaults
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.execution import schedule_of
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.results.problem.execution import frames_in_flight
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.runtimes import Runtime
from paretosoc.sdf.analysis.blocks import blocked_iteration
from paretosoc.sdf.analysis.processor_order import bound_throughput
from paretosoc.sdf.analysis.throughput import self_timed_throughput
from paretosoc.sdf.formats.graph_json import read_graph
from paretosoc.sdf.formats.sdf3_writer import format_sdf3
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from tests.support.problems.csdf_graphs import entries, live_graphs
from tests.support.problems.workload_texts import read

EXAMPLES = Path(__file__).parents[3] / "examples"
BOARD = EXAMPLES / "platforms" / "two_processors.json"
H263 = str(EXAMPLES / "sdf" / "h263decoder.xml")
VIDEO = str(EXAMPLES / "sdf" / "block_video.xml")
KHZ = 500_000
CYCLE_PS = Fraction(10**9, KHZ)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Platform:
    """The example, one processor of which is a DSP."""
    file = tmp_path_factory.mktemp("board") / "board.json"
    units = [
        {"name": "arm0", "processor_types": ["cpu"]},
        {"name": "arm1", "kind": "dsp", "processor_types": ["dsp"]},
    ]
    file.write_text(json.dumps({"extends": str(BOARD), "name": "board", "units": units}))
    return load_platform(str(file))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graph") / "graph.xml"


def built(source: str | Path, platform: Platform, **options: object) -> BuiltProblem:
    workload = Workload((WorkloadNetwork("graph", str(source)),))
    given = with_defaults(Options(**options), platform, workload)  # type: ignore[arg-type]
    return build_problem(workload, platform, given)


def designs(problem: Problem) -> Iterator[DesignPoint]:
    """Every mapping, at the fastest clocks."""
    groups = problem.group_count
    fastest = [len(domain.frequencies_khz) - 1 for domain in problem.domains]
    for row in np.unique(all_designs(problem)[:, :groups], axis=0):
        yield problem.design_of(np.array([*row, *fastest]))


def frame_period(problem: Problem, design: DesignPoint) -> int:
    """Time per iteration, of one graph."""
    return plain_outcome(problem, design, compiled=True).objectives[0]


def closed(graph: SdfGraph, repetitions: dict[str, int]) -> SdfGraph:
    """The graph, in which an iteration begins when the one before has ended."""
    channels = [
        Channel(a.name, b.name, repetitions[b.name], repetitions[a.name], tokens)
        for a in graph.actors
        for b in graph.actors
        for tokens in [repetitions[a.name] * repetitions[b.name]]
    ]
    return replace(graph, channels=(*graph.channels, *channels))


def mapped_blocks(problem: Problem, design: DesignPoint) -> tuple[SdfGraph, dict[str, str]]:
    """The groups as a graph, with their times at a design point, and their processors."""
    actors, binding = [], {}
    for g, u in enumerate(design.units):
        unit = problem.units[int(u)]
        points = tuple(int(design.operating_points[clock]) for clock in unit.clocks)
        actors.append(
            Actor(str(g), execution_times=((unit.name, int(unit.time_ps[(g, *points)])),))
        )
        binding[str(g)] = unit.name
    channels = tuple(Channel(str(a), str(b)) for a, b in problem.edges)
    return SdfGraph("mapped", tuple(actors), channels), binding


@given(graph=live_graphs(), data=st.data())
def test_throughput_is_that_of_the_mapped_graph(
    graph: SdfGraph, data: st.DataObject, board: Platform, file: Path
) -> None:
    file.write_text(format_sdf3(graph))
    iteration = blocked_iteration(graph)
    try:
        problem = built(file, board, objectives=("throughput",), frames_in_flight=1).problem
    except WorkloadError as error:
        # Actors that fire by turns, and have times on different processors only.
        assert "which fire by turns" in str(error)  # noqa: PT017
        return
    problem = replace(problem, transition_ps=np.zeros_like(problem.transition_ps))
    design = data.draw(st.sampled_from(list(designs(problem))))
    period = frame_period(problem, design)

    # Groups as they are, by an independent analysis: equal.
    blocks, binding = mapped_blocks(problem, design)
    schedule = sorted(schedule_of(problem, design).groups, key=lambda entry: entry.start_ps)
    orders: dict[str, list[str]] = {name: [] for name in binding.values()}
    for entry in schedule:
        orders[binding[str(entry.group)]].append(str(entry.group))
    once = dict.fromkeys(binding, 1)
    assert (
        bound_throughput(closed(blocks, once), binding, orders=orders).throughput.period == period
    )

    # Firings by themselves overlap more: no slower. Equal if each actor fires once.
    place = {
        name: problem.units[int(u)].name
        for block, u in zip(iteration.blocks, design.units, strict=True)
        for name in block
    }
    kinds = {unit.name: unit.processor_types[0] for unit in board.units}
    firings = {name: iteration.repetitions[name] for name in place}
    if all(len(block) == 1 for block in iteration.blocks):
        each = {
            unit: [
                name
                for g in order
                for name in iteration.blocks[int(g)] * firings[iteration.blocks[int(g)][0]]
            ]
            for unit, order in orders.items()
        }
        found = bound_throughput(
            closed(graph, firings), place, processor_types=kinds, orders=each
        ).throughput
        assert found.period * CYCLE_PS <= period
        if set(firings.values()) == {1}:
            assert found.period * CYCLE_PS == period
    # More iterations at once: never faster than firings on processors of their own.
    times = {
        actor.name: dict(actor.execution_times)[kinds[place[actor.name]]] for actor in graph.actors
    }
    loads = Counter[str]()
    for actor in graph.actors:
        rounds = firings[actor.name] // len(actor.phases)
        loads[place[actor.name]] += rounds * sum(entries(times[actor.name], actor))
    several = built(file, board, objectives=("throughput",)).problem
    several = replace(several, transition_ps=np.zeros_like(several.transition_ps))
    least = max(self_timed_throughput(graph, times).period, *loads.values())
    assert frame_period(several, design) >= least * CYCLE_PS


def test_the_decoder_is_as_fast_as_its_slowest_processor() -> None:
    example = load_platform(str(BOARD))
    problem = built(H263, example, objectives=("throughput",)).problem
    assert problem.networks[0].group_names == ("vld", "iq", "idct", "mc")
    place = {unit.name: u for u, unit in enumerate(problem.units)}
    row = [place[name] for name in ("arm0", "arm0", "arm1", "arm1")]
    design = problem.design_of(np.array([*row, 4, 4, 0]))
    graph = read_graph(Path(H263))
    # A coprocessor and its processor do one thing at a time.
    binding = {"vld": "p", "iq": "p", "idct": "q", "mc": "q"}
    cycles = {"vld": 13009, "iq": 559, "idct": 486, "mc": 5479}
    actors = tuple(
        replace(actor, execution_times=((binding[actor.name], cycles[actor.name]),))
        for actor in graph.actors
    )
    orders = {"p": ["vld"] + ["iq"] * 594, "q": ["idct"] * 594 + ["mc"]}
    found = bound_throughput(replace(graph, actors=actors), binding, orders=orders).throughput
    assert found.period == 13009 + 594 * 559
    assert frame_period(problem, design) == found.period * CYCLE_PS
    # Bytes of 594 tokens of 512 bits, out and in at 1 GB/s.
    passed = problem.transition_ps[:, place["arm0"], place["arm1"]]
    assert passed.tolist() == [2 * 594 * 64 * 1000] * 3


def test_a_time_is_cycles_of_the_clock() -> None:
    problem = built(H263, load_platform(str(BOARD))).problem
    cycles = ([13009, 594 * 559, 594 * 486, 10958], [26018, 594 * 559, 594 * 486, 5479])
    for unit, own in zip(problem.units, cycles, strict=True):
        khz = problem.domains[unit.clocks[0]].frequencies_khz
        expected = [[Fraction(count * 10**9, f) for f in khz] for count in own]
        assert np.abs(unit.time_ps[:, :, 0] - np.array(expected, dtype=float)).max() <= 0.5
        assert unit.demand_kbps.max() == 0
    assert problem.networks[0].max_transitions is None


def test_a_type_of_the_platform_comes_before_name_and_kind(tmp_path: Path) -> None:
    times = (("arm1", 70), ("cpu", 50), ("x", 30))
    graph = SdfGraph("g", (Actor("a", execution_times=times),))
    (tmp_path / "g.xml").write_text(format_sdf3(graph))
    units = [{"name": "arm0", "processor_types": ["y", "x"]}]
    (tmp_path / "b.json").write_text(
        json.dumps({"extends": str(BOARD), "name": "b", "units": units})
    )
    problem = built(tmp_path / "g.xml", load_platform(str(tmp_path / "b.json"))).problem
    assert [int(unit.time_ps[0, -1, 0]) for unit in problem.units] == [30 * 2000, 70 * 2000]


def test_memory_is_tokens_and_initial_tokens() -> None:
    example = load_platform(str(BOARD))
    problem = built(H263, example, objectives=("memory", "energy")).problem
    (network,) = problem.networks
    block = 594 * 64
    assert network.activation_bytes == 2 * block
    initial = [1024, 64, 0, 304128 // 8]
    for unit in problem.units:
        assert unit.weight_bytes is not None
        assert unit.weight_bytes.tolist() == initial
    pipeline = built(H263, example, objectives=("memory", "throughput")).problem
    assert pipeline.networks[0].activation_bytes == 4 * block


@pytest.mark.parametrize("seed", range(3))
def test_the_front_of_a_graph_is_that_of_all_design_points(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    count = 5
    vector = rng.integers(1, 4, count)
    pairs = [(n, n + 1) for n in range(count - 1)] + [(0, 3), (4, 1)]
    channels = tuple(
        Channel(
            *(f"a{a}", f"a{b}", int(vector[b]), int(vector[a])),
            int(vector[a] * vector[b]) if a > b else 0,
            token_bytes=int(rng.integers(1, 2000)),
        )
        for a, b in pairs
    )
    actors = tuple(
        Actor(
            f"a{n}",
            execution_times=(
                ("arm", int(rng.integers(1000, 9000))),
                *((("motion", int(rng.integers(1000, 9000))),) if n % 2 else ()),
            ),
        )
        for n in range(count)
    )
    (tmp_path / "g.xml").write_text(format_sdf3(SdfGraph("g", actors, channels)))
    front = dse.explore(
        dse.Problem(tmp_path / "g.xml", str(BOARD), fixed={"arm0": "max"}), seed=seed
    )
    rows = [front.problem.design_of(row) for row in all_designs(front.problem)]
    outcomes = [plain_outcome(front.problem, row, compiled=True) for row in rows]
    points = {tuple(found.objectives) for found in outcomes}
    best = {p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)}
    assert {tuple(member.numeric.objectives) for member in front} == best
    assert dse.certify(front).is_complete


def test_initial_tokens_limit_the_frames_in_flight() -> None:
    chip = load_platform("snapdragon-865")
    limit = "channel 'step_size' .'rate_control' -> 'quantise'. has the initial tokens of no more"
    with pytest.raises(WorkloadError, match=f"at most 2 is possible, as .*{limit}.*, got 3"):
        built(VIDEO, chip, objectives=("throughput",), frames_in_flight=3)
    assert built(VIDEO, chip, objectives=("throughput",)).warnings == ()
    workload = Workload((WorkloadNetwork("video", VIDEO),), frames_in_flight=4)
    found = build_problem(workload, chip, Options(objectives=("throughput",)))
    assert frames_in_flight(found.problem.execution) == 2
    assert any("frames in flight: 2, as graph 'block_video'" in text for text in found.warnings)
    # One frame alone has none.
    assert build_problem(workload, chip, Options()).warnings == ()


def test_a_graph_stands_beside_networks_and_runs_where_their_runtime_does_not() -> None:
    chip = load_platform("jetson-agx-xavier")
    text = f"""
networks:
  - {{name: detect, network: squeezenet, reads_mb: {{video: 0.3}}}}
  - {{name: video, network: {VIDEO}, deadline_ms: 60}}
"""
    workload = read(text)
    options = with_defaults(Options(groups=2), chip, workload)
    problem = build_problem(workload, chip, options).problem
    detect, video = problem.networks
    assert (problem.runtime, detect.waits_for) == ("trtexec", (1,))
    assert problem.handovers == ((video.groups[-1], detect.first_group),)
    runs = {unit.name: (unit.time_ps > 0).reshape(len(unit.time_ps), -1) for unit in problem.units}
    assert not runs["cpu"][list(detect.groups)].any()
    assert runs["cpu"][list(video.groups)].all()
    assert not runs["gpu"][list(video.groups)].any()
    alone = with_defaults(Options(), chip, replace(workload, networks=workload.networks[1:]))
    assert alone.runtime is Runtime.NONE


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            'type="arm"',
            'type="sparc"',
            r"execution time of vld on a unit is required; the units of two-processors and their "
            r"processor types are arm0 \(encoder, arm, arm0, cpu\), arm1 \(motion, arm, arm1, "
            r"cpu\); vld has a time on sparc",
        ),
        ('"state_out" type="out" rate="1"', '"state_out" type="out" rate="2"', "is inconsistent"),
        ('dstPort="state_in" initialTokens="1"', 'dstPort="state_in"', "deadlock: the cycle 'vld'"),
        ('time="559"', 'time="99999999999"', "'iq' on arm0.*must stay below 140 s"),
        ("</sdf3>", "", "not well-formed XML"),
    ],
)
def test_what_is_refused(old: str, new: str, words: str, tmp_path: Path) -> None:
    text = Path(H263).read_text().replace('type="encoder"', 'type="vlc"')
    assert old in text
    (tmp_path / "g.xml").write_text(text.replace(old, new))
    with pytest.raises(dse.DseError, match=words):
        built(tmp_path / "g.xml", load_platform(str(BOARD)))
