"""Reading clocks back: what the script has set is as planned, and every single change is found."""

import pytest

from paretosoc.results.deploy.sysfs_script import sysfs_script, sysfs_state
from paretosoc.results.errors import ResultError
from tests.results.deploy.test_sysfs_script import BPMP, CPUS, GPU, WANTED, Board, deployment


@pytest.fixture
def board(tmp_path):
    return Board(tmp_path, sysfs_script(deployment(**WANTED)))


def different(board, **clocks):
    state = sysfs_state(deployment(**(clocks or WANTED)), board.root)
    return {setting.path: setting for setting in state if not setting.is_as_planned}


def test_what_the_script_sets_is_as_planned(board):
    before = different(board)
    dry = board.run()
    # The dry run says that these change, and only these.
    shown = {
        line.rpartition("(")[2].rstrip(")") for line in dry.stdout.splitlines() if "->" in line
    }
    assert {str(board.path(path).parent) for path in before} <= shown
    assert len(before) == 4 + 2 + 2 * 2
    assert board.run("--apply").returncode == 0
    assert different(board) == {}


@pytest.mark.parametrize(
    ("file", "value"),
    [
        *((f"{CPUS[k]}/{name}", 1190400) for k in (0, 3) for name in
          ("scaling_min_freq", "scaling_max_freq")),
        (f"{GPU}/min_freq", 114750000),
        (f"{GPU}/max_freq", 675750000),
        (f"{BPMP}/nafll_dla/mrq_rate_locked", 0),
        (f"{BPMP}/emc/rate", 1600000000),
        (f"{BPMP}/emc/rate", "none"),
        (f"{BPMP}/emc/rate", "9" * 5000),
    ],
)  # fmt: skip
def test_one_changed_file_is_found(board, file, value):
    assert board.run("--apply").returncode == 0
    board.put(file, value)
    (found,) = different(board).values()
    assert found.path == file
    assert "must be" in found.words


def test_the_firmwares_rounding_is_as_planned(board):
    assert board.run("--apply").returncode == 0
    board.put(f"{BPMP}/emc/rate", 2133000000 - 21330000)
    assert different(board) == {}
    board.put(f"{BPMP}/emc/rate", 2133000000 - 21330001)
    assert len(different(board)) == 1


def test_a_tree_without_the_board(tmp_path):
    state = sysfs_state(deployment(**WANTED), tmp_path)
    assert {setting.domain for setting in state} == set(WANTED)
    assert all(setting.found is None and "is missing" in setting.words for setting in state)


def test_cpus_of_a_domain_that_is_off(tmp_path):
    state = sysfs_state(deployment("jetson-tx2", denver=None), tmp_path)
    assert [(s.path, s.wanted) for s in state] == [
        (f"/sys/devices/system/cpu/cpu{k}/online", 0) for k in (1, 2)
    ]


def test_a_chip_without_controls(tmp_path):
    with pytest.raises(ResultError, match="sysfs cannot serve snapdragon-865"):
        sysfs_state(deployment("snapdragon-865", gpu=1), tmp_path)
