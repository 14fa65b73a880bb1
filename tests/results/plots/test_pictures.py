"""Pictures: the same bytes each time, what stands in them, and where labels go."""

import dataclasses
import math
import os
import subprocess
import sys
from collections import Counter
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import write_results
from paretosoc.results.front.choices import choose
from paretosoc.results.front.front import BaselinePoint, BoundSummary
from paretosoc.results.plots.front import MARKERS, draw_front, front_pictures
from paretosoc.results.plots.gantt import draw_gantts, gantt_picture
from paretosoc.results.plots.labels import overlap, place_labels, staircase_boxes
from paretosoc.results.plots.style import GREY, INK, ink_on, picture_settings
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, format_number
from paretosoc.results.text.member_diff import conversion_count
from tests.support.fresh_process import outputs

PNG = b"\x89PNG\r\n\x1a\n"
PRINT_HASHES = """
import hashlib, sys
from pathlib import Path
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.plots.front import front_pictures
front = read_results(Path(sys.argv[1]))
pictures = front_pictures(front, ".svg", ".png").values()
print(*(hashlib.sha256(picture).hexdigest() for picture in pictures))
"""


def all_texts(figure):
    from matplotlib.text import Text

    return " | ".join(text.get_text() for text in figure.findobj(Text) if text.get_text())


def test_front_pictures_are_the_same_in_a_fresh_process(front, tmp_path):
    write_results(tmp_path / "run", front, pictures=False)
    assert len(outputs(PRINT_HASHES, tmp_path / "run")) == 1


def test_more_kinds_than_forms_leave_the_legend_whole(front, monkeypatch):
    """What has no form of its own has no line in the legend either."""
    kinds = [f"kind {i}" for i in range(len(MARKERS) + 2)]
    members = tuple(front.members[i % len(front.members)] for i in range(len(kinds)))
    monkeypatch.setattr("paretosoc.results.plots.front._kinds", lambda _: kinds)
    every = choose(dataclasses.replace(front, members=members), 0)
    monkeypatch.setattr("paretosoc.results.plots.front.choose", lambda _: every)
    others = (BaselinePoint("one", "One", member=front.members[0]),)
    with picture_settings():
        figure = draw_front(dataclasses.replace(front, members=members, baselines=others))
    (legend,) = figure.legends
    faces = {
        text.get_text(): handle.get_facecolor()[0]
        for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True)
    }
    assert len(faces) == 1 + len(MARKERS)
    assert faces.pop("other methods")[:3].max() < 0.9
    assert all(face[:3].min() == 1.0 for face in faces.values())
    assert {float(h.get_linewidth()[0]) for h in legend.legend_handles[1:]} == {0.6}


@pytest.mark.usefixtures("drawing")
def test_files_are_pictures(front, three_objective_front, tmp_path, scheduled):
    write_results(tmp_path / "run", front)
    pictures = front_pictures(front, ".svg", ".png")
    for suffix, picture in pictures.items():
        assert (tmp_path / "run" / f"front{suffix}").read_bytes() == picture
    assert pictures[".png"].startswith(PNG)
    for picture in (pictures[".svg"], front_pictures(three_objective_front, ".svg")[".svg"]):
        assert ElementTree.fromstring(picture).tag.endswith("svg")
        assert b"<dc:date>" not in picture
    shown = scheduled(front.problem, front.members[0])
    assert gantt_picture(shown, ".png").startswith(PNG)
    assert gantt_picture(shown, ".svg") == gantt_picture(shown, ".svg")


def test_front_names_axes_marks_and_clocks(front, three_objective_front):
    with picture_settings():
        words = all_texts(draw_front(front))
        for word in ("Latency (ms)", "Energy (mJ)", "fastest", "lowest energy", "clock (MHz)"):
            assert word in words
        words = all_texts(draw_front(three_objective_front))
        assert "latency of resnet50 at most " in words


def test_a_third_objective_is_drawn_as_levels(three_objective_front):
    """Each staircase has members that no other member within its level beats in both axes, and
    every choice is a dot."""
    problem = three_objective_front.problem
    with picture_settings():
        (axes,) = draw_front(three_objective_front).axes
    lines = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
    assert 1 < len(lines) <= 5
    points = [
        tuple(map(Objective.shown, problem.objectives, member.objectives))
        for member in three_objective_front.members
    ]
    limits = []
    for line in lines:
        limit = float(line.get_label().split(" at most ")[1].split()[0])
        limits.append(limit)
        within = [point[:2] for point in points if point[2] <= limit * 1.001]
        drawn = set(zip(*line.get_data(), strict=True))
        for x, y in drawn:
            assert not any(a <= x and b <= y and (a, b) != (x, y) for a, b in within)
        beaten_by_none = {
            (x, y)
            for x, y in within
            if not any(a <= x and b <= y and (a, b) != (x, y) for a, b in within)
        }
        assert drawn == beaten_by_none
    assert limits == sorted(limits)
    (dots,) = axes.collections
    assert len(dots.get_offsets()) == len(choose(three_objective_front).entries)


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
    with picture_settings():
        figure = draw_front(dataclasses.replace(front, baselines=others))
    written = [text for text in figure.axes[0].texts if text.get_text().startswith("Method")]
    caption = figure._supxlabel.get_text().replace("\n", " ")
    assert caption.startswith("Crosses without a name: ")
    assert 0 < len(written) < len(others)
    beside = {text.get_text() for text in written}
    for point in others:
        latency, energy = (
            format_number(v / s) for v, s in zip(point.member.objectives, (1e9, 1e12), strict=True)
        )
        figures = f"{point.label} {latency} ms, {energy} mJ"
        assert (point.label in beside) is not (figures in caption)
    for text in written:
        box = text.get_window_extent()
        x, y = figure.axes[0].transData.transform(text.xy)
        away = max(box.x0 - x, x - box.x1, 0), max(box.y0 - y, y - box.y1, 0)
        assert math.hypot(*away) < 50


