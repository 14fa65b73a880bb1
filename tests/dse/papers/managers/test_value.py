"""Eq. 1 of MapFormer by hand."""

import numpy as np
import pytest

from paretosoc.dse.papers.estimator.predictor import Prediction
from paretosoc.dse.papers.managers.mapformer.la_mcts import Mode, tie_break, value_of


def prediction(throughput_class, power_class, power_w, throughput_hz=None):
    count = len(power_w)
    hertz = np.ones(count) if throughput_hz is None else np.array(throughput_hz)
    return Prediction(
        throughput_hz=hertz,
        power_w=np.array(power_w, dtype=float),
        throughput_class=np.array(throughput_class),
        power_class=np.array(power_class),
    )


@pytest.mark.parametrize(
    ("mode", "values"),
    [
        # classes (15, 15), (10, 2), (0, 0), (4, 12)
        ("HP", [15.0, 10.0, 0.0, 4.0]),
        ("PB", [6.0, 6.4, 0.0, -0.8]),
        ("SM", [0.0, 4.0, 0.0, -4.0]),
        ("PR", [-6.0, 1.6, 0.0, -7.2]),
    ],
)
def test_the_weighted_difference_of_classes(mode, values):
    said = prediction([15, 10, 0, 4], [15, 2, 0, 12], [30.0, 9.0, 5.0, 20.0])
    assert value_of(Mode(mode), said) == pytest.approx(values)
    assert Mode(mode).throughput_weight + Mode(mode).power_weight == pytest.approx(1.0)


def test_above_the_threshold_it_is_minus_infinity_and_on_it_not():
    said = prediction([15, 10, 3], [9, 5, 1], [10.001, 10.0, 6.0])
    value = value_of(Mode("PB"), said, 10.0)
    assert value[0] == -np.inf
    assert value[1:] == pytest.approx([5.5, 1.8])


def test_what_cannot_run_is_worth_nothing_without_a_threshold_too():
    said = prediction([15], [0], [np.inf], [0.0])
    assert value_of(Mode("HP"), said).tolist() == [-np.inf]
    with np.errstate(all="raise"):
        assert tie_break(Mode("HP"), said)[0] == -np.inf


def test_ties_go_to_more_throughput_and_less_power():
    said = prediction([3, 3, 3], [2, 2, 2], [10.0, 10.0, 8.0], [50.0, 60.0, 60.0])
    order = np.argsort(tie_break(Mode("SM"), said))
    assert order.tolist() == [0, 1, 2]
    assert tie_break(Mode("HP"), said)[1] == tie_break(Mode("HP"), said)[2]
