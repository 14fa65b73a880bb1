"""Checks the proofs of a result folder (docs/reference/result_files.md)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from tests.support.stranger.board import require
from tests.support.stranger.bounds import check_bounds, check_epsilon
from tests.support.stranger.lemma import Claim
from tests.support.stranger.tree import check_tree


def check_folder(folder: Path) -> list[str]:
    """The names of the claims that hold; refuses a folder with one that does not follow."""
    problem_bytes = (folder / "problem.json").read_bytes()
    problem = json.loads(problem_bytes)

    def signed(name: str) -> Any:
        document = json.loads((folder / name).read_bytes())
        content = {key: value for key, value in document.items() if key != "content_sha256"}
        text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        hashes = (hashlib.sha256(data).hexdigest() for data in (text.encode(), problem_bytes))
        stated = (document["content_sha256"], document["problem_sha256"])
        require(stated == (*hashes,), f"{name}: another hash")
        return document

    front = signed("front.json")
    names = [objective["name"] for objective in problem["objectives"]]
    values = [[member["objectives"][name] for name in names] for member in front["members"]]
    held = []
    for key in ("certificate", "epsilon"):
        claim = front[key]
        if claim is None or claim["status"] != "certified":
            continue
        proof, tree = signed(f"{key}.json"), (folder / f"{key}.tree").read_bytes()
        require(proof["tree_sha256"] == hashlib.sha256(tree).hexdigest(), f"{key}: another tree")
        for same in ("status", "objectives", "epsilon_ppm", "lemmas"):
            require(claim[same] == proof[same], f"{key}: two values of {same}")
        require(set(claim["objectives"]) <= set(names), f"{key}: no such objective")
        columns = [names.index(name) for name in claim["objectives"]]
        members = [[values[k][column] for column in columns] for k in claim["members"]]
        require(proof["members"] == members, f"{key}: other members")
        seen = check_tree(
            problem,
            Claim(
                tuple(problem["objectives"][column] for column in columns),
                tuple(map(tuple, members)),
                proof["epsilon_ppm"],
                tuple(map(tuple, proof.get("prices", []))),
            ),
            tree,
        )
        require(
            seen == {"lemmas": proof["lemmas"], "open": 0}, f"{key}: other lemmas, or open ones"
        )
        held.append(key)
    if front["bounds"] is not None:
        claim, proof = front["bounds"], signed("bounds.json")
        for same in ("objectives", "region"):
            require(claim[same] == proof[same], f"bounds: two values of {same}")
        check_bounds(problem, proof)
        columns = [names.index(name) for name in claim["objectives"]]
        members = [[values[k][column] for column in columns] for k in claim["members"]]
        check_epsilon(members, claim["region"], claim["epsilon_ppm"])
        held.append("bounds")
    return held
