"""Vendors' tables: what is read, what is flagged, what is refused in one line."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paretosoc.dse.inputs.yaml_loader import parse_yaml
from paretosoc.fitness.profiles.vendor_tables import (
    CATALOGUE_NAMES,
    read_hailo,
    read_qai_hub,
    read_rknn,
)
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.measurement import plain_name
from paretosoc.sdf.catalogue.catalogue import catalogue

PERF = """
precisions:
  float:
    components:
      Net-1:
        performance_metrics:
          Phone:
            qnn_dlc: {inference_time_milliseconds: 1.25, layer_counts: {total: 9, npu: 9}}
            tflite: {inference_time_milliseconds: 2, layer_counts: {total: 9, npu: 7, cpu: 2}}
  w8a8:
    components:
      Net-1:
        performance_metrics:
          Phone:
            qnn_dlc: {inference_time_milliseconds: 0.5, layer_counts: {total: 9, npu: 9}}
  w8a16:
    components:
      Net-1:
        performance_metrics:
          Phone:
            qnn_dlc: {inference_time_milliseconds: 0.75, layer_counts: {total: 9, npu: 9}}
"""
README = """
| Category | Name |
| --- | --- |
| other | table |

| demo | model_name | inputs | dtype | RK3566<br />RK3568 | RK3588<br />@single_core |
| ---- | ---------- | ------ | ----- | ------------------ | ------------------------ |
| a    | net1       | [1]    | INT8  | 10                 | 400                      |
|      | net2       | [1]    | FP16  | /                  | 12.5                     |
|      | net3       | [1]    | FP16  | 1                  | RTF <br>0.1              |
|      | net4       | [1]    | INT8  | 1                  |
"""
RST = """
.. list-table::
   :header-rows: 1

   * - Network Name
     - float
     - FPS (Batch Size=1)
     - FPS (Batch Size=8)
   * - net1 |star|
     - 71.1
     - 500
     - 500
   * - net2
     - 71.1
     - 20
     - 90
   * - net3
     - 71.1
     -
     - 90
"""


def perf(text: str = PERF, device: str = "Phone", runtime: str = "qnn_dlc"):
    document = parse_yaml(text.encode(), "perf")
    return read_qai_hub(document, device=device, runtime=runtime, label="perf")


def test_ai_hub() -> None:
    table = perf()
    assert [(row.network, row.precision, row.time_ps) for row in table.rows] == [
        ("Net-1", "fp16", Fraction(1_250_000_000)),
        ("Net-1", "int8", Fraction(500_000_000)),
    ]
    assert table.flagged == ("Net-1, w8a16: the number format is not one of float, w8a8",)


def test_ai_hub_leaves_out_what_is_not_all_on_the_npu() -> None:
    table = perf(runtime="tflite")
    assert table.rows == ()
    assert table.flagged == ("Net-1, float: not all layers on the NPU (total 9, npu 7, cpu 2)",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"device": "Tablet"}, r"perf: must have the device 'Tablet', got Phone"),
        ({"runtime": "onnx"}, r"perf: Phone must have the runtime 'onnx', got qnn_dlc, tflite"),
        ({"text": "a: 1"}, r"perf: must have a mapping 'precisions'"),
        ({"text": ""}, r"perf: must have a mapping 'precisions'"),
        ({"text": "precisions: {float: 1}"}, r"perf: float: must have a mapping 'components'"),
        ({"text": PERF.replace("1.25", "-1")}, r"perf: Net-1, float: must be above 0, got -1"),
        ({"text": PERF.replace("1.25", "fast")}, r"perf: Net-1, float: numbers must have"),
        ({"text": PERF.replace("Phone:", "Phone: 3 #", 1)}, "perf"),
    ],
)
def test_no_perf_file(change: dict[str, str], message: str) -> None:
    with pytest.raises(Exception, match=message) as caught:
        perf(**change)
    assert "\n" not in str(caught.value)


def test_rknn() -> None:
    table = read_rknn(README, chip="rk3588", label="README")
    assert [(row.network, row.precision, row.time_ps) for row in table.rows] == [
        ("net1", "int8", Fraction(2_500_000_000)),
        ("net2", "fp16", Fraction(80_000_000_000)),
    ]
    assert table.flagged == (
        "net3, fp16: no rate of images, 'RTF <br>0.1'",
        "line 11: 5 cells instead of 6",
    )
    other = read_rknn(README, chip="RK3568", label="README").rows
    assert [(row.network, int(row.time_ps)) for row in other] == [
        ("net1", 10**11),
        ("net3", 10**12),
    ]


def test_no_table_of_rockchip() -> None:
    with pytest.raises(PlatformError, match="must have a column of RK9999, got RK3566, RK3568, RK"):
        read_rknn(README, chip="RK9999", label="README")
    with pytest.raises(PlatformError, match="README: must have a table with model_name and dtype"):
        read_rknn("# Title\n", chip="RK3588", label="README")
    with pytest.raises(PlatformError, match="README: line 8: must be above 0, got 0"):
        read_rknn(README.replace("400 ", "0   "), chip="RK3588", label="README")


def test_hailo() -> None:
    table = read_hailo(RST, label="table")
    assert [(row.network, row.time_ps, row.note) for row in table.rows] == [
        ("net1", Fraction(2_000_000_000), "500 images/s, of a pipeline"),
        ("net2", Fraction(50_000_000_000), "20 images/s"),
    ]
    assert table.flagged == ("net3: no rate at batch 1, ''",)


def test_no_table_of_hailo() -> None:
    with pytest.raises(PlatformError, match="table: must have a list-table with 'Network Name'"):
        read_hailo("Title\n=====\n", label="table")
    with pytest.raises(PlatformError, match=r"must have a column 'FPS \(Batch Size=1\)'"):
        read_hailo(RST.replace("Batch Size=1", "Batch Size=2"), label="table")


def test_the_names_that_vendors_use_lead_to_networks_of_the_catalogue() -> None:
    names = {entry.name for entry in catalogue()}
    assert set(CATALOGUE_NAMES.values()) <= names
    plain = {plain_name(name) for name in names}
    assert not plain & set(CATALOGUE_NAMES)
    assert all(plain_name(name) == name for name in CATALOGUE_NAMES)
