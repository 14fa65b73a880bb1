"""Schedules of ``report.html``: bars, arrows of conversions, what of long schedules is shown."""

import json
import re

import pytest

from paretosoc.results.export.report_data import report_data
from paretosoc.results.front.choices import choose
from paretosoc.results.text.schedule import activity


def bars(page, side="a"):
    """(start in ps, group) of every bar of a schedule on the page."""
    found = page.locator(f"article[data-side={side}] g.bar[data-group]").evaluate_all(
        "bars => bars.map(bar => [Number(bar.dataset.start), Number(bar.dataset.group)])"
    )
    return sorted(map(tuple, found))


def test_conversions_are_arrows_of_their_own(front, open_page, report, monkeypatch):
    """The members have groups on GPU and DLA, here two number formats of one unit."""
    edges = front.problem.edges
    moves = [
        sum(bool(m.design.units[a] != m.design.units[b]) for a, b in edges) for m in front.members
    ]
    index = moves.index(max(moves))
    pages = [report(front)]
    monkeypatch.setattr(
        "paretosoc.results.export.report.report_data",
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
    """Those of choices and of others along the front; of the rest it says what draws them."""
    rows = len(schedule_of(front.problem, front.members[0].design).groups)
    few = choose(front, 0.9)
    monkeypatch.setattr("paretosoc.results.export.report_data.choose", lambda *_: few)
    marked, count = set(few.members), len(front.members)
    for room, others in ((2, {0, count // 2}), (1, {0})):
        monkeypatch.setattr(
            "paretosoc.results.export.report_data.MAX_EXECUTIONS", room * rows + rows // 2
        )
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
