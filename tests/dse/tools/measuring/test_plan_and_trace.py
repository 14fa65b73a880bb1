"""A plan beside traces: our own, one of ONNX Runtime, and tables as nsys exports them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from paretosoc.dse.api.front import Front
from paretosoc.fitness.profiles.profilers.trace_ranges import read_trace
from paretosoc.platforms.errors import PlatformError
from paretosoc.results.deploy.deployment import Deployment
from tests.results.export.test_trace import check_trace

MS = 10**6
"""In ns."""


def rows_of(outcome):
    assert outcome.status == 0, outcome.err
    document = json.loads(outcome.out)
    return document["frames"], document["rows"]


def segments_of(folder):
    front = Front.load(folder)
    deployment = Deployment(front.numeric, front["fastest"].index, None, front.costs)
    networks = range(len(front.problem.networks))
    return deployment, [segment for n in networks for segment in deployment.segments(n)]


def test_our_own_trace_is_as_planned(dse, pair_folder, tmp_path):
    file, both = tmp_path / "plan.json", tmp_path / "both.json"
    assert dse("analyze", "export", pair_folder, "--to", "perfetto", "-o", file).status == 0
    frames, rows = rows_of(dse("measure", "trace", pair_folder, file, "-o", both, "--json"))
    assert frames == 1
    assert len(rows) == len(segments_of(pair_folder)[1])
    for row in rows:
        assert row["measured_ms"][0] == pytest.approx(row["planned_ms"], abs=1e-5)
    document = json.loads(both.read_text())
    check_trace(document)
    names = {e["args"]["name"] for e in document["traceEvents"] if e["name"] == "process_name"}
    assert names == {"planned: member 0 (fastest)", "measured: frame 1 of 1"}
    outcome = dse("measure", "trace", pair_folder, file)
    assert "Medians of 1 frame" in outcome.out


def nsys_file(path: Path, segments, layers, frames: int, slower: int) -> dict[int, list]:
    """Write ranges of engines on the host, with two kernels each that run a millisecond later, and
    the ranges of their first layer. Return the device's spans by segment."""
    spans: dict[int, list] = {n: [] for n in range(len(segments))}
    with sqlite3.connect(path) as trace:
        trace.executescript(
            "CREATE TABLE StringIds (id INTEGER, value TEXT);"
            "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,"
            " globalTid INTEGER, textId INTEGER);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER,"
            " globalTid INTEGER, correlationId INTEGER, nameId INTEGER);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER,"
            " correlationId INTEGER, globalPid INTEGER, streamId INTEGER);"
            "INSERT INTO NVTX_EVENTS VALUES (1, NULL, 34, 'a mark', 1, NULL);"
        )
        # Of the global numbers only the process's own bits agree.
        pid, call = 77 << 24, 0
        for f in range(frames):
            clock = 100 * MS * (f + 1)
            for n, name in enumerate(segments):
                thread, begin = pid + n, clock + n * MS
                trace.execute("INSERT INTO StringIds VALUES (?, ?)", (call, name))
                for text, identity in ((None, call), (layers[n], None)):
                    trace.execute(
                        "INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, ?)",
                        (begin, begin + 1000, text, thread, identity),
                    )
                for k in range(2):
                    call += 1
                    trace.execute(
                        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 0)",
                        (begin + 10 + k, begin + 11 + k, thread, call),
                    )
                    start = begin + MS + k * slower * MS
                    trace.execute(
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, ?, 7)",
                        (start, start + slower * MS, call, (5 << 48) + pid),
                    )
                spans[n].append((begin + MS, begin + MS + 2 * slower * MS))
    trace.close()
    return spans


