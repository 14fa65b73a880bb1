"""Tables of demands and of pairs of runs."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretosoc.fitness.profiles.profile_document import Import, Subject, document_bytes, merged
from paretosoc.fitness.profiles.profile_file import read_profile
from paretosoc.fitness.profiles.profilers.demand_import import estimate_demand, import_demand
from paretosoc.fitness.profiles.profilers.transition_import import (
    import_transitions,
    parse_run_time,
)
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.layer import LayerKind
from tests.support.growth import LINEAR, growth
from tests.support.problems.small_networks import chain, layer, window

XAVIER = load_platform("jetson-agx-xavier")
SUBJECT = Subject("net", 3, "fp16", (("gpu", 1377000), ("emc", 2133000), ("dla", 1395200)))
TEGRASTATS = "RAM 1/2MB (lfb 1x2MB) CPU [0%@345] EMC_FREQ 40%@2133\n"


def network() -> GroupedNetwork:
    layers = [
        layer(name, LayerKind.CONVOLUTION, macs=1, parameters=10, window=window())
        for name in ("a", "b", "c")
    ]
    return chain(layers, [1, 2, 3])


def table(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, "utf-8")
    return path


def demand_of(folder: Path, text: str) -> tuple[dict[str, Any], list[str]]:
    made = Import(network(), XAVIER, SUBJECT, "test")
    import_demand(made, table(folder, text), gpu=["gpu"], dla=["dla0"])
    read_profile(document_bytes(made.document), XAVIER, "made")
    return made.record, made.flagged


def transitions_of(folder: Path, text: str) -> tuple[list[dict[str, Any]], list[str]]:
    made = Import(network(), XAVIER, SUBJECT, "test")
    import_transitions(made, table(folder, text))
    read_profile(document_bytes(made.document), XAVIER, "made")
    return made.record["transitions"], made.flagged


def test_a_demand_is_the_gpus_times_the_ratio_of_loads(tmp_path: Path) -> None:
    (tmp_path / "dla.log").write_text(TEGRASTATS, "utf-8")
    record, flagged = demand_of(
        tmp_path,
        "# a comment\ngroup,layer,gpu_gbps,gpu_percent,gpu_emc,dla_emc\n"
        "0,,60,,50,25\n"
        "g1,,,50,80,dla.log\n"
        ",c,10,,,\n"
        "2,,10,,0,5\n",
    )
    first, second, last = record["groups"]
    assert first["traffic_gbps"] == {"gpu": 60, "dla0": 30}
    assert "60 GB/s on gpu x EMC 25 % / 50 % (25 / 50)" in first["notes"]["dla0"]
    assert "29.11 to 30.91" in first["notes"]["dla0"]
    assert second["requested_percent"] == {"gpu": 50, "dla0": 25}
    assert "(dla.log / 80)" in second["notes"]["dla0"]
    assert last["traffic_gbps"] == {"gpu": 10}
    assert record["layers"] == [{"name": "c", "traffic_gbps": {"gpu": 10}}]
    assert [text.rpartition("table.csv, ")[2] for text in flagged] == [
        "line 5: the demand on dla0 needs gpu_emc and dla_emc; not made",
        "line 6: loads of 0 and 5 give no demand; not made",
    ]


@given(
    gbps=st.fractions(min_value=Fraction(1, 10), max_value=130),
    gpu=st.integers(1, 100),
    dla=st.integers(0, 100),
    off=st.tuples(*[st.fractions(min_value=-Fraction(1, 2), max_value=Fraction(1, 2))] * 2),
)
def test_the_interval_holds_whatever_was_rounded(
    gbps: Fraction, gpu: int, dla: int, off: tuple[Fraction, Fraction]
) -> None:
    made = estimate_demand(gbps, Fraction(gpu), Fraction(dla))
    assert made is not None
    assert made.most is not None
    assert made.least <= made.gbps <= made.most
    true = gbps * max(dla + off[0], Fraction(0)) / (gpu + off[1])
    assert made.least <= true <= made.most


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "must have a line of column names and rows"),
        ("group,gpu_emc,dla_emc\n", "must have a line of column names and rows"),
        ("group,gpu_gbps\n0,1\n", "; missing: "),
        ("group,gpu_gbps,gpu_emc,dla_emc,x\n0,1,1,1,1\n", "; unknown: x"),
        ("group,gpu_gbps,gpu_emc,dla_emc\n0,1,1\n", "line 2: must have 4 cells"),
        ("group,gpu_gbps,gpu_emc,dla_emc\n9,1,1,1\n", "group must be a number from 0 to 2"),
        ("group,gpu_gbps,gpu_emc,dla_emc\n0,x,1,1\n", "gpu_gbps must be a number, got 'x'"),
        ("group,gpu_gbps,gpu_emc,dla_emc\n0,-1,1,1\n", "gpu_gbps must not be negative"),
        ("group,gpu_gbps,gpu_emc,dla_emc\n0,200,1,1\n", "at most the memory's peak of 136.512"),
        ("group,gpu_gbps,gpu_emc,dla_emc\n0,2,no.log,1\n", "must be a number or a file"),
        ("group,gpu_gbps,gpu_emc,dla_emc\n0,2,180,60\n", "at most 100 %, got 180 and 60"),
        ("group,gpu_gbps,gpu_percent,gpu_emc,dla_emc\n0,2,2,1,1\n", "one of gpu_gbps and gpu_"),
        ("group,layer,gpu_gbps,gpu_emc,dla_emc\n0,a,2,1,1\n", "one of group and layer"),
        ("layer,gpu_gbps,gpu_emc,dla_emc\nz,2,1,1\n", "layer must be one of the network's 3"),
        ('group,gpu_gbps,gpu_emc,dla_emc\n"0,2,1,1\n', "must be CSV"),
    ],
)
def test_what_is_wrong_in_a_table_is_named(text: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(PlatformError) as caught:
        demand_of(tmp_path, text)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


LOG = "[I] GPU Compute Time: min = 1.9 ms, max = 2.4 ms, mean = {} ms, median = 1.99 ms\n"


def test_a_transition_is_out_and_in(tmp_path: Path) -> None:
    (tmp_path / "base.log").write_text(LOG.format("2.0"), "utf-8")
    (tmp_path / "marked.log").write_text(LOG.format("2.03"), "utf-8")
    found, flagged = transitions_of(
        tmp_path,
        "after,from,to,base,run\n"
        "0,gpu,,base.log,marked.log\n"
        "0,,dla0/dla1,3,3.05\n"
        "g1,dla0,gpu,4,4.1\n",
    )
    assert [(t["after"], t["from"], t["to"], t["ms"]) for t in found] == [
        ("g0", "gpu", "dla0", 0.08),
        ("g0", "gpu", "dla1", 0.08),
        ("g1", "dla0", "gpu", 0.1),
    ]
    assert found[0]["note"] == "out: marked.log less base.log; in: 3.05 less 3"
    assert flagged == []


def test_negative_differences_and_halves_are_flagged_and_not_used(tmp_path: Path) -> None:
    found, flagged = transitions_of(
        tmp_path,
        "after,from,to,base,run\n0,gpu,,2,1.9\n0,,dla0,3,3.05\n1,gpu,dla0,4,4\n",
    )
    assert [(t["after"], t["ms"]) for t in found] == [("g1", 0)]
    assert flagged[0].endswith("line 2: 1.9 less 2 is -0.1 ms; a negative difference is not used")
    assert flagged[1:] == [
        "after g0, into dla0: the other half of the transition was not measured; not used"
    ]


def test_a_difference_within_the_noise_of_single_runs_is_told(tmp_path: Path) -> None:
    for name, values in (("base.json", (2.0, 2.2, 1.8)), ("run.json", (2.05, 2.25, 1.85))):
        entries = [{"computeMs": value, "latencyMs": 3} for value in values]
        (tmp_path / name).write_text(json.dumps(entries), "utf-8")
    found, flagged = transitions_of(
        tmp_path, "after,from,to,base,run\n0,gpu,dla0,base.json,run.json\n"
    )
    assert found[0]["ms"] == 0.05
    assert "within 2 standard errors" in flagged[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("after,base,run\n0,1,2\n", "from, to or both are required"),
        ("after,from,to,base,run\n0,npu,,1,2\n", "from must name units"),
        ("after,from,to,base,run\n0,gpu,,,2\n", "base and run are required"),
        ("after,from,to,base,run\n0,gpu,,1,2\n", "must measure a whole transition"),
        ("after,from,to,base,run\n0,gpu,,1,2\n0,gpu,,1,2\n", "measures again"),
    ],
)
def test_what_is_wrong_with_runs_is_named(text: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(PlatformError) as caught:
        transitions_of(tmp_path, text)
    assert expected in str(caught.value)


def test_the_summary_of_an_old_version_is_read() -> None:
    lines = ("GPU Compute", "min: 3.6 ms", "max: 4.1 ms", "mean: 3.68 ms", "median: 3.66 ms")
    text = "[I] Host Latency\n[I] mean: 9 ms\n" + "".join(f"[I] {line}\n" for line in lines)
    assert parse_run_time(text, "f").mean_ps == Fraction("3.68") * 10**9


def test_a_summary_without_a_mean_takes_linear_time() -> None:
    def run(text: str) -> None:
        with pytest.raises(PlatformError, match="got 0 such lines"):
            parse_run_time(text, "f")

    # Every line may be taken in two ways: all their combinations are more than can be tried.
    assert growth(run, lambda size: "GPU Compute\n" + "min: max: 1 ms\n" * size, 1000) < LINEAR
    assert growth(run, lambda size: "GPU Compute: " * size, 1000) < LINEAR


@pytest.mark.parametrize(
    "text", [LOG.format("1.2.3"), LOG.format("1" * 400), '[{"computeMs": 1e9999}]']
)
def test_a_time_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(PlatformError, match=r"^f: numbers must have"):
        parse_run_time(text, "f")


@pytest.mark.parametrize("text", ["", "[]", "[{}]", LOG.format(1) * 2, '[{"computeMs": "x"}]'])
def test_a_file_without_a_time_is_refused(text: str) -> None:
    with pytest.raises(PlatformError, match=r"^f: must"):
        parse_run_time(text, "f")


def profile_of(**parts: Any) -> dict[str, Any]:
    record = {
        "network": "net", "macs": 3, "precision": "fp16", "clocks_mhz": {"gpu": 1377, "emc": 2133},
        "source": "one", "status": "measured",
    }  # fmt: skip
    return {"platform": XAVIER.name, "networks": [record | parts]}


def test_profiles_of_one_network_at_the_same_clocks_become_one() -> None:
    first = profile_of(layers=[{"names": ["a", "b"], "ms": {"gpu": 1}, "notes": {"gpu": "x"}}])
    second = profile_of(
        layers=[{"names": ["a", "b"], "ms": {"gpu": 1}, "notes": {"gpu": "y"}}, {"name": "c"}],
        clocks_mhz={"dla": 1395.2, "emc": 2133},
        source="two",
    )
    record = merged(first, second)["networks"]
    assert len(record) == 1
    assert record[0]["clocks_mhz"] == {"gpu": 1377, "emc": 2133, "dla": 1395.2}
    assert record[0]["source"] == "one; two"
    assert record[0]["layers"] == [
        {"names": ["a", "b"], "ms": {"gpu": 1}, "notes": {"gpu": "x; y"}},
        {"name": "c"},
    ]
    other = profile_of(clocks_mhz={"gpu": 1377, "emc": 1600})
    assert len(merged(first, other)["networks"]) == 2


def test_a_contradiction_is_named() -> None:
    first = profile_of(layers=[{"name": "a", "ms": {"gpu": 1}}])
    with pytest.raises(PlatformError, match="ms of a on gpu is in both profiles: 1 and 2"):
        merged(first, profile_of(layers=[{"name": "a", "ms": {"gpu": 2}}]))
    hand_over = {"after": 0, "from": "gpu", "to": "dla0", "ms": 1}
    with pytest.raises(PlatformError, match="the transition after 0 from gpu to dla0 is in both"):
        merged(profile_of(transitions=[hand_over]), profile_of(transitions=[hand_over | {"ms": 2}]))
    with pytest.raises(PlatformError, match="profiles of one platform"):
        merged(first, first | {"platform": "other"})
