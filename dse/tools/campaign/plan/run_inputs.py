"""All that a run's result depends on, and its hash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from paretosoc.common.files import file_sha256
from paretosoc.dse.tools.campaign.plan.plan import Plan
from paretosoc.dse.tools.campaign.plan.settings import FILE_FIELDS, RunSettings
from paretosoc.results.io.canonical_json import content_sha256

INPUTS_FORMAT = "paretosoc-run/1"


@dataclass(frozen=True)
class RunInputs:
    """Inputs of a run. Two runs with the same hash have the same result, anywhere.

    ``contents``: (name, SHA-256) of every file, and of the platform. ``starts_from``: hash of the
    run whose front it begins with. ``program``: see :mod:`dse.tools.campaign.plan.program`.
    """

    settings: RunSettings
    contents: tuple[tuple[str, str], ...]
    program: str
    keep: tuple[str, ...]
    starts_from: str | None = None

    @cached_property
    def hash(self) -> str:
        """Return the SHA-256 of the content. Folders of files count only if they are part of the
        result, as ``costs.json`` names the models."""
        return content_sha256(
            {
                "format": INPUTS_FORMAT,
                "program": self.program,
                "settings": subject(self.settings),
                "paths": list(self.settings.networks) if "costs" in self.keep else None,
                "contents": [list(entry) for entry in self.contents],
                "keep": list(self.keep),
                "starts_from": self.starts_from,
            }
        )


def subject(settings: RunSettings) -> dict[str, Any]:
    """Return the settings with names of files instead of paths."""
    document = settings.to_document()
    document["networks"] = [_base(text) for text in settings.networks]
    for name in FILE_FIELDS:
        if name in document:
            document[name] = _base(document[name])
    return document


def subject_key(settings: RunSettings) -> str:
    """Return a key that is equal for runs of two campaigns with the same settings."""
    return content_sha256(subject(settings))


def inputs_of(plan: Plan, program: str) -> list[RunInputs]:
    """Return the inputs of every run, in the plan's order. Each file is read once.

    Raises:
        WorkloadError, PlatformError, OSError: on a file that cannot be read.
    """
    contents_of = _contents_reader()
    inputs: list[RunInputs] = []
    hashes: list[str] = []
    followed = {run.after for run in plan.runs} - {None}
    for position, run in enumerate(plan.runs):
        entry = RunInputs(
            settings=run.settings,
            contents=contents_of(run.settings),
            program=program,
            keep=plan.keep,
            starts_from=None if run.after is None else hashes[run.after],
        )
        inputs.append(entry)
        hashes.append(entry.hash if position in followed else "")
    return inputs


def _contents_reader() -> Callable[[RunSettings], tuple[tuple[str, str], ...]]:
    """Return a function from settings to the hashes of their files and of the platform, each made
    once."""
    from paretosoc.dse.workload.workload_file import is_workload_file, workload_from
    from paretosoc.platforms.io.platform_file import load_platform
    from paretosoc.sdf.catalogue.catalogue import catalogue

    known = {entry.name for entry in catalogue()}
    digest: Callable[[str], str] = cache(file_sha256)
    platform_digest = cache(lambda name: load_platform(name).sha256)

    @cache
    def of_networks(networks: Sequence[str]) -> list[tuple[str, str]]:
        """Return the files of networks only. Names of the catalogue come with the program, whose
        sources count anyway."""
        contents = []
        if len(networks) == 1 and is_workload_file(networks[0]):
            contents.append(("workload", digest(networks[0])))
        sources = dict.fromkeys(network.source for network in workload_from(networks).networks)
        return contents + [(f"network {_base(s)}", digest(s)) for s in sources if s not in known]

    def contents_of(settings: RunSettings) -> tuple[tuple[str, str], ...]:
        files = (("profile", settings.profile), ("losses", settings.losses))
        return (
            *of_networks(settings.networks),
            ("platform", platform_digest(settings.platform)),
            *((what, digest(path)) for what, path in files if path is not None),
        )

    return contents_of


def _base(text: str) -> str:
    return text.replace("\\", "/").rpartition("/")[2]
