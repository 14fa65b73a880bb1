"""The makers of the catalogue's tables, without the packages that build networks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from benchmarks.catalogue import __main__ as export
from benchmarks.catalogue import built, packages
from benchmarks.catalogue.source import Source
from paretosoc.sdf.catalogue.catalogue import read_index, read_table, tables

SHIPPED = tables()["squeezenet1_1"]


@pytest.fixture
def without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """An export that writes a table which comes with the program."""
    table, made = SHIPPED, read_table(SHIPPED)
    assert table.accuracy is not None
    one = Source(
        table.name, table.family, table.description, table.origin, (table.input_shape,), object,
        *astuple(table.accuracy),
    )  # fmt: skip
    rows = [one, replace(one, name="squeezenet1_0", percent=0.0, metric="", says="")]
    monkeypatch.setattr(packages, "sources", lambda: iter(rows))
    monkeypatch.setattr(export, "export_model", lambda *_: made)


@pytest.mark.usefixtures("without_packages")
def test_an_empty_folder_may_be_written_into(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("squeezenet1_1", "squeezenet1_0"):
        export.main([name, "-o", str(tmp_path)])
    written = read_index(tmp_path)
    assert list(written) == ["squeezenet1_0", "squeezenet1_1"]
    assert replace(written["squeezenet1_1"], sha256=SHIPPED.sha256) == SHIPPED
    assert written["squeezenet1_0"].accuracy is None
    assert capsys.readouterr().out.splitlines()[0] == (
        "squeezenet1_1: 1 x 3 x 224 x 224, 65 layers, 0.3492 GMAC, 1.235 M parameters"
    )


@pytest.mark.usefixtures("without_packages")
def test_what_cannot_be_exported_is_said_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "index.json").write_text("[", encoding="utf-8")
    for arguments, words in (
        (["squeezenet"], "networks: there is none named 'squeezenet'; near it are squeezenet1_"),
        (["squeezenet1_0", "-o", str(tmp_path)], "the index of networks cannot be read"),
    ):
        with pytest.raises(SystemExit) as ended:
            export.main(arguments)
        assert ended.value.code == 2
        assert words in capsys.readouterr().err


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Iterator[Source]:
        raise ModuleNotFoundError(name="timm")

    monkeypatch.setattr(packages, "sources", missing)
    with pytest.raises(SystemExit, match=r"timm is not installed.*\[export\]"):
        export.main([])


BUILT = {source.name: source for source in built.sources()}


@pytest.mark.parametrize("name", BUILT)
def test_what_is_written_down_here_is_what_comes_with_the_program(name: str) -> None:
    source, table = BUILT[name], tables()[name]
    assert source.build() == read_table(table)
    assert (source.family, source.description) == (table.family, table.description)
    assert (source.origin, source.inputs) == (table.origin, (table.input_shape,))
    accuracy = table.accuracy
    assert source.percent == (accuracy.percent if accuracy else 0)


def test_a_network_that_is_written_down_needs_no_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(packages, "sources", None)
    export.main(["alexnet", "-o", str(tmp_path)])
    written = read_index(tmp_path)
    assert written == {"alexnet": tables()["alexnet"]}
    assert read_table(written["alexnet"], tmp_path) == read_table(tables()["alexnet"])
    assert "alexnet: 1 x 3 x 227 x 227" in capsys.readouterr().out
