"""``dse deploy --to nvpmodel``: a power mode beside those that the board has."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.robustness.texts import NVPMODEL as CONF
from paretosoc.dse.cli.main import run
from paretosoc.dse.tools.analysis.power_modes import mode_costs
from paretosoc.dse.tools.deploy.deploy import deployment_texts
from paretosoc.fitness.check.members.account import plain_account
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.deploy.nvpmodel_conf import parse_nvpmodel_conf, power_modes_of
from paretosoc.results.deploy.nvpmodel_section import nearest_mode, power_modes
from paretosoc.results.errors import ResultError
from tests.support.deployments import deployment_of, manifest


def test_nvpmodel(dse, pair_folder, tmp_path):
    out = tmp_path / "out"
    ran = dse("deploy", pair_folder, "--to", "nvpmodel", "-o", out)
    assert (ran.status, ran.err) == (0, "")
    assert "Nearest of the board's own modes without remarks: mode 0 (MAXN)" in ran.out
    document = manifest(out)
    assert [mode["id"] for mode in document["power_modes"]] == list(range(8))
    text = (out / "nvpmodel.conf").read_text()
    # Our own reader of the format takes the section.
    (mode,) = parse_nvpmodel_conf(text, "section").modes
    assert (mode.number, mode.name) == (8, "PARETOSOC_0")
    khz = document["clocks_khz"]
    assert ("GPU", "MAX_FREQ", str(khz["gpu"] * 1000)) in mode.lines
    assert ("CPU_DENVER_3", "MIN_FREQ", str(khz["cpu"])) in mode.lines
    assert ("EMC", "MAX_FREQ", str(khz["emc"] * 1000)) in mode.lines


def test_nvpmodel_with_the_boards_own_file(dse, pair_folder, tmp_path):
    conf = tmp_path / "board.conf"
    conf.write_text(CONF)
    out = tmp_path / "out"
    ran = dse("deploy", pair_folder, "--to", "nvpmodel", "--conf", conf, "-o", out)
    assert (ran.status, ran.err) == (0, "")
    text = (out / "nvpmodel.conf").read_text()
    whole = parse_nvpmodel_conf(CONF + text, "both")
    mode = whole.modes[-1]
    assert mode.number == 12
    assert {name for name, _, _ in mode.lines} == {
        *("CPU_ONLINE", "PVA_VPS", "CPU_DENVER_0", "GPU", "EMC", "DLA_CORE")
    }
    assert ("PVA_VPS", "MAX_FREQ", "-1") in mode.lines
    assert [m["id"] for m in manifest(out)["power_modes"]] == [3, 11]
    assert text.index("#   mode 3 ") < text.index("#   mode 11 (")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("GPU MAX_FREQ -1", "GPU MAX_FREQ x"), "mode 11: GPU MAX_FREQ: must be an integer"),
        (("NAME=DLA_CORE", "NAME=DLA"), "has no PARAM DLA0_CORE or DLA_CORE or NAFLL_DLA"),
        (("EMC MAX_FREQ 0", "EMC MAX_FREQ 5"), "no power mode without caps"),
        (("GPU MAX_FREQ -1", "GPU MAX_FREQ"), "line 26: is neither a section nor a line of one"),
        (("ID=11", "ID=x"), "line 23: ID: must be an integer"),
        (("ID=11 ", ""), "line 23: must have ID="),
        (("EMC MAX_FREQ 0", "X TPC_PG_MASK 15"), r"TPC_PG_MASK: must leave one .* got 15"),
        (("EMC MAX_FREQ 0", "X TPC_PG_MASK -1"), r"TPC_PG_MASK: must leave one .* got -1"),
    ],
)
def test_files_of_nvpmodel_that_cannot_be_used(change, message):
    known = load_platform("jetson-agx-xavier").deployment.power_modes
    with pytest.raises(ResultError, match=message):
        power_modes_of(parse_nvpmodel_conf(CONF.replace(*change), "conf"), known, "conf")


def test_spellings_of_a_missing_clock_are_named_once():
    """Releases differ in how many cores they name, not in the first."""
    known = load_platform("jetson-orin-nx-16gb").deployment.power_modes
    with pytest.raises(ResultError, match="has no PARAM CPU_A78_0, which would set 'cpu'"):
        power_modes_of(parse_nvpmodel_conf(CONF, "conf"), known, "conf")


def test_a_parameter_that_is_called_like_a_section_is_none():
    text = "< PARAM TYPE=FILE NAME=POWER_MODEL >\nA /sys/a 1\n"
    with pytest.raises(ResultError, match="line 2: is neither a section nor a line of one"):
        parse_nvpmodel_conf(text, "conf")


def test_modes_are_played_by_the_timeline(pair_folder, dse):
    """MAXN is the problem's fastest clocks; every mode is what dse evaluate gives for them."""
    deployment = deployment_of(pair_folder, 0)
    (costs,) = mode_costs([deployment], power_modes(deployment))
    problem = deployment.problem
    fastest = {d.name: d.frequencies_khz[-1] for d in problem.domains}
    on = {name for name, khz in deployment.clocks_khz.items() if khz is not None}
    assert dict(costs[0].clocks_khz) == {n: fastest[n] if n in on else None for n in fastest}
    by_name = {cost.mode.name: cost for cost in costs}
    slow = dict(by_name["MODE_15W"].clocks_khz)
    assert slow["gpu"] == 624750
    assert slow["emc"] == 1331200
    member = json.loads((pair_folder / "front.json").read_bytes())["members"][0]
    mapping = pair_folder.parent / "mapping.json"
    clocks = {name: khz / 1000 for name, khz in slow.items() if khz is not None}
    mapping.write_text(json.dumps({"mapping": member["mapping"], "operating_points": clocks}))
    ran = dse(
        *("evaluate", "inception_v1", "squeezenet", "-p", "jetson-agx-xavier", "--json"),
        *("--units", "gpu,dla0", "--groups", "4", "--mapping", mapping, "--runtime", "none"),
    )
    found = json.loads(ran.out)
    assert (found["makespan_ps"],) == by_name["MODE_15W"].times_ps
    assert found["energy_fj"] == by_name["MODE_15W"].energy_fj
    assert nearest_mode(costs).is_exact
    assert "fewer processors" in by_name["MODE_10W"].remarks[0]


