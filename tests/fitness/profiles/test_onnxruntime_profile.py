"""ONNX Runtime's profiles, whole and cut off."""

from __future__ import annotations

import json
from fractions import Fraction
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretosoc.fitness.profiles.layer_names import LayerNames
from paretosoc.fitness.profiles.profile_document import Import, Subject
from paretosoc.fitness.profiles.profilers.onnxruntime_profile import (
    ANY_PROVIDER,
    import_onnxruntime,
    parse_onnxruntime_profile,
)
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform
from tests.support.growth import LINEAR, growth, memory_growth

US = 10**6
XAVIER = load_platform("jetson-agx-xavier")
SUBJECT = Subject("net", 1000, "fp32", (("cpu", 2265600), ("gpu", 1377000), ("emc", 2133000)))


def event(name: str, ts: int, dur: int, *, cat: str = "Node", **args: Any) -> dict[str, Any]:
    return {
        "cat": cat, "pid": 1, "tid": 2, "dur": dur, "ts": ts, "ph": "X", "name": name, "args": args
    }  # fmt: skip


def node(name: str, ts: int, dur: int, provider: str = "CPUExecutionProvider") -> dict[str, Any]:
    return event(f"{name}_kernel_time", ts, dur, op_name="Conv", provider=provider)


def session(runs: list[list[tuple[str, int]]]) -> list[dict[str, Any]]:
    """Nodes come before the run that holds them, as they do in files."""
    events = [event("session_initialization", 0, 90, cat="Session")]
    clock = 100
    for run in runs:
        start = clock
        for name, dur in run:
            events.append(event(f"{name}_fence_before", clock, 1))
            events.append(node(name, clock + 1, dur))
            clock += dur + 2
        events.append(event("SequentialExecutor::Execute", start, clock - start, cat="Session"))
        events.append(event("model_run", start, clock - start + 5, cat="Session"))
        clock += 10
    return events


RUNS = [[("c", 5000), ("r", 70)], [("c", 100), ("r", 20)], [("c", 300), ("r", 40)]]


def text_of(events: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, events)) + "\n]\n"


def test_times_are_means_over_the_runs_after_the_first() -> None:
    profile = parse_onnxruntime_profile(text_of(session(RUNS)), "f", skip=1)
    assert [node.name for node in profile.nodes] == ["c", "r"]
    assert [node.mean_ps / US for node in profile.nodes] == [200, 30]
    assert [node.median_ps / US for node in profile.nodes] == [200, 30]
    assert profile.runs == 2
    assert profile.warnings == ()
    everything = parse_onnxruntime_profile(text_of(session(RUNS)), "f", skip=0)
    assert everything.nodes[0].mean_ps == Fraction(5400 * US, 3)
    assert everything.nodes[0].median_ps == 300 * US


def test_a_session_that_died_gives_its_finished_runs() -> None:
    text = text_of(session(RUNS))
    last = text.rindex('"model_run"')
    profile = parse_onnxruntime_profile(text[: last - 40], "f", skip=1)
    assert profile.runs == 1
    assert profile.nodes[0].mean_ps == 100 * US
    assert any("cannot be read" in text for text in profile.warnings)
    assert profile.warnings[-1] == "2 nodes ran outside a finished run; not used"


@given(st.integers(0, 3000))
def test_a_cut_anywhere_is_survived(keep: int) -> None:
    whole = parse_onnxruntime_profile(text_of(session(RUNS)), "f", skip=0)
    try:
        part = parse_onnxruntime_profile(text_of(session(RUNS))[:keep], "f", skip=0)
    except PlatformError:
        return
    assert part.runs <= whole.runs
    assert {n.name for n in part.nodes} <= {n.name for n in whole.nodes}


