"""One schedule as a Gantt picture: units as rows, networks as colours, contention hatched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from paretosoc.common.units import PS_PER_MS
from paretosoc.results.front.schedule import ScheduledMember
from paretosoc.results.plots.chart import LABEL, PAGE, Axis, Chart
from paretosoc.results.plots.items import DASHES, Curve, Item, bar
from paretosoc.results.plots.picture import Text, text_size, wrapped
from paretosoc.results.plots.style import COLOURS, GREY, INK, ink_on, lighter
from paretosoc.results.text.member_diff import conversion_count, is_conversion
from paretosoc.results.text.rates import describe_shown_part

_ROW, _BETWEEN = 42.0, 6.0
"""Least height of a unit's row, and room between two names of units, in dots."""
_BAR = 0.31
"""Half of the height of a bar, as a share of its row."""
_LINE = 9.0
"""Height of a line of a bar's label."""
_NUMBER_SHARE = 0.018
"""A bar at least this share of the picture wide has room for the number of its group."""
_FRAME_SHARE = 0.004
"""A narrower bar has no frame: it would hide the bar."""
_TITLE, _WIDEST_TITLE, _WIDEST_UNIT = 8.0, 530.0, 140.0
"""Size of the type of titles, and dots of the widest line of them and of names of units."""
_ADDED = 0.55
"""Share of the colour in the part of a bar that contention adds."""
_MAX_ARROWS = 200
"""Maximum number of arrows that are drawn. More would be one grey mass."""
_WINDOW = lighter(GREY, 0.18)


def draw_gantts(schedules: Sequence[tuple[str, ScheduledMember]]) -> Chart:
    """Draw schedules, each under its title, one below the other over the same time.

    A bar is one execution of a group, with the group's number in its network (and the frame, if
    there are several). The solid part is its stand-alone time, the hatched rest is added by
    contention. Inside an execution the two alternate, only their sum is drawn. Networks that
    overlap on a unit have a part of its row each. Arrows are transitions, grey ones conversions
    between two number formats of a unit. A dotted line leads on to the target group if its unit is
    still busy. If networks run freely, the window that is counted is shaded.
    """
    networks = dict.fromkeys(n.name for _, shown in schedules for n in shown.problem.networks)
    colours = {name: COLOURS[n % len(COLOURS)] for n, name in enumerate(networks)}
    span = max(shown.shown_ps for _, shown in schedules) / PS_PER_MS
    items, names, foot = _keys(schedules, colours), dict[float, str](), 0.0
    for title, shown in schedules:
        run, units = shown.member.free_run, sorted(set(shown.member.design.units.tolist()))
        if foot:
            items.append(Curve([(0.0, foot), (1.01 * span, foot)], INK, 0.6))
            foot -= _BETWEEN
        told = f"{title}: {describe_shown_part(run)}".removeprefix(": ") if run else title
        if told:
            words = Text((0.0, foot), wrapped(told, _TITLE, _WIDEST_TITLE), _TITLE, INK, up=1.0)
            items.append(words)
            foot = words.box[1]
        written = [wrapped(shown.problem.units[u].name, LABEL, _WIDEST_UNIT) for u in units]
        tall = max(_ROW, *(text_size(name, LABEL)[1] + _BETWEEN for name in written))
        rows = {unit: foot - (row + 0.5) * tall for row, unit in enumerate(units)}
        names |= dict(zip(rows.values(), written, strict=True))
        top, foot = foot, foot - len(units) * tall
        if run is not None and run.window_ps[0] < run.shown_ps:
            begin, end = run.window_ps[0] / PS_PER_MS, run.shown_ps / PS_PER_MS
            items.append(bar(begin, foot, end, top, _WINDOW))
        items += _bars(shown, rows, tall, span, colours)
        items += _transitions(shown, rows, tall)
    x, y = Axis("Time (ms)", 0.0, 1.01 * span), Axis("", foot, 0.0, names=names)
    return Chart(x, y, tuple(items), width=PAGE, height=-foot)


