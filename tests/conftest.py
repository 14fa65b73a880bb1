"""What all tests share: a real browser for pages (Debian's Chromium, or whichever is on the path),
no limit on the time of an example, which depends on the machine, and which tests are quick.

``--quick`` leaves out what takes long: a test that runs a kernel or starts a process is skipped
where it does so, and a test function in ``slow_tests.json`` is not collected. ``--find-slow`` runs
all of the quick part that is left by the first rule, and writes that file.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Before numpy is imported, also by the processes that tests start: their matrices are small, and
# threads of OpenBLAS that wait for each other took ten times the CPU seconds of a fit of costs.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("any machine", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=10)
settings.load_profile("any machine")

SLOW_TESTS = Path(__file__).with_name("slow_tests.json")
SLOW_S = 0.25
"""CPU seconds of a test function, in all its cases, from which on it is not quick."""
SECONDS: Counter[str] = Counter()

NO_BROWSER = "no browser"
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--quick", action="store_true", help="leave out tests that take long")
    parser.addoption("--find-slow", action="store_true", help=f"write {SLOW_TESTS.name}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: Any) -> None:
    config = session.config  # Not earlier: xdist starts processes before.
    if not (config.getoption("--quick") or config.getoption("--find-slow")):
        return
    from numba.core.dispatcher import Dispatcher

    from paretosoc.common.machine_code.kernel import Kernel

    def skipped(why: str) -> Any:
        return lambda *args, **options: pytest.skip(f"quick: {why}")

    settings.load_profile("quick")
    Kernel._load = Dispatcher._compile_for_args = skipped("runs a kernel")  # type: ignore[method-assign]
    subprocess.Popen.__init__ = skipped("starts a process")  # type: ignore[method-assign]
    BaseProcess.start = skipped("starts a process")  # type: ignore[method-assign]


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    if config.getoption("--quick"):
        slow = set(json.loads(SLOW_TESTS.read_text("utf-8")))
        left = [item for item in items if item.nodeid.partition("[")[0] not in slow]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(left)])
        items[:] = left


def pytest_collection_finish() -> None:
    """What has been imported stays: no collection of garbage looks at it again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    start = time.process_time()
    result = yield
    SECONDS[item.nodeid.partition("[")[0]] += time.process_time() - start
    return result


def pytest_sessionfinish(session: Any) -> None:
    if session.config.getoption("--find-slow"):
        slow = {name: round(seconds, 1) for name, seconds in sorted(SECONDS.items())
                if seconds > SLOW_S}  # fmt: skip
        SLOW_TESTS.write_text(json.dumps(slow, indent=0) + "\n", "utf-8")


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


@pytest.fixture(scope="session", autouse=True)
def few_draws():
    """Pages and pictures simulate fewer draws of costs, so that their intervals are coarser."""
    from paretosoc.dse.api.views import sureness

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sureness, "_QUICK_DRAWS", 10)
        patch.setattr(sureness, "_FREE_RUNNING_DRAWS", 10)
        yield


@pytest.fixture(scope="session")
def chromium(pytestconfig: Any) -> Iterator[Any]:
    """Headless Chromium; skips where there is none."""
    if pytestconfig.getoption("--quick") or pytestconfig.getoption("--find-slow"):
        pytest.skip("quick: starts a process")
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
