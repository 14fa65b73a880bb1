"""A front as a study of Optuna, for its dashboard and its plots."""

from __future__ import annotations

import warnings
from pathlib import Path

from paretosoc.results.front.front import Front, Member
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.io.optional import optional_import
from paretosoc.results.problem.objectives import shown_values
from paretosoc.results.text.member_diff import clocks_mhz


def write_study(front: Front, path: Path, name: str) -> None:
    """Write the members of a front as the trials of a new study in an SQLite file.

    A trial has the clocks in MHz (0 if off) and the units of each network as parameters, and the
    objectives as values, of a search with errors their measures.

    Raises:
        ResultError: if the front is empty, or Optuna is not installed.
    """
    front.require_members("write")
    optuna = optional_import("optuna", extra="optuna", purpose="a study")
    problem = front.problem
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        storage=f"sqlite:///{path}",
        study_name=name,
        directions=["maximize" if o.larger_is_better else "minimize" for o in problem.objectives],
    )
    measure = "" if front.robust is None else f"{front.robust.measure} of "
    with warnings.catch_warnings():
        # Names of objectives are called experimental since Optuna 3.2.
        warnings.simplefilter("ignore")
        study.set_metric_names([measure + o.title(problem) for o in problem.objectives])
    parameters = [_parameters(front, member) for member in front.members]
    # Every trial names all values that a parameter has in some trial.
    spaces = {
        key: optuna.distributions.CategoricalDistribution(
            sorted({entry[key] for entry in parameters}, key=str)
        )
        for key in parameters[0]
    }
    marks = mark_members(front)
    study.add_trials(
        [
            optuna.trial.create_trial(
                params=entry,
                distributions=spaces,
                values=shown_values(problem.objectives, member.ranked),
                user_attrs={"member": index, "name": ", ".join(marks.get(index, ()))},
            )
            for index, (entry, member) in enumerate(zip(parameters, front.members, strict=True))
        ]
    )


def _parameters(front: Front, member: Member) -> dict[str, str | float]:
    problem = front.problem
    found: dict[str, str | float] = {
        f"{name} MHz": mhz or 0.0 for name, mhz in clocks_mhz(problem, member).items()
    }
    units = member.design.units.tolist()
    for network in problem.networks:
        used = dict.fromkeys(problem.units[units[g]].name for g in network.groups)
        found[f"{network.name} on"] = ", ".join(used)
    return found
