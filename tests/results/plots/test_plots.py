"""Figures of one and several results: all that is in the fronts is drawn, in every format."""

import dataclasses
from itertools import combinations, pairwise

import pytest

from paretosoc.results.errors import ResultError
from paretosoc.results.plots.energy import draw_energy
from paretosoc.results.plots.front import draw_front
from paretosoc.results.plots.fronts import draw_convergence, draw_fronts
from paretosoc.results.plots.gantt import draw_gantts
from paretosoc.results.plots.items import FORMS, Curve, Marks
from paretosoc.results.plots.labels import overlap
from paretosoc.results.plots.picture import Text
from paretosoc.results.plots.style import PICTURE_MAKERS
from paretosoc.results.problem.execution import ChannelUse, ClosedForm, IdleTime
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.text.member_diff import REST, energy_parts_fj

HEADS = {".svg": b"<svg", ".pdf": b"%PDF", ".png": b"\x89PNG"}


def of_type(kind, chart):
    return [item for item in chart.items if isinstance(item, kind)]


def words_of(picture):
    return [part.words for part in picture.parts if isinstance(part, Text)]


def bars_of(chart):
    """Left, low, right and top of each."""
    bars = [item for item in of_type(Curve, chart) if item.fill != "none" and item.points]
    return [(*item.points[0], *item.points[2]) for item in bars]


def test_every_format_is_the_same_each_time(front):
    assert set(PICTURE_MAKERS) == set(HEADS)
    for suffix, make in PICTURE_MAKERS.items():
        pictures = [make(draw_convergence([("one", front)]).picture()) for _ in range(2)]
        assert pictures[0] == pictures[1]
        assert pictures[0].startswith(HEADS[suffix])


def test_fronts_side_by_side_hold_every_member(front, make_front, make_problem):
    other = make_front(make_problem(seed=1))
    ((chart,),) = draw_fronts([("one", front), ("two", other)]).rows
    expected = [
        (member.makespan_ps / 1e9, member.energy_fj / 1e12)
        for which in (front, other)
        for member in which.members
    ]
    drawn = [point for marks in of_type(Marks, chart) for point in marks.points]
    assert [x for x, _ in drawn] == pytest.approx([x for x, _ in expected])
    assert [y for _, y in drawn] == pytest.approx([y for _, y in expected])
    assert list(chart.legend) == ["one", "two"]


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
    ((both,),) = draw_fronts([("one", period), ("two", by_sum)]).rows
    ((same,),) = draw_fronts([("one", by_sum), ("two", by_sum)]).rows
    assert both.y.title == "Energy (mJ)"
    assert list(both.legend) == ["one, T = period", "two, T = sum of loads"]
    assert same.y.title == "Energy (mJ, T = sum of loads)"
    assert list(same.legend) == ["one", "two"]


def test_objectives_in_another_order_are_matched(front):
    problem = dataclasses.replace(front.problem, objectives=front.problem.objectives[::-1])
    members = tuple(
        dataclasses.replace(member, objectives=member.objectives[::-1])
        for member in front.members[::-1]
    )
    turned = dataclasses.replace(front, problem=problem, members=members)
    ((chart,),) = draw_fronts([("one", front), ("two", turned)]).rows
    one, two = (marks.points for marks in of_type(Marks, chart))
    assert one == two[::-1]


