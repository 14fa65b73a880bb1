"""Campaign files, YAML or JSON, under ``dse/inputs/data/campaign.schema.json``."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache, partial
from math import comb
from pathlib import Path
from typing import Any

from paretosoc.common.files import naming
from paretosoc.common.options import Door, called_from
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.documents import parse_input, read_input
from paretosoc.dse.inputs.exact_numbers import without_unit
from paretosoc.dse.inputs.kinds import Quantity, Whole, WholeOr
from paretosoc.dse.inputs.kinds_by_name import ByNetwork, Clocks, Names, PerName
from paretosoc.dse.tools.campaign.plan.plan import (
    MAX_RUNS,
    NamedWorkload,
    OwnTexts,
    Plan,
    PlanSize,
    Rules,
    make_plan,
    size_plan,
)
from paretosoc.dse.tools.campaign.plan.settings import DEFAULTS, SEARCH_FIELDS, Choice, options_of
from paretosoc.dse.workload.fields import split
from paretosoc.dse.workload.options import AXES, FIELDS, FILES, as_written
from paretosoc.dse.workload.variants import check_names
from paretosoc.dse.workload.with_options import period_of_rates_s, with_dimensions
from paretosoc.dse.workload.workload import find_network, short_name, split_copies, workload_of
from paretosoc.dse.workload.workload_file import is_workload_file, load_workload, workload_from
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.errors import GraphError

_WHOLE_NUMBERS = {"max_evaluations", "seed"} | {
    name for name, field in FIELDS.items() if isinstance(field.kind, Whole | WholeOr)
}
_METAVARS = {"fixed": "MHZ"} | {
    name: getattr(getattr(field.kind, "each", field.kind), "metavar", "")
    for name, field in FIELDS.items()
    if isinstance(field.kind, PerName | Quantity)
}
_OF_NETWORKS = {
    name
    for name, field in FIELDS.items()
    if isinstance(field.kind, ByNetwork) or getattr(field.kind, "of", "") == "NETWORK"
}.intersection(AXES)
_TEXT_LISTS = {
    name for name, field in FIELDS.items() if isinstance(field.kind, PerName | Clocks | Names)
} - {"precision"}


@called_from(Door.CAMPAIGN)
def load_plan(path: str | Path) -> Plan:
    """Return the runs of a campaign file, whose paths are relative to its folder.

    Raises:
        WorkloadError: if it cannot be read, does not fit the schema or contradicts itself. The
            message names the file and the place.
        PlatformError: on a platform that cannot be used.
    """
    return _checked(path, lambda rules: PlanSize(make_plan(rules), {})).plan


@called_from(Door.CAMPAIGN)
def load_size(path: str | Path) -> PlanSize:
    """Return the number of runs of a campaign file, without listing them if there are very many.

    Raises:
        WorkloadError, PlatformError: as :func:`load_plan`.
    """
    return _checked(path, size_plan)


def _checked(path: str | Path, make: Callable[[Rules], PlanSize]) -> PlanSize:
    file = os.fspath(path)
    document = parse_input(read_input(file), file, "campaign")
    with naming(file, WorkloadError):
        size = make(_rules(document, file))
        check_size(size)
        return size


def check_size(size: PlanSize) -> None:
    """Check every text once. Each run checks the parts that depend on the networks' layers.

    Raises:
        WorkloadError: on the first that cannot be used.
    """
    from paretosoc.dse.engines.optimizers import optimizer_named

    check_options, check_goals = cache(options_of), cache(_check_objectives)

    @cache
    def check_networks(name: str, text: str, networks: tuple[str, ...]) -> None:
        check_names(as_written(name), dict(FIELDS[name].parse_key(text, name)), networks)

    # No options are made of these.
    rest: dict[str, Any] = dict.fromkeys(SEARCH_FIELDS | FILES) | {"networks": (), "platform": ""}
    first = size.plan.runs[0]
    changes: list[dict[str, Any]] = [
        {name: value}
        for name in size.lists
        if name not in ("max_evaluations", "seed")
        for value in size.lists[name]
    ]
    others = (replace(first, settings=replace(first.settings, **change)) for change in changes)
    for run in itertools.chain(size.plan.runs, others):
        settings, workload = run.settings, run.workload
        with naming(f"run {run.name!r}", WorkloadError):
            optimizer_named(settings.engine)
            check_options(replace(settings, **rest))
            for name in _OF_NETWORKS:
                check_networks(name, getattr(settings, name) or "", workload.members)
            check_goals(
                settings.objectives,
                workload,
                free_running=bool(settings.free_running) or workload.free_running,
                has_min_rate=settings.min_rate_hz is not None,
            )


def _check_objectives(
    text: str, workload: NamedWorkload, *, free_running: bool, has_min_rate: bool
) -> None:
    from paretosoc.dse.problem.execution import check_objectives
    from paretosoc.dse.workload.objectives import parse_objective

    if has_min_rate and not free_running:
        free = as_written("free_running")
        raise WorkloadError(f"{as_written('min_rate_hz')}: {free} is required")
    parts = split(text)
    asked_for = [parse_objective(part, workload.members) for part in parts]
    check_objectives(parts, asked_for, free_running=free_running, has_rates=workload.has_rates)


def _rules(document: Mapping[str, Any], file: str) -> Rules:
    # Workers may have another working folder.
    folder = os.path.abspath(os.path.dirname(file))
    values: dict[str, tuple[Choice, ...]] = {}
    for name, (plural, _) in AXES.items():
        given = document.get(plural)
        if given is None:
            # Objectives depend on the workload.
            values[name] = (None if name == "objectives" else DEFAULTS[name],)
            continue
        listed = list(range(given)) if isinstance(given, int) else given
        values[name] = tuple(dict.fromkeys(setting(name, value, folder) for value in listed))
    workloads = _workloads(document, folder)
    include = tuple(
        (
            named_workload(entry["workload"], f"include[{index}].workload", folder)
            if "workload" in entry
            else None,
            _values_of(entry, folder),
        )
        for index, entry in enumerate(document.get("include", ()))
    )
    every = {*workloads, *(workload for workload, _ in include if workload)}
    texts = {
        name: {*of_runs, *(entry.get(name) for _, entry in include)} - {None}
        for name, of_runs in values.items()
    }
    own = {name: _own_texts(every, texts[name], _of_members) for name in ("fixed", *_OF_NETWORKS)}
    load = cache(lambda source, sizes: load_network(source, dimensions=dict(sizes)))
    sizes = partial(_of_dimensions, load)
    own["dimensions"] = _own_texts(every, texts["dimensions"], sizes)
    return Rules(
        title=document.get("title", os.path.basename(file)),
        workloads=workloads,
        values=values,
        include=include,
        own={name: texts for name, texts in own.items() if texts},
        exclude=tuple(_values_of(rule, folder) for rule in document.get("exclude", ())),
        tags=tuple(
            {"when": _values_of(rule.get("when", {}), folder), "set": rule["set"]}
            for rule in document.get("tags", ())
        ),
        keep=tuple(sorted(document.get("keep", ("front",)))),
        prove=document.get("prove", False),
        warm_start=tuple(document.get("warm_start", ())),
    )


def _own_texts(
    workloads: Collection[NamedWorkload],
    texts: Collection[Choice],
    used: Callable[[NamedWorkload, str], set[str]],
) -> OwnTexts:
    """Return texts for workloads, without parts that only others have. ``used``: left sides of the
    parts that a workload has."""
    own: dict[tuple[NamedWorkload, Choice], str | None] = {}
    for text in map(str, texts):
        names_of = {workload: used(workload, text) for workload in workloads}
        known = set().union(*names_of.values())
        for workload, names in names_of.items():
            parts = {part: part.rpartition("=")[0].strip() for part in split(text)}
            if not (known - names).isdisjoint(parts.values()):
                kept = [part for part, name in parts.items() if name not in known - names]
                own[workload, text] = ", ".join(kept) or None
    return own


def _of_members(workload: NamedWorkload, text: str) -> set[str]:
    owners = {part.rpartition("=")[0] for part in split(text)}
    # Groups may follow the name in a pin.
    return {owner for owner in owners if {owner, owner.rpartition(":")[0]} & {*workload.members}}


def _of_dimensions(load: Callable[..., Any], workload: NamedWorkload, text: str) -> set[str]:
    sizes, names = FIELDS["dimensions"].parse_key(text, "dimensions"), set[str]()
    given = with_dimensions(workload_from(workload.networks), sizes)
    for network in (network for network in given.networks if not network.is_task):
        try:
            left = load(network.source, network.dimensions).unused_dimensions
        except GraphError:
            # The run says so.
            return set(dict(sizes))
        for name in dict(network.dimensions).keys() - set(left):
            names |= {name, f"{network.name}:{name}", f"{network.original}:{name}"}
    return names


def _values_of(entry: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Return the values of an entry as runs have them. Lists of values stay lists."""
    result = {}
    for key, given in entry.items():
        if key not in AXES:
            result[key] = given
        elif isinstance(given, list):
            result[key] = [setting(key, one, folder) for one in given]
        else:
            result[key] = setting(key, given, folder)
    return result


