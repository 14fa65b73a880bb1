"""Makes ``report.png`` beside it: the demo's report as a browser shows it.

    make demo
    .venv/bin/python docs/images/report_screenshot.py

Needs Chromium on the path, and the extra ``dev``.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "runs" / "demo" / "report.html"
PICTURE = Path(__file__).with_name("report.png")
WIDTH, HEIGHT = 1360, 1250


def main() -> None:
    """Opens the report with the knee and the least power side by side, and keeps its top."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("Chromium is required on the path")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(REPORT.as_uri())
        page.wait_for_selector("html[data-ready]")
        other = page.locator(".card", has_text="Least power").get_attribute("data-card")
        page.locator(".card", has_text="Knee").click()
        page.locator(f".card[data-card='{other}']").click(modifiers=["Shift"])
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement.blur()")
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    # Few colours: a third of the bytes, and nobody sees the difference.
    picture.convert("RGB").quantize(256, kmeans=2).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
