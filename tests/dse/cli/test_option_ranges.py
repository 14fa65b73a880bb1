"""Every option that is a number has a range, and says so where a number is outside."""

import json
from importlib import resources

import click
import pytest

from paretosoc.dse.cli.commands import COMMANDS
from paretosoc.dse.cli.lazy import LazyCommand
from paretosoc.dse.cli.shared.options import MAX_COUNT, MAX_SEED, MAX_SIZE
from paretosoc.dse.inputs.arguments import MAX_DRAWS


def entries(commands):
    for entry in commands:
        yield from entries(entry.commands) if entry.commands else [entry]


def numbers():
    """Options of all commands that are numbers, by command and name."""
    commands = [LazyCommand(entry).load() for entry in entries(COMMANDS)]
    imports = next(group for group in commands if isinstance(group, click.Group))
    commands += imports.commands.values()
    return {
        (command.name, option.name): option.type
        for command in commands
        for option in command.params
        if isinstance(option.type, click.IntRange | click.FloatRange)
    }


def test_every_number_has_a_range():
    found = numbers()
    assert len(found) > 40
    for place, kind in found.items():
        assert kind.min is not None, place
        if isinstance(kind, click.IntRange):
            most = {MAX_COUNT, MAX_DRAWS, MAX_SEED, MAX_SIZE}
            assert kind.max in most or kind.max <= 1024, place


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
    place = ("-p", "jetson-agx-xavier", "-o", tmp_path / "x")
    ended = dse("explore", "squeezenet", *place, option, value)
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
    for name in ("groups", "max_transitions"):
        either = kinds[name].get("oneOf", [kinds[name]])
        (number,) = (kind for kind in either if "maximum" in kind)
        assert number["maximum"] <= MAX_SIZE
    assert kinds["max_evaluations"]["maximum"] <= MAX_COUNT
    assert kinds["seed"]["maximum"] <= MAX_SEED


@pytest.mark.parametrize("path", ["", "/", ".", "/dev/null/x", "x" * 300], ids=str)
def test_a_checkpoint_that_cannot_be_one_is_refused(dse, tmp_path, path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = dse(*EXPLORE, "out", "--checkpoint", path, "--max-evaluations", 200, "--max-nodes", "0")
    assert ended.status == 2, ended.err
    assert len(ended.lines) == 1
