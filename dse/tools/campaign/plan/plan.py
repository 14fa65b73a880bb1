"""Runs of a campaign: the product of its lists, less the excluded and plus the included ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.campaign.plan.settings import (
    DEFAULTS,
    FILE_FIELDS,
    PLACES,
    RUN_FIELDS,
    SEARCH_FIELDS,
    Choice,
    RunSettings,
    file_label,
    problem_key,
)
from paretosoc.dse.workload.objectives import OF_A_FRAME, OF_RATES
from paretosoc.dse.workload.options import AXES

MAX_RUNS = 1_000_000
"""Largest number of listed runs of a campaign: each takes about a kilobyte."""
MAX_COUNTED = 50_000
"""Most runs of a campaign that are listed to be counted. Of more, only those that rules tell apart
are listed."""
_TOGETHER = frozenset({"objectives", "free_running", "min_rate_hz"})
"""Fields whose values are looked at together."""


@dataclass(frozen=True, slots=True)
class NamedWorkload:
    """Networks that run together, or one workload file."""

    name: str
    networks: tuple[str, ...]
    members: tuple[str, ...]
    """Names of the networks, for matching."""
    free_running: bool = False
    """Whether networks run freely by the file."""
    has_rates: bool = False
    """Whether networks of the file have rates."""

    @property
    def objectives(self) -> str:
        """Return the default objectives of a run."""
        return ", ".join(OF_RATES if self.has_rates else OF_A_FRAME)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run with its name and tags. ``after``: position of the run whose front it begins with."""

    settings: RunSettings
    name: str
    workload: NamedWorkload
    tags: Mapping[str, Choice] = field(default_factory=dict)
    after: int | None = None


@dataclass(frozen=True)
class Plan:
    """All runs of a campaign in their order, and the files kept of each."""

    title: str
    runs: tuple[PlannedRun, ...]
    keep: tuple[str, ...]


@dataclass(frozen=True)
class PlanSize:
    """The number of runs of a campaign: those of ``plan``, each with every value of ``lists``."""

    plan: Plan
    lists: Mapping[str, tuple[Choice, ...]]
    """By field; the runs of the plan have the first of them."""

    @property
    def runs(self) -> int:
        """Return the number of runs."""
        return self.times(len(self.plan.runs))

    @property
    def evaluations(self) -> int:
        """Return the number of evaluations of all runs."""
        if "max_evaluations" in self.lists:
            counts: Any = self.lists["max_evaluations"]
            total: int = self.times(len(self.plan.runs)) // len(counts) * sum(counts)
            return total
        return self.times(sum(run.settings.max_evaluations for run in self.plan.runs))

    @property
    def problems(self) -> int:
        """Return the number of numeric problems."""
        keys = {problem_key(run.settings) for run in self.plan.runs}
        searched = [name for name in self.lists if name in SEARCH_FIELDS]
        return self.times(len(keys)) // prod(len(self.lists[name]) for name in searched)

    @property
    def workloads(self) -> int:
        """Return the number of different workloads."""
        return len({run.workload.name for run in self.plan.runs})

    def times(self, count: int) -> int:
        """Return the number of runs for ``count`` runs of the plan."""
        return count * prod(map(len, self.lists.values()))

    def values(self, name: str) -> tuple[Choice, ...]:
        """Return the different values of a field."""
        if name in self.lists:
            return self.lists[name]
        return tuple(dict.fromkeys(getattr(run.settings, name) for run in self.plan.runs))


OwnTexts = Mapping[tuple[NamedWorkload, Choice], str | None]
"""By workload and value: the value without what is of networks that only other workloads have."""


@dataclass(frozen=True)
class Rules:
    """A parsed campaign file: lists of values by field, and rules that change their product. With
    objectives None, those of the workload are used."""

    title: str
    workloads: tuple[NamedWorkload, ...]
    values: Mapping[str, tuple[Choice, ...]]
    include: tuple[tuple[NamedWorkload | None, Mapping[str, Any]], ...] = ()
    exclude: tuple[Mapping[str, Any], ...] = ()
    tags: tuple[Mapping[str, Any], ...] = ()
    keep: tuple[str, ...] = ("front",)
    prove: bool = False
    warm_start: tuple[str, ...] = ()
    own: Mapping[str, OwnTexts] = field(default_factory=dict)
    """By field."""


def size_plan(rules: Rules) -> PlanSize:
    """Return the number of runs, in memory and time that do not grow with lists that no rule
    names."""
    named = _TOGETHER.union(rules.warm_start, rules.own, *rules.exclude)
    named = named.union(*(rule.get("when", {}) for rule in rules.tags))
    lists: dict[str, tuple[Choice, ...]] = {}
    if _product_size(rules) > MAX_COUNTED and not rules.include:
        lists = {
            name: values
            for name, values in rules.values.items()
            if len(values) > 1 and name not in named
        }
    first = {name: values[:1] for name, values in lists.items()}
    plan = make_plan(replace(rules, values={**rules.values, **first}))
    settings = plan.runs[0].settings
    for name in FILE_FIELDS & lists.keys():
        changed: list[dict[str, Any]] = [{name: value} for value in lists[name]]
        spelt = {_spelt(replace(settings, **change), name) for change in changed}
        if len(spelt) < len(lists[name]):
            raise WorkloadError(f"{name}: two values would have the same name in names of runs")
    return PlanSize(plan, lists)


def _product_size(rules: Rules) -> int:
    return len(rules.workloads) * prod(len(rules.values[name]) for name in AXES)


