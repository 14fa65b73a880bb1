"""Rows of a TensorRT engine, matched to the layers of a network."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from paretosoc.fitness.profiles.layer_names import LayerNames
from paretosoc.fitness.profiles.profile_document import Import, Subject
from paretosoc.fitness.profiles.profilers.trtexec_import import (
    RowKind,
    import_trtexec,
    kind_of,
    sort_rows,
)
from paretosoc.fitness.profiles.profilers.trtexec_profile import EngineProfile, EngineRow
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform
from tests.support.growth import LINEAR, growth

XAVIER = load_platform("jetson-agx-xavier")
SUBJECT = Subject("net", 1000, "fp16", (("gpu", 1377000), ("emc", 2133000), ("dla", 1395200)))
LAYERS = ["conv1", "relu1", "pool1", "conv2", "relu2", "conv3", "relu3", "fc", "prob"]
NAMES = LayerNames(LAYERS, {"t1": "conv1", "t2": "relu1", "conv1": "prob"})
US = 10**6


def rows(*items: tuple[str, float]) -> list[EngineRow]:
    return [EngineRow(name, Fraction(time) * US, Fraction(time) * US / 2) for name, time in items]


@pytest.mark.parametrize(
    ("name", "layers", "unknown"),
    [
        ("conv1", ["conv1"], []),
        ("conv1 + relu1", ["conv1", "relu1"], []),
        ("conv2 + relu2 || conv3 + relu3", ["conv2", "relu2", "conv3", "relu3"], []),
        ("node_of_conv2", ["conv2"], []),
        ("node_of_t2 + node_of_pool1", ["relu1", "pool1"], []),
        ("t1_nchwc", ["conv1"], []),
        ("t2_nchwc_token_7", ["relu1"], []),
        ("node_of_conv1", ["prob"], []),
        ("conv2/MatMulAddFusion", ["conv2"], []),
        ("Conv2 + RELU_2", ["conv2", "relu2"], []),
        ("conv2 + PWN(PWN(relu2), relu3)", ["conv2", "relu2", "relu3"], []),
        ("conv2 + w + q", ["conv2"], ["w", "q"]),
        ("(Unnamed Layer* 53) [Convolution]_output", [], None),
        ("{conv2,relu2,conv3}", ["conv2", "relu2", "conv3"], []),
        ("{ForeignNode[pool1...conv3]}", ["pool1", "conv2", "relu2", "conv3"], []),
        ("{ForeignNode[x + pool1...conv2 + relu2]}", ["pool1", "conv2", "relu2"], []),
        ("{ForeignNode[x...conv2]}", [], None),
        ("{ForeignNode[conv3...conv2]}", [], None),
    ],
)
def test_fused_names(name: str, layers: list[str], unknown: list[str] | None) -> None:
    found = NAMES.find(name)
    assert list(found.layers) == layers
    assert unknown is None or list(found.unknown) == unknown


def test_names_with_separators_in_them_are_found_whole() -> None:
    names = LayerNames(["a + b", "a", "b", "a...b", "PWN(x)"])
    assert names.find("a + b").layers == ("a + b",)
    assert names.find("PWN(x)").layers == ("PWN(x)",)
    assert names.find("{ForeignNode[a...b...PWN(x)]}").layers == ("a...b", "PWN(x)")


@pytest.mark.parametrize(
    ("name", "kind", "owner"),
    [
        ("a + b input reformatter 0", RowKind.INPUT, "a + b"),
        ("a output reformatter 12", RowKind.OUTPUT, "a"),
        ("Reformatting CopyNode for Input Tensor 0 to a + b", RowKind.INPUT, "a + b"),
        ("Reformatting CopyNode for Output Tensor 1 to a", RowKind.OUTPUT, "a"),
        ("data to nvm", RowKind.TO_DLA, "data"),
        ("head from nvm", RowKind.FROM_DLA, "head"),
        ("data copy finish", RowKind.FINISH, "data"),
        ("{a,b} output to be reformatted 0 finish", RowKind.FINISH, "{a,b}"),
        ("{a,b} reformatted input 0 finish", RowKind.FINISH, "{a,b}"),
        ("fc finish", RowKind.FINISH, "fc"),
        ("inception/1x1 copy", RowKind.LAYERS, "inception/1x1"),
        ("{a,b}", RowKind.LAYERS, "{a,b}"),
    ],
)
def test_kinds_of_rows(name: str, kind: RowKind, owner: str) -> None:
    assert kind_of(name) == (kind, owner)


PART = "{conv2,relu2,conv3,relu3}"


@pytest.mark.parametrize(
    "wait",
    [
        [("out from nvm", 500), ("out copy finish", 1)],
        [(f"{PART} output reformatter 0", 500), (f"{PART} output to be reformatted 0 finish", 1)],
        [("fc input reformatter 0", 500), ("relu3 finish", 1)],
    ],
)
def test_the_time_of_a_dla_is_the_wait_behind_its_row(wait: list[tuple[str, float]]) -> None:
    times = sort_rows(
        rows(("data to nvm", 30), (PART, 8), ("data copy finish", 2), *wait, ("fc", 7)),
        has_dla=True,
        use_median=False,
        label="f",
    )
    assert times.blocks == [((PART,), Fraction(508 * US))]
    assert [(row.name, row.time_ps) for row in times.layers] == [("fc", Fraction(7 * US))]
    assert sum(row.time_ps for row in times.handed_over) == 33 * US
    assert times.flagged == []


def test_an_input_reformatter_is_not_the_wait_where_the_part_is_read_later() -> None:
    times = sort_rows(
        rows((PART, 8), ("fc input reformatter 0", 3), ("fc", 7), ("x from nvm", 500)),
        has_dla=True,
        use_median=False,
        label="f",
    )
    assert times.blocks == []
    assert "2 rows of another unit ran while the DLA did" in times.flagged[0]


def test_a_wait_that_hides_in_a_layer_is_flagged() -> None:
    times = sort_rows(
        rows(("x to nvm", 1), (PART, 8), ("fc", 507), ("prob", 1)),
        has_dla=True,
        use_median=False,
        label="f",
    )
    assert times.blocks == []
    assert [row.name for row in times.layers] == ["prob"]
    assert "'fc': may hold the wait" in times.flagged[0]
    alone = sort_rows(rows(("x to nvm", 1), (PART, 8)), has_dla=True, use_median=False, label="f")
    assert "no row waits for it" in alone.flagged[0]


def test_an_engine_that_waits_in_the_parts_own_row_has_all_its_time_there() -> None:
    times = sort_rows(
        rows(
            (f"Reformatting CopyNode for Input Tensor 0 to {PART}", 41),
            (PART, 1032),
            ("Reformatting CopyNode for Input Tensor 0 to fc", 17),
            ("fc", 18),
        ),
        has_dla=True,
        use_median=False,
        label="f",
    )
    assert times.blocks == [((PART,), Fraction(1032 * US))]
    assert [row.name for row in times.layers] == ["fc", "fc"]
    assert [row.time_ps for row in times.layers] == [17 * US, 18 * US]
    assert [row.time_ps for row in times.handed_over] == [41 * US]
    assert times.flagged == []


def test_two_parts_before_one_wait_are_one() -> None:
    times = sort_rows(
        rows(("{conv2}", 8), ("{conv3}", 9), ("out from nvm", 100), ("more from nvm", 4)),
        has_dla=True,
        use_median=True,
        label="f",
    )
    assert times.blocks == [(("{conv2}", "{conv3}"), Fraction(117 * US, 2))]
    assert [row.name for row in times.handed_over] == ["more from nvm"]


def test_without_a_dla_such_a_part_is_a_layer_and_signs_of_one_are_refused() -> None:
    plain = sort_rows(rows((PART, 8)), has_dla=False, use_median=False, label="f")
    assert [row.name for row in plain.layers] == [PART]
    with pytest.raises(PlatformError, match="--dla must name the unit"):
        sort_rows(rows((PART, 8), ("x from nvm", 8)), has_dla=False, use_median=False, label="f")
    with pytest.raises(PlatformError, match="--median needs medians"):
        sort_rows([EngineRow("a", Fraction(1), None)], has_dla=False, use_median=True, label="f")


def imported(
    *files: list[tuple[str, float]], dla: tuple[str, ...] = ()
) -> tuple[dict[str, Any], list[str]]:
    profiles = [
        (f"f{number}", EngineProfile(tuple(rows(*items)), 10, ()))
        for number, items in enumerate(files)
    ]
    made = Import(None, XAVIER, SUBJECT, "test")
    import_trtexec(made, profiles, NAMES, units=["gpu"], dla=dla, use_median=False)
    return made.record, made.flagged


def layer_times(record: dict[str, Any], unit: str) -> dict[tuple[str, ...], float]:
    return {
        tuple(part.get("names") or [part["name"]]): part["ms"][unit]
        for part in record["layers"]
        if unit in part["ms"]
    }


def test_reformatting_and_copies_belong_to_their_layer() -> None:
    record, flagged = imported(
        [
            ("conv1 + relu1 input reformatter 0", 10),
            ("conv1 + relu1", 100),
            ("pool1", 20),
            ("pool1 copy", 5),
            ("conv2 + relu2 || conv3 + relu3", 50),
            ("conv3 copy", 1),
            ("mystery", 3),
        ]
    )
    assert layer_times(record, "gpu") == {
        ("conv1", "relu1"): 0.11,
        ("pool1",): 0.025,
        ("conv2", "relu2", "conv3", "relu3"): 0.051,
    }
    assert flagged == ["f0: 'mystery' is no layer of the network; 0.003 ms not used"]


def test_parts_of_a_fused_row_that_the_network_does_not_have_are_named() -> None:
    record, flagged = imported([("conv1 + mystery + relu1", 100), ("pool1", 20)])
    assert layer_times(record, "gpu") == {("conv1", "relu1"): 0.1, ("pool1",): 0.02}
    assert flagged == [
        "f0: 'conv1 + mystery + relu1': 'mystery' not known in the network; all its time goes to "
        "the layers that are"
    ]


def test_a_range_does_not_hold_what_other_rows_name() -> None:
    record, _ = imported([("{ForeignNode[conv1...conv3]}", 90), ("pool1", 4), ("relu3", 1)])
    assert layer_times(record, "gpu") == {
        ("conv1", "relu1", "conv2", "relu2", "conv3"): 0.09,
        ("pool1",): 0.004,
        ("relu3",): 0.001,
    }


def test_a_dlas_groups_are_differences_of_runs() -> None:
    whole = "{" + ",".join(LAYERS[:8]) + "}"
    late = "{" + ",".join(LAYERS[3:8]) + "}"
    noise = "{" + ",".join(LAYERS[5:8]) + "}"
    runs = [
        [(whole, 8), ("x from nvm", 992)],
        [("conv1 + relu1", 50), ("pool1", 9), (late, 8), ("x from nvm", 592)],
        [(noise, 8), ("x from nvm", 600)],
    ]
    record, flagged = imported(*runs[:2], dla=("dla0", "dla1"))
    expected = {tuple(LAYERS[:3]): 0.4, tuple(LAYERS[3:8]): 0.6}
    assert layer_times(record, "dla0") == layer_times(record, "dla1") == expected
    notes = [part["notes"]["dla0"] for part in record["layers"] if "notes" in part]
    assert notes == ["1 ms for 8 layers less 0.6 ms for 5 of them"]
    assert flagged == []
    # A part of a part that took longer than it: flagged, not used.
    record, flagged = imported(*runs, dla=("dla0",))
    assert layer_times(record, "dla0") == expected
    assert flagged == [
        "'conv2' and 4 others: less its part of 3 layers (0.608 ms) leaves -0.008 ms; "
        "the difference is not used"
    ]


def test_of_files_that_fuse_otherwise_the_first_counts_and_equal_rows_are_averaged() -> None:
    record, flagged = imported(
        [("conv1 + relu1", 100), ("pool1", 20)],
        [("conv1 + relu1", 200), ("pool1 + conv2", 90), ("conv3", 7)],
    )
    assert layer_times(record, "gpu") == {
        ("conv1", "relu1"): 0.15,
        ("pool1",): 0.02,
        ("conv3",): 0.007,
    }
    assert len(flagged) == 1
    assert "were measured" in flagged[0]


def test_a_profile_of_another_network_is_refused() -> None:
    with pytest.raises(PlatformError, match="no row belongs to a layer of network 'net'"):
        imported([("x", 1), ("y", 2)])


@pytest.mark.parametrize(
    "make",
    [
        lambda size: "{ForeignNode[" + "a..." * size + "]}",
        lambda size: "PWN(" * size + "a" + ")" * size,
        lambda size: "x" * 10 * size,
    ],
    ids=["range", "nested", "long"],
)
def test_a_name_of_any_length_is_read_or_unknown(make: Callable[[int], str]) -> None:
    for size in (3, 2000, 10**6):
        found = NAMES.find(make(size))
        assert found.layers == ()
        assert found.unknown


def test_rows_of_an_engine_are_sorted_in_linear_time() -> None:
    def rows(size: int) -> list[EngineRow]:
        names = [f"x{n} input reformatter 0" for n in range(size)]
        return [EngineRow(name, Fraction(1), None) for name in [*names, "{a}", "b from nvm"]]

    def run(rows: list[EngineRow]) -> None:
        assert sort_rows(rows, has_dla=True, use_median=False, label="f").layers

    assert growth(run, rows, 1000) < LINEAR
