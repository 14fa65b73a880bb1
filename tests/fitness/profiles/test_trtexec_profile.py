"""Profiles of trtexec as its versions print them, whole and broken."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretosoc.fitness.profiles.profilers.trtexec_profile import parse_trtexec_profile
from paretosoc.platforms.errors import PlatformError

MS = 10**9


def exported(rows: list[tuple[str, float]], *, median: bool = True, count: int = 100) -> str:
    """As trtexec writes it: one entry a line, names as they are."""
    lines = [f'  {{ "count" : {count} }}']
    for name, time in rows:
        middle = f', "medianMs" : {time / 2:g}' if median else ""
        lines.append(
            f', {{ "name" : "{name}", "timeMs" : {time * count:g}, "averageMs" : {time:g}'
            f'{middle}, "percentage" : 1.5 }}'
        )
    return "[\n" + "\n".join(lines) + "\n]\n"


ROWS = [("conv1 + relu1", 0.25), ("pool1", 0.0625), ('odd "name" \\x', 1.5)]

NEW_LOG = """[05/08-14:05] [I] Average on 10 runs - GPU latency: 4.0 ms
[05/08-14:05] [I]
[05/08-14:05] [I] === Profile (400 iterations ) ===
[05/08-14:05] [I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
[05/08-14:05] [I]        3.09   0.0077   0.0075  33.3 Reformatting CopyNode for Input Tensor 0 to c
[05/08-14:05] [I]      100.00       0.2500       0.2400      66.7   conv1 +  relu1
[05/08-14:05] [I]      103.09       0.2577       0.2475     100.0   Total
[05/08-14:05] [I]
&&&& PASSED TensorRT.trtexec
"""

OLD_LOG = """=== Profile (400 iterations ) ===
                        Layer   Time (ms)   Avg. Time (ms)   Time %
                 images to nvm       34.00           0.0850      1.1
{ForeignNode[Conv_0...Cat_9]}        3.40           0.0085      0.1
              head 3 from nvm     3069.60           7.6740     98.8
                        Total     3107.00           7.7675    100.0
"""


TRT7_LOG = """[I] GPU Compute
[I] min: 3.60 ms
[I]
[I] === Profile (1500 iterations ) ===
[I]                           Layer   Time (ms)   Avg. Time (ms)   Time %
[I]                     data to nvm       69.00             0.05      1.2
[I]                  {conv1,conv2}      300.00             0.20      5.4
[I]        prob input reformatter 0     5046.37             3.36     93.2
[I]                 classifier done        4.50             0.00      0.1
[I]                           Total     5419.87             3.61    100.0
[I]
"""


@pytest.mark.parametrize("median", [True, False])
def test_json_with_names_that_are_not_escaped(median: bool) -> None:
    profile = parse_trtexec_profile(exported(ROWS, median=median), "f")
    assert [(row.name, float(row.mean_ps / MS)) for row in profile.rows] == ROWS
    medians = [time / 2 if median else None for _, time in ROWS]
    assert [r.median_ps and float(r.median_ps / MS) for r in profile.rows] == medians
    assert profile.iterations == 100
    assert profile.warnings == ()


@given(keep=st.integers(0, 1000))
def test_a_file_that_is_cut_off_gives_its_whole_rows_and_says_so(keep: int) -> None:
    text = exported(ROWS)
    cut = text[: min(keep, len(text.rstrip()) - 1)]
    whole = cut.count('"percentage" : 1.5 }')
    try:
        profile = parse_trtexec_profile(cut, "f")
    except PlatformError:
        assert whole == 0
        return
    assert [row.name for row in profile.rows] == [name for name, _ in ROWS[:whole]]
    assert "closing bracket is missing" in profile.warnings[-1]


def test_json_that_another_program_wrote_anew() -> None:
    text = '[{"count": 3}, {"name": "a", "timeMs": 3, "averageMs": 1}, 7]'
    profile = parse_trtexec_profile(text, "f")
    assert [row.name for row in profile.rows] == ["a"]
    assert profile.warnings == ("an entry is neither a row nor the number of iterations; left out",)


def test_a_time_that_is_none_or_does_not_fit_is_told() -> None:
    text = exported([("a", 1.0), ("b", 2.0), ("c", 3.0)])
    text = text.replace('"averageMs" : 2', '"averageMs" : nan')
    text = text.replace('"averageMs" : 3', '"averageMs" : 4')
    profile = parse_trtexec_profile(text, "f")
    assert [row.name for row in profile.rows] == ["a", "c"]
    assert profile.warnings == (
        "'b': time nan is none; the row is not used",
        "'c': 4 ms an iteration does not fit 300 ms in 100 iterations",
    )


@pytest.mark.parametrize(("mean", "median", "which"), [(-1, 0.5, "mean"), (0.5, -1, "median")])
def test_negative_times_are_named_and_never_taken(mean: float, median: float, which: str) -> None:
    entry = (
        f'{{"name": "a", "timeMs": {mean * 10}, "averageMs": {mean}, "medianMs": {median}, '
        '"percentage": 1}'
    )
    good = entry.replace('"a"', '"b"').replace("-1", "1")
    profile = parse_trtexec_profile(f'[{{"count": 10}}, {entry}, {good}]', "file")
    assert [row.name for row in profile.rows] == ["b"]
    assert f"'a': its {which} is negative, -1 ms; the row is not used" in profile.warnings
    with pytest.raises(PlatformError, match=f"got none .*'a': its {which} is negative"):
        parse_trtexec_profile(f'[{{"count": 10}}, {entry}]', "file")
    log = NEW_LOG.replace("100.00       0.2500       0.2400", f"-4.00 {mean} {median}")
    profile = parse_trtexec_profile(log, "file")
    assert [row.name for row in profile.rows] == ["Reformatting CopyNode for Input Tensor 0 to c"]


def test_the_layout_with_numbers_first() -> None:
    profile = parse_trtexec_profile(NEW_LOG, "f")
    assert [row.name for row in profile.rows] == [
        "Reformatting CopyNode for Input Tensor 0 to c",
        "conv1 +  relu1",
    ]
    # The total over 400 iterations is finer than the mean with four decimals.
    assert profile.rows[0].mean_ps == Fraction("3.09") * MS / 400
    assert profile.rows[0].median_ps == Fraction("0.0075") * MS
    assert profile.warnings == ()


def test_the_layout_with_the_name_first() -> None:
    profile = parse_trtexec_profile(OLD_LOG, "f")
    assert [(row.name, float(row.mean_ps / MS), row.median_ps) for row in profile.rows] == [
        ("images to nvm", 0.085, None),
        ("{ForeignNode[Conv_0...Cat_9]}", 0.0085, None),
        ("head 3 from nvm", 7.674, None),
    ]
    assert profile.warnings == ()


def test_the_oldest_layout_whose_means_have_two_decimals() -> None:
    profile = parse_trtexec_profile(TRT7_LOG, "f")
    assert [(row.name, float(row.mean_ps / MS)) for row in profile.rows] == [
        ("data to nvm", 0.046),
        ("{conv1,conv2}", 0.2),
        ("prob input reformatter 0", pytest.approx(3.364247, abs=1e-6)),
        ("classifier done", 0.003),
    ]
    assert profile.warnings == ()


def test_a_log_without_its_end_or_with_a_row_missing_is_told() -> None:
    cut = "\n".join(line for line in NEW_LOG.splitlines() if "Total" not in line)
    assert parse_trtexec_profile(cut, "f").warnings == (
        "the row Total is missing: the log may be cut off",
    )
    less = "\n".join(line for line in OLD_LOG.splitlines() if "from nvm" not in line)
    assert parse_trtexec_profile(less, "f").warnings == (
        "the rows do not add up to the row Total: some may be missing",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "got a text without a profile"),
        ("[05/08/2026] [I] hello\n", "got a text without a profile"),
        ("[]", "must have a row with a name and times, got none"),
        ('[\n{ "count" : 3 }\n]', "must have a row with a name and times, got none"),
        (NEW_LOG + NEW_LOG, "must hold one profile, got 2"),
        ("=== Profile (3 iterations ) ===\n", "must have a line that names its columns"),
        (NEW_LOG.replace("=== Profile (", "=== Profile (" + "9" * 5000), "without a profile"),
        ('[\n{ "count" : ' + "9" * 5000 + ' },\n{"name": "a b"}\n]', "must have a row"),
    ],
)
def test_what_is_no_profile_is_refused(text: str, expected: str) -> None:
    with pytest.raises(PlatformError, match=r"^file: ") as caught:
        parse_trtexec_profile(text, "file")
    assert expected in str(caught.value)


@given(st.text(alphabet='[]{}",:. \n\\abc019=Profile(iterations)Layer Time%|', max_size=200))
def test_any_text_is_read_or_refused_with_a_platform_error(text: str) -> None:
    for start in ("", "[\n", "=== Profile (3 iterations ) ===\n Time(ms) Avg.(ms) Layer\n"):
        with suppress(PlatformError):
            parse_trtexec_profile(start + text, "f")


INSPECTOR_11 = """[09/01-10:00:00] [I] Layers:
[09/01-10:00:00] [I] {"Layers": ["conv1 + relu1", "prob"],
"I/O Tensors": [{"Name": "Time(ms) Layer", "IOMode": "Input", "DataType": "Half",
"Dimensions": [1, 3, 224, 224], "Location": "Device", "IsShapeInferenceIO": false}]}
"""


def test_a_log_of_version_11_with_the_inspectors_dump_before_the_profile() -> None:
    new = parse_trtexec_profile(INSPECTOR_11 + NEW_LOG, "f")
    assert new == parse_trtexec_profile(NEW_LOG, "f")


def test_a_dump_of_the_inspector_has_no_times() -> None:
    dump = '{"Layers": ["conv1"], "I/O Tensors": [{"Name": "x", "IOMode": "Input"}]}'
    with pytest.raises(PlatformError, match="--exportProfile"):
        parse_trtexec_profile(dump, "f")
