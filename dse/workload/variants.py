"""Variants of networks: the choice of one for each, and all combinations of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from paretosoc.common.files import naming
from paretosoc.common.options import as_written as in_words
from paretosoc.common.text import did_you_mean
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.options import Options, as_written
from paretosoc.dse.workload.workload import Variant, Workload, WorkloadNetwork
from paretosoc.dse.workload.workload_check import check_variants

MAX_COMBINATIONS = 1000
POWER_MODE = "power mode"
"""The name of this choice beside those of networks."""


@dataclass(frozen=True)
class Combination:
    """One variant of each network that has variants, by the network's name."""

    variants: Mapping[str, Variant]
    mode: str = ""
    """Power mode of the board, if this is one of several."""

    @property
    def choices(self) -> dict[str, str]:
        """Return the variants' names, and the power mode."""
        return {**({POWER_MODE: self.mode} if self.mode else {}), **self.names}

    @property
    def names(self) -> dict[str, str]:
        """Return the variants' names, as the option ``variants`` takes them."""
        return {owner: variant.name for owner, variant in self.variants.items()}

    @property
    def accuracies(self) -> dict[str, float]:
        """Return the accuracies in percent, of networks whose variants have one."""
        return {
            owner: variant.accuracy.percent
            for owner, variant in self.variants.items()
            if variant.accuracy is not None
        }


def with_variants(workload: Workload, options: Options) -> Workload:
    """Return the workload with the batches of the options, and the variants that they choose.

    Raises:
        WorkloadError: as :func:`combinations`, or on a network without a choice.
    """
    workload = with_batches(workload, options)
    found = _combined(workload, options)[0].variants
    chosen = dict(options.variants)
    for owner, network in _offered(workload).items():
        if owner not in chosen:
            names = [variant.name for variant in network.variants]
            comparing = in_words("dse.choose", command="dse explore", campaign="dse choose")
            raise WorkloadError(
                f"network {owner!r}: the choice of a variant is required, got none of "
                f"{', '.join(names)} ({as_written('variants')}); {comparing} compares all of them"
            )
    return replace(
        workload,
        networks=tuple(
            _with_variant(network, found[network.original]) if network.variants else network
            for network in workload.networks
        ),
    )


def combinations(workload: Workload, options: Options) -> list[Combination]:
    """Return all combinations of variants, those of several batches included: of a network those
    that the options choose, or all, that have the minimum accuracy. It is one, without variants, if
    no network has variants.

    Raises:
        WorkloadError: on a network or a variant that is not there, a network of which no variant is
            accurate enough, or too many combinations.
    """
    return _combined(with_batches(workload, options), options)


def with_batches(workload: Workload, options: Options) -> Workload:
    """Return the workload with the batches of the options, for all its networks (None) or for one,
    which wins. Several batches of a network make it a network with variants, or each of its
    variants several.

    Raises:
        WorkloadError: on a network that is not there, or several batches in frames of all networks,
            of one copy alone or beside a batch of one.
    """
    check_names(as_written("batch"), dict(options.batch), workload.names)

    def with_batch(network: WorkloadNetwork) -> WorkloadNetwork:
        of_all, of_copies, own = network.values_of(options.batch)
        batches = of_copies or ([] if network.is_task else of_all)
        if own and own != of_copies and max(len(own), len(batches)) > 1:
            raise WorkloadError(
                f"{as_written('batch')}: several batches are of all copies of a network, got "
                f"{', '.join(map(str, own))} of {network.name!r} alone"
            )
        batches = own or batches
        if len(batches) > 1:
            return replace(network, variants=_of_each_batch(network, batches))
        for batch in batches:
            variants = tuple(replace(variant, batch=batch) for variant in network.variants)
            network = replace(network, batch=batch, variants=variants)
        return network

    workload = replace(workload, networks=tuple(map(with_batch, workload.networks)))
    for network in workload.networks:
        counts_images = workload.free_running or options.free_running or network.rate_hz is not None
        with naming(network.title, WorkloadError):
            check_variants(network, counts_images=counts_images)
    return workload


def _of_each_batch(network: WorkloadNetwork, batches: Sequence[int]) -> tuple[Variant, ...]:
    own = network.variants or (Variant("", network.source, dimensions=network.dimensions),)
    return tuple(
        replace(one, name=f"{one.name}-batch{batch}".removeprefix("-"), batch=batch)
        for one in own
        for batch in dict.fromkeys(batches)
    )


