"""Published energies and powers over GPU clocks."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.accuracy.board_power import compare
from benchmarks.validation.clock_sets import BATCHES, board_subjects
from benchmarks.validation.laws import NAIVE, NORM, SUM, Subject, fitted
from benchmarks.validation.protocols import held_out_of
from benchmarks.validation.scores import Comparison, joined
from paretosoc.common.arrays import FloatArray
from paretosoc.fitness.calibration.dvfs import DEFAULT_NOISE
from paretosoc.fitness.calibration.least_squares import Task, fit
from paretosoc.fitness.cost_model.dvfs_forms import PowerForm, power_mw, power_parameters, time_ms

GPU_ENERGY = "Xavier, Xavier NX, Nano, GPU clocks, energy"


def gpu_energy() -> list[Comparison]:
    """Compare energies at batch 1: time by a law, power by static + own f/f0, both at the same four
    clocks."""
    found = []
    for law in (NAIVE, SUM, NORM):
        parts = []
        for subject, energy in board_subjects(dict.fromkeys(BATCHES, (1,))):
            power = 1000 * energy / subject.measured_ms
            times = time_ms(fitted(law, subject, subject.used), subject.clocks)
            if law is NAIVE:
                watts = np.full(len(power), power[subject.fastest])
            else:
                task = Task(
                    power_parameters(PowerForm.VOLTAGE, hosted=False),
                    partial(_power, subject),
                    power[list(subject.used)],
                    subject.name,
                )
                values = fit(task, noise=DEFAULT_NOISE, resamples=0).values
                watts = power_mw(values, subject.clocks, PowerForm.VOLTAGE, {})
            parts.append((subject, times * watts / 1000, energy))
        found.append(
            joined(
                [
                    held_out_of(
                        GPU_ENERGY, "4 clocks of each board", law, "mJ", s, predicted, energy
                    )
                    for s, predicted, energy in parts
                ]
            )
        )
    return found


def _power(subject: Subject, values: dict[str, float]) -> FloatArray:
    return power_mw(values, subject.at(subject.used), PowerForm.VOLTAGE, {})


def board_power() -> list[Comparison]:
    """Compare the power model of the Xavier's file (benchmarks.accuracy.board_power)."""
    rows = compare()
    measured = np.array([row.measured_w for row in rows])
    fitted_to = "other batches' power, this one's speed"
    data = "Xavier, GPU clocks, board power"
    return [
        Comparison(data, fitted_to, "constant", "W", np.full(len(rows), measured[-1]), measured),
        Comparison(
            data,
            fitted_to,
            "platform file",
            "W",
            np.array([row.predicted_w for row in rows]),
            measured,
        ),
    ]
