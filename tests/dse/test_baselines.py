"""Other methods' schedules, against enumeration and against the plain timeline."""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from random_spaces import random_limited_problem, space_of

from benchmarks.random_problem import RandomShape, random_problem
from dse.baselines import budgeted_path
from dse.baselines.axonn import AxoNN
from dse.baselines.budgeted_path import Layer, fastest_path
from dse.baselines.gpu_and_dsa import GpuAndDsa
from dse.baselines.gpu_only import GpuOnly
from dse.baselines.h2h import H2h
from dse.baselines.herald import Herald
from dse.baselines.mensa import Mensa
from dse.baselines.method import gpu_of
from dse.baselines.standing import BASELINES, baseline_points, baseline_rows
from dse.baselines.tensorrt_style import TensorRtStyle
from dse.design_space import DesignSpace
from dse.first_population import first_population
from dse.search import Budget, search
from dse.verify import verify
from fitness import plain_timeline
from fitness.outcomes import make_outcomes
from fitness.timeline import design_of
from results.baseline_marks import baseline_marks
from results.errors import ResultError
from results.front_document import front_to_document
from results.front_file import read_results
from results.front_picture import draw_front
from results.problem import EnergyUse, Objective, ObjectiveKind, Problem

CHAINS = RandomShape(networks=(1, 3), groups=(1, 4), units=(2, 3), points=(1, 2), graphs=False)
ALONE = RandomShape(
    networks=(1, 1), groups=(2, 6), units=(2, 3), points=(1, 3), graphs=False, waiting=False
)


def problems(shape: RandomShape, count: int, seed: int) -> list[Problem]:
    rng = np.random.default_rng(seed)
    kinds = (ObjectiveKind.LATENCY, ObjectiveKind.ENERGY)
    return [
        replace(random_problem(rng, shape), objectives=tuple(map(Objective, kinds)))
        for _ in range(count)
    ]


def mapping_of(method, space) -> list[int]:
    (row,) = method(space).ask()
    return row[: space.groups].tolist()


def plain_makespan(problem: Problem, space: DesignSpace, mapping, *, contention: bool) -> int:
    if not contention:
        units = tuple(replace(unit, contention=None) for unit in problem.units)
        problem = replace(problem, units=units)
    row = np.array([*mapping, *(points[-1] for points in space.points)], dtype=np.int64)
    row = space.canonical(row[None])[0]
    return plain_timeline.play(problem, design_of(problem, row)).frame_end_ps[0]


@pytest.mark.parametrize("method", BASELINES)
def test_methods_are_engines_that_propose_once_at_the_fastest_clocks(method):
    for problem in problems(CHAINS, 20, 1):
        space = DesignSpace(problem)
        engine = method(space)
        rows = engine.ask()
        assert len(engine.ask()) == 0
        assert (rows == space.canonical(rows)).all()
        for row in rows:
            assert problem.allowed[np.arange(space.groups), row[: space.groups]].all()
            used = np.zeros((1, len(problem.units)), dtype=np.bool_)
            used[0, row[: space.groups]] = True
            for d, on in enumerate(space.domains_on(used)[0]):
                assert row[space.groups + d] == (space.points[d][-1] if on else 0)
        if len(rows):
            result = search(method(space), make_outcomes(problem), Budget(100_000))
            assert result.evaluations == len(rows)
            assert result.stopped_by.value == "exhausted"


def test_no_method_is_faster_than_the_best_of_all_design_points():
    rng = np.random.default_rng(2)
    compared = 0
    for _ in range(40):
        problem = random_limited_problem(rng)
        best = space_of(replace(problem, objectives=(Objective(ObjectiveKind.LATENCY),))).best
        for point in baseline_points(DesignSpace(problem)):
            if not point.breaks:
                assert best is not None
                assert point.member.makespan_ps >= best
                compared += 1
    assert compared > 50


