"""The commands whose figures the README and the pages name, and the form of each figure in their
output."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks/data/figures"
COLUMNS = "200"
"""Characters of a line of the output, so that lines do not depend on the terminal."""
NUMBER = r"(\d[\d,]*(?:\.\d+)?)(?<!,)"


@dataclass(frozen=True)
class Command:
    """A command and the figures of its output.

    ``figures``: names, and regular expressions of a line with one group. ``#`` stands for a number.
    ``is_quick``: the tests run it.
    """

    name: str
    line: str
    figures: dict[str, str] = field(default_factory=dict)
    is_quick: bool = False

    @property
    def file(self) -> Path:
        """Return the file of the stored output."""
        return FOLDER / f"{self.name}.txt"

    def stored(self) -> str:
        """Return the stored output.

        Raises:
            ValueError: if there is none, or it is the output of another command.
        """
        if not self.file.is_file():
            raise ValueError(f"{self.file}: no output of '{self.line}' is stored")
        head, _, output = self.file.read_text("utf-8").partition("\n")
        if head != f"$ {self.line}":
            raise ValueError(f"{self.file}: must begin with '$ {self.line}', got {head!r}")
        return output

    def run(self, folder: Path) -> str:
        """Run the command in an empty ``folder`` and return its output.

        Raises:
            subprocess.CalledProcessError: if it fails.
        """
        program, *words = shlex.split(self.line)
        words = [sys.executable, *(words if program == "python" else ["-m", program, *words])]
        environment = os.environ | {"COLUMNS": COLUMNS, "PYTHONPATH": str(ROOT)}
        # Commands name examples as in a clone.
        (folder / "examples").symlink_to(ROOT / "examples")
        done = subprocess.run(
            words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        lines = done.stdout.replace("\N{NO-BREAK SPACE}", " ").splitlines()
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def figure(self, name: str, output: str) -> str:
        """Return a figure as the output has it.

        Raises:
            ValueError: if the output has it not, or in several lines with different values.
        """
        pattern = self.figures[name].replace("#", NUMBER)
        found = set(re.findall(pattern, output, re.MULTILINE))
        if len(found) != 1:
            raise ValueError(f"{self.line}: {name}: one value is required, got {sorted(found)}")
        return str(found.pop())


def _validation(data: str, law: str) -> str:
    return rf"^\| {re.escape(data)} .*\b{law} "


COMMANDS = (
    Command(
        "camera",
        "dse explore examples/workloads/camera.yaml -p jetson-orin-nano-8gb -o runs/camera",
        {
            "timely_w": r"^ *\d+ +[\d.]+ +# +most timely",
            "knee_w": r"^ *\d+ +[\d.]+ +# +knee",
            "least_w": r"^ *\d+ +[\d.]+ +# +least power",
            "detect_ms": r"^ *\d+ +[\d.]+ +[\d.]+ +least power +\d+ +#",
            "classify_ms": r"^ *\d+ +[\d.]+ +[\d.]+ +least power +\d+ +[\d.]+ +#",
            "knee_gpu_mhz": r"^Knee against most timely: gpu at # MHz",
            "knee_emc_mhz": r"^Knee against most timely: .* emc at # MHz",
            "least_gpu_mhz": r"^Least power against most timely: gpu at # MHz",
            "least_emc_mhz": r"^Least power against most timely: .* emc at # MHz",
            "members": r"^complete: no design point is missing from the # members",
            "points": r"; all # design points were simulated",
        },
        is_quick=True,
    ),
    Command(
        "front",
        "dse explore vgg19 resnet50 -p jetson-agx-xavier --groups 12 --max-transitions 1"
        " -o runs/first",
        {
            "fastest_ms": r"^ *\d+ +# +[\d.]+ +fastest",
            "fastest_mj": r"^ *\d+ +[\d.]+ +# +fastest",
            "knee_ms": r"^ *\d+ +# +[\d.]+ +knee",
            "knee_mj": r"^ *\d+ +[\d.]+ +# +knee",
            "gpu_ms": r"GPU only # ms",
            "gpu_mj": r"GPU only [\d.]+ ms, # mJ",
            "members": r"^complete: no design point is missing from the # members?;",
            "choices": r"^# choices of \d+ members",
            "percent": r"^\d+ choices of \d+ members: every member is within # %",
            "gain_ms": r"^Mapping gains (?:less than [\d.]+ %: )?# % in latency at equal energy",
            "gain_mj": r"^Mapping gains .* and # % in energy at equal latency",
            "most_ms": r"points; at most # % and",
            "most_mj": r"points; at most [\d.]+ % and # %",
            "clocks_mj": r"Clocks\s+alone gain # % in energy",
        },
        is_quick=True,
    ),
    Command(
        "co-runs",
        "python -m benchmarks.validation --only co-runs --markdown",
        {
            f"{key}_{kind}": start + ("#, " if kind == "median" else r"[\d.]+, #")
            for key, start in {
                **{
                    f"{key}{ending}": _validation(f"HaX-CoNN's {words}, time", law)
                    for key, words in (
                        ("plans", "artifact, its own plans"),
                        ("guide", "starter guide, its own plans"),
                        ("table6_plans", "Table 6, the artifact's plans"),
                        ("table6", "Table 6, our schedules beside theirs"),
                        ("artifact", "artifact, our schedules beside theirs"),
                    )
                    for ending, law in (
                        ("", "with contention"),
                        ("_alone", "no contention"),
                        ("_board", r".*\n\|  \| also GPU only, by the board .*with contention"),
                        ("_delays", r".*\n\|  \| also GPU only, by the board .*as delays"),
                    )
                },
                "other_plans": r"^\|  \| networks alone .*another plan of the pair ",
                **{
                    f"{key}_left_out": rf"^\|  \| the other pairs .*\b{law} "
                    for key, law in (
                        ("sum", "sum on the GPU x a factor"),
                        ("all", "all times x a factor"),
                        ("gpu", "GPU's times x a factor"),
                        ("alone", "overhead, no contention"),
                        ("plans", "overhead, with contention"),
                        ("delays", "overhead, transitions as delays"),
                    )
                },
                "repeat": r"^\|  \| the same co-runs .*Table 6 itself ",
            }.items()
            for kind in ("median", "worst")
        },
    ),
    Command(
        "fit-costs",
        "python -m benchmarks.validation --only alone --markdown",
        {
            f"{key}_{kind}": rf"^\| {name}, time of a network .*estimate "
            + ("#, " if kind == "median" else r"[\d.]+, #")
            for key, name in (
                ("gpu", "GPUs with tensor cores"),
                ("dla", "DLAs"),
                ("cpu", "CPUs in FP32 and FP16"),
                ("npu_fp16", "Snapdragon NPUs in FP16"),
                ("npu_int8", "Snapdragon NPUs in INT8"),
                ("hailo", "Hailo"),
            )
            for kind in ("median", "worst")
        },
    ),
    Command(
        "new-families",
        "python -m benchmarks.validation --only new-families --markdown",
        {
            key: rf"families other than {family}.*program's estimate #, "
            for key, family in (
                ("yolox", r"YOLOX \| 128"),
                ("yolov10", r"YOLOv10 \| 72"),
                ("orin", r"EfficientViT \| 10 \| time"),
                ("nano", r"EfficientViT \| 10 \| the"),
                ("whisper", "Whisper"),
                ("detr", "DETR"),
                ("mobilebert", "MobileBERT"),
            )
        },
    ),
    Command("another-network", "python -m benchmarks.fit_costs --another --markdown"),
    Command("intervals", "python -m benchmarks.fit_costs --intervals --markdown"),
    Command(
        "measuring",
        "python -m benchmarks.measuring --markdown",
        {
            f"{key}{order.split()[0]}": rf"^Medians of \d+ decisions \({kind}\): .*\b{order} #[,;]"
            for key, kind in (("", "all"), ("mappings_", "mappings"), ("clocks_", "clocks"))
            for order in ("value", "random", "grid", "corners", "clairvoyant at least")
        }
        | {
            "share": r"^Medians of \d+ decisions \(all\): .*clairvoyant at least #%",
            "right": r"^# of \d+ decisions were right",
            "decisions": r"^\d+ of # decisions were right",
        },
    ),
    Command("boards", "dse choose examples/workloads/camera.yaml -o runs/boards"),
    Command(
        "modes",
        "dse explore resnet18 squeezenet -p jetson-agx-xavier@all --groups 3 --units gpu,cpu"
        " --runtime none -o runs/modes",
    ),
    Command(
        "detectors",
        "dse choose examples/workloads/detectors.yaml --boards jetson-orin-nano-8gb --jobs 1"
        " -o runs/sizes",
    ),
    Command(
        "detector-fronts",
        "dse explore examples/workloads/detectors.yaml -p jetson-orin-nano-8gb --groups 6"
        " --max-evaluations 4000 --objective response:track --objective power -o runs/detectors",
    ),
    Command("peers", "python -m benchmarks.peers --markdown"),
    Command("dispatch", "python -m benchmarks.dispatch --markdown"),
    Command("conservation", "python -m benchmarks.conservation --markdown"),
    Command("transitions", "python -m benchmarks.accuracy.transitions --markdown"),
    Command("frontier", "python -m benchmarks.frontier --markdown"),
    Command("search", "python -m benchmarks.search --markdown"),
    Command("ten-networks", "python -m benchmarks.ten_networks --networks 2 6 10 16 --markdown"),
    Command("many-networks", "python -m benchmarks.speed.many_networks --markdown"),
    Command(
        "co-run-intervals",
        "python -m benchmarks.validation.co_run_intervals --markdown",
        {
            "bare_90": r"^\| 0, 0 \| \d+ \| # \|",
            "within_90": r"^\| 1, 0\.5 \| \d+ \| # \|",
            "within_50": r"^\| 1, 0\.5 \| # \|",
        },
    ),
    Command("unit-changes", "python -m benchmarks.unit_changes --markdown"),
    Command("searched-order", "python -m benchmarks.searched_order --markdown"),
    Command("hax-table6", "python -m examples.hax.table6 --markdown", is_quick=True),
    Command(
        "hax-table8",
        "python -m examples.hax.table8",
        {
            "certified": r"^Optima: certified #",
            "right": r"^Best baseline as published: # of 55",
            "h2h": r"predicted: H2H #",
            "gpu_dsa": r"predicted: .*G&D #,.*; published",
            "herald": r"predicted: .*Her\. #,.*; published",
            "gpu": r"predicted: .*GPU #; published",
            "sign": r"^Gain above 0 or not as published: # of 55",
            "gain": r"^Mean gain: # % predicted",
            "published_gain": r"predicted, # % published",
            "rank": r"rank correlation of the gains \(Spearman\): #",
        },
    ),
    Command(
        "hax-fig5",
        "python -m examples.hax.fig5",
        {
            "most": r"^Largest gain over the best of the three: # %",
            "published": r"\(published: up to # %\)",
        },
        is_quick=True,
    ),
    Command(
        "hax-fig6",
        "python -m examples.hax.fig6",
        {"less": r"^Less in the optimum: # of", "pairs": r"^Less in the optimum: \d+ of #"},
        is_quick=True,
    ),
    Command("table8-tried", "python -m benchmarks.accuracy.table8_tried --markdown"),
    Command(
        "mapformer-table3",
        "python -m examples.mapformer.table3",
        {
            "throughput_width": r"Classes are typically # % \(throughput\)",
            "power_width": r"\(throughput\) and # % \(power\) wide",
        },
    ),
    Command(
        "mapformer-figure6",
        "python -m examples.mapformer.figure6 --mixes 3",
        {
            "hp": r"^PR draws .*: HP # %",
            "published_hp": r"^PR draws .*HP \d+ % \(#\)",
            "pb": r"^PR draws .*, PB # %",
            "published_pb": r"^PR draws .*PB \d+ % \(#\)",
            "sm": r"^PR draws .*, SM # %",
            "published_sm": r"^PR draws .*SM \d+ % \(#\)",
        },
    ),
    Command("mapformer-figure7", "python -m examples.mapformer.figure7 --mixes 3"),
    Command("mapformer-equal-terms", "python -m examples.mapformer.equal_terms --mixes 3"),
    Command("mapformer-response-time", "python -m examples.mapformer.response_time"),
    Command("mobile-i", "python -m examples.mobile_i.table2"),
    Command(
        "own-chips",
        "python -m examples.mobile_i.own_chips",
        {
            "two": r"2 frames in flight: # % in the mean",
            "two_least": r"2 frames in flight: .* mean, # to",
            "two_most": r"2 frames in flight: .* mean, .* to # %",
            "frames_least": r"frames in flight \(# to",
            "frames_most": r"frames in flight \(\d+ to #\)",
            "many": r"both mappings: # % in the mean",
            "many_least": r"both mappings: .* mean, # to",
            "many_most": r"both mappings: .* mean, .* to # %",
            "bound": r"against the bound: -# % in the mean",
            "worse": r"worse than the explorer's: # of",
            "of": r"worse than the explorer's: \d+ of #",
        },
    ),
    Command("tang-fronts", "python -m examples.tang.fronts"),
)
BY_NAME = {command.name: command for command in COMMANDS}
