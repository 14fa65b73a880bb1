"""What the export of networks does without their packages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from paretosoc.sdf.catalogue import export
from paretosoc.sdf.catalogue.export_sources import Source
from paretosoc.sdf.catalogue.exported import read_index, read_table, tables

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
    monkeypatch.setattr(export, "sources", lambda: iter(rows))
    monkeypatch.setattr(export, "_export", lambda source: made)


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

    monkeypatch.setattr(export, "sources", missing)
    with pytest.raises(SystemExit, match=r"timm is not installed.*\[export\]"):
        export.main([])
