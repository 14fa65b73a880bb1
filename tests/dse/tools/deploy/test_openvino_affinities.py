"""``--to openvino``: affinities of operations, in the real library where it is installed."""

import json

import pytest

from tests.dse.tools.deploy.test_onnxruntime_placement import CPU, execute, explored

openvino = pytest.importorskip("openvino", reason="openvino is not installed")


@pytest.fixture
def deployed(dse, tmp_path):
    command = explored(tmp_path, "squeezenet", CPU)
    ran = dse(*(("openvino" if w == "onnxruntime" else w) for w in command), "-o", tmp_path / "out")
    assert ran.status == 0, ran.err
    return tmp_path / "out"


def test_affinities_are_the_mapping(deployed):
    from paretosoc.results.deploy.scripts.run_affinities import set_affinities

    document = json.loads((deployed / "deployment.json").read_text())
    (network,) = document["networks"]
    units = {name: group["unit"] for group in network["groups"] for name in group["layers"]}
    model = openvino.Core().read_model(str(deployed / network["model"]))
    found = set_affinities(model, units)
    # ONNX's old Softmax becomes several operations, Dropout none.
    assert len(units) - 3 <= len(found) < len(units)
    places = {op.get_friendly_name(): op.get_rt_info()["affinity"] for op in model.get_ops()}
    places = {name: str(getattr(place, "value", place)) for name, place in places.items()}
    assert {name: places[name] for name in found} == {name: units[name] for name in found}
    assert set(places.values()) == {"cpu0", "cpu1"}


def test_the_script_runs(deployed):
    ran = execute(deployed)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "HETERO:CPU, 66 layers on CPU" in ran.stdout
    document = json.loads((deployed / "deployment.json").read_text())
    document["devices"]["cpu1"] = "NPU"
    (deployed / "deployment.json").write_text(json.dumps(document))
    if "NPU" not in openvino.Core().available_devices:
        ran = execute(deployed)
        assert ran.returncode == 1
        assert ran.stderr.startswith("run.py: HETERO:CPU,NPU: ")
        assert len(ran.stderr.splitlines()) == 1