def test_kernels_of_an_engine_say_when_it_ran(dse, pair_folder, tmp_path):
    deployment, segments = segments_of(pair_folder)
    names = [deployment.problem.networks[s.network].name for s in segments]
    ranges = [f"{name} {s.first}-{s.last}" for name, s in zip(names, segments, strict=True)]
    layers = [deployment.layers(segment)[0] for segment in segments]
    spans = nsys_file(tmp_path / "a.sqlite", ranges, layers, frames=3, slower=2)
    frames, rows = rows_of(dse("measure", "trace", pair_folder, tmp_path / "a.sqlite", "--json"))
    assert frames == 3
    by_name = {f"{row['network']} {row['groups']}": row for row in rows}
    for n, (name, segment) in enumerate(zip(names, segments, strict=True)):
        first, last = segment.first, segment.last
        row = by_name[f"{name} {first}-{last}" if first < last else f"{name} {first}"]
        for f, (start, end) in enumerate(row["measured_ms"]):
            assert start == pytest.approx((spans[n][f][0] - spans[0][f][0]) / MS)
            assert end - start == pytest.approx(4)
    outcome = dse("measure", "trace", pair_folder, tmp_path / "a.sqlite")
    assert "Some engines" not in outcome.out
    with sqlite3.connect(tmp_path / "a.sqlite") as trace:
        # The last segment of the last frame: its own range and that of its layer.
        last = "(SELECT rowid FROM NVTX_EVENTS ORDER BY rowid DESC LIMIT 2)"
        trace.execute(f"DELETE FROM NVTX_EVENTS WHERE rowid IN {last}")
    trace.close()
    outcome = dse("measure", "trace", pair_folder, tmp_path / "a.sqlite")
    assert "Some engines ran in 3 frames, others in 2: the first 2 are compared" in outcome.out
    # Layers of both networks have these names.
    nsys_file(tmp_path / "b.sqlite", layers, layers, frames=2, slower=1)
    outcome = dse("measure", "trace", pair_folder, tmp_path / "b.sqlite")
    assert "belongs to one network only" in outcome.err


def test_a_profile_of_onnx_runtime_is_a_trace(dse, pair_folder, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    out = tmp_path / "out"
    assert dse("deploy", pair_folder, "--to", "onnx", "-o", out, "--no-check").status == 0
    file = sorted(out.glob("*.onnx"))[0]
    options = onnxruntime.SessionOptions()
    options.enable_profiling, options.profile_file_prefix = True, str(tmp_path / "profile")
    session = onnxruntime.InferenceSession(str(file), options)
    feed = {i.name: np.zeros(i.shape, np.float32) for i in session.get_inputs()}
    for _ in range(4):
        session.run(None, feed)
    frames, rows = rows_of(dse("measure", "trace", pair_folder, session.end_profiling(), "--json"))
    assert frames == 4
    (shown,) = [row for row in rows if row["measured_ms"]]
    assert file.name.startswith(shown["network"])
    assert all(0 <= start < end for start, end in shown["measured_ms"])


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\x0a\xff\xfe", "traceconv json"),
        (b"{}", "must be a list of events"),
        (b'[{"ph": "X", "ts": 1}, 3', "got none"),
        (b"[{", "is no Trace Event JSON"),
        (b"SQLite format 3\0" + b"x" * 100, "is no export of nsys"),
    ],
)
def test_refused_in_a_line(dse, pair_folder, tmp_path, data, told):
    file = tmp_path / "trace"
    file.write_bytes(data)
    outcome = dse("measure", "trace", pair_folder, file)
    assert (outcome.status, len(outcome.lines)) == (2, 1)
    assert told in outcome.err


def test_beginnings_and_ends_of_threads_are_ranges(tmp_path):
    events = [
        {"ph": "B", "name": "a", "ts": 1.5, "pid": 1, "tid": 1},
        {"ph": "B", "name": "b", "ts": 2, "pid": 1, "tid": 2},
        {"ph": "E", "ts": 4, "pid": 1, "tid": 1},
        {"ph": "E", "ts": 9, "pid": 1, "tid": 2},
    ]
    (tmp_path / "t").write_text(json.dumps({"traceEvents": events}))
    found = read_trace(tmp_path / "t")
    assert [(r.name, r.start_ns, r.end_ns) for r in found] == [("a", 1500, 4000), ("b", 2000, 9000)]
    (tmp_path / "t").write_text("[]")
    with pytest.raises(PlatformError, match="got none"):
        read_trace(tmp_path / "t")
