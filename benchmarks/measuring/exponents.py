"""By how much the exponents of a network's time over clocks are off, in published grids."""

from __future__ import annotations

import numpy as np

from benchmarks.harness.report import Column, Value, show
from benchmarks.validation.clock_sets import (
    BATCHES,
    BOARDS_NETWORK,
    TX2_NETWORKS,
    board_subjects,
    estimated_ps,
    tx2_subjects,
)
from benchmarks.validation.protocols import by_estimate
from paretosoc.common.arrays import FloatArray
from paretosoc.common.units import ONE_OF_TWO

COLUMNS = (
    Column("data", "times of"),
    Column("points", "points", "d"),
    Column("gpu", "GPU's exponent", "+.3f"),
    Column("memory", "memory's exponent", "+.3f"),
    Column("rest", "rest", ".1%"),
)

_TX2_GPU = "jetson-tx2", "gpu", "fp32"


def exponents(*, as_json: bool, as_markdown: bool) -> None:
    """Print a row for each grid: errors of the estimate, scaled to one run at the fastest clocks,
    fitted by a power of each slowdown, and what is left."""
    rows = [*_memory_grids(), *_gpu_grids()]
    sizes = [
        abs(float(str(row[key])))
        for row in rows
        for key in ("gpu", "memory")
        if row[key] is not None
    ]
    middle = float(np.median(sizes))
    show(
        "Errors of exponents",
        COLUMNS,
        rows,
        as_json=as_json,
        as_markdown=as_markdown,
        notes=[
            f"{len(sizes)} exponents, median {middle:.3f}: a scale of {middle / ONE_OF_TWO:.3f} of "
            "Student's t."
        ],
    )


def _row(name: str, slower: FloatArray, errors: FloatArray) -> dict[str, Value]:
    fit = np.linalg.lstsq(slower, errors, rcond=None)[0]
    return {
        "data": name,
        "points": len(errors),
        "gpu": float(fit[0]),
        "memory": float(fit[1]) if len(fit) > 1 else None,
        "rest": float(np.std(errors - slower @ fit)),
    }


def _memory_grids() -> list[dict[str, Value]]:
    rows = []
    for subject in tx2_subjects():
        found = by_estimate("", "", _TX2_GPU, [(subject, TX2_NETWORKS[subject.name])])[-1]
        kept = np.arange(len(subject.measured_ms)) != subject.fastest
        slower = np.log(np.stack([subject.clocks.own, subject.clocks.memory], axis=1))[kept]
        errors = np.log(found.predicted / found.measured)
        rows.append(_row(f"{subject.name} on jetson-tx2", slower, errors))
    return rows


def _gpu_grids() -> list[dict[str, Value]]:
    rows = []
    for board, batches in BATCHES.items():
        for batch in batches:
            ((subject, _),) = board_subjects({board: (batch,)})
            times = estimated_ps(f"jetson-{board}", "gpu", BOARDS_NETWORK, subject, batch, "fp32")
            errors = np.log(times / times[subject.fastest])
            errors -= np.log(subject.measured_ms / subject.measured_ms[subject.fastest])
            slower = np.log(subject.clocks.own)[:, None]
            kept = slower[:, 0] > 0
            rows.append(_row(f"batch {batch} on jetson-{board}", slower[kept], errors[kept]))
    return rows