def test_gpu_only_has_one_unit_but_for_what_that_cannot_run():
    for problem in problems(CHAINS, 20, 3):
        names = (*("dsp", "gpu", "cpu")[: len(problem.units)],)
        units = tuple(
            replace(unit, name=name) for unit, name in zip(problem.units, names, strict=True)
        )
        space = DesignSpace(replace(problem, units=units))
        for g, unit in enumerate(mapping_of(GpuOnly, space)):
            assert unit == 1 or not problem.allowed[g, 1]


def test_gpu_and_dsa_is_the_best_assignment_of_whole_networks():
    tried = 0
    for problem in problems(replace(CHAINS, unsupported=0.0), 30, 4):
        space = DesignSpace(problem)
        networks = len(problem.networks)
        choices = itertools.product(range(len(problem.units)), repeat=networks)
        spans = [
            plain_makespan(problem, space, np.array(choice)[space.owner], contention=True)
            for choice in choices
            if len(set(choice)) > 1
        ]
        if networks > 1:
            points = {point.name: point for point in baseline_points(space)}
            assert points[GpuAndDsa.name].member.makespan_ps == min(spans)
            tried += 1
    assert tried > 10


def test_gpu_and_dsa_of_very_many_networks_balances_whole_networks():
    (problem,) = problems(
        RandomShape(networks=(9, 9), groups=(1, 2), units=(3, 3), unsupported=0.0), 1, 5
    )
    space = DesignSpace(problem)
    rows = GpuAndDsa(space).ask()
    assert len(rows) == 1
    for network in problem.networks:
        assert len(set(rows[0, list(network.groups)].tolist())) == 1
    assert len(set(rows[0, : space.groups].tolist())) == 3


def test_gpu_and_dsa_uses_two_units_even_where_one_is_far_faster():
    (problem,) = problems(
        RandomShape(networks=(9, 9), groups=(1, 2), units=(3, 3), unsupported=0.0), 1, 5
    )
    fast, *others = problem.units
    slow = tuple(replace(unit, time_ps=1000 * unit.time_ps) for unit in others)
    space = DesignSpace(replace(problem, units=(fast, *slow)))
    (row,) = GpuAndDsa(space).ask()
    whole = [set(row[list(network.groups)].tolist()) for network in problem.networks]
    assert all(len(units) == 1 for units in whole)
    assert sum(units != {0} for units in whole) == 1


def test_mensa_takes_the_unit_on_which_a_group_ends_soonest():
    for problem in problems(replace(CHAINS, graphs=True), 30, 6):
        space = DesignSpace(problem)
        mapping = mapping_of(Mensa, space)
        for g in range(space.groups):
            into = [(e, mapping[source]) for e, (source, to) in enumerate(problem.edges) if to == g]
            cost = [
                int(space.fastest_time[g, u])
                + max([int(problem.transition_ps[e, before, u]) for e, before in into], default=0)
                for u in np.flatnonzero(problem.allowed[g]).tolist()
            ]
            there = np.flatnonzero(problem.allowed[g]).tolist().index(mapping[g])
            assert cost[there] == min(cost)


def test_herald_balances_loads_in_turns_and_looks_at_nothing_else():
    for problem in problems(CHAINS, 30, 7):
        space = DesignSpace(problem)
        mapping = mapping_of(Herald, space)
        free = replace(
            problem,
            transition_ps=7 * problem.transition_ps,
            units=tuple(replace(unit, contention=None) for unit in problem.units),
        )
        assert mapping_of(Herald, DesignSpace(free)) == mapping
        turns = sorted(
            range(space.groups), key=lambda g: (g - space.first[space.owner[g]], space.owner[g])
        )
        load = np.zeros(len(problem.units))
        for g in turns:
            repeats = problem.networks[space.owner[g]].repeats
            after = np.where(problem.allowed[g], load + repeats * space.fastest_time[g], np.inf)
            assert after[mapping[g]] == after.min()
            load[mapping[g]] = after[mapping[g]]


