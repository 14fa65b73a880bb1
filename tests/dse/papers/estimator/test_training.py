"""Training in PyTorch, and that numpy says the same; skipped where PyTorch is not installed."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from paretosoc.dse.errors import WorkloadError  # noqa: E402
from paretosoc.dse.papers.estimator.estimator_file import weight_shapes  # noqa: E402
from paretosoc.dse.papers.estimator.inference import NumpyEstimator  # noqa: E402
from paretosoc.dse.papers.estimator.inputs import Examples  # noqa: E402
from paretosoc.dse.papers.estimator.settings import EstimatorSettings  # noqa: E402
from paretosoc.dse.papers.estimator.training.data_set import DataPlan, DataSet, make_data  # noqa: E402
from paretosoc.dse.papers.estimator.training.pipeline import (  # noqa: E402
    Epoch,
    examples_of,
    settings_of,
    split_of,
)
from paretosoc.dse.papers.estimator.training.training import train  # noqa: E402
from paretosoc.dse.papers.estimator.transformer import Estimator, TorchInputs, parameter_count  # noqa: E402

NETWORKS = ("bvlc_alexnet", "squeezenet", "resnet18", "mobilenet_v1")


@pytest.fixture(scope="module", params=[True, False], ids=["short play", "static"])
def data(request: pytest.FixtureRequest) -> DataSet:
    plan = DataPlan(seed=9, workloads=12, rows=6, networks=NETWORKS, groups=6)
    return make_data(plan, short_play=request.param)


def test_numpy_says_what_torch_says(data: DataSet) -> None:
    split = split_of(data, 1)
    settings = settings_of(data, split)
    assert data.tokens is not None
    assert settings.short_play == (data.tokens.played.shape[1] == 2)
    examples = examples_of(data, np.arange(len(data)), settings)
    torch.manual_seed(3)
    model = Estimator(settings)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape))
        wanted = model(TorchInputs(examples.inputs))
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    assert {name: value.shape for name, value in weights.items()} == weight_shapes(settings)
    got = NumpyEstimator(weights)(examples.inputs)
    for one, other in zip(wanted, got, strict=True):
        np.testing.assert_allclose(one.numpy(), other, atol=1e-4, rtol=1e-4)


def trained_on(data: DataSet) -> tuple[EstimatorSettings, Examples]:
    """Settings and examples of the training share."""
    split = split_of(data, 1)
    settings = settings_of(data, split)
    return settings, examples_of(data, split.training, settings)


def test_training_lowers_the_loss_and_keeps_the_best_epoch(data: DataSet) -> None:
    settings, training = trained_on(data)
    split = split_of(data, 1)
    epochs: list[Epoch] = []
    trained = train(
        settings,
        training,
        examples_of(data, split.validation, settings),
        seed=1,
        epochs=4,
        learning_rate=1e-3,
        on_epoch=epochs.append,
    )
    assert [epoch.number for epoch in epochs] == [1, 2, 3, 4]
    # Without a short play it begins with sixteen equally likely classes, and learns more slowly.
    lowered = 0.9 if settings.short_play else 0.98
    assert epochs[-1].training_loss < lowered * epochs[0].training_loss
    assert trained.best == min(epochs, key=lambda epoch: epoch.loss).number
    assert trained.parameters == parameter_count(Estimator(settings))


def test_a_stop_keeps_what_there_is(data: DataSet) -> None:
    settings, training = trained_on(data)
    seen: list[Epoch] = []
    trained = train(
        settings,
        training,
        training,
        seed=1,
        epochs=9,
        learning_rate=1e-4,
        on_epoch=seen.append,
        stop=lambda: len(seen) == 2,
    )
    assert len(trained.epochs) == 2
    assert trained.best == min(seen, key=lambda epoch: epoch.loss).number
    with pytest.raises(KeyboardInterrupt):
        train(settings, training, training, seed=1, epochs=9, learning_rate=1e-4, stop=lambda: True)


def test_a_loss_that_is_no_number_is_told(data: DataSet) -> None:
    settings, training = trained_on(data)
    with pytest.raises(WorkloadError, match="--learning-rate: a smaller one is required"):
        train(settings, training, training, seed=1, epochs=2, learning_rate=1e30)


def test_weights_do_not_depend_on_the_threads(data: DataSet) -> None:
    settings, training = trained_on(data)
    before = torch.get_num_threads()
    seen: list[int] = []
    weights = []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            trained = train(
                settings,
                training,
                training,
                seed=1,
                epochs=1,
                learning_rate=1e-4,
                on_batch=lambda _: seen.append(torch.get_num_threads()),
            )
            assert torch.get_num_threads() == threads
            weights.append(trained.weights)
    finally:
        torch.set_num_threads(before)
    assert set(seen) == {1}
    for name, values in weights[0].items():
        np.testing.assert_array_equal(values, weights[1][name])
