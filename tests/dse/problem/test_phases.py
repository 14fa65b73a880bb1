"""Phases of one model: times that grow with the cache, and what passes from one to the other."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.build import BuiltProblem, build_problem
from paretosoc.dse.problem.phases import growing_costs
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork
from paretosoc.dse.workload.workload_check import check_workload
from paretosoc.fitness.cost_model.tables import CostOrigin
from paretosoc.fitness.costs.transitions import passing_ps
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.sdf.catalogue.language_models import LANGUAGE_MODELS
from paretosoc.sdf.grouping.options import Grouping

MODEL, PROMPT, TOKENS = "smollm-135m", 96, 33
RK3588 = load_platform("rk3588")
PREFILL = WorkloadNetwork("prefill", MODEL, dimensions=(("sequence", PROMPT),))
DECODE = WorkloadNetwork(
    "decode",
    MODEL,
    repeats=TOKENS,
    waits_for=("prefill",),
    dimensions=(("sequence", 1), ("past", PROMPT)),
    grows=(("past", 1),),
    continues="prefill",
)
ANSWER = Workload((PREFILL, DECODE))
OPTIONS = Options(groups=8)


@cache
def built(workload: Workload = ANSWER, options: Options = OPTIONS) -> BuiltProblem:
    return build_problem(workload, RK3588, options)


def test_first_and_last_token_cost_what_a_token_there_costs() -> None:
    """And no token in between less than it would cost there."""
    problem = built().problem
    groups = slice(problem.networks[1].first_group, None)
    for token in (0, TOKENS // 2, TOKENS - 1):
        alone = replace(
            DECODE,
            repeats=1,
            waits_for=(),
            grows=(),
            continues=None,
            dimensions=(("sequence", 1), ("past", PROMPT + token)),
        )
        there = build_problem(Workload((alone,)), RK3588, OPTIONS).problem
        for unit, other in zip(problem.units, there.units, strict=True):
            assert unit.step_ps is not None
            assert unit.step_ps[groups].any()
            times = unit.time_ps[groups] + token * unit.step_ps[groups]
            assert (times >= other.time_ps).all()
            # Steps are rounded up by less than a picosecond each.
            if token in (0, TOKENS - 1):
                assert (times - other.time_ps < TOKENS).all()


def test_the_whole_cache_is_handed_over_once() -> None:
    problem, networks = built().problem, built().networks
    cached = LANGUAGE_MODELS[MODEL].cache(PROMPT)
    assert len(set(problem.handovers)) == len(problem.handovers)
    for source, target in problem.handovers:
        assert problem.network_of[source] == 0
        assert problem.network_of[target] == 1
    # Both are cut alike here: one hand-over for each group with attention.
    attending = [
        g
        for g, group in enumerate(networks[1].groups)
        if any(layer.operation == "Attention" for layer in group.layers)
    ]
    first = problem.networks[1].first_group
    assert sorted({target - first for _, target in problem.handovers}) == attending
    # Fixed times apart, all together take what the cache takes in one piece.
    ends = [(unit, built().precision) for unit in RK3588.units]
    each = passing_ps(RK3588, ends, 0)
    whole = passing_ps(RK3588, ends, cached)
    moved = (problem.handovers_ps - each).sum(axis=0)
    assert np.abs(moved - (whole - each)).max() <= len(problem.handovers)


def test_an_answer_of_one_token_has_a_cache_too() -> None:
    one = replace(DECODE, repeats=1)
    problem = built(Workload((PREFILL, one))).problem
    assert len(problem.handovers) == len(built().problem.handovers)
    assert (problem.handovers_ps == built().problem.handovers_ps).all()


@pytest.mark.parametrize("kind", [ObjectiveKind.TOKEN_RATE, ObjectiveKind.TOKEN_ENERGY])
def test_a_token_is_one_of_the_network_that_continues_another(kind: ObjectiveKind) -> None:
    options = replace(OPTIONS, objectives=(kind.value, "latency:prefill"))
    assert built(options=options).problem.objectives == (
        Objective(kind, 1),
        Objective(ObjectiveKind.LATENCY, 0),
    )
    with pytest.raises(WorkloadError, match=f"{kind.value}:NETWORK is required, as 0 networks"):
        built(Workload((PREFILL,)), options)


@pytest.mark.parametrize("past", [PROMPT - 1, PROMPT + 1])
def test_a_cache_of_another_length_is_refused(past: int) -> None:
    other = replace(DECODE, dimensions=(("sequence", 1), ("past", past)))
    message = f"sequence 1, past {past} after sequence {PROMPT}"
    with pytest.raises(WorkloadError, match=message):
        built(Workload((PREFILL, other)))


def test_a_later_prompt_adds_to_its_cache() -> None:
    """In the catalogue's models results are what is added, not all."""
    more = replace(PREFILL, dimensions=(("sequence", 32), ("past", 64)))
    assert len(built(Workload((more, DECODE))).problem.handovers) > 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"continues": "x"}, "continues 'x', which it must wait for"),
        ({"waits_for": ()}, "continues 'prefill', which it must wait for"),
        ({"source": "smollm-360m"}, "must be the same model, got 'smollm-360m' after 'smollm-135m"),
        ({"grows": ()}, "grows must say which dimension"),
        ({"grows": (("length", 1),)}, "'length' needs a size .*there are sequence, past"),
        ({"grows": (("past", 0),)}, "'past' must grow by at least 1, got 0"),
    ],
)
def test_phases_that_contradict_themselves(changes: dict[str, object], message: str) -> None:
    workload = Workload((PREFILL, replace(DECODE, **changes)))
    with pytest.raises(WorkloadError, match=re.compile(message)):
        check_workload(workload)