def test_h2h_is_at_least_as_good_as_herald_without_contention_and_no_move_helps():
    better = 0
    for problem in problems(CHAINS, 25, 8):
        space = DesignSpace(problem)
        mapping = mapping_of(H2h, space)
        end = plain_makespan(problem, space, mapping, contention=False)
        herald = plain_makespan(problem, space, mapping_of(Herald, space), contention=False)
        assert end <= herald
        better += end < herald
        for source, target in problem.edges:
            for g, unit in ((source, mapping[target]), (target, mapping[source])):
                if problem.allowed[g, unit]:
                    moved = [*mapping[:g], unit, *mapping[g + 1 :]]
                    assert plain_makespan(problem, space, moved, contention=False) >= end
    assert better > 3


@pytest.mark.parametrize("seed", range(4))
def test_axonn_is_the_fastest_mapping_within_the_budget(seed):
    binding = 0
    for problem in problems(ALONE, 40, 100 + seed):
        space = DesignSpace(problem)
        axes = [np.flatnonzero(row) for row in problem.allowed]
        mappings = np.stack([a.reshape(-1) for a in np.meshgrid(*axes, indexing="ij")], axis=1)
        clocks = np.array([points[-1] for points in space.points])
        rows = space.canonical(
            np.concatenate((mappings, np.tile(clocks, (len(mappings), 1))), axis=1)
        )
        time, energy = make_outcomes(problem)(rows).objectives.T
        rng = np.random.default_rng(seed)
        for budget in np.quantile(energy, rng.random(4)).astype(np.int64).tolist():
            space = DesignSpace(replace(problem, energy_budget_fj=budget))
            (row,) = AxoNN(space).ask()
            (found,) = make_outcomes(problem)(row[None]).objectives
            within = energy <= budget
            if within.any():
                assert found[1] <= budget
                assert found[0] == time[within].min()
                binding += found[0] > time.min()
            else:
                assert found[1] == energy.min()
    assert binding > 2


def test_axonn_without_a_budget_takes_no_more_energy_than_the_gpu():
    for problem in problems(ALONE, 20, 9):
        points = {point.name: point.member for point in baseline_points(DesignSpace(problem))}
        gpu, axonn = points[GpuOnly.name], points[AxoNN.name]
        assert axonn.energy_fj <= gpu.energy_fj
        assert axonn.makespan_ps <= gpu.makespan_ps


def test_axonn_can_do_without_any_figure_of_power():
    for problem in problems(ALONE, 3, 14):
        powerless = replace(
            problem,
            units=tuple(
                replace(unit, dynamic_mw=0 * unit.dynamic_mw, idle_mw=0 * unit.idle_mw)
                for unit in problem.units
            ),
            domains=tuple(
                replace(domain, static_mw=0 * domain.static_mw) for domain in problem.domains
            ),
            board_mw=0,
            energy_budget_fj=1,
        )
        points = {point.name: point for point in baseline_points(DesignSpace(powerless))}
        assert not points[AxoNN.name].breaks


