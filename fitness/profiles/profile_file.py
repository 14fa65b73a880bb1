"""A user's own measurements: times, demands, powers and transitions at named clocks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paretosoc.common.files import naming, read_file
from paretosoc.common.options import as_written
from paretosoc.common.plugins import Registry
from paretosoc.fitness.calibration.dvfs_profile import ClockProfile, read_clock_profile
from paretosoc.fitness.cost_model.tables import NetworkCosts
from paretosoc.fitness.profiles.alike_units import alike_units, of_alike, units_of
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import check_against_schema, parse_exact
from paretosoc.platforms.io.measurement_file import (
    read_figures,
    read_network_profile,
    require_known,
)
from paretosoc.platforms.io.platform_file import MAX_BYTES
from paretosoc.platforms.measurement import Comparison, NetworkProfile, plain_name
from paretosoc.platforms.platform import Platform
from paretosoc.sdf.grouping.groups import GroupedNetwork

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
    """What estimates of other networks learn from. Units that are described alike share them."""


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
    board = document["platform"]
    if board not in (platform.name, platform.board_name):
        raise PlatformError(
            f"{label}: platform must be the platform in use ({platform.name!r}), got {board!r}"
        )
    # Measurements with all processors of a unit say nothing of fewer.
    reduced = frozenset[str]() if board == platform.name else platform.reduced_units
    with naming(label, PlatformError):
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
        for unit in sorted(reduced & units_of(*networks, *models, *comparisons)):
            raise PlatformError(
                f"{unit} was measured with all its processors, of which {platform.name} has fewer: "
                f"measurements in this power mode are required"
            )
    by_network: dict[tuple[str, str], list[Comparison]] = {}
    for one in comparisons:
        by_network.setdefault((plain_name(one.network), one.precision), []).append(one)
    board_mw = document.get("board_mw")
    return Profile(
        networks,
        hashlib.sha256(data).hexdigest(),
        models,
        None if board_mw is None else int(board_mw),
        comparisons=tuple(
            one
            for same in by_network.values()
            for one in of_alike(same, alike_units(platform, units_of(*same)))
        ),
    )


def _comparison(record: Mapping[str, Any], platform: Platform, where: str) -> Comparison:
    found = read_figures(Comparison, record, where)
    require_known(found.unit, platform.unit_by_name, "a unit", f"{where}.unit")
    return found
