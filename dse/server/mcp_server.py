"""MCP server: seven tools over one folder, with limits on work and on the size of answers."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from threading import Lock, Thread
from types import NoneType
from typing import Annotated, Any, ParamSpec, TypeVar, get_args, get_origin

from pydantic import Field as Described
from pydantic import ValidationError

import paretosoc as dse
from paretosoc.common.options import Door, called_from
from paretosoc.dse.api.pipeline import refuted
from paretosoc.dse.errors import DseError
from paretosoc.dse.inputs.arguments import check_keywords
from paretosoc.dse.inputs.kinds import wrong_argument
from paretosoc.dse.server.answers import (
    ComparisonAnswer,
    EvaluationAnswer,
    FrontAnswer,
    ProgressAnswer,
    VerificationAnswer,
    comparison_answer,
    evaluation_answer,
    front_answer,
)
from paretosoc.dse.server.workspace import (
    MAX_EVALUATIONS,
    MAX_NETWORKS,
    MAX_PROOF_S,
    MAX_STARTED,
    Workspace,
)
from paretosoc.dse.version import VERSION
from paretosoc.dse.workload.options import FIELDS, FILES, PAPERS
from paretosoc.results.io.optional import optional_import
from paretosoc.results.text.compare_fronts import compare_fronts

EXTRA = "mcp"
_INSTRUCTIONS = (
    "Map neural networks onto a heterogeneous chip: Pareto fronts of latency, energy and "
    "throughput, predicted by a model. Folders and files are relative to the server's folder; "
    "other files cannot be touched. A network is a name of the catalogue or an .onnx or .xml file, "
    "no workload file; a platform is a name or a .json file."
)
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
Search = Callable[[], FrontAnswer]


def _with_options(written: Signature, answer: type) -> Signature:
    """Return a signature that has, in place of ``**options``, the options of a problem."""
    options = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[field.kind.json_type, Described(description=field.description)],
        )
        for name, field in FIELDS.items()
        if name not in PAPERS
    ]
    kept = [entry for entry in written.parameters.values() if entry.name != "options"]
    return written.replace(parameters=[*kept, *options], return_annotation=answer)


def _searching(
    begin: Callable[..., tuple[ProgressAnswer, Search]],
    tool: Callable[[Any, ProgressAnswer, Search], Answer],
) -> Callable[..., Answer]:
    """Return the tool with the parameters of the method that begins its search."""

    @wraps(tool)
    def called(self: Tools, *arguments: Any, **options: Any) -> Answer:
        return tool(self, *begin(self, *arguments, **options))

    answer = signature(tool, eval_str=True).return_annotation
    written = _with_options(signature(begin, eval_str=True), answer)
    called.__dict__["__signature__"] = written
    return called


class Tools:
    """The tools, independent of the protocol."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._busy = Lock()
        """One search at a time: each takes all cores."""
        self._started: dict[Path, ProgressAnswer] = {}

    def _begin(
        self,
        networks: list[str],
        platform: str,
        output: str,
        max_evaluations: int = 20_000,
        prove_s: float = 0,
        **options: Any,
    ) -> tuple[ProgressAnswer, Search]:
        """Return a search, and the progress that it keeps. Input is checked before."""
        problem = self._problem(networks, platform, **options)
        folder = self._workspace.path(output)
        _at_most("max_evaluations", max_evaluations, MAX_EVALUATIONS)
        _at_most("prove_s", prove_s, MAX_PROOF_S)
        known = self._started.get(folder)
        if known is not None and not known.ended:
            raise DseError(f"output: a search for {output} was started already; poll says how far")
        _check_new(folder, output)
        progress = ProgressAnswer(output)

        def search() -> FrontAnswer:
            def tell(now: dse.Progress) -> None:
                progress.evaluations, progress.members = now.evaluations, now.members

            with self._busy:
                # The search that was waited for may have written it.
                _check_new(folder, output)
                progress.state = "searching"
                with refuted(problem):
                    front = dse.explore(problem, max_evaluations=max_evaluations, on_progress=tell)
                if prove_s > 0:
                    progress.state = "proving"
                    front = dse.certify(front, time_limit_s=prove_s)
                front.save(folder)
            progress.state, progress.members = "done", len(front)
            return front_answer(front, output, warnings=problem.warnings)

        return progress, search

    @partial(_searching, _begin)
    def explore(self, _: ProgressAnswer, search: Search) -> FrontAnswer:
        """Search for the Pareto front of networks that share a chip, and write a result folder.

        ``output``: a new folder. ``prove_s``: seconds for a proof, at most 60.
        """
        return search()

    @partial(_searching, _begin)
    def start(self, progress: ProgressAnswer, search: Search) -> ProgressAnswer:
        """Do what ``explore`` does in the background: ``poll`` says how far it is, and ``show``
        has the result. Searches wait for each other; at most 8 are not done."""
        if sum(not known.ended for known in self._started.values()) >= MAX_STARTED:
            raise DseError(f"start: at most {MAX_STARTED} searches may wait; poll says how far")
        self._started[self._workspace.path(progress.folder)] = progress

        def run() -> None:
            try:
                search()
            except DseError as error:
                progress.state, progress.error = "failed", str(error)
            except BaseException:
                progress.state, progress.error = "failed", "an internal error"
                raise

        # Not waited for when the client leaves: folders are written whole or not at all.
        Thread(target=partial(copy_context().run, run), daemon=True).start()
        return progress

    def poll(self, folder: str) -> ProgressAnswer:
        """Return how far a search is that ``start`` began. ``folder``: its ``output``."""
        known = self._started.get(self._workspace.path(folder))
        if known is None:
            raise DseError(f"folder: {folder!r} is no output of a search that was started")
        return known

    def show(self, folder: str, resolution: float | None = None) -> FrontAnswer:
        """Read a result folder: the choices of its front, and the proved claims.

        ``resolution``: every member is within this share of a choice; 0 shows members. Default:
        0.01, or more if many are left. At most 50 are shown.
        """
        return front_answer(dse.load(self._workspace.result(folder)), folder, resolution)

    def evaluate(
        self,
        networks: list[str],
        platform: str,
        mapping: dict[str, str | list[str]],
        clocks_mhz: dict[str, float | str] | None = None,
        **options: Any,
    ) -> EvaluationAnswer:
        """Simulate a mapping: network to a unit, or to a list of units, one per group.

        Clocks are MHz, ``max`` or ``min`` by domain. Other domains run at their fastest.
        """
        problem = self._problem(networks, platform, **options)
        return evaluation_answer(dse.evaluate(problem, mapping, clocks_mhz))

    evaluate.__dict__["__signature__"] = _with_options(
        signature(evaluate, eval_str=True), EvaluationAnswer
    )

    def verify(self, folder: str) -> VerificationAnswer:
        """Verify a result folder independently of the program that wrote it."""
        with self._busy:
            report = dse.verify(self._workspace.result(folder))
        return VerificationAnswer(report.holds, list(report))

    def compare(self, first: str, second: str) -> ComparisonAnswer:
        """Compare two result folders: hypervolume, coverage, and how their problems differ."""
        fronts = [dse.load(self._workspace.result(folder)).numeric for folder in (first, second)]
        return comparison_answer(compare_fronts(*fronts))

    def _problem(self, networks: list[str], platform: str, **options: Any) -> dse.Problem:
        _at_most("number of networks", len(networks), MAX_NETWORKS)
        names = [self._workspace.network(name) for name in networks]
        files = {name: self._workspace.path(options[name]) for name in FILES if options.get(name)}
        chosen = options | files
        given = {name: value for name, value in chosen.items() if value not in (None, [])}
        return dse.Problem(names, self._workspace.platform(platform), **given)


