"""The estimator without PyTorch: tokens, short play, shipped weights, files that were changed."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paretosoc.common.arrays import IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator import tokens as tokens_module
from paretosoc.dse.papers.estimator.estimator_file import (
    DOCUMENT,
    SHIPPED,
    SHIPPED_STATIC,
    WEIGHTS,
    EstimatorFile,
    load_estimator,
    shipped_estimator,
    weight_shapes,
)
from paretosoc.dse.papers.estimator.inference import NumpyEstimator
from paretosoc.dse.papers.estimator.inputs import Inputs, inputs_of
from paretosoc.dse.papers.estimator.predictor import (
    CLASSES,
    PredictorName,
    TimelinePredictor,
    make_predictor,
)
from paretosoc.dse.papers.estimator.settings import EstimatorSettings
from paretosoc.dse.papers.estimator.tokens import TokenMaker
from paretosoc.dse.papers.estimator.training.data_set import (
    DataPlan,
    DataSet,
    make_data,
    with_tokens,
)
from paretosoc.dse.papers.estimator.training.pipeline import accuracy_of, settings_of, split_of
from paretosoc.dse.papers.estimator.training.workloads import build, random_rows
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness import simulate_long_run as long_run
from paretosoc.results.problem.execution import Pipeline
from paretosoc.results.problem.problem import Problem

NETWORKS = ("bvlc_alexnet", "squeezenet", "resnet18", "mobilenet_v1", "zfnet512", "googlenet")


@pytest.fixture(scope="module")
def shipped() -> EstimatorFile:
    return shipped_estimator()


@pytest.fixture(scope="module")
def data() -> DataSet:
    """Workloads of a seed that the shipped weights were not trained with."""
    return make_data(DataPlan(seed=77, workloads=30, rows=4, networks=NETWORKS))


@pytest.fixture(scope="module")
def problem() -> Problem:
    return build(NETWORKS[:3])


@pytest.fixture(scope="module")
def rows(problem: Problem) -> IntArray:
    return random_rows(np.random.default_rng(5), problem, 40)


def _inputs(shipped: EstimatorFile, problem: Problem, rows: IntArray) -> Inputs:
    return inputs_of(TokenMaker(problem)(rows), shipped.settings)


def test_weights_have_the_published_sizes(shipped: EstimatorFile) -> None:
    count = sum(int(np.prod(shape)) for shape in weight_shapes(shipped.settings).values())
    assert count == shipped.provenance["parameters"]
    assert 260_000 < count < 280_000
    size = sum((SHIPPED / name).stat().st_size for name in (WEIGHTS, DOCUMENT))
    assert size < 2_000_000


def test_shipped_weights_know_workloads_that_they_never_saw(
    shipped: EstimatorFile, data: DataSet
) -> None:
    """120 mappings: two deviations of such a sample are 7 %."""
    told = accuracy_of(data, np.arange(len(data)), shipped.settings, shipped.weights)
    stated = shipped.provenance["held_out"]
    assert isinstance(stated, dict)
    for name in ("throughput", "power"):
        head = stated[name]
        assert isinstance(head, dict)
        assert told.heads[name].exact > float(str(head["exact"])) - 0.10
        assert told.heads[name].within_one > 0.9


def test_the_static_estimator_is_worth_what_its_file_says(data: DataSet) -> None:
    """It is much better than a guess, which is right in one case of 16."""
    static = shipped_estimator(short_play=False)
    assert not static.settings.short_play
    tokens = with_tokens(data, short_play=False)
    told = accuracy_of(tokens, np.arange(len(data)), static.settings, static.weights)
    assert told.heads.keys() == {"throughput", "power"}
    stated = static.provenance["held_out"]
    assert isinstance(stated, dict)
    assert stated.keys() == {"throughput", "power", "mappings", "workloads"}
    for name in ("throughput", "power"):
        head = stated[name]
        assert isinstance(head, dict)
        assert told.heads[name].exact > float(str(head["exact"])) - 0.15
        assert float(str(head["exact"])) > 3 / 16


def test_both_estimators_come_from_the_same_data(shipped: EstimatorFile) -> None:
    origins = [entry.provenance["data"] for entry in (shipped, shipped_estimator(short_play=False))]
    assert origins[0] == origins[1]
    assert isinstance(origins[0], dict)
    assert origins[0]["origin"] == "timeline"


@pytest.mark.parametrize("name", [PredictorName.LEARNED, PredictorName.LEARNED_STATIC])
def test_what_an_estimator_simulates(
    name: PredictorName, problem: Problem, rows: IntArray, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one with a short play plays each batch shortly, the static one nothing; neither asks the
    timeline."""
    simulated: list[str] = []
    short, timeline = tokens_module.play_shortly, long_run.share_rows

    def shortly(*given: Any) -> Any:
        simulated.append("short")
        return short(*given)

    def long(simulators: Any) -> Any:
        simulated.append("timeline")
        return timeline(simulators)

    monkeypatch.setattr(tokens_module, "play_shortly", shortly)
    monkeypatch.setattr(long_run, "share_rows", long)
    predictor = make_predictor(name)
    said = predictor.predict(problem, rows)
    assert predictor.name == name.value
    assert len(np.unique(said.throughput_class)) > 3
    assert simulated == (["short"] if name is PredictorName.LEARNED else [])
    TimelinePredictor().predict(problem, rows)
    assert simulated[-1] == "timeline"


