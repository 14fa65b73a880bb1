"""Networks and groups that are pinned to a unit: by options, workload files and campaigns."""

import re

import pytest

from paretosoc import Problem
from paretosoc.dse.tools.campaign.plan.campaign_file import load_plan
from paretosoc.dse.tools.campaign.plan.settings import options_of
from paretosoc.dse.workload.read_options import parse_options

XAVIER = {"platform": "jetson-agx-xavier", "groups": 3, "units": ["gpu", "dla0"]}
PINNED = (("squeezenet", 0, None, "gpu"), ("vgg19", 1, 2, "dla0"))


def test_a_name_alone_pins_all_groups(tmp_path):
    pins = {"squeezenet": "gpu", "vgg19": {(1, 2): "dla0"}}
    problem = Problem(["squeezenet", "vgg19"], **XAVIER, pins=pins)
    assert problem.options.pins == PINNED
    allowed = problem.numeric.allowed
    file = tmp_path / "pair.yaml"
    file.write_text(
        "networks:\n  - {network: squeezenet, pins: [{unit: gpu}]}\n"
        "  - {network: vgg19, pins: [{first: 1, last: 2, unit: dla0}]}\n"
    )
    assert Problem(str(file), **XAVIER).numeric.allowed.tolist() == allowed.tolist()
    gpu = [unit.unit_name for unit in problem.numeric.units].index("gpu")
    size = len(problem.built.networks[0].groups)
    assert allowed[:size, gpu].all()
    assert allowed[:size].sum() == size


def test_the_command_and_campaigns_tell_units_from_clocks(tmp_path):
    fixes = ["squeezenet=gpu", "vgg19:1-2=dla0", "gpu=max", "emc=1600MHz"]
    options = parse_options({"fixed": fixes})
    assert options.pins == PINNED
    assert dict(options.fixed) == {"gpu": "max", "emc": 1600}
    path = tmp_path / "pins.yaml"
    path.write_text(
        "workloads: ['squeezenet, vgg19']\nplatforms: [jetson-agx-xavier]\n"
        f"fixed: ['{', '.join(fixes)}']\n"
    )
    (run,) = load_plan(path).runs
    found = options_of(run.settings)
    assert (found.pins, found.fixed) == (options.pins, options.fixed)


@pytest.mark.parametrize(
    ("fix", "words"),
    [
        ("squeezenet=dla", r"pin squeezenet=dla: there is no unit 'dla' .*; did you mean dla"),
        ("squeezent=gpu", r"there is no network 'squeezent' .*\(did you mean squeezenet\?\)"),
        ("gpu=fast", "there is no network 'gpu' .* 'gpu' takes max, min or a frequency in MHz"),
        ("gppu=max", r"has no domain 'gppu' .*; did you mean gpu\?"),
        ("squeezenet:3=gpu", "pin squeezenet:3=gpu: squeezenet has groups 0 to "),
        ("squeezenet", "NETWORK=UNIT or NETWORK:FIRST-LAST=UNIT"),
    ],
)
def test_what_names_nothing_is_refused_with_the_nearest_name(fix, words, dse, tmp_path):
    place = ("-p", "jetson-agx-xavier", "--groups", "3", "-o", tmp_path / "run")
    ended = dse("explore", "squeezenet", *place, "--fix", fix)
    assert ended.status == 2
    assert re.search(words, ended.err), ended.err
