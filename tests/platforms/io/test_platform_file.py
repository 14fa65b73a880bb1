"""Platform files: what comes with the program loads, what is wrong is refused in one clear line."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import (
    load_platform,
    new_platform_source,
    platform_names,
    platform_source,
)
from paretosoc.platforms.platform import Platform
from paretosoc.platforms.platform_summary import platform_data, platform_lines, sources_by_topic
from paretosoc.platforms.source import Status

NAMES = (
    "intel-core-ultra-7-155h",
    "jetson-agx-orin",
    "jetson-agx-orin-32gb",
    "jetson-agx-thor",
    "jetson-agx-xavier",
    "jetson-nano",
    "jetson-orin-nano-8gb",
    "jetson-orin-nx-16gb",
    "jetson-tx2",
    "jetson-xavier-nx",
    "neurocube",
    "raspberry-pi-5-hailo-8",
    "raspberry-pi-5-hailo-8l",
    "rk3588",
    "rk3588-joint-npu",
    "snapdragon-8-elite",
    "snapdragon-8-gen-3",
    "snapdragon-865",
    "snapdragon-x-elite",
)


def raw(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(platform_source(name))
    return document


def load(document: Any, folder: Path) -> Platform:
    path = folder / "mine.json"
    path.write_text(json.dumps(document), "utf-8")
    return load_platform(path)


def refused(document: Any, folder: Path) -> str:
    with pytest.raises(PlatformError) as caught:
        load(document, folder)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(folder / "mine.json"))
    return message.removeprefix(str(folder / "mine.json") + ": ")


def test_names() -> None:
    assert platform_names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_platform_holds_together(name: str) -> None:
    platform = load_platform(name)
    assert platform.name == name
    names = set(platform.domain_by_name)
    for domain in platform.domains:
        ladder = [point.frequency_khz for point in domain.operating_points]
        assert ladder == sorted(set(ladder))
        assert 0 <= domain.parked < len(ladder)
    for unit in platform.units:
        assert set(unit.clocks) <= names
        assert unit.clocks[-1] == platform.memory.domain
        for table in unit.power:
            points = len(platform.domain_by_name[table.domain].operating_points)
            assert len(table.idle_mw) == len(table.busy_mw) == points
            assert all(b >= i for i, b in zip(table.idle_mw, table.busy_mw, strict=True))
    assert {transition.unit for transition in platform.transitions} == set(platform.unit_by_name)


@pytest.mark.parametrize("name", NAMES)
def test_every_platform_follows_the_schema(name: str, tmp_path: Path) -> None:
    # By its name it is taken without that check, which would load a library for nothing.
    assert load({"extends": name}, tmp_path) == load_platform(name)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"units": [{"name": "gppu", "power": []}]},
            "jetson-agx-xavier has none of that name (cpu, gpu, dla0, dla1; did you mean gpu?)",
        ),
        ({"domains": [{"name": "emcc"}]}, "(cpu, gpu, dla, emc; did you mean emc?)"),
        (
            {"units": [{"name": "gpu", "clocks": ["gppu", "emc"]}]},
            "units[1].clocks[0] must name a domain (cpu, gpu, dla, emc; did you mean gpu?), got",
        ),
        ({"units": [{"name": "dla2", "remove": True}]}, "did you mean dla"),
        (
            {"domains": [{"name": "gpu", "frequencies_mhz": [1]}]},
            "With the entries of jetson-agx-xavier, domains[1] is the one of name 'gpu'",
        ),
        (
            {"units": [{"name": "dla1", "remove": True}]},
            """is removed: remove its entry of transitions as well: {"unit": "dla1", "remove": """,
        ),
        ({"deployment": {"boord": {"remove": True}}}, "there is no 'boord' to remove ("),
    ],
    ids=str,
)
def test_names_that_the_extended_platform_lacks(change: Any, words: str, tmp_path: Path) -> None:
    assert words in refused({"extends": "jetson-agx-xavier", "name": "mine", **change}, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_a_source_and_a_status(name: str) -> None:
    def walk(value: Any) -> int:
        if isinstance(value, dict):
            here = 0
            if "status" in value:
                assert value["status"] in {status.value for status in Status}
                assert value["source"]
                here = 1
            return here + sum(walk(item) for item in value.values())
        if isinstance(value, list):
            return sum(walk(item) for item in value)
        return 0

    assert walk(raw(name)) >= 10
    data = platform_data(load_platform(name))
    json.dumps(data, allow_nan=False)
    assert walk(data) > 10


def test_ladders_of_the_boards() -> None:
    def count(name: str) -> dict[str, int]:
        return {domain.name: len(domain.operating_points) for domain in load_platform(name).domains}

    assert count("jetson-agx-xavier") == {"cpu": 29, "gpu": 14, "dla": 5, "emc": 9}
    assert count("jetson-tx2") == {"denver": 12, "a57": 12, "gpu": 13, "emc": 7}
    assert count("jetson-agx-orin") == {"cpu": 29, "gpu": 11, "dla": 3, "emc": 4}
    assert count("snapdragon-865")["silver"] == 17


def test_tx2_gpu_takes_its_host_core_out_of_the_space() -> None:
    platform = load_platform("jetson-tx2")
    assert platform.unit_by_name["gpu"].clocks == ("gpu", "a57", "emc")
    assert platform.unit_by_name["gpu"].host == "a57"
    assert sum(unit.kind == "cpu" for unit in platform.units) == 5


def test_dlas_of_xavier_share_a_domain_and_hold_16_segments() -> None:
    units = load_platform("jetson-agx-xavier").unit_by_name
    assert units["dla0"].clocks == units["dla1"].clocks == ("dla", "emc")
    assert units["dla0"].max_segments == 16
    assert {peak.precision for peak in units["dla0"].peaks} == {"fp16", "int8"}


def test_peaks_of_xavier() -> None:
    platform = load_platform("jetson-agx-xavier")
    gpu = platform.unit_by_name["gpu"]
    fp16 = next(peak for peak in gpu.peaks if peak.precision == "fp16")
    assert 2 * fp16.macs_per_cycle * 1377 * 10**6 == Fraction("11.280384") * 10**12
    assert platform.memory.bytes_per_cycle * 2133 == 136512


def test_voltage_model_is_flat_up_to_the_knee() -> None:
    gpu = load_platform("jetson-agx-xavier").domain_by_name["gpu"].operating_points
    by_khz = {point.frequency_khz: point.voltage_mv for point in gpu}
    assert by_khz[114750] == by_khz[675750] == 700
    assert by_khz[1377000] == 840
    # 700 + 140 x (1032.75 - 750) / 627 = 763.13
    assert by_khz[1032750] == 763


def test_power_model_by_hand() -> None:
    platform = load_platform("jetson-agx-xavier")
    table = platform.unit_by_name["gpu"].power[0]
    # 21.03 nF x 1377 MHz x 0.84^2 V^2 + 570 mW, and 1.308 nF with 226 mW/V.
    assert table.busy_mw[-1] == round(21.03 * 1377 * 0.84**2 + 570)
    assert table.idle_mw[-1] == round(1.308 * 1377 * 0.84**2 + 226 * 0.84)


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(PlatformError, match="did you mean jetson-agx-xavier"):
        load_platform("jetson-agx-xaver")
    with pytest.raises(PlatformError, match="known: intel-core-ultra-7-155h, jetson-agx-orin, "):
        load_platform("zzz")
    with pytest.raises(PlatformError, match="no readable file"):
        load_platform("/no/such/folder/x.json")
    with pytest.raises(PlatformError, match=r"\('dse choose --boards' takes several platforms\)$"):
        load_platform("jetson-agx-orin,jetson-orin-nano-8gb")


def test_extending_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    base = load_platform("jetson-agx-xavier")
    document = {
        "extends": "jetson-agx-xavier",
        "name": "half-memory",
        "memory": {"bytes_per_cycle": 32},
        "domains": [{"name": "emc", "parked_mhz": 204}],
        "units": [
            {"name": "gpu", "fixed": {"us_per_layer": 3.5}},
            {"name": "dla1", "remove": True},
        ],
        "transitions": [{"unit": "dla1", "remove": True}],
        "measurements": [],
        "profiles": [],
    }
    mine = load(document, tmp_path)
    assert mine.name == "half-memory"
    assert mine.title == base.title
    assert mine.memory.bytes_per_cycle == 32
    assert mine.memory.power == base.memory.power
    assert list(mine.unit_by_name) == ["cpu", "gpu", "dla0"]
    assert mine.unit_by_name["gpu"].fixed_ns_per_layer == 3500
    assert mine.unit_by_name["gpu"].peaks == base.unit_by_name["gpu"].peaks
    assert mine.unit_by_name["cpu"] == base.unit_by_name["cpu"]
    assert mine.domain_by_name["emc"].parked == 0
    assert mine.sha256 != base.sha256


@pytest.mark.parametrize("name", NAMES)
def test_the_source_of_a_platform_is_a_file_that_gives_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / "copy.json"
    path.write_text(platform_source(name), "utf-8")
    assert load_platform(path) == load_platform(name)


def test_the_file_to_start_from_is_complete_and_claims_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    path.write_text(new_platform_source(), "utf-8")
    chip = load_platform(path)
    sources = [source for topic in sources_by_topic(chip).values() for source in topic]
    assert {source.status for source in sources} == {Status.ASSUMED}
    assert all(unit.contention is not None for unit in chip.units)


def test_errors_of_a_fit_are_not_halves_of_two() -> None:
    """No network was measured on Orin NX, and the board that it extends has errors of some."""
    for unit in load_platform("jetson-orin-nx-16gb").units:
        for error in (peak.error for peak in unit.peaks if peak.error):
            assert (error.constant_percent is None) == (error.networks == 0)


def test_an_object_of_the_base_may_be_removed(tmp_path: Path) -> None:
    assert load_platform("jetson-agx-xavier").deployment is not None
    mine = {"extends": "jetson-agx-xavier", "name": "mine"}
    assert load({**mine, "deployment": {"remove": True}}, tmp_path).deployment is None
    assert "there is no 'pe_array' to remove" in refused(
        {**mine, "pe_array": {"remove": True}}, tmp_path
    )


def test_a_file_may_extend_a_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "base.json").write_text(
        json.dumps({"extends": "jetson-tx2", "name": "base"}), "utf-8"
    )
    mine = load({"extends": "base.json", "title": "Two steps"}, tmp_path)
    assert (mine.name, mine.title) == ("base", "Two steps")


def test_an_entry_may_extend_one_above_it(tmp_path: Path) -> None:
    document = raw("rk3588")
    for entries, key in ((document["units"], "name"), (document["transitions"], "unit")):
        index = next(place for place, entry in enumerate(entries) if entry[key] == "npu1")
        entries[index] = {key: "npu1", "extends": "npu0"}
    assert load(document, tmp_path) == load_platform("rk3588")
    document["units"][index]["fixed"] = {"us_per_layer": 7}
    first, second = load(document, tmp_path).units[index - 1 : index + 1]
    fixed = {"name": "npu1", "fixed_ns_per_layer": 7000}
    assert second == replace(first, **fixed) != replace(first, name="npu1")


def test_a_fault_is_named_where_it_is_written_not_where_it_is_inherited(tmp_path: Path) -> None:
    document = raw("rk3588")
    places = {unit["name"]: place for place, unit in enumerate(document["units"])}
    document["units"][places["npu1"]] = {"name": "npu1", "extends": "npu0"}
    document["units"][places["npu0"]]["fixed"]["us_per_layer"] = -10
    assert refused(document, tmp_path).startswith(
        f"units[{places['npu0']}].fixed.us_per_layer must be at least 0, got -10"
    )


def test_an_entry_may_extend_one_of_the_base_which_is_removed_then(tmp_path: Path) -> None:
    def changed(key: str) -> list[Any]:
        return [{key: "npu", "extends": "npu2"}, {key: "npu2", "remove": True}]

    document = {"extends": "rk3588", "units": changed("name"), "transitions": changed("unit")}
    base, mine = load_platform("rk3588"), load({**document, "measurements": []}, tmp_path)
    assert mine.units == (*base.units[:-1], replace(base.units[-1], name="npu"))


@pytest.mark.parametrize("other", ["npu1", "npu2", "nqu0", ["npu0"]])
def test_an_entry_may_extend_neither_itself_nor_a_later_one(other: Any, tmp_path: Path) -> None:
    document = raw("rk3588")
    document["units"][4] = {"name": "npu1", "extends": other}
    assert refused(document, tmp_path).startswith(
        f"units: 'npu1' must extend an entry above it, or of the platform that the file extends, "
        f"got {other!r} (did you mean npu0?)"
    )


def test_a_unit_may_extend_one_of_another_platform(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(json.dumps(raw("snapdragon-8-elite")), "utf-8")
    document = raw("snapdragon-x-elite")
    place, unit = next((k, u) for k, u in enumerate(document["units"]) if u["name"] == "npu")
    document["units"][place] = {**unit, "extends": "other.json:npu", "peaks": []}
    units = load({**document, "measurements": []}, tmp_path).unit_by_name
    assert units["npu"].peaks == load_platform("snapdragon-8-elite").unit_by_name["npu"].peaks
    assert units["npu"].power == load_platform("snapdragon-x-elite").unit_by_name["npu"].power
    for other, words in (
        ("other.json:npu9", "units: 'other.json' has no unit 'npu9' to extend (did you mean npu?)"),
        ("none:npu", "platform 'none'"),
    ):
        document["units"][place]["extends"] = other
        assert words in refused(document, tmp_path)
    # No platform takes a unit of itself, however far around.
    document["units"][place]["extends"] = "mine.json:npu"
    assert "must not come back" in refused(document, tmp_path)


def test_a_unit_with_measurements_is_not_replaced_by_another_platforms(tmp_path: Path) -> None:
    changed = [{"name": "gpu", "extends": "jetson-agx-orin:gpu"}]
    assert refused({"extends": "jetson-agx-xavier", "units": changed}, tmp_path).startswith(
        "units: 'gpu' is there already, and its measurements do not hold for 'jetson-agx-orin:gpu'"
    )


def test_a_new_unit_has_a_name_of_its_own(tmp_path: Path) -> None:
    units = [{"name": "npu", "extends": "npu0"}] * 2
    assert "must" in refused({"extends": "rk3588", "units": units}, tmp_path)


def test_a_file_may_not_extend_itself(tmp_path: Path) -> None:
    assert "extends" in refused({"extends": "mine.json"}, tmp_path)


def test_the_digest_does_not_depend_on_spelling(tmp_path: Path) -> None:
    document = raw("jetson-agx-xavier")
    again = dict(reversed(list(document.items())))
    again["domains"][1]["parked_mhz"] = 114.750
    assert load(again, tmp_path).sha256 == load_platform("jetson-agx-xavier").sha256


def edit(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    *keys, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    place: Any = changed
    for key in keys:
        place = place[key]
    place[last] = value
    return changed


PEAK = {
    "precision": "fp32",
    "bytes_per_element": 4,
    "macs_per_cycle": 8,
    "source": "own board",
    "status": "measured",
    "efficiency": {"default": 0.5},
}


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("domains/1/ladder/frequencies_mhz/3", 100, "frequencies_mhz[3] must be above"),
        ("domains/1/ladder/frequencies_mhz/13", 200000, "frequencies_mhz[13] must be at most"),
        ("domains/1/ladder/frequencies_mhz/0", -1, "frequencies_mhz[0] must be at least"),
        ("domains/1/ladder/frequencies_mhz/0", 0.0005, "frequencies_mhz[0] must be at least"),
        ("domains/1/ladder/frequencies_mhz/0", 100.00001, "must be a whole number of kHz"),
        ("domains/1/parked_mhz", 115, "domains[1].parked_mhz must be on the domain's ladder"),
        (
            "domains/0/lowest_host_clock/mhz",
            1000,
            "domains[0].lowest_host_clock.mhz must be on the domain's ladder, got 1000",
        ),
        (
            "domains/0/parked_mhz",
            115.2,
            "domains[0].parked_mhz must be at least lowest_host_clock.mhz (1190.4), got 115.2",
        ),
        ("domains/1/name", "cpu", "domains must have distinct names"),
        ("domains/3/may_be_off", True, "memory.domain must name a domain that may not be off"),
        ("domains/1/voltage/model/maximum_mv", 600, "maximum_mv must be at least minimum_mv"),
        ("domains/1/voltage/model/minimum_mv", 0.7, "minimum_mv must be an integer, got 0.7"),
        ("domains/1/voltage", {"mv": [700], "source": "s", "status": "assumed"}, "one voltage per"),
        ("units/1/clocks/0", "gpuu", "units[1].clocks[0] must name a domain (cpu, gpu"),
        ("units/1/clocks", ["emc", "gpu"], "must end with the memory's domain 'emc'"),
        ("units/1/clocks", ["gpu", "cpu", "emc"], "units[1].clocks must be"),
        ("units/1/host", "cpu", "units[1].clocks must be"),
        ("units/1/name", "cpu", "units must have distinct names, got 'cpu' twice"),
        ("units/1/kind", "tpu", "units[1].kind must be one of"),
        ("units/1/power/0/busy", {"constant_mw": 100}, "busy must be at least idle"),
        ("units/1/power/0/busy", {"capacitance_nf": 90000}, "must stay below 10000000 mW"),
        (
            "units/1/power/0/busy",
            {"constant": 2},
            "one form: mw; or capacitance_nf, leakage_mw_per_v",
        ),
        (
            "units/1/peaks/0/efficiency",
            {"default": 0.1, "convolutoin": 0.1},
            "(did you mean convolution?)",
        ),
        *(
            (
                "units/1/peaks/0",
                {**PEAK, "tile": {f"{what}_operations": 0.5}},
                f"units[1].peaks[0].tile.{what}_operations: efficiency of 'elements' is required, "
                "got default",
            )
            for what in ("result", "activation")
        ),
        (
            "domains/1/voltage",
            {"mv": [-7], "source": "s", "status": "assumed"},
            "voltage.mv[0] must",
        ),
        ("units/1/power/0/busy", {"mw": [1, 2]}, "one power per operating point (14), got 2"),
        ("units/1/bandwidth/share", -1, "units[1].bandwidth.share must be at least"),
        ("units/1/peaks/1/precision", "fp32", "distinct precisions"),
        ("units/2/support/rules/0/limit", "colour", "rules[0].limit must be one of"),
        ("units/2/support/max_segments", 0, "max_segments must"),
        ("memory/bytes_per_cycle", 65536, "at most 10 TB/s"),
        ("memory/bytes_per_cycle", 64.5, "memory.bytes_per_cycle must be an integer"),
        ("memory/power/domain", "gpu", "memory.power.domain must be the memory's"),
        ("memory/power/idle", {"capacitance_nf": 1}, "voltages are unknown"),
        ("transitions/1/unit", "dla0", "transitions must have distinct units"),
        ("transitions/1/unit", "npu", "transitions[1].unit must name a unit"),
        ("transitions/1/out_gbps", 0, "transitions[1].out_gbps must be at least"),
        ("board/mw", 1e9, "board.mw must be at most"),
        ("board/mw", "much", 'board.mw must be a number, got "much"'),
        ("board", {"mw": 5}, "board must have source, status"),
        ("colour", 5, "must not have 'colour'"),
        ("default_precision", "fp8", "default_precision must be one of"),
        ("measurements/0/clocks_mhz/gpu", 1000, "1000 MHz is not on the ladder; nearest are"),
        ("measurements/0/clocks_mhz", {"gpu": 1377}, "must name the clock 'emc'"),
        ("measurements/0/units/0", "npu", "measurements[0].units[0] must name a unit"),
        ("measurements/0/ms", -3, "measurements[0].ms must be at least"),
        ("measurements/1/precision", "fp32", "precision must be one that unit 'dla0' computes in"),
        ("profiles/0/groups/0/ms/gpu", 0, "profiles[0].groups[0].ms.gpu must be at least"),
        ("profiles/0/transitions/0/to", "gpu", "must go from one unit to another"),
        ("extends", "jetson-agx", "extends: platform 'jetson-agx'"),
    ],
)
def test_what_is_wrong_is_named(path: str, value: Any, expected: str, tmp_path: Path) -> None:
    message = refused(edit(raw("jetson-agx-xavier"), path, value), tmp_path)
    assert expected in message


def test_elements_of_a_cpu_have_an_efficiency(tmp_path: Path) -> None:
    peak = {**PEAK, "tile": {"result_operations": 0.5}}
    load(edit(raw("jetson-agx-xavier"), "units/0/peaks/0", peak), tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[1]",
        b'{"name": NaN}',
        b'{"name": 1e999999999}',
        b'{"name": 1' + b"0" * 5000 + b"}",
        b'{"name": 1, "name": 2}',
        b"[" * 100_000,
        b'{"a":' * 900 + b"1" + b"}" * 900,
    ],
    ids=["empty", "cut", "bytes", "list", "nan", "exponent", "digits", "twice", "deep", "nested"],
)
def test_what_is_no_sound_json_is_refused(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(text)
    with pytest.raises(PlatformError):
        load_platform(path)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, item in children:
        found += places(item, (*path, key))
    return found


JUNK: tuple[Any, ...] = (
    None, True, -1, 0, 1, 3, 1e-9, 0.5, 7.25, 10**12, 1e29, "", "gpu", "emc", "x" * 300, [], {},
    [1, 2, 3], ["gpu", "emc"], {"mw": [1]}, {"name": "gpu"}, [[]], {"source": "s"},
)  # fmt: skip


def random_edit(document: Any, generator: random.Random) -> None:
    every = places(document)
    path = generator.choice(every)
    place = document
    for key in path[:-1]:
        place = place[key]
    last, action = path[-1], generator.random()
    if action < 0.25:
        del place[last]
    elif action < 0.75:
        place[last] = copy.deepcopy(generator.choice(JUNK))
    elif action < 0.9:
        other = document
        for key in generator.choice(every):
            other = other[key]
        place[last] = copy.deepcopy(other)
    elif isinstance(place, list):
        place.insert(generator.randrange(len(place) + 1), copy.deepcopy(place[last]))
    else:
        place["added"] = place[last]


@pytest.mark.parametrize("name", NAMES)
def test_random_edits_give_a_platform_or_a_platform_error(name: str, tmp_path: Path) -> None:
    original = raw(name)
    generator = random.Random(name)
    refusals = 0
    for _ in range(100):
        document = copy.deepcopy(original)
        for _ in range(generator.choice((1, 1, 2))):
            random_edit(document, generator)
        try:
            platform_lines(load(document, tmp_path))
        except PlatformError as error:
            refusals += 1
            message = str(error)
        else:
            continue
        assert "\n" not in message
        assert len(message) < 1500
    assert 10 < refusals < 100
