"""``dse show --member``: one member's mapping, clocks and schedule."""

import csv
import json
import os
import re
import subprocess
import sys

from paretosoc.dse.api.front import Front
from paretosoc.fitness.check.members.frames import simulate
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.front.named_members import KNEE, marked_member


def test_by_number_and_by_name(dse, pair_folder):
    front = read_results(pair_folder)
    knee = marked_member(front, KNEE)
    by_name, by_number = (dse("show", pair_folder, "--member", name) for name in ("knee", knee))
    assert by_name.status == 0
    assert by_name.out == by_number.out
    assert by_name.out.startswith(f"Member {knee}")


def test_says_mapping_clocks_schedule_and_what_is_different(dse, pair_folder):
    front = read_results(pair_folder)
    problem, last = front.problem, len(front.members) - 1
    member = front.members[last]
    out = " ".join(dse("show", pair_folder, "--member", last).out.split())
    for n, network in enumerate(problem.networks):
        assert f"groups of {network.name}: 0" in out
        units = {problem.units[member.design.units[g]].name for g in network.groups}
        text = out.partition(f"groups of {network.name}: ")[2].partition(" groups of ")[0]
        assert all(f"on {unit}" in text for unit in units), n
    assert f"{member.makespan_ps / 1e9:.4f}" in out
    assert "against the fastest, member 0: " in out
    assert "clocks (MHz): " in out
    assert "number format: FP16" in out
    assert "against the fastest" not in dse("show", pair_folder, "--member", "fastest").out


def test_front_says_what_number_format_its_costs_hold_for(dse, pair_folder):
    assert "Number format of all costs: FP16." in dse("show", pair_folder).out
    stored = json.loads((pair_folder / "front.json").read_text("utf-8"))
    costs = json.loads((pair_folder / "costs.json").read_text("utf-8"))
    assert stored["provenance"]["precision"] == costs["precision"] == "fp16"


def test_as_json_it_is_the_member_of_the_file_with_its_schedule(dse, pair_folder):
    found = json.loads(dse("show", pair_folder, "--member", "1", "--json").out)
    schedule = found.pop("schedule")
    stored = json.loads((pair_folder / "front.json").read_text("utf-8"))["members"][1]
    assert found == {"member": 1, **stored}
    front = read_results(pair_folder)
    rows = simulate(front.problem, front.members[1].design).schedule.groups
    units = [unit.name for unit in front.problem.units]
    networks = [network.name for network in front.problem.networks]
    assert schedule == [
        {**row._asdict(), "network": networks[row.network], "unit": units[row.unit]} for row in rows
    ]


def test_an_unknown_member_is_refused_in_a_line(dse, pair_folder):
    outcome = dse("show", pair_folder, "--member", "fastet")
    assert outcome.status == 2
    assert "did you mean fastest" in outcome.err


def test_csv_has_every_member_and_clock(dse, pair_folder):
    rows = list(csv.DictReader(dse("show", pair_folder, "--csv").out.splitlines()))
    for row, member in zip(rows, json.loads(dse("show", pair_folder, "--json").out), strict=True):
        assert float(row["display.latency [ms]"]) == member["display"]["latency [ms]"]
        for domain, clock in member["clocks_mhz"].items():
            assert row[f"clocks_mhz.{domain}"] == ("" if clock is None else str(clock))
    assert "without --json" in dse("show", pair_folder, "--csv", "--json").err


def test_a_pipe_gets_all_columns(pair_folder):
    done = subprocess.run(
        [sys.executable, "-m", "paretosoc.dse.cli.main", "show", str(pair_folder)],
        env={key: value for key, value in os.environ.items() if key != "COLUMNS"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "transi-" in done.stdout.splitlines()[0]
    assert "for want of room" not in done.stdout


def test_a_wrong_option_names_the_help(dse, pair_folder):
    assert dse("show", pair_folder, "--tall").err.endswith(" (see 'dse show --help')\n")
    for command in ((), ("show",), ("analyze",), ("analyze", "costs")):
        assert "<bool>" not in dse(*command, "--help").out


def test_what_is_left_of_every_limit_is_said(dse, tmp_path):
    folder = tmp_path / "limits"
    done = dse(
        *("explore", "alexnet", "squeezenet", "-p", "jetson-agx-xavier", "--units", "gpu,dla0"),
        *("--groups", "3", "--deadline", "alexnet=9", "--power-cap", "40", "--max-nodes", "0"),
        *("--max-evaluations", "200", "-o", folder, "--quiet"),
    )
    assert done.status == 0, done.err
    front = read_results(folder)
    fastest = front.members[marked_member(front, "fastest")]
    spare = 9 - fastest.latencies_ps[0] / 1e9
    out = " ".join(dse("show", folder).out.split())
    assert f"Limit: latency of alexnet at most 9 ms asked for: fastest {9 - spare:.4g} ms" in out
    assert f"({spare:.4g} ms to spare)" in out
    assert "Limit: power at most 40 W asked for: fastest" in out
    out = " ".join(dse("show", folder, "--member", "fastest").out.split())
    assert f"limit: latency of alexnet: {9 - spare:.4g} ms, at most 9 ms asked for: " in out


def test_how_sure_limits_are_is_said(dse, tmp_path):
    """A deadline near the fastest member is missed in some draws of the costs."""
    explore = ("explore", "resnet18", "-p", "jetson-agx-xavier", "--groups", "3")
    few = ("--max-evaluations", "100", "--max-nodes", "0")
    assert dse(*explore, *few, "-o", tmp_path / "free").status == 0
    front = Front.load(tmp_path / "free")
    assert "draws" not in dse("show", tmp_path / "free").out
    deadline = 1.02 * float(front.values[0, 0])
    got = dse(*explore, *few, "--deadline", f"{deadline:.4f}", "-o", tmp_path / "limited")
    begin = "Limit on latency of resnet18: kept in "
    (line,) = (line for line in got.out.splitlines() if line.startswith(begin))
    assert 0 < int(re.search(r"kept in (\d+) % of \d+ draws by member \d+", line)[1]) < 100
    shown = dse("show", tmp_path / "limited").out
    assert line in shown
    # Neither command proved anything.
    assert "Not proved: " in shown
    assert "Not proved: " in got.out
    assert "Errors of times at the fastest clocks, " in got.out
    confidence = dse("analyze", "confidence", tmp_path / "limited").out
    assert begin in confidence
