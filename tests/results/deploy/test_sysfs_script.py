"""The script that sets clocks, on made-up trees of files: order, checks, failures, restoring."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.sysfs_script import sysfs_script, sysfs_state
from paretosoc.results.errors import ResultError

SHELLS = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]
GPU = "/sys/devices/17000000.gv11b/devfreq/17000000.gv11b"
BPMP = "/sys/kernel/debug/bpmp/debug/clk"
CPUS = [f"/sys/devices/system/cpu/cpu{k}/cpufreq" for k in (0, 2, 4, 6)]


def deployment(platform="jetson-agx-xavier", **clocks_khz):
    """A deployment of which only the clocks matter."""
    chip = load_platform(platform)

    made = Deployment(front=None, index=0, platform=chip, origins=None)
    return mock.Mock(
        wraps=made, platform=chip, board=made.board, title="test", clocks_khz=clocks_khz
    )


class Board:
    """A tree of files that looks like sysfs of a Xavier."""

    def __init__(self, root: Path, script: str):
        self.root = root / "board"
        self.saved = root / "saved"
        self.script = root / "set_clocks.sh"
        root.mkdir(exist_ok=True)
        self.script.write_text(script)
        chip = load_platform("jetson-agx-xavier")
        ladder = {d.name: [p.frequency_khz for p in d.operating_points] for d in chip.domains}
        for cpu in CPUS:
            self.put(f"{cpu}/scaling_available_frequencies", " ".join(map(str, ladder["cpu"])))
            self.put(f"{cpu}/scaling_min_freq", 1190400)
            self.put(f"{cpu}/scaling_max_freq", 2265600)
        self.put(f"{GPU}/available_frequencies", " ".join(str(k * 1000) for k in ladder["gpu"]))
        self.put(f"{GPU}/min_freq", 114750000)
        self.put(f"{GPU}/max_freq", 675750000)
        for clock, rate, state in (("nafll_dla", 550000000, None), ("emc", 1600000000, 0)):
            self.put(f"{BPMP}/{clock}/rate", rate)
            self.put(f"{BPMP}/{clock}/min_rate", 115200000)
            self.put(f"{BPMP}/{clock}/max_rate", 2133000000)
            self.put(f"{BPMP}/{clock}/mrq_rate_locked", 0)
            if state is not None:
                self.put(f"{BPMP}/{clock}/state", state)

    def path(self, name):
        return Path(f"{self.root}{name}")

    def put(self, name, value):
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(f"{value}\n")

    def state(self):
        return {
            str(p)[len(str(self.root)) :]: p.read_text()
            for p in sorted(self.root.rglob("*"))
            if p.is_file() and os.access(p, os.R_OK) and not p.is_symlink()
        }

    def run(self, *arguments, shell="sh"):
        return subprocess.run(
            [shell, str(self.script), *arguments],
            env={**os.environ, "SYSFS_ROOT": str(self.root), "SAVED_CLOCKS": str(self.saved)},
            capture_output=True,
            text=True,
            timeout=60,
        )


WANTED = {"cpu": 2265600, "gpu": 1377000, "dla": 1395200, "emc": 2133000}


@pytest.fixture
def board(tmp_path):
    return Board(tmp_path, sysfs_script(deployment(**WANTED)))


@pytest.mark.parametrize("shell", SHELLS)
def test_apply_and_restore(board, shell):
    before = board.state()
    dry = board.run(shell=shell)
    assert (dry.returncode, dry.stderr) == (0, "")
    assert "gpu: 114750000 to 675750000 -> 1377000000 Hz  (" in dry.stdout
    assert "cpu: 1190400 to 2265600 -> 2265600 kHz  (" in dry.stdout
    assert "dry run: nothing was changed" in dry.stdout
    assert board.state() == before
    applied = board.run("--apply", shell=shell)
    assert (applied.returncode, applied.stderr) == (0, "")
    after = board.state()
    changed = {name: after[name].strip() for name in after if after[name] != before[name]}
    assert changed == {
        **{f"{cpu}/scaling_min_freq": "2265600" for cpu in CPUS},
        f"{GPU}/min_freq": "1377000000",
        f"{GPU}/max_freq": "1377000000",
        f"{BPMP}/nafll_dla/rate": "1395200000",
        f"{BPMP}/nafll_dla/mrq_rate_locked": "1",
        f"{BPMP}/emc/rate": "2133000000",
        f"{BPMP}/emc/mrq_rate_locked": "1",
        f"{BPMP}/emc/state": "1",
    }
    restored = board.run("--restore", shell=shell)
    assert (restored.returncode, restored.stderr) == (0, "")
    assert board.state() == before
    assert not board.saved.exists()
    again = board.run("--restore", shell=shell)
    assert again.returncode == 1
    assert "nothing to put back" in again.stderr


@pytest.mark.parametrize("option", [(), ("--apply",)])
def test_a_missing_folder_for_what_is_saved_is_noticed_before_anything_changes(board, option):
    before = board.state()
    board.saved = board.saved / "no" / "clocks"
    ran = board.run(*option)
    assert ran.returncode == 1
    assert "its folder is missing; SAVED_CLOCKS" in ran.stderr
    assert board.state() == before


def test_restoring_goes_back_to_before_the_first_of_several_runs(board, tmp_path):
    before = board.state()
    assert board.run("--apply").returncode == 0
    slow = {"cpu": 115200, "gpu": 114750, "dla": 115200, "emc": 204000}
    board.script.write_text(sysfs_script(deployment(**slow)))
    assert board.run("--apply").returncode == 0
    assert board.path(f"{GPU}/max_freq").read_text() == "114750000\n"
    assert board.run("--restore").returncode == 0
    assert board.state() == before


def test_the_order_of_writes(board):
    """GPU and CPU fall, then the memory, then the DLA rises; limits never cross on the way."""
    board.put(f"{GPU}/min_freq", 318750000)
    board.script.write_text(
        sysfs_script(deployment(cpu=115200, gpu=114750, dla=1395200, emc=2133000)).replace(
            "\nwrite() {\n", '\nwrite() {\n    echo "wrote ${1#"$root"} $2" >&2\n', 1
        )
    )
    ran = board.run("--apply")
    assert ran.returncode == 0
    lines = [line.removeprefix("wrote ") for line in ran.stderr.splitlines()]
    expected = []
    for cpu in CPUS:
        expected += [f"{cpu}/scaling_min_freq 115200", f"{cpu}/scaling_max_freq 115200"]
    expected += [f"{GPU}/min_freq 114750000", f"{GPU}/max_freq 114750000"]
    for clock, rate, files in (
        ("emc", 2133000000, ("mrq_rate_locked", "state")),
        ("nafll_dla", 1395200000, ("mrq_rate_locked",)),
    ):
        expected += [f"{BPMP}/{clock}/{file} 1" for file in files]
        expected.append(f"{BPMP}/{clock}/rate {rate}")
    assert lines == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (GPU, "gpu: none of these folders exists"),
        (f"{GPU}/available_frequencies", "is missing"),
        (f"{GPU}/max_freq", "is missing"),
        (f"{CPUS[2]}/scaling_min_freq", "is missing"),
        (f"{BPMP}/emc/rate", "is missing"),
        (f"{BPMP}/nafll_dla/max_rate", "is missing"),
    ],
)
def test_missing_files_stop_everything(board, name, message):
    path = board.path(name)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    before = board.state()
    for arguments in ((), ("--apply",)):
        ran = board.run(*arguments)
        assert ran.returncode == 1
        assert message in ran.stderr
        assert "nothing was changed" in ran.stderr
        assert board.state() == before
        assert not board.saved.exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (f"{GPU}/available_frequencies", "114750000 1377", "nearest: 114750000"),
        (f"{GPU}/available_frequencies", "1375000000 1377 1380000000", "nearest: 1375000000"),
        (f"{GPU}/available_frequencies", "", "1377000000 is not among"),
        (f"{BPMP}/emc/max_rate", "2132999999", "2133000000 is outside 115200000 to 2132999999"),
        (f"{BPMP}/nafll_dla/min_rate", "1395200001", "1395200000 is outside"),
        (f"{GPU}/min_freq", "fast", "is missing, or cannot be read"),
    ],
)
def test_frequencies_that_the_device_does_not_have(board, name, content, message):
    board.put(name, content)
    before = board.state()
    ran = board.run("--apply")
    assert ran.returncode == 1
    assert message in ran.stderr
    assert board.state() == before


@pytest.mark.parametrize("name", [f"{BPMP}/nafll_dla/rate", f"{BPMP}/emc/rate"])
def test_a_rate_that_reads_back_otherwise_is_put_back(board, name):
    """A rate that cannot be changed: a link to a file that swallows what is written."""
    value = board.path(name).read_text()
    before = board.state()
    board.script.write_text(
        board.script.read_text().replace(
            "\nwrite() {\n", f"\nwrite() {{\n    case $1 in *{name}) return 0 ;; esac\n", 1
        )
    )
    ran = board.run("--apply")
    assert ran.returncode == 1
    assert f"reads {value.strip()} after" in ran.stderr
    assert "put back what was set before" in ran.stdout
    assert board.state() == before


@pytest.mark.parametrize("number", [1, 8, 9, 12, 13, 15])
def test_a_write_that_fails_puts_everything_back(board, number):
    """The n-th write fails, once; 8 of cpufreq, 2 of devfreq, 2 and 3 of the firmware's clocks."""
    before = board.state()
    board.script.write_text(
        board.script.read_text().replace(
            "\nwrite() {\n",
            f"\nwrites=0\nwrite() {{\n    writes=$((writes + 1))\n"
            f'    [ "$writes" -ne {number} ] || return 1\n',
            1,
        )
    )
    ran = board.run("--apply")
    assert ran.returncode == 1
    assert "cannot be written" in ran.stderr
    assert board.state() == before
    assert not board.saved.exists()


