"""A profile that is made of another tool's measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paretosoc.fitness.profiles.layer_names import LayerNames
from paretosoc.fitness.profiles.measured_layers import LayerTime, combined
from paretosoc.fitness.profiles.profile_document import (
    Document,
    Subject,
    add_part,
    ms,
    new_document,
)
from paretosoc.platforms.platform import Platform
from paretosoc.sdf.grouping.groups import GroupedNetwork


@dataclass
class Import:
    """A profile of one network that an importer fills, with a report for the user."""

    network: GroupedNetwork
    platform: Platform
    subject: Subject
    source: str
    """Origin of the measurements, recorded with them."""
    lines: list[str] = field(default_factory=list)
    """Sentences about what the import has found."""
    flagged: list[str] = field(default_factory=list)
    """Sentences about each part that was left out, with the reason."""
    document: Document = field(init=False)

    def __post_init__(self) -> None:
        self.document = new_document(self.platform, self.subject, self.source)

    @property
    def record(self) -> Document:
        """Return the document's part with the network."""
        record: Document = self.document["networks"][0]
        return record

    def add_part(
        self, key: str, names: Sequence[str], figures: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Add figures (:func:`fitness.profiles.profile_document.add_part`)."""
        add_part(self.record, key, names, figures)

    def add_layer_times(
        self,
        names: LayerNames,
        units: Sequence[str],
        profiles: Sequence[Sequence[LayerTime]],
        *,
        subtract: bool,
    ) -> None:
        """Add the layer times of several profiles on each of ``units``.

        :func:`fitness.profiles.measured_layers.combined` combines the profiles.
        """
        sets, flagged = combined(profiles, subtract=subtract)
        for item in sorted(sets, key=lambda item: names.place(item.layers)):
            figures: dict[str, dict[str, Any]] = {
                "ms": dict.fromkeys(units, ms(item.time_ps)),
                "notes": dict.fromkeys(units, item.note) if item.note else {},
            }
            self.add_part("layers", names.in_order(item.layers), figures)
        self.flagged += flagged
