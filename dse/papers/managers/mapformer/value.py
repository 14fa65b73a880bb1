"""The value of a mapping (MapFormer Eq. 1): throughput class against power class, under a cap."""

from __future__ import annotations

from enum import Enum

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.dse.papers.estimator.predictor import Prediction


class Mode(Enum):
    """MapFormer's modes of operation (5.2), with the weights of Eq. 1. Values are names for
    ``--mode``."""

    HIGH_PERFORMANCE = ("HP", 1.0, 0.0)
    PERFORMANCE_BOOST = ("PB", 0.7, 0.3)
    STANDARD = ("SM", 0.5, 0.5)
    POWER_REDUCE = ("PR", 0.3, 0.7)

    throughput_weight: float
    """W_T"""
    power_weight: float
    """W_P"""

    def __new__(cls, name: str, throughput_weight: float, power_weight: float) -> Mode:
        """Return the mode of a name, which is its value."""
        mode = object.__new__(cls)
        mode._value_ = name
        mode.throughput_weight, mode.power_weight = throughput_weight, power_weight
        return mode


DEFAULT_MODE = Mode.PERFORMANCE_BOOST
"""The default of the paper after 5.2."""


def value_of(mode: Mode, prediction: Prediction, threshold_w: float = np.inf) -> FloatArray:
    """Return [n]: V = W_T * T - W_P * P, to be maximised, minus infinity above the threshold (Eq.
    1).

    T and P are the predicted classes, 0 to 15: the text calls V "the weighted difference between
    the predicted throughput class and the predicted power consumption class". The printed equation
    has one more factor, w_2, before W_P, which the paper does not define. The text, Fig. 4 and the
    modes know two weights only, so w_2 is taken for a remnant of an older name of W_P, and is 1.

    The threshold is compared with the predicted power in watts, the centre of its class if a
    predictor classifies: classes are too coarse to be a limit (10 and 15 W may share one).
    """
    difference = (
        mode.throughput_weight * prediction.throughput_class
        - mode.power_weight * prediction.power_class
    )
    value: FloatArray = np.where(prediction.power_w <= threshold_w, difference, -np.inf)
    return np.where(prediction.throughput_hz > 0.0, value, -np.inf)


def tie_break(mode: Mode, prediction: Prediction) -> FloatArray:
    """Return [n]: a rank among rows of the same value, to be maximised: W_T * log T - W_P * log P.

    The paper has nothing of the kind. With a predictor that classifies, rows of the same two
    classes stay tied. One that predicts more precisely breaks the tie.
    """
    with np.errstate(divide="ignore"):
        rate, power = np.log(prediction.throughput_hz), np.log(prediction.power_w)
    cost = mode.power_weight * power if mode.power_weight else np.zeros_like(power)
    return mode.throughput_weight * rate - cost
