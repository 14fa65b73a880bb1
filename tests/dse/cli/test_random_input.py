"""Random edits of mappings, costs and results, and random texts of options: taken, or refused."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.cli.shared.options import GoalOptions, SpaceOptions
from dse.errors import WorkloadError
from dse.problem.build import build_problem
from dse.problem.cost_provenance import cost_origins
from dse.space.mapping_file import mapping_from_document, row_of_mapping
from dse.workload.options import Options
from dse.workload.parse_options import make_options, with_dimensions
from dse.workload.workload import workload_of
from platforms.platform_file import load_platform
from results.errors import ResultError
from results.export.result_folder import read_results
from results.front.costs_file import costs_from_bytes, costs_to_document


@pytest.fixture(scope="module")
def built():
    return build_problem(
        workload_of(["squeezenet", "squeezenet"]),
        load_platform("jetson-agx-xavier"),
        Options(groups=3, units=("gpu", "dla0")),
    )


def edited(document, rng):
    """The document with one value changed, removed or added, anywhere."""
    document = json.loads(json.dumps(document))
    places = []

    def walk(node):
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    walk(document)
    node, key = rng.choice(places)
    new = rng.choice(
        [None, True, -1, 0, 1, 2**70, 1.5, "", "gpu", "x", "max", [], {}, ["gpu"], {"0-2": "gpu"}]
    )
    choice = rng.random()
    if choice < 0.25:
        del node[key]
    elif choice < 0.4 and isinstance(node, dict):
        node[str(rng.choice(["0", "1-1", "emc", "squeezenet", "zz", ""]))] = new
    elif choice < 0.5 and isinstance(node, list):
        node.append(new)
    else:
        node[key] = new
    return document


def test_random_edits_of_mappings_are_taken_or_refused(built):
    rng = random.Random(0)
    origins = cost_origins(built)
    start = {
        "format": "paretosoc-mapping/1",
        "mapping": {"squeezenet": {"0": "gpu", "1-2": "gpu"}, "squeezenet#2": ["gpu"] * 3},
        "operating_points": {
            "gpu": 1377,
            "emc": "max",
            "dla": None,
            "cpu": {"index": 9, "frequency_khz": 1_190_400, "voltage_mv": None},
        },
    }
    row_of_mapping(mapping_from_document(start, "start"), built.problem, origins)
    taken = refusals = 0
    messages = []
    for _ in range(3000):
        document = start
        for _ in range(rng.randint(1, 3)):
            document = edited(document, rng)
        try:
            mapping = mapping_from_document(document, "edited")
            row = row_of_mapping(mapping, built.problem, origins)
        except (WorkloadError, ResultError) as error:
            refusals += 1
            messages.append(str(error))
        else:
            assert len(row) == built.problem.group_count + len(built.problem.domains)
            taken += 1
    assert taken > 100
    assert refusals > 1000
    assert all(message and "\n" not in message for message in messages)


def test_random_edits_of_costs_are_refused(built):
    rng = random.Random(1)
    start = costs_to_document(cost_origins(built), built.problem)
    text = json.dumps(start)
    refusals = 0
    for _ in range(600):
        document = edited(start, rng)
        if json.dumps(document) == text:
            continue
        with pytest.raises(ResultError):
            costs_from_bytes(json.dumps(document).encode(), built.problem)
        refusals += 1
    assert refusals > 500


TEXTS = st.text(
    alphabet=st.sampled_from("0123456789.-+eE=:,*x_ NnaifgpuMHZ²\x00\n'"), max_size=12
) | st.sampled_from(["latency", "energy", "gpu=max", "squeezenet:0-1=gpu", "10", "squeezenet=3"])


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.lists(TEXTS, max_size=3), TEXTS, TEXTS, st.lists(TEXTS, max_size=2), TEXTS, TEXTS, TEXTS)
def test_random_texts_of_options_are_taken_or_refused(
    many, power, energy, deadlines, fps, unit, dim
):
    try:
        space = SpaceOptions(groups=3, units=unit, fix=many or None)
        goals = GoalOptions(
            objective=many, power_cap=power, energy_budget=energy, deadline=deadlines, fps=fps
        )
        options = make_options(**vars(space), **vars(goals))
        with_dimensions(workload_of(["squeezenet"]), [dim])
    except WorkloadError:
        return
    assert options.power_cap_w > 0


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(TEXTS, max_size=2), TEXTS, st.lists(TEXTS, max_size=2))
def test_random_texts_build_a_problem_or_are_refused(fix, unit, pins):
    try:
        space = SpaceOptions(groups=3, units=unit or None, fix=fix, pin=pins)
        options = make_options(**vars(space), **vars(GoalOptions()))
        built = build_problem(
            workload_of(["squeezenet"]), load_platform("jetson-agx-xavier"), options
        )
    except ValueError:
        return
    assert built.problem.allowed.any(axis=1).all()


def test_every_message_of_a_spoilt_folder_names_the_file(dse, pair_folder, tmp_path):
    """Bytes changed anywhere in front.json or problem.json never pass unnoticed."""
    rng = random.Random(2)
    messages = []
    front = read_results(pair_folder)
    for name in ("front.json", "problem.json"):
        data = bytearray((pair_folder / name).read_bytes())
        for _ in range(25):
            folder = tmp_path / f"{name}-{rng.random()}"
            folder.mkdir()
            for other in ("front.json", "problem.json"):
                (folder / other).write_bytes((pair_folder / other).read_bytes())
            changed = bytearray(data)
            place = rng.randrange(len(changed))
            changed[place] ^= 1 << rng.randrange(7)
            (folder / name).write_bytes(bytes(changed))
            try:
                same = read_results(folder)
            except ResultError as error:
                messages.append((folder, str(error)))
                continue
            # Only white space of front.json may change without being noticed.
            assert name == "front.json"
            assert [m.objectives for m in same.members] == [m.objectives for m in front.members]
    assert len(messages) > 40
    assert all(str(folder) in message for folder, message in messages)
