"""Pictures: the same bytes each time, and what stands in them."""

import dataclasses
import math
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import combinations
from xml.etree import ElementTree

import pytest

from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import write_results
from paretosoc.results.front.choices import choose
from paretosoc.results.front.front import BaselinePoint, BoundSummary
from paretosoc.results.plots.bars import SHARES
from paretosoc.results.plots.front import draw_front
from paretosoc.results.plots.fronts import draw_convergence, draw_fronts
from paretosoc.results.plots.gantt import draw_gantts
from paretosoc.results.plots.items import FORMS, Curve
from paretosoc.results.plots.labels import overlap
from paretosoc.results.plots.picture import Text
from paretosoc.results.plots.style import GREY, INK, ink_on, png_bytes
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, format_number
from paretosoc.results.text.member_diff import clocks_mhz, conversion_count
from tests.support.fresh_process import outputs

PNG = b"\x89PNG\r\n\x1a\n"
PRINT_HASHES = """
import hashlib, sys
from pathlib import Path
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.plots.front import draw_front
from paretosoc.results.plots.style import PICTURE_MAKERS
front = read_results(Path(sys.argv[1]))
pictures = [PICTURE_MAKERS[suffix](draw_front(front).picture()) for suffix in (".svg", ".png")]
print(*(hashlib.sha256(picture).hexdigest() for picture in pictures))
"""


def texts_of(chart):
    return [part for part in chart.picture().parts if isinstance(part, Text)]


def lines_of(chart):
    return [item for item in chart.items if isinstance(item, Curve) and item.points]


def all_texts(chart):
    return " | ".join(text.words for text in texts_of(chart))


def test_front_pictures_are_the_same_in_a_fresh_process(front, tmp_path):
    write_results(tmp_path / "run", front, pictures=False)
    assert len(outputs(PRINT_HASHES, tmp_path / "run")) == 1


def test_more_kinds_than_forms_leave_the_legend_whole(front, monkeypatch):
    """What has no form of its own has no line in the legend either."""
    kinds = [f"kind {i}" for i in range(len(FORMS) + 2)]
    members = tuple(front.members[i % len(front.members)] for i in range(len(kinds)))
    monkeypatch.setattr("paretosoc.results.plots.front._kinds", lambda _: kinds)
    every = choose(dataclasses.replace(front, members=members), 0)
    monkeypatch.setattr("paretosoc.results.plots.front.choose", lambda _: every)
    others = (BaselinePoint("one", "One", member=front.members[0]),)
    chart = draw_front(dataclasses.replace(front, members=members, baselines=others))
    assert list(chart.legend) == ["other methods", *sorted(kinds)[: len(FORMS)]]
    assert chart.legend.pop("other methods").ink == GREY
    assert [item.form for item in chart.legend.values()] == list(FORMS)
    assert {item.key_fill for item in chart.legend.values()} == {"#FFFFFF"}


def test_files_are_pictures(front, three_objective_front, tmp_path, scheduled):
    write_results(tmp_path / "run", front)
    drawn = draw_front(front).picture()
    assert (tmp_path / "run" / "front.svg").read_bytes() == drawn.svg()
    assert not (tmp_path / "run" / "front.png").exists()
    gantt = draw_gantts([("", scheduled(front.problem, front.members[0]))]).picture()
    for picture in (drawn, draw_front(three_objective_front).picture(), gantt):
        assert png_bytes(picture).startswith(PNG)
        assert ElementTree.fromstring(picture.svg()).tag.endswith("svg")