def _bars(
    shown: ScheduledMember,
    rows: Mapping[int, float],
    tall: float,
    span: float,
    colours: Mapping[str, str],
) -> list[Item]:
    """Return the bars of executions and their labels. ``rows``: the middle of each unit's."""
    bars, labels = list[Item](), list[Item]()
    several_frames = shown.schedule.groups[-1].frame > 1
    for entry in shown.schedule.groups:
        network = shown.problem.networks[entry.network]
        colour = colours[network.name]
        lane, count = shown.schedule.lanes[entry.unit, entry.network]
        half = _BAR * tall / count
        middle = rows[entry.unit] - (2 * lane - count + 1) * half
        low, high = middle - half, middle + half
        start, end = entry.start_ps / PS_PER_MS, entry.end_ps / PS_PER_MS
        alone = start + entry.alone_ps / PS_PER_MS
        if end - start < _FRAME_SHARE * span:
            # A narrow bar has no room to tell apart the time that contention adds.
            bars.append(bar(start, low, end, high, colour))
            continue
        if entry.contention_ps:
            slowed = bar(alone, low, end, high, lighter(colour, _ADDED), hatched=True)
            bars += [bar(start, low, alone, high, colour), slowed]
        fill = "none" if entry.contention_ps else colour
        bars.append(bar(start, low, end, high, fill, ink="#FFFFFF", width=0.7))
        if 2 * half < (1 + several_frames) * _LINE or end - start < _NUMBER_SHARE * span:
            continue
        label = str(entry.group - network.first_group)
        if network.repeats > 1:
            label += f"·{entry.repeat}"
        if several_frames:
            label += f"\n({entry.frame})"
        labels.append(Text(((start + alone) / 2, middle), label, 6.0, ink_on(colour), 0.5))
    return [*bars, *labels]


def _transitions(shown: ScheduledMember, rows: Mapping[int, float], tall: float) -> list[Item]:
    problem, units = shown.problem, shown.member.design.units.tolist()
    end_ps = {(e.frame, e.repeat, e.group): e.end_ps for e in shown.schedule.groups}
    start_ps = {(e.frame, e.repeat, e.group): e.start_ps for e in shown.schedule.groups}
    moves = [
        (e, source, target)
        for e, (source, target) in enumerate(problem.edges)
        if units[source] != units[target]
    ]
    runs = Counter(group for _, _, group in end_ps)
    if sum(runs[source] for _, source, _ in moves) > _MAX_ARROWS:
        return []
    items: list[Item] = []
    for e, source, target in moves:
        delay = int(problem.delay_ps[e, units[source], units[target]])
        colour = GREY if is_conversion(problem, units[source], units[target]) else INK
        above, below = rows[units[source]], rows[units[target]]
        inset = (1 if below < above else -1) * _BAR * tall
        for frame, repeat, group in end_ps:
            if group != source:
                continue
            begin = end_ps[frame, repeat, group]
            arrival, edge = (begin + delay) / PS_PER_MS, below + inset
            start = start_ps.get((frame, repeat, target), 0) / PS_PER_MS
            if start > arrival:
                items.append(Curve([(arrival, edge), (start, edge)], colour, 1.1, dash=DASHES[2]))
            ends = [(begin / PS_PER_MS, above - inset), (arrival, edge)]
            items.append(Curve(ends, colour, 0.7, arrow=True))
    return items


def _keys(
    schedules: Sequence[tuple[str, ScheduledMember]], colours: Mapping[str, str]
) -> list[Item]:
    """Return what is in the legend only."""
    priorities = {
        network.name: priority
        for _, shown in schedules
        for network, (priority, *others) in zip(
            shown.problem.networks, shown.problem.priorities(shown.member.design), strict=True
        )
        if not others
    }
    items: list[Item] = []
    for name, colour in colours.items():
        first = f", priority {priorities[name]}" if priorities.get(name) else ""
        items.append(Curve((), fill=colour, name=name + first))
    if any(row.contention_ps for _, shown in schedules for row in shown.schedule.groups):
        items.append(Curve((), fill=lighter(GREY, _ADDED), hatched=True, name="contention"))
    changes = [shown.problem.transition_count(shown.member.design) for _, shown in schedules]
    conversions = [conversion_count(shown.problem, shown.member) for _, shown in schedules]
    for counts, colour, name in ((changes, INK, "transition"), (conversions, GREY, "conversion")):
        if any(counts):
            items.append(Curve((), colour, 0.7, name=name, arrow=True))
    runs = [shown.member.free_run for _, shown in schedules]
    if any(run and run.window_ps[0] < run.shown_ps for run in runs):
        items.append(Curve((), fill=_WINDOW, name="counted window"))
    return items