def test_files_that_take_nothing_need_not_be_put_back(board):
    before = board.state()
    refuses = "\nwrite() {\n    reason='sh: 1: cannot create x: Permission denied'; return 1\n"
    board.script.write_text(board.script.read_text().replace("\nwrite() {\n", refuses, 1))
    ran = board.run("--apply")
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert line.endswith("/mrq_rate_locked: cannot be written (1): Permission denied")
    assert board.state() == before
    assert not board.saved.exists()


def test_a_device_that_refuses(board):
    """/dev/full takes no byte; what was set before it is put back, and it stays in the list of what
    could not be."""
    board.path(f"{GPU}/min_freq").unlink()
    before = board.state()
    board.path(f"{GPU}/min_freq").symlink_to("/dev/full")
    script = board.script.read_text()
    for function, answer in (("number_in", "echo 114750000; return"), ("in_sysfs", "return")):
        case = f"    case $1 in *17000000.gv11b/min_freq) {answer} ;; esac\n"
        script = script.replace(f"\n{function}() {{\n", f"\n{function}() {{\n{case}", 1)
    board.script.write_text(script)
    ran = board.run("--apply")
    assert ran.returncode == 1
    assert "min_freq: cannot be written (1377000000): " in ran.stderr
    assert "could not be put back" in ran.stderr
    after = board.state()
    assert {name for name in after if after[name] != before[name]} <= {f"{GPU}/max_freq"}
    # Once the device works again, the rest can be restored.
    board.path(f"{GPU}/min_freq").unlink()
    board.put(f"{GPU}/min_freq", 114750000)
    assert board.run("--restore").returncode == 0
    assert board.path(f"{GPU}/max_freq").read_text() == before[f"{GPU}/max_freq"]


