"""Reads YAML safely and remembers where each value stands. The only module that uses PyYAML.

A document is plain data: mappings with text keys, lists, text, whole and decimal numbers, ``true``, ``false`` and
``null``. Whatever makes YAML surprising or dangerous is refused, with file, line, column and what to write
instead: anchors, aliases and merge keys (so nothing can be blown up), tags, duplicate keys, ``yes`` and ``no``,
dates, numbers in base 8 or 60, infinities, several documents, deep nesting and very large files.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from failgraph.loaders.yaml_text import Rows, Verbatim, dump
from failgraph.schema.errors import Location, PackError

if TYPE_CHECKING:
    import yaml

__all__ = ["MAX_BYTES", "MAX_DEPTH", "Document", "Rows", "Verbatim", "dump", "parse_yaml", "read_yaml"]

MAX_BYTES: Final = 8 * 1024 * 1024
"""A larger document is refused."""
MAX_DEPTH: Final = 40
"""Deeper nesting is refused."""

_CORE: Final = "tag:yaml.org,2002:"
_INTEGER: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_DECIMAL: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
# Cheap signs that a document may hold an anchor, an alias or a tag; most that match hold none.
_MARK: Final = re.compile(r"(?:^|[\s\[{,:?-])[&*!][^\s]", re.MULTILINE)
# A parser written in C needs its own stack for nesting; a document that could be nested this deep is measured first.
_DEEP: Final = 2000

Step = str | int
"""One step of a path into a document: a key, the number of a list item, or what a list item is or is named."""

_NAME_KEYS: Final = ("id", "mechanism", "observable", "name")


@dataclass(frozen=True)
class Document:
    """A YAML document: its data, and the place of every value.

    Attributes:
        path: the file as the user named it.
        data: plain data.
    """

    path: str
    data: Any
    _root: Any

    def location(self, steps: Sequence[Step] = (), *, of_key: bool = False) -> Location:
        """Return where the value at the end of the steps stands; where a step leads nowhere, what holds it.

        Args:
            steps: keys and list positions. A text step in a list finds the item that is this text, or the mapping
                in it that this text names.
            of_key: the place of the last key instead of its value.
        """
        import yaml

        node, mark = self._root, self._root.start_mark
        for position, step in enumerate(steps):
            found = None
            if isinstance(node, yaml.MappingNode):
                for key, value in node.value:
                    if key.value == str(step):
                        last = position == len(steps) - 1
                        found, mark = value, (key if of_key and last else value).start_mark
                        break
            elif isinstance(node, yaml.SequenceNode):
                found = _list_item(node, step)
                if found is not None:
                    mark = found.start_mark
            if found is None:
                break
            node = found
        return Location(self.path, mark.line + 1, mark.column + 1)


def _list_item(node: yaml.SequenceNode, step: Step) -> yaml.Node | None:
    import yaml

    items: list[yaml.Node] = node.value
    if isinstance(step, int):
        return items[step] if 0 <= step < len(items) else None
    for item in items:
        if isinstance(item, yaml.ScalarNode) and item.value == step:
            return item
        if isinstance(item, yaml.MappingNode) and any(
            key.value in _NAME_KEYS and value.value == step for key, value in item.value
        ):
            return item
    return None


def read_yaml(path: Path, shown: str | None = None) -> Document:
    """Return a file's document.

    Args:
        path: the file.
        shown: its name in messages; the path itself when not given.

    Raises:
        PackError: it cannot be read, or is not the plain YAML that failgraph takes; the place is with it.
    """
    name = shown or str(path)
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise PackError(
            f"the file cannot be read ({reason}); check its name and its rights", location=Location(name)
        ) from error
    return parse_yaml(raw, name)


def parse_yaml(raw: bytes, name: str) -> Document:
    """Return the document that bytes hold; name stands for the file in messages.

    Raises:
        PackError: it is not the plain YAML that failgraph takes; the place is with it.
    """
    import yaml

    text = _decode(raw, name)
    try:
        if _MARK.search(text) or _may_be_deep(text) or not hasattr(yaml, "CSafeLoader"):
            _check_events(text, name)
        # The safe loader; composing builds no objects.
        root = yaml.compose(text, Loader=_loader())
    except yaml.YAMLError as error:
        raise _translated(error, text, name) from error
    if root is None:
        raise PackError("the file is empty; write its content or remove it", location=Location(name, 1, 1))
    return Document(name, _plain(root, name, 1, set()), root)


def _loader() -> Any:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _decode(raw: bytes, name: str) -> str:
    if len(raw) > MAX_BYTES:
        raise PackError(
            f"the file is larger than {MAX_BYTES // 1024 // 1024} MB; split it into several files",
            location=Location(name),
        )
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8")) + 1
        raise PackError(
            f"byte 0x{raw[error.start]:02x} is not UTF-8 text; save the file as UTF-8",
            location=Location(name, line, column),
        ) from error
    return text.removeprefix("\ufeff")


def _may_be_deep(text: str) -> bool:
    """Tell whether nesting could be deep: brackets nest flow, columns nest blocks, two levels a column at most."""
    longest = max(map(len, text.split("\n")))
    return text.count("[") + text.count("{") + 2 * longest > _DEEP


def _check_events(text: str, name: str) -> None:
    """Refuse what only the parser's events tell: anchors, aliases, tags, and nesting that would cost the stack."""
    import yaml

    depth = 0
    events: Iterator[Any] = yaml.parse(text, Loader=_loader())
    for event in events:
        place = Location(name, event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.AliasEvent):
            raise PackError(
                f"`*{event.anchor}` is an alias; write the value out, aliases are not allowed", location=place
            )
        if getattr(event, "anchor", None):
            raise PackError(
                f"`&{event.anchor}` is an anchor; remove it, anchors and aliases are not allowed",
                location=place,
            )
        if getattr(event, "tag", None):
            raise PackError(
                f"`{event.tag}` is a tag; remove it, tags are not allowed (quotes make a value text)",
                location=place,
            )
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise _too_deep(place)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _too_deep(place: Location) -> PackError:
    return PackError(f"nested deeper than {MAX_DEPTH} levels; flatten it", location=place)