def test_axonn_leaves_graphs_to_others():
    graphs = [
        problem
        for problem in problems(replace(CHAINS, graphs=True, groups=(3, 5)), 30, 10)
        if len(problem.edges) != problem.group_count - len(problem.networks)
    ]
    assert graphs
    for problem in graphs:
        assert len(AxoNN(DesignSpace(problem)).ask()) == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_budgeted_path_is_the_best_of_all_paths(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        layers = []
        for index in range(int(rng.integers(1, 7))):
            options = int(rng.integers(1, 4))
            before = len(layers[-1].units) if index else 0

            def draw(n: int) -> tuple[int, ...]:
                return tuple(rng.integers(0, 30, n).tolist())

            layers.append(
                Layer(
                    tuple(range(options)),
                    draw(options),
                    draw(options),
                    tuple(draw(options) for _ in range(before)),
                    tuple(draw(options) for _ in range(before)),
                )
            )
        sums = []
        for choice in itertools.product(*(layer.units for layer in layers)):
            time = sum(layer.time[o] for layer, o in zip(layers, choice, strict=True))
            energy = sum(layer.energy[o] for layer, o in zip(layers, choice, strict=True))
            for layer, (a, b) in zip(layers[1:], itertools.pairwise(choice), strict=True):
                time += layer.hop_time[a][b]
                energy += layer.hop_energy[a][b]
            sums.append((time, energy))
        budget = int(rng.integers(0, max(energy for _, energy in sums) + 2))
        found = fastest_path(layers, budget)
        assert (found.time, found.energy) in sums
        within = [time for time, energy in sums if energy <= budget]
        if within:
            assert found.energy <= budget
            assert found.time == min(within)
        else:
            assert found.energy == min(energy for _, energy in sums)


def test_too_many_labels_are_cut_but_the_budget_still_holds(monkeypatch):
    monkeypatch.setattr(budgeted_path, "MOST_LABELS", 2)
    rng = np.random.default_rng(11)
    units = (0, 1)
    for _ in range(30):
        layers = [Layer(units, *(tuple(rng.integers(1, 99, 2).tolist()) for _ in range(2)))]
        none = ((0, 0), (0, 0))
        for _ in range(9):
            draws = (tuple(rng.integers(1, 99, 2).tolist()) for _ in range(2))
            layers.append(Layer(units, *draws, none, none))
        budget = sum(min(layer.energy) for layer in layers) + 100
        assert fastest_path(layers, budget).energy <= budget


def test_all_baselines_are_in_the_first_population():
    rng = np.random.default_rng(12)
    for problem in [random_limited_problem(rng) for _ in range(10)]:
        space = DesignSpace(problem)
        rows = {row.tobytes() for row in first_population(space, rng, 200)}
        assert {row.tobytes() for row in baseline_rows(space)} <= rows


def test_a_pipeline_is_judged_as_a_pipeline():
    for problem in problems(replace(CHAINS, networks=(2, 3)), 8, 13):
        piped = replace(
            problem,
            objectives=(Objective(ObjectiveKind.THROUGHPUT), Objective(ObjectiveKind.ENERGY)),
            energy_use=EnergyUse.PIPELINE,
            frames_in_flight=2,
        )
        space = DesignSpace(piped)
        rows = GpuAndDsa(space).ask()
        points = {point.name: point.member for point in baseline_points(space)}
        assert points[GpuAndDsa.name].objectives[0] == (
            make_outcomes(piped)(rows).objectives[:, 0].min()
        )


def test_the_table_says_of_which_space_and_what_its_columns_are(dse):
    command = ("baselines", "squeezenet", "inception_v1", "-p", "jetson-agx-xavier")
    told = " ".join(dse(*command, "--groups", "3", "--max-nodes", "2000").out.split())
    assert (
        "Space of this table: squeezenet (3 groups), inception_v1 (3 groups) on gpu, dla0" in told
    )
    assert "gain: by how much the latency is better than that of " in told
    assert "Eq. 10 (HaX-CoNN): the sum of 1 / latency" in told
    assert "Cut into" not in told
    coarse = " ".join(dse(*command[:2], *command[3:], "--max-nodes", "2000").out.split())
    assert "Cut into about 10 groups per network" in coarse


def test_baselines_are_kept_in_the_folder_shown_and_verified(dse, pair_folder):
    front = read_results(pair_folder)
    names = [method.name for method in BASELINES if not method.has_front]
    assert [point.name for point in front.baselines] == names
    for point in front.baselines:
        assert point.breaks or any(
            all(a <= b for a, b in zip(m.objectives, point.member.objectives, strict=True))
            for m in front.members
        )
    shown = dse("show", pair_folder)
    assert "Other methods: GPU only" in shown.out
    assert "baselines: 6 replayed" in dse("verify", pair_folder).out


def test_a_baseline_with_another_figure_is_refused(pair_folder, tmp_path):
    shutil.copytree(pair_folder, tmp_path / "changed")
    path = tmp_path / "changed" / "front.json"
    document = json.loads(path.read_text())
    point = document["baselines"][0]["point"]
    point["energy_fj"] += 10**9
    point["objectives"]["energy_fj"] += 10**9
    path.write_text(json.dumps(document))
    (*_, last) = verify(tmp_path / "changed", ignore_hashes=True)
    assert (last.name, last.holds) == ("baselines", False)
    assert "energy_fj is" in last.detail
    point["energy_fj"] -= 10**9
    point["objectives"]["energy_fj"] -= 10**9
    document["baselines"][0]["breaks"] = ["a limit that there is not"]
    path.write_text(json.dumps(document))
    (*_, last) = verify(tmp_path / "changed", ignore_hashes=True)
    assert "keeps all constraints" in last.detail


def test_a_front_behind_a_baseline_is_refused(pair_folder):
    front = read_results(pair_folder)
    behind = replace(front, members=front.members[-1:], certificate=None)
    with pytest.raises(ResultError, match=r"\$\.baselines\[\d\]: keeps all constraints"):
        front_to_document(behind)


def test_the_picture_has_the_baselines_in_sight_only(pair_folder):
    front = read_results(pair_folder)
    (point, *_) = front.baselines
    point = replace(point, member=front.members[0])
    latency, energy = point.member.objectives
    near = replace(point, label="near")
    far = replace(
        point, label="far", member=replace(point.member, objectives=(900 * latency, energy))
    )
    broken = replace(point, label="broken", breaks=("deadline",))
    marks = baseline_marks(
        replace(front, baselines=(near, far, broken)),
        [latency / 1e9, 2 * latency / 1e9],
        [energy / 1e12] * 2,
    )
    assert [mark.label for mark in marks] == ["near, broken*"]
    drawn = draw_front(replace(front, baselines=(near, broken)))
    labels = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert "other methods (* breaks a limit)" in labels


def tensorrt_front(problem):
    space = DesignSpace(problem)
    return space, [p for p in baseline_points(space) if p.name == TensorRtStyle.name]


def test_tensorrt_style_is_the_exhaustive_front_over_the_gpus_clocks():
    """Against every choice of its clocks, one by one, and dominance pair by pair."""
    for problem in problems(replace(CHAINS, networks=(1, 2), unsupported=0.0), 8, 21):
        piped = replace(
            problem,
            objectives=(Objective(ObjectiveKind.THROUGHPUT), Objective(ObjectiveKind.ENERGY)),
            energy_use=EnergyUse.PIPELINE,
        )
        space, points = tensorrt_front(piped)
        gpu = gpu_of(space)
        unit = piped.units[gpu]
        ladders = [range(len(domain.frequencies_khz)) for domain in piped.domains]
        on = set(unit.clocks) | {
            d for d, domain in enumerate(piped.domains) if not domain.may_be_off
        }
        vectors = set()
        for choice in itertools.product(*ladders):
            fixed = [d for d in on if d not in unit.clocks]
            off = [d for d in range(len(ladders)) if d not in on]
            if any(choice[d] for d in off) or any(choice[d] != len(ladders[d]) - 1 for d in fixed):
                continue
            row = np.array([[gpu] * piped.group_count + list(choice)], dtype=np.int64)
            vectors.add(tuple(make_outcomes(piped)(row).objectives[0].tolist()))
        kept = {
            v for v in vectors if not any(w != v and w[0] <= v[0] and w[1] <= v[1] for w in vectors)
        }
        assert {point.member.objectives for point in points} == kept
        assert points[0].member.objectives == min(kept)


def test_tensorrt_style_needs_throughput_as_an_objective():
    (problem,) = problems(CHAINS, 1, 22)
    assert tensorrt_front(problem)[1] == []
