"""Every way in of the MCP server, with names that lead out of its folder."""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path
from typing import Any

import pytest

from paretosoc.dse.errors import DseError
from paretosoc.dse.inputs.kinds import File
from paretosoc.dse.server.mcp_server import Tools
from paretosoc.dse.server.workspace import Workspace
from paretosoc.dse.workload.options import FIELDS
from tests.support.result_folders import files

PAIR: dict[str, Any] = {"networks": ["squeezenet"], "platform": "jetson-agx-xavier", "groups": 2}
EXPLORE = {**PAIR, "max_evaluations": 10}
EVALUATE = {**PAIR, "mapping": {"squeezenet": "gpu"}}
ARGUMENTS: dict[tuple[str, str], dict[str, Any]] = {
    **{
        (tool, name): EXPLORE if name == "output" else {**EXPLORE, "output": "new"}
        for tool in ("explore", "start")
        for name in ("networks", "platform", "output", "losses", "profile")
    },
    **{("evaluate", name): EVALUATE for name in ("networks", "platform", "losses", "profile")},
    ("show", "folder"): {},
    ("poll", "folder"): {},
    ("verify", "folder"): {},
    ("compare", "first"): {"second": "own"},
    ("compare", "second"): {"first": "own"},
}
"""Parameters that may name a file, and the others of the call."""
NO_FILES = {
    *("max_evaluations", "prove_s", "resolution", "mapping", "clocks_mhz"),
    *(name for name, field in FIELDS.items() if not isinstance(field.kind, File)),
}
SECRETS = ("secret", "secret.onnx", "secret.ONNX", "secret.json", "secret.JSON", "secret.yaml")
HOSTILE = [
    *SECRETS,
    *(f"{name}{more}" for name in SECRETS for more in ("*2", "*1", " ", "\t", "\0", "*2*3")),
    *(f"{way}{name}" for way in ("../outside/", "link/", "OUTSIDE/") for name in SECRETS),
    *("link/secret.onnx*2", "OUTSIDE/secret.onnx*2", "linked.onnx", "linked.json", "linked.onnx*2"),
    *("", ".", "..", "/", "a\nb", "\x1b[2J", "\u202e", "*", "*2", "result", "link", "extends.json"),
    *("..\\outside\\secret.onnx", "x" * 5000),
]


@pytest.fixture(scope="module")
def place(pair_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server's folder, with links, beside the folder in which the server runs: all that it
    must not read there is sound, so that reading it would succeed."""
    import onnx

    outside = tmp_path_factory.mktemp("place") / "outside"
    shutil.copytree(pair_folder, outside)
    model = Path(onnx.__file__).parent / "backend/test/data/light/light_squeezenet.onnx"
    for name in ("secret", "secret.onnx", "secret.ONNX"):
        shutil.copy(model, outside / name)
    for name in ("secret.json", "secret.JSON"):
        (outside / name).write_text('{"extends": "jetson-agx-xavier", "name": "mine"}')
    (outside / "secret.yaml").write_text("networks: [{network: squeezenet}]\n")
    folder = outside.parent / "folder"
    folder.mkdir()
    shutil.copytree(pair_folder, folder / "own")
    (folder / "link").symlink_to(outside)
    (folder / "linked.onnx").symlink_to(outside / "secret.onnx")
    (folder / "linked.json").symlink_to(outside / "secret.json")
    (folder / "extends.json").write_text('{"extends": "secret", "name": "mine"}')
    shutil.copytree(pair_folder, folder / "result")
    (folder / "result" / "front.json").unlink()
    (folder / "result" / "front.json").symlink_to(outside / "front.json")
    return folder


def test_every_parameter_of_mcp_is_listed() -> None:
    """A new one is either tried with hostile names, or named among those that are no files."""
    tools = [name for name, _ in inspect.getmembers(Tools, inspect.isfunction) if name[0] != "_"]
    found = {
        (tool, name)
        for tool in tools
        for name in inspect.signature(getattr(Tools, tool)).parameters
        if name not in {"self", *NO_FILES}
    }
    assert found == set(ARGUMENTS)


@pytest.mark.parametrize(("tool", "name"), ARGUMENTS)
def test_hostile_names_are_refused_by_mcp(
    place: Path, monkeypatch: pytest.MonkeyPatch, tool: str, name: str
) -> None:
    outside = place.parent / "outside"
    monkeypatch.chdir(outside)
    before = files(outside)
    tools = Tools(Workspace(place))
    for text in HOSTILE:
        text = text.replace("OUTSIDE", str(outside))
        if name == "output" and text.isprintable() and text.strip("/.") and "/" not in text:
            # A new folder inside may have such a name.
            continue
        value = [text] if name == "networks" else text
        with pytest.raises(DseError) as refused:
            getattr(tools, tool)(**{**ARGUMENTS[tool, name], name: value})
        assert str(refused.value).isprintable() or "\t" in str(refused.value), text
    assert files(outside) == before
    assert not (place / "new").exists()


def test_files_in_the_folder_are_taken_by_mcp(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.parent)
    shutil.copy(place.parent / "outside" / "secret.onnx", place / "own.onnx")
    shutil.copy(place.parent / "outside" / "secret.json", place / "own.json")
    tools = Tools(Workspace(place))
    asked = {**EVALUATE, "networks": ["own.onnx*2"], "platform": "own.json"}
    answer = tools.evaluate(**{**asked, "mapping": {"own": "gpu", "own#2": "gpu"}})
    assert set(answer.latencies_ms) == {"own", "own#2"}
