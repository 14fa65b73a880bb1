"""A deployment format: one text file that lists clocks and the unit of each segment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paretosoc.dse.tools.deploy.job import Format, Job
from paretosoc.results.deploy.deployment import Deployment


def check(deployment: Deployment) -> None:
    """Accept every board."""


def write(job: Job) -> Mapping[str, Any]:
    """Write ``placement.txt``: a clock, or a segment, in each line."""
    deployment = job.deployment
    lines = [f"{domain} {khz or 'off'}" for domain, khz in deployment.clocks_khz.items()]
    lines += [
        f"{deployment.network_name(part)} {part.groups}: {deployment.unit_name(part)}"
        for part in deployment.all_segments
    ]
    job.write_text("placement.txt", "\n".join(lines) + "\n")
    job.notes.append(f"placement.txt has {len(lines)} lines.")
    return {}


PLACEMENT_LIST = Format(check, write)
