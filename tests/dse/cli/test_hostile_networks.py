"""Names of networks that are none: one line, whatever way they come in."""

import json

import pytest

import dse as library
from dse.errors import WorkloadError
from dse.workload.find_network import find_network

HOSTILE = ["a\0b", "squeezenet\n", "\x1b[2J", "\u202e", "", "*", "*2", "squeezenet*0", "..", "/"]
HOSTILE += ["none.onnx", "none.onnx*2", "none.ONNX", "squeezenet*2*2"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_networks_are_refused_by_every_way_in(dse, tmp_path, text):
    with pytest.raises(WorkloadError):
        find_network(text)
    with pytest.raises(library.DseError):
        library.Problem([text], "jetson-agx-xavier")
    campaign = {"networks": [text], "platforms": ["jetson-agx-xavier"], "evaluations": [10]}
    (tmp_path / "c.json").write_text(json.dumps(campaign))
    (tmp_path / "w.json").write_text(json.dumps({"networks": [{"network": text}]}))
    output = ("-o", tmp_path / "out")
    for arguments in (
        ("explore", text, "-p", "jetson-agx-xavier", *output),
        ("explore", tmp_path / "w.json", "-p", "jetson-agx-xavier", *output),
        ("campaign", "run", tmp_path / "c.json", *output),
    ):
        done = dse(*arguments)
        assert (done.status, len(done.lines)) == (2, 1), done.err
        assert "internal error" not in done.err
        assert done.lines[0].isprintable()
    assert not (tmp_path / "out").exists()
