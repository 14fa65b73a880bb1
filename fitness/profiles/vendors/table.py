"""A vendor's table: times of whole networks, and a profile made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paretosoc.fitness.profiles.importing import Import
from paretosoc.fitness.profiles.layer_names import LayerNames
from paretosoc.fitness.profiles.measured_layers import ms_text
from paretosoc.fitness.profiles.profile_document import ms
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import exact_decimal

PS_PER_MS = 10**9
_PS_PER_S = 10**12


CATALOGUE_NAMES = {
    "mobilenetv210": "mobilenet_v2",
    "mobilenetv212": "mobilenet_v2",
    "regnet": "regnet_x_3_2gf",
    "resnet50v27": "resnet50",
    "resnetv118": "resnet18",
    "resnetv134": "resnet34",
    "resnetv150": "resnet50",
    "resnext101": "resnext101_32x8d",
    "resnext50": "resnext50_32x4d",
    "shufflenetv2": "shufflenet_v2_x0_5",
    "squeezenetv11": "squeezenet1_1",
    "swintiny": "swin_t",
    "vit": "vit_b_16",
    "vitbase": "vit_b_16",
    "wideresnet50": "wide_resnet50_2",
}
"""Vendors' names (as :func:`plain_name` spells them) of networks of the catalogue."""


@dataclass(frozen=True)
class Row:
    """One network of a table in one number format."""

    network: str
    precision: str
    time_ps: Fraction
    note: str = ""


@dataclass(frozen=True)
class VendorTable:
    """The usable rows of a table, and texts about rows that were left out, with reasons."""

    rows: tuple[Row, ...]
    flagged: tuple[str, ...]


def positive(text: str, what: str) -> Fraction:
    """Read a number above 0.

    Raises:
        PlatformError: if it is none. The message begins with ``what``.
    """
    try:
        value = Fraction(exact_decimal(text))
    except PlatformError as error:
        raise PlatformError(f"{what}: {error}") from None
    if value <= 0:
        raise PlatformError(f"{what}: must be above 0, got {text}")
    return value


def time_at_rate(text: str, what: str) -> Fraction:
    """Return the time of one image, in ps, at ``text`` images per second.

    Raises:
        PlatformError: if that is no number above 0.
    """
    return _PS_PER_S / positive(text, what)


def import_row(made: Import, row: Row, names: LayerNames, *, units: Sequence[str]) -> None:
    """Add a row: all layers of the network, measured together on each of ``units``."""
    figures: dict[str, dict[str, Any]] = {
        "ms": dict.fromkeys(units, ms(row.time_ps)),
        "notes": dict.fromkeys(units, row.note) if row.note else {},
    }
    made.add_part("layers", names.layers, figures)
    made.lines.append(f"{row.network}, {row.precision}: {ms_text(row.time_ps)}")
