"""Workload files: what they mean."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.yaml_loader import parse_yaml
from paretosoc.dse.workload.workload import Pin, Workload, WorkloadNetwork, workload_of
from paretosoc.dse.workload.workload_check import check_workload
from paretosoc.dse.workload.workload_file import load_workload, workload_from
from tests.support.problems.workload_texts import EXAMPLES, FULL, read


def test_a_full_file_says_all_of_this():
    seen = WorkloadNetwork("seen", "vgg19", max_transitions=0, deadline_ms=Fraction(331, 10))
    assert read(FULL).networks == (
        seen,
        WorkloadNetwork("seen#2", "vgg19", max_transitions=0, deadline_ms=Fraction(331, 10)),
        WorkloadNetwork(
            "resnet50",
            "resnet50",
            repeats=2,
            waits_for=("seen", "seen#2"),
            arrival_ms=Fraction(1, 10),
            pins=(Pin(0, 2, "gpu"), Pin(5, 5, "dla0")),
            dimensions=(("N", 4), ("data:2", 640)),
        ),
    )
    assert read(FULL).frames_in_flight == 3
    assert read(FULL).frames_per_second == Fraction(2997, 100)
    assert read(FULL).power_cap_w == Fraction(251, 10)


def test_a_short_file_takes_the_defaults():
    workload = read("networks: [{network: vgg19}]")
    assert workload.networks == workload_of(["vgg19"]).networks
    assert workload.frames_in_flight == Workload(workload.networks).frames_in_flight
    assert workload.frames_per_second is None
    assert workload.power_cap_w is None


def test_json_means_the_same_as_yaml():
    document = parse_yaml(FULL.encode(), "w")
    text = json.dumps(document, default=float)
    assert read(text, "w.json").networks == read(FULL).networks
    assert read(text, "w.json").frames_per_second == Fraction("29.97")
    assert read(text).networks == read(FULL).networks


def test_the_digest_is_that_of_the_file(tmp_path):
    file = tmp_path / "w.yaml"
    file.write_text("networks: [{network: vgg19}]")
    # sha256sum of these 28 bytes.
    digest = "022ae4df9370f0cd92f4d23fe6a65a04c2b94247b78214a5ae1ac6a9cb911552"
    assert load_workload(file).inputs == (("w.yaml", digest),)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_sound(path):
    workload = load_workload(path)
    check_workload(workload)
    assert len(workload.networks) >= 2
    assert workload_from([str(path)]) == workload


def test_paths_are_relative_to_the_file(tmp_path, monkeypatch):
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "own.onnx").write_bytes(b"x")
    (tmp_path / "vgg19").write_bytes(b"x")
    file = tmp_path / "w.yaml"
    file.write_text("networks: [{network: nets/own.onnx}, {network: ./vgg19, name: mine}]")
    own, mine = load_workload(file).networks
    assert (own.name, own.source) == ("own", str(tmp_path / "nets" / "own.onnx"))
    assert Path(mine.source) == tmp_path / "vgg19"
    monkeypatch.chdir(tmp_path)
    own, mine = load_workload("w.yaml").networks
    assert Path(own.source) == Path("nets/own.onnx")
    # Not "vgg19": that would be the catalogue's.
    assert "/" in mine.source
    assert Path(mine.source).read_bytes() == b"x"


def test_a_workload_file_stands_alone(tmp_path):
    file = tmp_path / "w.yml"
    file.write_text("networks: [{network: vgg19}]")
    assert workload_from([str(file)]).networks == workload_from(["vgg19"]).networks
    for arguments in (
        [str(file), "vgg19"],
        ["vgg19", str(file)],
        [str(file), str(file)],
        [f"{file}*2"],
        ["vgg19", "W.JSON*2"],
    ):
        with pytest.raises(WorkloadError, match="must stand alone"):
            workload_from(arguments)


def test_the_file_in_the_documentation_is_sound(tmp_path):
    page = (Path(__file__).parents[3] / "docs/guides/workloads.md").read_text("utf-8")
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "driver.onnx").write_bytes(b"x")
    file = tmp_path / "w.yaml"
    file.write_text(page.split("```yaml\n")[1].split("```")[0])
    assert [network.name for network in load_workload(file).networks] == [
        "road", "classify", "classify#2", "driver"
    ]  # fmt: skip
