"""``dse show --chain``: reaction times of members, as tables, JSON and CSV, and what is refused."""

from __future__ import annotations

import json

import pytest

import paretosoc


def test_reaction_times_are_shown(dse, tmp_path) -> None:
    workload, folder = tmp_path / "w.yaml", tmp_path / "o"
    workload.write_text(
        "tasks:\n"
        "- {name: camera, rate_hz: 30, times: [{unit: cpu, ms: 4}]}\n"
        "- {name: detect, rate_hz: 15, waits_for: [camera], times: [{unit: gpu, ms: 10}]}\n"
        "- {name: plan, rate_hz: 20, times: [{unit: cpu, ms: 8}]}\n"
    )
    chip = ("-p", "jetson-orin-nano-8gb", *(f"--fix={name}=max" for name in ("cpu", "gpu", "emc")))
    assert dse("explore", workload, *chip, "-q", "-o", folder).status == 0
    shown = ("show", folder, "--chain", "camera,detect,plan", "--chain", "camera,detect")
    (row,) = json.loads(dse(*shown, "--json").out)
    responses = {name: each["longest_ps"] / 1e9 for name, each in row["responses"].items()}
    # The next release is at most 33.3 ms after an event, that of detect another 33.3 ms.
    waiting = 2 * 1000 / 30 + responses["detect"]
    reading = waiting + 1000 / 20 + responses["plan"]
    assert row["reactions_ms"]["camera,detect"] == pytest.approx(waiting)
    assert row["reactions_ms"]["camera,detect,plan"] == pytest.approx(reading)
    assert f"{reading:.2f}" in dse(*shown).out
    assert f"{waiting:.2f}" in dse(*shown, "--member", "0").out
    assert '"reactions_ms.camera,detect"' in dse(*shown, "--csv").out
    member = paretosoc.load(folder)[0]
    assert member.reaction_ms(["camera", "detect"]) == pytest.approx(waiting)
    with pytest.raises(paretosoc.DseError, match=r"chain: a list of .* required, got 'camera'"):
        member.reaction_ms("camera")
    for chain, words in (
        ("camera,none", "there is no network 'none' (camera, detect, plan)"),
        ("camera", "a list of two or more networks, each once, is required, got ['camera']"),
        ("camera,plan,camera", "each once"),
    ):
        refused = dse("show", folder, "--chain", chain)
        assert (refused.status, words in refused.err) == (2, True)
        assert refused.err.startswith("dse: --chain: ")


def test_frames_have_no_chains(dse, pair_folder) -> None:
    refused = dse("show", pair_folder, "--chain", "a,b")
    assert "networks with rates are required" in refused.err