def test_marks_stand_on_the_page_where_the_numbers_say(front):
    """Between the numbers of the axes as a reader of the SVG sees them, each in the colour of its
    clock."""
    root = ElementTree.fromstring(draw_front(front).picture().svg())
    texts = [
        e.attrib | {"words": e.text or ""}
        for e in root
        if e.tag.endswith("text") and "x" in e.attrib
    ]

    def value(place, at, anchor):
        """Return the value at a place along an axis, by its first two numbers."""
        (p0, v0), (p1, v1), *_ = [
            (float(t[at]), float(t["words"]))
            for t in texts
            if t.get("text-anchor") == anchor and re.fullmatch(r"[0-9.]+", t["words"])
        ]
        return v0 + (place - p0) * (v1 - v0) / (p1 - p0)

    scale = [t["words"] for t in texts if re.fullmatch("[0-9]+", t["words"])]
    paths = [e.attrib for e in root if e.tag.endswith("path")]
    levels = [p["fill"] for p in paths if p.get("stroke") == p["fill"]]
    clocks = dict(zip(levels, scale[-len(levels) :], strict=True))
    seen = []
    for path in paths:
        if path["fill"] == "none" or path.get("stroke") != INK or path["fill"] not in clocks:
            continue
        points = [tuple(map(float, pair.split())) for pair in path["d"][1:-1].split("L")]
        x, y = ((min(p[k] for p in points) + max(p[k] for p in points)) / 2 for k in (0, 1))
        # A number stands beside its tick by its foot.
        foot = 0.365 * 7.0 * 100 / 72
        seen.append((value(x, "x", "middle"), value(y + foot, "y", "end"), clocks[path["fill"]]))
    name = draw_front(front).colours.title.removesuffix(" clock (MHz)")
    expected = [
        (
            member.objectives[0] / 1e9,
            member.objectives[1] / 1e12,
            f"{clocks_mhz(front.problem, member)[name]:.0f}",
        )
        for member in (front.members[i] for i in choose(front).members)
    ]
    assert len(seen) == len(expected)
    for found, wanted in zip(sorted(seen), sorted(expected), strict=True):
        assert found[:2] == pytest.approx(wanted[:2], rel=0.01)
        assert found[2] == wanted[2]


def test_front_names_axes_marks_and_clocks(front, three_objective_front):
    words = all_texts(draw_front(front))
    for word in ("Latency (ms)", "Energy (mJ)", "fastest", "lowest energy", "clock (MHz)"):
        assert word in words
    assert "latency of resnet50 at most " in all_texts(draw_front(three_objective_front))


def test_a_third_objective_is_drawn_as_levels(three_objective_front):
    """Each staircase has members that no other member within its level beats in both axes, and
    every choice is a dot."""
    problem = three_objective_front.problem
    *lines, dots = draw_front(three_objective_front).items
    assert 1 < len(lines) <= len(SHARES)
    points = [
        tuple(map(Objective.shown, problem.objectives, member.objectives))
        for member in three_objective_front.members
    ]
    limits = []
    for line in lines:
        limit = float(line.name.split(" at most ")[1].split()[0])
        limits.append(limit)
        within = [point[:2] for point in points if point[2] <= limit * 1.001]
        drawn = set(line.points[::2])
        for x, y in drawn:
            assert not any(a <= x and b <= y and (a, b) != (x, y) for a, b in within)
        beaten_by_none = {
            (x, y)
            for x, y in within
            if not any(a <= x and b <= y and (a, b) != (x, y) for a, b in within)
        }
        assert drawn == beaten_by_none
    assert limits == sorted(limits)
    assert len(dots.points) == len(choose(three_objective_front).entries)