def _translated(error: yaml.YAMLError, text: str, name: str) -> PackError:
    """Return a YAML library's error in our words."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        place = Location(name, mark.line + 1, mark.column + 1)
    else:
        # The reader's errors carry an offset only.
        offset = min(getattr(error, "position", 0) or 0, len(text))
        place = Location(
            name, text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1
        )
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error).split("\n")[0]
    if "nesting depth" in problem:
        return _too_deep(place)
    if "\\t" in problem or "'\t'" in problem or _tab_indents(text, place.line):
        return PackError("a tab stands where spaces belong; indent with spaces", location=place)
    if "expected a single document" in str(error) or problem.startswith("but found another document"):
        return PackError("a second document begins here; put it into a file of its own", location=place)
    if "control characters are not allowed" in problem or "special characters are not allowed" in problem:
        return PackError(
            "a control character stands in the file, which is not text; remove it or write it as \\x.. in quotes",
            location=place,
        )
    return PackError(
        f"this is not valid YAML ({problem}); mend it, or put the value in single quotes", location=place
    )


def _tab_indents(text: str, line: int) -> bool:
    lines = text.split("\n")
    return (
        0 < line <= len(lines)
        and "\t" in lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
    )


def _plain(node: yaml.Node, name: str, depth: int, seen: set[int]) -> Any:
    """Return the plain data of a node; stops at the first thing that is not allowed.

    ``seen`` holds the lists and mappings that were met: an alias would bring one back, and could be blown up.
    """
    import yaml

    if isinstance(node, yaml.ScalarNode):
        return node.value if node.tag == _CORE + "str" else _scalar(node, name)
    if depth > MAX_DEPTH:
        raise _too_deep(_place(node, name))
    if id(node) in seen:
        raise PackError(
            "an alias leads here; write the value out where it is used", location=_place(node, name)
        )
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, name, depth + 1, seen) for item in node.value]
    return dict(_entries(node, name, depth, seen))


def _entries(node: yaml.Node, name: str, depth: int, seen: set[int]) -> Iterator[tuple[str, Any]]:
    first: dict[str, int] = {}
    for key, value in node.value:
        if key.tag == _CORE + "merge":
            raise PackError("`<<` merges are not allowed; write the keys out", location=_place(key, name))
        if key.tag != _CORE + "str":
            shown = f"`{key.value}`" if isinstance(key.value, str) else "a list or mapping"
            raise PackError(
                f"{shown} as a key is not text; put it in quotes if it is meant as a name",
                location=_place(key, name),
            )
        if key.value in first:
            raise PackError(
                f"key `{key.value}` stands twice (first on line {first[key.value]}); keep one of the two",
                location=_place(key, name),
            )
        first[key.value] = key.start_mark.line + 1
        yield key.value, _plain(value, name, depth + 1, seen)


def _scalar(node: yaml.ScalarNode, name: str) -> bool | int | float | None:
    """Return the value of a scalar that YAML does not read as text."""
    text: str = node.value
    kind = node.tag.removeprefix(_CORE)
    if kind == "null":
        return None
    if kind == "bool" and text in ("true", "false"):
        return text == "true"
    if kind == "int" and _INTEGER.fullmatch(text):
        return int(text)
    if kind == "float" and _DECIMAL.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    what = {
        "bool": f"YAML reads `{text}` as a truth value; write true or false, or put it in quotes if it is text",
        "int": f"`{text}` is not a plain whole number; write it in base 10, or put it in quotes if it is text",
        "float": f"`{text}` is not a finite decimal number; write one, or put it in quotes if it is text",
        "timestamp": f"YAML reads `{text}` as a date; put it in quotes",
        "merge": "`<<` merges are not allowed; write the keys out",
    }.get(kind, f"`{text}` is not text or a number; put it in quotes")
    raise PackError(what, location=_place(node, name))


def _place(node: yaml.Node, name: str) -> Location:
    return Location(name, node.start_mark.line + 1, node.start_mark.column + 1)
