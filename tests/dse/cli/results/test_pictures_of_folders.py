"""The pictures in a result folder, which other tests write without."""

import pytest

import paretosoc as dse_library
from paretosoc.dse.api.views.sureness import choice_intervals
from paretosoc.results.plots.front import draw_front

SMALL = (
    *("explore", "alexnet", "squeezenet", "-p", "jetson-agx-xavier", "--units", "gpu,dla0"),
    *("--groups", "2", "--runtime", "none", "--max-nodes", "0", "--max-evaluations", "60", "-q"),
)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--fps", "25", "--objective", "power", "--objective", "latency"),
        ("--free-running", "--objective", "throughput", "--objective", "efficiency"),
        ("--objective", "latency:alexnet", "--objective", "latency", "--objective", "energy"),
    ],
)
def test_every_kind_of_front_is_drawn(dse, tmp_path, options):
    done = dse(*SMALL, *options, "-o", tmp_path / "run")
    assert (done.status, done.err) == (0, "")
    front = dse_library.load(tmp_path / "run")
    drawn = draw_front(front.numeric, choice_intervals(front)).picture().svg()
    assert (tmp_path / "run" / "front.svg").read_bytes() == drawn
