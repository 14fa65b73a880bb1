"""Whole networks beside each other on this machine: all runs of the plan, or one line of error."""

from __future__ import annotations

import onnx
import pytest

from paretosoc.dse.tools.host.machine.host_units import Host, HostUnit, free_cores
from paretosoc.dse.tools.host.measure.co_running import run_co_runs
from paretosoc.dse.workload.options import Options
from paretosoc.fitness.calibration.co_runs import plan
from paretosoc.results.errors import ResultError
from tests.support.host_machines import tiny_model

HOST = Host("a processor", 2000.0, energy_readable=False)
SIZES = Options(dimensions=(("width", 16),))


@pytest.fixture
def networks(tmp_path):
    for name, layers in (("one", 2), ("two", 3)):
        model = tiny_model(layers, name=name)
        model.graph.input[0].type.tensor_type.shape.dim[3].dim_param = "width"
        onnx.save(model, str(tmp_path / f"{name}.onnx"))
    return [str(tmp_path / f"{name}.onnx") for name in ("one", "two")]


def test_every_run_of_the_plan_has_a_time(networks):
    units = [HostUnit((free_cores()[0],))]
    rows = run_co_runs(networks, units, HOST, SIZES, rounds=2, seconds=0.02, seed=0)
    runs = [run for pair in plan(["one", "two"], [units[0].name]) for run in pair if run]
    assert [run for run, _ in rows] == runs * 2
    assert all(ms > 0 for _, ms in rows)


def test_a_network_that_cannot_be_run_is_one_line(networks, monkeypatch):
    from paretosoc.dse.tools.host.measure import co_running

    monkeypatch.setattr(co_running, "ANSWER_S", 0.0)
    units = [HostUnit((free_cores()[0],))]
    with pytest.raises(ResultError, match="did not answer for 0 s"):
        run_co_runs(networks, units, HOST, SIZES, rounds=1, seconds=0.02, seed=0)


def test_the_command_takes_sizes(networks, tmp_path, dse):
    third = onnx.load(networks[0])
    onnx.save(third, str(tmp_path / "three.onnx"))
    command = ("measure", "co-runs", *networks, tmp_path / "three.onnx", "-o", tmp_path / "t.csv")
    fast = ("--rounds", 1, "--seconds", 0.05)
    assert "give --dim width=N" in dse(*command, *fast).err
    ran = dse(*command, *fast, "--dim", "width=16")
    assert ran.status == 0, ran.err
    assert "times of " in ran.out
