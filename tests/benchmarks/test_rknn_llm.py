"""Language models on Rockchip's NPUs: the rows, laws whose constants are known, limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.validation.published import read_set
from benchmarks.validation.rknn_llm import (
    FIRST,
    IN_CATALOGUE,
    JOINT,
    LAWS,
    MEMORY,
    MIB,
    ONE,
    RATE,
    RK3588,
    SET,
    TWO,
    predicted,
    rockchip_llm,
    runs,
)
from benchmarks.validation.scores import score

GROUPS = runs()
LIMITS = {RATE: 0.2, FIRST: 0.2, MEMORY: 0.1}
"""Of the median."""


def law(quantity: str, fitted: str, place: int = -1):
    return [law for law in LAWS if (law.quantity, law.fitted) == (quantity, fitted)][place]


def test_every_row_is_a_model_of_the_catalogue_or_has_a_reason():
    rows = read_set("rknn_llm").rows
    assert len(rows) == 87
    left_out = {row["model"] for row in rows if (row["model"], row["size"]) not in IN_CATALOGUE}
    assert left_out == {"RWKV7", "Gemma3n", "Gemma4", "DeepSeekOCR", "Qwen3.5"}
    assert [len(group) for group in GROUPS] == [3, 11, 11, 11, 12, 3, 3, 3]


def test_memory_holds_the_matrices_but_not_the_embedding_and_counts_in_mib():
    """What 8 bits take more than 4 is half of the weights."""
    memory = {
        (row["chip"], row["model"], row["size"], row["format"]): row["memory"]
        for row in read_set("rknn_llm").rows
    }
    errors = []
    for group in GROUPS:
        for run in group:
            key = next(key for key, name in IN_CATALOGUE.items() if name == run.model.name)
            for chip in ("rk3576", "rv1126b"):
                wide, narrow = (memory.get((chip, *key, form)) for form in ("w8a8", "w4a16"))
                if wide and narrow:
                    half = (run.model.layer_weights + run.model.table) / 2 / MIB
                    errors.append((float(wide) - float(narrow)) / half - 1)
    assert abs(np.median(errors)) < 0.01
    assert np.abs(errors).max() < 0.05


def test_laws_find_the_constants_that_made_the_runs():
    (group,) = (group for group in GROUPS if len(group) == 12)
    made = [
        replace(
            run,
            rate=1 / (run.token_bytes / 28e9 + 2e-4 * run.model.layers),
            first_ms=run.model.macs(run.prompt) / 5e8 + 0.3 * run.model.layers,
            memory_mib=run.kept_bytes / MIB + 130,
        )
        for run in group
    ]
    for one in (law(RATE, TWO), law(FIRST, TWO), law(MEMORY, ONE)):
        found = predicted(one, made)
        assert found.predicted == pytest.approx(found.measured, rel=1e-9)
        assert len(found.measured) == len(group) - len(one.used(group))
    # One constant cannot follow a time per layer: the smallest model comes out too fast.
    found = predicted(law(RATE, ONE), made)
    assert found.predicted[0] > 1.2 * found.measured[0]


def test_what_is_held_out_is_not_seen():
    group = GROUPS[4]
    for one in LAWS:
        used = one.used(group)
        changed = [
            run
            if place in used
            else replace(run, rate=9 * run.rate, first_ms=1.0, memory_mib=2 * run.memory_mib)
            for place, run in enumerate(group)
        ]
        assert (predicted(one, group).predicted == predicted(one, changed).predicted).all()


@pytest.fixture(scope="module")
def scores():
    return {(one.data, one.fitted, one.law): score(one) for one in rockchip_llm()}


def test_medians_are_within_the_limits_and_better_than_by_parameter_count(scores):
    def of(one):
        return scores[f"{SET}, {one.quantity}", one.fitted, one.name]

    assert {(f"{SET}, {one.quantity}", one.fitted, one.name) for one in LAWS} <= set(scores)
    for quantity, limit in LIMITS.items():
        assert of(law(quantity, ONE)).median < min(limit, of(law(quantity, ONE, 0)).median)
    assert of(law(RATE, TWO)).worst < 0.15


def test_the_platform_of_joined_cores_predicts_ten_models(scores):
    assert all(run.bits == 8 for run in GROUPS[RK3588])
    rate, first = (one for one in scores.values() if JOINT in one.fitted)
    assert (rate.points, first.points) == (10, 10)
    assert rate.median < 0.05
    assert first.median < 0.2