def test_three_objectives_have_a_panel_for_each_pair(three_objective_front):
    (row,) = draw_fronts([("one", three_objective_front)] * 2).rows
    assert [(chart.x.title, chart.y.title) for chart in row] == [
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
    bars = bars_of(draw_energy(members))
    for row, (_, problem, member) in enumerate(members):
        parts = energy_parts_fj(problem, member)
        assert sum(parts.values()) == member.energy_fj
        assert list(parts) == [*(unit.name for unit in problem.units), REST]
        found = [right - left for left, low, right, top in bars if low < -row < top]
        assert sum(found) == pytest.approx(member.energy_fj / 1e12)


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
    chart = draw_energy([(title, problem, member) for member in front.members])
    numbers = of_type(Text, chart)
    boxes = [dataclasses.replace(text, at=chart.place(text.at)).box for text in numbers]
    assert len(front.members) < len(boxes)
    _, _, right, _ = chart.frame
    assert right > 0.3 * chart.width
    assert all(box[2] <= right for box in boxes)
    for a, b in combinations(boxes, 2):
        assert not overlap(a, b)


def test_energy_without_powers_is_refused(front):
    member = dataclasses.replace(
        front.members[0], energy_fj=0, energy_by_unit_fj=(0,) * len(front.problem.units)
    )
    with pytest.raises(ResultError, match="needs powers"):
        draw_energy([("a", front.problem, member)])


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
    for drawn in (
        draw_fronts([(title, front) for title in names]),
        draw_convergence([(title, front) for title in names]),
        draw_energy([("a", units, member) for member in members]),
        draw_gantts([(name, scheduled(networks, members[0]))] * 2),
        draw_gantts([(name, scheduled(units, members[0]))]),
    ):
        picture = drawn.picture()
        left, low, right, top = picture.page
        boxes = [part.box for part in picture.parts if isinstance(part, Text)]
        for box in boxes:
            assert left <= box[0]
            assert low <= box[1]
            assert box[2] <= right
            assert box[3] <= top
        for a, b in combinations(boxes, 2):
            assert not overlap(a, b)
        for chart in (each for row in getattr(drawn, "rows", [[drawn]]) for each in row):
            assert chart.frame[2] > 0.3 * chart.width
            assert chart.height > 30


def test_schedules_share_one_time(front, scheduled):
    members = [
        ("a", scheduled(front.problem, front.members[0])),
        ("b", scheduled(front.problem, front.members[-1])),
    ]
    chart = draw_gantts(members)
    titles = {text.words: text.at[1] for text in of_type(Text, chart) if text.words in "ab"}
    assert list(titles) == ["a", "b"]
    first = [bar for bar in bars_of(chart) if bar[1] > titles["b"]]
    for bars, (_, shown) in zip((first, bars_of(chart)[len(first) :]), members, strict=True):
        busy = sum(row.end_ps - row.start_ps for row in shown.schedule.groups)
        assert sum(bar[2] - bar[0] for bar in bars) == pytest.approx(busy / 1e9)


def test_convergence_is_in_per_cent_of_the_last(front):
    points = front.provenance.convergence
    end = points[-1].evaluations + 500  # The search went on after its last growth.
    source = dataclasses.replace(front.provenance, evaluations=end)
    longer = dataclasses.replace(front, provenance=source)
    chart = draw_convergence([("one", longer), ("two", longer)])
    assert list(chart.legend) == ["one", "two"]
    for line in chart.items:
        assert line.points[::2] == [
            *((point.evaluations, 100 * point.hypervolume) for point in points),
            (end, 100 * points[-1].hypervolume),
        ]
        # In between it stays as it was.
        assert [y for _, y in line.points[1::2]] == [y for _, y in line.points[:-1:2]]


@pytest.mark.parametrize("evaluations", [2_500, 99_000, 300_000, 1_000_000])
def test_labels_of_design_points_are_in_thousands_if_they_are_long(front, evaluations):
    source = dataclasses.replace(front.provenance, evaluations=evaluations)
    chart = draw_convergence([("one", dataclasses.replace(front, provenance=source))])
    assert ("Thousands" in chart.x.title) == (evaluations > 10_000)
    last = max(x for item in chart.items for x, _ in item.points)
    assert last == (evaluations / 1000 if evaluations > 10_000 else evaluations)
    assert chart.x.low == 0
    assert last <= chart.x.high < 1.1 * last


@pytest.mark.parametrize("first", [ObjectiveKind.LATENCY, ObjectiveKind.THROUGHPUT])
def test_the_step_between_two_members_is_the_worse_of_both(front, first):
    """Of a front of latency and energy it lies above both, of throughput and energy as well, but
    where the lower throughput is."""
    objectives = (Objective(first), Objective(ObjectiveKind.ENERGY))
    shown = dataclasses.replace(
        front, problem=dataclasses.replace(front.problem, objectives=objectives)
    )
    (line,) = of_type(Curve, draw_front(shown))
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
    fronts = draw_fronts([(name, front)]).picture()
    gantt = draw_gantts([(name, scheduled(problem, front.members[0]))]).picture()
    for make in PICTURE_MAKERS.values():
        for picture in (fronts, gantt, draw_front(front).picture()):
            assert make(picture)
    assert name in words_of(fronts)
    assert words_of(gantt).count(name) == 2


@pytest.mark.parametrize("numbers", [(0.003, 900.0), (0.02, 5e3)])
def test_axes_of_fronts_are_logarithmic_if_values_are_far_apart(front, numbers):
    """By the numbers that stand there."""
    first, *others = front.members
    far = tuple(
        round(ratio * value) for ratio, value in zip(numbers, first.objectives, strict=True)
    )
    members = (dataclasses.replace(first, objectives=far), *others)
    ((chart,),) = draw_fronts([("one", dataclasses.replace(front, members=members))]).rows
    assert chart.x.is_log
    assert chart.y.is_log
    texts = [text for _, text in chart.x.ticks(300.0, lambda text: 8.0 * len(text)) if text]
    assert all(float(b) / float(a) > 1.9 for a, b in pairwise(texts))


def test_marks_without_a_colour_are_closed():
    for form in FORMS:
        (shape,) = Marks([(0.0, 0.0)], form).shapes([(5.0, 5.0)])
        assert shape.fill == "none"
        assert shape.points[0] == shape.points[-1]
