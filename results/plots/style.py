"""The style of our pictures: colour-blind-safe, always the same bytes."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from paretosoc.results.plots.picture import Picture

# If no home folder can be written, matplotlib would log that and the folder that it uses instead.
logging.getLogger("matplotlib").setLevel(logging.ERROR)

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
"""Okabe and Ito's palette for colour-blind readers."""
LINE_COLOURS = tuple(colour for colour in COLOURS if colour != "#F0E442")
"""Those for lines and crosses. Thin yellow ones are hardly seen on white paper."""

_DOTS_PER_INCH = 300

INK, GREY, LIGHT = "#222222", "#777777", "#DDDDDD"

_SETTINGS: Any = {
    "font.family": ["DejaVu Sans"],
    "svg.hashsalt": "paretosoc",
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


def lighter(colour: str, share: float) -> str:
    """Return a share of a colour ``#rrggbb``, the rest white."""
    parts = (255 - share * (255 - int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part):02X}" for part in parts)


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


def pdf_bytes(picture: Picture) -> bytes:
    """Return the picture as PDF with its fonts in it. Equal pictures give equal bytes."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    buffer, metadata = io.BytesIO(), {"CreationDate": None, "Creator": None, "Producer": None}
    # Figure.savefig would draw twice, once for the layout alone.
    with picture_settings():
        canvas: Any = FigureCanvasPdf(picture.figure())
        canvas.print_pdf(buffer, metadata=metadata)
    return buffer.getvalue()


def png_bytes(picture: Picture) -> bytes:
    """Return the picture as PNG, 300 dots an inch. Equal pictures give equal bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    buffer = io.BytesIO()
    with picture_settings():
        canvas: Any = FigureCanvasAgg(picture.figure())
        canvas.figure.dpi = _DOTS_PER_INCH
        canvas.print_png(buffer, metadata={"Software": None})
    return buffer.getvalue()


PICTURE_MAKERS: dict[str, Callable[[Picture], bytes]] = {
    ".svg": Picture.svg,
    ".pdf": pdf_bytes,
    ".png": png_bytes,
}
"""By the ending of a file's name."""
