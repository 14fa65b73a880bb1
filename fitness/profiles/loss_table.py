"""Accuracy losses of number formats, layer by layer: a user's table (CSV)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paretosoc.common.files import read_file
from paretosoc.common.text import did_you_mean
from paretosoc.fitness.calibration.csv_table import read_table
from paretosoc.platforms.errors import PlatformError
from paretosoc.results.problem.arithmetic import MAX_LOSS_PPM
from paretosoc.sdf.layer import Layer

COLUMNS = ("network", "layer", "format", "loss_ppm")
METRIC = "metric"
"""An optional column that names the metric of the loss."""
EVERY_LAYER = "*"
"""Instead of a layer's name: all that multiply and have no row of their own."""
REFERENCE = "fp32"
"""The format that losses are held against. Without rows it costs nothing."""


@dataclass(frozen=True)
class LossTable:
    """Losses in millionths of the metric, by network, number format and layer."""

    name: str
    """Name of the file."""
    sha256: str
    losses: Mapping[tuple[str, str], Mapping[str, int]]
    """(network, format) -> layer, or ``EVERY_LAYER``, -> loss."""
    metrics: Mapping[str, str]
    """Network -> metric of its losses, if the table gives it."""

    def metric_of(self, networks: Sequence[str]) -> str | None:
        """Return the metric of a network's losses, or None if the table does not say it.

        Args:
            networks: names that the network goes by in the table. The first that is there counts.
        """
        return next((self.metrics[name] for name in networks if name in self.metrics), None)

    def of_groups(
        self, networks: Sequence[str], number_format: str, groups: Sequence[Sequence[Layer]]
    ) -> tuple[int, ...]:
        """Return the loss of each group of layers: the sum over its layers.

        A row for every layer applies to layers that multiply. Any other layer without a row costs
        nothing if the network has rows for the format.

        Args:
            networks: as for :meth:`metric_of`.
            groups: layers.

        Raises:
            PlatformError: if the table has no row of the network for the format, or rows of
                layers that it does not have.
        """
        found = [
            self.losses[name, number_format]
            for name in networks
            if (name, number_format) in self.losses
        ]
        if not found:
            if number_format == REFERENCE:
                return (0,) * len(groups)
            named = " or ".join(map(repr, dict.fromkeys(networks)))
            have = [form for name, form in self.losses if name in networks]
            formats = ",".join(dict.fromkeys([*have, number_format]))
            raise PlatformError(
                f"{self.name}: has no row of network {named} in {number_format}; 'dse sensitivity "
                f"--format {formats}' measures it, or a row with the layer {EVERY_LAYER} is for "
                "all its layers that multiply"
            )
        rows = found[0]
        known = {layer.name for group in groups for layer in group}
        for layer, loss in rows.items():
            if loss and layer not in known and layer != EVERY_LAYER:
                hint = did_you_mean(layer, sorted(known), "")
                raise PlatformError(
                    f"{self.name}: network {networks[0]!r} has no layer {layer!r}"
                    + (hint and f" ({hint})")
                )
        every = rows.get(EVERY_LAYER, 0)
        return tuple(
            sum(rows.get(layer.name, every if layer.macs else 0) for layer in group)
            for group in groups
        )


def load_losses(path: str | Path) -> LossTable:
    """Read the table in a CSV file.

    It has the columns ``network``, ``layer``, ``format``, ``loss_ppm`` and optionally ``metric``,
    the metric of a network's losses. A loss is in millionths of the metric (10,000 is one percent).
    A gain, below 0, counts as 0, because sums of gains would promise more than any measurement
    shows.

    Raises:
        PlatformError: if the file cannot be read, has other columns, two metrics of a network,
            or a row that stands twice or has no number from -10^12 to 10^12. The message names the
            line.
    """
    path = Path(path)
    losses: dict[tuple[str, str], dict[str, int]] = {}
    metrics: dict[str, str] = {}
    for key, layer, loss, metric, where in _rows(path):
        rows = losses.setdefault(key, {})
        if metrics.setdefault(key[0], metric) != metric:
            raise PlatformError(
                f"{where}: metric must be the same in all rows of network {key[0]!r}, got "
                f"{metric!r} after {metrics[key[0]]!r}"
            )
        if layer in rows:
            raise PlatformError(f"{where}: {', '.join((*key, layer))} stands twice")
        rows[layer] = max(loss, 0)
    digest = hashlib.sha256(read_file(path, PlatformError)).hexdigest()
    named = {network: metric for network, metric in metrics.items() if metric}
    return LossTable(path.name, digest, losses, named)


def _rows(path: Path) -> Iterator[tuple[tuple[str, str], str, int, str, str]]:
    for row in read_table(path, (*COLUMNS, METRIC), optional=(METRIC,)):
        for column in COLUMNS:
            if not row.cells[column]:
                raise PlatformError(f"{row.where}: {column} must not be empty")
        text = row.cells["loss_ppm"]
        try:
            loss = round(float(text))
        except (ValueError, OverflowError):
            loss = MAX_LOSS_PPM + 1
        if abs(loss) > MAX_LOSS_PPM:
            raise PlatformError(
                f"{row.where}: loss_ppm must be a number from -10^12 to 10^12, got {text!r}"
            )
        key = row.cells["network"], row.cells["format"].lower()
        yield key, row.cells["layer"], loss, row.cells[METRIC], row.where
