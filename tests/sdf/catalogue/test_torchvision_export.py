"""What the export of torchvision's networks does without torch."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from paretosoc.sdf.catalogue import torchvision_export
from paretosoc.sdf.catalogue.catalogue import torchvision_networks
from paretosoc.sdf.catalogue.torchvision_tables import read_index, read_table, tables


def weights(name: str, crop: object, gmacs: float = 1.0, parameters: int = 1) -> SimpleNamespace:
    transforms = SimpleNamespace(keywords={"crop_size": crop})
    metrics = {"ImageNet-1K": {"acc@1": 70.5}}
    meta = {"_ops": gmacs, "num_params": parameters, "_metrics": metrics}
    return SimpleNamespace(name=name, transforms=transforms, meta=meta)


def test_the_first_weights_of_the_smallest_crop_are_chosen() -> None:
    given = [weights("LARGE", 384, 5.0), weights("FIRST", 224, 4.0, 7), weights("SECOND", [224])]
    models = SimpleNamespace(get_model_weights=lambda name: given)
    chosen = torchvision_export._published(models, "net")
    assert chosen == torchvision_export._Published(224, "FIRST", 4.0, 7, 70.5)


def test_what_the_catalogue_has_from_elsewhere_is_not_exported() -> None:
    models = SimpleNamespace(list_models=lambda module: list(torchvision_networks()))
    assert torchvision_export._wanted(models) == list(tables())


@pytest.mark.parametrize("missing", ["torch", "torchvision"])
def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    torch = SimpleNamespace(library=SimpleNamespace(Library=lambda *arguments: None))

    def importing(name: str) -> Any:
        if name.split(".")[0] == missing:
            raise ModuleNotFoundError(name=missing)
        return torch

    monkeypatch.setattr(importlib, "import_module", importing)
    with pytest.raises(SystemExit, match=rf"{missing} is not installed.*\[torchvision\]"):
        torchvision_export._packages()


def test_operators_that_only_detection_needs_are_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    defined: list[str] = []
    library = SimpleNamespace(define=defined.append)
    torch = SimpleNamespace(library=SimpleNamespace(Library=lambda *arguments: library))
    models = object()

    def importing(name: str) -> Any:
        if name == "torch":
            return torch
        if len(defined) < 2:
            raise RuntimeError("operator torchvision::nms does not exist")
        return models

    monkeypatch.setattr(importlib, "import_module", importing)
    assert torchvision_export._packages() == (torch, models)
    assert [text.split("(")[0] for text in defined] == ["nms", "qnms"]


def test_a_line_has_the_distance_from_what_is_published() -> None:
    table = tables()["vit_b_32"]
    published = torchvision_export._Published(
        224, "X", table.macs / 1e9 / 1.5, table.parameters, table.top1
    )
    assert torchvision_export._describe(table, 400, published) == (
        "vit_b_32: 224 x 224, 400 layers, 4.4092 GMAC (+50.00%), 88.224 M parameters (+0.00%)"
    )


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """An export that writes a table which comes with the program."""
    names = list(torchvision_networks())
    models = SimpleNamespace(
        list_models=lambda module: names, get_model_weights=lambda name: [weights("W", 224)]
    )
    made = read_table(tables()["squeezenet1_1"])
    monkeypatch.setattr(torchvision_export, "_packages", lambda: (None, models))
    monkeypatch.setattr(torchvision_export, "_export", lambda *arguments: made)


@pytest.mark.usefixtures("without_torch")
def test_an_empty_folder_may_be_written_into(tmp_path: Path) -> None:
    for name in ("squeezenet1_1", "squeezenet1_0"):
        torchvision_export.main([name, "-o", str(tmp_path)])
    assert list(read_index(tmp_path)) == ["squeezenet1_0", "squeezenet1_1"]


@pytest.mark.usefixtures("without_torch")
def test_what_cannot_be_exported_is_said_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "index.json").write_text("[", encoding="utf-8")
    for arguments, words in (
        (["resnet51"], "networks: torchvision has none named 'resnet51'; near it are resnet50"),
        (["resnet34", "-o", str(tmp_path)], "the index of networks cannot be read"),
    ):
        with pytest.raises(SystemExit) as ended:
            torchvision_export.main(arguments)
        assert ended.value.code == 2
        assert words in capsys.readouterr().err
