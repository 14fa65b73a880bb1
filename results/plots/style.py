"""The style of our pictures: a column of a paper wide, colour-blind-safe, always the same bytes."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from paretosoc.results.plots.picture import Picture, text_size, wrapped

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

# If no home folder can be written, matplotlib would log that and the folder that it uses instead.
logging.getLogger("matplotlib").setLevel(logging.ERROR)

COLUMN_INCHES = 3.5
"""Width of one column of a two-column page."""
PAGE_INCHES = 2 * COLUMN_INCHES

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
"""Okabe and Ito's palette for colour-blind readers."""
LINE_COLOURS = tuple(colour for colour in COLOURS if colour != "#F0E442")
"""Those for lines and crosses. Thin yellow ones are hardly seen on white paper."""

_DOTS_PER_INCH = 300
_LEGEND_ROWS, _ROW_INCHES = 3, 0.14
"""Rows of a legend that a figure has room for, and what each further row takes."""

INK, GREY, LIGHT = "#222222", "#777777", "#DDDDDD"

_SETTINGS: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 7.0,
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "hatch.linewidth": 0.5,
    "hatch.color": "white",
    "svg.hashsalt": "paretosoc",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "path.simplify": False,
    # Names are no formulas: one with two dollar signs is drawn as it is.
    "text.parse_math": False,
}


_VIRIDIS = (
    *((68, 1, 84), (71, 45, 123), (59, 82, 139), (44, 114, 142), (33, 145, 140)),
    *((40, 174, 128), (94, 201, 98), (173, 220, 48), (253, 231, 37)),
)


def viridis(share: float) -> str:
    """Return a colour of the map of this name, from dark blue at 0 to yellow at 1."""
    k = min(int(8 * share), 7)
    pairs = zip(*_VIRIDIS[k : k + 2], strict=True)
    red, green, blue = (round(a + (8 * share - k) * (b - a)) for a, b in pairs)
    return f"#{red:02X}{green:02X}{blue:02X}"


def ink_on(colour: str) -> str:
    """Return white or dark ink, whichever reads better on ``#rrggbb``."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return INK if 299 * red + 587 * green + 114 * blue > 128_000 else "white"


@contextmanager
def picture_settings() -> Iterator[None]:
    """Apply our settings, independent of the user's own configuration of matplotlib."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box, which says so better than a warning.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        # As matplotlib.rcdefaults does, which reads all style sheets first.
        defaults = {k: v for k, v in matplotlib.rcParamsDefault.items() if k != "backend"}
        matplotlib.rcParams.update(defaults | _SETTINGS)
        yield


def add_legend(figure: Figure, columns: int = 2, side: str = "left", **options: Any) -> Legend:
    """Add a legend above the axes, of at most ``columns`` columns and of fewer if names would be
    cut. Names too long for one column are wrapped. With more than ``_LEGEND_ROWS`` rows the figure
    grows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    renderer = canvas.get_renderer()
    room = 0.97 * figure.bbox.width
    options |= {"loc": f"outside upper {side}", "borderpad": 0.2}
    for count in range(columns, 0, -1):
        legend = figure.legend(ncols=count, **options)
        width = legend.get_window_extent(renderer).width
        if width <= room or count == 1:
            break
        legend.remove()
    texts = legend.get_texts()
    rows = -(-len(texts) // count)
    if width > room:
        widest = max(texts, key=lambda text: text.get_window_extent(renderer).width)
        names, size = widest.get_window_extent(renderer).width, float(widest.get_fontsize())
        # As drawn, letters are wider than in the font by parts of a dot.
        dots = text_size(widest.get_text(), size)[0] * (room - width + names) / names
        for text in texts:
            text.set_text(wrapped(text.get_text(), size, dots))
        rows = sum(1 + text.get_text().count("\n") for text in texts)
    figure.set_figheight(figure.get_figheight() + max(0, rows - _LEGEND_ROWS) * _ROW_INCHES)
    return legend


def use_log_scale(axis: Axis) -> None:
    """Make an axis logarithmic, with plain numbers, since matplotlib's powers of ten are
    formulas."""
    from matplotlib.ticker import LogFormatter

    class Plain(LogFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return f"{x:g}" if super().__call__(x, pos) else ""

    chosen: Any = axis  # The stubs know neither its name nor its scale.
    chosen.axes.set(**{f"{chosen.axis_name}scale": "log"})
    axis.set_major_formatter(Plain())
    axis.set_minor_formatter(Plain(labelOnlyBase=False))


def svg_bytes(figure: Figure | Picture) -> bytes:
    """Return the figure as SVG without date. Equal figures give equal bytes."""
    if isinstance(figure, Picture):
        return figure.svg()
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    return _printed(
        figure,
        lambda drawn: FigureCanvasSVG(drawn).print_svg,
        metadata={"Date": None, "Creator": None},
    )


def pdf_bytes(figure: Figure | Picture) -> bytes:
    """Return the figure as PDF with its fonts in it. Equal figures give equal bytes."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    return _printed(
        figure,
        lambda drawn: FigureCanvasPdf(drawn).print_pdf,
        metadata={"CreationDate": None, "Creator": None, "Producer": None},
    )


def png_bytes(figure: Figure | Picture) -> bytes:
    """Return the figure as PNG, 300 dots an inch. Equal figures give equal bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    return _printed(
        figure,
        lambda drawn: FigureCanvasAgg(drawn).print_png,
        dpi=_DOTS_PER_INCH,
        metadata={"Software": None},
    )


def _printed(
    figure: Figure | Picture,
    printer: Callable[[Figure], Callable[..., None]],
    *,
    dpi: float | None = None,
    metadata: Any,
) -> bytes:
    """Return the bytes that a canvas prints. ``Figure.savefig`` would draw twice, once for the
    layout alone."""
    if isinstance(figure, Picture):
        with picture_settings():
            return _printed(figure.figure(), printer, dpi=dpi, metadata=metadata)
    before, buffer = figure.dpi, io.BytesIO()
    figure.dpi = dpi or before
    try:
        printer(figure)(buffer, metadata=metadata)
    finally:
        figure.dpi = before
    return buffer.getvalue()


PICTURE_MAKERS: dict[str, Callable[[Any], bytes]] = {
    ".svg": svg_bytes,
    ".pdf": pdf_bytes,
    ".png": png_bytes,
}
"""By the ending of a file's name."""