def test_nothing_is_set_where_nothing_can_be_saved(board):
    before = board.state()
    board.saved.mkdir()
    ran = board.run("--apply")
    assert ran.returncode == 1
    assert "without it nothing could be put back" in ran.stderr
    assert board.state() == before


def test_a_signal_puts_everything_back(board):
    before = board.state()
    board.script.write_text(
        board.script.read_text().replace(
            "\nset_rate() {\n", "\nset_rate() {\n    echo here; sleep 0.2; kill -TERM $$\n", 1
        )
    )
    ran = board.run("--apply")
    assert ran.returncode == 1
    assert "interrupted" in ran.stderr
    assert board.state() == before


def test_other_release_other_folder(board):
    other = "/sys/devices/gpu.0/devfreq/17000000.gv11b"
    board.path(other).parent.mkdir(parents=True)
    board.path(GPU).rename(board.path(other))
    assert board.run("--apply").returncode == 0
    assert board.path(f"{other}/min_freq").read_text() == "1377000000\n"


def test_what_is_off_is_left_alone(board):
    board.script.write_text(sysfs_script(deployment(cpu=2265600, gpu=None, dla=None, emc=204000)))
    shutil.rmtree(board.path(GPU))
    ran = board.run("--apply")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert board.path(f"{BPMP}/nafll_dla/mrq_rate_locked").read_text() == "0\n"


