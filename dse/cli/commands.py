"""All commands: name, module, one line of help. A module is imported when its command runs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Entry:
    """A command, or a group of commands with ``commands``.

    ``module``, in this package, has the command as a function of its name, from whose first line
    ``help`` comes if it is empty, or ``command()``, which returns a group that plug-ins extend.
    """

    name: str
    help: str
    module: str = ""
    panel: str = ""
    commands: tuple[Entry, ...] = field(default=())
    common: tuple[str, ...] = ()
    """Options that ``--help`` shows; ``--help-all`` shows the rest. Empty: all."""


def _from(module: str, *names: str) -> tuple[Entry, ...]:
    """Return commands of one module, whose help is that of their functions."""
    return tuple(Entry(name, "", module) for name in names)


_MAIN, _INPUTS, _BOARD, _MORE = "Explore and prove", "Inputs", "Boards", "More"

_EXPLORE = (
    *("output", "objectives", "groups", "max_transitions", "units", "fixed", "power_cap_w"),
    *("deadline_ms", "frames_per_second", "free_running", "profile", "engine"),
    *("max_evaluations", "time_limit_s", "max_nodes", "robust", "seed", "jobs", "quiet", "force"),
)

COMMANDS = (
    Entry(
        "explore",
        "Search for the Pareto front and prove it.",
        "search.explore",
        _MAIN,
        common=_EXPLORE,
    ),
    Entry("show", "Show a front, or one of its members.", "results.show", _MAIN),
    Entry("report", "Write a front as one HTML page.", "results.export", _MAIN),
    Entry("plot", "Draw fronts, schedules, energies.", "results.plot", _MAIN),
    Entry("certify", "Prove a front, or continue a proof.", "search.certify", _MAIN),
    Entry("verify", "Check a result folder independently.", "results.verify", _MAIN),
    Entry("compare", "Compare two fronts.", "results.compare", _MAIN),
    Entry("choose", "Compare boards for a workload.", "search.choose", _MAIN),
    Entry("evaluate", "Simulate a mapping of your own.", "search.evaluate", _MAIN),
    Entry("baselines", "Compare other schedulers' mappings.", "search.baselines", _MAIN),
    Entry(
        "campaign",
        "Run many explorations from one file.",
        panel=_MAIN,
        commands=(
            *_from("campaign.campaign", "check", "run"),
            *_from(
                *("campaign.campaign_inspect", "status", "table", "export", "report", "compare")
            ),
            *_from("campaign.campaign", "extract"),
        ),
    ),
    Entry("network", "Show layers and cuts of a network.", "catalogue.network", _INPUTS),
    Entry("networks", "List the networks with a name.", "catalogue.lists", _INPUTS),
    Entry("platform", "Show clocks, units and power of a chip.", "catalogue.lists", _INPUTS),
    Entry("platforms", "List the chips with a name.", "catalogue.lists", _INPUTS),
    Entry("deploy", "Write the files that set up a board.", "results.deploy", _BOARD),
    Entry("profile", "Measure networks on this machine.", "measure.profile", _BOARD),
    Entry("sensitivity", "Measure losses of number formats.", "measure.sensitivity", _BOARD),
    Entry("run", "Execute a member on this machine.", "measure.run", _BOARD),
    Entry("calibrate", "Fit costs to measurements.", "measure.calibrate", _BOARD),
    Entry("import", "Read measurements of other tools.", "measure.import_profile", _BOARD),
    Entry(
        "measure",
        "Compare predictions with measurements.",
        panel=_BOARD,
        commands=(
            Entry("fidelity", "Measure how far predictions are off.", "measure.fidelity"),
            Entry("contention", "Fit slowdown to memory traffic.", "measure.contention"),
            Entry("co-runs", "Measure networks beside each other.", "measure.contention"),
            Entry("next", "Plan what to measure on a board.", "measure.next_measurements"),
            Entry("take", "Read what a board measured.", "measure.next_measurements"),
            Entry("trace", "Lay a trace beside the plan.", "measure.trace"),
        ),
    ),
    Entry(
        "analyze",
        "Analyze members: costs, errors, dataflow.",
        panel=_MORE,
        commands=(
            Entry("costs", "Show what each group costs.", "results.costs"),
            Entry("limits", "Show what each limit costs.", "search.limits"),
            Entry("confidence", "Say how sure the choices are.", "results.confidence"),
            Entry("csdf", "Show a member as a dataflow graph.", "results.costs"),
            Entry("export", "Write for Perfetto, Optuna and others.", "results.export"),
        ),
    ),
    Entry("mcp", "Serve the library to an MCP client.", "server.mcp", _MORE),
    Entry("sdf", "Analyze a dataflow graph (SDF3).", "catalogue.sdf", _MORE),
    Entry(
        "papers",
        "Run methods of single papers.",
        panel=_MORE,
        commands=(
            Entry("explore", "Explore with options of single papers.", "papers.explore"),
            Entry("periodic", "Find periodic schedules.", "papers.periodic"),
            Entry("replay", "Replay changing workloads.", "papers.replay"),
            Entry("learn", "Train MapFormer's estimator.", "papers.learn"),
        ),
    ),
)
"""In the order of ``dse --help``."""
