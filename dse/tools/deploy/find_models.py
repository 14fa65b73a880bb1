"""The models that the networks of a result folder were read from, found again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from paretosoc.dse.errors import WorkloadError
from paretosoc.results.costs.cost_origins import NetworkOrigins
from paretosoc.results.errors import ResultError
from paretosoc.sdf.catalogue.catalogue import ModelFile, model_file
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.onnx.batch import model_of_batch


def parse_models(texts: Sequence[str] | None) -> dict[str, str]:
    """Parse ``NETWORK=FILE`` texts into files by network.

    Raises:
        WorkloadError: if a text is not of that form.
    """
    models = {}
    for text in texts or ():
        name, equals, file = text.partition("=")
        if not (name and equals and file):
            raise WorkloadError(f"--model: NETWORK=FILE is required, got {text!r}")
        models[name] = file
    return models


def check_models(models: Mapping[str, str], names: Sequence[str]) -> None:
    """Accepts files by network if there are these networks.

    Raises:
        ResultError: if there is no such network.
    """
    for name in models:
        if name not in names:
            raise ResultError(f"--model: there is no network {name!r} ({', '.join(names)})")


def searched_model(network: NetworkOrigins, models: Mapping[str, str]) -> ModelFile:
    """Return the model of a network, for its batch, if it is still the one that was explored.

    Args:
        network: knows what it was read from.
        models: network to the file of its model, if it is no longer where it was.

    Raises:
        ResultError: if it is not there, or is another one.
        GraphError: if it is written for one image, and the network has a batch.
    """
    name = network.name
    try:
        model = model_file(
            models.get(name, network.source.reference), dict(network.source.dimensions)
        )
    except GraphError as error:
        raise ResultError(
            f"network {name!r}: {error}; --model {name}=FILE says where its model is"
        ) from None
    if hashlib.sha256(model.data).hexdigest() != network.source.sha256:
        raise ResultError(
            f"network {name!r}: {model.label} is not the model that was explored (another "
            f"SHA-256); explore it again, or name the old file with --model {name}=FILE"
        )
    data = model_of_batch(
        model.data,
        model.folder,
        network.source.batch,
        dimensions=dict(network.source.dimensions),
        label=model.label,
    )
    return replace(model, data=data)
