"""``dse compare``: two result folders side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option, refuse_options
from paretosoc.dse.cli.shared.terminal import open_console, print_json
from paretosoc.results.problem.objectives import format_number

if TYPE_CHECKING:
    from paretosoc.results.front.front import Front
    from paretosoc.results.text.compare_fronts import FrontComparison, FrontSide


def compare(
    first: Annotated[Path, Argument(help="A result folder.", metavar="A")],
    second: Annotated[Path, Argument(help="Result folder to compare with.", metavar="B")],
    as_json: opt.AsJson = False,
    as_markdown: Annotated[bool, Option("--markdown", help="Print the table in Markdown.")] = False,
) -> None:
    """Compare two fronts: hypervolume, coverage, and the members that only one of them has."""
    from paretosoc.results.export.result_folder import read_results
    from paretosoc.results.text.compare_fronts import compare_fronts

    if as_json:
        refuse_options("is for the table, without --json", "as_markdown")
    fronts = read_results(first), read_results(second)
    comparison = compare_fronts(*fronts)
    if as_json:
        from dataclasses import asdict

        print_json(asdict(comparison))
        return
    _print(comparison, fronts, (str(first), str(second)), as_markdown=as_markdown)


def _print(
    comparison: FrontComparison,
    fronts: tuple[Front, Front],
    folders: tuple[str, str],
    *,
    as_markdown: bool,
) -> None:
    from rich import box

    from paretosoc.common.tables import plain_table

    console = open_console()
    sides = (comparison.first, comparison.second)
    console.print(f"A: {folders[0]}\nB: {folders[1]}")
    if comparison.differences:
        console.print("\nThese are not the same problem or search; they differ in", style="bold")
        for text in comparison.differences:
            console.print(f"  {text}")
    console.print()
    table = plain_table("", ">A", ">B")
    if as_markdown:
        table.box, table.show_edge, table.pad_edge = box.MARKDOWN, True, True
    table.add_row("members", *(str(side.members) for side in sides))
    table.add_row(
        "hypervolume, of that of both together", *(f"{100 * s.hypervolume:.3f} %" for s in sides)
    )
    table.add_row(
        "members of the other that it covers", *(f"{100 * s.coverage:.1f} %" for s in sides)
    )
    table.add_row("members that the other dominates", *(str(len(s.dominated)) for s in sides))
    table.add_row("members that both have", *(str(len(s.shared)) for s in sides))
    table.add_row("members that the other lacks", *(str(len(s.own)) for s in sides))
    table.add_row(
        "additive epsilon, of the objectives' ranges",
        *(f"{100 * s.additive_epsilon:+.3f} %" for s in sides),
    )
    if comparison.first.multiplicative_epsilon is not None:
        table.add_row("multiplicative epsilon", *(f"{s.multiplicative_epsilon:.5f}" for s in sides))
    problems = [front.problem for front in fronts]
    for place, objective in enumerate(problems[0].objectives):
        label = objective.label(problems[0])
        if comparison.measure is not None:
            label = f"{comparison.measure} of {label}"
        values = objective.format([side.best[place] for side in sides])
        table.add_row(f"best {label}, {objective.heading(*problems)}", *values)
    if any(side.fairness_ppm is not None for side in sides):
        table.add_row(
            "slowest network, of its rate alone", *(_range_of_shares(side) for side in sides)
        )
    console.print(table)
    console.print()
    for name, other, side in (("A", "B", sides[0]), ("B", "A", sides[1])):
        console.print(f"{name}'s members that {other} dominates: {_ranges(side.dominated)}")
        console.print(f"{name}'s members that {other} lacks: {_ranges(side.own)}")


def _range_of_shares(side: FrontSide) -> str:
    """Format the range over the members, such as ``0.02 to 41.3 %``."""
    if side.fairness_ppm is None:
        return "in a common frame"
    least, most = (format_number(ppm / 10**4) for ppm in side.fairness_ppm)
    return f"{least} %" if least == most else f"{least} to {most} %"


def _ranges(members: tuple[int, ...]) -> str:
    """Format positions as ranges, such as ``0-4, 7``."""
    parts: list[list[int]] = []
    for member in members:
        if parts and parts[-1][1] == member - 1:
            parts[-1][1] = member
        else:
            parts.append([member, member])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts) or "none"
