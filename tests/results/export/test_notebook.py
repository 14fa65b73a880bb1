"""Fronts and schedules in notebooks: their tables hold what they hold, names are only text."""

import builtins
import dataclasses
import re

import pytest

from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import choose
from paretosoc.results.front.front import BoundSummary
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.front.schedule import Schedule

pandas = pytest.importorskip("pandas")


def test_a_front_as_a_table(front):
    frame = front.to_pandas()
    assert list(frame.index) == list(range(len(front.members)))
    assert frame.index.name == "member"
    assert frame["makespan_ms"].tolist() == [m.makespan_ps / 1e9 for m in front.members]
    assert frame["energy [mJ]"].tolist() == [m.energy_fj / 1e12 for m in front.members]
    for index, marks in mark_members(front).items():
        assert frame.loc[index, "marks"] == ", ".join(marks)
    groups = [name for name in frame.columns if name.startswith("groups_on_")]
    assert (frame[groups].sum(axis=1) == front.problem.group_count).all()
    gpu = [domain.name for domain in front.problem.domains].index("gpu")
    for member, clock in zip(front.members, frame["gpu_mhz"], strict=True):
        assert pandas.isna(clock) == (not member.domain_on[gpu])


def test_an_empty_front_is_an_empty_table(front):
    assert len(dataclasses.replace(front, members=()).to_pandas()) == 0


def test_a_schedule_as_a_table(front, scheduled):
    shown = scheduled(front.problem, front.members[0])
    schedule = shown.schedule
    bare, named = schedule.to_pandas(), shown.to_pandas()
    assert len(bare) == len(named) == len(schedule.groups)
    assert bare["end_ps"].max() == schedule.makespan_ps
    assert bare["unit"].tolist() == [row.unit for row in schedule.groups]
    assert set(named["unit"]) <= {unit.name for unit in front.problem.units}
    assert set(named["network"]) == {network.name for network in front.problem.networks}
    for network in front.problem.networks:
        groups = named.loc[named["network"] == network.name, "group"]
        assert sorted(groups) == list(range(len(network.group_names)))
    assert (named["start_ps"] - named["waited_ps"] == named["ready_ps"]).all()


def test_without_pandas_the_extra_is_named(front, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name.partition(".")[0] == "pandas":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(__import__("sys").modules, "pandas")
    monkeypatch.setattr("paretosoc.results.io.optional.import_module", without)
    with pytest.raises(ResultError, match=r"pip install 'paretosoc\[notebooks\]'"):
        front.to_pandas()


def test_a_front_shows_picture_marks_and_words(front):
    html = front._repr_html_()
    assert html.count("<svg") == 1
    for marks in mark_members(front).values():
        assert ", ".join(marks) in html
    assert "against fastest" in html
    assert html.count("<tr>") == 1 + len(choose(front).entries)


def test_a_front_says_how_far_it_is_proved(front):
    whole = BoundSummary(
        objectives=tuple(front.problem.objective_names),
        members=(0,),
        epsilon_ppm=12_000,
        region=(),
        space="",
        boxes=1,
        inequalities=1,
        seconds=0.0,
    )
    bare = dataclasses.replace(front, certificate=None, epsilon=None, bounds=None)
    one = dataclasses.replace(bare, members=front.members[:1])
    for shown, words in (
        (bare, "not proved</p>"),
        (dataclasses.replace(bare, bounds=whole), "within 1.20 %</p>"),
        (dataclasses.replace(bare, bounds=dataclasses.replace(whole, epsilon_ppm=0)), "complete<"),
        (one, "<b>1 member</b>"),
    ):
        assert words in shown._repr_html_()


def test_a_schedule_shows_every_execution(front, scheduled):
    member = front.members[0]
    shown = scheduled(front.problem, member)
    bare, named = shown.schedule._repr_html_(), shown._repr_html_()
    for html in (bare, named):
        assert html.count("<title>") == len(shown.schedule.groups)
    assert f"{member.makespan_ps / 1e9:.4f} ms" in bare
    for unit in set(member.design.units.tolist()):
        assert f">unit {unit}<" in bare
        assert f">{front.problem.units[unit].name}<" in named
    widths = [float(width) for width in re.findall(r'width="([0-9.]+)" y=', named)]
    busy = [(r.end_ps - r.start_ps, r.alone_ps) for r in shown.schedule.groups]
    lengths = [length for pair in busy for length in pair]
    assert [w / max(widths) for w in widths] == pytest.approx(
        [length / max(lengths) for length in lengths], abs=1e-3
    )
    assert "empty" in Schedule(())._repr_html_()


def test_names_are_only_text(front, scheduled):
    first, *others = front.problem.networks
    networks = (dataclasses.replace(first, name="<script>x</script>"), *others)
    problem = dataclasses.replace(front.problem, networks=networks)
    hostile = dataclasses.replace(front, problem=problem)
    shown = scheduled(problem, front.members[0])
    for html in (hostile._repr_html_(), shown._repr_html_()):
        assert "<script" not in html
