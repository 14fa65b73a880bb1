"""The contention model fitted to sweeps that were made with known parameters."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.fitness.calibration.pccs_document import used_fit
from paretosoc.fitness.calibration.pccs_fit import PARAMETERS, fit_contention, loss_percent
from paretosoc.fitness.calibration.pccs_sweep import Sweep, read_sweep
from paretosoc.fitness.contention import contention_table, lost_rate
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.platform import Contention
from paretosoc.platforms.source import Source, Status

GPU = (38.1, 87.2, 45.3, 100.0, 4.9, 1.11)
DLA = (27.9, 22.1, 71.1, 100.0, 4.9, 0.35)
STEP = (45.0, 60.0, 80.0, 90.0, 3.0, 0.8)


def sweep_of(
    values: tuple[float, ...],
    noise: float,
    seed: int,
    *,
    own: tuple[float, float] = (10, 121),
    external: tuple[float, float] = (10, 136),
) -> Sweep:
    random = np.random.default_rng(seed)
    grid = np.meshgrid(np.arange(*own, 10.0), np.arange(*external, 12.5))
    x, y = (axis.ravel() for axis in grid)
    slowdown = 100 / (100 - loss_percent(x, y, np.array(values)))
    return Sweep(x, y, slowdown * (1 + random.normal(0, noise, len(x))))


@given(
    values=st.tuples(
        st.integers(10, 600), st.integers(200, 1000), st.integers(200, 900),
        st.integers(300, 1300), st.integers(0, 100), st.integers(1, 150),
    ),
    own=st.integers(1, 1200),
    external=st.integers(0, 1400),
)  # fmt: skip
def test_the_fitted_function_is_the_model_of_the_timeline(
    values: tuple[int, ...], own: int, external: int
) -> None:
    *bandwidths, minor, rate = values
    table = contention_table(
        Contention(
            *(100_000 * value for value in bandwidths),
            max_minor_percent=Fraction(minor, 10),
            rate_percent_per_gbps=Fraction(rate, 100),
            source=Source(Status.MEASURED, "test"),
        ),
        [Fraction(1)],
        [own * 100_000],
    )
    lost = lost_rate(table, 0, own * 100_000, external * 100_000) / 65536
    floats = np.array([*(value / 10 for value in bandwidths), minor / 10, rate / 100])
    fitted = loss_percent(np.array([own / 10]), np.array([external / 10]), floats)[0]
    assert lost * 100 == pytest.approx(float(fitted), abs=0.002)


@given(
    values=st.tuples(*[st.floats(0.1, 150)] * 4, st.floats(0, 90), st.floats(0, 5)),
    own=st.floats(0.1, 150),
    external=st.floats(0, 150),
    more=st.floats(0, 50),
)
def test_whatever_its_parameters_the_model_never_falls(
    values: tuple[float, ...], own: float, external: float, more: float
) -> None:
    at = np.array(values)
    here, wider, beside = (
        float(loss_percent(np.array([x]), np.array([y]), at)[0])
        for x, y in ((own, external), (own + more, external), (own, external + more))
    )
    assert 0 <= here <= 95
    assert wider >= here - 1e-9
    assert beside >= here - 1e-9


@pytest.mark.parametrize("values", [GPU, DLA, STEP])
def test_without_noise_the_parameters_come_back(values: tuple[float, ...]) -> None:
    fit = fit_contention(sweep_of(values, 0, 0))
    for name, value in list(zip(PARAMETERS, values, strict=True))[1:]:
        assert fit.parameters[name].value == pytest.approx(value, rel=1e-3), name
    normal = fit.parameters["normal_gbps"]
    # Below TBWDC - CBP the threshold has no effect; it is put there.
    effective = max(values[0], values[1] - values[2])
    assert abs(normal.value - effective) <= normal.error + 0.01


@settings(max_examples=5, deadline=None, derandomize=True)
@given(
    total=st.integers(55, 95),
    balance=st.integers(40, 90),
    rate=st.integers(50, 120),
    seed=st.integers(0, 2**16),
    noise=st.sampled_from([0.003, 0.01]),
)
def test_with_noise_they_come_back_within_their_errors(
    total: int, balance: int, rate: int, seed: int, noise: float
) -> None:
    values = (45.0, float(total), float(balance), 95.0, 8.0, rate / 100)
    sweep = sweep_of(values, noise, seed)
    fit = fit_contention(sweep)
    for name, value in list(zip(PARAMETERS, values, strict=True))[1:]:
        item = fit.parameters[name]
        # Five standard deviations: kinks make the error's own estimate rough.
        assert abs(item.value - value) <= 5 * item.error + 0.01 * value, (name, item, value)
    used = used_fit(fit, sweep)
    assert used.mean_error < 1.5 * noise
    assert used.largest_error < 8 * noise


def test_the_error_told_is_that_of_the_integers_used() -> None:
    sweep = sweep_of(GPU, 0.01, 5)
    used = used_fit(fit_contention(sweep), sweep)
    own, external = round(sweep.own[7] * 1e6), round(sweep.external[7] * 1e6)
    kbps = [round(float(used.parameters[name]) * 1e6) for name in PARAMETERS[:4]]
    table = contention_table(
        Contention(
            *kbps,
            max_minor_percent=used.parameters["max_minor_percent"],
            rate_percent_per_gbps=used.parameters["rate_percent_per_gbps"],
            source=Source(Status.MEASURED, "test"),
        ),
        [Fraction(1)],
        [own],
    )
    assert used.predicted[7] == 65536 / (65536 - lost_rate(table, 0, own, external))
    errors = abs(used.predicted / sweep.slowdown - 1)
    assert used.largest_error == pytest.approx(errors.max())
    assert used.worst_sample == errors.argmax()


def test_measured_demands_that_all_differ() -> None:
    even = sweep_of(STEP, 0, 0)
    random = np.random.default_rng(1)
    own = even.own + random.uniform(-4, 4, len(even.own))
    lost = loss_percent(own, even.external, np.array(STEP))
    fit = fit_contention(Sweep(own, even.external, 100 / (100 - lost)))
    for name, value in list(zip(PARAMETERS, STEP, strict=True))[1:]:
        assert fit.parameters[name].value == pytest.approx(value, rel=0.02), name
    normal = fit.parameters["normal_gbps"]
    assert abs(normal.value - STEP[0]) <= normal.error + 4


@pytest.mark.parametrize(
    ("sweep", "parameter"),
    [
        (sweep_of(GPU, 0, 0, external=(10, 90)), "peak_gbps"),
        (sweep_of(STEP, 0, 0, own=(50, 121)), "max_minor_percent"),
        (sweep_of(STEP, 0, 0, own=(10, 41)), "rate_percent_per_gbps"),
        (sweep_of(STEP, 0, 0, external=(10, 76)), "balance_gbps"),
    ],
)
def test_a_sweep_that_does_not_determine_a_parameter_is_refused(
    sweep: Sweep, parameter: str
) -> None:
    with pytest.raises(PlatformError) as caught:
        fit_contention(sweep)
    message = str(caught.value)
    assert message.startswith("the sweep does not determine ")
    assert "; measure " in message
    assert "--known " in message
    named = [name for name in PARAMETERS if f" {name}: " in message]
    assert parameter in named or "normal_gbps" in named
    assert all(f"--known {name}=VALUE" in message for name in named)
    assert "\n" not in message
    # Other parameters may be lacking, too; this one is for certain when the rest is given.
    rest = {
        name: value
        for name, value in zip(PARAMETERS, STEP, strict=True)
        if name not in (parameter, "normal_gbps")
    }
    if parameter != "peak_gbps":
        with pytest.raises(PlatformError, match=f"(determine|Nor) ({parameter}|normal_gbps):"):
            fit_contention(sweep, rest)


def test_all_parameters_that_a_sweep_does_not_determine_are_named_at_once() -> None:
    with pytest.raises(PlatformError) as caught:
        fit_contention(sweep_of(STEP, 0, 0, own=(50, 121), external=(10, 76)))
    message = str(caught.value)
    for name in ("max_minor_percent", "peak_gbps", "balance_gbps"):
        assert f" {name}: " in message, message


def test_what_is_given_is_kept_and_makes_up_for_samples() -> None:
    sweep = sweep_of(GPU, 0.003, 1, external=(10, 90))
    fit = fit_contention(sweep, {"peak_gbps": 100.0})
    assert fit.parameters["peak_gbps"].value == 100.0
    assert fit.parameters["peak_gbps"].is_given
    assert fit.parameters["max_minor_percent"].value == pytest.approx(4.9, abs=0.5)
    assert fit.parameters["total_gbps"].value == pytest.approx(87.2, abs=1)


def test_the_same_sweep_gives_the_same_fit() -> None:
    first, second = (fit_contention(sweep_of(STEP, 0.01, 3, own=(30, 61))) for _ in range(2))
    assert first == second


def written(folder: Path, text: str) -> list[Path]:
    path = folder / "sweep.csv"
    path.write_text(text, "utf-8")
    return [path]


HEADER = "own_gbps,external_gbps,slowdown\n"
ROWS = "".join(f"{10 * n},20,1.{n}\n" for n in range(1, 9))


def test_a_sweep_of_times_is_one_of_slowdowns(tmp_path: Path) -> None:
    lines = "own_gbps,external_gbps,alone_ms,together_ms\n" + "".join(
        f"{10 * n},20,2,{2 + n / 5}\n" for n in range(1, 9)
    )
    sweep = read_sweep(written(tmp_path, lines))
    assert sweep.slowdown.tolist() == [1 + n / 10 for n in range(1, 9)]
    assert sweep.lost_percent[0] == pytest.approx(100 - 100 / 1.1)


def test_samples_without_traffic_are_no_part_and_faster_ones_are_told(tmp_path: Path) -> None:
    sweep = read_sweep(written(tmp_path, HEADER + ROWS + "5,0,1\n5,10,0.99\n"))
    assert len(sweep.own) == 9
    assert sweep.flagged == ("1 samples were faster beside another: taken as noise, and used",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEADER + "10,20,1.1\n", "at least 8 samples with external traffic are required, got 1"),
        (HEADER + ROWS + "0,20,1.1\n", "line 10: own_gbps must be a number from 0.01"),
        (HEADER + ROWS + ",20,1.1\n", "own_gbps must be a number from 0.01"),
        (HEADER + ROWS + "10,99999,1.1\n", "external_gbps must be a number from 0.01 to 10000"),
        (
            HEADER + "".join(f"0.00{n},0.001,1.01\n" for n in range(1, 9)),
            "own_gbps must be a number",
        ),
        (HEADER + ROWS + "10,20,\n", "slowdown, or both alone_ms and together_ms"),
        (HEADER + ROWS + "10,20,0.5\n", "slowdown must be from 0.8 to 100, got 0.5"),
        ("own_gbps,slowdown\n1,2\n", "; missing: external_gbps"),
    ],
)
def test_what_is_wrong_in_a_sweep_is_named(text: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(PlatformError) as caught:
        read_sweep(written(tmp_path, text))
    assert expected in str(caught.value)
