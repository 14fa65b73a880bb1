"""All commands: name, module, one line of help. A module is imported when its command runs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Entry:
    """A command, or a group of commands with ``commands``.

    ``module`` has a function ``register(app)`` that adds the command under its name.
    """

    name: str
    help: str
    module: str = ""
    panel: str = ""
    commands: tuple[Entry, ...] = field(default=())
    common: tuple[str, ...] = ()
    """Options that ``--help`` shows; ``--help-all`` shows the rest. Empty: all."""


_MAIN, _INPUTS, _BOARD, _MORE = "Explore and prove", "Inputs", "Boards", "More"

_EXPLORE = (
    *("output", "objective", "groups", "max_transitions", "units", "fix", "power_cap"),
    *("deadline", "fps", "free_running", "profile", "engine", "max_evaluations", "time_limit"),
    *("no_certify", "seed", "jobs", "quiet", "force"),
)

COMMANDS = (
    Entry(
        "explore",
        "Search for the Pareto front and prove it.",
        "dse.cli.search.explore",
        _MAIN,
        common=_EXPLORE,
    ),
    Entry("show", "Show a front, or one of its members.", "dse.cli.results.show", _MAIN),
    Entry("report", "Write a front as one HTML page.", "dse.cli.results.report", _MAIN),
    Entry("plot", "Draw fronts, schedules, energies.", "dse.cli.results.plot", _MAIN),
    Entry("certify", "Prove a front, or continue a proof.", "dse.cli.search.certify", _MAIN),
    Entry("verify", "Check a result folder independently.", "dse.cli.results.verify", _MAIN),
    Entry("compare", "Compare two fronts.", "dse.cli.results.compare", _MAIN),
    Entry("evaluate", "Simulate a mapping of your own.", "dse.cli.search.evaluate", _MAIN),
    Entry("baselines", "Compare other schedulers' mappings.", "dse.cli.search.baselines", _MAIN),
    Entry("campaign", "Run many explorations from one file.", "dse.cli.campaign.campaign", _MAIN),
    Entry("network", "Show layers and cuts of a network.", "dse.cli.catalogue.network", _INPUTS),
    Entry("networks", "List the networks with a name.", "dse.cli.catalogue.lists", _INPUTS),
    Entry(
        "platform", "Show clocks, units and power of a chip.", "dse.cli.catalogue.platform", _INPUTS
    ),
    Entry("platforms", "List the chips with a name.", "dse.cli.catalogue.lists", _INPUTS),
    Entry("deploy", "Write the files that set up a board.", "dse.cli.results.deploy", _BOARD),
    Entry("profile", "Measure networks on this machine.", "dse.cli.measure.profile", _BOARD),
    Entry(
        "sensitivity", "Measure losses of number formats.", "dse.cli.measure.sensitivity", _BOARD
    ),
    Entry("run", "Execute a member on this machine.", "dse.cli.measure.run", _BOARD),
    Entry("calibrate", "Fit costs to measurements.", "dse.cli.measure.calibrate", _BOARD),
    Entry("import", "Read measurements of other tools.", "dse.cli.measure.import_profile", _BOARD),
    Entry(
        "measure",
        "Compare predictions with measurements.",
        panel=_BOARD,
        commands=(
            Entry("fidelity", "Measure how far predictions are off.", "dse.cli.measure.fidelity"),
            Entry("contention", "Fit slowdown to measured co-runs.", "dse.cli.measure.contention"),
        ),
    ),
    Entry(
        "analyze",
        "Analyze members: costs, errors, dataflow.",
        panel=_MORE,
        commands=(
            Entry("costs", "Show what each group costs.", "dse.cli.results.costs"),
            Entry("limits", "Show what each limit costs.", "dse.cli.search.limits"),
            Entry("robustness", "Vary the costs of a member.", "dse.cli.search.robustness"),
            Entry("csdf", "Show a member as a dataflow graph.", "dse.cli.results.csdf"),
            Entry("trace", "Write schedules for Perfetto.", "dse.cli.results.trace"),
        ),
    ),
    Entry("mcp", "Serve the library to an MCP client.", "dse.cli.server.mcp", _MORE),
    Entry("sdf", "Analyze a dataflow graph (SDF3).", "dse.cli.catalogue.sdf", _MORE),
    Entry(
        "papers",
        "Run methods of single papers.",
        panel=_MORE,
        commands=(
            Entry("explore", "Explore as single papers do.", "dse.cli.papers.explore"),
            Entry("periodic", "Find periodic schedules.", "dse.cli.papers.periodic"),
            Entry("replay", "Replay changing workloads.", "dse.cli.papers.replay"),
            Entry("learn", "Train MapFormer's estimator.", "dse.cli.papers.learn"),
        ),
    ),
)
"""In the order of ``dse --help``."""