def setting(name: str, value: Any, folder: str) -> Choice:
    """Return the value as a run has it: numbers as exact texts, lists tidied, paths as seen from
    here."""
    if value is None or isinstance(value, bool):
        return value or None
    if name in _WHOLE_NUMBERS:
        return value if isinstance(value, str) else int(value)
    if isinstance(value, int | Decimal):
        number = Decimal(value).normalize()
        return f"{number:f}"
    is_path = name == "platform" and ("/" in value or value.endswith(".json"))
    if is_path or name in ("profile", "losses"):
        return os.path.join(folder, value)
    if name in _TEXT_LISTS:
        parts = (part.rpartition("=") for part in split(value))
        unit = _METAVARS.get(name, "")
        return ", ".join(f"{owner}{is_}{without_unit(end, unit)}" for owner, is_, end in parts)
    return without_unit(str(value), _METAVARS.get(name, ""))


def _workloads(document: Mapping[str, Any], folder: str) -> tuple[NamedWorkload, ...]:
    networks: Sequence[str] = document.get("networks", ())
    together = document.get("together", 1)
    if "together" in document and not networks:
        raise WorkloadError("together: needs networks")
    workloads = []
    for size in [together] if isinstance(together, int) else together:
        if networks and size > len(networks):
            raise WorkloadError(
                f"together: there are {len(networks)} networks to choose from, got {size}"
            )
        subsets = comb(len(networks), size)
        if subsets > MAX_RUNS:
            raise WorkloadError(
                f"together: at most {MAX_RUNS:,} workloads can be listed, got {subsets:,}"
            )
        for chosen in itertools.combinations(networks, size) if networks else ():
            workloads.append(named_workload(chosen, "networks", folder))
    for index, entry in enumerate(document.get("workloads", ())):
        workloads.append(named_workload(entry, f"workloads[{index}]", folder))
    return tuple(dict.fromkeys(workloads))


