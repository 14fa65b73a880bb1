"""Which domains a search has, and which of their operating points."""

from __future__ import annotations

import numpy as np
import pytest

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.problem.domains import clocks_at, ladder_point, problem_domains
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.cost_model.power import domain_static_mw, unit_idle_mw
from paretosoc.platforms.io.platform_file import load_platform

XAVIER = load_platform("jetson-agx-xavier")
LADDER = [114_750, 216_750, 675_750]


@pytest.mark.parametrize(
    ("value", "point"),
    [("min", 0), ("max", 2), ("216.75", 1), ("2.1675e2", 1), ("867/4", 1), ("217", 1), ("216", 1)],
)
def test_a_clock_is_a_point_of_the_ladder(value: str, point: int) -> None:
    assert ladder_point(LADDER, value, "--fix gpu") == point


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("218", "--fix gpu: 218 MHz is not on the ladder; nearest are 114.75 and 216.75 MHz"),
        ("1e9", "--fix gpu: 1e+09 MHz is not on the ladder; nearest are 216.75 and 675.75 MHz"),
        ("fast", "--fix gpu: max, min or a frequency in MHz is required"),
        ("", "--fix gpu: max, min or a frequency in MHz is required"),
    ],
)
def test_another_text_is_refused_with_the_nearest_points(value: str, said: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        ladder_point(LADDER, value, "--fix gpu")
    assert str(caught.value) == said


def test_a_ladder_of_one_point_has_one_that_is_nearest() -> None:
    with pytest.raises(WorkloadError, match="nearest is 5 MHz"):
        ladder_point([5000], "6", "x")


def test_domains_are_those_of_the_units_and_those_that_are_never_off() -> None:
    gpu = [unit for unit in XAVIER.units if unit.name == "gpu"]
    domains = {domain.name: domain for domain in problem_domains(XAVIER, gpu, [("gpu", "max")])}
    assert list(domains) == ["cpu", "gpu", "emc"]
    assert np.flatnonzero(domains["gpu"].allowed).tolist() == [len(domains["gpu"].allowed) - 1]
    assert domains["emc"].allowed.all()
    # No unit asked for runs on the CPU's clock, and it is never off: it stays where it is parked.
    assert np.flatnonzero(domains["cpu"].allowed).tolist() == [XAVIER.domain_by_name["cpu"].parked]
    every = {domain.name for domain in problem_domains(XAVIER, XAVIER.units, [])}
    assert every == {domain.name for domain in XAVIER.domains}


def _offered(
    platform: str, units: tuple[str, ...], *fixed: tuple[str, str]
) -> dict[str, list[float]]:
    """MHz of each domain that a search on the units may choose."""
    chip = load_platform(platform)
    domains = problem_domains(chip, [chip.unit_by_name[name] for name in units], fixed)
    return {
        domain.name: [khz / 1000 for khz in np.array(domain.frequencies_khz)[domain.allowed]]
        for domain in domains
    }


@pytest.mark.parametrize(
    ("platform", "units", "domain", "lowest"),
    [
        ("jetson-agx-xavier", ("cpu", "gpu"), "cpu", 1190.4),
        ("jetson-agx-xavier", ("cpu", "dla0"), "cpu", 1190.4),
        ("jetson-xavier-nx", ("cpu", "dla1"), "cpu", 1190.4),
        ("jetson-agx-orin", ("cpu", "gpu"), "cpu", 729.6),
        ("jetson-orin-nano-8gb", ("cpu", "gpu"), "cpu", 729.6),
        ("jetson-nano", ("cpu", "gpu"), "cpu", 918),
        ("snapdragon-8-gen-3", ("silver", "npu"), "silver", 1099),
        # The host of TX2's GPU is in the model, down to the end of its ladder.
        ("jetson-tx2", ("a57-1", "gpu"), "a57", 345.6),
    ],
)
def test_a_cpu_that_feeds_accelerators_is_not_offered_below_its_lowest_clock(
    platform: str, units: tuple[str, ...], domain: str, lowest: float
) -> None:
    clocks = _offered(platform, units)[domain]
    ladder = load_platform(platform).domain_by_name[domain].operating_points
    every = [point.frequency_khz / 1000 for point in ladder]
    assert clocks == [mhz for mhz in every if mhz >= lowest]
    assert _offered(platform, units[:1])[domain] == every
    assert _offered(platform, units, (domain, "min"))[domain] == [lowest]
    assert _offered(platform, units, (domain, f"{every[0]:g}"))[domain] == every[:1]
    without_host = _offered(platform, units[1:])[domain]
    assert without_host[0] >= lowest


def test_units_that_were_not_asked_for_draw_their_idle_power_with_their_domain() -> None:
    names = ("cpu", "gpu", "dla0", "dla1")
    assert tuple(unit.name for unit in XAVIER.units) == names
    dla1 = [unit for unit in XAVIER.units if unit.name == "dla1"]
    (dla,) = (d for d in problem_domains(XAVIER, dla1, []) if d.name == "dla")
    (both,) = (d for d in problem_domains(XAVIER, XAVIER.units, []) if d.name == "dla")
    assert both.static_mw.tolist() == domain_static_mw(XAVIER, "dla").tolist()
    idle = unit_idle_mw(XAVIER, XAVIER.unit_by_name["dla0"])[:, 0]
    assert idle.min() > 0
    assert dla.static_mw.tolist() == (both.static_mw + idle).tolist()


def test_a_domain_that_there_is_not_is_refused() -> None:
    with pytest.raises(WorkloadError, match="has no domain 'npu'"):
        problem_domains(XAVIER, XAVIER.units, [("npu", "max")])


def test_clocks_at_are_those_named_and_the_fastest_allowed_of_the_others() -> None:
    options = Options(groups=1, units=("gpu", "dla0"), fixed=(("emc", "1600"),))
    problem = build_problem(workload_of(["squeezenet"]), XAVIER, options).problem
    points = clocks_at(problem, [("gpu", "min"), ("dla", "115.2")])
    chosen = {
        domain.name: domain.frequencies_khz[point]
        for domain, point in zip(problem.domains, points.tolist(), strict=True)
    }
    assert chosen["emc"] == 1_600_000
    assert chosen["dla"] == 115_200
    assert chosen["gpu"] == problem.domains[1].frequencies_khz[0] == 114_750
    with pytest.raises(WorkloadError, match="there is no domain 'npu'"):
        clocks_at(problem, [("npu", "max")])
