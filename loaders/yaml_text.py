"""Writes YAML in one canonical form: the same data always gives the same text, and it reads well.

The form: two spaces of indentation, lists indented under their key, one list item a line, except that a list of
short words (ids) stands in brackets; a scalar is written bare where YAML reads it back as the same text, else in
single quotes, else as a block or in double quotes; prose is folded at the width, a :class:`Verbatim` never is.
Nothing is ever written as an anchor, alias or tag. Needs no YAML library.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

WIDTH: Final = 110
"""Lines are folded so that they stay within this many characters, where that is possible."""

# What YAML 1.1 reads as something other than text when it stands bare.
_NOT_TEXT: Final = re.compile(
    r"""(?ix)
    ~ | null | true | false | yes | no | on | off | y | n | <<
    | [-+]? \.? [0-9] [0-9_,.:]* (?: e [-+]? [0-9]* )?      # integers, floats, base 60
    | 0 [xob] [0-9a-f_]+ | [-+]? \. (?: inf | nan )
    | [0-9]{4} - [0-9]{1,2} - [0-9]{1,2} .*                 # dates
    """
)
_BARE_START: Final = re.compile(r"[A-Za-z0-9_./(\\$+<;^~]")
_BARE_BREAKS: Final = re.compile(r": |:$| #|[\x00-\x1f\x7f-\x9f\ufeff\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_FLOW_BREAKS: Final = re.compile(r"[\[\]{},]|:(?![^\s])")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_WORD: Final = re.compile(r"[A-Za-z0-9_./-]+(?::[A-Za-z0-9_./-]+)*")
_FOLD: Final = re.compile(r"(?<=[^ ]) (?=[^ ])")
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class Verbatim(str):
    """Text that is never folded: a regular expression, a command, a log line."""

    __slots__ = ()


class Rows(dict[str, float]):
    """A mapping of words to numbers that stands in braces: a row for each part before the first dot."""


def dump(data: object) -> str:
    """Return data as YAML text in canonical form, ending in a newline.

    Args:
        data: mappings with string keys, sequences, text, numbers, truth values and None, nested.

    Raises:
        TypeError: the data holds something else.
        ValueError: a number is infinite or not a number.
    """
    if isinstance(data, Mapping) and data:
        return "\n".join(_mapping_lines(data, 0)) + "\n"
    if isinstance(data, Sequence) and not isinstance(data, str) and data:
        return "\n".join(_list_lines(data, 0)) + "\n"
    return "\n".join(_scalar_lines("", data, 2)) + "\n"


def _mapping_lines(data: Mapping[str, object], indent: int) -> Iterator[str]:
    for key, value in data.items():
        if not isinstance(key, str):
            raise TypeError(f"a key must be text, not {type(key).__name__}")
        yield from _entry_lines(" " * indent + _one_line(key, in_key=True) + ":", value, indent)


def _entry_lines(head: str, value: object, indent: int) -> Iterator[str]:
    """Yield the lines of ``key: value``, where head is the indented key and its colon."""
    if isinstance(value, Rows) and value:
        yield from _flow_rows(head, value, indent)
    elif isinstance(value, Mapping) and value:
        yield head
        yield from _mapping_lines(value, indent + 2)
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        if all(isinstance(item, str) and _is_flow_word(item) for item in value):
            yield from _flow_words(head, [str(item) for item in value], indent)
        else:
            yield head
            yield from _list_lines(value, indent + 2)
    else:
        yield from _scalar_lines(head + " ", value, indent + 2)


def _list_lines(items: Sequence[object], indent: int) -> Iterator[str]:
    dash = " " * indent + "- "
    for item in items:
        if isinstance(item, Mapping) and item:
            lines = _mapping_lines(item, indent + 2)
            yield dash + next(lines)[indent + 2 :]
            yield from lines
        elif isinstance(item, Sequence) and not isinstance(item, str) and item:
            yield " " * indent + "-"
            yield from _list_lines(item, indent + 2)
        else:
            yield from _scalar_lines(dash, item, indent + 2)


def _flow_words(head: str, words: Sequence[str], indent: int) -> Iterator[str]:
    """Yield ``key: [a, b, c]``, folded between words."""
    line = head + " ["
    for position, word in enumerate(words):
        piece = word + ("]" if position == len(words) - 1 else ",")
        if not position:
            line += piece
        elif len(line) + 1 + len(piece) <= WIDTH:
            line += " " + piece
        else:
            yield line
            line = " " * (indent + 2) + piece
    yield line


def _flow_rows(head: str, rows: Rows, indent: int) -> Iterator[str]:
    """Yield ``key: {a.x: 0.5, ...}``, one row a group, long rows folded."""
    line, group = head + " {", None
    for position, (key, value) in enumerate(rows.items()):
        piece = f"{_one_line(key, in_key=True)}: {_number(value)}" + (
            "}" if position == len(rows) - 1 else ","
        )
        row = key.split(".", 1)[0]
        if not position:
            line += piece
        elif row == group and len(line) + 1 + len(piece) <= WIDTH:
            line += " " + piece
        else:
            yield line
            line = " " * (indent + 2) + piece
        group = row
    yield line


def _scalar_lines(head: str, value: object, indent: int) -> Iterator[str]:
    """Yield head and a scalar (or an empty list or mapping); its further lines stand at indent."""
    if value is None:
        yield head + "null"
    elif isinstance(value, bool):
        yield head + ("true" if value else "false")
    elif isinstance(value, int | float):
        yield head + _number(value)
    elif isinstance(value, str):
        yield from _text_lines(head, value, indent)
    elif isinstance(value, Mapping):
        yield head + "{}"
    elif isinstance(value, Sequence):
        yield head + "[]"
    else:
        raise TypeError(f"cannot write {type(value).__name__} as YAML")


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise ValueError(f"cannot write {value} as YAML: only finite numbers")
    text = repr(value)
    mantissa, exponent_mark, exponent = text.partition("e")
    if exponent_mark and "." not in mantissa:
        # YAML 1.1 takes 1e-05 for text; it must have a point.
        return f"{mantissa}.0e{exponent}"
    return text


def _text_lines(head: str, text: str, indent: int) -> Iterator[str]:
    if "\n" in text and _fits_block(text):
        body = text.split("\n")
        keep = "-"
        if text.endswith("\n"):
            body.pop()
            keep = "+" if text.endswith("\n\n") else ""
        yield f"{head}|{keep}"
        for line in body:
            yield (" " * indent + line) if line else ""
        return
    written = _one_line(text)
    if isinstance(text, Verbatim) or written.startswith('"') or len(head) + len(written) <= WIDTH:
        yield head + written
        return
    line = head
    started = False
    for piece in _FOLD.split(written):
        if not started:
            line, started = line + piece, True
        elif len(line) + 1 + len(piece) <= WIDTH:
            line += " " + piece
        else:
            yield line
            line = " " * indent + piece
    yield line


def _fits_block(text: str) -> bool:
    """Tell whether text of several lines can stand as a literal block."""
    lines = text.split("\n")
    first = next((line for line in lines if line), "")
    return (
        bool(first)
        and bool(lines[0])
        and not first.startswith(" ")
        and "\t" not in text
        and not _UNPRINTABLE.search(text)
        and not any(line.endswith(" ") or (line and not line.strip()) for line in lines)
    )


def _one_line(text: str, *, in_key: bool = False) -> str:
    """Return a scalar on one line: bare, single-quoted or double-quoted."""
    if _is_bare(text) and not (in_key and _FLOW_BREAKS.search(text)):
        return str(text)
    if _UNPRINTABLE.search(text) or "\n" in text or "\t" in text:
        return '"' + "".join(_escape(character) for character in text) + '"'
    return "'" + text.replace("'", "''") + "'"


def _is_bare(text: str) -> bool:
    return (
        bool(_BARE_START.match(text))
        and not text.endswith(" ")
        and not _BARE_BREAKS.search(text)
        and not _NOT_TEXT.fullmatch(text)
        and not text.startswith("...")
    )


def _is_flow_word(text: str) -> bool:
    return bool(_WORD.fullmatch(text)) and _is_bare(text) and not isinstance(text, Verbatim)


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if not _UNPRINTABLE.match(character):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
