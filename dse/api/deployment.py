"""A member on its board: the files that set it up, and plans of measurements there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from paretosoc.dse.api.front import Front, front_of
from paretosoc.dse.inputs.arguments import check_arguments, check_type, path_of
from paretosoc.dse.inputs.kinds import Quantity
from paretosoc.dse.tools.deploy.deploy import deploy as deploy_member
from paretosoc.dse.tools.deploy.deploy import fastest_served
from paretosoc.dse.tools.deploy.job import Options
from paretosoc.dse.tools.deploy.searched_inputs import platform_or_searched
from paretosoc.dse.tools.measuring.plan_folder import bench_of, write_plan
from paretosoc.dse.tools.measuring.planning import Decisions, Plan, Planned, plan_experiments
from paretosoc.platforms.platform import Platform
from paretosoc.results.deploy.deployment import Deployment, require_origins
from paretosoc.results.front.choices import DRAWS, ChoiceConfidence
from paretosoc.results.front.named_members import choose_member


def deploy(
    front: Front | str | Path,
    target: str,
    folder: str | Path,
    *,
    member: int | str | None = None,
    platform: str | Path | Platform | None = None,
    models: Mapping[str, str] | None = None,
    nvpmodel_conf: str | Path | None = None,
    tensorrt: str | None = None,
    check: bool = True,
    overwrite: bool = False,
) -> list[str]:
    """Write the files that set up a board for a member of a front.

    Args:
        front: a front, or its folder.
        target: name of a format, as ``dse deploy --to`` has it.
        folder: destination. A file ``deployment.json`` in it lists everything that was written.
        member: position or name. Default: the fastest one that the format can serve.
        platform: the platform's file, if it has no name.
        models: network -> file of its model, if it is no longer where it was.
        nvpmodel_conf: the board's own nvpmodel file.
        tensorrt: TensorRT's version. Default: the newest below 11 that serves the board.
        check: compare parts of models with the uncut ones by ONNX Runtime.
        overwrite: replace an older deployment.

    Returns:
        Notes for the user, a line each.

    Raises:
        DseError: if the format cannot serve the platform or a unit, a model cannot be found or
            is not that of the search, or the folder cannot be written.

    Examples:
        >>> dse.deploy(front, "trtexec", "runs/engines", member="knee")
    """
    front = front_of(front)
    check_type("target", target, str, "the name of a format")
    check_type("models", models, Mapping | None, "a mapping from networks to files")
    check_type("tensorrt", tensorrt, str | None, "a version such as '10.3'")
    check_arguments(check=check, overwrite=overwrite)
    chip = platform_or_searched(platform, front.numeric)
    if member is None:
        deployment, notes = fastest_served(front.numeric, chip, front.costs, target)
    else:
        index = choose_member(front.numeric, member)
        deployment, notes = Deployment(front.numeric, index, chip, front.costs), []
    return notes + deploy_member(
        deployment,
        target,
        path_of(folder),
        Options(
            None if nvpmodel_conf is None else path_of(nvpmodel_conf, "nvpmodel_conf"),
            models or {},
            check=check,
            tensorrt=tensorrt,
        ),
        overwrite=overwrite,
    )


MOST_MINUTES = 10_000
_MINUTES = Quantity("MINUTES", Fraction(1, 10), Fraction(MOST_MINUTES))


@dataclass(frozen=True, eq=False)
class MeasurementPlan:
    """Experiments that are worth most in a time on the board, the best first."""

    front: Front
    platform: Platform
    plan: Plan = field(repr=False)

    @property
    def experiments(self) -> tuple[Planned, ...]:
        """Return the experiments, each with its minutes and what it decides."""
        return self.plan.planned

    @property
    def minutes(self) -> float:
        """Return how long they take together."""
        return self.plan.minutes

    @property
    def co_runs(self) -> Mapping[str, float]:
        """Return, by goal, the expected loss after these and if it were known how networks slow
        each other. Empty if that would not change a decision."""
        return self.plan.co_runs

    @property
    def now(self) -> Mapping[str, ChoiceConfidence]:
        """Return, by goal, the member to take by today's costs, and how sure it is."""
        return self.plan.now

    def save(
        self,
        folder: str | Path,
        *,
        models: Mapping[str, str] | None = None,
        overwrite: bool = False,
    ) -> list[str]:
        """Write the plan, the script ``measure.py`` for the board, models, and scripts that set
        clocks. Return notes for the user.

        Args:
            folder: destination.
            models: network -> file of its model, if it is no longer where it was.
            overwrite: replace an older plan.

        Raises:
            DseError: if there is no experiment, a model cannot be found, or the folder cannot be
                written.
        """
        check_arguments(overwrite=overwrite)
        check_type("models", models, Mapping | None, "a mapping from networks to files")
        return write_plan(
            self.plan,
            self.platform,
            require_origins(self.front.costs),
            path_of(folder),
            Options(models=models or {}, check=False),
            overwrite=overwrite,
        )


def plan_measurements(
    front: Front | str | Path,
    *,
    goal: str | None = None,
    minutes: float = 30.0,
    platform: str | Path | Platform | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> MeasurementPlan:
    """Plan measurements on the board, to be surer which member to take.

    Args:
        front: a front, or its folder, with the origins of its costs.
        goal: as :meth:`Front.confidence` takes it; None: all names of the front.
        minutes: time on the board.
        platform: the platform's file, if it has no name.
        draws: how often costs are drawn.
        seed: the same seed gives the same plan.

    Raises:
        DseError: on an argument out of bounds, an empty front, a goal that does not exist, or a
            platform that is not known or whose units no runtime measures.

    Examples:
        >>> plan = dse.plan_measurements(front, minutes=30)
        >>> plan.save("plan")  # run measure.py there on the board
        >>> front = front.update("plan/results.json")
    """
    front = front_of(front)
    check_type("goal", goal, str | None, "the name of a goal")
    platform = platform_or_searched(platform, front.numeric)
    plan = plan_experiments(
        front.numeric,
        front.stated_errors,
        bench_of(front.numeric, platform, require_origins(front.costs)),
        goal=goal,
        minutes=float(_MINUTES.read(minutes, "minutes")),
        draws=draws,
        seed=seed,
    )
    return MeasurementPlan(front, platform, plan)


def decisions(
    front: Front, *, goal: str | None = None, draws: int = DRAWS, seed: int = 0
) -> dict[str, ChoiceConfidence]:
    """Return, by goal, the member with the least expected loss of all, and how sure it is.

    Args and Raises: as :func:`plan_measurements`.
    """
    check_type("goal", goal, str | None, "the name of a goal")
    return Decisions.of(front.numeric, front.stated_errors, goal, draws, seed).taken()