def named_workload(entry: Any, path: str, folder: str) -> NamedWorkload:
    """Return networks, or one workload file, and check that they exist."""
    text = entry["networks"] if isinstance(entry, dict) else entry
    named = entry.get("name") if isinstance(entry, dict) else None
    parts = split(text) if isinstance(text, str) else text
    with naming(path, WorkloadError):
        if len(parts) == 1 and is_workload_file(parts[0]):
            file = os.path.join(folder, parts[0])
            workload = load_workload(file)
            stem = os.path.splitext(os.path.basename(file))[0]
            has_rates = period_of_rates_s(workload.networks) is not None
            free = workload.free_running
            return NamedWorkload(named or stem, (file,), workload.names, free, has_rates)
        sources = tuple(_source(part, folder) for part in parts)
        members = workload_of(sources).names
    return NamedWorkload(named or "+".join(map(_short, sources)), sources, members)


def _short(source: str) -> str:
    """Shorten ``nets/a.onnx*2`` to ``a*2``."""
    name, copies = split_copies(source)
    return short_name(name) + (f"*{copies}" if copies > 1 else "")


def _source(text: str, folder: str) -> str:
    """Return the catalogue's name or the path of a file, with its copies."""
    source, copies = find_network(text, lambda file: os.path.join(folder, file))
    return f"{source}*{copies}" if copies > 1 else source
