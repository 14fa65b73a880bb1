"""Every option that is a number has a range, and says so where a number is outside."""

import json
from importlib import import_module, resources
from inspect import signature
from typing import get_args

import pytest

from paretosoc.dse.cli.commands import COMMANDS
from paretosoc.dse.cli.measure.import_profile import IMPORTERS
from paretosoc.dse.cli.shared.option_groups import with_option_groups
from paretosoc.dse.cli.shared.options import MAX_COUNT, MAX_SEED, MAX_SIZE
from paretosoc.dse.inputs.arguments import MAX_DRAWS


def entries(commands):
    for entry in commands:
        yield from entries(entry.commands) if entry.commands else [entry]


def numbers():
    """(function, parameter, type, option) of all commands."""
    found = {}
    commands = [
        (entry, import_module(f"paretosoc.dse.cli.{entry.module}"), entry.name)
        for entry in entries(COMMANDS)
        if entry.name != "import"
    ]
    written = [(entry, getattr(m, name.replace("-", "_"))) for entry, m, name in commands]
    imports = next(entry for entry in COMMANDS if entry.name == "import")
    written += [(imports, IMPORTERS.get(name, "")) for name in IMPORTERS.names()]
    for entry, command in written:
        function = with_option_groups(command)
        for name, parameter in signature(function, eval_str=True).parameters.items():
            kind, *more = get_args(parameter.annotation) or [parameter.annotation]
            kinds = {kind, *get_args(kind), *(a for k in get_args(kind) for a in get_args(k))}
            if kinds & {int, float}:
                found[entry.module, command.__name__, name] = (kinds & {int, float}, more[0])
    return found


def test_every_number_has_a_range():
    found = numbers()
    assert len(found) > 40
    for place, (kinds, option) in found.items():
        if kinds == {int}:
            assert option.min is not None, place
            most = {MAX_COUNT, MAX_DRAWS, MAX_SEED, MAX_SIZE}
            assert option.max in most or option.max <= 1024, place
        else:
            assert option.min is not None, place
            assert option.callback is not None, f"{place}: nan is in every range"


EXPLORE = ("explore", "squeezenet", "-p", "jetson-agx-xavier", "--groups", "2", "-q", "-o")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--max-transitions", 2**63),
        ("--groups", 2**63),
        ("--groups", "1" + 5000 * "0"),
        ("--max-evaluations", 2**64),
        ("--seed", 2**32),
        ("--jobs", -1),
        ("--time-limit", "nan"),
        ("--time-limit", "inf"),
        ("--max-nodes", 2**63),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_number_outside_is_refused(dse, tmp_path, option, value):
    ended = dse(*EXPLORE, tmp_path / "x", option, value)
    assert (ended.status, len(ended.lines)) == (2, 1)
    assert option in ended.err
    assert not (tmp_path / "x").exists()


def test_the_largest_numbers_are_taken(dse, tmp_path):
    large = ("--max-transitions", MAX_SIZE, "--seed", MAX_SEED, "--stop-when-stalled", 100)
    ended = dse(*EXPLORE, tmp_path / "x", *large, "--max-evaluations", 200)
    assert ended.status == 0, ended.err


def test_campaigns_have_no_wider_ranges():
    """What a campaign's file may say, an option may say."""
    schema = json.loads(
        (resources.files("paretosoc.dse.inputs.data") / "campaign.schema.json").read_text()
    )
    kinds = schema["$defs"]
    assert kinds["groups"]["maximum"] <= MAX_SIZE
    (number,) = (kind for kind in kinds["max_transitions"]["oneOf"] if "maximum" in kind)
    assert number["maximum"] <= MAX_SIZE
    assert kinds["max_evaluations"]["maximum"] <= MAX_COUNT
    assert kinds["seed"]["maximum"] <= MAX_SEED


@pytest.mark.parametrize("path", ["", "/", ".", "/dev/null/x", "x" * 300, "none/x"], ids=str)
def test_a_checkpoint_that_cannot_be_one_is_refused(dse, tmp_path, path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = dse(*EXPLORE, "out", "--checkpoint", path, "--max-evaluations", 200, "--no-certify")
    assert ended.status == 2, ended.err
    assert len(ended.lines) == 1
