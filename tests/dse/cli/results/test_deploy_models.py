"""``dse deploy --to onnx`` and ``--to trtexec``: models of the segments."""

import subprocess
import sys
from pathlib import Path

import onnx

from tests.support.deployments import manifest, split_member
from tests.support.trtexec import stand_in


def test_onnx_parts_chain(dse, pair_folder, tmp_path):
    index = split_member(pair_folder)
    out = tmp_path / "out"
    ran = dse("deploy", pair_folder, "--member", index, "--to", "onnx", "-o", out)
    assert (ran.status, ran.err) == (0, "")
    assert "equal to the last bit" in ran.out
    assert "no trained values" in ran.out
    document = manifest(out)
    for network in document["networks"]:
        assert network["equality"]["largest_difference"] == 0
        for segment in network["segments"]:
            model = onnx.load(str(out / segment["file"]))
            names = [tensor["name"] for tensor in segment["inputs"] + segment["weights"]]
            assert [value.name for value in model.graph.input] == names
            layers = [
                name
                for group in network["groups"][segment["first_group"] : segment["last_group"] + 1]
                for name in group["layers"]
            ]
            assert set(layers) <= {node.name for node in model.graph.node}
        for number, segment in enumerate(network["segments"][1:], start=1):
            assert all(tensor["computed_by"] in range(number) for tensor in segment["inputs"])


def test_trtexec(dse, pair_folder, tmp_path):
    index = split_member(pair_folder)
    out = tmp_path / "out"
    ran = dse("deploy", pair_folder, "--member", index, "--to", "trtexec", "-o", out, "--no-check")
    assert ran.status == 0
    document = manifest(out)
    shellcheck = Path(sys.executable).parent / "shellcheck"
    assert subprocess.run([shellcheck, out / "engines.sh"], timeout=60).returncode == 0
    # A stand-in for trtexec writes down how it is called.
    fake, log = tmp_path / "trtexec", tmp_path / "log"
    stand_in(fake, f'for word in "$@"; do printf "%s\\n" "$word"; done >>{log}', 8603)
    environment = {"TRTEXEC": str(fake), "PATH": "/usr/bin:/bin"}
    subprocess.run([out / "engines.sh", "build"], env=environment, check=True, timeout=60)
    words = log.read_text().splitlines()
    models = [word.removeprefix("--onnx=") for word in words if word.startswith("--onnx=")]
    assert sorted(set(models)) == sorted(p.name for p in out.glob("*.onnx"))
    split = next(n for n in document["networks"] if len(n["segments"]) > 1)
    expected = ",".join(
        f"{layer}:{'GPU' if group['unit'] == 'gpu' else 'DLA'}"
        for group in split["groups"]
        for layer in group["layers"]
    )
    assert f"--layerDeviceTypes={expected}" in words
    assert words.count("--fp16") == len(models)
    whole = onnx.load(str(out / f"{split['name']}.onnx"))
    layers = {layer for group in split["groups"] for layer in group["layers"]}
    assert layers <= {node.name for node in whole.graph.node}
    for segment in split["segments"]:
        start = words.index(f"--onnx={segment['file']}")
        call = words[start : start + 4]
        assert ("--useDLACore=0" in call) == (segment["unit"] == "dla0")
        assert ("--allowGPUFallback" in call) == (segment["unit"] == "dla0")
    log.unlink()
    subprocess.run([out / "engines.sh", "run"], env=environment, check=True, timeout=60)
    loaded = [w for w in log.read_text().splitlines() if w.startswith("--loadEngine=")]
    assert len(loaded) == len(models)
    for version in (100300, 7103, ""):
        stand_in(fake, "exit 3", version)
        ran = subprocess.run(
            [out / "engines.sh", "build"], env=environment, capture_output=True, timeout=60
        )
        assert ran.returncode == 1
        assert b"TensorRT 8 is required" in ran.stderr
    ran = subprocess.run([out / "engines.sh", "run"], env={"TRTEXEC": "/none"}, capture_output=True)
    assert (ran.returncode, b"/none is not found; TRTEXEC is to be its path" in ran.stderr) == (
        1,
        True,
    )
    log.unlink()


def trained(model):
    """The model with values for all weights."""
    from paretosoc.dse.tools.deploy.random_weights import give_random_weights

    changed = onnx.ModelProto.FromString(model.SerializeToString())
    assert give_random_weights(changed, [], 1, "squeezenet") > 20
    return changed


def test_a_model_that_changed_or_went_away(dse, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from paretosoc.sdf.catalogue.catalogue import model_file

    Path("mine.onnx").write_bytes(model_file("squeezenet").data)
    command = ("explore", "mine.onnx", "-p", "jetson-agx-xavier", "--units", "gpu,dla0")
    more = ("--groups", "3", "--max-evaluations", "50", "--max-nodes", "0", "-q", "-o", "run")
    assert dse(*command, *more).status == 0
    deploy = ("deploy", "run", "--to", "onnx", "-o", "out")
    assert dse(*deploy).status == 0
    Path("mine.onnx").rename("moved.onnx")
    gone = dse(*deploy, "--force")
    assert gone.status == 2
    assert "there is no file 'mine.onnx'; --model mine=FILE" in gone.err
    assert dse(*deploy, "--force", "--model", "mine=moved.onnx").status == 0
    model = onnx.load("moved.onnx")
    model.producer_name = "somebody else"
    onnx.save(trained(model), "mine.onnx")
    retrained = dse(*deploy, "--force")
    assert retrained.status == 0
    assert "no trained values" not in retrained.out
    model.graph.node[-1].output[0] = model.graph.output[0].name = "other"
    onnx.save(model, "mine.onnx")
    changed = dse(*deploy, "--force")
    assert changed.status == 2
    assert "mine.onnx is not the model that was explored" in changed.err
    assert len(changed.lines) == 1
    manifest(Path("out"))
