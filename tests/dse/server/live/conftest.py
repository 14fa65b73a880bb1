"""Live views in headless Chromium, by their own server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra live is not installed")
pytest.importorskip("uvicorn", reason="the extra live is not installed")

from paretosoc.dse.server.live import serve
from paretosoc.dse.server.live.serve import View, served

OpenLive = Callable[..., AbstractContextManager[Any]]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses are kept in a cache of the test's own. No page is open at the end of most runs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(serve, "LAST_LOOK_S", 1.0)


@contextmanager
def serving(view: View, output: Path) -> Iterator[str]:
    """The URL of a view that is served."""
    urls: list[str] = []
    with served(view, output, urls.append):
        yield urls[0]


@pytest.fixture
def open_live(chromium: Any) -> OpenLive:
    """Opens a URL of a live view; complaints and requests to any other place fail the test."""

    @contextmanager
    def opened(url: str, *, width: int = 1200, height: int = 900, dark: bool = False) -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        # It asks for news ten times as often.
        context.add_init_script("const wait = setTimeout; setTimeout = (f, ms) => wait(f, ms / 10)")
        page = context.new_page()
        complaints: list[str] = []
        asked: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        try:
            page.goto(url)
            page.wait_for_selector("html[data-ready]")
            yield page
            assert complaints == []
            assert [each for each in asked if not each.startswith((url, "data:"))] == []
        finally:
            context.close()

    return opened
