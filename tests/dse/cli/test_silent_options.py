"""Options and files that would have no effect, or contradict each other, are not passed over."""

import json

import pytest

SMALL = ("--engine", "random", "--max-nodes", "0", "--groups", "4", "--max-evaluations", "50", "-q")


def test_a_domain_fixed_twice_is_refused(dse, tmp_path):
    more = ("--fix", "gpu=max", "--fix", "gpu=min", "-o", tmp_path / "run")
    got = dse("explore", "squeezenet", "-p", "jetson-agx-xavier", *SMALL, *more)
    assert got.status == 2
    assert got.lines == [
        "dse: --fix: one clock for each domain is required, got gpu=max and gpu=min"
    ]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("deploy", "run", "--to", "trtexec", "--to", "sysfs", "-o", "out"),
        ("explore", "squeezenet", "-p", "jetson-tx2", "--platform", "orin", "-o", "run"),
        ("import", "trtexec", "log", "--unit", "gpu", "--unit", "dla0"),
        ("show", "run", "--member=1", "--member", "2"),
    ],
)
def test_a_second_value_of_an_option_that_takes_one_is_refused(dse, arguments):
    got = dse(*arguments)
    assert got.status == 2
    (line,) = got.lines
    assert ": is taken once, got 2 (see 'dse " in line
    assert dse("platforms", "--json", "--json").status == 0


@pytest.mark.parametrize(("network", "told"), [("squeezenet", True), ("alexnet", False)])
def test_measurements_of_another_network_are_named(dse, tmp_path, network, told):
    rows = [{"name": "conv1", "averageMs": 0.1, "timeMs": 1.0, "percentage": 100}]
    (tmp_path / "rows.json").write_text(json.dumps([{"count": 10}, *rows]), encoding="utf-8")
    mine = tmp_path / "mine.json"
    made = dse(
        *("import", "trtexec", tmp_path / "rows.json", "--network", "alexnet"),
        *("-p", "jetson-agx-xavier", "--unit", "gpu", "--at", "max", "-o", mine),
    )
    assert made.status == 0, made.err
    more = ("--profile", mine, "-o", tmp_path / "run")
    got = dse("explore", network, "-p", "jetson-agx-xavier", *SMALL, *more)
    assert got.status == 0
    assert ("its measurements of 'alexnet' in fp16 are not used" in got.err) is told
