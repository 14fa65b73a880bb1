"""Names of networks, layers and tensors that mean something to shells, files and pages."""

import configparser
import json
import re
import subprocess
import tempfile
from contextlib import chdir
from html.parser import HTMLParser
from pathlib import Path

import onnx
import pytest
from google.protobuf import text_format
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paretosoc.dse.cli.main import run
from tests.dse.tools.deploy.test_server_formats import load_model_config
from tests.dse.tools.deploy.test_strong_types import small_network
from tests.support.trtexec import stand_in

NASTY = st.sampled_from(
    ["$(touch pwned)", "`touch pwned`", "'; touch pwned; '", '"; touch pwned; "', "a b", "-x", "\\",
     "</script><script>alert(1)</script>", "<!--", "]]>", "[property]", "x=y", "# x", "}", "%s",
     "é", "${IFS}", "&& touch pwned", "> pwned", "*", "?", "~", "!!", "\\n", "\\000", "'\"'"]
)  # fmt: skip
PLAIN = st.text(
    st.characters(exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")), min_size=1,
    max_size=12,
)  # fmt: skip
NAME = st.one_of(NASTY, PLAIN, st.tuples(NASTY, PLAIN, NASTY).map("".join))


def renamed(layers, tensors):
    """The small network with these names for its eight nodes and its tensors."""
    model = small_network()
    names = dict(zip(("image", "c1", "r1", "c2", "r2", "c3", "r3", "v", "y"), tensors, strict=True))
    graph = model.graph
    for node, layer in zip(graph.node, layers, strict=True):
        node.name = layer
        for field in (node.input, node.output):
            field[:] = [names.get(name, name) for name in field]
    for value in (*graph.input, *graph.output):
        value.name = names[value.name]
    return model


@st.composite
def cases(draw):
    unique = {"unique": True, "min_size": 8, "max_size": 8}
    layers = draw(st.lists(NAME, **unique))
    tensors = draw(st.lists(NAME.filter(lambda name: name not in WEIGHTS), **{
        **unique, "min_size": 9, "max_size": 9}))  # fmt: skip
    stem = draw(NAME.map(lambda name: re.sub(r"[/\\\x00=*:,]", "_", name)[:40]))
    return layers, tensors, stem.strip(". ") or "net"


WEIGHTS = {"w1", "w2", "w3", "fc", "flat"}


def explored(folder, layers, tensors, stem):
    file = folder / f"{stem}.onnx"
    onnx.save(renamed(layers, tensors), str(file))
    command = ["explore", f"./{file.name}", "-p", "jetson-agx-orin", "--groups", "3", "-q"]
    command += ["--runtime", "none"]
    for g, unit in enumerate(("gpu", "dla0", "gpu")):
        command += ["--fix", f"{stem}:{g}={unit}"]
    command += ["--precision", "fp16", "--max-evaluations", "10", "--max-nodes", "0"]
    assert run([*command, "-o", str(folder / "run")]) == 0


def deployed(folder, target, *options):
    out = folder / target
    command = ["deploy", str(folder / "run"), "--to", target, "-o", str(out)]
    status = run([*command, *options])
    return out if status == 0 else None


def calls_of(script, folder):
    """Arguments that a stand-in for trtexec gets from a script, a list for each call."""
    fake, log = folder / "stand-in", folder / "log"
    stand_in(fake, '{ printf "%s\\0" "$@"; printf "\\0"; } >>"$LOG"', 100300)
    environment = {"TRTEXEC": str(fake), "LOG": str(log), "PATH": "/usr/bin:/bin"}
    subprocess.run(
        ["sh", str(script), "build"], env=environment, check=True, timeout=60, cwd=folder
    )
    return [call.split("\0") for call in log.read_text().split("\0\0") if call]


class Tags(HTMLParser):
    """Names of the elements of a page, in order."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)


def tags_of(path):
    parser = Tags()
    parser.feed(path.read_text())
    return [tag for tag in parser.found if tag in ("script", "style", "img", "iframe", "svg")]


@pytest.fixture(scope="module")
def plain_tags(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    with chdir(folder):
        explored(folder, [f"n{k}" for k in range(8)], [f"t{k}" for k in range(9)], "plain")
    assert run(["report", str(folder / "run"), "-o", str(folder / "page.html")]) == 0
    return tags_of(folder / "page.html")


@settings(max_examples=8, derandomize=True)
@given(cases())
@example((
    [f"$(touch pwned){k}" for k in range(8)],
    [f'"; }} platform: "x" {k}' for k in range(9)],
    "$(touch pwned) '\"`touch pwned`",
))  # fmt: skip
def test_names_stay_names_in_every_format(plain_tags, case):
    layers, tensors, stem = case
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with chdir(folder):
            explored(folder, layers, tensors, stem)
            check_formats(folder, layers, tensors)
            assert run(["report", "run", "-o", "page.html"]) == 0
            assert tags_of(folder / "page.html") == plain_tags
        assert [path for path in folder.rglob("*") if path.name == "pwned"] == []


def check_formats(folder, layers, tensors):
    out = deployed(folder, "trtexec", "--no-check")
    assert out is not None
    for call in calls_of(out / "engines.sh", folder):
        options = dict(word.partition("=")[::2] for word in call)
        assert set(options) <= {"--onnx", "--saveEngine", "--useDLACore", "--allowGPUFallback",
                                "--layerDeviceTypes", "--fp16", "--int8"}  # fmt: skip
        assert (out / options["--onnx"]).is_file()
        for place in filter(None, options.get("--layerDeviceTypes", "").split(",")):
            layer, _, device = place.rpartition(":")
            assert layer in layers
            assert device in ("GPU", "DLA")
    document = json.loads((out / "deployment.json").read_text())
    told = [n for g in document["networks"][0]["groups"] for n in g["layers"]]
    assert sorted(told) == sorted(layers)
    out = deployed(folder, "deepstream", "--no-check")
    if out is not None:
        for path in out.glob("*.txt"):
            parser = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#",))
            parser.read_string(path.read_text())
            assert parser.sections() == ["property"]
            assert (out / parser["property"]["onnx-file"]).is_file()
    out = deployed(folder, "triton", "--no-check")
    assert out is not None
    module = load_model_config()
    for path in out.glob("*/config.pbtxt") if module else ():
        config = module.ModelConfig()
        text_format.Parse(path.read_text(), config)
        assert config.name == path.parent.name
        assert {t.name for t in (*config.input, *config.output)} <= set(tensors)
    for target in ("sysfs", "nvpmodel"):
        out = deployed(folder, target)
        (text,) = [p.read_text() for p in out.iterdir() if p.suffix in (".sh", ".conf")]
        # The title, with the network's name, is a comment of one line.
        assert all(line.startswith("#") for line in text.splitlines()[:2])
        if target == "sysfs":
            check = subprocess.run(["sh", "-n", str(out / "set_clocks.sh")], timeout=60)
            assert check.returncode == 0
