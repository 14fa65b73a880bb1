"""The HTML page of a front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paretosoc.dse.api.views.sureness import page_confidence
from paretosoc.platforms.errors import PlatformError
from paretosoc.results.errors import ResultError

if TYPE_CHECKING:
    from paretosoc.dse.api.front import Front


def front_page(front: Front, platform: str | None) -> tuple[bytes, list[str]]:
    """Return the HTML report of a front: see :meth:`dse.Front.page`."""
    # Imported here: a search needs no deployments.
    from paretosoc.dse.tools.deploy.deploy import deployment_texts
    from paretosoc.dse.tools.deploy.searched_inputs import platform_or_searched
    from paretosoc.fitness.execution import schedule_of
    from paretosoc.results.deploy.deployment import Deployment
    from paretosoc.results.export.report import report_html
    from paretosoc.results.export.report_data import ReportConfidence

    notes: list[str] = []
    texts: list[dict[str, str]] = []
    try:
        chip = platform_or_searched(platform, front.numeric)
        texts = deployment_texts(
            [Deployment(front.numeric, index, chip, front.costs) for index in range(len(front))]
        )
    except (PlatformError, ResultError) as error:
        if platform is not None:
            raise
        notes.append(f"without deployment: {error}")
    sure = None
    if front.costs is not None and len(front):
        try:
            sure = ReportConfidence(*page_confidence(front))
        except ResultError as error:
            notes.append(f"without error bars: {error}")
    html = report_html(front.numeric, schedule_of, front.costs, texts, sure)
    return html.encode(), notes
