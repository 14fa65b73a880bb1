"""Random edits of mappings, costs and results, and random texts of options: taken, or refused."""

import json
import random
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.kinds_by_name import Sizes, is_pin
from paretosoc.dse.problem.build import build_problem, cost_origins
from paretosoc.dse.space.mapping_file import mapping_from_document, row_of_mapping
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.read_options import parse_options
from paretosoc.dse.workload.with_options import with_dimensions
from paretosoc.dse.workload.workload import workload_of
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.costs.costs_file import costs_from_bytes, costs_to_document
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import read_results


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
    for _ in range(1000):
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
    assert taken > 30
    assert refusals > 330
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
) | st.sampled_from(
    ["latency", "gpu", "gpu=max", "squeezenet:0-1=gpu", "10", "0.5", "1/3", "squeezenet=3"]
)


@st.composite
def spoilt(draw, good):
    """Texts by name, and which of them are random instead of those that ``good`` gives.

    Plain numbers are among the random ones, so that some are taken whatever hypothesis draws.
    """
    texts = draw(st.fixed_dictionaries(good))
    names = draw(st.sets(st.sampled_from([*good]), max_size=2))
    mixed = TEXTS | NUMBERS
    for name in names:
        random_texts = st.lists(mixed, max_size=3) if isinstance(texts[name], list) else mixed
        texts[name] = draw(random_texts)
    return texts, names


NUMBERS = st.decimals("0.000000001", 10**9, places=9).map(str) | st.builds(
    "{}/{}".format, st.integers(1, 10**6), st.integers(1, 10**6)
)
GOOD = {
    "many": st.lists(st.sampled_from(["gpu=max", "emc=min", "dla=115.2"]), min_size=2, max_size=2),
    "power": NUMBERS,
    "energy": NUMBERS,
    "deadlines": st.lists(NUMBERS | NUMBERS.map("squeezenet={}".format), max_size=2),
    "rates": st.lists(NUMBERS | NUMBERS.map("squeezenet={}".format), max_size=2),
    "fps": NUMBERS,
    "unit": st.sampled_from(["gpu", "gpu,dla0", " gpu , cpu,"]),
}


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.fixed_dictionaries(GOOD))
def test_texts_of_the_right_form_are_taken_as_written(texts):
    assert_as_written(options_of(**texts), **texts)


def test_random_texts_of_options_are_taken_as_written_or_refused():
    seen = Counter()

    @settings(max_examples=100, deadline=None, derandomize=True)
    @given(spoilt(GOOD))
    def each(drawn):
        texts, names = drawn
        try:
            options = options_of(**texts)
        except WorkloadError:
            assert names, texts
            seen["refused"] += 1
        else:
            assert_as_written(options, **texts)
            seen["spoilt and taken" if names else "taken"] += 1

    each()
    # How many depends on what hypothesis has imported: it draws constants of loaded modules, too.
    assert min(seen["refused"], seen["taken"]) > 15, seen
    assert seen["spoilt and taken"] > 0, seen


def test_random_sizes_of_dimensions_are_taken_as_written_or_refused():
    seen = Counter()

    @settings(max_examples=100, deadline=None, derandomize=True)
    @given(TEXTS | st.from_regex(r"[a-z=]{0,3}=[0-9]{1,10}", fullmatch=True))
    def each(text):
        try:
            (network,) = with_dimensions(
                workload_of(["squeezenet"]), Sizes().parse([text], "--dim")
            ).networks
        except WorkloadError:
            seen["refused"] += 1
            return
        ((name, size),) = network.dimensions
        assert (name, str(size)) == (text.rpartition("=")[0], text.rpartition("=")[2].lstrip("0"))
        assert name
        assert size >= 1
        seen["taken"] += 1

    each()
    assert min(seen["refused"], seen["taken"]) > 12, seen


def options_of(many, power, energy, deadlines, rates, fps, unit):
    limits = [f"min-rate={text}".replace("=squeezenet=", ":squeezenet=") for text in rates]
    return parse_options(
        {
            "groups": 3,
            "units": unit,
            "fixed": many or None,
            "objectives": many,
            "power_cap_w": power,
            "deadline_ms": deadlines,
            "frames_per_second": fps,
            "limit": [f"energy-budget={energy}", *limits],
        }
    )


def assert_as_written(options, many, power, energy, deadlines, rates, fps, unit):
    """Every text is in the options, and every quantity exactly the number that was written."""
    assert options.objectives == tuple(many)
    pins = [text for text in many if is_pin(text)]
    for text, (network, _, _, pinned) in zip(pins, options.pins, strict=True):
        assert (text.startswith(network), text.endswith(f"={pinned}")) == (True, True)
    written = [text.partition("=")[::2] for text in many if text not in pins]
    clocks = tuple((d, v if v in ("max", "min") else Fraction(v)) for d, v in written)
    assert options.fixed == tuple(dict(clocks).items())
    assert options.units == tuple(name.strip() for name in unit.split(",") if name.strip())
    for found, written in ((options.deadline_ms, deadlines), (options.min_rate_hz, rates)):
        assert found == tuple(
            (text.rpartition("=")[0] if "=" in text else None, Fraction(text.split("=")[-1]))
            for text in written
        )
    quantities = (options.power_cap_w, options.energy_budget_mj, options.frames_per_second)
    assert quantities == (Fraction(power), Fraction(energy), Fraction(fps))
    every = [*quantities, *(v for _, v in (*options.deadline_ms, *options.min_rate_hz))]
    assert all(Fraction(1, 10**9) <= value <= 10**9 for value in every)


def test_random_texts_build_a_problem_or_are_refused():
    seen = Counter()
    good = {
        "units": st.sampled_from(["gpu", "gpu,dla0", "cpu,gpu"]),
        "fixed": st.lists(st.sampled_from(["gpu=max", "emc=min", "cpu=max"]), max_size=2),
        "pins": st.lists(st.sampled_from(["squeezenet:0-1=gpu", "squeezenet:0=gpu"]), max_size=1),
    }

    @settings(max_examples=100, deadline=None, derandomize=True)
    @given(spoilt(good))
    def each(drawn):
        try:
            options = parse_options({"groups": 3, **drawn[0]})
            built = build_problem(
                workload_of(["squeezenet"]), load_platform("jetson-agx-xavier"), options
            )
        except ValueError:
            seen["refused"] += 1
            return
        problem = built.problem
        names = [entry.name for entry in problem.units]
        assert problem.allowed.any(axis=1).all()
        for _, first, last, pinned in options.pins:
            only = [name == pinned for name in names]
            assert problem.allowed[first : last + 1].tolist() == [only] * (last + 1 - first)
        allowed = {domain.name: domain.allowed for domain in problem.domains}
        for domain, clock in options.fixed:
            end = -1 if clock == "max" else 0
            assert allowed[domain].sum() == 1
            assert allowed[domain][end]
        seen["built"] += 1

    each()
    assert min(seen["built"], seen["refused"]) > 20, seen


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
