"""Published descriptions of the options: the generated parts of the schemas in ``dse/inputs/data``
and of ``docs/reference/options.md``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from paretosoc.dse.inputs.kinds import Choice, Flag, Quantity, Whole, WholeOr
from paretosoc.dse.inputs.kinds_by_name import PerName
from paretosoc.dse.workload.options import AXES, FIELDS, NETWORK_LIMITS, PAPERS

Schema = dict[str, Any]
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "options.md"
DATA = ROOT / "dse" / "inputs" / "data"


def campaign_schema(published: Schema) -> Schema:
    """Return the schema of campaign files with the descriptions of the table."""
    kinds = published["$defs"] | {name: _key(name) for name in FIELDS if FIELDS[name].axis}
    properties = published["properties"]
    for name, (plural, _) in AXES.items():
        if name != "seed":
            properties = properties | {plural: _list_of(name)}
    own = {name: {"$ref": f"#/$defs/{name}"} for name in ("name", "tags", "workload", *AXES)}
    included = properties["include"]
    items = included["items"] | {"properties": included["items"]["properties"] | own}
    match, either = kinds["match"], {"$ref": "#/$defs/either"}
    match = match | {"properties": match["properties"] | dict.fromkeys(AXES, either)}
    starts = properties["warm_start"]
    starts = starts | {
        "items": {"enum": [name for name, (_, early) in AXES.items() if early]},
    }
    return published | {
        "properties": properties | {"include": included | {"items": items}, "warm_start": starts},
        "$defs": kinds | {"match": match},
    }


def workload_schema(published: Schema) -> Schema:
    """Return the schema of workload files, with the ranges that the table has."""
    network = published["$defs"]["network"]
    keys = network["properties"]
    for name in (*NETWORK_LIMITS, "min_accuracy_percent", "batch"):
        kind: Any = FIELDS[name].kind
        each = kind.each if isinstance(kind, PerName) else kind
        keys = keys | {name: _ranged(keys[name], each.schema())}
    properties = published["properties"]
    for name in ("frames_in_flight", "frames_per_second", "power_cap_w", "free_running", "runtime"):
        properties = properties | {name: _ranged(properties[name], FIELDS[name].kind.schema())}
    network = network | {"properties": keys}
    return published | {
        "properties": properties,
        "$defs": published["$defs"] | {"network": network},
    }


def _ranged(key: Schema, schema: Schema) -> Schema:
    """Return the schema of a key with the file's own default and description."""
    return schema | {name: key[name] for name in ("default", "description") if name in key}


def _key(name: str) -> Schema:
    """Return the schema of a key of a run. null: not asked for."""
    field = FIELDS[name]
    schema = field.kind.schema()
    if name != "objectives" and "enum" in schema:
        schema = {"enum": [*schema["enum"], None]}
    elif name != "objectives" and "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        schema = schema | {"type": list(dict.fromkeys([*types, "null"]))}
    return schema | {"description": field.key_help}


def _list_of(name: str) -> Schema:
    items = {"$ref": f"#/$defs/{name}"}
    return {"type": "array", "minItems": 1, "maxItems": 100000, "uniqueItems": True, "items": items}


_OF_PAPERS = " Not of `dse explore`; `dse papers explore` has it."


def options_table() -> str:
    """Return the options as a table in Markdown."""
    rows = ["| library | command | campaign: list | value | |", "|---|---|---|---|---|"]
    for name, field in FIELDS.items():
        option = f"`{field.option}`" if field.has_option else f"`--limit {field.limit_form}`"
        axis = f"`{field.axis}`" if field.axis else ""
        cells = (
            f"`{name}`",
            option,
            axis,
            _value(field.kind),
            field.description.replace("|", "\\|") + (_OF_PAPERS if name in PAPERS else ""),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _value(kind: Any) -> str:
    """Return the values of a kind, in words."""
    match kind:
        case PerName():
            return f"{_value(kind.each)}, or one per {kind.of.lower()}"
        case Whole():
            return f"integer {kind.words}"
        case WholeOr():
            return f"{_value(kind.each)}, or {', '.join(f'`{word}`' for word in kind.words)}"
        case Quantity():
            return f"number {kind.words}"
        case Flag():
            return "flag"
        case Choice():
            return ", ".join(f"`{member.value}`" for member in kind.argument)
        case _:
            return type(kind).__name__.lower()


BEGIN, END = "<!-- options -->\n", "\n<!-- end of options -->"


def _page(text: str) -> str:
    """Return the page of the reference with the table in its place."""
    head, _, rest = text.partition(BEGIN)
    return head + BEGIN + options_table() + END + rest.partition(END)[2]


def published_options() -> dict[Path, bytes]:
    """Return the schemas of files with options, and the page of the reference, by their paths."""
    found = {PAGE: _page(PAGE.read_text("utf-8"))}
    for name, make in (("campaign", campaign_schema), ("workload", workload_schema)):
        file = DATA / f"{name}.schema.json"
        made = make(json.loads(file.read_text("utf-8")))
        found[file] = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    return {path: text.encode() for path, text in found.items()}
