"""Figures of one and several results: all that is in the fronts is drawn, in every format."""

import dataclasses
from itertools import combinations, pairwise

import pytest

from paretosoc.results.errors import ResultError
from paretosoc.results.plots.chart import Curve
from paretosoc.results.plots.energy import draw_energy
from paretosoc.results.plots.front import draw_front
from paretosoc.results.plots.fronts import draw_convergence, draw_fronts
from paretosoc.results.plots.gantt import draw_gantts
from paretosoc.results.plots.style import PICTURE_MAKERS, picture_settings, use_log_scale
from paretosoc.results.problem.execution import ChannelUse, ClosedForm, IdleTime
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.text.member_diff import REST, energy_parts_fj

HEADS = {".svg": b"<?xml", ".pdf": b"%PDF", ".png": b"\x89PNG"}


def offsets(axes):
    return [tuple(row) for points in axes.collections for row in points.get_offsets().tolist()]


def test_every_format_is_the_same_each_time(front):
    assert set(PICTURE_MAKERS) == set(HEADS)
    for suffix, make in PICTURE_MAKERS.items():
        pictures = []
        for _ in range(2):
            with picture_settings():
                pictures.append(make(draw_convergence([("one", front)])))
        assert pictures[0] == pictures[1]
        assert pictures[0].startswith(HEADS[suffix])


def test_fronts_side_by_side_hold_every_member(front, make_front, make_problem):
    other = make_front(make_problem(seed=1))
    with picture_settings():
        figure = draw_fronts([("one", front), ("two", other)])
    (axes,) = figure.axes
    expected = [
        (member.makespan_ps / 1e9, member.energy_fj / 1e12)
        for which in (front, other)
        for member in which.members
    ]
    drawn = offsets(axes)
    assert [x for x, _ in drawn] == pytest.approx([x for x, _ in expected])
    assert [y for _, y in drawn] == pytest.approx([y for _, y in expected])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "two"]


def test_fronts_with_several_t_name_it_in_the_legend_and_one_t_on_the_axis(front):
    period, by_sum = (
        dataclasses.replace(
            front,
            problem=dataclasses.replace(
                front.problem, execution=ClosedForm(ChannelUse.BETWEEN_UNITS, time)
            ),
        )
        for time in IdleTime
    )
    with picture_settings():
        both = draw_fronts([("one", period), ("two", by_sum)])
        same = draw_fronts([("one", by_sum), ("two", by_sum)])
    assert both.axes[0].get_ylabel() == "Energy (mJ)"
    names = [text.get_text() for text in both.legends[0].get_texts()]
    assert names == ["one, T = period", "two, T = sum of loads"]
    assert same.axes[0].get_ylabel() == "Energy (mJ, T = sum of loads)"
    assert [text.get_text() for text in same.legends[0].get_texts()] == ["one", "two"]


def test_objectives_in_another_order_are_matched(front):
    problem = dataclasses.replace(front.problem, objectives=front.problem.objectives[::-1])
    members = tuple(
        dataclasses.replace(member, objectives=member.objectives[::-1])
        for member in front.members[::-1]
    )
    turned = dataclasses.replace(front, problem=problem, members=members)
    with picture_settings():
        axes = draw_fronts([("one", front), ("two", turned)]).axes[0]
    one, two = (points.get_offsets().tolist() for points in axes.collections)
    assert one == two[::-1]


def test_three_objectives_have_a_panel_for_each_pair(three_objective_front):
    with picture_settings():
        figure = draw_fronts([("one", three_objective_front)] * 2)
    assert [(a.get_xlabel(), a.get_ylabel()) for a in figure.axes] == [
        ("Latency (ms)", "Energy (mJ)"),
        ("Latency (ms)", "Latency of resnet50 (ms)"),
        ("Energy (mJ)", "Latency of resnet50 (ms)"),
    ]


