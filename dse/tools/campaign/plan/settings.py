"""Settings of one run of a campaign, and the lists that a campaign file gives for them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paretosoc.dse.workload.options import Options

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
    deadline_95_ms: str | None = None
    max_jitter_ms: str | None = None
    max_misses: str | None = None
    min_rate_hz: str | None = None
    frames_per_second: str | None = None
    max_transitions: int | None = None
    groups: int | None = None
    cut: str | None = None
    units: str | None = None
    fixed: str | None = None
    precision: str | None = None
    free_running: bool | None = None
    frames_in_flight: int | None = None
    profile: str | None = None
    losses: str | None = None
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


@dataclass(frozen=True)
class Axis:
    """A field of a run that a campaign file lists values for.

    ``plural`` is the key of the list. ``seeds_others``: runs that differ in this alone have the
    same rows, so that the front of one can start another.
    """

    name: str
    plural: str
    seeds_others: bool = False


AXES = (
    Axis("platform", "platforms"),
    Axis("profile", "profiles"),
    Axis("losses", "losses"),
    Axis("batch", "batches"),
    Axis("groups", "group_counts"),
    Axis("cut", "cuts"),
    Axis("units", "units"),
    Axis("precision", "precisions"),
    Axis("free_running", "free_running"),
    Axis("frames_in_flight", "frames_in_flight", seeds_others=True),
    Axis("fixed", "fixed", seeds_others=True),
    Axis("max_transitions", "transition_limits", seeds_others=True),
    Axis("max_accuracy_loss_percent", "accuracy_loss_limits", seeds_others=True),
    Axis("deadline_ms", "deadlines_ms", seeds_others=True),
    Axis("deadline_95_ms", "deadlines_95_ms", seeds_others=True),
    Axis("max_jitter_ms", "jitter_limits_ms", seeds_others=True),
    Axis("max_misses", "miss_limits", seeds_others=True),
    Axis("min_rate_hz", "min_rates_hz", seeds_others=True),
    Axis("frames_per_second", "frame_rates", seeds_others=True),
    Axis("energy_budget_mj", "energy_budgets_mj", seeds_others=True),
    Axis("power_cap_w", "power_caps_w", seeds_others=True),
    Axis("memory_cap_mb", "memory_caps_mb", seeds_others=True),
    Axis("objectives", "objectives", seeds_others=True),
    Axis("engine", "engines", seeds_others=True),
    Axis("max_evaluations", "evaluations", seeds_others=True),
    Axis("seed", "seeds", seeds_others=True),
)
"""Slowest first: runs of one workload, platform and grouping follow each other, so that a worker
reads, cuts and costs them once."""

FILE_FIELDS = frozenset({"platform", "profile", "losses"})
"""Fields whose values are files, of which runs have the last part in their names."""

SEARCH_FIELDS = frozenset({"engine", "max_evaluations", "seed", "prove"})
"""What the numeric problem does not depend on."""

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
    from paretosoc.dse.workload.parse_options import make_options

    return make_options(
        objective=listed(settings.objectives),
        groups=settings.groups,
        branches=settings.cut == "branches",
        each_layer=settings.cut == "layers",
        max_transitions=settings.max_transitions,
        units=settings.units,
        fix=listed(settings.fixed),
        precision=settings.precision,
        power_cap=settings.power_cap_w,
        memory_cap=listed(settings.memory_cap_mb),
        max_accuracy_loss=listed(settings.max_accuracy_loss_percent),
        energy_budget=settings.energy_budget_mj,
        deadline=listed(settings.deadline_ms),
        deadline_95=listed(settings.deadline_95_ms),
        max_jitter=listed(settings.max_jitter_ms),
        max_misses=listed(settings.max_misses),
        min_rate=listed(settings.min_rate_hz),
        fps=settings.frames_per_second,
        pin=None,
        free_running=bool(settings.free_running),
        frames_in_flight=settings.frames_in_flight,
    )


def file_label(path: str) -> str:
    """Return the last part of a path, without the ending of a file of measurements."""
    return path.replace("\\", "/").rpartition("/")[2].removesuffix(".json").removesuffix(".csv")


def listed(text: str | None) -> list[str]:
    """Split ``latency, energy`` into both."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]