def test_what_passes_between_groups_takes_as_long_as_at_the_last_token() -> None:
    """Where attention is cut into its layers, scores of all positions pass from one to the next."""
    file = str(Path(__file__).parents[2] / "data/models/gpt2_with_past.onnx")
    sizes = (("sequence_length", 1), ("past_sequence_length", 16))
    grows = (("past_sequence_length", 1),)
    token = replace(
        DECODE, source=file, dimensions=sizes, grows=grows, waits_for=(), continues=None
    )
    longest = (sizes[0], ("past_sequence_length", 16 + TOKENS - 1))
    alone = replace(token, repeats=1, dimensions=longest, grows=())
    options = Options(groups=Grouping(each_layer=True))
    growing, there = (built(Workload((entry,)), options).problem for entry in (token, alone))
    assert growing.edges == there.edges
    assert (growing.transition_ps >= there.transition_ps).all()


def test_ends_of_another_origin_are_said() -> None:
    """A measurement is of one size: at the other end of the line is an estimate then."""
    costs = built().costs[1]
    measured = replace(costs.units[0], origin=(CostOrigin.MEASURED, *costs.units[0].origin[1:]))
    first = replace(costs, units=(measured, *costs.units[1:]))
    note = f"{costs.network}: {measured.unit}: costs of 1 group are measured at the first repeat"
    assert any(note in text for text in growing_costs(first, costs, TOKENS).notes)
    assert growing_costs(costs, costs, TOKENS).notes == costs.notes


def test_a_decoder_as_it_is_exported() -> None:
    """Its results are the whole cache, past positions included, and its mask grows, too."""
    file = str(Path(__file__).parents[2] / "data/models/gpt2_with_past.onnx")
    prompt = (("sequence_length", 15), ("past_sequence_length", 1))
    token = (("sequence_length", 1), ("past_sequence_length", 16))
    workload = Workload(
        (
            replace(PREFILL, source=file, dimensions=prompt),
            replace(DECODE, source=file, dimensions=token, grows=(("past_sequence_length", 1),)),
        )
    )
    found = built(workload)
    (last,) = (network for network in found.problem.networks if network.name == "decode")
    assert found.problem.handovers
    assert {target for _, target in found.problem.handovers} <= set(last.groups)
    longer = replace(workload.networks[1], dimensions=(token[0], ("past_sequence_length", 17)))
    with pytest.raises(WorkloadError, match="must be those of the cache after that"):
        built(Workload((workload.networks[0], longer)))
