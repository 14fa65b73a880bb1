"""The memory-bound networks that `dse measure fidelity` is shown on."""

import pytest

from benchmarks.problems.fully_connected import INPUTS, main
from paretosoc.sdf.catalogue.catalogue import load_network


@pytest.mark.parametrize(
    ("name", "macs"),
    [
        ("alexnet_fc", 9216 * 4096 + 4096 * 4096 + 4096 * 1000),
        ("vgg_fc", 25088 * 4096 + 4096 * 4096 + 4096 * 1000),
    ],
)
def test_they_have_the_published_sizes(name, macs, tmp_path, capsys):
    assert main([str(tmp_path)]) == 0
    assert set(INPUTS) == {path.stem for path in tmp_path.iterdir()}
    network = load_network(str(tmp_path / f"{name}.onnx"))
    found = sum(actor.layer.macs for actor in network.graph.actors if actor.layer is not None)
    assert found == macs
    assert main([]) == 2
    assert "FOLDER" in capsys.readouterr().err
