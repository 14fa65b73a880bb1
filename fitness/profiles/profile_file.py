"""Files of a user's own: times, demands, powers and transitions at named clocks, and accuracy
losses of number formats, layer by layer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paretosoc.common.files import read_file
from paretosoc.common.options import as_written
from paretosoc.common.plugins import Registry
from paretosoc.common.text import did_you_mean
from paretosoc.fitness.calibration.csv_table import read_table
from paretosoc.fitness.calibration.dvfs_profile import ClockProfile, check_unit, read_clock_profile
from paretosoc.fitness.cost_model.tables import NetworkCosts
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import check_against_schema, parse_exact
from paretosoc.platforms.io.measurement_file import read_figures, read_network_profile
from paretosoc.platforms.io.platform_file import MAX_BYTES
from paretosoc.platforms.platform import Platform
from paretosoc.platforms.source import Comparison, NetworkProfile
from paretosoc.results.problem.arithmetic import MAX_LOSS_PPM
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.layer import Layer

CostModel = Callable[[GroupedNetwork, Platform, NetworkCosts], NetworkCosts]
"""Returns the costs of a network's groups on a platform, given those that the program has for them.
"""
COST_MODELS: Registry[CostModel] = Registry(
    "paretosoc.cost_models",
    "a cost model",
    callable,
    "a function of a network, a platform and its costs",
    error=PlatformError,
)


@dataclass(frozen=True)
class Profile:
    """Measurements that override estimates and calibrations."""

    networks: tuple[NetworkProfile, ...]
    sha256: str
    """Digest of the file's bytes."""
    models: tuple[ClockProfile, ...] = ()
    board_mw: int | None = None
    """Replaces the platform's board power, unless None."""
    cost_model: CostModel | None = None
    """Changes the costs of all networks, unless None."""
    name: str = ""
    """Name of the cost model."""
    comparisons: tuple[Comparison, ...] = ()
    """What estimates of other networks learn from."""


def load_profile(path: str | Path, platform: Platform) -> Profile:
    """Return the profile in a JSON file under ``platforms/data/profile.schema.json``, or the cost
    model that an installed package registered under this name.

    Raises:
        PlatformError: if the file cannot be read, does not fit the schema, or names a platform,
            unit or clock other than those of ``platform`` (it names the place), or the cost model
            cannot be imported.
    """
    name = str(path)
    if not Path(path).exists() and name in COST_MODELS.names():
        model = COST_MODELS.get(name, as_written("profile"))
        return Profile((), hashlib.sha256(name.encode()).hexdigest(), cost_model=model, name=name)
    return read_profile(read_file(path, PlatformError, MAX_BYTES), platform, str(path))


def read_profile(data: bytes, platform: Platform, label: str) -> Profile:
    """Read a profile from the bytes of its file. Messages start with ``label``."""
    document = parse_exact(data, label)
    check_against_schema(document, "profile", label)
    if document["platform"] != platform.name:
        raise PlatformError(
            f"{label}: platform must be the platform in use ({platform.name!r}), "
            f"got {document['platform']!r}"
        )
    try:
        networks = tuple(
            read_network_profile(
                record,
                platform.domain_by_name,
                platform.unit_by_name,
                platform.memory,
                f"networks[{index}]",
            )
            for index, record in enumerate(document.get("networks", ()))
        )
        models = tuple(
            read_clock_profile(record, platform, f"models[{index}]")
            for index, record in enumerate(document.get("models", ()))
        )
        comparisons = tuple(
            _comparison(record, platform, f"comparisons[{index}]")
            for index, record in enumerate(document.get("comparisons", ()))
        )
    except PlatformError as error:
        raise PlatformError(f"{label}: {error}") from None
    board = document.get("board_mw")
    return Profile(
        networks,
        hashlib.sha256(data).hexdigest(),
        models,
        None if board is None else int(board),
        comparisons=comparisons,
    )


def _comparison(record: Mapping[str, Any], platform: Platform, where: str) -> Comparison:
    found = read_figures(Comparison, record, where)
    check_unit(found.unit, platform, where)
    return found


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

        Raises:
            PlatformError: if the table has no row of the network for the format, or rows of
                layers that it does not have.
        """
        found = [
            self.losses[name, number_format] for name in networks if self._has(name, number_format)
        ]
        if not found:
            if number_format == REFERENCE:
                return (0,) * len(groups)
            raise PlatformError(
                f"{self.name}: has no row of network {networks[0]!r} in {number_format}; a row "
                f"with the layer {EVERY_LAYER} is for all its layers that multiply"
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

    def _has(self, network: str, number_format: str) -> bool:
        return (network, number_format) in self.losses


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
