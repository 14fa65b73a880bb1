"""Objectives of a user's own: searched, recomputed, refused."""

import json
import shutil
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import paretosoc as dse
from benchmarks.problems.enumerated.space import all_designs
from paretosoc.common import plugins
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.own_objective import _GIVEN, OWN_OBJECTIVES

NETWORKS = ["squeezenet", "alexnet"]
BOARD = {"platform": "jetson-agx-xavier", "groups": 3, "units": ["gpu", "dla0"]}
EDP = dse.OwnObjective(
    "edp", of=("latency", "energy"), unit="mJ ms", compute=lambda latency, energy: latency * energy
)
BALANCE = dse.OwnObjective(
    "balance",
    of=("latency:squeezenet", "latency:alexnet"),
    compute=lambda a, b: np.minimum(a, b) / np.maximum(a, b),
    decimals=6,
    larger_is_better=True,
    meaning="shorter latency over the longer one",
)


@pytest.fixture
def own_problem():
    yield dse.Problem(NETWORKS, objectives=["latency", EDP, BALANCE], **BOARD)
    _GIVEN.clear()


@pytest.fixture
def own_folder(own_problem, tmp_path):
    front = dse.explore(own_problem, "nsga2", max_evaluations=1_500)
    front.save(tmp_path / "run")
    return tmp_path / "run"


def test_the_simulator_and_the_plain_one_have_the_same_values(own_problem):
    numeric = own_problem.numeric
    space_rows = own_problem.as_pymoo().operators()["sampling"]
    rows = np.asarray(space_rows.do(own_problem.as_pymoo(), 60).get("X"), dtype=np.int64)
    outcomes = make_outcomes(numeric)(rows)
    assert outcomes.possible.any()
    for row in np.flatnonzero(outcomes.possible):
        plain = plain_outcome(numeric, numeric.design_of(rows[row]))
        assert plain.objectives == tuple(outcomes.objectives[row].tolist())
        latency, edp, balance = plain.objectives
        assert edp == round(latency / 1e9 * (plain.energy_fj / 1e12) * 1000)
        assert -1_000_000 <= balance < 0


def test_a_front_has_its_best_members_and_verifies(own_folder):
    front = dse.load(own_folder)
    assert front["least-edp"].values["edp"] == min(member.values["edp"] for member in front)
    assert front["most-balance"].values["balance"] <= 1.0
    assert front["least-edp"].values["edp"] == pytest.approx(
        front["least-edp"].latency_ms * front["least-edp"].energy_mj, abs=1e-3
    )
    assert dse.verify(own_folder)


def test_a_changed_value_is_refused(own_folder, tmp_path):
    path = own_folder / "front.json"
    document = json.loads(path.read_text("utf-8"))
    document["members"][0]["objectives"]["edp"] -= 1
    changed = tmp_path / "changed"
    shutil.copytree(own_folder, changed)
    (changed / "front.json").write_text(json.dumps(document), "utf-8")
    assert not dse.verify(changed, ignore_hashes=True)


def test_a_small_space_is_simulated_as_a_whole(own_problem):
    problem = dse.Problem(
        "alexnet", objectives=["latency", EDP], fixed={"emc": "max", "cpu": "max"}, **BOARD
    )
    front = dse.certify(dse.explore(problem, max_evaluations=3_000))
    numeric = problem.numeric
    choices = [np.flatnonzero(numeric.allowed[g]) for g in range(numeric.group_count)]
    choices += [np.flatnonzero(domain.allowed) for domain in numeric.domains]
    rows = np.stack(np.meshgrid(*choices, indexing="ij"), axis=-1).reshape(-1, len(choices))
    outcomes = make_outcomes(numeric)(rows)
    best = outcomes.objectives[outcomes.feasible].min(axis=0)
    assert [min(m.numeric.objectives[k] for m in front) for k in range(2)] == best.tolist()
    assert front.is_complete


def test_what_no_package_registers_is_named(own_folder):
    _GIVEN.clear()
    with pytest.raises(ResultError, match=r"objectives\[1\].kind: must be one of latency.*'edp'"):
        dse.load(own_folder)
    with pytest.raises(dse.DseError, match="objective 'edp' is not known"):
        dse.Problem("alexnet", objectives=["edp"], **BOARD)


def test_a_front_with_an_objective_that_is_not_installed_is_not_checked(own_folder):
    _GIVEN.clear()
    verification = dse.verify(own_folder)
    assert not verification
    assert verification.exit_status == 4
    assert verification.summary == "Not checked: files."
    (check,) = verification
    assert check.verdict.value == "not checked"
    assert check.detail == ("the objective edp is not installed (entry point paretosoc.objectives)")
    path = own_folder / "problem.json"
    path.write_bytes(path.read_bytes().replace(b'"edp"', b'"pde"'))
    assert dse.verify(own_folder).exit_status == 1
    assert dse.verify(own_folder, ignore_hashes=True).exit_status == 4


