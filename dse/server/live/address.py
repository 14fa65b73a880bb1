"""Address of a run's page: a port, and a token that only this user knows."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path

from paretosoc.common.cache import is_private, user_cache

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Address:
    """The same for every run into one folder, so that a page that is open finds the next one."""

    port: int
    token: str

    @property
    def url(self) -> str:
        """Return the address to open in a browser."""
        return f"http://{HOST}:{self.port}/{self.token}/"


def listen(output: Path) -> tuple[socket.socket, Address]:
    """Return a socket on this machine alone, at the address of earlier runs into ``output``, or at
    another port if that one is taken. The address is kept in the user's cache, readable by nobody
    else."""
    digest = hashlib.sha256(str(output.resolve()).encode()).hexdigest()
    path = user_cache() / "live" / f"{digest}.json"
    kept = _kept(path)
    token = secrets.token_urlsafe(24) if kept is None else kept.token
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((HOST, 0 if kept is None else kept.port))
    except OSError:
        server.bind((HOST, 0))
    # From now on whoever connects is served, or waits for it.
    server.listen()
    address = Address(server.getsockname()[1], token)
    if address != kept:
        _keep(path, address)
    return server, address


def _kept(path: Path) -> Address | None:
    if not is_private(path.parent):
        # Whoever wrote the token there could look at the page.
        return None
    try:
        document = json.loads(path.read_text("utf-8"))
        port, token = int(document["port"]), str(document["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Address(port, token) if 0 < port < 1 << 16 and len(token) >= 24 else None


def _keep(path: Path, address: Address) -> None:
    """Keep the address. If this fails, the next run merely has another one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.unlink(missing_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as stream:
            json.dump(vars(address), stream)
    except OSError:
        pass
