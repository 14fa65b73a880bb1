"""HTML of fronts and schedules for notebooks, with the picture in it."""

from __future__ import annotations

from html import escape

from paretosoc.common.text import pluralize
from paretosoc.common.units import PS_PER_MS
from paretosoc.results.export.html import html_table
from paretosoc.results.front.choices import choose
from paretosoc.results.front.epsilon import reach
from paretosoc.results.front.front import Front
from paretosoc.results.front.mapping_gain import describe_mapping_gain
from paretosoc.results.front.schedule import Schedule
from paretosoc.results.plots.style import COLOURS, ink_on
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.front import front_columns, front_sentences

_ROW, _BAR, _LEFT, _WIDTH = 34, 24, 70, 760


def front_html(front: Front) -> str:
    """Return the picture of a front with members, the table of its choices, and its sentences."""
    networks = ", ".join(network.name for network in front.problem.networks)
    head = (
        f"<p><b>{pluralize(len(front.members), 'member')}</b>: {escape(networks)} on "
        f"{escape(front.provenance.platform)} in {escape(front.provenance.precision.upper())}; "
        f"{reach(front.proved_ppm)}</p>"
    )
    if not front.members:
        return f"{head}<p>The front is empty: no design point met all constraints.</p>"
    picture = ""
    if len(front.problem.objectives) > 1:
        from paretosoc.results.plots.front import draw_front

        picture = draw_front(front).picture().for_page()
    columns, notes = front_columns(front, choose(front))
    gain = describe_mapping_gain(front)
    texts = [*(() if gain is None else (gain.text,)), *front_sentences(front), *notes]
    words = "".join(f"<p>{escape(text)}</p>" for text in texts)
    titles = (" ".join(column.header).strip().replace("- ", "") for column in columns)
    rows = zip(*(map(escape, column.cells) for column in columns), strict=True)
    table = html_table(map(escape, titles), rows)
    return f"<div>{head}{picture}{table}{words}</div>"


def schedule_html(
    schedule: Schedule, problem: Problem | None = None, until_ps: int | None = None
) -> str:
    """Return a schedule as an inline picture: units as rows, networks as colours, paler for the
    time that contention adds. A bar shows its figures when the pointer rests on it. Names are shown
    if ``problem`` is given, else indices. The picture ends at ``until_ps``, or at the end of the
    last execution."""
    if not schedule.groups:
        return "<p>An empty schedule.</p>"
    used = sorted({row.unit for row in schedule.groups})
    span = until_ps or schedule.makespan_ps or 1
    scale = (_WIDTH - _LEFT - 10) / span
    height = _ROW * len(used) + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'style="max-width:{_WIDTH}px;background:white;font:11px sans-serif">'
    ]
    for k, unit in enumerate(used):
        name = f"unit {unit}" if problem is None else problem.units[unit].name
        parts.append(f'<text x="4" y="{k * _ROW + 20}" fill="#222222">{escape(name)}</text>')
    for row in schedule.groups:
        lane, lanes = schedule.lanes[row.unit, row.network]
        high = _BAR / lanes
        top = used.index(row.unit) * _ROW + 4 + lane * high
        end = min(row.end_ps, span)
        x, wide = _LEFT + row.start_ps * scale, (end - row.start_ps) * scale
        alone = min(row.alone_ps * scale, wide)
        colour = COLOURS[row.network % len(COLOURS)]
        group, network = row.group, f"network {row.network}"
        if problem is not None:
            entry = problem.networks[row.network]
            group, network = row.group - entry.first_group, entry.name
        title = (
            f"{network}, group {group}: {row.start_ps / PS_PER_MS:.4f} to "
            f"{row.end_ps / PS_PER_MS:.4f} ms, "
            f"contention adds {row.contention_ps / PS_PER_MS:.4f} ms"
        )
        shape = f'y="{top:g}" height="{high:g}" fill="{colour}"'
        parts.append(
            f"<g><title>{escape(title)}</title>"
            f'<rect x="{x:.2f}" width="{wide:.2f}" {shape} opacity="0.55" stroke="white"/>'
            f'<rect x="{x:.2f}" width="{alone:.2f}" {shape} stroke="white"/>'
        )
        if 7 * len(str(group)) + 4 < wide and high > 11:
            parts.append(
                f'<text x="{x + wide / 2:.2f}" y="{top + high / 2 + 5:g}" text-anchor="middle" '
                f'fill="{ink_on(colour)}">{group}</text>'
            )
        parts.append("</g>")
    parts.append(
        f'<text x="{_WIDTH - 6}" y="{height - 6}" text-anchor="end" fill="#222222">'
        f"0 to {span / PS_PER_MS:.4f} ms</text></svg>"
    )
    return "".join(parts)
