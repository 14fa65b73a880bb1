"""The server of a live view: a page and its state, for whoever knows the token of its
address, on this machine."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal, Protocol

from paretosoc.common.cache import is_private, user_cache
from paretosoc.results.export.html import fill, html_page, read_asset
from paretosoc.results.export.report import PARTS
from paretosoc.results.io.canonical_json import Json

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


ASSETS = "paretosoc.dse.server.live.assets"


def live_page(title: str, kind: Literal["explore", "campaign"]) -> str:
    """Return the empty page, which requests its content. Names come as content or escaped."""
    scripts = [read_asset(name) for name in PARTS]
    scripts += [read_asset(name, ASSETS) for name in ("live.js", f"{kind}.js")]
    joined = "\n".join(scripts)
    parts = {
        "TITLE": escape(title),
        "MAIN": read_asset(f"{kind}.html", ASSETS).removesuffix("\n"),
        "SCRIPT": f'(() => {{\n"use strict";\n{joined}\n}})();',
    }
    style = read_asset("report.css") + read_asset("live.css", ASSETS)
    body = fill(read_asset("live.html", ASSETS), parts)
    return html_page(title, style, body, scripts=True, connects=True)


HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
ANSWER_S = 0.1
"""At least between two answers about the state, whoever asks: each takes time from the run."""
LAST_LOOK_S = 6.0
"""How long a run that has ended waits for an open page to see the end; pages look every 5 s at
least."""


class View(Protocol):
    """Content of a live page. All methods are called from the server's threads."""

    def page(self) -> str:
        """Return the page, complete HTML."""
        ...

    def state(self, query: Mapping[str, str]) -> Json:
        """Return the state that the page polls."""
        ...

    def report(self, name: str) -> str | None:
        """Return a further page as complete HTML, by the name in the state, or None if it does not
        exist."""
        ...


@contextmanager
def served(view: View, output: Path, announce: Callable[[str], None]) -> Iterator[None]:
    """Serve a view while the block runs, and until an open page has seen its end.

    Args:
        output: the folder of the run, by which the address is kept.
    """
    import uvicorn

    listener, address = listen(output)
    looks = _Looks()
    app = make_app(view, address.token, looks.note)
    config = uvicorn.Config(app, log_level="error", lifespan="off", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    announce(address.url)
    try:
        yield
    finally:
        looks.wait_for_one()
        server.should_exit = True
        thread.join(LAST_LOOK_S)
        listener.close()


class _Looks:
    """The time at which the page was last looked at."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._last = float("-inf")

    def note(self, began: float) -> None:
        with self._changed:
            self._last = max(self._last, began)
            self._changed.notify_all()

    def wait_for_one(self) -> None:
        """Wait briefly until a request that begins from now on is answered, if there was one
        lately."""
        now = time.monotonic()
        with self._changed:
            if now - self._last < 2 * LAST_LOOK_S:
                self._changed.wait_for(lambda: self._last >= now, LAST_LOOK_S)


class _Pace:
    """Rate limit that admits one caller every ``ANSWER_S``, while the others wait their turn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = float("-inf")

    def wait(self) -> None:
        with self._lock:
            now = time.monotonic()
            begin = max(now, self._next)
            self._next = begin + ANSWER_S
        time.sleep(begin - now)


def make_app(view: View, token: str, looked: Callable[[float], None]) -> Any:
    """Return the application: ``/TOKEN/``, ``/TOKEN/state``, ``/TOKEN/report/NAME``. Any other path
    or host is refused. ``looked`` receives the begin of each answered request for the state."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route

    pace = _Pace()

    def guarded(path: str, answer: Callable[[Request], Response | None]) -> Route:
        def respond(request: Request) -> Response:
            given = request.path_params["token"].encode()
            found = answer(request) if secrets.compare_digest(given, token.encode()) else None
            return found or PlainTextResponse("Not found", 404, HEADERS)

        return Route(path, respond)

    def page(_: Request) -> Response:
        return HTMLResponse(view.page(), headers=HEADERS)

    def state(request: Request) -> Response:
        pace.wait()
        began = time.monotonic()
        answer = JSONResponse(view.state(request.query_params), headers=HEADERS)
        looked(began)
        return answer

    def report(request: Request) -> Response | None:
        html = view.report(request.path_params["name"])
        return None if html is None else HTMLResponse(html, headers=HEADERS)

    app = Starlette(
        routes=[
            guarded("/{token}/", page),
            guarded("/{token}/state", state),
            guarded("/{token}/report/{name}", report),
        ],
        # Another name for this machine's address would let a page from elsewhere read ours.
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"], www_redirect=False)
        ],
    )
    app.router.redirect_slashes = False
    return app
