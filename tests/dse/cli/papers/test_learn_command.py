"""``dse papers learn``: measurements are read, or refused by line and field; folders are kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from paretosoc.dse.cli.main import run
from paretosoc.dse.cli.papers.learn import recorded_command
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.training.data_set import with_tokens
from paretosoc.dse.papers.estimator.training.measurements import read_measurements
from paretosoc.dse.papers.estimator.training.workloads import build
from paretosoc.platforms.errors import PlatformError

HEADER = "networks,mapping,cpu_mhz,gpu_mhz,dla_mhz,emc_mhz,throughput_hz,power_w"
GROUPS = 6


@pytest.fixture(scope="module")
def count() -> int:
    return build(("squeezenet",), groups=GROUPS).group_count


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(*lines: str, header: str = HEADER) -> Path:
        path = tmp_path / "board.csv"
        path.write_text("\n".join((header, *lines)) + "\n")
        return path

    return write


def test_measurements_become_data(written: Callable[..., Path], count: int) -> None:
    path = written(
        f"squeezenet,gpu*{count - 1} cpu,2265.6,1377,off,2133,98.5,21.0",
        "squeezenet," + " ".join(["gpu"] * count) + ",115,114.75,off,204,1.5,6.25",
    )
    data = read_measurements(path, groups=GROUPS)
    assert data.workloads == (("squeezenet",),)
    assert data.workload.tolist() == [0, 0]
    assert data.origin == "board.csv"
    assert data.rows[0].tolist() == [1] * (count - 1) + [0, 28, 13, 0, 8]
    assert data.rows[1].tolist() == [1] * count + [0, 0, 0, 0]
    assert data.throughput_hz.tolist() == [98.5, 1.5]
    assert data.power_w.tolist() == [21.0, 6.25]
    tokens = with_tokens(data).tokens
    assert tokens is not None
    assert tokens.length.tolist() == [2, 1]
    assert np.isfinite(tokens.figures).all()


@pytest.mark.parametrize(
    ("field", "text", "told"),
    [
        ("networks", "nonsense", "line 2: networks: no network 'nonsense'"),
        ("networks", "", "line 2: networks: at least one"),
        ("mapping", "gpu*2", "line 2: mapping: a unit for each of"),
        ("mapping", "tpu*6", "line 2: mapping: UNIT or UNIT"),
        ("mapping", "gpu*x", "line 2: mapping: UNIT or UNIT"),
        ("mapping", "gpu*99999999999999", "got more"),
        ("mapping", "gpu*" + "9" * 5000, "got more"),
        ("gpu_mhz", "off", "1377, as the mapping uses it, is required, got 'off'"),
        ("gpu_mhz", "1000", "line 2: gpu_mhz: one of 114.75"),
        ("gpu_mhz", "", "line 2: gpu_mhz: one of 114.75"),
        ("cpu_mhz", "off", "line 2: cpu_mhz: one of 115.2"),
        ("throughput_hz", "-1", "line 2: throughput_hz must not be negative"),
        ("throughput_hz", "0", "line 2: throughput_hz: a positive number"),
        ("power_w", "nan", "line 2: power_w must be a number"),
    ],
)
def test_fields_that_cannot_be_used_are_named(
    written: Callable[..., Path], count: int, field: str, text: str, told: str
) -> None:
    names = HEADER.split(",")
    fields = ["squeezenet", f"gpu*{count}", "2265.6", "1377", "off", "2133", "98.5", "21.0"]
    fields[names.index(field)] = text
    with pytest.raises(ValueError, match="line 2") as error:
        read_measurements(written(",".join(fields)), groups=GROUPS)
    assert told in str(error.value)


def test_files_that_cannot_be_used_are_refused(
    written: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(PlatformError, match="got no row"):
        read_measurements(written())
    with pytest.raises(PlatformError, match="missing: power_w"):
        read_measurements(written(header="networks,mapping,throughput_hz"))
    with pytest.raises(PlatformError, match="must have 8 cells"):
        read_measurements(written("squeezenet,gpu"))
    with pytest.raises(PlatformError, match="cannot be read"):
        read_measurements(tmp_path / "none.csv")


def test_a_folder_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("kept")
    assert run(["papers", "learn", "--quick", "-o", str(tmp_path)]) == 2
    assert "exists already; --force replaces it" in capsys.readouterr().err
    assert run(["papers", "learn", "--quick", "--force", "-o", str(tmp_path)]) == 2
    assert "it holds 'mine.txt'" in capsys.readouterr().err
    assert (tmp_path / "mine.txt").read_text() == "kept"


def test_missing_torch_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert run(["papers", "learn", "--quick", "-o", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert told == "dse: dse papers learn needs the package torch: pip install 'paretosoc[learn]'\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--data", "x.npz", "--measurements", "y.csv"], "exclude each other"),
        (["--data", "x.npz", "--rows", "3"], "are for data that the timeline makes"),
    ],
)
def test_options_that_contradict_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    assert run(["papers", "learn", *options, "-o", str(tmp_path / "out")]) == 2
    assert told in capsys.readouterr().err


def test_a_pool_is_read_from_an_earlier_estimator(tmp_path: Path) -> None:
    from paretosoc.dse.papers.estimator.training.artifacts import pool_of

    path = tmp_path / "estimator.json"
    path.write_text(json.dumps({"provenance": {"data": {"pool": ["vgg16", "alexnet"]}}}))
    assert pool_of(path) == ("vgg16", "alexnet")
    path.write_text("{}")
    with pytest.raises(WorkloadError, match="no estimator"):
        pool_of(path)


def test_the_command_is_kept_with_the_names_of_files_and_what_was_asked_for() -> None:
    options = {"--quick": "", "--rows": None, "--data": Path("runs/board/data.npz"), "--seed": 0}
    assert recorded_command(options) == "dse papers learn --quick --data data.npz --seed 0"
