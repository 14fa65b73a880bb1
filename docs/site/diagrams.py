"""The diagrams of the concept pages. ``python -m docs.site.diagrams`` draws them again.

They are in the repository, for who reads the pages there; a test holds them against this file.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "images" / "concepts"
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1b1d22; }
.small { font-size: 11.5px; fill: #5b606a; }
.page { fill: #ffffff; } .box { fill: #eef3f8; stroke: #5b7fa6; }
.end { fill: #e4f2ea; stroke: #4d8f6c; }
.open { fill: #fdf3e1; stroke: #b98a3a; } .gpu { fill: #77aadd; } .dla { fill: #ee8866; }
.late { fill: url(#hatch); } .line { stroke: #5b606a; fill: none; stroke-width: 1.3; }
.dash { stroke-dasharray: 4 3; } .hatch { stroke: #ffffff; stroke-width: 2; }
"""
_HEAD = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0 0L8 4L0 8Z" fill="#5b606a"/></marker>'
    '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect width="6" height="6" fill="#8f98a5"/>'
    '<path class="hatch" d="M0 0V6"/></pattern></defs>'
)


def draw() -> dict[str, str]:
    """Name of the file to its SVG."""
    return {
        "model.svg": _timeline(),
        "search.svg": _search(),
        "certificate.svg": _tree(),
        "costs.svg": _costs(),
    }


def _svg(width: int, height: int, title: str, *parts: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">\n<title>{escape(title)}</title>\n'
        f'<style>{_STYLE}</style>{_HEAD}\n<rect class="page" width="{width}" height="{height}" '
        'rx="8"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _text(x: float, y: float, text: str, *, small: bool = False, middle: bool = True) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    kind = ' class="small"' if small else ""
    return f'<text x="{x:g}" y="{y:g}"{anchor}{kind}>{escape(text)}</text>'


def _rect(kind: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5"/>'
    )


def _box(x: float, y: float, width: float, title: str, *lines: str, kind: str = "box") -> str:
    """A title and smaller lines below it."""
    middle = x + width / 2
    below = [_text(middle, y + 38 + 16 * k, line, small=True) for k, line in enumerate(lines)]
    height = 34 + 16 * len(lines)
    return "".join((_rect(kind, x, y, width, height), _text(middle, y + 21, title), *below))


def _arrow(*points: tuple[float, float], dash: bool = False) -> str:
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
    return f'<path class="line{" dash" if dash else ""}" marker-end="url(#tip)" d="{path}"/>'


def _timeline() -> str:
    """Two networks on two units: what the simulator counts."""
    bars = (
        ("gpu", 80, 40, 130, "A, group 1"),
        ("late", 210, 40, 40, ""),
        ("gpu", 440, 40, 110, "A, group 3"),
        ("dla", 80, 100, 100, "B, group 1"),
        ("late", 180, 100, 60, ""),
        ("dla", 270, 100, 150, "A, group 2"),
    )
    parts = []
    for kind, x, y, width, name in bars:
        parts += [_rect(kind, x, y, width, 34), _text(x + width / 2, y + 22, name)]
    return _svg(
        720,
        210,
        "A timeline: contention stretches groups, transitions delay them",
        _text(40, 62, "GPU"),
        _text(40, 122, "DLA"),
        *parts,
        _arrow((250, 74), (270, 100)),
        _arrow((420, 100), (440, 74)),
        '<path class="line dash" d="M550 30V150"/>',
        _text(556, 146, "makespan", small=True, middle=False),
        _text(570, 54, "hatched: rate lost to", small=True, middle=False),
        _text(570, 70, "the demand of others", small=True, middle=False),
        _text(570, 100, "arrows: transitions", small=True, middle=False),
        _arrow((80, 165), (680, 165)),
        _text(80, 186, "all start with the frame; a unit runs one group at a time", middle=False),
    )


def _search() -> str:
    """Initial population, loop, proof."""
    return _svg(
        720,
        230,
        "The search: seeds, generations, archive, proof",
        _box(16, 20, 150, "Baselines, seeds", "by bounds alone", "4,000 rows"),
        _box(206, 20, 150, "Population", "crossover, mutation", "local search"),
        _box(396, 20, 140, "Bounds", "skip what a member", "dominates"),
        _box(576, 20, 128, "Simulator", "timeline, energy"),
        _box(396, 140, 140, "Archive", "all non-dominated", kind="end"),
        _box(576, 140, 128, "Exact search", "proof of the front", kind="end"),
        _arrow((166, 52), (206, 52)),
        _arrow((356, 52), (396, 52)),
        _arrow((536, 52), (576, 52)),
        _arrow((640, 70), (640, 112), (466, 112), (466, 140)),
        _arrow((396, 165), (281, 165), (281, 86)),
        _text(300, 184, "next generation", small=True),
        _arrow((536, 165), (576, 165)),
    )


def _tree() -> str:
    """A tree whose leaves are closed by bounds."""
    nodes = {"root": (320, 30), "a": (170, 100), "b": (470, 100)}
    leaves = {"a1": (90, 170), "a2": (244, 170), "b1": (396, 170), "b2": (550, 170)}
    lines = [_arrow((x, 64), (tx, 100)) for x, tx in ((320, 170), (320, 470))] + [
        _arrow((170, 134), (90, 170)),
        _arrow((170, 134), (244, 170)),
        _arrow((470, 134), (396, 170)),
        _arrow((470, 134), (550, 170)),
    ]
    names = {"root": "all design points", "a": "group 1 on GPU", "b": "group 1 on DLA"}
    inner = [_box(x - 65, y, 130, names[key]) for key, (x, y) in nodes.items()]
    texts = {
        "a1": ("lemma", "bounds: a member"),
        "a2": ("a member", "simulated"),
        "b1": ("lemma", "breaks a limit"),
        "b2": ("lemma", "bounds: a member"),
    }
    closed = [
        _box(x - 66, y, 132, *texts[key], kind="open" if key == "a2" else "end")
        for key, (x, y) in leaves.items()
    ]
    return _svg(
        640,
        280,
        "A proof is a tree whose leaves are all closed",
        *lines,
        *inner,
        *closed,
        _text(320, 258, "dse verify walks the same tree with other code, and checks every leaf"),
    )


def _costs() -> str:
    """Which origin a cost has."""
    return _svg(
        720,
        190,
        "Where the cost of a group on a unit comes from",
        _box(16, 60, 130, "Group on a unit", "at some clocks"),
        _box(196, 10, 150, "Measured", "your profile, the chip's"),
        _box(196, 66, 150, "Calibrated", "a few runs, the law"),
        _box(196, 122, 150, "Estimated", "launches, peaks"),
        _box(420, 66, 150, "Law of clocks", "p-norm of computing", "and memory"),
        _box(610, 66, 96, "Integers", "ps, kB/s, mW", kind="end"),
        _arrow((146, 78), (196, 38)),
        _arrow((146, 86), (196, 90)),
        _arrow((146, 96), (196, 142)),
        _arrow((346, 35), (658, 35), (658, 66)),
        _arrow((346, 92), (420, 92)),
        _arrow((346, 146), (495, 146), (495, 132)),
        _arrow((570, 96), (610, 96)),
        _text(76, 140, "the first that there is", small=True),
    )


def main() -> None:
    """Writes the files."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in draw().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
