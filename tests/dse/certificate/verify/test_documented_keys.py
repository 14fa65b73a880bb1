"""The table of what is checked has every key of the files, and no others; the script of the page
on files makes their hashes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documented_keys import ROOT, documented, keys_of_schema, rests_on

WORDS = ("recomputed", "compared", "given", "not claimed", "not checked", "as `certificate`")


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        ("front.json", "front"),
        ("certificate.json", "certificate"),
        ("epsilon.json", "certificate"),
        ("bounds.json", "bounds"),
        ("problem.json", "problem"),
        ("costs.json", "costs"),
        ("periodic.json", "periodic"),
        ("joined.json", "joined"),
    ],
)
def test_every_key_is_in_the_table_and_every_row_is_a_key(file: str, schema: str) -> None:
    keys = keys_of_schema(schema)
    assert len(keys) > 12
    ends = {
        key for key in keys if not any(other.startswith((f"{key}.", f"{key}[]")) for other in keys)
    }
    assert {key for key in ends if rests_on(file, key) is None} == set()
    rows = documented()[file]
    assert set(rows) <= keys
    assert all(how.startswith(WORDS) for how in rows.values()), rows


def hashes_by_the_page(folder: Path) -> dict[str, str]:
    """What the script in docs/reference/result_files.md prints of a folder, as it stands there."""
    page = (ROOT / "docs/reference/result_files.md").read_text()
    found = re.search("## Hashes\n.*?```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-", str(folder)],
        input=found[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return dict(line.split(" ") for line in done.stdout.splitlines())


def test_the_script_of_the_page_makes_the_hashes(certified: Path, tmp_path: Path) -> None:
    names = ["certificate.json", "costs.json", "front.json", "problem.json"]
    assert hashes_by_the_page(certified) == dict.fromkeys(names, "True")
    for name, changed in (
        ("front.json", ["front.json"]),
        ("certificate.json", ["certificate.json"]),
        ("costs.json", ["costs.json"]),
        ("problem.json", ["certificate.json", "costs.json", "front.json"]),
    ):
        folder = tmp_path / name
        shutil.copytree(certified, folder)
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace('"gpu"', '"Gpu"').replace("measured", "x", 1))
        if name == "certificate.json":
            (folder / name).write_text(re.sub('"nodes": [0-9]+', '"nodes": 7', text))
        assert hashes_by_the_page(folder) == {
            **dict.fromkeys(names, "True"),
            **dict.fromkeys(changed, "False"),
        }
    # Another layout has the same content.
    folder = tmp_path / "other layout"
    shutil.copytree(certified, folder)
    path = folder / "front.json"
    path.write_text(json.dumps(json.loads(path.read_text()), indent=7))
    assert hashes_by_the_page(folder) == dict.fromkeys(names, "True")
