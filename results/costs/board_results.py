"""``results.json`` of a board: measured stretches of networks, as ``measure.py`` writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from paretosoc.common.documents.marks import Items, Sha256
from paretosoc.results.costs.cost_origins import CostMeasurement
from paretosoc.results.io.document import Document


@dataclass(frozen=True)
class BoardResults:
    """Times and powers that a board showed in the experiments of ``dse measure next``."""

    problem_sha256: Sha256
    """SHA-256 of the bytes of problem.json."""
    plan_sha256: Sha256
    """content_sha256 of plan.json."""
    measured: Annotated[tuple[CostMeasurement, ...], Items(1)]
    failed: tuple[str, ...] = ()
    """Experiments that could not be run, and why."""


MEASUREMENTS = Document(
    "measurements",
    BoardResults,
    "results.json: what a board showed in the experiments of 'dse measure next'",
    is_signed=True,
)
