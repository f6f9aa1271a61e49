"""Text from outside made harmless, one function per surface.

Log lines, notes and site packs may hold anything. What they hold is data: it must not colour a terminal, open a
link in a ticket, close a quotation in a drawing or hide in a direction mark.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that print nothing of themselves: controls, directions, surrogates, unassigned."""
_MARKDOWN: Final = re.compile(r"([\\`*_\[\]|~$>@]|(?<=\w):(?=//)|(?<=www)\.|^[-+=#])")
_ORDERED: Final = re.compile(r"^(\d+)([.)])(?=\s|$)")


def one_line(text: str) -> str:
    r"""Return the text on one line, without anything a terminal or a viewer would obey.

    Tabs and line ends become one space each; other control characters, direction marks and the like are shown
    as escapes.

    >>> one_line("ok\x1b[31m red\tand\nnew")
    'ok\\x1b[31m red and new'
    """
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character in "\t\n\r":
        return " "
    if character == "\u00a0":
        return " "
    if unicodedata.category(character) not in _INVISIBLE:
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def terminal(text: str) -> str:
    """Return the text for a terminal; it is put into styled text as it is, never read as rich markup."""
    return one_line(text)


def markdown(text: str) -> str:
    r"""Return the text for the running prose of a Markdown file: no markup, no HTML, no link, no list.

    >>> markdown("<b>*hi*</b> [x](http://y)")
    '&lt;b&gt;\\*hi\\*&lt;/b&gt; \\[x\\](http\\://y)'
    """
    plain = one_line(text).strip().replace("&", "&amp;").replace("<", "&lt;")
    escaped = _MARKDOWN.sub(r"\\\1", plain).replace("\\>", "&gt;")
    return _ORDERED.sub(r"\1\\\2", escaped)


def markdown_code(text: str) -> str:
    """Return the text as a code span of Markdown, fenced longer than any run of backticks in it.

    >>> markdown_code("a `b` c")
    '``a `b` c``'
    """
    plain = one_line(text)
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") or not plain.strip() else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def mermaid(text: str) -> str:
    """Return the text for a quoted Mermaid label: everything but letters, digits and a few marks as entity codes.

    >>> mermaid('a"]; click b <script>')
    'a#34;#93;#59; click b #60;script#62;'
    """
    return "".join(
        character if character.isalnum() or character in " .,-_/" else f"#{ord(character)};"
        for character in one_line(text)
    )


def dot(text: str) -> str:
    r"""Return the text for a quoted DOT string.

    >>> dot('a" -> b [label=\\N]')
    'a\\" -> b [label=\\\\N]'
    """
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"')