def test_cores_of_a_cluster_that_is_off_go_off_line(board):
    """Jetson TX2: the Denver cores are cpu1 and cpu2."""
    online = [f"/sys/devices/system/cpu/cpu{k}/online" for k in (1, 2)]
    for path in online:
        board.put(path, 1)
    text = sysfs_script(deployment("jetson-tx2", denver=None))
    board.script.write_text(text)
    assert board.run("--apply").returncode == 0
    assert [board.path(path).read_text() for path in online] == ["0\n", "0\n"]
    on = sysfs_script(deployment("jetson-tx2", denver=2035200))
    board.script.write_text(on)
    ran = board.run()
    assert ran.returncode == 1
    assert "the CPU is off line" in ran.stderr
    board.script.write_text(text)
    assert board.run("--restore").returncode == 0
    assert [board.path(path).read_text() for path in online] == ["1\n", "1\n"]


def test_a_file_for_cpus_that_is_missing_is_said_to_be_missing(board):
    """It is no CPU off line: nvpmodel would not help."""
    board.script.write_text(sysfs_script(deployment("jetson-tx2", denver=2035200)))
    board.put("/sys/devices/system/cpu/cpu1/online", 1)
    ran = board.run()
    assert ran.returncode == 1
    assert "denver: " in ran.stderr
    assert "/cpu2/online: is missing" in ran.stderr
    assert "is not 1" not in ran.stderr
    assert "cpu1/online" not in ran.stderr


OVERRIDE = "/sys/kernel/debug/clk/override.emc"
BANDWIDTH = "/sys/kernel/debug/tegra_bwmgr"
NANO = {"emc": 1331200}


@pytest.fixture
def nano(board):
    """Tegra210: the rate in force follows what is written to a file that is not read."""
    script = sysfs_script(deployment("jetson-nano", **NANO))
    board.script.write_text(
        script.replace(
            "\nwrite() {\n",
            "\nwrite() {\n    case $1 in\n        *clk_update_rate)"
            ' echo "$2" >"${1%update_rate}rate" ;;\n    esac\n',
            1,
        )
    )
    board.put(f"{OVERRIDE}/clk_rate", 1600000000)
    board.put(f"{OVERRIDE}/clk_update_rate", "")
    board.put(f"{OVERRIDE}/clk_state", 0)
    board.put(f"{BANDWIDTH}/emc_min_rate", 204000000)
    board.put(f"{BANDWIDTH}/emc_max_rate", 1600000000)
    return board


