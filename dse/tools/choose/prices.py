"""Prices of boards, a YAML or JSON file under ``dse/inputs/data/prices.schema.json``."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from paretosoc.common.text import did_you_mean
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.documents import parse_input, read_input


def load_prices(path: str | Path, boards: Collection[str]) -> tuple[str, dict[str, float]]:
    """Return the currency and the price of each board.

    Args:
        boards: names that there are.

    Raises:
        WorkloadError: if it cannot be read, does not fit the schema, or names another board.
    """
    file = os.fspath(path)
    document = parse_input(read_input(path), file, "prices")
    for name in document["boards"]:
        if name not in boards:
            raise WorkloadError(
                f"{file}: there is no board {name!r} ({did_you_mean(name, boards)})"
            )
    prices = {name: float(price) for name, price in document["boards"].items()}
    return document.get("currency", ""), prices
