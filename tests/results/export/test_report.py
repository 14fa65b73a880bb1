"""``report.html`` in a real browser: what it shows is what the front says, and it can be used."""

import dataclasses
import json
import re
from itertools import combinations

import pytest

from results.export.report_data import report_data
from results.export.result_folder import write_results
from results.front.certificate import CertificateStatus
from results.front.front import (
    BaselinePoint,
    BoundSummary,
    CertificateSummary,
    HypervolumePoint,
)
from results.front.named_members import KNEE, mark_members, marked_member
from results.problem.objectives import Objective, ObjectiveKind, format_number, objective_names
from results.text.member_diff import clocks_mhz, groups_by_unit
from results.text.power_bandwidth_trace import activity
from tests.support.fresh_process import outputs

HOSTILE = "</script><img src=x onerror=\"document.title='caught'\">{{STYLE}}"
PRINT_HASH = """
import hashlib, sys
from pathlib import Path
from fitness.execution import schedule_of
from results.export.result_folder import read_results
from results.export.report import report_html
page = report_html(read_results(Path(sys.argv[1])), schedule_of)
print(hashlib.sha256(page.encode()).hexdigest())
"""


def claim(front, status=CertificateStatus.CERTIFIED):
    epsilon = 0 if status is CertificateStatus.CERTIFIED else 100_000
    return CertificateSummary(
        status, ("latency_ps",), (0,), epsilon, "all units", 12, 34, ("z3 1.2",), 0.5
    )


def bars(page, side="a"):
    """(start in ps, group) of every bar of a schedule on the page."""
    found = page.locator(f"article[data-side={side}] g.bar[data-group]").evaluate_all(
        "bars => bars.map(bar => [Number(bar.dataset.start), Number(bar.dataset.group)])"
    )
    return sorted(map(tuple, found))


@pytest.fixture(scope="module")
def expected_bars(schedule_of):
    return lambda member: sorted(
        (row.start_ps, row.group) for row in schedule_of(None, member.design).groups
    )


def shown(page):
    return page.evaluate(
        "[...document.querySelectorAll('article.member')].map(a => Number(a.dataset.member))"
    )


def test_a_click_changes_the_schedule(front, open_page, expected_bars, report):
    last = len(front.members) - 1
    with open_page(report(front)) as page:
        assert shown(page) == [marked_member(front, KNEE)]
        page.locator("path[data-member='0']").click()
        assert shown(page) == [0]
        assert bars(page) == expected_bars(front.members[0])
        page.locator(f"path[data-member='{last}']").click(modifiers=["Shift"], force=True)
        assert shown(page) == [0, last]
        assert bars(page, "b") == expected_bars(front.members[last])
        assert bars(page) == expected_bars(front.members[0])
        assert page.url.endswith(f"#a=0&b={last}")


def test_hover_says_objectives_units_and_clocks(front, open_page, report):
    problem, member = front.problem, front.members[0]
    with open_page(report(front)) as page:
        page.locator("path[data-member='0']").hover()
        text = page.locator("#tip").inner_text()
    assert f"Latency {format_number(member.makespan_ps / 1e9)} ms" in text
    assert f"Energy {format_number(member.energy_fj / 1e12)} mJ" in text
    for unit, count in groups_by_unit(problem, member).items():
        assert f"{unit} {count}" in text
    for name, clock in clocks_mhz(problem, member).items():
        assert f"{name} off" in text if clock is None else f"{name} {clock:g} MHz" in text


def test_the_keyboard_alone_is_enough(front, open_page, schedule_of, report):
    count = len(front.members)
    with open_page(report(front), hash="#a=0") as page:
        page.locator("#plot").focus()
        page.keyboard.press("ArrowRight")
        assert shown(page) == [1]
        page.keyboard.press("Shift+End")
        assert shown(page) == [1, count - 1]
        assert f"member {count - 1}" in page.locator("#announce").inner_text().lower()
        page.locator("article[data-side=a] [aria-label^=Schedule]").focus()
        page.keyboard.press("ArrowRight")
        rows = schedule_of(front.problem, front.members[1].design).groups
        first = min(rows, key=lambda row: row.start_ps)
        network = front.problem.networks[first.network]
        expected = f"{network.name}, group {first.group - network.first_group}"
        assert expected in page.locator("#tip").inner_text()
        page.locator("tr[data-row='2'] button").press("Enter")
        assert shown(page) == [2, count - 1]