@given(st.lists(st.lists(st.sampled_from("cdr"), unique=True), min_size=2, max_size=7))
def test_a_run_without_a_node_counts_as_nothing(names: list[list[str]]) -> None:
    runs = [[(name, 7 * n + ord(name)) for name in run] for n, run in enumerate(names, 1)]
    found = {name for run in runs[1:] for name, _ in run}
    if not found:
        return
    profile = parse_onnxruntime_profile(text_of(session(runs)), "f", skip=1)
    assert {node.name for node in profile.nodes} == found
    for node in profile.nodes:
        times = [dict(run).get(node.name, 0) for run in runs[1:]]
        assert node.mean_ps == Fraction(sum(times) * US, len(times))
        assert node.median_ps == Fraction(median(times)) * US


def many_nodes_and_runs(size: int) -> str:
    return text_of(session([[(f"node {n}", 5)] for n in range(size)]))


def test_a_large_profile_takes_linear_time_and_memory() -> None:
    def run(text: str) -> None:
        assert parse_onnxruntime_profile(text, "f", skip=0).runs > 1

    assert growth(run, many_nodes_and_runs, 250) < LINEAR
    assert memory_growth(run, many_nodes_and_runs, 250) < LINEAR


def test_names_are_printable() -> None:
    events = session([[("a\x1b[31m", 5)]])
    (node,) = parse_onnxruntime_profile(text_of(events), "f", skip=0).nodes
    assert node.name == "a\ufffd[31m"


@pytest.mark.parametrize(
    ("text", "skip", "expected"),
    [
        ("hello", 0, "must be a JSON list"),
        ("[]", 0, "must hold a finished run"),
        (text_of(session(RUNS)), 3, "must hold more runs than the 3 left out (--skip), got 3"),
        (text_of(session([[], []])), 0, "must hold times of nodes"),
        (
            text_of([{"cat": "Session", "name": "model_run", "ts": "1", "dur": 3}]),
            0,
            "finished run",
        ),
        (
            text_of([{"cat": "Session", "name": "model_run", "ts": 10**400, "dur": 3}]),
            0,
            "finished run",
        ),
        ("[05/08/2026] [I] a log of trtexec\n" * 200, 0, "more than 100 that cannot be read"),
    ],
)
def test_what_is_no_profile_is_refused(text: str, skip: int, expected: str) -> None:
    with pytest.raises(PlatformError) as caught:
        parse_onnxruntime_profile(text, "file", skip=skip)
    assert str(caught.value).startswith("file: ")
    assert expected in str(caught.value)


def test_nodes_become_layers_on_the_unit_of_their_provider() -> None:
    events = session([[("c", 100), ("r", 20), ("fc/MatMulAddFusion", 7), ("", 3), ("odd", 2)]])
    cuda = node("g", 130, 9, "CUDAExecutionProvider")
    events.insert(3, cuda)
    profile = parse_onnxruntime_profile(text_of(events), "f", skip=0)
    made = Import(None, XAVIER, SUBJECT, "test")
    import_onnxruntime(
        made,
        [("f", profile)],
        LayerNames(["c", "r", "fc", "g"]),
        providers={ANY_PROVIDER: ("cpu",), "CUDAExecutionProvider": ("gpu",)},
        use_median=False,
    )
    assert [(part["name"], part["ms"]) for part in made.record["layers"]] == [
        ("c", {"cpu": 0.1}),
        ("r", {"cpu": 0.02}),
        ("fc", {"cpu": 0.007}),
        ("g", {"gpu": 0.009}),
    ]
    assert made.flagged == [
        "f: a nameless Conv is no layer of the network; 0.003 ms not used",
        "f: 'odd' is no layer of the network; 0.002 ms not used",
    ]
    with pytest.raises(PlatformError, match="no node is a layer of network 'net'"):
        import_onnxruntime(
            Import(None, XAVIER, SUBJECT, "test"),
            [("f", profile)],
            LayerNames(["x"]),
            providers={ANY_PROVIDER: ("cpu",)},
            use_median=False,
        )
