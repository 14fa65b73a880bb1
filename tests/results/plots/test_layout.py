"""Where text stands: ticks, wrapped words, labels beside points."""

import math
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.results.plots.chart import Axis, Chart
from paretosoc.results.plots.labels import flat_boxes, overlap, place_labels
from paretosoc.results.plots.picture import Text, text_size, wrapped


def test_ticks_are_round_numbers_that_keep_apart():
    def width(text):
        return text_size(text, 7.0)[0]

    for low, high, expected in (
        (0.0, 10.0, "0 2 4 6 8 10"),
        (6.9, 8.1, "7.0 7.2 7.4 7.6 7.8 8.0"),
        (123_455.9, 123_457.2, "123456.0 123456.5 123457.0"),
    ):
        ticks = Axis("", low, high).ticks(180.0, width)
        assert " ".join(text for _, text in ticks) == expected
        assert [value for value, _ in ticks] == pytest.approx([*map(float, expected.split())])
    log = Axis("", 0.003, 900.0, is_log=True)
    ticks = log.ticks(180.0, width)
    shown = [(value, text) for value, text in ticks if text]
    assert [text for _, text in shown] == ["0.01", "0.1", "1", "10", "100"]
    assert [value for value, _ in shown] == pytest.approx([0.01, 0.1, 1, 10, 100])
    assert len(ticks) > 40
    assert log.share(0.003) == 0
    assert log.share(900.0) == 1
    assert Axis("", 1.0, 100.0, is_log=True).share(10.0) == pytest.approx(0.5)
    for low, high in ((2.1, 2.9), (11.0, 19.0), (0.6, 2.9), (3.1, 15.0)):
        ticks = Axis("", low, high, is_log=True).ticks(180.0, width)
        assert sum(text != "" for _, text in ticks) >= 2


@pytest.mark.parametrize(
    ("low", "high", "is_log"),
    [(254.62, 254.87, False), (9464.37, 18928.74, False), (357267.0, 2.1e11, True)],
)
def test_no_number_leaves_the_page(low, high, is_log):
    x = Axis.over("Latency (ms)", [low, high], 0.12, is_log=is_log)
    picture = Chart(x, Axis("", 0.0, 1.0), ()).picture()
    texts = [part for part in picture.parts if isinstance(part, Text)]
    assert len(texts) > 8
    assert all(picture.page[0] <= text.box[0] < text.box[2] <= picture.page[2] for text in texts)


def test_infinite_figures_stand_at_the_end_of_the_axis():
    axis = Axis.over("Efficiency (images/J)", [400.0, math.inf, 3000.0], 0.12, is_log=True)
    assert 3000 < axis.high < 4000
    assert axis.share(math.inf) == 1
    assert axis.ticks(180.0, lambda text: text_size(text, 7.0)[0])
    assert math.isfinite(Axis.over("", [math.inf], 0.12).high)


def test_words_are_wrapped_and_keep_their_letters():
    for words in ("a few plain words on some lines", "n" * 90, "a " + "b" * 50):
        lines = wrapped(words, 7.0, 60.0).split("\n")
        assert len(lines) > 1
        assert all(text_size(line, 7.0)[0] <= 60 for line in lines)
        assert "".join(lines).replace(" ", "") == words.replace(" ", "")
    assert wrapped("short", 7.0, 60.0) == "short"


def test_letters_are_as_wide_as_in_the_font():
    """Places hold in pictures that matplotlib draws."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(family="DejaVu Sans", size=1000)
    for letter in map(chr, range(33, 127)):
        # With a letter on both sides, so that the width is that of the advance.
        ends = [TextPath((0, 0), word, prop=font).get_extents().x1 for word in (letter + "l", "l")]
        assert (ends[0] - ends[1]) / 1000 == pytest.approx(text_size(letter, 0.72)[0], abs=0.011)


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


def test_boxes_lie_between_corners():
    assert flat_boxes([(0, 5), (2, 5), (2, 1)]) == [(0, 5, 2, 5), (2, 1, 2, 5)]