def test_conversions_are_arrows_of_their_own(front, open_page, report, monkeypatch):
    """The members have groups on GPU and DLA, here two number formats of one unit."""
    edges = front.problem.edges
    moves = [
        sum(bool(m.design.units[a] != m.design.units[b]) for a, b in edges) for m in front.members
    ]
    index = moves.index(max(moves))
    pages = [report(front)]
    monkeypatch.setattr(
        "results.export.report.report_data",
        lambda *args, **named: {**report_data(*args, **named), "unit_of": [0, 1, 1]},
    )
    pages.append(report(front))
    for content, conversions in zip(pages, (0, moves[index]), strict=True):
        with open_page(content, hash=f"#a={index}") as page:
            assert page.locator("line.arrow:not(.waits)").count() == moves[index] > 0
            assert page.locator("line.arrow.conversion").count() == conversions
            legend = page.locator(".legend").all_inner_texts()
        assert any("conversion" in text for text in legend) == (conversions > 0)
        assert any("transition" in text for text in legend) == (conversions == 0)


def test_bars_are_as_long_as_they_run_and_hatched_where_slowed(
    front, open_page, schedule_of, report
):
    schedules = [(m, schedule_of(front.problem, m.design).groups) for m in front.members]
    member, slowed = max(
        ((m, [r for r in rows if r.end_ps - r.start_ps > r.alone_ps]) for m, rows in schedules),
        key=lambda entry: len(entry[1]),
    )
    assert slowed
    units = member.design.units
    moves = sum(bool(units[a] != units[b]) for a, b in front.problem.edges)
    with open_page(report(front), hash=f"#a={front.members.index(member)}") as page:
        widths = dict(
            page.locator("g.bar[data-group]").evaluate_all(
                "bars => bars.map(bar => [bar.dataset.group, "
                "Number(bar.querySelector('.frame').getAttribute('width'))])"
            )
        )
        hatched = page.locator("g.bar[data-group] rect[fill^='url']").count()
        arrows = page.locator("line.arrow").count()
    assert hatched == len(slowed)
    assert arrows == moves
    rows = schedule_of(front.problem, member.design).groups
    lengths = [row.end_ps - row.start_ps for row in rows]
    pixels = [widths[str(row.group)] for row in rows]
    wide = [i for i, width in enumerate(pixels) if width > 5]
    scales = [lengths[i] / pixels[i] for i in wide]
    assert max(scales) == pytest.approx(min(scales), rel=1e-6)


def test_energy_and_operating_points_are_the_members(front, open_page, report):
    member = front.members[0]
    with open_page(report(front), hash="#a=0") as page:
        energies = page.locator("tr[data-energy]").evaluate_all(
            "rows => rows.map(row => [row.dataset.energy, row.cells[2].textContent])"
        )
        clocks = page.locator("[data-part=clocks] tbody tr").all_inner_texts()
    expected = [
        (unit.name, f"{format_number(energy / 1e12)} mJ")
        for unit, energy in zip(front.problem.units, member.energy_by_unit_fj, strict=True)
        if energy
    ]
    rest = (member.energy_fj - sum(member.energy_by_unit_fj)) / 1e12
    assert [tuple(row) for row in energies] == [
        *expected,
        ("memory, clocks and board", f"{format_number(rest)} mJ"),
    ]
    for (name, clock), row in zip(clocks_mhz(front.problem, member).items(), clocks, strict=True):
        assert row.split()[:2] == [name, "off" if clock is None else f"{clock:g}"]


@pytest.mark.parametrize("dark", [False, True])
def test_light_dark_and_phone(front, open_page, dark, report):
    with open_page(report(front), width=360, height=780, dark=dark, hash="#a=0&b=1") as page:
        theme = page.evaluate("document.documentElement.dataset.theme")
        assert theme == ("dark" if dark else "light")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        before = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.locator("#theme").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
        page.locator("[data-target=b]").click()
        page.locator("path[data-member='2']").click(force=True)
        assert shown(page) == [0, 2]