def test_other_objectives_and_empty_fronts_are_refused(front, three_objective_front):
    words = (
        "two: must have the objectives latency, energy, got latency, energy, latency of resnet50"
    )
    with pytest.raises(ResultError, match=f"^{words}$"):
        draw_fronts([("one", front), ("two", three_objective_front)])
    with pytest.raises(ResultError, match="two: the front is empty"):
        draw_fronts([("one", front), ("two", dataclasses.replace(front, members=()))])
    bare = dataclasses.replace(front.provenance, convergence=())
    with pytest.raises(ResultError, match="one: the search recorded no"):
        draw_convergence([("one", dataclasses.replace(front, provenance=bare))])


def test_parts_of_the_energy_add_up(front):
    members = [("a", front.problem, front.members[0]), ("b", front.problem, front.members[-1])]
    with picture_settings():
        (axes,) = draw_energy(members).axes
    for row, (_, problem, member) in enumerate(members):
        parts = energy_parts_fj(problem, member)
        assert sum(parts.values()) == member.energy_fj
        assert list(parts) == [*(unit.name for unit in problem.units), REST]
        middle = [
            bar for bar in axes.patches if abs(bar.get_y() + bar.get_height() / 2 - row) < 0.1
        ]
        assert sum(bar.get_width() for bar in middle) == pytest.approx(member.energy_fj / 1e12)


@pytest.mark.parametrize("title", ["a", "a rather long label of a result, with AGX Xavier, knee"])
def test_numbers_of_the_energy_keep_apart(front, title):
    """A part has its number if it is as wide."""
    problem = dataclasses.replace(
        front.problem,
        units=tuple(
            dataclasses.replace(unit, name=f"{unit.name} of a long name")
            for unit in front.problem.units
        ),
    )
    with picture_settings():
        figure = draw_energy([(title, problem, member) for member in front.members])
        figure.draw_without_rendering()
        (axes,) = figure.axes
        boxes = [text.get_window_extent() for text in axes.texts]
        page, within = figure.bbox, axes.get_window_extent()
    assert len(front.members) < len(boxes)
    assert within.width > 0.3 * page.width
    assert all(box.x1 <= page.x1 for box in boxes)
    for a, b in combinations(boxes, 2):
        assert not a.overlaps(b)


LONG = (
    "a rather long label for the first of them, with AGX Xavier",
    "n" * 62,
    " ".join(["a label longer than the page is wide"] * 6),
)


@pytest.mark.parametrize("name", LONG)
def test_no_legend_or_title_is_cut(front, scheduled, name):
    names = [f"{name} {k}" for k in range(3)]
    members = front.members[:3]
    networks, units = (
        dataclasses.replace(
            front.problem,
            **{
                field: tuple(
                    dataclasses.replace(each, name=name + each.name)
                    for each in getattr(front.problem, field)
                )
            },
        )
        for field in ("networks", "units")
    )
    with picture_settings():
        figures = [
            draw_fronts([(title, front) for title in names]),
            draw_convergence([(title, front) for title in names]),
            draw_energy([("a", units, member) for member in members]),
            draw_gantts([(name, scheduled(networks, members[0]))]),
        ]
        for figure in figures:
            figure.draw_without_rendering()
            (legend,) = figure.legends
            box, page = legend.get_window_extent(), figure.bbox
            assert 0 <= box.x0 < box.x1 <= page.x1
            assert page.y1 >= box.y1
            for axes in figure.axes:
                assert axes.get_tightbbox().x1 <= page.x1
                assert axes.get_tightbbox().y1 <= box.y0
                assert axes.get_window_extent().height > 0.3 * figure.dpi


def test_schedules_share_one_time(front, scheduled):
    members = [
        ("a", scheduled(front.problem, front.members[0])),
        ("b", scheduled(front.problem, front.members[-1])),
    ]
    with picture_settings():
        axes = draw_gantts(members).axes
    assert len({a.get_xlim() for a in axes}) == 1
    assert [a.get_title(loc="left") for a in axes] == ["a", "b"]
    for a, (_, shown) in zip(axes, members, strict=True):
        busy = sum(row.end_ps - row.start_ps for row in shown.schedule.groups)
        widths = sum(bar.get_width() for bar in a.patches if bar.get_fill())
        assert widths == pytest.approx(busy / 1e9)


