"""Fitted figures as text of platform files, which are written by hand otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Any

from benchmarks.fit_costs.fit import Figures
from benchmarks.fit_costs.samples import ELEMENT_KINDS, KEYS, Entry
from paretosoc.fitness.cost_model.roofline import ELEMENTS
from paretosoc.platforms.platform import FitError, Tile

FOLDER = Path(str(resources.files("paretosoc.platforms.data")))


def peak_figures(
    figures: Figures, tile: Tile, elements: Sequence[str], error: FitError | None
) -> dict[str, Any]:
    """Return the fitted keys of a peak, rounded to three digits."""
    efficiency = zip(KEYS, (_short(float(value)) for value in figures.efficiency), strict=True)
    found: dict[str, Any] = {
        "efficiency": {
            key: value
            for key, value in efficiency
            if key in elements or key not in (ELEMENTS, *ELEMENT_KINDS)
        }
    }
    if tile != Tile():
        own = {key: value for key, value in asdict(tile).items() if value != getattr(Tile, key)}
        found["tile"] = {key: float(v) if isinstance(v, Fraction) else v for key, v in own.items()}
    found["bandwidth_share"] = _short(figures.share)
    found["us_per_layer"] = round(figures.us_per_layer, 1)
    if figures.us_per_network:
        found["us_per_network"] = round(figures.us_per_network)
    if error is not None:
        found["error"] = {
            "networks": error.networks,
            "median_percent": round(float(error.median_percent), 1),
            "p90_percent": round(float(error.p90_percent), 1),
            **(
                {}
                if error.constant_percent is None
                else {"constant_percent": round(float(error.constant_percent), 1)}
            ),
            "unit_percent": round(float(error.unit_percent), 1),
            "network_percent": round(float(error.network_percent), 1),
        }
    return found


def _short(value: float) -> float:
    return float(f"{value:.3g}")


def states_peak(entry: Entry) -> bool:
    """Return whether a platform's file states a peak, and has it from no file or unit that it
    extends."""
    return _peak_span(_path(entry[0]).read_text("utf-8"), entry) is not None


def write_peak(entry: Entry, figures: dict[str, Any], text: str, status: str) -> None:
    """Write the figures of a peak into its platform's file, which states it.

    ``text`` replaces the source's text about efficiencies.
    """
    path = _path(entry[0])
    content = path.read_text("utf-8")
    span = _peak_span(content, entry)
    assert span is not None, "the file states the peak"
    peak = json.loads(content[span[0] : span[1]])
    before = re.split(r"\s*(?:Efficienc|That was|Twice FP32's rate\. Eff)", peak.pop("source", ""))[
        0
    ]
    peak.pop("status", None)
    set_by_hand = {k: v for k, v in peak.get("efficiency", {}).items() if k not in KEYS}
    for key in ("efficiency", "tile", "bandwidth_share", "us_per_layer", "us_per_network", "error"):
        peak.pop(key, None)
    peak |= figures | {"efficiency": figures["efficiency"] | set_by_hand}
    peak["source"], peak["status"] = f"{before} {text}".strip(), status
    lines = ",\n".join(
        f"     {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in peak.items()
    )
    path.write_text(f"{content[: span[0]]}{{\n{lines}\n    }}{content[span[1] :]}", "utf-8")


def platform_extends(name: str) -> str | None:
    """Return the platform that a file extends."""
    extended: str | None = json.loads(_path(name).read_text("utf-8")).get("extends")
    return extended


def _path(platform: str) -> Path:
    return FOLDER / f"{platform}.json"


def _peak_span(content: str, entry: Entry) -> tuple[int, int] | None:
    """Return the first and the last place of the text of a peak."""
    _, unit, precision = entry
    units = re.search(r'^ "units": \[', content, re.MULTILINE)
    if units is None:
        return None
    named = re.compile(rf'^   "name": "{re.escape(unit)}",', re.MULTILINE).search(
        content, units.end()
    )
    if named is None:
        return None
    following = re.compile(r"^  \}", re.MULTILINE).search(content, named.end())
    assert following is not None, "a unit ends"
    start = re.compile(
        rf'^    (\{{)\n     "precision": "{re.escape(precision)}"', re.MULTILINE
    ).search(content, named.end(), following.start())
    if start is None:
        return None
    end = re.compile(r"^    (\})", re.MULTILINE).search(content, start.end())
    assert end is not None, "a peak ends"
    return start.start(1), end.end(1)
