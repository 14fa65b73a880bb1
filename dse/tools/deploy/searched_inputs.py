"""The platform and the models that a front was made of, found again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from paretosoc.common.options import as_written
from paretosoc.dse.inputs.kinds import texts_by_name
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.platforms.power_mode import board_and_mode
from paretosoc.results.costs.cost_origins import NetworkOrigins
from paretosoc.results.deploy.deployment import check_platform
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Front
from paretosoc.sdf.catalogue.catalogue import ModelFile, load_network, model_file
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.onnx.batch import model_of_batch


def parse_models(texts: Sequence[str] | None) -> dict[str, str]:
    """Parse ``NETWORK=FILE`` texts into files by network.

    Raises:
        WorkloadError: if a text is not of that form, or a network has two files.
    """
    option = as_written("models", command="--model")
    return texts_by_name(texts or (), option, "NETWORK=FILE")


def check_models(models: Mapping[str, str], names: Sequence[str]) -> None:
    """Check that files by network are of networks that there are.

    Raises:
        ResultError: if there is no such network.
    """
    for name in models:
        if name not in names:
            raise ResultError(
                f"{as_written('models', command='--model')}: there is no network {name!r} "
                f"({', '.join(names)})"
            )


def searched_model(network: NetworkOrigins, models: Mapping[str, str]) -> ModelFile:
    """Return the model of a network, for its batch, if its graph is still the one that was
    explored. Weights may be others.

    Args:
        models: network to the file of its model, if it is no longer where it was.

    Raises:
        ResultError: if it is not there, or is another one.
        GraphError: if it is written for one image, and the network has a batch.
    """
    name = network.name
    elsewhere = as_written("models", {name: "FILE"}, command="--model")
    try:
        file, dimensions = models.get(name, network.source.reference), network.source.dimensions
        model = model_file(file, dict(dimensions))
        imported = load_network(file, dimensions=dict(dimensions))
    except GraphError as error:
        raise ResultError(
            f"network {name!r}: {error}; {elsewhere} says where its model is"
        ) from None
    if imported.graph_sha256 != network.source.sha256:
        raise ResultError(
            f"network {name!r}: {model.label} is not the model that was explored (its layers, "
            "shapes or names are others; only weights may change); explore it again, or name the "
            f"old file with {elsewhere}"
        )
    data = model_of_batch(
        model.data,
        model.folder,
        network.source.batch,
        dimensions=dict(network.source.dimensions),
        label=model.label,
    )
    return replace(model, data=data)


def searched_platform(front: Front) -> Platform:
    """Return the platform of a front: of the file of the search, as seen from here, if that is
    still the same, or by its name.

    Raises:
        PlatformError: if neither is there.
        ResultError: if the file is another one now.
    """
    source = front.provenance
    own = next((entry for entry in source.inputs if entry.file), None)
    if own is None:
        return load_platform(source.platform)
    mode = board_and_mode(source.platform)[1]
    chip = load_platform(f"{own.file}@{mode}" if mode else own.file)
    if own.sha256 != chip.sha256:
        raise ResultError(
            f"platform {source.platform!r}: {own.file} is not the file that was explored (another "
            f"SHA-256); explore it again, or name the old file with {as_written('platform')}"
        )
    return chip


def platform_or_searched(given: str | Path | Platform | None, front: Front) -> Platform:
    """Return the platform that the user names, else that of the search.

    Raises:
        PlatformError, ResultError: as :func:`searched_platform`, or if it is another platform. The
            message names the option.
    """
    if given is not None:
        chip = given if isinstance(given, Platform) else load_platform(str(given))
    else:
        try:
            chip = searched_platform(front)
        except PlatformError as error:
            raise ResultError(
                f"{as_written('platform')}: the file of the search is required: {error}"
            ) from None
    check_platform(chip, front.problem)
    return chip