def test_convergence_is_in_per_cent_of_the_last(front):
    points = front.provenance.convergence
    end = points[-1].evaluations + 500  # The search went on after its last growth.
    source = dataclasses.replace(front.provenance, evaluations=end)
    longer = dataclasses.replace(front, provenance=source)
    with picture_settings():
        (axes,) = draw_convergence([("one", longer), ("two", longer)]).axes
    for line in axes.get_lines():
        assert list(line.get_xdata()) == [*(point.evaluations for point in points), end]
        assert list(line.get_ydata()) == [
            *(100 * point.hypervolume for point in points),
            100 * points[-1].hypervolume,
        ]


@pytest.mark.parametrize("evaluations", [2_500, 99_000, 300_000, 1_000_000])
def test_labels_of_design_points_keep_apart(front, evaluations):
    source = dataclasses.replace(front.provenance, evaluations=evaluations)
    with picture_settings():
        figure = draw_convergence([("one", dataclasses.replace(front, provenance=source))])
        figure.draw_without_rendering()
    labels = [label for label in figure.axes[0].get_xticklabels() if label.get_text()]
    assert len(labels) > 2
    assert ("k" in labels[-1].get_text()) == (evaluations > 10_000)
    boxes = [label.get_window_extent() for label in labels]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


@pytest.mark.parametrize("first", [ObjectiveKind.LATENCY, ObjectiveKind.THROUGHPUT])
def test_the_step_between_two_members_is_the_worse_of_both(front, first):
    """Of a front of latency and energy it lies above both, of throughput and energy as well, but
    where the lower throughput is."""
    objectives = (Objective(first), Objective(ObjectiveKind.ENERGY))
    shown = dataclasses.replace(
        front, problem=dataclasses.replace(front.problem, objectives=objectives)
    )
    (line,) = (item for item in draw_front(shown).items if isinstance(item, Curve))
    points, corners = line.points[::2], line.points[1::2]
    worse = max if first is ObjectiveKind.LATENCY else min
    assert len(points) > 3
    assert points == sorted(points)
    assert corners == [
        (worse(x, other_x), max(y, other_y)) for (x, y), (other_x, other_y) in pairwise(points)
    ]


HOSTILE = ("$x_$", r"$\frac$", "网络 $", "\N{PILE OF POO}", "a^b_c")


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_drawn_as_they_are(front, name, scheduled):
    """Neither a formula nor a letter that the font lacks is an error or a warning."""
    network, *others = front.problem.networks
    problem = dataclasses.replace(
        front.problem, networks=(dataclasses.replace(network, name=name), *others)
    )
    front = dataclasses.replace(front, problem=problem)
    with picture_settings():
        fronts, gantt = (
            draw_fronts([(name, front)]),
            draw_gantts([(name, scheduled(problem, front.members[0]))]),
        )
        for make in PICTURE_MAKERS.values():
            for figure in (fronts, gantt, draw_front(front).picture()):
                assert make(figure)
    assert [text.get_text() for text in fronts.legends[0].get_texts()] == [name]
    assert gantt.axes[0].get_title(loc="left") == name


def test_a_wide_axis_has_plain_numbers():
    from matplotlib.figure import Figure

    with picture_settings():
        figure = Figure()
        axes = figure.add_subplot()
        use_log_scale(axes.yaxis)
        axes.plot([1, 2], [0.003, 900])
        png = PICTURE_MAKERS[".png"](figure)
    shown = [text.get_text() for text in axes.yaxis.get_ticklabels(which="both")]
    assert png.startswith(HEADS[".png"])
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "log")
    assert {"0.01", "0.1", "1", "10", "100"} <= set(shown)
    assert not any("$" in text for text in shown)