def check_names(label: str, given: Iterable[str | None], networks: Sequence[str]) -> None:
    """Check that values are for all networks, None, or for one that is there.

    Raises:
        WorkloadError: on a network that is not there.
    """
    for owner in given:
        if owner is not None and owner not in networks:
            raise WorkloadError(
                f"{label}: there is no network {owner!r} in the workload "
                f"(there are {', '.join(networks)})"
            )


def _combined(workload: Workload, options: Options) -> list[Combination]:
    offered = _offered(workload)
    chosen = dict(options.variants)
    if options.min_accuracy_percent and not offered:
        raise WorkloadError(f"{as_written('min_accuracy_percent')}: no network has variants")
    for name, given in (
        ("variants", options.variants),
        ("min_accuracy_percent", options.min_accuracy_percent),
    ):
        for owner, _ in given:
            if owner is not None and owner not in offered:
                raise WorkloadError(
                    f"{as_written(name)}: there is no network {owner!r} with variants in "
                    f"the workload (there are {', '.join(offered) or 'none'})"
                )
    lists = [
        _accurate(network, _named(network, chosen.get(owner)), options)
        for owner, network in offered.items()
    ]
    if prod(map(len, lists)) > MAX_COMBINATIONS:
        raise WorkloadError(
            f"variants: at most {MAX_COMBINATIONS:,} combinations are possible, got "
            f"{prod(map(len, lists)):,}; {as_written('variants')} chooses one of a network"
        )
    return [
        Combination(dict(zip(offered, parts, strict=True))) for parts in itertools.product(*lists)
    ]


def accuracy_sources(combined: Sequence[Combination]) -> tuple[str, ...]:
    """Return a line for each network with variants: what its accuracy is, and who says so."""
    lines: dict[str, None] = {}
    for owner in combined[0].variants:
        for variant in (each.variants[owner] for each in combined):
            known = variant.accuracy
            if known is None and len({v.variants[owner].source for v in combined}) == 1:
                continue
            if known is None:
                text = "not known, so that smaller models seem better: give accuracy_percent"
            else:
                text = ", ".join(filter(None, [known.metric, known.source])) or "the workload file"
            lines[f"accuracy of {owner}: {text}"] = None
    return tuple(lines)


def _offered(workload: Workload) -> dict[str, WorkloadNetwork]:
    """Return networks with variants. Copies have the variant of the first."""
    found: dict[str, WorkloadNetwork] = {}
    for network in workload.networks:
        if network.variants:
            found.setdefault(network.original, network)
    return found


def _named(network: WorkloadNetwork, name: str | None) -> tuple[Variant, ...]:
    if name is None:
        return network.variants
    names = [variant.name for variant in network.variants]
    if name not in names:
        raise WorkloadError(
            f"{as_written('variants')}: network {network.name!r} has no variant {name!r} "
            f"({did_you_mean(name, names)})"
        )
    return (network.variants[names.index(name)],)


def _accurate(
    network: WorkloadNetwork, variants: tuple[Variant, ...], options: Options
) -> list[Variant]:
    asked = [
        value for owner, value in options.min_accuracy_percent if owner in (None, network.name)
    ]
    least = max([*asked, network.min_accuracy_percent or 0])
    if not least:
        return list(variants)
    known = {v.name: Fraction(str(v.accuracy.percent)) for v in variants if v.accuracy is not None}
    if not known:
        raise WorkloadError(
            f"network {network.name!r}: a minimum accuracy needs accuracy_percent of its variants, "
            "of which the catalogue has none"
        )
    kept = [variant for variant in variants if known[variant.name] >= least]
    if not kept:
        each = ", ".join(f"{name} {float(percent):g}" for name, percent in known.items())
        raise WorkloadError(
            f"network {network.name!r}: an accuracy of at least {float(least):g} % is required, "
            f"got {each}"
        )
    return kept


def _with_variant(network: WorkloadNetwork, variant: Variant) -> WorkloadNetwork:
    return replace(
        network,
        source=variant.source,
        batch=variant.batch,
        dimensions=variant.dimensions,
        variants=(),
        min_accuracy_percent=None,
    )
