"""Deployments of members, and what is written of them."""

import json

from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.export.result_folder import read_costs, read_results
from paretosoc.results.io.canonical_json import content_sha256
from paretosoc.results.io.document import check_against_schema


def deployment_of(folder, index=0, platform=None):
    front = read_results(folder)
    chip = load_platform(platform or front.provenance.platform)
    return Deployment(front, index, chip, read_costs(folder, front.problem))


def split_member(folder):
    """A member one of whose networks runs on two units."""
    front = read_results(folder)
    for index in range(len(front.members)):
        deployment = deployment_of(folder, index)
        if any(len(deployment.segments(n)) > 1 for n in range(2)):
            return index
    raise AssertionError("no member splits a network")


def manifest(folder):
    document = json.loads((folder / "deployment.json").read_bytes())
    check_against_schema(document, "deployment")
    rest = {key: value for key, value in document.items() if key != "content_sha256"}
    assert document["content_sha256"] == content_sha256(rest)
    assert sorted(file["name"] for file in document["files"]) == sorted(
        path.name for path in folder.iterdir() if path.name != "deployment.json"
    )
    return document
