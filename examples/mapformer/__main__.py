"""All of MapFormer's Section 5, predicted beside published.

Usage: python -m examples.mapformer [--mixes N] [--pictures FOLDER]

Table 3, Fig. 6, Fig. 7, both searches on equal terms and the response times, one after the other;
each also runs by itself.
"""

from __future__ import annotations

import argparse

from examples.arguments import output_folder
from examples.mapformer import equal_terms, figure6, figure7, response_time, table3
from examples.mapformer.figure_options import MIXES, mix_count
from examples.wide_console import wide_console


def main() -> None:
    """Runs all, prints all."""
    parser = argparse.ArgumentParser(description="MapFormer's Section 5, predicted.")
    parser.add_argument("--mixes", type=mix_count, default=MIXES, help="mixes of each kind")
    parser.add_argument("--pictures", type=output_folder, help="folder for the figures")
    options = parser.parse_args()
    drawn: dict[str, list[str]] = {"figure6": [], "figure7": []}
    if options.pictures is not None:
        for name, arguments in drawn.items():
            arguments += ["--picture", str(options.pictures / f"mapformer_{name}.svg")]
    mixes = ["--mixes", str(options.mixes)]
    few = ["--mixes", str(min(options.mixes, equal_terms.MIXES))]
    console = wide_console()
    for title, run, arguments in (
        ("Table 3", table3.main, []),
        ("Fig. 6", figure6.main, [*mixes, *drawn["figure6"]]),
        ("Fig. 7", figure7.main, [*mixes, *drawn["figure7"]]),
        ("Equal terms", equal_terms.main, few),
        ("5.4", response_time.main, []),
    ):
        console.rule(title)
        run(arguments)


if __name__ == "__main__":
    main()
