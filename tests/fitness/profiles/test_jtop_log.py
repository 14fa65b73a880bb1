"""Rows of ``jtop.stats`` as CSV and JSON, with the keys of jetson-stats 7.2."""

from __future__ import annotations

import csv
import io
import json

import pytest

from paretosoc.fitness.profiles.profilers.jtop_log import parse_power_log
from paretosoc.platforms.errors import PlatformError

ROWS = [
    {
        "time": "2026-11-26 10:00:00",
        "uptime": "1:02:03",
        "CPU1": 12,
        "CPU2": "OFF",
        "RAM": 0.5,
        "SWAP": 0.0,
        "EMC": 24,
        "GPU": 99.0,
        "DLA0_CORE": 1600000,
        "DLA1_CORE": "OFF",
        "Temp cpu": 50.1,
        "Power VDD_CPU_CV": 3000,
        "Power VDD_GPU_SOC": 9000,
        "Power TOT": 15000 + 100 * k,
        "nvp model": "MAXN",
    }
    for k in range(3)
]


def as_csv(rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize("text", [as_csv(ROWS), json.dumps(ROWS), "\n".join(map(json.dumps, ROWS))])
def test_rows_are_read(text):
    log = parse_power_log(text, "f")
    assert not log.warnings
    assert [sample.board_mw for sample in log.samples] == [15000, 15100, 15200]
    (first, *_) = log.samples
    assert [first.emc_percent, first.gpu_percent, first.cpu_percent] == [24, 99, 12]
    assert first.dla_mhz == {0: 1600}
    assert first.rails_mw["VDD_CPU_CV"] == 3000


def test_a_log_that_is_cut_off_keeps_its_whole_rows():
    text = as_csv(ROWS)
    log = parse_power_log(text[: len(text) - 30], "f")
    assert len(log.samples) == 2
    assert log.warnings == ("1 rows are cut off; left out",)


def test_others_are_refused():
    with pytest.raises(PlatformError, match="f: is no JSON of jtop"):
        parse_power_log("[{", "f")
    with pytest.raises(PlatformError, match="must hold rows of jtop"):
        parse_power_log('[{"uptime": 1}]', "f")
    with pytest.raises(PlatformError, match="must hold lines that tegrastats wrote"):
        parse_power_log("anything\n", "f")