def test_a_title_longer_than_its_axis_is_wrapped(front):
    names = [dataclasses.replace(network, name="n" * 40) for network in front.problem.networks]
    objectives = (Objective(ObjectiveKind.ENERGY), Objective(ObjectiveKind.LATENCY, 0))
    problem = dataclasses.replace(front.problem, networks=tuple(names), objectives=objectives)
    with picture_settings():
        figure = draw_front(dataclasses.replace(front, problem=problem))
        axes = figure.axes[0]
        assert "\n" in axes.get_ylabel()
        title = axes.yaxis.label.get_window_extent()
        assert title.height <= axes.get_window_extent().height


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
    with picture_settings():
        figure = draw_front(weak)
        assert "proved: none below (within 158.20 %, a weak bound)" in all_texts(figure)
        FigureCanvasAgg(figure).draw()
        (legend,) = figure.legends
        assert legend.get_window_extent().x1 <= figure.bbox.x1


def test_the_proved_region_is_shaded_up_to_its_bounds(front):
    with picture_settings():
        figure = draw_front(bounded(front))
        assert "proved: none below (within 11.20 %)" in all_texts(figure)
        shade = next(part for part in figure.axes[0].collections if len(part.get_paths()) == 1)
        left = min(m.objectives[0] for m in front.members) * 0.9 / 1e9
        inside = shade.get_paths()[0].contains_points
        least = min(m.objectives[1] for m in front.members) * 0.9 / 1e12
        assert inside([(left * 0.999, 1.02 * least), (left * 1.1, least * 0.999)]).all()
        assert not inside([(left * 1.001, least * 1.001)]).any()
        assert "proved" not in all_texts(draw_front(front))


def test_rates_are_drawn_as_rates(front):
    objectives = (Objective(ObjectiveKind.THROUGHPUT), Objective(ObjectiveKind.ENERGY))
    problem = dataclasses.replace(front.problem, objectives=objectives)
    with picture_settings():
        figure = draw_front(dataclasses.replace(front, problem=problem))
    (line,) = figure.axes[0].get_lines()
    rates = [1e12 / member.objectives[0] for member in front.members]
    assert sorted(rates) == pytest.approx(list(line.get_xdata()))
    assert "Throughput (images/s)" in all_texts(figure)


def test_a_single_member_and_too_little(front):
    with picture_settings():
        draw_front(dataclasses.replace(front, members=front.members[:1]))
    with pytest.raises(ResultError, match="needs a member"):
        front_pictures(dataclasses.replace(front, members=()), ".svg")


@pytest.mark.usefixtures("drawing")
def test_a_folder_with_two_pictures_has_drawn_one(front, tmp_path, monkeypatch):
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    counts = Counter()

    def count(owner, name):
        original = getattr(owner, name)

        def counted(*arguments, **options):
            counts[name] += 1
            return original(*arguments, **options)

        monkeypatch.setattr(owner, name, counted)

    count(Figure, "__init__")
    count(Figure, "draw")
    count(ConstrainedLayoutEngine, "execute")
    write_results(tmp_path / "run", front)
    assert counts == {"__init__": 1, "execute": 1, "draw": 2}


def test_conversions_are_no_transitions(problem, make_members, scheduled, as_formats):
    """Grey arrows between two number formats of a unit, named in the legend."""
    seen = Counter()
    for member in make_members(problem, 6):
        shown = as_formats(scheduled(problem, member))
        units = member.design.units.tolist()
        moves = [{units[a], units[b]} for a, b in problem.edges if units[a] != units[b]]
        conversions = sum(move == {1, 2} for move in moves)
        figure = draw_gantts([("", shown)])
        arrows = [text.arrowprops for text in figure.axes[0].texts if not text.get_text()]
        colours = Counter(arrow["color"] for arrow in arrows)
        assert colours[GREY] == conversions
        assert colours[INK] == len(moves) - conversions
        legend = {text.get_text() for text in figure.legends[0].get_texts()}
        assert ("conversion" in legend) == (conversions > 0)
        assert ("transition" in legend) == (len(moves) > conversions)
        assert conversion_count(shown.problem, member) == conversions
        seen += colours
    assert min(seen[GREY], seen[INK]) > 0


