"""YAML read as plainly as JSON: no aliases, no tags, no key twice, numbers as they were written.

Plain words follow the core schema of YAML 1.2: ``no`` and ``12:30`` are texts, and so is ``010``,
which is eight to some readers and ten to others.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from paretosoc.common.files import naming
from paretosoc.common.text import has_control_characters
from paretosoc.dse.errors import WorkloadError
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import exact_decimal, exact_integer

MAX_NODES = 50_000
"""Maximum number of keys and values, for which PyYAML takes a second."""

_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z", re.ASCII)
_DECIMAL = re.compile(
    r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z", re.ASCII
)
_WORDS = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_PLAIN, _QUOTED = "plain", "quoted"


def parse_yaml(data: bytes, label: str) -> Any:
    """Return the one document in ``data`` with numbers as ``int`` or ``Decimal``, or None if it is
    empty.

    Raises:
        WorkloadError: if it is not UTF-8 YAML of the kind above. The message begins with ``label``.
    """
    import yaml

    try:
        return _value(yaml.compose(data.decode("utf-8-sig"), Loader=_loader()), label)
    except UnicodeDecodeError:
        raise WorkloadError(f"{label}: must be YAML in UTF-8, got other bytes") from None
    except RecursionError:
        raise WorkloadError(f"{label}: must be YAML of moderate depth, got deeper") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        raise WorkloadError(f"{label}: must be YAML: {_one_line(problem)}{place}") from None
    except yaml.YAMLError as error:
        raise WorkloadError(f"{label}: must be YAML: {_one_line(str(error))}") from None
    except (ValueError, OverflowError) as error:
        if isinstance(error, WorkloadError):
            raise
        # PyYAML lets an escape such as "\UFFFFFFFF" pass on to chr().
        raise WorkloadError(f"{label}: must be YAML: {_one_line(str(error))}") from None


@cache
def _loader() -> Any:
    """Return PyYAML's parser, changed to compose nodes without distinguishing numbers from texts or
    following aliases. A few hundred bytes of aliases unfold to gigabytes."""
    import yaml

    refusal: Any = yaml.composer.ComposerError

    class Loader(yaml.SafeLoader):
        nodes = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            self.nodes += 1
            if self.nodes > MAX_NODES:
                problem = f"more than {MAX_NODES} entries are not taken"
                raise refusal(None, None, problem, event.start_mark)
            if isinstance(event, yaml.AliasEvent):
                problem = f"alias *{event.anchor} is not taken, write it out"
                raise refusal(None, None, problem, event.start_mark)
            return super().compose_node(parent, index)

        def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
            if kind is yaml.ScalarNode:
                return _PLAIN if implicit[0] else _QUOTED
            return ""

    return Loader


def _value(node: Any, label: str) -> Any:
    import yaml

    if node is None:
        return None
    line = f"{label}: line {node.start_mark.line + 1}"
    if isinstance(node, yaml.ScalarNode) and node.tag in (_PLAIN, _QUOTED):
        if has_control_characters(node.value):
            raise WorkloadError(
                f"{line}: texts must not have control characters, got {_shown(node.value)}"
            )
        return node.value if node.tag == _QUOTED else _plain(node.value, line)
    if isinstance(node, yaml.SequenceNode) and node.tag == "":
        return [_value(item, label) for item in node.value]
    if isinstance(node, yaml.MappingNode) and node.tag == "":
        result: dict[str, Any] = {}
        for key_node, item in node.value:
            line = f"{label}: line {key_node.start_mark.line + 1}"
            key = _value(key_node, label)
            if not isinstance(key, str):
                raise WorkloadError(f"{line}: keys must be texts, got {_shown(key_node.value)}")
            if key in result:
                raise WorkloadError(f"{line}: key {_shown(key)} is there twice in one mapping")
            result[key] = _value(item, label)
        return result
    tag = node.tag.replace("tag:yaml.org,2002:", "!!")
    raise WorkloadError(f"{line}: tags are not taken, got {_shown(tag)}")


def _plain(text: str, line: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    with naming(line, WorkloadError, PlatformError):
        if _WHOLE.match(text):
            return exact_integer(text)
        if _DECIMAL.match(text):
            return exact_decimal(text)
    return text


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else "a list or mapping"
    return text if len(text) <= 60 else text[:57] + "..."


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
