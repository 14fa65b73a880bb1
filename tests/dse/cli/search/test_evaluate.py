"""``dse evaluate``: mappings of one's own, in every form, against the plain timeline."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import paretosoc as library
from benchmarks.oracles.frame_energy import frame_energy_fj
from paretosoc.dse.problem.constraint_status import ConstraintState, shown_apart
from paretosoc.fitness.check.members.frames import simulate
from paretosoc.fitness.execution import schedule_of
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.front.named_members import choose_member
from paretosoc.results.io.canonical_json import parse
from paretosoc.results.io.document import check_against_schema
from paretosoc.results.problem.limits import POWER, Constraint
from paretosoc.results.problem.problem import DesignPoint
from paretosoc.results.text.schedule import stretches

PAIR = ("inception_v1", "squeezenet", "-p", "jetson-agx-xavier", "--groups", "4")
UNITS = ("--units", "gpu,dla0")


@pytest.fixture
def mapped(dse, tmp_path):
    """Evaluates a mapping given as plain data."""

    def call(document, *more, networks=PAIR, units=UNITS):
        path = tmp_path / "mapping.json"
        text = document if isinstance(document, str) else json.dumps(document)
        path.write_text(text)
        return dse("evaluate", *networks, *units, "--mapping", path, *more)

    return call


def test_json_is_what_the_plain_timeline_gives(mapped, pair_folder):
    problem = read_results(pair_folder).problem
    mapping = {"inception_v1": {"0-1": "gpu", "2-3": "dla0"}, "squeezenet": "gpu"}
    got = mapped(
        {"mapping": mapping, "operating_points": {"gpu": 1032.75, "dla": "min"}},
        "--json",
        "--runtime",
        "none",
    )
    assert (got.status, got.err) == (0, "")
    document = json.loads(got.out)
    units = np.array([0, 0, 1, 1, 0, 0, 0, 0])
    assert [unit.name for unit in problem.units] == ["gpu", "dla0"]
    khz = {"gpu": 1_032_750, "dla": 115_200, "emc": 2_133_000}
    points = np.array(
        [
            domain.frequencies_khz.index(khz[domain.name])
            if domain.name in khz
            else int(np.flatnonzero(domain.allowed)[-1])
            for domain in problem.domains
        ]
    )
    design = DesignPoint(units, points)
    timeline = simulate(problem, design)
    assert document["makespan_ps"] == timeline.frame_end_ps[0]
    assert list(document["latencies_ps"].values()) == list(timeline.latency_ps[0])
    assert document["energy_fj"] == frame_energy_fj(problem, design)
    assert document["objectives"]["latency_ps"] == timeline.frame_end_ps[0]
    rows = [(r["group"], r["ready_ps"], r["start_ps"], r["end_ps"]) for r in document["schedule"]]
    assert rows == [(r.group, r.ready_ps, r.start_ps, r.end_ps) for r in timeline.schedule.groups]
    assert document["mapping"]["inception_v1"] == ["gpu", "gpu", "dla0", "dla0"]
    assert document["feasible"] is True


def test_the_three_forms_say_the_same(mapped):
    forms = ["gpu", ["gpu"] * 4, {"0-3": "gpu"}, {"0": "gpu", "1-2": "gpu", "3-3": "gpu"}]
    outputs = {
        mapped({"mapping": {"inception_v1": form, "squeezenet": "gpu"}}, "--json").out
        for form in forms
    }
    assert len(outputs) == 1
    assert json.loads(outputs.pop())["operating_points"]["gpu"]["frequency_khz"] == 1_377_000


def test_every_member_comes_back_as_it_was(dse, pair_folder):
    front = read_results(pair_folder)
    names = {
        0: "fastest",
        choose_member(front, "knee"): "knee",
        len(front.members) - 1: "lowest-energy",
    }
    content = parse((pair_folder / "front.json").read_bytes())
    for index, member in enumerate(content["members"]):
        got = dse("evaluate", "--from", pair_folder, "--member", names.get(index, index), "--json")
        assert got.status == 0
        document = json.loads(got.out)
        assert {key: document[key] for key in member} == member


def test_a_member_cut_down_is_a_mapping_file(mapped, pair_folder):
    member = parse((pair_folder / "front.json").read_bytes())["members"][-1]
    got = mapped(
        {key: member[key] for key in ("mapping", "operating_points")}, "--json", "--runtime", "none"
    )
    assert json.loads(got.out)["objectives"] == member["objectives"]


def test_a_member_as_it_is_shown_is_a_mapping_file(mapped, dse, pair_folder):
    shown = dse("show", pair_folder, "--member", "1", "--json").out
    got = mapped(shown, "--json", "--runtime", "none")
    assert (got.status, got.err) == (0, "")
    front = library.load(pair_folder)
    assert list(json.loads(got.out)["display"].values()) == list(front[1].display.values())
    problem = library.Problem(
        list(PAIR[:2]), PAIR[3], groups=4, units=["gpu", "dla0"], runtime="none"
    )
    found = library.evaluate(problem, front[1].mapping, front[1].clocks_mhz)
    assert found.member.display == front[1].display


def test_a_member_on_another_problem(dse, pair_folder):
    got = dse(
        *("evaluate", *PAIR, *UNITS, "--from", pair_folder, "--member", "0"),
        *("--objective", "throughput", "--json"),
    )
    assert got.status == 0
    assert list(json.loads(got.out)["objectives"]) == ["time_per_image_ps"]


def test_constraints_that_fail_are_told_with_how_much(mapped):
    mapping = {"mapping": {"inception_v1": {"0-1": "gpu", "2-3": "dla0"}, "squeezenet": "gpu"}}
    limits = ("--power-cap", "5", "--deadline", "inception_v1=0.5", "--max-transitions", "0")
    got = mapped(mapping, *limits, "--json")
    assert got.status == 3
    document = json.loads(got.out)
    assert document["feasible"] is False
    states = {state["name"]: state for state in document["constraints"]}
    assert states["transitions of inception_v1"]["value"] == 1
    assert not states["transitions of inception_v1"]["met"]
    assert states["transitions of squeezenet"]["met"]
    late = states["latency of inception_v1"]
    assert late["excess"] == document["latencies_ps"]["inception_v1"] - 500_000_000
    power = states["power"]
    exact = -(-1000 * document["energy_fj"] // document["makespan_ps"])
    assert (power["value"], power["excess"]) == (exact, exact - 5_000_000)
    table = mapped(mapping, *limits)
    assert table.status == 3
    assert table.out.count("FAILS") == 3
    lines = table.out.splitlines()
    assert lines[0] == f"3 of {len(states)} constraints broken"
    assert all(line.startswith(("met ", "FAILS ")) for line in lines[1 : 1 + len(states)])
    assert any("on this chip: " in line for line in lines if "segments" in line)
    assert not any("asked for" in line for line in lines if "segments" in line)
    assert "inception_v1" in table.out


def test_limits_at_the_figure_itself_hold(mapped):
    mapping = {"mapping": {"inception_v1": "gpu", "squeezenet": "gpu"}}
    document = json.loads(mapped(mapping, "--json").out)
    budget = f"{document['energy_fj'] // 10**12}.{document['energy_fj'] % 10**12:012d}"
    assert mapped(mapping, "--limit", f"energy-budget={budget}").status == 0
    below = f"{(document['energy_fj'] - 1) // 10**12}.{(document['energy_fj'] - 1) % 10**12:012d}"
    got = mapped(mapping, "--limit", f"energy-budget={below}")
    assert got.status == 3
    assert "too much" in got.out


def test_state_in_words_tells_near_figures_apart():
    constraint = Constraint(POWER, "power", 15_000_000)
    words = ConstraintState(constraint, 15_000_001).describe()
    assert words == "power: 15.000001 W, at most 15 W asked for: 0.000001 W too much"
    assert shown_apart(7, 7, "") == ("7", "7")
    assert ConstraintState(constraint, 15_000_000).describe() == (
        "power: 15 W, at most 15 W asked for: 0 W to spare"
    )


def test_gantt_picture(mapped, tmp_path):
    mapping = {"mapping": {"inception_v1": "gpu", "squeezenet": "dla0"}}
    mapping["mapping"]["squeezenet"] = "gpu"
    svg = tmp_path / "plan.svg"
    assert mapped(mapping, "--gantt", svg).status == 0
    first = svg.read_bytes()
    assert first.startswith(b"<svg")
    again = mapped(mapping, "--gantt", svg)
    assert (again.status, len(again.lines)) == (2, 1)
    assert "--force" in again.err
    assert mapped(mapping, "--gantt", svg, "--force").status == 0
    assert svg.read_bytes() == first
    assert mapped(mapping, "--gantt", tmp_path / "plan.pdf").status == 2
    assert mapped(mapping, "--gantt", svg / "plan.svg").status == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mapping.json", "plan.svg"]


GPU = {"inception_v1": "gpu", "squeezenet": "gpu"}
MISFITS = [
    ({"mapping": {"inception_v1": "gpu"}}, "$.mapping['squeezenet']: is missing"),
    ({"mapping": {**GPU, "vgg19": "gpu"}}, "no network 'vgg19'"),
    ({"mapping": {"inception_v1": "gpu", "squeezenett": "gpu"}}, "did you mean squeezenet?"),
    ({"mapping": {**GPU, "squeezenet": "dla1"}}, "is no unit of the search (did you mean dla0?"),
    ({"mapping": {**GPU, "squeezenet": ["gpu"] * 3}}, "one unit for each of the 4 groups"),
    ({"mapping": {**GPU, "squeezenet": {"0-2": "gpu"}}}, "group 3 is in no range"),
    ({"mapping": {**GPU, "squeezenet": {"0-2": "gpu", "2-3": "gpu"}}}, "group 2 is in two"),
    ({"mapping": {**GPU, "squeezenet": {"0-4": "gpu"}}}, "there are groups 0 to 3"),
    ({"mapping": {**GPU, "squeezenet": {"3-0": "gpu"}}}, "lies before the first"),
    ({"mapping": {**GPU, "squeezenet": "dla0"}}, "dla0 cannot run group 3"),
    ({"mapping": GPU, "operating_points": {"gpu": 1000}}, "nearest are 905.25 and 1032.75 MHz"),
    ({"mapping": GPU, "operating_points": {"gpus": 1000}}, "did you mean gpu?"),
    ({"mapping": GPU, "operating_points": {"gpu": -1}}, "$.operating_points.gpu"),
    ({"mapping": GPU, "operating_points": {"gpu": "fast"}}, "$.operating_points.gpu"),
    ({"mapping": {"inception_v1": 3, "squeezenet": "gpu"}}, "$.mapping.inception_v1"),
    ({"mapping": {**GPU, "squeezenet": {"a": "gpu"}}}, "$.mapping.squeezenet"),
    ({"mapping": {**GPU, "squeezenet": []}}, "$.mapping.squeezenet"),
    ({"mapping": GPU, "clocks": {}}, "must not have 'clocks'"),
    ({}, "must have mapping"),
    ({"format": "paretosoc-front/1", "objectives": []}, "an object with format, objectives"),
    ("[1, 2]", "$: "),
    ('{"mapping": {"inception_v1": "gpu", "inception_v1": "gpu"}}', "is there twice"),
    ('{"mapping": {"squeezenet": NaN}}', "NaN"),
    ('{"mapping": ', "must be JSON"),
    ("", "must be JSON"),
    ("[" * 100_000, "must be JSON"),
    ('{"mapping": {}, "operating_points": {"gpu": 1e999}}', "finite"),
    (
        json.dumps({"mapping": GPU})[:-1] + ', "operating_points": {"gpu": 1e999}}',
        "finite",
    ),
]


@pytest.mark.parametrize(("document", "message"), MISFITS, ids=lambda value: str(value)[:40])
def test_a_mapping_that_does_not_fit_is_one_line(mapped, document, message):
    got = mapped(document)
    assert (got.status, got.out, len(got.lines)) == (2, "", 1)
    assert message in got.err
    assert "mapping.json" in got.err


def test_pins_and_fixed_clocks_hold_for_a_mapping_too(mapped):
    got = mapped({"mapping": GPU}, "--fix", "squeezenet:0=dla0")
    assert got.status == 2
    assert "a pin allows only dla0" in got.err
    got = mapped({"mapping": GPU, "operating_points": {"gpu": 318.75}}, "--fix", "gpu=min")
    assert got.status == 2
    assert "held at 114.75 MHz" in got.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*PAIR,), "--mapping FILE and --from DIR"),
        ((*PAIR, "--mapping", "a", "--from", "b"), "--mapping FILE and --from DIR"),
        (("--mapping", "a"), "at least one is needed"),
        (("squeezenet", "--mapping", "a"), "--platform"),
        (("--from", "nowhere"), "no such folder"),
        (("--from", "nowhere", "--power-cap", "3"), "other options need networks"),
        ((*PAIR, "--mapping", "nowhere.json"), "nowhere.json: cannot be read"),
        ((*PAIR, "--mapping", "."), "cannot be read"),
    ],
)
def test_combinations_that_make_no_sense(dse, arguments, message):
    got = dse("evaluate", *arguments)
    assert (got.status, got.out, len(got.lines)) == (2, "", 1)
    assert message in got.err


def test_members_that_there_are_not(dse, pair_folder):
    for name in ("knees", "1000", "-1", "", "²"):
        got = dse("evaluate", "--from", pair_folder, f"--member={name}")
        assert (got.status, len(got.lines)) == (2, 1)
    assert "did you mean knee?" in dse("evaluate", "--from", pair_folder, "--member", "kne").err


def test_stretches_hold_every_execution_once(pair_folder):
    front = read_results(pair_folder)
    for member in front.members:
        schedule = schedule_of(front.problem, member.design)
        found = stretches(schedule)
        executions = [execution for stretch in found for execution in stretch]
        assert sorted(executions) == sorted(schedule.groups)
        starts = [stretch[0].start_ps for stretch in found]
        assert starts == sorted(starts)
        for stretch in found:
            busy = sum(e.alone_ps + e.contention_ps for e in stretch)
            assert stretch[0].start_ps + busy <= stretch[-1].end_ps
            assert len({(e.unit, e.network) for e in stretch}) == 1


def test_the_example_of_the_docs_is_a_mapping(mapped):
    page = (Path(__file__).parents[4] / "docs/reference/result_files.md").read_text("utf-8")
    (block,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    check_against_schema(json.loads(block), "mapping")
    networks = ("vgg19", "resnet50", "-p", "jetson-agx-xavier")
    assert mapped(block, networks=networks, units=()).status == 0
