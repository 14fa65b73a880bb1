"""``dse report``: where it writes, what it refuses, and that its mapping file is one."""

import dataclasses
import json
import re
import shutil

import pytest

from paretosoc.results.export.result_folder import read_results, write_results


def test_writes_into_the_folder_and_again(dse, pair_folder, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(pair_folder, folder)
    for _ in range(2):
        assert dse("report", folder).status == 0
    assert (folder / "report.html").read_text("utf-8").startswith("<!doctype html>")
    # It is one of ours: the folder can still be replaced by a new result.
    assert dse("certify", folder, "-q").status == 0
    other = tmp_path / "other.html"
    assert dse("report", folder, "-o", other).status == 0
    refused = dse("report", folder, "-o", other)
    assert refused.status == 2
    assert "--force" in refused.err


@pytest.mark.parametrize("name", ["report.txt", "/dev/null/report.html"])
def test_refuses_what_it_cannot_write(dse, pair_folder, tmp_path, name):
    outcome = dse("report", pair_folder, "-o", tmp_path / name)
    assert outcome.status == 2
    assert len(outcome.lines) == 1


def test_the_mapping_file_gives_the_member(dse, pair_folder, tmp_path, open_page):
    page_file = tmp_path / "report.html"
    assert dse("report", pair_folder, "-o", page_file).status == 0
    front = read_results(pair_folder)
    mapping = tmp_path / "mapping.json"
    with open_page(page_file.read_text("utf-8"), hash=f"#a={len(front.members) - 1}") as page:
        page.locator("article select").select_option(label="mapping file")
        mapping.write_text(page.locator("article pre").inner_text(), "utf-8")
    outcome = dse(
        *("evaluate", "inception_v1", "squeezenet", "-p", "jetson-agx-xavier"),
        *("--units", "gpu,dla0", "--groups", "4", "--mapping", mapping, "--json"),
        *("--runtime", "none"),
    )
    assert outcome.status == 0, outcome.err
    member = front.members[-1]
    latency, energy = json.loads(outcome.out)["display"].values()
    assert latency == member.makespan_ps / 1e9
    assert energy == member.energy_fj / 1e12


def test_the_texts_to_copy_are_those_of_deploy(dse, pair_folder, tmp_path, open_page):
    page_file = tmp_path / "report.html"
    assert dse("report", pair_folder, "-o", page_file).status == 0
    folder = tmp_path / "clocks"
    assert dse("deploy", pair_folder, "--member", 1, "--to", "sysfs", "-o", folder).status == 0
    with open_page(page_file.read_text("utf-8"), hash="#a=1") as page:
        page.locator("article select").select_option(label="sysfs")
        shown = page.locator("article pre").text_content()
        assert shown == (folder / "set_clocks.sh").read_text("utf-8")
        # The format stays when another member is looked at.
        page.locator("tr[data-row='0'] button").press("Enter")
        assert "member 0" in page.locator("article pre").text_content()
        assert page.locator("article pre").text_content().startswith("#!/bin/sh")


def test_an_unknown_platform_costs_only_the_deployment(dse, pair_folder, tmp_path):
    front = read_results(pair_folder)
    provenance = dataclasses.replace(front.provenance, platform="my-chip", command="")
    folder = tmp_path / "run"
    write_results(folder, dataclasses.replace(front, provenance=provenance), pictures=False)
    outcome = dse("report", folder)
    assert outcome.status == 0
    assert "without deployment" in outcome.err
    assert "my-chip" in outcome.err
    assert dse("report", folder, "-p", "jetson-agx-xavier").err == ""
    refused = dse("report", folder, "-p", "jetson-tx2")
    assert refused.status == 2
    assert "jetson-tx2" in refused.err


def test_shares_of_draws_are_those_of_the_table(dse, tmp_path, open_page):
    """A page that draws more often than the table has other shares for the same member."""
    folder = tmp_path / "run"
    options = ("--groups", 3, "--deadline", 1.8, "--max-evaluations", 300, "--max-nodes", 0, "-q")
    networks = ("resnet18", "squeezenet", "-p", "jetson-agx-xavier")
    assert dse("explore", *networks, *options, "-o", folder).status == 0
    shares = re.findall(r"Limit on .*\.", dse("show", folder).out)
    assert len(shares) == 2
    assert dse("report", folder).status == 0
    with open_page((folder / "report.html").read_text("utf-8")) as page:
        text = page.inner_text("body")
    assert all(share in text for share in shares)
