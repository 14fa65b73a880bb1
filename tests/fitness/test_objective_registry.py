"""Every kind of objective is complete: a spec, an evaluation, an oracle, and its definition; and
every execution model its rules."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from paretosoc.fitness.check.members.outcome import PLAIN_OBJECTIVES
from paretosoc.fitness.execution import RULES
from paretosoc.fitness.objectives import OBJECTIVE_VALUES
from paretosoc.results.io.document import schema
from paretosoc.results.problem.execution import EXECUTION_MODELS
from paretosoc.results.problem.objectives import OBJECTIVES, ObjectiveKind

FILES = Path(__file__).parents[2] / "docs/reference/result_files.md"
RECOMPUTE = Path(__file__).parents[1] / "support" / "recompute_front.py"


@pytest.mark.parametrize("kind", ObjectiveKind)
def test_every_objective_is_complete(kind: ObjectiveKind) -> None:
    spec = OBJECTIVES[kind]
    assert kind in OBJECTIVE_VALUES
    assert kind in PLAIN_OBJECTIVES
    assert f"`{spec.file_name}`" in FILES.read_text(encoding="utf-8")
    assert f'"{spec.file_name}"' in RECOMPUTE.read_text(encoding="utf-8")
    described = json.dumps(schema("front")["$defs"]["member"]["properties"]["objectives"])
    assert spec.file_name in described
    assert spec.models


def test_names_of_objectives_are_different() -> None:
    for name in ("file_name", "label", "best"):
        assert len({getattr(spec, name) for spec in OBJECTIVES.values()}) == len(ObjectiveKind)


@pytest.mark.parametrize("model", EXECUTION_MODELS)
def test_every_execution_model_is_complete(model: type) -> None:
    rules = RULES[model]
    assert {kind for kind in ObjectiveKind if model in kind.spec.models} >= (
        rules.provable | rules.bounded
    )
    names = schema("problem")["properties"]["execution"]["properties"]["model"]["enum"]
    assert model.model in names
    text = (files("fitness") / "execution.py").read_text(encoding="utf-8")
    assert f"\n{model.model} " in text, "the table of simulators and oracles"


def test_what_is_provable_is_bounded_where_a_frame_is_alone() -> None:
    for model, rules in RULES.items():
        if not model.frames_overlap:
            assert rules.provable <= rules.bounded
