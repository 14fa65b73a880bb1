"""Settings of one run of a campaign."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from paretosoc.dse.workload.fields import split
from paretosoc.dse.workload.options import FIELDS, FILES, Options
from paretosoc.dse.workload.read_options import by_owner

Choice = str | int | bool | None


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings of one exploration: texts as on the command line, None for options not given.

    ``networks``: names, ``.onnx`` files or copies, or one workload file, with paths as seen from
    here. Numbers of physical quantities are exact decimal texts.
    """

    networks: tuple[str, ...]
    platform: str
    objectives: str = "latency, energy"
    power_cap_w: str | None = None
    energy_budget_mj: str | None = None
    deadline_ms: str | None = None
    tolerance: str | None = None
    deadline_95_ms: str | None = None
    max_jitter_ms: str | None = None
    max_misses: str | None = None
    min_rate_hz: str | None = None
    frames_per_second: str | None = None
    max_transitions: int | str | None = None
    groups: int | str | None = None
    units: str | None = None
    runtime: str | None = None
    fixed: str | None = None
    precision: str | None = None
    free_running: bool | None = None
    frames_in_flight: int | None = None
    profile: str | None = None
    losses: str | None = None
    variants: str | None = None
    dimensions: str | None = None
    batch: str | None = None
    max_accuracy_loss_percent: str | None = None
    memory_cap_mb: str | None = None
    engine: str = "nsga2"
    max_evaluations: int = 20_000
    seed: int = 0
    prove: bool = False

    def to_document(self) -> dict[str, Any]:
        """Return JSON content, without options that were not given."""
        document = {
            key: value
            for key, value in asdict(self).items()
            if value is not None and value is not False
        }
        return {**document, "networks": list(self.networks)}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> RunSettings:
        """Return the settings from the content of :meth:`to_document`."""
        return cls(**{**document, "networks": tuple(document["networks"])})


PLACES = ("first", "second", "third", "fourth")
"""The networks of a workload, one by one."""

RUN_FIELDS = ("name", "workload", "status")
"""Fields of a run that are no settings."""

FILE_FIELDS = FILES | {"platform"}
"""Fields whose values are files, of which runs have the last part in their names."""

SEARCH_FIELDS = frozenset({"engine", "max_evaluations", "seed", "prove"})
"""Fields that the numeric problem does not depend on."""

DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(RunSettings)}


def problem_key(settings: RunSettings) -> str:
    """Return a key that is equal for runs of one numeric problem."""
    chosen = settings.to_document()
    return repr(sorted((k, v) for k, v in chosen.items() if k not in SEARCH_FIELDS))


def options_of(settings: RunSettings) -> Options:
    """Return the options of an exploration.

    Raises:
        WorkloadError: on a text that means nothing.
    """
    values = {
        name: field.parse_key(getattr(settings, name), name)
        for name, field in FIELDS.items()
        if field.axis and name not in {"fixed", *FILES} and getattr(settings, name) is not None
    }
    for name, texts in by_owner(split(settings.fixed or "")).items():
        values[name] = FIELDS[name].kind.parse(texts, "fixed")
    return Options(**values)


def file_label(path: str) -> str:
    """Return the last part of a path, without the ending of a file of measurements."""
    return path.replace("\\", "/").rpartition("/")[2].removesuffix(".json").removesuffix(".csv")
