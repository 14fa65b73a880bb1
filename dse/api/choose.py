"""Which board serves a workload."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from paretosoc.common.files import replace_file
from paretosoc.common.options import as_written
from paretosoc.common.text import did_you_mean
from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.arguments import check_arguments, check_keywords, check_type, path_of
from paretosoc.dse.inputs.documents import parse_input, read_input
from paretosoc.dse.inputs.exact_numbers import exact
from paretosoc.dse.inputs.kinds import wrong_argument
from paretosoc.dse.tools.campaign.execute.runner import CampaignProgress
from paretosoc.dse.tools.choose.boards import BoardChoice
from paretosoc.dse.tools.choose.choose import (
    ALL,
    DRAWS,
    EVALUATIONS,
    Effort,
    boards_named,
    choose_boards,
)
from paretosoc.dse.tools.choose.joined import joined_csv
from paretosoc.dse.tools.choose.table import boards_page, boards_picture
from paretosoc.dse.workload.options import FIELDS
from paretosoc.dse.workload.read_options import read_options
from paretosoc.platforms.io.platform_file import platform_names

OPTIONS = (
    *("variants", "min_accuracy_percent"),
    *("dimensions", "groups", "max_transitions", "batch"),
    *("deadline_ms", "frames_per_second", "power_cap_w", "objectives"),
    *("deadline_95_ms", "max_jitter_ms", "max_misses", "min_rate_hz"),
    *("energy_budget_mj", "memory_cap_mb"),
)
"""Options of a problem that hold for every board."""
PAGE, PICTURE, DOCUMENT, FRONTS = "boards.html", "boards.svg", "boards.json", "front.csv"
_OF_VARIANTS = OPTIONS[:2]


def choose(
    networks: str | Path | Sequence[str | Path],
    boards: str | Sequence[str | Path] = ALL,
    *,
    folder: str | Path | None = None,
    prices: str | Path | Mapping[str, float] | None = None,
    precision: str | Sequence[str] = (),
    max_evaluations: int = EVALUATIONS,
    draws: int = DRAWS,
    seed: int = 0,
    jobs: int = 1,
    prove: bool = False,
    on_progress: Callable[[CampaignProgress], None] | None = None,
    **options: Any,
) -> BoardChoice:
    """Return which boards keep all rates and limits of a workload, and how sure that is, as ``dse
    choose``.

    Every board is explored once, in one number format. Its design points are then simulated with
    costs that are drawn from their errors. A workload whose networks have variants is explored once
    for each combination of them, and the fronts are joined, with accuracies as objectives.

    Args:
        networks: names, ``.onnx`` files, or one workload file.
        boards: names or files of platforms. Default: all that come with the program.
        folder: keeps the explorations, so that a later call only makes those that are missing, and
            ``boards.html``, ``boards.svg`` and ``boards.json``; with variants also ``front.csv``.
        prices: a file, or prices by board.
        precision: number formats, ``fp16`` for all boards or ``rk3588=int8`` for one. Default: one
            that all boards have.
        max_evaluations: number of design points to evaluate for each board.
        draws: how often costs are drawn.
        seed: of search and draws.
        jobs: number of worker processes.
        prove: whether fronts are proved complete, as far as that is possible.
        on_progress: called as boards are done.
        options: ``variants`` and ``min_accuracy_percent``, which leave variants out, and
            ``dimensions``, ``groups``, ``batch``, ``frames_per_second`` and all limits of
            :class:`dse.Problem` but that of accuracy, beside those of the workload file; and
            ``objectives``, of the explorations and of the joined front.

    Raises:
        DseError: on input that cannot be used, whatever the board.

    Examples:
        >>> found = dse.choose("examples/workloads/camera.yaml",
        ...                    ["jetson-orin-nano-8gb", "rk3588"])
        >>> found.boards[0].name, found.boards[0].probability
    """
    effort = Effort(max_evaluations, draws, seed, jobs, prove)
    check_arguments(**vars(effort), on_progress=on_progress)
    others = (name for name in options if name not in OPTIONS)
    unknown = (FIELDS[name].as_written() if name in FIELDS else name for name in others)
    check_keywords("choose", unknown, OPTIONS)
    chosen = read_options(options)
    names, asked = _listed("boards", boards), _listed("precision", precision)
    with ExitStack() as stack:
        place = stack.enter_context(temporary_folder()) / "c" if folder is None else path_of(folder)
        found = choose_boards(
            _listed("networks", networks),
            names,
            place,
            precision=asked,
            options={
                name: _text(value)
                for name, value in options.items()
                if value is not None and name not in _OF_VARIANTS
            },
            variants=chosen,
            prices=_prices(prices, names),
            effort=effort,
            on_progress=on_progress,
        )
        if folder is not None:
            for name, text in (
                (PAGE, boards_page(found)),
                (PICTURE, boards_picture(found).svg().decode()),
                (DOCUMENT, json.dumps(found.to_document(), indent=1) + "\n"),
                *(((FRONTS, joined_csv(found.fronts)),) if found.fronts else ()),
            ):
                replace_file(place / name, text.encode())
    return found


def _listed(name: str, given: str | Path | Sequence[str | Path]) -> list[str]:
    words = "a name or a file, or several of them"
    check_type(name, given, str | Path | Sequence, words)
    values = [given] if isinstance(given, str | Path) else list(given)
    for value in values:
        check_type(name, value, str | Path, words)
    return [str(value) for value in values]


def _text(value: object) -> object:
    """Return a value as campaign files have it."""
    if isinstance(value, Mapping):
        return ", ".join(
            f"{one}" if name is None else f"{name}={one}"
            for name, each in value.items()
            for one in (each if isinstance(each, list | tuple) else [each])
        )
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return value if isinstance(value, int) else str(value)


def _prices(
    given: str | Path | Mapping[str, float] | None, names: Sequence[str]
) -> tuple[str, Mapping[str, float]]:
    """Return the currency, and the price by board.

    Raises:
        WorkloadError: if the file cannot be read or does not fit the schema, or a board is unknown.
    """
    if given is None:
        return "", {}
    if isinstance(given, Mapping):
        place, currency, prices = as_written("prices"), "", given
    else:
        place = str(given)
        document = parse_input(read_input(given), place, "prices")
        currency = document.get("currency", "")
        prices = {name: float(price) for name, price in document["boards"].items()}
    compared, left_out = boards_named(names)
    own = (chip.name for chip in (*compared, *(chip for chip, _ in left_out)))
    known = dict.fromkeys((*platform_names(), *own))
    for name, price in prices.items():
        number = exact(price)
        if not isinstance(name, str) or number is None or number < 0:
            raise wrong_argument("prices", "a number of at least 0 for each board", {name: price})
        if name not in known:
            hint = did_you_mean(name, known)
            raise WorkloadError(f"{place}: there is no board {name!r} ({hint})")
    return currency, prices
