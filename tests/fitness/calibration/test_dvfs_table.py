"""Tables of measurements over clocks: what is read, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from paretosoc.fitness.calibration.dvfs import subjects
from paretosoc.fitness.calibration.dvfs_table import read_measurements
from paretosoc.fitness.cost_model.power import domain_idle_mw
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform

TX2 = load_platform("jetson-tx2")
EMC = len(TX2.domain_by_name["emc"].operating_points) - 1
HEADER = "network,unit,a57_mhz,gpu_mhz,fps,mj"


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "measurements.csv"
    path.write_text(text)
    return path


def test_a_table_is_read(tmp_path):
    rows = read_measurements(
        table(tmp_path, f"{HEADER}\nvgg19,gpu,2035.2,726.75,10.0,440\nvgg19,gpu,,,20,\n"), TX2
    )
    assert rows[0].points == (6, 11, EMC)
    assert (rows[0].ms, rows[0].mj, rows[0].mw) == (100.0, 440.0, None)
    assert rows[1].points == (12, 11, EMC)
    assert list(subjects(rows)) == [("vgg19", "", "gpu")]


def test_power_is_that_at_the_parked_clocks_of_what_the_unit_does_not_depend_on(tmp_path):
    """A Jetson whose clocks are all held has its CPU at the fastest one, as the log shows."""
    orin = load_platform("jetson-orin-nano-8gb")
    rows = read_measurements(
        table(
            tmp_path,
            "network,unit,cpu_mhz,ms,mw,mj\nresnet50,gpu,1728,2,9000,\n"
            "resnet50,gpu,729.6,2,9000,\nresnet50,gpu,,2,9000,\nresnet50,gpu,1728,2,,18\n",
        ),
        orin,
    )
    idle = domain_idle_mw(orin, "cpu")
    more = float(idle[-1] - idle[orin.domain_by_name["cpu"].parked])
    assert more > 100
    assert [row.mw for row in rows] == [9000 - more, 9000, 9000, None]
    assert rows[3].mj == pytest.approx(18 - 2 * more / 1000)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "resnet50,gpu,1728,2,300,",
            r"mw must be above the \d+ mW that clocks which gpu does not depend on add .* got 300",
        ),
        ("resnet50,gpu,1728,,,18", "mj beside a clock that gpu does not depend on needs ms or fps"),
        ("resnet50,gpu,1700,2,9000,", "cpu_mhz: 1700 MHz is not on the ladder"),
    ],
)
def test_powers_beside_other_clocks_that_cannot_be_used_are_named(tmp_path, line, message):
    path = table(tmp_path, f"network,unit,cpu_mhz,ms,mw,mj\n{line}\n")
    with pytest.raises(PlatformError, match=message):
        read_measurements(path, load_platform("jetson-orin-nano-8gb"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("vgg19,npu,,,1,1", r"line 2: unit must name a unit \(denver1"),
        (
            "vgg19,gpu,2000,,1,1",
            "a57_mhz: 2000 MHz is not on the ladder; nearest are 1881.6 and",
        ),
        ("vgg19,denver1,,1300.5,1,1", "gpu_mhz must be empty: denver1 depends on denver, emc"),
        ("vgg19,gpu,,,0,1", "fps must be above 0"),
        ("vgg19,gpu,,,,", "one of ms, fps, mw, mj is required"),
        (",gpu,,,1,1", "network must not be empty"),
    ],
)
def test_rows_that_cannot_be_used_are_named(tmp_path, line, message):
    with pytest.raises(PlatformError, match=message):
        read_measurements(table(tmp_path, f"{HEADER}\n{line}\n"), TX2)


def test_a_time_is_given_once(tmp_path):
    path = table(tmp_path, "network,unit,ms,fps\nvgg19,gpu,1,1000\n")
    with pytest.raises(PlatformError, match="one of ms and fps only"):
        read_measurements(path, TX2)
