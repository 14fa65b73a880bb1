"""Tables of what number formats cost in accuracy."""

from __future__ import annotations

from pathlib import Path

import pytest

from paretosoc.fitness.profiles.loss_table import LossTable, load_losses
from paretosoc.platforms.errors import PlatformError
from paretosoc.sdf.layer import Layer, LayerKind
from tests.support.problems.small_networks import layer

HEAD = "network,layer,format,loss_ppm\n"


def table(tmp_path: Path, *rows: str, head: str = HEAD) -> LossTable:
    path = tmp_path / "losses.csv"
    path.write_text(head + "\n".join(rows) + "\n")
    return load_losses(path)


def group(*names: str) -> list[Layer]:
    """Convolutions; of capital letters activations."""
    return [
        layer(name, LayerKind.ACTIVATION)
        if name.isupper()
        else layer(name, LayerKind.CONVOLUTION, macs=10)
        for name in names
    ]


def test_a_group_costs_the_sum_of_its_layers(tmp_path: Path) -> None:
    found = table(tmp_path, "net,a,int8,100", "net,b,int8,20.4", "net,*,int8,3", "net,a,fp16,1")
    groups = [group("a", "b"), group("c", "d"), group("b")]
    assert found.of_groups(["net"], "int8", groups) == (120, 6, 20)
    # Rows of others say that this layer costs nothing.
    assert found.of_groups(["net"], "fp16", groups) == (1, 0, 0)


def test_every_layer_is_every_one_that_multiplies(tmp_path: Path) -> None:
    found = table(tmp_path, "net,a,int8,100", "net,*,int8,3", "net,RELU,int8,50")
    groups = [group("a", "RELU", "POOL"), group("c", "POOL2"), group("POOL3")]
    assert found.of_groups(["net"], "int8", groups) == (150, 3, 0)


def test_a_network_has_one_metric(tmp_path: Path) -> None:
    head = "network,layer,format,loss_ppm,metric\n"
    found = table(tmp_path, "net,*,int8,1,top1", "other,*,int8,1,", head=head)
    assert found.metric_of(["net#2", "net"]) == "top1"
    assert found.metric_of(["other"]) is None
    assert table(tmp_path, "net,*,int8,1").metric_of(["net"]) is None
    with pytest.raises(PlatformError, match=r"line 3: metric .* 'net', got 'noise' after 'top1'"):
        table(tmp_path, "net,a,int8,1,top1", "net,b,int8,1,noise", head=head)


def test_the_first_known_name_of_a_network_counts(tmp_path: Path) -> None:
    found = table(tmp_path, "net,a,int8,100", "net_2,a,int8,7")
    assert found.of_groups(["net_2", "net"], "int8", [group("a")]) == (7,)
    assert found.of_groups(["net_3", "net"], "int8", [group("a")]) == (100,)


def test_the_reference_costs_nothing_and_gains_count_nothing(tmp_path: Path) -> None:
    found = table(tmp_path, "net,a,int8,-50", "net,b,INT8,8")
    assert found.of_groups(["net"], "fp32", [group("a"), group("b")]) == (0, 0)
    assert found.of_groups(["net"], "int8", [group("a"), group("b")]) == (0, 8)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    found = table(tmp_path, "net,conv1,int8,100", "net,unknown,int8,0")
    with pytest.raises(PlatformError, match=r"'net' in fp16; 'dse sensitivity --format int8,fp16'"):
        found.of_groups(["net"], "fp16", [group("conv1")])
    with pytest.raises(PlatformError, match="no row of network 'r#2' or 'resnet50' in int8"):
        found.of_groups(["r#2", "resnet50"], "int8", [group("conv1")])
    with pytest.raises(PlatformError, match=r"has no layer 'conv1' \(did you mean conv11\?\)"):
        found.of_groups(["net"], "int8", [group("conv11")])


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        (["net,a,int8,many"], r"line 2: loss_ppm must be a number.*'many'"),
        (["net,a,int8,1e13"], r"line 2: loss_ppm must be a number"),
        (["net,a,int8,nan"], r"line 2: loss_ppm must be a number"),
        (["net,a,int8,1", "net,a,int8,2"], r"line 3: net, int8, a stands twice"),
        (["net,,int8,1"], r"line 2: layer must not be empty"),
        ([], r"got no row"),
    ],
)
def test_broken_tables_are_refused(tmp_path: Path, rows: list[str], named: str) -> None:
    with pytest.raises(PlatformError, match=named):
        table(tmp_path, *rows)


def test_other_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="columns network, layer, format, loss_ppm"):
        table(tmp_path, "net,a,1", head="network,layer,loss_ppm\n")
