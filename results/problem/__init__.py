"""The numeric problem: costs in integers, clock domains, constraints, objectives; and problem.json.

From here on nothing refers to networks or platforms.
"""

from results.problem.objectives import objective_names, objective_unit, objective_value
from results.problem.pipeline_model import PipelineTime, ThroughputModel
from results.problem.problem import (
    DesignPoint,
    EnergyUse,
    Objective,
    ObjectiveKind,
    Problem,
    ProblemDomain,
    ProblemNetwork,
    ProblemUnit,
)
from results.problem.problem_file import problem_sha256

__all__ = [
    "DesignPoint",
    "EnergyUse",
    "Objective",
    "ObjectiveKind",
    "PipelineTime",
    "Problem",
    "ProblemDomain",
    "ProblemNetwork",
    "ProblemUnit",
    "ThroughputModel",
    "objective_names",
    "objective_unit",
    "objective_value",
    "problem_sha256",
]
