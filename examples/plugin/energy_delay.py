"""An objective: energy times delay."""

from __future__ import annotations

import paretosoc as dse

ENERGY_DELAY = dse.OwnObjective(
    "energy-delay",
    of=("latency", "energy"),
    compute=lambda latency_ms, energy_mj: latency_ms * energy_mj,
    unit="mJ ms",
    meaning="energy of a frame times its latency",
    monotone=True,
)
