"""Names of networks that are none: one line, whatever way they come in."""

import json

import pytest

import paretosoc as library
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.workload import find_network
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.errors import GraphError

HOSTILE = ["a\0b", "squeezenet\n", "\x1b[2J", "\u202e", "", "*", "*2", "squeezenet*0", "..", "/"]
HOSTILE += ["squeezenet ", " squeezenet", "squeezenet,vgg19", "x" * 300]
HOSTILE += ["none.onnx", "none.onnx*2", "none.ONNX", "squeezenet*2*2"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_networks_are_refused_by_every_way_in(dse, tmp_path, text):
    with pytest.raises(WorkloadError):
        find_network(text)
    with pytest.raises(library.DseError):
        library.Problem([text], "jetson-agx-xavier")
    with pytest.raises(GraphError):
        load_network(text)
    campaign = {"networks": [text], "platforms": ["jetson-agx-xavier"], "evaluations": [10]}
    (tmp_path / "c.json").write_text(json.dumps(campaign))
    (tmp_path / "w.json").write_text(json.dumps({"networks": [{"network": text}]}))
    output = ("-o", tmp_path / "out")
    on_xavier = ("-p", "jetson-agx-xavier")
    rows = tmp_path / "rows.json"
    rows.write_text('[{"count": 10}]')
    for arguments in (
        ("network", text),
        ("sensitivity", text, "--data", "random", *output, "--format", "fp16"),
        ("papers", "periodic", text, *on_xavier, *output),
        ("import", "trtexec", rows, "--network", text, *on_xavier, "--unit", "gpu", "--at", "max"),
        ("explore", text, *on_xavier, *output),
        ("explore", tmp_path / "w.json", *on_xavier, *output),
        ("campaign", "run", tmp_path / "c.json", *output),
    ):
        done = dse(*arguments)
        assert (done.status, len(done.lines)) == (2, 1), done.err
        assert "internal error" not in done.err
        assert done.lines[0].isprintable()
    assert not (tmp_path / "out").exists()