def make_plan(rules: Rules) -> Plan:
    """Return the runs, each of them once.

    Raises:
        WorkloadError: on no run, more than :data:`MAX_RUNS`, two runs of one name, an exclude
            or tag rule that fits nothing, or a tag with the name of a field.
    """
    count = _product_size(rules) + len(rules.include)
    if count > MAX_RUNS:
        raise WorkloadError(f"at most {MAX_RUNS:,} runs can be listed, got {count:,}")
    used: set[int] = set()
    drafts: dict[RunSettings, PlannedRun] = {}
    for run in _product(rules):
        fits = [i for i, rule in enumerate(rules.exclude) if matches(run, rule)]
        used.update(fits)
        if not fits:
            drafts.setdefault(run.settings, run)
    for index, rule in enumerate(rules.exclude):
        if index not in used:
            raise _fits_nothing(f"exclude[{index}]", rule, list(_product(rules)))
    for workload, entry in rules.include:
        workload = workload or rules.workloads[0]
        fields = {name: entry.get(name, rules.values[name][0]) for name in AXES}
        settings = _settings(rules, workload, fields)
        named, tags = entry.get("name", ""), entry.get("tags", {})
        drafts[settings] = PlannedRun(settings, named, workload, tags)
    if not drafts:
        raise WorkloadError("no run is left: everything is excluded")
    runs = _named(_tagged(rules, list(drafts.values())))
    return Plan(rules.title, tuple(_chained(rules.warm_start, runs)), rules.keep)


def matches(run: PlannedRun, rule: Mapping[str, Any]) -> bool:
    """Return whether a run fits all fields of a rule. A list of values matches any of them."""
    for name, wanted in rule.items():
        several = wanted if isinstance(wanted, list | tuple) else [wanted]
        held = _held(run, name)
        if not (set(several) <= set(held) if name == "network" else held[0] in several):
            return False
    return True


def _held(run: PlannedRun, name: str) -> Sequence[Any]:
    if name == "network":
        return run.workload.members
    return (run.workload.name if name == "workload" else getattr(run.settings, name),)


def _fits_nothing(where: str, rule: Mapping[str, Any], runs: Sequence[PlannedRun]) -> WorkloadError:
    """Return the error. It names the first field that no run fits, and the values of runs."""
    text = f"{where}: fits no run"
    for name, wanted in rule.items():
        if not any(matches(run, {name: wanted}) for run in runs):
            known = list(dict.fromkeys(value for run in runs for value in _held(run, name)))
            if name == "network" and isinstance(wanted, list) and set(wanted) <= set(known):
                return WorkloadError(f"{text}: no workload has all of {', '.join(wanted)}")
            shown = ", ".join(str(value) for value in known[:8])
            return WorkloadError(f"{text}: {name} must be one of {shown}, got {wanted}")
    return WorkloadError(f"{text}, though each of its fields fits some")


def _product(rules: Rules) -> Iterator[PlannedRun]:
    lists = [rules.values[name] for name in AXES]
    for workload in rules.workloads:
        for chosen in itertools.product(*lists):
            fields = dict(zip(AXES, chosen, strict=True))
            yield PlannedRun(_settings(rules, workload, fields), "", workload)


def _settings(rules: Rules, workload: NamedWorkload, fields: dict[str, Any]) -> RunSettings:
    fields["objectives"] = fields["objectives"] or workload.objectives
    for name, texts in rules.own.items():
        fields[name] = texts.get((workload, fields[name]), fields[name])
    return RunSettings(networks=workload.networks, prove=rules.prove, **fields)


def _tagged(rules: Rules, runs: Sequence[PlannedRun]) -> list[PlannedRun]:
    used: set[int] = set()
    tagged = []
    for run in runs:
        tags: dict[str, Choice] = {}
        for index, rule in enumerate(rules.tags):
            if matches(run, rule.get("when", {})):
                used.add(index)
                tags |= rule["set"]
        tags |= run.tags
        if taken := [name for name in tags if name in (*RUN_FIELDS, *PLACES, *AXES)]:
            raise WorkloadError(
                f"tags: a name that no field of runs has is required, got {taken[0]!r}"
            )
        tagged.append(replace(run, tags=tags))
    for index, rule in enumerate(rules.tags):
        if index not in used:
            raise _fits_nothing(f"tags[{index}].when", rule.get("when", {}), runs)
    return tagged


def _named(runs: Sequence[PlannedRun]) -> list[PlannedRun]:
    """Names of the workload and of all that is not the same in every run."""
    varying = [name for name in AXES if len({getattr(run.settings, name) for run in runs}) > 1]
    named = []
    seen: dict[str, RunSettings] = {}
    for run in runs:
        parts = [run.workload.name, *(_spelt(run.settings, name) for name in varying)]
        name = run.name or " / ".join(part for part in parts if part)
        if name in seen:
            raise WorkloadError(
                f"two runs would have the name {name!r}: give workloads, or runs of 'include', "
                "names of their own"
            )
        seen[name] = run.settings
        named.append(replace(run, name=name))
    return named


def _spelt(settings: RunSettings, name: str) -> str:
    """Return a value with as much of its field's name as is needed to read it."""
    value = getattr(settings, name)
    if value is None:
        return ""
    if name in FILE_FIELDS:
        return file_label(str(value))
    if name in ("objectives", "engine", "units", "precision", "fixed"):
        return str(value)
    return f"{name} {value}"


def _chained(axes: Sequence[str], runs: Sequence[PlannedRun]) -> list[PlannedRun]:
    """Return each run after the last one before it that differs only in ``axes``."""
    if not axes:
        return list(runs)
    unset = {name: DEFAULTS[name] for name in axes}
    last: dict[RunSettings, int] = {}
    chained = []
    for position, run in enumerate(runs):
        key = replace(run.settings, **unset)
        chained.append(replace(run, after=last.get(key)))
        last[key] = position
    return chained