def test_the_memory_of_a_nano(nano):
    dry = nano.run()
    assert (dry.returncode, dry.stderr) == (0, "")
    assert "emc: 1600000000 -> 1331200000 Hz" in dry.stdout
    applied = nano.run("--apply")
    assert (applied.returncode, applied.stderr) == (0, "")
    assert nano.path(f"{OVERRIDE}/clk_update_rate").read_text() == "1331200000\n"
    assert nano.path(f"{OVERRIDE}/clk_state").read_text() == "1\n"
    state = sysfs_state(deployment("jetson-nano", **NANO), nano.root)
    assert [setting.path for setting in state] == [f"{OVERRIDE}/clk_rate", f"{OVERRIDE}/clk_state"]
    assert all(setting.is_as_planned for setting in state)
    restored = nano.run("--restore")
    assert (restored.returncode, restored.stderr) == (0, "")
    assert nano.path(f"{OVERRIDE}/clk_rate").read_text() == "1600000000\n"
    assert nano.path(f"{OVERRIDE}/clk_state").read_text() == "0\n"
    assert not nano.saved.exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (f"{BANDWIDTH}/emc_max_rate", 1065600000, "1331200000 is outside 204000000 to 1065600000"),
        (f"{BANDWIDTH}/emc_min_rate", "", "emc_min_rate: is missing, or cannot be read"),
        (f"{OVERRIDE}/clk_state", "", "clk_state: is missing, or cannot be read"),
    ],
)
def test_a_nano_without_that_rate_or_its_files(nano, name, content, message):
    nano.put(name, content)
    before = nano.state()
    ran = nano.run("--apply")
    assert ran.returncode == 1
    assert message in ran.stderr
    assert nano.state() == before


def test_options(board):
    assert board.run("--help").stdout.startswith("usage:")
    wrong = board.run("--aply")
    assert wrong.returncode == 2
    assert wrong.stdout == ""


@pytest.mark.parametrize(
    ("platform", "off"),
    [
        ("jetson-agx-xavier", ()),
        ("jetson-agx-orin", ("dla",)),
        ("jetson-agx-orin-32gb", ("gpu",)),
        ("jetson-tx2", ()),
        ("jetson-tx2", ("denver", "gpu")),
        ("jetson-nano", ()),
        ("rk3588", ("a76",)),
        ("raspberry-pi-5-hailo-8", ()),
    ],
)
def test_shellcheck_finds_nothing(platform, off, tmp_path):
    shellcheck = Path(sys.executable).parent / "shellcheck"
    clocks = {
        d.name: None if d.name in off else d.operating_points[-1].frequency_khz
        for d in load_platform(platform).domains
    }
    script = tmp_path / "script.sh"
    script.write_text(sysfs_script(deployment(platform, **clocks)))
    ran = subprocess.run([shellcheck, script], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_a_clock_with_one_operating_point_needs_no_files():
    """The accelerator and the memory have one; the files of the CPU's are known."""
    script = sysfs_script(deployment("raspberry-pi-5-hailo-8", cpu=1800000, hailo=400000, emc=1))
    assert "clock unit cpufreq cpu 1800000 /sys/devices/system/cpu/cpu0/cpufreq" in script
    assert "hailo" not in script


def test_a_board_whose_files_are_not_known():
    with pytest.raises(ResultError, match=r"cannot serve snapdragon-865.*'silver'; target='json'"):
        sysfs_script(deployment("snapdragon-865", silver=300000))


@pytest.mark.parametrize("shell", SHELLS)
def test_hostile_paths_in_the_script_write_no_file(tmp_path, shell):
    """A script that somebody has changed, or a tree with links: only files of sysfs are set."""
    path = f"{CPUS[0][: -len('cpu0/cpufreq')]}cpu2/online"
    for hostile in ("/sys/../proc/knob", "/sys/devices/../../proc/knob", "/sys/devices/link/knob"):
        script = sysfs_script(deployment(**WANTED)).replace(
            "settings() {", f"settings() {{\n    offline cpu {hostile}\n    offline cpu {path}"
        )
        board = Board(tmp_path / hostile.replace("/", "_"), script)
        board.put(path, 1)
        board.put("/proc/knob", 2)
        board.path("/sys/devices/link").symlink_to(board.path("/proc"))
        before = board.state()
        for arguments in ((), ("--apply",)):
            done = board.run(*arguments, shell=shell)
            assert done.returncode == 1
            assert "must be in /sys/devices, /sys/class or /sys/kernel/debug" in done.stderr
        board.saved.write_text(f"file {board.root}{hostile} 0\n")
        assert board.run("--restore", shell=shell).returncode == 1
        assert board.state() == before
