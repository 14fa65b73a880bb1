"""The plot of ``report.html`` under the pointer: what lies on top, zoom, and room for names."""

import dataclasses
import re
from importlib.resources import files

import pytest

from paretosoc.results.front.front import BaselinePoint
from paretosoc.results.front.named_members import mark_members, marked_member
from paretosoc.results.plots.front import LOG_RATIO

MARKS = "#plot path.mark[data-member]"


def marks(page):
    return page.locator(MARKS).evaluate_all("all => all.map(m => Number(m.dataset.member))")


def test_a_click_on_the_middle_of_a_marked_member_is_for_it(front, open_page, report):
    with open_page(report(front)) as page:
        named = sorted(mark_members(front))
        assert marks(page)[-len(named) :] == named
        # No other mark, and no cross, lies above it: a click that is not forced gets through.
        page.locator(f"{MARKS}[data-member='0']").click()
        assert page.locator("article.member").get_attribute("data-member") == "0"


def test_a_rectangle_zooms_and_a_double_click_ends_it(front, open_page, report):
    every = sorted(range(len(front.members)))
    with open_page(report(front)) as page:
        assert sorted(marks(page)) == every
        chosen = page.locator("article.member").get_attribute("data-member")
        box = page.locator(f"{MARKS}[data-member='0']").bounding_box()
        left, top = box["x"] - 10, box["y"] - 10
        page.mouse.move(left, top)
        page.mouse.down()
        page.mouse.move(left + 15, top + 15)
        page.mouse.move(left + box["width"] + 20, top + box["height"] + 20)
        page.mouse.up()
        assert 0 in marks(page)
        assert len(marks(page)) < len(every)
        # A drag that ends on a mark chooses nothing.
        assert page.locator("article.member").get_attribute("data-member") == chosen
        page.locator("#plot svg").dblclick(position={"x": 80, "y": 30})
        assert sorted(marks(page)) == every


def test_buttons_zoom_around_the_chosen_member(front, open_page, report):
    every, last = sorted(range(len(front.members))), len(front.members) - 1
    with open_page(report(front), hash=f"#a={last}") as page:
        for _ in range(6):
            page.locator("[data-plot-zoom='+']").press("Enter")
        assert last in marks(page)
        assert len(marks(page)) < len(every)
        for _ in range(6):
            page.locator("[data-plot-zoom='−']").press("Enter")
        assert sorted(marks(page)) == every


def test_long_names_of_units_are_whole(front, open_page, report):
    units = tuple(
        dataclasses.replace(unit, name=f"accelerator{u}")
        for u, unit in enumerate(front.problem.units)
    )
    problem = dataclasses.replace(front.problem, units=units)
    with open_page(report(dataclasses.replace(front, problem=problem))) as page:
        starts = page.locator("article .chart svg").first.evaluate(
            "svg => [...svg.querySelectorAll('text')].map(t => t.getBBox().x)"
        )
        assert min(starts) >= 0


def test_a_method_out_of_sight_that_breaks_a_limit_has_a_star(
    front, make_members, open_page, report
):
    far = max(make_members(front.problem, 250), key=lambda member: member.objectives[0])
    others = (
        BaselinePoint("far", "Far", ("deadline",), member=far),
        BaselinePoint("other", "Other", member=far),
    )
    with open_page(report(dataclasses.replace(front, baselines=others))) as page:
        legend = page.locator("#plot-legend").inner_text()
    assert "(* breaks a limit)" in legend
    assert "Out of sight: Far* (" in legend
    assert "; Other (" in legend


def test_pictures_and_pages_choose_logarithmic_axes_alike():
    script = (files("paretosoc.results.export.assets") / "scales.js").read_text("utf-8")
    assert re.search(r"^const LOG_RATIO = (\d+);", script, re.M)[1] == str(LOG_RATIO)


def test_colours_are_logarithmic_where_axes_are(front, open_page, report):
    script = files("paretosoc.results.export.assets").joinpath("scales.js").read_text("utf-8")
    placed = "[shares([1, 10, 100])(10), shares([1, 2, 3])(2), shares([4, 4])(4)]"
    with open_page(report(front)) as page:
        assert page.evaluate(f"() => {{ {script}; return {placed} }}") == [0.5, 0.5, 0]
        fills = page.locator(MARKS).evaluate_all("all => all.map(m => m.getAttribute('fill'))")
        assert len(set(fills)) > 1
        assert all(fill.startswith("rgb(") and "NaN" not in fill for fill in fills)


def test_convergence_uses_its_height(front, open_page, report):
    points = tuple(
        dataclasses.replace(point, hypervolume=0.9 + 0.1 * k / 9)
        for k, point in enumerate([front.provenance.convergence[0]] * 10)
    )
    provenance = dataclasses.replace(front.provenance, convergence=points)
    with open_page(report(dataclasses.replace(front, provenance=provenance))) as page:
        box = page.locator("path.growth").evaluate("p => p.getBBox().height")
        assert box > 120


def test_print_keeps_all_columns(front, open_page, report):
    with open_page(report(front), width=800) as page:
        page.emulate_media(media="print")
        table = page.locator("#table").evaluate(
            "t => [getComputedStyle(t).overflow, getComputedStyle(t).contentVisibility,"
            " t.querySelector('table').offsetWidth <= t.clientWidth]"
        )
        assert table == ["visible", "visible", True]


@pytest.mark.parametrize("width", [320, 400, 1400])
def test_names_lie_on_no_other_name(front, open_page, width, report):
    assert marked_member(front, "fastest") == 0
    with open_page(report(front), width=width) as page:
        boxes = page.locator("#plot text.name").evaluate_all(
            "all => all.map(t => t.getBBox()).map(b => [b.x, b.y, b.x + b.width, b.y + b.height])"
        )
        for i, a in enumerate(boxes):
            for b in boxes[:i]:
                assert not (a[0] < b[2] and b[0] < a[2] and a[1] + 2 < b[3] and b[1] + 2 < a[3])
