"""What all tests share: a real browser for pages (Debian's Chromium, or whichever is on the path),
and no limit on the time of an example, which depends on the machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

NO_BROWSER = "no browser"
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tests of pages that were skipped are said last, in colour: nobody reads a letter ``s``."""
    skipped = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if NO_BROWSER in str(report.longrepr)
    ]
    if skipped:
        terminalreporter.write_line(
            f"warning: {len(skipped)} tests of pages were skipped: {NO_BROWSER}; install Chromium "
            "and the package playwright",
            yellow=True,
        )


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Headless Chromium; skips where there is none."""
    program = next((path for name in CHROMIUMS if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"{NO_BROWSER}: none of {', '.join(CHROMIUMS)} is on the path")
    reason = f"{NO_BROWSER}: playwright is not installed"
    playwright = pytest.importorskip("playwright.sync_api", reason=reason)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium, tmp_path):
    """Opens the text of a page without a network; at the end, complaints and requests fail it."""

    @contextmanager
    def opened(html, *, width=1400, height=900, dark=False, touch=False, hash=""):
        file = tmp_path / "page.html"
        file.write_text(html, "utf-8")
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            has_touch=touch,
            offline=True,
        )
        page = context.new_page()
        complaints: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        try:
            page.goto(f"file://{file}{hash}")
            page.wait_for_selector("html[data-ready]")
            yield page
            assert complaints == []
            assert [url.partition("#")[0] for url in asked] == [f"file://{file}"]
        finally:
            context.close()

    return opened