def test_what_is_proved_is_marked(front, open_page, report):
    proved = dataclasses.replace(front, certificate=claim(front))
    with open_page(report(proved), hash="#a=0") as page:
        assert page.locator(".proved").count() == 1
        assert page.locator("article .badge").inner_text() == "proved"
        assert "node by node; that nothing is left out: z3 1.2" in (
            page.locator("#proof").inner_text()
        )
    alone = dataclasses.replace(front, certificate=dataclasses.replace(claim(front), solvers=()))
    with open_page(report(alone)) as page:
        assert "node by node" in page.locator("#proof").inner_text()
        assert "solver" not in page.locator("#proof").inner_text()
    open_gap = dataclasses.replace(front, certificate=claim(front, CertificateStatus.GAP))
    with open_page(report(open_gap)) as page:
        assert "was ended; dse certify goes further" in page.locator("#proof").inner_text()
        assert "node by node" not in page.locator("#proof").inner_text()
    names = tuple(objective_names(front.problem))
    every = tuple(range(len(front.members)))
    low, least = (min(m.objectives[k] for m in front.members) * 9 // 10 for k in range(2))
    region = ((low, None), (None, least))
    bounds = BoundSummary(names, every, 112_000, region, "all units", 3, 5, 0.5)
    with open_page(report(dataclasses.replace(front, bounds=bounds))) as page:
        assert page.locator(".proved-line.bounded").count() == 1
        assert "by more than 11.20 %" in page.locator("#proof").inner_text()
        assert "Inequalities" in page.locator("#proof").inner_text()
    whole = dataclasses.replace(claim(front), objectives=names, members=every)
    with open_page(report(dataclasses.replace(front, certificate=whole)), hash="#a=2") as page:
        assert page.locator("article .badge").inner_text() == "proved"
        assert "The front is complete" in page.locator("#proof").inner_text()
    near = dataclasses.replace(whole, epsilon_ppm=12_345)
    both = dataclasses.replace(front, certificate=claim(front), epsilon=near)
    with open_page(report(both)) as page:
        assert "by more than 1.24 %" in page.locator("#proof").inner_text()
        assert page.locator(".proved").count() == 2
    with open_page(report(front)) as page:
        assert page.locator(".proved").count() == 0
        assert "not proved" in page.locator("#proof").inner_text()


def test_the_curve_goes_on_to_the_end_of_the_search(front, open_page, report):
    """Though its last growth was early."""
    points = (HypervolumePoint(100, 0.5), HypervolumePoint(200, 1.0))
    source = dataclasses.replace(front.provenance, evaluations=2000, convergence=points)
    with open_page(report(dataclasses.replace(front, provenance=source))) as page:
        chart = page.locator("#convergence svg")
        line = chart.locator("path.growth").evaluate("path => path.getBBox().width")
        assert line > 0.75 * chart.evaluate("svg => svg.getBBox().width")


def test_members_that_four_digits_would_show_alike_have_more(front, open_page, report):
    first = front.members[0]
    latency, energy = first.objectives[0] + 2000, first.objectives[1] - 2
    near = dataclasses.replace(
        first,
        objectives=(latency, energy),
        makespan_ps=latency,
        latencies_ps=tuple(ps + 2000 for ps in first.latencies_ps),
        energy_fj=energy,
    )
    members = (first, near, *front.members[1:])
    with open_page(report(dataclasses.replace(front, members=members))) as page:
        cells = page.locator("#table tr.pick td:nth-child(3)").all_inner_texts()[:2]
    assert cells[0] != cells[1]
    assert [
        f"{value / 1e9:.{len(cells[0].split('.')[1])}f}"
        for value in (first.objectives[0], near.objectives[0])
    ] == cells


def test_other_methods_are_marked_and_can_be_chosen(
    front, make_members, open_page, expected_bars, report
):
    others = make_members(front.problem, 30, seed=9)
    low, high = (
        [pick(m.objectives[k] for m in front.members) for k in range(2)] for pick in (min, max)
    )

    def near(member):
        spans = [1.0 * (b - a) for a, b in zip(low, high, strict=True)]
        return all(
            a - span <= value <= b + span
            for value, a, b, span in zip(member.objectives, low, high, spans, strict=True)
        )

    close, far = next(m for m in others if near(m)), next(m for m in others if not near(m))
    baselines = (
        BaselinePoint("close", "Close one", close, ("deadline",)),
        BaselinePoint("far", "Far one", far),
    )
    count = len(front.members)
    with open_page(report(dataclasses.replace(front, baselines=baselines))) as page:
        assert page.locator("g.cross").count() == 1
        assert "Far one" in page.locator("#plot-legend").inner_text()
        page.locator("g.cross").click(force=True)
        assert shown(page) == [count]
        assert bars(page) == expected_bars(close)
        assert "breaks deadline" in page.locator("article header").inner_text()
        page.locator(f"tr[data-row='{count + 1}'] button").press("Enter")
        assert bars(page) == expected_bars(far)


def test_a_method_with_a_front_is_named_once(front, open_page, report):
    near = front.members[:3]
    baselines = tuple(BaselinePoint("many", "Many", member) for member in near)
    with open_page(report(dataclasses.replace(front, baselines=baselines))) as page:
        assert page.locator("g.cross").count() == 3
        assert page.locator("#plot text.name").all_text_contents().count("Many") == 1


def test_steps_of_a_proof_only_fall(front, open_page, report):
    """Bounds that lie beyond the plot are on its edge, in their order."""
    names = tuple(objective_names(front.problem))
    every = tuple(range(len(front.members)))
    whole = dataclasses.replace(claim(front), objectives=names, members=every, epsilon_ppm=400_000)
    with open_page(report(dataclasses.replace(front, epsilon=whole))) as page:
        steps = page.locator(".proved-line").get_attribute("d")
        edge = float(page.locator("#plot line.axis").nth(1).get_attribute("x1"))
    across = [float(x) for x in re.findall(r"[MH]([0-9.]+)", steps)]
    down = [float(y) for y in re.findall(r"V([0-9.]+)", steps)]
    assert across.count(edge) > 2, "some bounds are beyond the edge"
    assert across == sorted(across)
    assert down == sorted(down)


def test_three_objectives(three_objective_front, open_page, report):
    count = len(three_objective_front.members)
    with open_page(report(three_objective_front)) as page:
        assert page.locator("path[data-line]").count() == count
        page.locator("#plot-controls select").nth(0).select_option("2")
        assert "Latency of resnet50 (ms)" in page.locator("#plot svg").inner_html()
        page.locator("#plot").focus()
        page.keyboard.press("Home")
        best = min(range(count), key=lambda i: three_objective_front.members[i].objectives[2])
        assert shown(page) == [best]


def test_five_hundred_members(front, make_problem, make_members, open_page, expected_bars, report):
    # Of random design points few would be a front: power and stretch, which nobody recomputes
    # here, are made up so that none dominates another.
    objectives = (Objective(ObjectiveKind.POWER), Objective(ObjectiveKind.STRETCH))
    problem = make_problem(groups=(24, 20), objectives=objectives)
    members = tuple(
        dataclasses.replace(member, objectives=(10**6 + i, 10**6 - i))
        for i, member in enumerate(make_members(problem, 500))
    )
    html = report(dataclasses.replace(front, problem=problem, members=members))
    assert len(html.encode()) < 6_000_000
    with open_page(html) as page:
        assert page.locator("path[data-member]").count() == 500
        page.locator("tr[data-row='499'] button").click()
        assert bars(page) == expected_bars(members[499])


@pytest.mark.parametrize("width", [360, 600])
def test_titles_and_names_do_not_run_into_each_other(
    make_problem, make_front, open_page, width, report
):
    latency = ObjectiveKind.LATENCY
    objectives = (Objective(latency), Objective(ObjectiveKind.ENERGY))
    objectives += tuple(Objective(latency, network) for network in (0, 1))
    front = make_front(make_problem(seed=3, objectives=objectives), samples=120)
    with open_page(report(front), width=width) as page:
        for place, kind in (("#parallel", "title"), ("#plot", "name")):
            boxes = page.evaluate(
                f"[...document.querySelectorAll('{place} .{kind}')].map((t) => {{"
                " const b = t.getBoundingClientRect();"
                " return [b.left, b.top + 3, b.right, b.bottom - 3]; })"
            )
            assert len(boxes) > 2
            for (a, b, c, d), (e, f, g, h) in combinations(boxes, 2):
                assert a >= g or e >= c or b >= h or f >= d, (place, boxes)
            assert all(box[0] >= 0 and box[2] <= width for box in boxes)


def test_names_are_never_markup(front, open_page, report):
    first, *others = front.problem.networks
    networks = (dataclasses.replace(first, name=HOSTILE), *others)
    problem = dataclasses.replace(front.problem, networks=networks)
    with open_page(report(dataclasses.replace(front, problem=problem))) as page:
        assert page.locator("img").count() == 0
        assert page.title().startswith(HOSTILE)
        assert HOSTILE in page.locator("h1").inner_text()


def test_an_empty_front_says_so(front, open_page, report):
    with open_page(report(dataclasses.replace(front, members=()))) as page:
        assert "empty" in page.locator("#failure").inner_text()


def test_the_page_is_the_same_in_a_fresh_process(front, tmp_path):
    write_results(tmp_path / "run", front, pictures=False)
    assert len(outputs(PRINT_HASH, tmp_path / "run")) == 1


def test_the_content_unpacks_to_the_schedules(front, schedule_of):
    content = json.loads(json.dumps(report_data(front, schedule_of)))
    for member, entry in zip(front.members, content["members"], strict=True):
        figures = activity(front.problem, member)
        end = 0
        schedule = entry["schedule"]
        for i, row in enumerate(schedule_of(front.problem, member.design).groups):
            cost = content["group_costs"][row.group][entry["cost"][row.group]]
            first, step, demand, power = cost
            alone = first + (row.repeat - 1) * step
            start = end + schedule["gap_ps"][i]
            end = start + alone + schedule["stretch_ps"][i]
            assert (start, end, alone) == (row.start_ps, row.end_ps, row.alone_ps)
            assert start - schedule["waited_ps"][i] == row.ready_ps
            assert demand == figures.demand_kbps[row.group]
            assert power == figures.dynamic_mw[row.group]


def test_of_long_schedules_the_page_has_some(front, open_page, schedule_of, monkeypatch, report):
    """Those of named members and of others along the front; of the rest it says what draws them."""
    rows = len(schedule_of(front.problem, front.members[0].design).groups)
    marked, count = set(mark_members(front)), len(front.members)
    for room, others in ((2, {0, count // 2}), (1, {0})):
        monkeypatch.setattr("results.export.report_data.MAX_EXECUTIONS", room * rows + rows // 2)
        content = report_data(front, schedule_of)
        there = {i for i, entry in enumerate(content["members"]) if entry["schedule"] is not None}
        assert there == marked | others
    missing = next(i for i in range(count) if i not in there)
    with open_page(report(front), hash=f"#a={missing}&b=0") as page:
        text = page.locator("article[data-side=a]").inner_text()
        assert f"dse plot gantt DIR --member {missing}" in text
        assert page.locator("article[data-side=a] g.bar[data-group]").count() == 0
        assert page.locator("article[data-side=b] g.bar[data-group]").count() == rows


def test_narrow_executions_of_a_long_schedule_share_a_bar(front, open_page, report, schedule_of):
    html = report(front)
    for name, value, other in (("MOST_BARS", 1500, 3), ("NARROW", 2, 10_000)):
        assert f"{name} = {value}" in html
        html = html.replace(f"{name} = {value}", f"{name} = {other}")
    rows = schedule_of(front.problem, front.members[0].design).groups
    with open_page(html, hash="#a=0") as page:
        found = page.locator("g.bar[data-group]")
        assert len({row.unit for row in rows}) <= found.count() < len(rows)
        counts = []
        for index in range(found.count()):
            found.nth(index).hover(force=True)
            words = re.search(r"(\d+) executions? on", page.locator("#tip").inner_text())
            counts.append(int(words[1]) if words else 1)
        assert sum(counts) == len(rows)


def test_a_finger_sees_what_the_pointer_sees(front, open_page, report):
    with open_page(report(front), width=390, touch=True, hash="#a=0") as page:
        bar = page.locator("g.bar[data-group]").first
        bar.tap(force=True)
        assert "group 0" in page.locator("#tip").inner_text()
        page.locator("h1").tap()
        assert page.locator("#tip").is_hidden()