def test_without_a_short_play_tokens_lack_what_it_says(problem: Problem, rows: IntArray) -> None:
    whole = TokenMaker(problem)(rows)
    static = TokenMaker(problem, short_play=False)(rows)
    figures, summary = static.figures.shape[2], static.summary.shape[1]
    assert np.array_equal(static.figures, whole.figures[:, :, :figures])
    assert np.array_equal(static.summary, whole.summary[:, :summary])
    assert (figures, summary) < (whole.figures.shape[2], whole.summary.shape[1])
    assert static.played.shape == (len(rows), 0)
    assert whole.played.shape == (len(rows), 2)


def test_the_short_play_is_near_the_timeline(data: DataSet) -> None:
    assert data.tokens is not None
    error = np.abs(np.log(data.tokens.played[:, 0] / data.throughput_hz))
    assert np.median(error) < 0.05
    assert np.median(np.abs(np.log(data.tokens.played[:, 1] / data.power_w))) < 0.02


def test_one_network_on_one_unit_is_played_exactly(problem: Problem) -> None:
    """It can go no faster than the unit, and two frames in flight keep the unit busy."""
    alone = build(NETWORKS[2:3])
    space = DesignSpace(alone)
    row = space.canonical(
        np.array([[1] * space.groups + [d.allowed.sum() - 1 for d in alone.domains]])
    )
    played = TokenMaker(alone)(row).played
    judged = TimelinePredictor().predict(alone, row)
    assert played[:, 0] == pytest.approx(judged.throughput_hz, rel=1e-3)
    assert played[:, 1] == pytest.approx(judged.power_w, rel=1e-3)


def test_bins_have_equal_counts(data: DataSet) -> None:
    split = split_of(data, 1)
    settings = settings_of(data, split)
    for bins, values in (
        (settings.throughput, data.throughput_hz),
        (settings.power, data.power_w),
    ):
        counts = np.bincount(bins.class_of(values[split.training]), minlength=CLASSES)
        assert counts.max() - counts.min() <= 1


def test_no_workload_is_on_both_sides(data: DataSet) -> None:
    split = split_of(data, 1)
    parts = (split.training, split.validation, split.held_out)
    workloads = [set(data.workload[part].tolist()) for part in parts]
    assert sum(len(part) for part in workloads) == len(data.workloads)
    assert len(set.union(*workloads)) == len(data.workloads)
    assert len(workloads[2]) == 6


def test_padding_changes_nothing(shipped: EstimatorFile, problem: Problem, rows: IntArray) -> None:
    inputs = _inputs(shipped, problem, rows)
    estimate = NumpyEstimator(shipped.weights)
    together = estimate(inputs)
    wide = ((0, 0), (0, 9))
    padded = replace(
        inputs,
        figures=np.pad(inputs.figures, (*wide, (0, 0)), constant_values=3.0),
        unit=np.pad(inputs.unit, wide),
        point=np.pad(inputs.point, wide),
        position=np.pad(inputs.position, wide),
        present=np.pad(inputs.present, wide),
    )
    # ``take`` cuts padding off again; the batch is what must not read it.
    for one, other in zip(together, estimate._batch(padded), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-4, rtol=1e-5)
    for i in range(5):
        alone = estimate(inputs.take(np.array([i])))
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_allclose(one[i], other[0], atol=2e-4, rtol=1e-5)


