"""The table: fits its width, marks the right members, says what it leaves out."""

import dataclasses
import io
import json

import numpy as np
import pytest
from rich.console import Console

from paretosoc.results.front.choices import choose
from paretosoc.results.front.front import Front
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.problem.execution import ChannelUse, ClosedForm, IdleTime
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, format_number
from paretosoc.results.problem.problem import DesignPoint
from paretosoc.results.text.front import front_table
from paretosoc.results.text.front_rows import table_rows
from paretosoc.results.text.member_diff import describe_difference, describe_front


def text_of(front, width, **options):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(front_table(front, width=width, **options))
    return console.file.getvalue()


def long_front(front, count):
    """Not sound as a result, but as long as one wants: a hyperbola."""
    member = front.members[0]
    members = tuple(
        dataclasses.replace(member, objectives=(10**9 * (i + 1), 10**14 // (i + 1)))
        for i in range(count)
    )
    return dataclasses.replace(front, members=members)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_fits_the_width(front, three_objective_front, width):
    for some in (front, three_objective_front, long_front(front, 300)):
        lines = text_of(some, width).splitlines()
        assert max(len(line) for line in lines) <= width
        assert not any("…" in line for line in lines)


def test_every_member_with_its_figures(front):
    text = text_of(front, 120)
    for i, member in enumerate(front.members):
        row = next(line for line in text.splitlines() if line.split()[:1] == [str(i)])
        assert f"{member.makespan_ps / 1e9:.3f}" in row
        assert row.split()[-1] == str(front.problem.transition_count(member.design))


def test_the_number_format_of_all_costs_is_named(front):
    assert "Number format of all costs: INT8." in text_of(front, 100)


def test_marks(front):
    marks = mark_members(front)
    values = np.array([member.objectives for member in front.members])
    assert "fastest" in marks[int(values[:, 0].argmin())]
    assert "lowest energy" in marks[int(values[:, 1].argmin())]
    assert sum("knee" in names for names in marks.values()) == 1
    text = text_of(front, 120)
    for mark in ("fastest", "lowest energy", "knee"):
        assert mark in text


def test_a_long_front_is_shown_by_its_choices(front):
    some = long_front(front, 300)
    text = text_of(some, 80)
    choices = choose(some)
    percent = f"{100 * choices.resolution:g}\N{NO-BREAK SPACE}%"
    assert (
        f"{len(choices.entries)} choices of 300 members: every member is within {percent}"
        in text.replace("\n", " ")
    )
    rows = [line.split() for line in text.splitlines() if line.split()[:1][0:1]]
    shown = [int(row[0]) for row in rows if row[0].isdigit()][: len(choices.entries)]
    assert shown == choices.members
    assert set(mark_members(some)) <= set(shown)
    every = text_of(some, 80, resolution=0)
    assert "choices of" not in every
    assert "stands" not in every
    assert len(every.splitlines()) > 300


def test_columns_that_do_not_fit_are_named(front):
    assert "Not shown for want of room: transitions" in text_of(front, 50)
    assert "want of room" not in text_of(front, 120)


def test_columns_without_differences_go_first(front):
    """The same units at other clocks: what the units are goes, though it would be kept else."""
    first = front.members[0]
    domain = int(np.argmax([len(d.frequencies_khz) for d in front.problem.domains]))
    members = []
    for point in (0, 1):
        points = first.design.operating_points.copy()
        points[domain] = point
        design = dataclasses.replace(first.design, operating_points=points)
        objectives = (first.objectives[0] + point, *first.objectives[1:])
        on = (True,) * len(front.problem.domains)
        member = dataclasses.replace(first, design=design, objectives=objectives, domain_on=on)
        members.append(member)
    some = dataclasses.replace(front, members=tuple(members))
    clock = f"{front.problem.domains[domain].name} clock"
    widths = range(120, 20, -1)
    every = {w: text_of(some, w, resolution=0) for w in widths}
    narrow = next(every[w] for w in widths if ", units (always " in every[w])
    assert "want of room: transitions (always " in " ".join(narrow.split())
    assert clock not in narrow
    assert any(clock in text for text in every.values())


def test_an_empty_front_says_so(front):
    empty = dataclasses.replace(front, members=())
    assert "no design point met all constraints" in text_of(empty, 80)
    assert table_rows(empty, choose(empty, 0)) == []
    assert describe_front(empty) == []


def test_rows_are_plain_data(front):
    rows = table_rows(front, choose(front, 0))
    assert json.loads(json.dumps(rows)) == rows
    for row, member in zip(rows, front.members, strict=True):
        assert row["objectives"] == {
            "latency_ps": member.makespan_ps,
            "energy_fj": member.energy_fj,
        }
        assert row["display"]["latency [ms]"] == member.makespan_ps / 1e9
        assert sum(row["groups_by_unit"].values()) == front.problem.group_count


def test_difference_in_words(front: Front):
    base = front.members[0]
    points = base.design.operating_points.copy()
    points[1] = 2
    slower = dataclasses.replace(
        base,
        design=DesignPoint(base.design.units, points),
        objectives=(base.objectives[0] * 21 // 10, base.objectives[1] * 44 // 100),
    )
    was = front.problem.domains[1].frequencies_khz[base.design.operating_points[1]] / 1000
    assert describe_difference(front.problem, base, slower) == (
        f"gpu at 676 MHz instead of {was:.0f}: 2.1x the latency for 44 % of the energy"
    )
    assert describe_difference(front.problem, base, base) == "the same choices: the same figures"
    free = dataclasses.replace(base, objectives=(base.objectives[0], 0))
    text = describe_difference(front.problem, free, base)
    assert text == "the same choices: energy 130.0 instead of 0"
    off = dataclasses.replace(base, domain_on=(True, False, True, True))
    assert describe_difference(front.problem, base, off).startswith("gpu off")
    assert describe_difference(front.problem, off, base).startswith(f"gpu on at {was:.0f} MHz")


def test_difference_names_what_moved_and_turns_rates(front):
    objectives = (Objective(ObjectiveKind.THROUGHPUT), Objective(ObjectiveKind.ENERGY))
    problem = dataclasses.replace(front.problem, objectives=objectives)
    base = dataclasses.replace(front.members[0], objectives=(4 * 10**9, 10**12))
    units = base.design.units.copy()
    units[0] = 0
    other = dataclasses.replace(
        base,
        design=DesignPoint(units, base.design.operating_points),
        objectives=(10**9, 11 * 10**11),
    )
    text = describe_difference(problem, base, other)
    assert text.startswith("1 of 11 groups on other units (cpu 1, ")
    assert text.endswith(": 110 % of the energy for 4.0x the throughput")


def test_difference_tells_formats_from_units(front):
    problem, base = front.problem, front.members[0]
    names = [unit.name for unit in problem.units]
    cpu, gpu, dla = (names.index(name) for name in ("cpu", "gpu", "dla"))
    units = list(problem.units)
    units[gpu] = dataclasses.replace(units[gpu], unit="gpu", number_format="fp16")
    units[dla] = dataclasses.replace(units[dla], unit="gpu", number_format="int8")
    problem = dataclasses.replace(problem, units=tuple(units))

    def member(*first: int):
        mapping = base.design.units.copy()
        mapping[:] = gpu
        mapping[: len(first)] = first
        design = DesignPoint(mapping, base.design.operating_points)
        return dataclasses.replace(base, design=design)

    def changed(*first: int) -> str:
        return describe_difference(problem, member(), member(*first)).partition(" (")[0]

    assert changed(dla) == "1 of 11 groups in other formats"
    assert changed(cpu) == "1 of 11 groups on other units"
    assert changed(cpu, dla, dla) == "1 of 11 groups on other units, 2 in other formats"


@pytest.mark.parametrize(
    ("kind", "value", "name", "label", "shown"),
    [
        (ObjectiveKind.LATENCY, 7_533_629_000, "latency_ps", "latency", 7.533629),
        (ObjectiveKind.ENERGY, 143 * 10**12, "energy_fj", "energy", 143),
        (ObjectiveKind.POWER, 15_500_000, "power_uw", "power", 15.5),
        (ObjectiveKind.THROUGHPUT, 10**10, "time_per_image_ps", "throughput", 100),
        (ObjectiveKind.INVERSE_LATENCY, -250 * 10**6, "negative_rate_sum_uhz", "rate", 250),
        (ObjectiveKind.STRETCH, 34_000, "stretch_ppm", "stretch", 3.4),
    ],
)
def test_objectives_for_files_and_people(problem, kind, value, name, label, shown):
    objective = Objective(kind)
    assert objective.name_in(problem) == name
    assert objective.label(problem) == label
    assert objective.shown(value) == pytest.approx(shown)


def test_an_energy_in_closed_form_names_its_t(problem):
    energy, throughput = Objective(ObjectiveKind.ENERGY), Objective(ObjectiveKind.THROUGHPUT)
    period, by_sum = (
        dataclasses.replace(problem, execution=ClosedForm(ChannelUse.BETWEEN_UNITS, time))
        for time in (IdleTime.PERIOD, IdleTime.SUM_OF_LOADS)
    )
    assert energy.heading(problem) == "mJ"
    assert energy.heading(period) == "mJ, T = period"
    assert energy.heading(by_sum, by_sum) == "mJ, T = sum of loads"
    assert energy.heading(period, by_sum) == energy.heading(problem, by_sum) == "mJ"
    assert throughput.heading(period) == "images/s"


def test_numbers_for_people(problem):
    latency = Objective(ObjectiveKind.LATENCY, 1)
    assert latency.name_in(problem) == "latency_ps:resnet50"
    assert latency.label(problem) == "latency of resnet50"
    assert latency.format([7_422_000_000, 15_652_400_000]) == ["7.422", "15.652"]
    numbers = {0.0: "0", 0.01234: "0.0123", 9.9996: "10.00", 999.96: "1000", 12345.6: "12346"}
    for number, text in numbers.items():
        assert format_number(number) == text


def test_rows_that_four_digits_would_show_alike_have_more(front):
    """Members 2 ps apart: as many digits as tell them apart; others keep four."""
    member = front.members[0]
    near = tuple(
        dataclasses.replace(member, objectives=values)
        for values in (
            (8_278_123_456, 7 * 10**13),
            (8_278_123_458, 7 * 10**13 - 1),
            (9 * 10**9, 10**13),
        )
    )
    rows = [
        line.split()[1:3]
        for line in text_of(
            dataclasses.replace(front, members=near), 120, resolution=0
        ).splitlines()
    ]
    rows = rows[rows.index(["8.278123456", "70.00000000"]) :][:3]
    assert rows == [
        ["8.278123456", "70.00000000"],
        ["8.278123458", "70.00000000"],
        ["9.000000000", "10.00000000"],
    ]
    assert "8.278 " in text_of(dataclasses.replace(front, members=(near[0], near[2])), 120)
