"""Proofs of ``report.html``: what is proved of members and fronts, and how the search went."""

import dataclasses
import re

import pytest

from paretosoc.results.front.certificate import CertificateStatus
from paretosoc.results.front.front import BoundSummary, CertificateSummary, HypervolumePoint


def claim(front, status=CertificateStatus.CERTIFIED):
    epsilon = 0 if status is CertificateStatus.CERTIFIED else 100_000
    return CertificateSummary(
        status, ("latency_ps",), (0,), epsilon, "all units", 12, 34, ("z3 1.2",), 0.5
    )


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
    names = tuple(front.problem.objective_names)
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


@pytest.mark.parametrize(("epsilon", "kind"), [(112_000, "bounded"), (1_029_700, "weak")])
def test_a_weak_bound_is_no_praise(front, open_page, report, epsilon, kind):
    names = tuple(front.problem.objective_names)
    every = tuple(range(len(front.members)))
    bounds = BoundSummary(names, every, epsilon, ((1, None), (None, 1)), "all units", 3, 5, 0.5)
    with open_page(report(dataclasses.replace(front, bounds=bounds))) as page:
        badge = page.locator("#subtitle .badge")
        assert badge.get_attribute("class") == f"badge {kind}"
        assert ("but a weak bound" in badge.inner_text()) == (kind == "weak")


def test_letters_of_members_lie_beside_names(front, open_page, report):
    with open_page(report(front), hash="#a=0&b=1") as page:
        over = page.evaluate(
            """() => {
              const boxes = (of) => [...document.querySelectorAll(`#plot ${of}`)]
                .map((text) => text.getBoundingClientRect());
              return boxes(".letter").map((a) => boxes(".name").filter((b) =>
                a.left < b.right && b.left < a.right &&
                a.top + 2 < b.bottom && b.top < a.bottom - 2).length);
            }"""
        )
    assert over == [0, 0]


@pytest.mark.parametrize(("percent", "lines"), [(90, 2), (40, 1), (2, 0)])
def test_a_bound_out_of_sight_has_no_line(front, open_page, report, percent, lines):
    """A line on the edge of the plot would be read as a bound there: figures stand below."""
    names = tuple(front.problem.objective_names)
    low, least = (min(m.objectives[k] for m in front.members) * percent // 100 for k in range(2))
    region = ((low, None), (None, least))
    bounds = BoundSummary(names, (0, 1), 112_000, region, "all units", 3, 5, 0.5)
    with open_page(report(dataclasses.replace(front, bounds=bounds))) as page:
        shown = page.locator("#plot .proved-line").evaluate_all(
            """lines => lines.flatMap(line => {
              const room = document.querySelector(
                line.getAttribute("clip-path").slice(4, -1) + " rect").getBBox();
              const [, x, y] = line.getAttribute("d").match(/^M([0-9.]+) .*V([0-9.]+)H/);
              return [x > room.x, y < room.y + room.height];
            })"""
        )
        legend = page.locator("#plot-legend").inner_text()
        words = page.locator("#plot .proved-name").count()
    assert shown.count(True) == lines
    assert words == (lines == 2)
    assert ("where no design point is" in legend) == (lines > 0)
    figures = (f"{int((v + 1) / s * 1e6) / 1e6:.6f}" for v, s in ((low, 1e9), (least, 1e12)))
    told = "bound out of sight: none below {} ms, none below {} mJ".format(*figures)
    assert (told in legend) == (lines == 0)


def test_the_curve_goes_on_to_the_end_of_the_search(front, open_page, report):
    """Though its last growth was early."""
    points = (HypervolumePoint(100, 0.5), HypervolumePoint(200, 1.0))
    source = dataclasses.replace(front.provenance, evaluations=1_250_000, convergence=points)
    with open_page(report(dataclasses.replace(front, provenance=source))) as page:
        chart = page.locator("#convergence svg")
        end = "all => Math.max(...all.map(t => t.getBBox().x + t.getBBox().width))"
        ends = chart.locator("text").evaluate_all(end)
        assert ends <= chart.evaluate("svg => svg.viewBox.baseVal.width")
        line = chart.locator("path.growth").evaluate("path => path.getBBox().width")
        assert line > 0.75 * chart.evaluate("svg => svg.getBBox().width")


def test_why_the_search_ended_is_said_in_words(front, open_page, report):
    source = dataclasses.replace(front.provenance, stopped_by="exhausted")
    with open_page(report(dataclasses.replace(front, provenance=source))) as page:
        assert ", found nothing new to try" in page.locator("#provenance").text_content()


def test_steps_of_a_proof_only_fall(front, open_page, report):
    """Bounds that lie beyond the plot are on its edge, in their order."""
    names = tuple(front.problem.objective_names)
    every = tuple(range(len(front.members)))
    whole = dataclasses.replace(claim(front), objectives=names, members=every, epsilon_ppm=10**6)
    with open_page(report(dataclasses.replace(front, epsilon=whole))) as page:
        steps = page.locator(".proved-line").get_attribute("d")
        edge = float(page.locator("#plot line.axis").nth(0).get_attribute("y1"))
    across = [float(x) for x in re.findall(r"[MH]([0-9.]+)", steps)]
    down = [float(y) for y in re.findall(r"V([0-9.]+)", steps)]
    assert down.count(edge) > 2, "some bounds are beyond the edge"
    assert across == sorted(across)
    assert down == sorted(down)
