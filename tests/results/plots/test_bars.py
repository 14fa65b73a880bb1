"""Bars of the choices in the picture of a front: where they are, and what takes their place."""

from matplotlib.collections import LineCollection
from matplotlib.text import Text

from paretosoc.results.front.choices import choose
from paretosoc.results.plots.front import draw_front, front_pictures
from paretosoc.results.plots.style import picture_settings
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
    """Return the segments of the bars, the caption, and the boxes of names, in dots."""
    with picture_settings():
        figure = draw_front(front, intervals)
    axes = figure.axes[0]
    lines = [c for c in axes.collections if isinstance(c, LineCollection)]
    segments = [s.tolist() for line in lines for s in line.get_segments()]
    caption = "" if figure._supxlabel is None else figure._supxlabel.get_text().replace("\n", " ")
    return axes, segments, caption


def test_short_intervals_have_bars_that_no_name_hides(front):
    intervals = within(front, 0.01, 0.01)
    axes, segments, caption = drawn(front, intervals)
    ends = [
        [[[x0, y], [x1, y]], [[x, y0], [x, y1]]]
        for (x0, x1), (y0, y1) in (entry[:2] for entry in intervals.values())
        for x, y in [((x0 + x1) / 2, (y0 + y1) / 2)]
    ]
    expected = sorted(pair for pairs in ends for pair in pairs)
    assert len(segments) == len(expected) == 2 * len(intervals)
    for found, pair in zip(sorted(segments), expected, strict=True):
        for at, point in zip(found, pair, strict=True):
            assert all(abs(a - b) < 1e-9 * abs(b) for a, b in zip(at, point, strict=True))
    assert "nine of ten draws" in [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert "times as shown" not in caption
    left, right, bottom, top = *axes.get_xlim(), *axes.get_ylim()
    assert all(left < x < right and bottom < y < top for pair in segments for x, y in pair)
    # Without the lines that lead from the names to their points.
    names = [Text.get_window_extent(text) for text in axes.texts]
    assert names
    for pair in segments:
        (x0, y0), (x1, y1) = axes.transData.transform(pair).tolist()
        for box in names:
            assert x1 <= box.x0 or x0 >= box.x1 or y1 <= box.y0 or y0 >= box.y1


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
    first, second = (
        front_pictures(front, ".svg", intervals=within(front, 0.01, 0.01)) for _ in "ab"
    )
    assert first == second
    assert first != front_pictures(front, ".svg")
