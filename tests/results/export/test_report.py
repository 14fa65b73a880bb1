"""``report.html`` in a real browser: what it shows is what the front says, and it can be used."""

import dataclasses
from itertools import combinations

import pytest

from paretosoc.results.export.result_folder import write_results
from paretosoc.results.front.choices import RESOLUTIONS, choose
from paretosoc.results.front.front import (
    BaselinePoint,
)
from paretosoc.results.front.mapping_gain import ONE_UNIT
from paretosoc.results.front.named_members import KNEE, marked_member
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, format_number
from paretosoc.results.text.member_diff import clocks_mhz, groups_by_unit
from tests.results.export.test_report_schedules import bars
from tests.support.fresh_process import outputs

HOSTILE = "</script><img src=x onerror=\"document.title='caught'\">{{STYLE}}"
PRINT_HASH = """
import hashlib, sys
from pathlib import Path
from paretosoc.fitness.execution import schedule_of
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.export.report import report_html
page = report_html(read_results(Path(sys.argv[1])), schedule_of)
print(hashlib.sha256(page.encode()).hexdigest())
"""


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
        ("idle memory, clocks and board", f"{format_number(rest)} mJ"),
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
        slide(page, 0)
        cells = page.locator("#table tr.pick td:nth-child(3)").all_text_contents()[:2]
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
        BaselinePoint("close", "Close one", ("deadline",), member=close),
        BaselinePoint("far", "Far one", member=far),
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


def slide(page, place):
    """Drag the resolution to a place; at 0 all members are shown."""
    page.locator("#resolution").fill(str(place))


def test_the_resolution_can_be_dragged(front, open_page, report):
    """Marks, rows and the words follow; without a network, from a file."""
    html = report(front)
    with open_page(html) as page:
        for place, share in enumerate(RESOLUTIONS):
            slide(page, place)
            choices = choose(front, share)
            marks = page.locator("#plot path.mark[data-member]")
            shown = sorted(int(mark.get_attribute("data-member")) for mark in marks.all())
            assert shown == choices.members
            rows = page.locator("#table tr.pick").all()
            assert [int(row.get_attribute("data-row")) for row in rows] == choices.members
            stands = page.locator("#table tr.pick td:nth-child(5)").all_text_contents()
            assert list(map(int, stands)) == list(choices.counts.values())
            assert page.locator("#plot path.stairs").count() == 1


def test_what_mapping_is_worth_comes_first_if_it_is_little(front, open_page, report):
    one_unit = tuple(BaselinePoint(ONE_UNIT, "one unit", member=m) for m in front.members)
    with open_page(report(dataclasses.replace(front, baselines=one_unit))) as page:
        words = page.locator("#gain.first").inner_text()
        assert words.startswith("Mapping gains less than 1 %")
        assert page.locator("#plot path.series").count() == 1


def test_a_method_with_a_front_is_a_line(front, open_page, report):
    near = front.members[:3]
    baselines = tuple(BaselinePoint("many", "Many", member=member) for member in near)
    with open_page(report(dataclasses.replace(front, baselines=baselines))) as page:
        assert page.locator("circle.dot").count() == 3
        assert page.locator("g.cross").count() == 0
        assert "Many" not in page.locator("#plot text.name").all_text_contents()
        assert "Many" in page.locator("#plot-legend").inner_text()


def test_three_objectives(three_objective_front, open_page, report):
    count = len(three_objective_front.members)
    with open_page(report(three_objective_front)) as page:
        slide(page, 0)
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
    front_of_500 = dataclasses.replace(front, problem=problem, members=members)
    html = report(front_of_500)
    assert len(html.encode()) < 6_000_000
    with open_page(html) as page:
        assert page.locator("path[data-member]").count() == len(choose(front_of_500).entries)
        slide(page, 0)
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


def test_a_finger_sees_what_the_pointer_sees(front, open_page, report):
    with open_page(report(front), width=390, touch=True, hash="#a=0") as page:
        bar = page.locator("g.bar[data-group]").first
        bar.tap(force=True)
        assert "group 0" in page.locator("#tip").inner_text()
        page.locator("h1").tap()
        assert page.locator("#tip").is_hidden()