def make_server(workspace: Workspace) -> Any:
    """Return the server as an object of the package ``mcp``, whose ``run()`` serves stdin and
    stdout.

    Raises:
        ResultError: if ``mcp`` is not installed.
    """
    package = optional_import("mcp.server.mcpserver", extra=EXTRA, purpose="dse mcp")
    refused = optional_import(
        "mcp.server.mcpserver.exceptions", extra=EXTRA, purpose="dse mcp"
    ).ToolError
    tools = Tools(workspace)
    searches = (tools.explore, tools.start, tools.poll)
    served = (*searches, tools.show, tools.evaluate, tools.verify, tools.compare)
    known = {tool.__name__: signature(tool).parameters for tool in served}

    base: Any = package.MCPServer

    class Server(base):  # type: ignore[misc]
        """Refuses arguments that a tool does not have, which the package leaves out."""

        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            asked = known.get(name, arguments)
            try:
                check_keywords(name, {k: v for k, v in arguments.items() if k not in asked}, asked)
                for parameter, entry in known.get(name, {}).items():
                    if entry.default is Parameter.empty and parameter not in arguments:
                        raise DseError(f"{name}: the argument {parameter!r} is required")
            except DseError as error:
                raise refused(str(error)) from error
            try:
                return await super().call_tool(name, arguments, context)
            except refused as error:
                if not isinstance(error.__cause__, ValidationError):
                    raise
                wrong = str(error.__cause__.errors()[0]["loc"][0])
                words = _type_words(known[name][wrong].annotation)
                raise refused(str(wrong_argument(wrong, words, arguments[wrong]))) from None

    server = Server("paretosoc", instructions=_INSTRUCTIONS, version=VERSION)
    for tool in served:
        server.tool()(_refusing(tool, refused))
    return server


def _refusing(
    tool: Callable[Arguments, Answer], refused: type[Exception]
) -> Callable[Arguments, Answer]:
    """Convert errors of the input to those of the protocol."""

    @wraps(tool)
    @called_from(Door.LIBRARY)
    def called(*arguments: Arguments.args, **options: Arguments.kwargs) -> Answer:
        try:
            return tool(*arguments, **options)
        except DseError as error:
            raise refused(str(error)) from error

    # That of the method, without self, which the function's own attribute still has.
    called.__dict__["__signature__"] = signature(tool, eval_str=True)
    return called


_SIMPLE = {
    str: ("a text", "texts"),
    int: ("an integer", "integers"),
    float: ("a number", "numbers"),
    bool: ("true or false", "true or false"),
}


def _type_words(kind: Any, *, many: bool = False) -> str:
    """Return the type of a parameter in words of JSON."""
    if kind in _SIMPLE:
        return _SIMPLE[kind][many]
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _type_words(parts[0])
    if origin is list:
        return f"{'lists' if many else 'a list'} of {_type_words(parts[0], many=True)}"
    if origin is dict:
        return f"{'objects' if many else 'an object'} of {_type_words(parts[1], many=True)}"
    return " or ".join(_type_words(part, many=many) for part in parts if part is not NoneType)


def _check_new(folder: Path, output: str) -> None:
    if folder.exists():
        raise DseError(f"output: {output} exists already")


def _at_most(what: str, value: float, most: float) -> None:
    if not 0 <= value <= most:
        raise DseError(f"{what}: a number from 0 to {most:g} is required, got {value}")
