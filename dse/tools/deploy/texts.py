"""Texts of each format for each member of a front, and the formats that can serve a member."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paretosoc.dse.tools.deploy.formats import FORMATS, Format
from paretosoc.results.deploy.deployment import Deployment, check_platform
from paretosoc.results.errors import ResultError

Texts = Callable[[Sequence[Deployment]], list[str]]


def deployment_texts(deployments: Sequence[Deployment]) -> list[dict[str, str]]:
    """Return, for each member of one front, the text of each format that is one text and can serve
    the platform and its units, by its name on the command line.

    Raises:
        ResultError: if the platform is not that of the search.
    """
    if not deployments:
        return []
    check_platform(deployments[0])
    columns = {
        target.value: _texts(entry.texts, deployments)
        for target, entry in FORMATS.items()
        if entry.texts is not None
    }
    return [
        {name: text for name, column in columns.items() if (text := column[k]) is not None}
        for k in range(len(deployments))
    ]


def fitting_targets(deployment: Deployment) -> dict[str, str | None]:
    """Return every format by its name on the command line, with the reason why it cannot serve the
    member, or None if it can."""
    return {target.value: reason_against(deployment, entry) for target, entry in FORMATS.items()}


def reason_against(deployment: Deployment, form: Format) -> str | None:
    """Return the reason why a format cannot serve a member, or None if it can."""
    try:
        check_platform(deployment)
        form.check(deployment)
    except ResultError as error:
        return str(error)
    return None


def _texts(texts: Texts, deployments: Sequence[Deployment]) -> list[str | None]:
    try:
        return [*texts(deployments)]
    except ResultError:
        return [_text(texts, deployment) for deployment in deployments]


def _text(texts: Texts, deployment: Deployment) -> str | None:
    try:
        return texts([deployment])[0]
    except ResultError:
        return None