def test_gantt_draws_every_execution_and_transition(front, scheduled):
    problem = front.problem
    for member in front.members:
        with picture_settings():
            shown = scheduled(problem, member)
            axes = draw_gantts([("", shown)]).axes[0]
        units = member.design.units
        moves = sum(bool(units[a] != units[b]) for a, b in problem.edges)
        numbers = [text for text in axes.texts if text.get_text()]
        assert len(axes.texts) - len(numbers) == moves
        for line in axes.lines:
            # A move that waits for its unit: the line ends where an execution there begins.
            starts = [row.start_ps / 1e9 for row in shown.schedule.groups]
            assert min(abs(start - line.get_xdata()[1]) for start in starts) < 1e-9
        widths = sum(bar.get_width() for bar in axes.patches if bar.get_fill())
        busy = sum(row.end_ps - row.start_ps for row in shown.schedule.groups)
        assert widths == pytest.approx(busy / 1e9)


@settings(deadline=None, derandomize=True)
@given(
    st.tuples(st.floats(0, 200), st.floats(0, 100)),
    st.lists(st.tuples(st.floats(0, 200), st.floats(0, 100)), max_size=5),
)
def test_labels_stay_inside_and_do_not_cover_each_other_where_room_is(point, others):
    frame = (0.0, 0.0, 200.0, 100.0)
    obstacles = [((x, y, x, y), 1.0) for x, y in others]
    first, second = place_labels([point, point], [(30.0, 10.0)] * 2, frame, obstacles)
    assert not overlap(first.box, second.box)
    for box in (first.box, second.box):
        assert 0 <= box[0] <= box[2] <= 200
        assert 0 <= box[1] <= box[3] <= 100


def test_labels_rather_hide_points_than_each_other():
    frame = (0.0, 0.0, 300.0, 200.0)
    crowd = [((x, y, x + 6.0, y + 6.0), 3.0) for x in range(0, 300, 8) for y in range(0, 200, 8)]
    points = [(100.0 + 9 * i, 100.0) for i in range(5)]
    placements = place_labels(points, [(60.0, 12.0)] * 5, frame, crowd)
    for a, b in combinations(placements, 2):
        assert not overlap(a.box, b.box)


def test_methods_far_away_are_named_below(front):
    far = dataclasses.replace(
        front.members[0], objectives=tuple(9 * value for value in front.members[0].objectives)
    )
    others = (
        BaselinePoint("near", "Near", member=front.members[0]),
        BaselinePoint("far", "Far", ("deadline",), member=far),
    )
    with picture_settings():
        figure = draw_front(dataclasses.replace(front, baselines=others))
    caption = figure.get_supxlabel()
    latency = format_number(far.objectives[0] / 1e9)
    assert caption.startswith(f"Out of sight: Far* {latency} ms, ")
    assert caption.endswith(". * breaks a limit")
    assert "Near" not in caption


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
    with picture_settings():
        figure = draw_front(dataclasses.replace(front, baselines=others))
        assert figure.get_supxlabel().startswith("Out of sight: Under* ")
        figure = draw_front(dataclasses.replace(front, baselines=others, bounds=claim))
    assert figure.get_supxlabel() == ""
    (bottom, top), y = figure.axes[0].get_ylim(), between.objectives[1] / 1e12
    assert bottom < y < top


def test_an_early_label_makes_room_for_a_later_ones_line():
    # The knee's and the lowest energy member's points and labels of the demo: the second label has
    # no place but above the first one's, unless that moves.
    points, size = [(174.0, 70.0), (264.0, 56.0)], (92.0, 23.0)
    frame = (48.0, 40.0, 287.0, 204.0)
    steps = [((x, 56.0, x + 6.0, 68.0), 3.0) for x in range(174, 264, 8)]
    knee, min_energy = place_labels(points, [size, size], frame, steps)
    end = (
        min_energy.box[0] + min_energy.nearest[0] * size[0],
        min_energy.box[1] + min_energy.nearest[1] * size[1],
    )
    line = [
        tuple(a + (b - a) * k / 100 for a, b in zip(points[1], end, strict=True))
        for k in range(101)
    ]
    assert not any(overlap((*dot, *dot), knee.box) for dot in line)
    assert not overlap(knee.box, min_energy.box)


def test_staircase_goes_through_the_corners():
    assert staircase_boxes([(0, 5), (2, 1)], down_last=True) == [(0, 5, 2, 5), (2, 1, 2, 5)]
    assert staircase_boxes([(0, 1), (2, 5)], down_last=False) == [(0, 1, 0, 5), (0, 5, 2, 5)]


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