def test_modes_of_networks_with_rates_are_compared_by_responses(tmp_path):
    """Against the plain evaluator, at each mode's caps; what a mode overloads has no figures."""
    (tmp_path / "rates.yaml").write_text(
        "networks: [{network: squeezenet, rate_hz: 200}, {network: resnet50, rate_hz: 300}]"
    )
    folder = tmp_path / "run"
    command = ["explore", str(tmp_path / "rates.yaml"), "-p", "jetson-agx-xavier", "--groups", "2"]
    budget = ["--units", "gpu,dla0", "--max-evaluations", "100", "--max-nodes", "0", "-q"]
    assert run([*command, *budget, "-o", str(folder)]) == 0
    deployment = deployment_of(folder, 0)
    (costs,) = mode_costs([deployment], power_modes(deployment))
    problem, design = deployment.problem, deployment.member.design
    overloaded = 0
    for cost in costs:
        points = [
            design.operating_points[d] if khz is None else domain.frequencies_khz.index(khz)
            for d, (domain, (_, khz)) in enumerate(
                zip(problem.domains, cost.clocks_khz, strict=True)
            )
        ]
        account = plain_account(problem, replace(design, operating_points=np.array(points)))
        if account.rates.window_ps is None:
            overloaded += 1
            assert (cost.times_ps, cost.remarks) == (None, ("overloaded",))
        else:
            assert (cost.times_ps, cost.energy_fj) == (account.latencies_ps, account.energy_fj)
    assert 0 < overloaded < len(costs)
    (texts,) = deployment_texts([deployment])
    assert re.search(
        r"These clocks: squeezenet at most [0-9.]+ ms, .* mJ a period", texts["nvpmodel"]
    )
    assert "): overloaded" in texts["nvpmodel"]


def test_members_are_played_together_as_alone(pair_folder):
    deployments = [deployment_of(pair_folder, index) for index in (0, 1, 2)]
    modes = power_modes(deployments[0])
    together = mode_costs(deployments, modes)
    assert together == [mode_costs([deployment], modes)[0] for deployment in deployments]
    texts = deployment_texts(deployments)
    assert len({text["nvpmodel"] for text in texts}) == 3
    assert deployment_texts([]) == []


def test_the_nearest_mode_has_the_nearest_figures(pair_folder):
    """The clock of a CPU that does nothing does not count."""
    deployment = deployment_of(pair_folder, 0)
    (costs,) = mode_costs([deployment], power_modes(deployment))
    own = deployment.member.makespan_ps, deployment.member.energy_fj
    off = {
        cost.mode.name: max(
            max(figure / mine, mine / figure)
            for figure, mine in zip((*cost.times_ps, cost.energy_fj), own, strict=True)
        )
        for cost in costs
        if cost.is_exact
    }
    assert nearest_mode(costs).mode.name == min(off, key=off.__getitem__)


def test_modes_of_a_problem_whose_energies_do_not_fit_are_refused(pair_folder):
    deployment = deployment_of(pair_folder, 0)
    front = replace(deployment.front, problem=replace(deployment.problem, board_mw=2**40))
    edited = replace(deployment, front=front)
    with pytest.raises(ResultError, match="more than 63 bits hold in femtojoules"):
        mode_costs([edited], power_modes(edited))


def test_modes_of_a_platform_whose_power_is_not_known(pair_folder):
    """Its energies are 0, and times alone are compared."""
    deployment = deployment_of(pair_folder, 0)
    problem = deployment.problem
    units = tuple(
        replace(u, dynamic_mw=0 * u.dynamic_mw, idle_mw=0 * u.idle_mw) for u in problem.units
    )
    domains = tuple(replace(d, static_mw=0 * d.static_mw) for d in problem.domains)
    unknown = replace(problem, board_mw=0, units=units, domains=domains)
    member = replace(deployment.member, energy_fj=0)
    front = replace(deployment.front, problem=unknown, members=(member,))
    (text,) = deployment_texts([replace(deployment, front=front)])
    assert re.search(r"These clocks: [0-9.]+ ms a frame", text["nvpmodel"])
    assert re.search(r"mode 0 \(MAXN\): [0-9.]+ ms \([+-][0-9.]+ %\)$", text["nvpmodel"], re.M)
    assert "mJ" not in text["nvpmodel"]
