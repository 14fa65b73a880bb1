"""Lines of tegrastats from several boards and versions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretosoc.fitness.profiles.profilers.tegrastats_log import (
    board_mw,
    emc_percent,
    parse_tegrastats,
    quantities,
)
from paretosoc.platforms.errors import PlatformError

TX2 = (
    "RAM 2000/7852MB (lfb 1154x4MB) SWAP 0/3926MB (cached 0MB) "
    "CPU [1%@345,off,off,3%@345,0%@345,2%@345] EMC_FREQ 4%@1600 GR3D_FREQ 10%@624 APE 150 "
    "PLL@37.5C GPU@35C PMIC@100C VDD_SYS_GPU 152/153 VDD_SYS_SOC 687/600 VDD_4V0_WIFI 0/0 "
    "VDD_IN 3056/2900 VDD_SYS_CPU 150/140 VDD_SYS_DDR 883/880"
)
NANO = (
    "RAM 1404/3964MB (lfb 1x2MB) CPU [12%@1479,off] EMC_FREQ 31%@1600 GR3D_FREQ 99%@921 GPU@45C "
    "POM_5V_IN 7484/7000 POM_5V_GPU 2824/2500 POM_5V_CPU 840/800"
)
XAVIER = (
    "02-07-2026 22:31:49 RAM 13908/31011MB (lfb 3331x4MB) IRAM 1/252kB(lfb 252kB) "
    "CPU [21%@1175,30%@1174] EMC_FREQ 60%@2133 GR3D_FREQ 99%@1377 VIC_FREQ 1036 APE 150 "
    "MTS fg 0% bg 1% AUX@45.5C GPU@46.5C GPU 3500mW/1868mW CPU 700mW/683mW SOC 2600mW/2231mW "
    "CV 10mW/0mW VDDRQ 600mW/425mW SYS5V 2700mW/2487mW"
)
ORIN = (
    "11-21-2026 08:49:48 RAM 13983/62780MB (lfb 424x4MB) CPU [90%@2201,100%@2201,off] "
    "EMC_FREQ 1%@3199 GR3D_FREQ 14%@[407,408] VIC 36%@115 NVENC 79%@166 NVDLA0_FREQ @1600 "
    "NVDLA1 off PVA0_FREQ off APE 174 CV0@-256C GPU@69.125C VDD_GPU_SOC 3000mW/2971mW "
    "VDD_CPU_CV 14000mW/12415mW VIN_SYS_5V0 5000mW/5048mW NC 7mW/7mW "
    "VDDQ_VDD2_1V8AO 1000mW/1091mW NC 0mW/0mW"
)
THREE = (
    "07-25-2026 09:08:28 RAM 1/2MB (lfb 1x2MB) CPU [23%@2201] EMC_FREQ 3%@3199 "
    "GR3D_FREQ @[1300,1300] cpu@52.9C/52.9C VDD_GPU_SOC 5139mW/5000mW/6000mW "
    "VDD_CPU_CV 3268mW/3268mW/3268mW VIN_SYS_5V0 5500mW/5500mW/5500mW"
)
PLAIN = "RAM 1404/7860MB (lfb 236x4MB) CPU [0%@345] EMC_FREQ 0% GR3D_FREQ 0% GPU@32C"


def test_what_each_board_prints_is_read() -> None:
    log = parse_tegrastats("\n".join([TX2, NANO, XAVIER, ORIN, THREE, PLAIN]) + "\n", "f")
    tx2, nano, xavier, orin, three, plain = log.samples
    assert (tx2.emc_percent, tx2.emc_mhz, tx2.gpu_percent, tx2.gpu_mhz) == (4, 1600, 10, 624)
    assert tx2.cpu_percent == 6 / 4
    # The input of a board holds its other rails.
    assert (tx2.board_mw, nano.board_mw) == (3056, 7484)
    assert xavier.rails_mw == {
        "GPU": 3500, "CPU": 700, "SOC": 2600, "CV": 10, "VDDRQ": 600, "SYS5V": 2700
    }  # fmt: skip
    assert xavier.board_mw == 10110
    assert (orin.gpu_percent, orin.gpu_mhz, orin.dla_mhz) == (14, 407, {0: 1600})
    # A rail behind another one, and channels without a rail, do not count.
    assert orin.board_mw == 22000
    assert "NC" not in orin.rails_mw
    assert (three.gpu_percent, three.gpu_mhz, three.rails_mw["VDD_GPU_SOC"]) == (None, 1300, 5139)
    assert (plain.emc_percent, plain.emc_mhz, plain.board_mw) == (0, None, None)
    assert log.warnings == ()


def test_the_median_load_ignores_idle_ends() -> None:
    lines = [XAVIER.replace("60%@", f"{load}%@") for load in (1, 58, 60, 61, 63, 60, 2)]
    log = parse_tegrastats("\n".join(lines), "f")
    assert emc_percent(log, "f") == 60
    assert board_mw(log, "f") == 10110
    by_name = {item.name: item for item in quantities(log.samples)}
    assert (by_name["EMC load"].least, by_name["EMC load"].most) == (1, 63)
    assert by_name["board"].samples == 7


def test_a_last_line_that_is_cut_off_and_other_text_are_left_out() -> None:
    log = parse_tegrastats(f"hello\n{XAVIER}\n{XAVIER[:140]}", "f")
    assert len(log.samples) == 1
    assert log.warnings == (
        "line 1 is no sample; left out",
        "line 3, the last one, is cut off; left out",
    )


@pytest.mark.parametrize(
    "line",
    [
        XAVIER.replace("60%@", f"{'9' * 400}%@"),
        XAVIER.replace("VDD", f"X {10**5}mW/{'1' * 5000}mW VDD", 1),
        XAVIER + " " + "CPU [" * 3000,
    ],
    ids=["percent", "power", "long"],
)
def test_a_line_with_figures_that_none_has_is_left_out(line: str) -> None:
    log = parse_tegrastats(f"{line}\n{XAVIER}\n", "f")
    assert log.warnings == ("line 1 is no sample; left out",)
    assert log == replace(parse_tegrastats(XAVIER + "\n", "f"), warnings=log.warnings)
    assert len(quantities(log.samples)) > 3


@given(st.integers(0, len(ORIN)))
def test_a_cut_never_makes_up_figures(keep: int) -> None:
    log = parse_tegrastats(f"{ORIN}\n{ORIN[:keep]}", "f")
    whole = log.samples[0]
    for sample in log.samples[1:]:
        assert sample.rails_mw == whole.rails_mw


@pytest.mark.parametrize("text", ["", "\n\n", "EMC_FREQ 4%\n"])
def test_a_text_without_samples_is_refused(text: str) -> None:
    with pytest.raises(PlatformError, match="f: must hold lines that tegrastats wrote"):
        parse_tegrastats(text, "f")


def test_what_a_log_does_not_tell_is_refused_by_name() -> None:
    log = parse_tegrastats("RAM 1/2MB (lfb 1x2MB) CPU [0%@345]\n", "f")
    with pytest.raises(PlatformError, match="f: must tell EMC_FREQ"):
        emc_percent(log, "f")
    with pytest.raises(PlatformError, match="f: must have power rails"):
        board_mw(log, "f")
