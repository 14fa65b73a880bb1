"""Figures of a platform file that are accepted, but hardly meant."""

import json

import pytest

from paretosoc.dse.problem.warnings import platform_warnings
from paretosoc.platforms.io.platform_file import (
    load_platform,
    new_platform_source,
    platform_names,
)


@pytest.mark.parametrize("name", platform_names())
def test_no_shipped_platform_is_warned_of(name):
    assert platform_warnings(load_platform(name)) == ()


def test_slips_are_named_by_explore_and_platform_alike(dse, tmp_path):
    document = json.loads(new_platform_source())
    cpu, first = document["units"][0], document["domains"][0]
    cpu["support"]["unsupported_operations"] = ["Sofmax", "com.own.Operation"]
    cpu["power"][0] |= {"idle": {"mw": [50] * 5}, "busy": {"mw": [900, 950, 700, 720, 600]}}
    first["ladder"]["frequencies_mhz"] = [0.6, 0.9, 1.2, 1.6, 2]
    first["parked_mhz"] = 1.2
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(document))
    texts = [
        "cpu: no operation is called 'Sofmax'; did you mean Softmax?",
        "cpu: its fastest clock is 2 MHz; clocks must be in MHz",
        "cpu: its busy power by the clock cpu falls from 950 mW at 0.9 MHz to 700 mW at 1.2 MHz",
    ]
    assert platform_warnings(load_platform(path)) == tuple(texts)
    for command in (
        ("platform", path),
        ("explore", "squeezenet", "-p", path, "--groups", "2", "-o", tmp_path / "front"),
    ):
        outcome = dse(*command)
        assert outcome.status == 0, outcome.err
        assert all(f"dse: warning: {text}\n" in outcome.err for text in texts)


@pytest.mark.parametrize("name", ["", " "])
def test_operations_without_a_name_are_refused(dse, tmp_path, name):
    document = json.loads(new_platform_source())
    document["units"][0]["support"]["unsupported_operations"] = [name]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(document))
    outcome = dse("platform", path)
    assert outcome.status == 2
    assert "units[0].support.unsupported_operations[0] must match" in outcome.err
