"""Networks that can be asked for by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sdf import catalogue_classic, catalogue_inception, catalogue_mobile, catalogue_residual
from sdf.errors import GraphError
from sdf.onnx_import import ImportedNetwork, import_onnx_bytes, read_model

_PACKAGE_ORIGIN = "ONNX model zoo, graph without weights in the onnx package"


@dataclass(frozen=True)
class CatalogueEntry:
    """A network of the catalogue."""

    name: str
    description: str
    origin: str
    """Where its layers are from."""
    input_shape: tuple[int, ...]
    """Batch, channels, height, width."""


_IN_PACKAGE = tuple(
    CatalogueEntry(name, description, _PACKAGE_ORIGIN, (1, 3, 224, 224))
    for name, description in (
        ("bvlc_alexnet", "AlexNet as trained in Caffe, grouped convolutions, 224 x 224 input"),
        ("densenet121", "DenseNet-121, every layer of a block reads all before it"),
        ("inception_v1", "GoogLeNet with pooling sizes rounded down"),
        ("inception_v2", "Inception with batch normalisation and two 3 x 3 for each 5 x 5"),
        ("resnet50", "ResNet-50, residual blocks of three convolutions"),
        ("shufflenet", "ShuffleNet, grouped 1 x 1 convolutions and channel shuffles"),
        ("squeezenet", "SqueezeNet 1.1, fire modules"),
        ("vgg19", "VGG-19, sixteen 3 x 3 convolutions and three large products"),
        ("zfnet512", "ZFNet, AlexNet's successor with 512 channels"),
    )
)

_BUILDERS: tuple[tuple[Callable[[], bytes], tuple[int, int, int, int], str], ...] = (
    (catalogue_classic.alexnet, (1, 3, 227, 227), "Krizhevsky et al. 2012, layers as in Caffe"),
    (catalogue_classic.caffenet, (1, 3, 227, 227), "Caffe's reference model"),
    (catalogue_classic.agenet, (1, 3, 227, 227), "Levi and Hassner 2015, layers as in Caffe"),
    (catalogue_classic.gendernet, (1, 3, 227, 227), "Levi and Hassner 2015, layers as in Caffe"),
    (catalogue_classic.vgg16, (1, 3, 224, 224), "Simonyan and Zisserman 2014"),
    (catalogue_classic.emotion_ferplus, (1, 1, 64, 64), "Barsoum et al. 2016"),
    (catalogue_classic.tiny_yolo, (1, 3, 416, 416), "Redmon and Farhadi 2016"),
    (catalogue_residual.resnet18, (1, 3, 224, 224), "He et al. 2015, layers as in Caffe"),
    (catalogue_residual.resnet101, (1, 3, 224, 224), "He et al. 2015, layers as in Caffe"),
    (catalogue_residual.resnet152, (1, 3, 224, 224), "He et al. 2015, layers as in Caffe"),
    (catalogue_residual.fcn_resnet18, (1, 3, 256, 512), "Long et al. 2015 on ResNet-18"),
    (catalogue_inception.googlenet, (1, 3, 224, 224), "Szegedy et al. 2014, layers as in Caffe"),
    (catalogue_inception.inception_v4, (1, 3, 299, 299), "Szegedy et al. 2016"),
    (catalogue_inception.inception_resnet_v2, (1, 3, 299, 299), "Szegedy et al. 2016"),
    (catalogue_mobile.mobilenet_v1, (1, 3, 224, 224), "Howard et al. 2017"),
    (catalogue_mobile.mobilenet_ssd, (1, 3, 300, 300), "chuanqi305's model on Howard et al. 2017"),
    (catalogue_mobile.mobilenet_v2, (1, 3, 224, 224), "Sandler et al. 2018"),
)
_BUILDER_BY_NAME = {builder.__name__: builder for builder, _, _ in _BUILDERS}


def _description(builder: Callable[[], bytes]) -> str:
    """The first line of what the builder says of itself, without its full stop."""
    return (builder.__doc__ or "").splitlines()[0].rstrip(".")


_BUILT = tuple(
    CatalogueEntry(builder.__name__, _description(builder), origin, input_shape)
    for builder, input_shape, origin in _BUILDERS
)


def catalogue() -> tuple[CatalogueEntry, ...]:
    """All networks that have a name, in alphabetical order."""
    return tuple(sorted(_IN_PACKAGE + _BUILT, key=lambda entry: entry.name))


@dataclass(frozen=True)
class ModelFile:
    """The bytes of a model, and where it lies."""

    name: str
    data: bytes
    folder: Path | None
    """Where it may keep data in other files; None for a model that a program builds."""
    label: str
    """Starts messages."""


def model_file(name_or_path: str) -> ModelFile:
    """The model of a network of the catalogue, or an ``.onnx`` file.

    A name of the catalogue wins over a file of that name; ``./NAME`` means the file.

    Raises:
        GraphError: if there is neither, or the file cannot be read.
    """
    if any(entry.name == name_or_path for entry in _IN_PACKAGE):
        path = _package_folder() / f"light_{name_or_path}.onnx"
        return ModelFile(name_or_path, read_model(path), path.parent, str(path))
    if name_or_path in _BUILDER_BY_NAME:
        return ModelFile(name_or_path, _BUILDER_BY_NAME[name_or_path](), None, name_or_path)
    path = Path(name_or_path)
    if path.suffix == ".onnx" or path.is_file():
        if not path.is_file():
            raise GraphError(f"there is no file {name_or_path!r}")
        return ModelFile(path.stem, read_model(path), path.parent, str(path))
    raise GraphError(
        f"no network {name_or_path!r} in the catalogue, and no such .onnx file; "
        f"{nearest_names(name_or_path)}"
    )


def load_network(
    name_or_path: str, *, dimensions: Mapping[str, int] | None = None
) -> ImportedNetwork:
    """A network of the catalogue, or one from an ``.onnx`` file.

    Raises:
        GraphError: as :func:`model_file`, or if the model cannot be used.
    """
    file = model_file(name_or_path)
    return import_onnx_bytes(
        file.data, name=file.name, folder=file.folder, dimensions=dimensions, label=file.label
    )


def nearest_names(name: str) -> str:
    """What to tell somebody who asked for ``name``: the nearest names, else all of them."""
    names = [entry.name for entry in catalogue()]
    near = difflib.get_close_matches(name.lower(), names, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(names)}"


def _package_folder() -> Path:
    import onnx

    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
