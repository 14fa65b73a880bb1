"""A member of a front as files that set up a board: the Python entry behind ``dse deploy``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from paretosoc.common.text import did_you_mean
from paretosoc.dse.tools.deploy.formats import FORMATS
from paretosoc.dse.tools.deploy.job import Format, Job, Options
from paretosoc.dse.tools.deploy.plan_engines import plan_engines
from paretosoc.platforms.platform import Platform
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.deploy.deployment import Deployment, as_target, check_platform
from paretosoc.results.deploy.deployment_document import DEPLOYMENT_FOLDER, deployment_to_document
from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import choose
from paretosoc.results.front.front import Front
from paretosoc.results.front.named_members import by_speed
from paretosoc.results.io.canonical_json import Json
from paretosoc.results.problem.runtimes import RUNTIMES, Runtime


def deploy(
    deployment: Deployment, target: str, folder: Path, options: Options, *, overwrite: bool = False
) -> list[str]:
    """Write a deployment.

    Args:
        folder: destination, with ``deployment.json`` in every case.

    Returns:
        Notes for the user, a line each.

    Raises:
        ResultError, GraphError: if the format cannot serve the platform or a unit, a model
            cannot be found or is not that of the search, sub-models differ from the uncut model, or
            the folder cannot be written.
    """
    chosen = format_named(target, deployment)
    DEPLOYMENT_FOLDER.check(folder, overwrite=overwrite)
    notes: list[str] = []
    try:
        chosen.check(deployment)
    except ResultError as error:
        raise ResultError(f"{error}{_instead(deployment, chosen)}") from None

    plan = plan_engines(deployment)

    def fill(part: Path) -> Callable[[dict[str, str]], dict[str, Json]]:
        with FORMATS.guard(target, as_target()):
            facts = chosen.write(Job(deployment, part, options, plan, notes))
        return lambda files: deployment_to_document(
            deployment, target=target, files=files, plan=plan, **facts
        )

    DEPLOYMENT_FOLDER.write(folder, fill, overwrite=overwrite)
    return notes


def fastest_served(
    front: Front, platform: Platform, origins: CostOrigins | None, target: str
) -> tuple[Deployment, list[str]]:
    """Return the fastest member that a format can serve, and a note if a faster one cannot. If none
    can be served, return the fastest of all."""
    front.require_members("deploy")
    order = by_speed(front)
    deployments = [Deployment(front, index, platform, origins) for index in order]
    form = format_named(target, deployments[0])
    reason = _reason_against(deployments[0], form)
    if reason is None:
        return deployments[0], []
    for deployment in deployments[1:]:
        if _reason_against(deployment, form) is None:
            note = f"This is the fastest that {target} can serve. Member {order[0]}: {reason}."
            return deployment, [note]
    return deployments[0], []


def format_named(target: str, deployment: Deployment) -> Format:
    """Return the format of a name, that of an installed package included.

    Raises:
        ResultError: if there is none. The message has the nearest name, or the one of a runtime
            whose title it is, and the formats that can serve the member.
    """
    if target in FORMATS.names():
        return FORMATS.get(target, as_target())
    titles = {rules.title.lower(): runtime.value for runtime, rules in RUNTIMES.items()}
    meant = titles.get(target.lower())
    hint = did_you_mean(target, FORMATS.names(), "") if meant is None else f"did you mean {meant}?"
    able = [name for name, reason in fitting_targets(deployment).items() if reason is None]
    raise ResultError(
        f"{as_target()}: the name of a deployment format is required, got {target!r}"
        f"{hint and f' ({hint})'}; this member can be written as {', '.join(able) or 'none'}"
    )


def fitting_targets(deployment: Deployment) -> dict[str, str | None]:
    """Return formats by their names on the command line, with the reason why each cannot serve the
    member, or None if it can: all that concern the member but those of other runtimes than the
    front was explored for."""
    explored = deployment.problem.runtime
    others = {runtime.value for runtime in Runtime} - {explored} if explored else set()
    return {
        name: _reason_against(deployment, form)
        for name, form in FORMATS.own.items()
        if name not in others and form.concerns(deployment)
    }


def deployment_texts(deployments: Sequence[Deployment]) -> list[dict[str, str]]:
    """Return, for each member of one front, the text of each format that is one text and can serve
    the platform and its units, by its name on the command line."""
    found: list[dict[str, str]] = [{} for _ in deployments]
    for target, form in FORMATS.own.items():
        for entry, text in zip(found, _texts(form, deployments), strict=True):
            if text is not None:
                entry[target] = text
    return found


def _texts(form: Format, deployments: Sequence[Deployment]) -> Sequence[str | None]:
    """Return the texts, all at once if the format can serve all members."""
    if form.texts is None or not deployments:
        return [None] * len(deployments)
    try:
        return form.texts(deployments)
    except ResultError:
        if len(deployments) == 1:
            return [None]
    return [_texts(form, [deployment])[0] for deployment in deployments]


def _reason_against(deployment: Deployment, form: Format) -> str | None:
    """Return the reason why a format cannot serve a member, or None if it can."""
    try:
        check_platform(deployment.platform, deployment.problem)
        form.check(deployment)
    except ResultError as error:
        return str(error)
    return None


def _instead(deployment: Deployment, form: Format) -> str:
    """Return the end of a refusal: of the members that can be served the nearest in the first
    objective, a choice if one can be."""
    members = deployment.front.members
    wanted = members[deployment.index].objectives[0]
    choices = set(choose(deployment.front).members)
    for index in sorted(
        range(len(members)),
        key=lambda i: (i not in choices, abs(members[i].objectives[0] - wanted)),
    ):
        if _reason_against(replace(deployment, index=index), form) is None:
            return f"; --member {index} is the nearest that can be served"
    return "; no other member can be served either" if len(members) > 1 else ""
