"""Tables, exports, comparisons and the report of a campaign."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from paretosoc.dse.cli.campaign.campaign_inspect import _describe_change
from paretosoc.dse.tools.campaign.analyse.comparison import (
    ObjectiveChange,
    RunChange,
    Verdict,
    compare_campaigns,
)
from paretosoc.dse.tools.campaign.analyse.report import overview
from paretosoc.dse.tools.campaign.analyse.values import front_group
from paretosoc.dse.tools.campaign.plan.campaign_file import load_plan
from paretosoc.dse.tools.campaign.plan.run_inputs import inputs_of, program_identity
from paretosoc.dse.tools.campaign.store.run import RunStatus
from paretosoc.dse.tools.campaign.store.store import Store
from paretosoc.results.problem.objectives import format_number


def cells(dse, campaign, *options):
    outcome = dse("campaign", "table", campaign / "runs", "--json", *options)
    assert outcome.status == 0, outcome.err
    table = json.loads(outcome.out)
    return {
        (row[0], column[0]): value
        for row, values in zip(table["rows"], table["cells"], strict=True)
        for column, value in zip(table["columns"], values, strict=True)
    }


@pytest.mark.parametrize("value", ["latency", "energy", "energy@latency=3", "members", "gain"])
def test_tables_say_what_the_fronts_do(campaign, records, dse, value):
    """Against what is read from the result files."""
    found = cells(dse, campaign, "--rows", "workload", "--columns", "power_cap_w", "--value", value)
    expected = {}
    with Store(campaign / "runs") as store:
        for run in records:
            cap = run.settings.power_cap_w or ""
            expected[run.workload, cap] = None
            if run.status is not RunStatus.FINISHED:
                continue
            document = json.loads(store.files(run)["front.json"])
            rows = [member["objectives"] for member in document["members"]]
            rows = [list(row.values()) if isinstance(row, dict) else row for row in rows]
            baselines = [
                list(b["point"]["objectives"].values())
                if isinstance(b["point"]["objectives"], dict)
                else b["point"]["objectives"]
                for b in document["baselines"]
                if not b["breaks"]
            ]
            slow = [row for row in rows if row[0] <= 3e9]
            expected[run.workload, cap] = {
                "latency": min(row[0] for row in rows) / 1e9,
                "energy": min(row[1] for row in rows) / 1e12,
                "energy@latency=3": min((row[1] for row in slow), default=0) / 1e12 or None,
                "members": len(rows),
                "gain": min((b[0] for b in baselines), default=0) / min(r[0] for r in rows) or None,
            }[value]
    assert found == pytest.approx(expected)


def test_counts_are_whole_numbers(campaign, records, dse):
    call = ("campaign", "table", campaign / "runs", "--rows", "name")
    words = dse(*call, "--value", "members").out.split()
    assert {str(run.members) for run in records if run.members} <= set(words)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_narrow_tables_cut_no_name(campaign, dse, monkeypatch, width):
    """What does not fit stands in further tables below."""
    folder = campaign / "runs"
    call = ("campaign", "table", folder, "--rows", "power_cap_w", "--columns", "name,workload")
    wide = dse(*call).out
    monkeypatch.setenv("COLUMNS", str(width))
    out = dse(*call).out
    assert set(out.replace("─", "").split()) == set(wide.replace("─", "").split())
    assert out.count("power_cap_w") > 1
    assert max(map(len, out.splitlines())) <= width


def test_hypervolumes_are_shares_of_what_all_runs_found(campaign, records, dse):
    found = cells(
        dse, campaign, "--rows", "workload", "--columns", "power_cap_w", "--value", "hypervolume"
    )
    for run in records:
        assert found[run.workload, "0.1"] is None
        assert 0 < found[run.workload, "20"] <= found[run.workload, ""] <= 100


def test_cells_of_several_runs_and_parts_of_them(campaign, dse):
    best = cells(dse, campaign, "--rows", "workload", "--columns", "platform")
    worst = cells(dse, campaign, "--rows", "workload", "--columns", "platform", "--over", "worst")
    free = cells(
        dse, campaign, "--rows", "workload", "--columns", "platform", "--where", "cap=free"
    )
    assert all(best[key] <= worst[key] for key in best)
    assert free == best
    shown = dse("campaign", "table", campaign / "runs").out
    assert "first" in shown
    assert "best of up to 3 runs" in shown
    text = dse("campaign", "table", campaign / "runs", "--csv").out
    assert text.splitlines()[0] == "first,squeezenet,resnet18"


@pytest.mark.parametrize(
    ("where", "cap"), [("none", ""), ("", ""), ("20", "20"), ("20.0", "20"), ("0.10", "0.1")]
)
def test_a_value_is_selected_as_tables_show_it_and_as_a_number(campaign, records, dse, where, cap):
    found = cells(
        dse, campaign, "--rows", "name", "--columns", "status", "--where", f"power_cap_w={where}"
    )
    expected = {run.name for run in records if (run.settings.power_cap_w or "") == cap}
    assert {name for name, _ in found} == expected


def test_a_selection_changes_no_hypervolume(campaign, dse, tmp_path):
    call = ("--rows", "workload", "--columns", "power_cap_w", "--value", "hypervolume")
    every = cells(dse, campaign, *call)
    some = cells(dse, campaign, *call, "--where", "power_cap_w=20")
    assert some
    assert some == {key: every[key] for key in some}
    file = tmp_path / "r.csv"
    dse("campaign", "export", campaign / "runs", "-o", file, "--where", "power_cap_w=20")
    shares = [
        float(row["hypervolume_percent"]) for row in csv.DictReader(file.read_text().splitlines())
    ]
    assert shares == list(some.values())


def test_batches_have_hypervolumes_of_their_own(records):
    """Their frames have other numbers of images."""
    one = records[0]
    batch = replace(one.inputs.settings, batch="4")
    other = replace(one, hash="0" * 64, inputs=replace(one.inputs, settings=batch))
    assert front_group(one) != front_group(other)


def test_a_table_in_csv_names_a_setting_that_was_not_given(campaign, dse):
    rows = ("--rows", "power_cap_w", "--columns", "cap")
    text = dse("campaign", "table", campaign / "runs", "--csv", *rows).out
    head, *cells = csv.reader(text.splitlines())
    assert head == ["power_cap_w", "free", "none"]
    assert [row[0] for row in cells] == ["none", "20", "0.1"]


def test_the_report_names_a_setting_that_was_not_given(campaign, dse):
    call = ("campaign", "report", campaign / "runs", "--columns", "power_cap_w")
    assert dse(*call, "--rows", "workload").status == 0
    page = (campaign / "runs" / "report.html").read_text()
    assert '"columns":["none"]' in page


def test_members_are_not_exported_if_there_are_none(campaign, dse, tmp_path):
    where = ("--members", "--where", "status=infeasible", "-o", tmp_path / "m.csv")
    got = dse("campaign", "export", campaign / "runs", *where)
    assert (got.status, got.lines) == (2, ["dse: --members: no run that is selected has a front"])
    assert not (tmp_path / "m.csv").exists()


def test_exports_say_what_was_tried(campaign, records, dse, tmp_path):
    dse("campaign", "export", campaign / "runs", "-o", tmp_path / "r.csv")
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert {row["attempts"] for row in rows} == {"1"}
    for row in rows:
        assert (row["evaluations"] == "") == (row["status"] == "infeasible")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--value", "speed"], "speed"),
        (
            ["--value", "latency:vgg19"],
            "of the runs (latency, energy) is required, got 'latency:vg",
        ),
        (["--value", "energy@power=3"], "is required, got 'power'"),
        (["--value", "energy@latency"], "OBJECTIVE@OBJECTIVE=NUMBER"),
        (["--value", "gain:best"], "gpu"),
        (["--rows", "color"], "color"),
        (["--where", "cap"], "FIELD=VALUE"),
        (["--where", "color=red"], "color"),
        (["--where", "power_cap_w=21"], "one of none, 20, 0.1 is required, got '21'"),
    ],
)
def test_what_a_table_cannot_show(campaign, dse, options, message):
    outcome = dse("campaign", "table", campaign / "runs", *options)
    assert outcome.status == 2
    assert message in outcome.err


def test_exports(campaign, records, dse, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    folder = campaign / "runs"
    for name in ("r.csv", "r.parquet"):
        assert dse("campaign", "export", folder, "-o", tmp_path / name).status == 0
    assert dse("campaign", "export", folder, "-o", tmp_path / "m.parquet", "--members").status == 0
    runs = pandas.read_parquet(tmp_path / "r.parquet")
    assert list(runs["hash"]) == [run.hash for run in records]
    text = pandas.read_csv(tmp_path / "r.csv")
    assert np.allclose(text["latency_ms"], runs["latency_ms"], equal_nan=True)
    members = pandas.read_parquet(tmp_path / "m.parquet")
    best = members.groupby("hash")["energy_mJ"].min()
    assert np.allclose(runs.set_index("hash")["energy_mJ"][best.index], best)


def test_two_campaigns_are_compared(campaign, records, dse):
    folder = campaign / "runs"
    assert dse("campaign", "compare", folder, folder).status == 0
    run = records[0]

    def with_latency(factor):
        rows = tuple((int(ps * factor), fj) for ps, fj in run.figures.objectives)
        other = replace(run, figures=replace(run.figures, objectives=rows))
        return compare_campaigns([run], [other], tolerance_percent=1.0)[0]

    assert with_latency(1).verdict is Verdict.SAME
    assert with_latency(1.001).verdict is Verdict.WITHIN
    assert with_latency(1.02).verdict is Verdict.WORSE
    assert with_latency(0.9).verdict is Verdict.BETTER
    later = replace(run, inputs=replace(run.inputs, program="2"))
    (change,) = compare_campaigns([run], [later])
    assert change.inputs_changed == (f"program: {program_identity()} and 2",)
    verdicts = [c.verdict for c in compare_campaigns(records[:2], records[1:3])]
    assert verdicts == [Verdict.MISSING, Verdict.SAME, Verdict.NEW]


def test_a_change_is_said_to_be_better_or_worse():
    """Values that are maximised are below 0 in files."""
    latency = ObjectiveChange("latency_ps", 10, 9, -10.0)
    rates = ObjectiveChange("negative_rate_sum_uhz", -10, -9, 10.0)
    change = RunChange("a", Verdict.WORSE, hypervolumes=(0.5, 0.4), objectives=(latency, rates))
    assert _describe_change(change) == (
        "worse: a: hypervolume 50.000 % -> 40.000 %, latency_ps 10.000 % better, "
        "negative_rate_sum_uhz 10.000 % worse"
    )


def test_a_regression_ends_with_status_1(campaign, dse, tmp_path):
    """The same campaign with a tenth of the evaluations is another one: all of it is missing."""
    file = json.loads((campaign / "c.json").read_text())
    (tmp_path / "c.json").write_text(json.dumps(file | {"evaluations": [300]}))
    plan = load_plan(tmp_path / "c.json")
    with Store(tmp_path / "runs", create=True) as store:
        store.set_plan(plan.runs, inputs_of(plan, program_identity()), plan.title)
    outcome = dse("campaign", "compare", campaign / "runs", tmp_path / "runs")
    assert outcome.status == 1
    assert "9 missing, 9 new" in outcome.out


def test_the_report_opens_the_fronts(campaign, dse, chromium):
    folder = campaign / "runs"
    assert dse("campaign", "report", folder).status == 0
    assert "0 of them new" in dse("campaign", "report", folder).out
    context = chromium.new_context(viewport={"width": 1200, "height": 800}, offline=True)
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        page.goto(f"file://{folder / 'report.html'}")
        page.wait_for_selector("html[data-ready]")
        assert page.text_content("h1") == "<b>Small</b>"
        assert page.locator("table.heat").count() == 3
        assert page.locator("table.heat td a").count() == 6
        assert page.locator("#failures tbody tr").count() == 3
        why = page.locator("#failures td").last  # Several limits are several lines.
        assert why.evaluate("cell => cell.append('\\nmore') || cell.innerText").endswith("\nmore")
        page.select_option("#value", label="energy")
        assert "energy, mJ" in page.text_content("#panels")
        page.click("table.heat td a >> nth=0")
        page.wait_for_selector("html[data-ready]")
        assert page.title() == "alexnet + squeezenet on jetson-agx-xavier"
        assert complaints == []
    finally:
        context.close()


def test_the_report_begins_with_the_best_of_each_workload_and_platform(campaign, records, dse):
    assert dse("campaign", "report", campaign / "runs").status == 0
    page = (campaign / "runs" / "report.html").read_text("utf-8")
    table = page.partition('<section id="overview">')[2].partition("</section>")[0]
    assert "<th>jetson-agx-xavier</th>" in table
    for name, unit in (("latency", "ms"), ("energy", "mJ")):
        options = ("--rows", "workload", "--columns", "platform", "--value", name)
        for (workload, _), value in cells(dse, campaign, *options).items():
            row = table.partition(f"<th>{workload}</th>")[2].partition("</tr>")[0]
            assert f"{format_number(value)} {unit}" in row
    without = [run for run in records if run.status is RunStatus.INFEASIBLE]
    assert overview(without, frozenset()).count("<td>infeasible</td>") == len(without) == 3
    assert overview(records[:1], frozenset()) == ""
