"""A unit's process ends without a word if the one that asks it is gone."""

from __future__ import annotations

import os
from multiprocessing.shared_memory import SharedMemory
from unittest.mock import Mock

import pytest

from paretosoc.dse.tools.host.machine import unit_process
from paretosoc.dse.tools.host.machine.host_units import HostUnit, free_cores
from paretosoc.dse.tools.host.measure import co_running

GONE = [EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt]


@pytest.fixture
def unit():
    before = os.sched_getaffinity(0)
    yield HostUnit((free_cores()[0],))
    os.sched_setaffinity(0, before)


@pytest.mark.parametrize("gone", GONE)
def test_a_unit_that_serves_frames_ends(unit, gone):
    board = SharedMemory(create=True, size=4096)
    try:
        unit_process.serve(Mock(recv=Mock(side_effect=gone)), unit, board.name)
    finally:
        board.close()
        board.unlink()


@pytest.mark.parametrize("gone", GONE)
def test_a_unit_that_is_measured_ends(unit, gone, monkeypatch):
    monkeypatch.setattr(co_running, "_reader", lambda: lambda: None)
    connection = Mock(recv=Mock(side_effect=gone))
    co_running._serve(connection, unit, None, 0)
    # It says that it is ready, and sends no error to nobody.
    connection.send.assert_called_once_with(0.0)
