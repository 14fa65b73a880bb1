"""The section ``deployment`` of platform files: agrees with the platform; errors name the path."""

import json

import pytest

from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform, platform_names, platform_source

SECTIONS = {name: load_platform(name).deployment for name in platform_names()}
# Of some boards no paths are published, and no format that sets clocks serves them.
WITH_CONTROLS = [name for name, section in SECTIONS.items() if section and section.controls]


@pytest.mark.parametrize("name", WITH_CONTROLS)
def test_every_clock_of_a_board_can_be_set(name):
    chip = load_platform(name)
    known = [control.domain for control in chip.deployment.controls]
    names = [domain.name for domain in chip.domains]
    assert known == [name for name in names if name in known]
    assert all(domain.name in known for domain in chip.domains if len(domain.operating_points) > 1)
    modes = chip.deployment.power_modes
    if modes is None:
        return
    assert {parameter.domain for parameter in modes.parameters} == set(chip.domain_by_name)
    # The first mode is without limits, and no cap of another passes the ladder.
    first = f"TPC_POWER_GATING TPC_PG_MASK {modes.modes[0].tpc_mask}"
    assert not any("TPC" in line and line != first for line in modes.settings)
    assert all(cap is None for _, cap in modes.modes[0].caps_khz)
    for mode in modes.modes[1:]:
        assert mode.cores <= modes.modes[0].cores
        assert 0 < modes.shares(mode)["gpu"] <= 1
        for domain, cap in mode.caps_khz:
            ladder = [p.frequency_khz for p in chip.domain_by_name[domain].operating_points]
            assert cap is None or cap == 0 or ladder[0] <= cap <= ladder[-1]


def load(tmp_path, **more):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"extends": "jetson-agx-xavier", "name": "mine", **more}))
    return load_platform(path)


def test_a_file_that_extends_a_board_has_its_section(tmp_path):
    base = load_platform("jetson-agx-xavier").deployment
    assert load(tmp_path).deployment == base
    without = load(
        tmp_path,
        units=[{"name": "dla1", "remove": True}],
        transitions=[{"unit": "dla1", "remove": True}],
        measurements=[],
        profiles=[],
    )
    assert dict(without.deployment.tensorrt) == {"gpu": None, "dla0": 0}
    node = {"domain": "gpu", "nodes": [["/sys/devices/gpu.1"]]}
    moved = load(tmp_path, deployment={"controls": [node]})
    assert [c.domain for c in moved.deployment.controls] == [c.domain for c in base.controls]
    assert moved.deployment.controls[1].nodes == (("/sys/devices/gpu.1",),)


def test_power_modes_leave_out_a_removed_domain(tmp_path):
    """An Orin without its DLAs: what the modes say of their clock goes with it."""
    path = tmp_path / "mine.json"
    gone = [{"unit": name, "remove": True} for name in ("dla0", "dla1")]
    path.write_text(
        json.dumps(
            {
                "extends": "jetson-agx-orin",
                "name": "mine",
                "domains": [{"name": "dla", "remove": True}],
                "units": [{"name": entry["unit"], "remove": True} for entry in gone],
                "transitions": gone,
            }
        )
    )
    base = load_platform("jetson-agx-orin").deployment
    mine = load_platform(path).deployment
    complete = tmp_path / "complete.json"
    complete.write_text(platform_source(str(path)))
    assert load_platform(complete).deployment == mine
    assert mine.controls == tuple(c for c in base.controls if c.domain != "dla")
    assert [p.domain for p in mine.power_modes.parameters] == ["cpu", "gpu", "emc"]
    for with_dla, without in zip(base.power_modes.modes, mine.power_modes.modes, strict=True):
        assert dict(without.caps_khz) == {
            domain: cap for domain, cap in with_dla.caps_khz if domain != "dla"
        }
        assert without.name == with_dla.name


NODE = {
    "domain": "gpuu",
    "kind": "devfreq",
    "nodes": [["/sys/devices/gpu.1"]],
    "source": "own board",
    "status": "measured",
}
MODE = {"domain": "gpuu", "hertz": 1, "names": [["GPU"]], "has_minimum": True}


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"controls": [{"domain": "gpu", "nodes": [["/etc/passwd"]]}]}, "nodes"),
        ({"controls": [{"domain": "gpu", "nodes": [["/sys/a b; rm -rf /"]]}]}, "nodes"),
        ({"controls": [{"domain": "gpu", "kind": "magic"}]}, "kind"),
        ({"power_modes": {"modes": []}}, "modes"),
        (
            {
                "power_modes": {
                    "modes": [
                        {"id": 0, "name": "A", "cores": 1, "tpc_mask": 0, "max_mhz": {"gpu": 1}}
                    ]
                }
            },
            r"modes\[0\].max_mhz must have the domains of the parameters",
        ),
        ({"power_modes": {"tpcs": 2}}, r"modes\[1\].tpc_mask must leave one of 2 .* got 5"),
        ({"power_modes": {"settings": ["CPU_ONLINE CORE_0 1\nGPU"]}}, "settings"),
        ({"tensorrt": {"gpu": "GPU"}}, "tensorrt"),
        ({"controls": [NODE]}, r"controls\[4\].domain must .*; did you mean gpu\?\), got 'gpuu'"),
        ({"power_modes": {"parameters": [MODE]}}, r"parameters\[0\].domain must .* gpu"),
        *(
            ({key: {"dla3": value}}, f"{key} must name a unit .*; did you mean dla.*, got 'dla3'")
            for key, value in (
                ("tensorrt", 1),
                ("openvino", "NPU"),
                ("rknn", "NPU_CORE_0"),
                ("onnxruntime", {"provider": "CPUExecutionProvider"}),
            )
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path, section, message):
    with pytest.raises(PlatformError, match=message):
        load(tmp_path, deployment=section)


@pytest.mark.parametrize(
    "path",
    [
        *("/sys/../proc/sys/kernel/randomize_va_space", "/sys/devices/../../proc/x", "/sys/..TMP"),
        *("/sys/devices/./x", "/sys/devices/.x", "/sys/devices", "/sys/class/", "/sys/firmware/x"),
        *(
            "/sys/devices/x\n",
            "/sys/devices/a b",
            "/sys/devices/$(x)",
            "/proc/sys/x",
            "sys/devices/x",
        ),
    ],
)
def test_hostile_paths_of_clocks_are_refused(tmp_path, path):
    for control in (
        {"domain": "gpu", "nodes": [[path]]},
        {"domain": "cpu", "online": [path]},
    ):
        with pytest.raises(
            PlatformError, match=r"deployment.controls\[\d\].(nodes|online)|control"
        ):
            load(tmp_path, deployment={"controls": [control]})


@pytest.mark.parametrize("path", ["/sys/devices/x/y", "/sys/devices/system/cpu/cpu1/../x/online"])
def test_hostile_files_of_processors_are_refused(tmp_path, path):
    with pytest.raises(PlatformError, match="online"):
        load(tmp_path, deployment={"controls": [{"domain": "cpu", "online": [path]}]})
