"""Bars of the choices in the picture of a front: where they are, and what takes their place."""

from paretosoc.results.front.choices import choose
from paretosoc.results.plots.front import draw_front
from paretosoc.results.plots.picture import Text
from paretosoc.results.problem.objectives import Objective


def within(front, *shares):
    """Ends at these shares of each figure of the choices."""
    objectives = front.problem.objectives
    return {
        i: [
            (figure * (1 - share), figure * (1 + share))
            for figure, share in zip(
                map(Objective.shown, objectives, front.members[i].objectives), shares, strict=True
            )
        ]
        for i in choose(front).members
    }


def drawn(front, intervals):
    """Return the chart, the ends of its bars, and the caption."""
    chart = draw_front(front, intervals)
    segments = [item.points for item in chart.items if item.name == "nine of ten draws"]
    return chart, segments, chart.caption


def test_short_intervals_have_bars_that_no_name_hides(front):
    intervals = within(front, 0.01, 0.01)
    chart, segments, caption = drawn(front, intervals)
    ends = [
        [((x0, y), (x1, y)), ((x, y0), (x, y1))]
        for (x0, x1), (y0, y1) in (entry[:2] for entry in intervals.values())
        for x, y in [((x0 + x1) / 2, (y0 + y1) / 2)]
    ]
    expected = sorted(pair for pairs in ends for pair in pairs)
    assert len(segments) == len(expected) == 2 * len(intervals)
    for found, pair in zip(sorted(segments), expected, strict=True):
        for at, point in zip(found, pair, strict=True):
            assert all(abs(a - b) < 1e-9 * abs(b) for a, b in zip(at, point, strict=True))
    assert "nine of ten draws" in chart.legend
    assert "times as shown" not in caption
    x, y = chart.x, chart.y
    assert all(x.low < a < x.high and y.low < b < y.high for pair in segments for a, b in pair)
    names = [part.box for part in chart.over if isinstance(part, Text)]
    assert names
    for pair in segments:
        (x0, y0), (x1, y1) = map(chart.place, pair)
        for left, bottom, right, top in names:
            assert x1 <= left or x0 >= right or y1 <= bottom or y0 >= top


def test_words_take_the_place_of_bars_that_would_cross_all_others(front):
    _, segments, caption = drawn(front, within(front, 0.01, 0.9))
    assert len(segments) == len(choose(front).members)
    assert caption.startswith("In nine of ten draws of the costs: energy 0.10 to 1.90 times as")
    _, segments, caption = drawn(front, within(front, 0.9, 0.9))
    assert segments == []
    assert "latency 0.10 to 1.90, energy 0.10 to 1.90 times as shown." in caption
    assert drawn(front, None)[1:] == drawn(front, {})[1:]
    assert "draws" not in drawn(front, None)[2]


def test_pictures_with_bars_are_the_same_each_time(front):
    first, second = (draw_front(front, within(front, 0.01, 0.01)).picture().svg() for _ in "ab")
    assert first == second
    assert first != draw_front(front).picture().svg()