def test_a_name_without_room_stands_below_with_its_figures(front):
    """Each of ten methods at one place of the front is named once: near its cross, or below."""
    first = front.members[0]
    others = tuple(
        BaselinePoint(
            f"b{k}",
            f"Method {k}",
            member=dataclasses.replace(
                first, objectives=tuple(v + k * v // 10**4 for v in first.objectives)
            ),
        )
        for k in range(10)
    )
    chart = draw_front(dataclasses.replace(front, baselines=others))
    written = [t for t in chart.over if isinstance(t, Text) and t.words.startswith("Method")]
    caption = chart.caption
    assert caption.startswith("Crosses without a name: ")
    assert 0 < len(written) < len(others)
    beside = {text.words for text in written}
    for point in others:
        shown = [v / s for v, s in zip(point.member.objectives, (1e9, 1e12), strict=True)]
        latency, energy = map(format_number, shown)
        figures = f"{point.label} {latency} ms, {energy} mJ"
        assert (point.label in beside) is not (figures in caption)
        for text in written:
            if text.words == point.label:
                (x, y), box = chart.place(shown), text.box
                away = max(box[0] - x, x - box[2], 0), max(box[1] - y, y - box[3], 0)
                assert math.hypot(*away) < 50


def with_names(front, *names):
    """The front of energy and a latency, with other names of its networks."""
    networks = [
        dataclasses.replace(network, name=name)
        for network, name in zip(front.problem.networks, names, strict=False)
    ]
    objectives = (Objective(ObjectiveKind.ENERGY), Objective(ObjectiveKind.LATENCY, 0))
    problem = dataclasses.replace(front.problem, networks=tuple(networks), objectives=objectives)
    return dataclasses.replace(front, problem=problem)


def test_a_title_longer_than_its_axis_is_wrapped(front):
    chart = draw_front(with_names(front, "n" * 40, "m"))
    (title,) = (text for text in texts_of(chart) if text.words.startswith("Latency of"))
    assert "\n" in title.words
    assert title.box[3] - title.box[1] <= chart.frame[3]


@pytest.mark.parametrize("kind", ["plain", "bounded", "three", "long", "longer", "single"])
def test_no_text_of_a_picture_meets_another_or_leaves_the_page(front, three_objective_front, kind):
    drawn = {
        "plain": front,
        "bounded": bounded(front),
        "three": three_objective_front,
        "long": with_names(front, "a long name of a network", "b"),
        "longer": with_names(front, "n" * 200, "m"),
        "single": dataclasses.replace(front, members=front.members[:1]),
    }[kind]
    chart = draw_front(drawn)
    # No axes have room for names of hundreds of letters.
    texts = [text for text in texts_of(chart) if kind != "longer" or text not in chart.over]
    assert len(texts) > 6
    left, bottom, right, top = chart.picture().page
    for text in texts:
        box = text.box
        assert left <= box[0] <= box[2] <= right, text
        assert bottom <= box[1] <= box[3] <= top, text
    for a, b in combinations(texts, 2):
        assert not overlap(a.box, b.box), (a, b)


def bounded(front):
    """The front with bounds a tenth below it."""
    low, least = (min(m.objectives[k] for m in front.members) * 9 // 10 for k in range(2))
    claim = BoundSummary(
        objectives=front.problem.objective_names,
        members=tuple(range(len(front.members))),
        epsilon_ppm=112_000,
        region=((low, None), (None, least)),
        space="here",
        boxes=3,
        inequalities=5,
        seconds=0.5,
    )
    return dataclasses.replace(front, bounds=claim)


def test_no_name_of_the_legend_is_cut(front):
    """A weak bound has a long name; two such names would not fit beside each other."""
    weak = bounded(front)
    weak = dataclasses.replace(weak, bounds=dataclasses.replace(weak.bounds, epsilon_ppm=1_582_000))
    chart = draw_front(weak)
    name = "proved: none below (within 158.20 %, a weak bound)"
    (text,) = (text for text in texts_of(chart) if text.words == name)
    assert text.box[2] <= chart.picture().page[2]


def test_the_proved_region_is_shaded_up_to_its_bounds(front):
    chart = draw_front(bounded(front))
    shade = chart.legend["proved: none below (within 11.20 %)"]
    least = [
        min(member.objectives[k] for member in front.members) * 0.9 / unit
        for k, unit in enumerate((1e9, 1e12))
    ]
    x, y = chart.x, chart.y
    assert shade.points == [
        *((x.low, y.low), (x.low, y.high), (pytest.approx(least[0]), y.high)),
        *shade.points[3:-2],
        *((x.high, pytest.approx(least[1])), (x.high, y.low)),
    ]
    corners = shade.points[3:-2]
    assert tuple(map(pytest.approx, least)) in corners
    assert all(pytest.approx(least[0]) == x or pytest.approx(least[1]) == y for x, y in corners)
    assert "proved" not in all_texts(draw_front(front))


def test_rates_are_drawn_as_rates(front):
    objectives = (Objective(ObjectiveKind.THROUGHPUT), Objective(ObjectiveKind.ENERGY))
    problem = dataclasses.replace(front.problem, objectives=objectives)
    chart = draw_front(dataclasses.replace(front, problem=problem))
    (line,) = (item for item in chart.items if isinstance(item, Curve))
    rates = [1e12 / member.objectives[0] for member in front.members]
    assert sorted(rates) == pytest.approx([x for x, _ in line.points[::2]])
    assert "Throughput (images/s)" in all_texts(chart)


def test_a_single_member_and_too_little(front):
    assert draw_front(dataclasses.replace(front, members=front.members[:1])).picture().svg()
    with pytest.raises(ResultError, match="needs a member"):
        draw_front(dataclasses.replace(front, members=()))


DRAWN = """
import sys
from pathlib import Path
from paretosoc.results.export.result_folder import read_results, write_results
from paretosoc.dse.api.front import Front
write_results(Path(sys.argv[1]), read_results(Path(sys.argv[1])), overwrite=True)
assert (Path(sys.argv[1]) / "front.svg").stat().st_size > 5000
front = Front.load(sys.argv[1])
for what in ("front", "gantt", "convergence", "energy"):
    front.plot(Path(sys.argv[1]).with_name("again.svg"), what, overwrite=True)
print(sorted({"matplotlib", "PIL"} & set(sys.modules)), end="")
"""


def test_svg_is_drawn_without_matplotlib(front, tmp_path):
    write_results(tmp_path / "run", front, pictures=False)
    assert outputs(DRAWN, tmp_path / "run") == {b"[]"}


def test_conversions_are_no_transitions(problem, make_members, scheduled, as_formats):
    """Grey arrows between two number formats of a unit, named in the legend."""
    seen = Counter()
    for member in make_members(problem, 6):
        shown = as_formats(scheduled(problem, member))
        units = member.design.units.tolist()
        moves = [{units[a], units[b]} for a, b in problem.edges if units[a] != units[b]]
        conversions = sum(move == {1, 2} for move in moves)
        chart = draw_gantts([("", shown)])
        colours = Counter(item.ink for item in lines_of(chart) if item.arrow)
        assert colours[GREY] == conversions
        assert colours[INK] == len(moves) - conversions
        assert ("conversion" in chart.legend) == (conversions > 0)
        assert ("transition" in chart.legend) == (len(moves) > conversions)
        assert conversion_count(shown.problem, member) == conversions
        seen += colours
    assert min(seen[GREY], seen[INK]) > 0


def test_gantt_draws_every_execution_and_transition(front, scheduled):
    problem = front.problem
    for member in front.members:
        shown = scheduled(problem, member)
        lines = lines_of(draw_gantts([("", shown)]))
        units = member.design.units
        moves = sum(bool(units[a] != units[b]) for a, b in problem.edges)
        assert sum(line.arrow for line in lines) == moves
        for line in (line for line in lines if line.dash):
            # A move that waits for its unit: the line ends where an execution there begins.
            starts = [row.start_ps / 1e9 for row in shown.schedule.groups]
            assert min(abs(start - line.points[1][0]) for start in starts) < 1e-9
        bars = (line.points for line in lines if line.fill != "none")
        widths = sum(right - left for (left, _), _, (right, _), *_ in bars)
        busy = sum(row.end_ps - row.start_ps for row in shown.schedule.groups)
        assert widths == pytest.approx(busy / 1e9)


def test_methods_far_away_are_named_below(front):
    far = dataclasses.replace(
        front.members[0], objectives=tuple(9 * value for value in front.members[0].objectives)
    )
    others = (
        BaselinePoint("near", "Near", member=front.members[0]),
        BaselinePoint("far", "Far", ("deadline",), member=far),
    )
    caption = draw_front(dataclasses.replace(front, baselines=others)).caption
    latency = format_number(far.objectives[0] / 1e9)
    assert caption.startswith(f"Out of sight: Far* {latency} ms, ")
    assert caption.endswith(". * breaks a limit")
    assert "Near" not in caption


def test_points_of_lines_far_away_are_out_of_sight_with_three_objectives(
    front, three_objective_front
):
    """With two objectives the line is drawn as a whole."""
    for drawn, is_seen in ((front, True), (three_objective_front, False)):
        first = drawn.members[0]
        far = dataclasses.replace(first, objectives=tuple(9 * v for v in first.objectives))
        line = tuple(BaselinePoint("line", "Line", member=m) for m in (first, first, far))
        chart = draw_front(dataclasses.replace(drawn, baselines=line))
        assert (chart.x.high > far.objectives[0] / 1e9) is is_seen
        assert chart.caption == ("" if is_seen else "Out of sight: 1 of 3 points of Line")
        assert len(chart.legend["Line"].points) == (5 if is_seen else 2)


def test_thin_lines_and_crosses_are_seen_on_white(front, three_objective_front):
    """Yellow is not."""
    for drawn in (front, three_objective_front):
        line = tuple(
            BaselinePoint(name, name, member=member)
            for name in ("a", "b", "c", "d", "e")
            for member in drawn.members[:2]
        )
        legend = draw_front(dataclasses.replace(drawn, baselines=line)).legend
        inks = [legend[name].ink for name in ("a", "b", "c", "d", "e")]
        assert GREY not in inks
        assert len(set(inks)) == 4
        assert all(map(is_dark, inks))
    ((fronts,),) = draw_fronts([("n", front)] * 9).rows
    charts = fronts, draw_convergence([("n", front)] * 9)
    drawn = [line.ink for chart in charts for line in lines_of(chart)]
    assert len(drawn) == 18
    assert all(map(is_dark, drawn))


def is_dark(colour):
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 299 * red + 587 * green + 114 * blue < 0.7 * 255_000


def test_what_lies_on_axes_that_a_bound_has_widened_is_in_sight(front):
    first = front.members[0]
    low, least = (min(m.objectives[k] for m in front.members) for k in range(2))
    between = dataclasses.replace(first, objectives=(low, max(least // 50, 1)))
    others = (BaselinePoint("under", "Under", ("deadline",), member=between),)
    claim = BoundSummary(
        objectives=front.problem.objective_names,
        members=(0,),
        epsilon_ppm=990_000,
        region=((low // 100, None), (None, least // 100)),
        space="here",
        boxes=3,
        inequalities=5,
        seconds=0.5,
    )
    chart = draw_front(dataclasses.replace(front, baselines=others))
    assert chart.caption.startswith("Out of sight: Under* ")
    chart = draw_front(dataclasses.replace(front, baselines=others, bounds=claim))
    assert chart.caption == ""
    assert chart.y.low < between.objectives[1] / 1e12 < chart.y.high


def test_ink_reads_on_its_ground():
    assert ink_on("#000000") == "white"
    assert ink_on("#F0E442") != "white"


def test_pictures_need_no_home(tmp_path):
    """Matplotlib's advice on its own cache is for programmers."""
    program = (
        "from paretosoc.results.plots.style import picture_settings\nwith picture_settings(): 0"
    )
    home = {
        "HOME": "/proc/none",
        "XDG_CONFIG_HOME": "",
        "MPLCONFIGDIR": "",
        "TMPDIR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **home}, check=True, capture_output=True
    )
    assert not done.stderr
