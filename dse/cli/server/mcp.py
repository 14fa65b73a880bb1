"""``dse mcp``: the library as tools of the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from paretosoc.dse.cli.shared.parameters import Argument
from paretosoc.dse.server.mcp_server import make_server
from paretosoc.dse.server.workspace import Workspace


def mcp(
    folder: Annotated[
        Path, Argument(metavar="DIR", help="The only folder that a client may read and write.")
    ],
) -> None:
    """Serve exploring, showing, evaluating, verifying and comparing to an MCP client on stdin and
    stdout."""
    make_server(Workspace(folder)).run()