def test_an_entry_point_of_another_name_is_refused(monkeypatch):
    entry = EntryPoint("mine", "energy_delay:ENERGY_DELAY", OWN_OBJECTIVES.group)
    monkeypatch.setattr(plugins, "_registered", lambda _: {"mine": entry})
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples/plugin"))
    with pytest.raises(ResultError, match="must be 'mine', too, got 'energy-delay'"):
        dse.Problem("alexnet", objectives=["mine"], **BOARD)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "latency"}, "none of the program's"),
        ({"name": "two words"}, "without spaces"),
        ({"of": ()}, "of: one or more objectives are required"),
        ({"of": "latency"}, "of: one or more objectives are required, got 'latency'"),
        ({"of": ("speed",)}, "of: must be among latency.*got 'speed'"),
        ({"of": ("energy:alexnet",)}, "energy is never of one network"),
        ({"of": ("tokens-per-second",)}, "tokens-per-second:NETWORK is required"),
        ({"decimals": 10}, "decimals: 0 to 9 are required, got 10"),
    ],
)
def test_wrong_arguments_are_named(changes, words):
    given = {"name": "mine", "of": ("latency",), "compute": lambda latency: latency, **changes}
    with pytest.raises(dse.DseError, match=words):
        dse.OwnObjective(**given)


@pytest.mark.parametrize(
    ("compute", "words"),
    [
        (lambda latency: latency / 0 * 0, "with nan"),
        (
            lambda latency: latency[:1],
            r"numbers is required of compute, got one of the shape \[1\]",
        ),
        (lambda latency: 1 // 0, "ZeroDivisionError: integer division"),
        (lambda: 1, "TypeError"),
    ],
)
def test_functions_that_fail_are_named(compute, words):
    mine = dse.OwnObjective("mine", of=("latency",), compute=compute)
    problem = dse.Problem("alexnet", objectives=["energy", mine], **BOARD)
    with pytest.raises(dse.DseError, match="objective 'mine': .*" + words):
        dse.explore(problem, "random", max_evaluations=50)


def test_a_network_that_there_is_not_is_named():
    other = dse.OwnObjective("other", of=("latency:vgg19",), compute=lambda latency: latency)
    with pytest.raises(dse.DseError, match="'latency:vgg19': there is no network 'vgg19'"):
        dse.Problem("alexnet", objectives=[other], **BOARD)


@settings(max_examples=60, deadline=None)
@example([1.7e308, -1.7e308], False)
@example([float("inf"), -float("inf"), 0.0], True)
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=5), st.booleans())
def test_any_number_is_an_integer_to_minimise(figures, larger_is_better):
    mine = dse.OwnObjective(
        "mine", of=("latency",), compute=lambda x: x, larger_is_better=larger_is_better
    )
    values = mine.integers([np.array(figures)])
    order = np.argsort(figures, kind="stable")
    rising = values[order[::-1] if larger_is_better else order]
    assert (rising[1:] >= rising[:-1]).all()


def test_a_throughput_of_one_s_own_is_of_a_pipeline():
    image = dse.OwnObjective("time", of=("throughput",), compute=lambda rate: 1000 / rate)
    problem = dse.Problem("alexnet", objectives=[image, "energy"], **BOARD)
    assert problem.numeric.execution.model == "pipeline"
    plugins._registered.cache_clear()
    _GIVEN.clear()


def test_a_chain_is_an_objective_whose_front_has_the_best_within_a_limit(tmp_path):
    path = tmp_path / "car.yaml"
    path.write_text(
        "tasks: [{name: camera, rate_hz: 50, times: [{unit: cpu, ms: 1}]}]\n"
        "networks:\n"
        "- {name: detect, network: squeezenet, rate_hz: 50, waits_for: [camera]}\n"
        "- {name: plan, network: alexnet, rate_hz: 25}\n"
    )
    reaction = dse.OwnObjective(
        "reaction",
        of=("response:detect", "response:plan"),
        unit="ms",
        decimals=9,
        monotone=True,
        compute=lambda detect, plan: 20 + detect + 40 + plan,
    )
    given = {"platform": "jetson-orin-nano-8gb", "groups": 1, "fixed": {"emc": "max"}}
    problem = dse.Problem(path, objectives=["power", reaction], **given)
    front = dse.certify(dse.explore(problem, max_evaluations=2_000))
    assert front.numeric.is_complete
    chain = ["camera", "detect", "plan"]
    reactions = [member.reaction_ms(chain) for member in front]
    for member, found in zip(front.numeric.members, reactions, strict=True):
        assert found == pytest.approx(member.objectives[1] / 10**9, abs=1e-6)
    outcomes = make_outcomes(problem.numeric)(all_designs(problem.numeric))
    power, late = outcomes.objectives[outcomes.feasible].T
    assert len(front) > 2
    members = [member.objectives for member in front.numeric.members]
    for _, limit in members:
        least = min(used for used, reacts in members if reacts <= limit)
        assert least == power[late <= limit].min()
    _GIVEN.clear()
