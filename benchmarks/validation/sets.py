"""Every set of published measurements, by its name on the command line."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.validation.batch_sets import batches
from benchmarks.validation.clock_sets import (
    cpu_clocks,
    dla_modes,
    gpu_clocks,
    nano_grid,
    tang,
    tx2_grid,
)
from benchmarks.validation.co_run_sets import alone, co_runs, named_units, new_families, repeats
from benchmarks.validation.energy_sets import board_power, gpu_energy
from benchmarks.validation.qai_llm import snapdragon_llm
from benchmarks.validation.rknn_llm import rockchip_llm
from benchmarks.validation.scores import Comparison

SETS: dict[str, Callable[[], list[Comparison]]] = {
    "tx2-grid": tx2_grid,
    "nano-grid": nano_grid,
    "tang": tang,
    "gpu-clocks": gpu_clocks,
    "batches": batches,
    "cpu-clocks": cpu_clocks,
    "gpu-energy": gpu_energy,
    "board-power": board_power,
    "dla-modes": dla_modes,
    "alone": alone,
    "new-families": new_families,
    "co-runs": co_runs,
    "named-units": named_units,
    "repeats": repeats,
    "rknn-llm": rockchip_llm,
    "qai-llm": snapdragon_llm,
}
"""In the order of the page."""


def comparisons(only: str | None = None) -> list[Comparison]:
    """Return all sets, or one of :data:`SETS`."""
    names = SETS if only is None else (only,)
    return [comparison for name in names for comparison in SETS[name]()]
