"""The report on the graphs that come along, and what it leaves out."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from paretosoc.sdf.analysis.sdf_report import analyse, format_report
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats.graph_json import read_graph
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from tests.support.bounded_channels import bounded_throughput

EXAMPLES = Path(__file__).parents[3] / "examples" / "sdf"


def test_a_rate_converter() -> None:
    graph = read_graph(EXAMPLES / "rate_converter.xml")
    report = analyse(graph)
    assert dict(report.repetitions)["writer"] == 160
    assert report.throughput is not None
    # Without cycles the busiest actor decides: 98 firings of 46.
    assert report.throughput.iterations == Fraction(1, 98 * 46)
    assert report.auto_concurrent is not None
    assert report.auto_concurrent.iterations is None
    assert report.bound is not None
    assert [processor for processor, _ in report.bound.orders] == ["cpu", "dsp"]
    assert report.bound.throughput.period >= 147 * 18 + 98 * 46 + 28 * 95 + 32 * 120
    assert report.deadlock_free is not None
    assert report.deadlock_free.distribution.capacities == (1, 4, 8, 14, 5)
    assert report.fast_enough is not None
    assert report.fast_enough.exact
    again = bounded_throughput(
        graph, dict(report.times), report.fast_enough.distribution.capacities
    )
    assert again is not None
    assert again.iterations == report.wanted == report.throughput.iterations
    assert report.trade_off is not None
    assert report.trade_off.complete
    assert report.trade_off.points[0].tokens == report.deadlock_free.distribution.tokens
    assert report.trade_off.points[-1].tokens == report.fast_enough.distribution.tokens
    text = format_report(report)
    for part in ("raise_2_7: 28, 95 time units each", "1/4508 iterations", "stage_2: 14", "32 tok"):
        assert part in text


def test_other_processors_and_another_throughput() -> None:
    graph = read_graph(EXAMPLES / "rate_converter.xml")
    report = analyse(graph, processor_type="cpu", throughput=Fraction(1, 20_000))
    assert dict(report.times)["raise_8_7"] == 350
    assert report.bound is not None
    # One processor does everything, one after the other.
    load = sum(count * dict(report.times)[name] for name, count in report.repetitions)
    assert report.bound.throughput.period == load
    assert report.wanted == Fraction(1, 20_000)
    assert report.fast_enough is not None
    assert report.fast_enough.distribution.throughput.period <= 20_000


def test_a_graph_of_twenty_thousand_firings() -> None:
    report = analyse(read_graph(EXAMPLES / "block_video.xml"))
    assert report.throughput is not None
    assert report.throughput.period == 10_560 * 3
    assert report.fast_enough is not None
    assert report.fast_enough.distribution.throughput.period == report.throughput.period
    assert report.trade_off is None
    assert "note: no trade-off: an iteration has 21296 firings" in format_report(report)


def test_without_execution_times_there_is_no_throughput() -> None:
    graph = SdfGraph("", (Actor("x"), Actor("y")), (Channel("x", "y", 2, 3),))
    report = analyse(graph)
    assert report.throughput is None
    assert report.bound is None
    assert report.deadlock_free is not None
    assert report.channels == ("x -> y",)
    text = format_report(report)
    assert "graph without a name" in text
    assert "note: no throughput" in text
    with pytest.raises(GraphError, match="no execution time"):
        analyse(graph, throughput=Fraction(1))


def test_some_execution_times_are_not_enough() -> None:
    graph = SdfGraph("g", (Actor("x", execution_times=(("p", 1),)), Actor("y")))
    with pytest.raises(GraphError, match="'y' has no execution time"):
        analyse(graph)


def test_times_of_zero_limit_nothing() -> None:
    graph = SdfGraph("g", (Actor("x", execution_times=(("p", 0),)),))
    report = analyse(graph)
    assert report.throughput is not None
    assert report.throughput.iterations is None
    assert report.fast_enough is None
    assert "throughput: unbounded" in format_report(report)


def test_too_many_firings_for_buffers_are_said_so() -> None:
    times = (("p", 2),)
    graph = SdfGraph(
        "g",
        (Actor("x", execution_times=times), Actor("y", execution_times=times)),
        (Channel("x", "y", 10**12, 1),),
    )
    report = analyse(graph)
    assert report.throughput is not None
    assert report.throughput.period == 2 * 10**12
    assert report.deadlock_free is None
    assert "no buffers and no processors: an iteration has 1000000000001 firings" in report.notes[0]


def test_an_empty_graph() -> None:
    report = analyse(SdfGraph("g", ()))
    assert report.repetitions == ()
    assert format_report(report).startswith("g: 0 actors, 0 channels")