def test_order_of_rows_and_of_networks_does_not_matter(
    shipped: EstimatorFile, problem: Problem, rows: IntArray
) -> None:
    predictor = shipped.predictor
    said = predictor.predict(problem, rows)
    order = np.random.default_rng(1).permutation(len(rows))
    again = predictor.predict(problem, rows[order])
    assert (again.throughput_class == said.throughput_class[order]).all()
    assert (again.power_class == said.power_class[order]).all()
    names = NETWORKS[:3]
    turned = build(names[::-1])
    parts = [rows[:, list(network.groups)] for network in problem.networks]
    other = np.concatenate((*parts[::-1], rows[:, problem.group_count :]), axis=1)
    backwards = predictor.predict(turned, other)
    assert (backwards.throughput_class == said.throughput_class).mean() > 0.9
    assert (backwards.power_class == said.power_class).mean() > 0.9


def test_predictions_are_the_middles_of_classes(
    shipped: EstimatorFile, problem: Problem, rows: IntArray
) -> None:
    said = shipped.predictor.predict(problem, rows)
    bins = shipped.settings
    assert (bins.throughput.class_of(said.throughput_hz) == said.throughput_class).all()
    assert (bins.power.class_of(said.power_w) == said.power_class).all()
    none = shipped.predictor.predict(problem, rows[:0])
    assert len(none.throughput_class) == len(none.power_w) == 0


def test_another_board_is_refused(shipped: EstimatorFile) -> None:
    other = build(("squeezenet",), "jetson-agx-orin")
    row = random_rows(np.random.default_rng(0), other, 1)
    with pytest.raises(WorkloadError, match="it was trained for"):
        shipped.predictor.predict(other, row)


def test_networks_with_a_common_frame_are_refused(
    shipped: EstimatorFile, problem: Problem, rows: IntArray
) -> None:
    with pytest.raises(WorkloadError, match="--free-running is required"):
        shipped.predictor.predict(replace(problem, execution=Pipeline(2)), rows)


def test_a_network_that_repeats_computes_as_many_images() -> None:
    alone = build(NETWORKS[2:3])
    space = DesignSpace(alone)
    row = space.canonical(
        np.array([[1] * space.groups + [d.allowed.sum() - 1 for d in alone.domains]])
    )
    thrice = replace(alone, networks=(replace(alone.networks[0], repeats=3),))
    played = TokenMaker(thrice)(row).played
    judged = TimelinePredictor().predict(thrice, row)
    assert played[:, 0] == pytest.approx(judged.throughput_hz, rel=1e-3)
    assert played[:, 1] == pytest.approx(judged.power_w, rel=1e-3)


def test_settings_say_whether_there_is_a_short_play(shipped: EstimatorFile) -> None:
    static = shipped_estimator(short_play=False).settings
    for settings in (shipped.settings, static):
        again = EstimatorSettings.from_document(settings.document())
        assert again.short_play == settings.short_play
        assert weight_shapes(again) == weight_shapes(settings)
    document = static.document() | {"short_play": True}
    with pytest.raises(ValueError, match="scaling: "):
        EstimatorSettings.from_document(document)
    with pytest.raises(TypeError, match="true or false"):
        EstimatorSettings.from_document(document | {"short_play": "no"})


def test_the_static_weights_are_small() -> None:
    size = sum((SHIPPED_STATIC / name).stat().st_size for name in (WEIGHTS, DOCUMENT))
    assert size < 1_100_000


@pytest.mark.parametrize("what", ["weights", "document", "bins", "missing", "format"])
def test_tampered_files_are_refused(tmp_path: Path, what: str) -> None:
    for name in (WEIGHTS, DOCUMENT):
        shutil.copy(SHIPPED / name, tmp_path / name)
    document = json.loads((tmp_path / DOCUMENT).read_text())
    if what == "weights":
        data = bytearray((tmp_path / WEIGHTS).read_bytes())
        data[-1] ^= 1
        (tmp_path / WEIGHTS).write_bytes(bytes(data))
    elif what == "missing":
        (tmp_path / WEIGHTS).unlink()
    elif what == "document":
        (tmp_path / DOCUMENT).write_text("[")
    elif what == "bins":
        document["settings"]["power_w"]["edges"] = [1.0]
        (tmp_path / DOCUMENT).write_text(json.dumps(document))
    else:
        (tmp_path / DOCUMENT).write_text(json.dumps(document | {"format": "other"}))
    with pytest.raises(WorkloadError, match=str(tmp_path)):
        load_estimator(tmp_path)
