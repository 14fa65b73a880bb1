"""The numeric problem (costs in integers, clock domains, constraints, objectives) and
``problem.json``.

From here on nothing refers to networks or platforms.
"""

from paretosoc.results.problem.execution import (
    ChannelUse,
    ClosedForm,
    ExecutionModel,
    FreeRunning,
    IdleTime,
    OneFrame,
    Periodic,
    Pipeline,
    Rates,
)
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import ProblemDomain, ProblemNetwork, ProblemUnit
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.problem_file import problem_sha256

__all__ = [
    "ChannelUse",
    "ClosedForm",
    "DesignPoint",
    "ExecutionModel",
    "FreeRunning",
    "IdleTime",
    "Objective",
    "ObjectiveKind",
    "OneFrame",
    "Periodic",
    "Pipeline",
    "Problem",
    "ProblemDomain",
    "ProblemNetwork",
    "ProblemUnit",
    "Rates",
    "problem_sha256",
]
