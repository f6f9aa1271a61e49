"""A page of wrapped, styled text for a terminal or a pipe: what all text output is written on.

Everything is built as styled text, never as markup. Without colour the same characters are printed; where the
output cannot show the drawing characters, plain ASCII stands in.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from failgraph.render.escape import terminal

WIDTH: Final = 80
"""Columns in a pipe."""
MIN_WIDTH: Final = 50
"""Narrower terminals break the lines themselves."""
MAX_WIDTH: Final = 110
"""Longer lines than this are hard to read."""
MIN_ROOM: Final = 20
"""Columns that words get, however deep they are indented."""
INDENT: Final = 2


@dataclass(frozen=True)
class Surface:
    """What is printed on: columns, whether it takes colour, whether it shows more than ASCII."""

    width: int = WIDTH
    color: bool = False
    unicode: bool = True


PIPE: Final = Surface()


@dataclass(frozen=True)
class Symbols:
    """The characters that are drawn with."""

    full: str
    empty: str
    observed: str
    inferred: str
    missing: str
    bullet: str
    times: str
    divided: str


UNICODE: Final = Symbols("█", "·", "●", "◌", "○", "•", "×", "÷")
ASCII: Final = Symbols("#", ".", "*", "~", "o", "-", "x", "/")


class Page:
    """Collects lines; :meth:`text` returns them."""

    def __init__(self, surface: Surface = PIPE) -> None:
        from rich.console import Console

        self._buffer = io.StringIO()
        self._unicode = surface.unicode
        self._started = False
        self.symbols = UNICODE if surface.unicode else ASCII
        self.console = Console(
            file=self._buffer,
            width=min(max(surface.width, MIN_WIDTH), MAX_WIDTH),
            force_terminal=surface.color,
            no_color=not surface.color,
            color_system="standard" if surface.color else None,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    def text(self) -> str:
        """Return everything that was printed; no line ends in blanks."""
        text = self._buffer.getvalue()
        if not self._unicode:
            text = text.encode("ascii", "backslashreplace").decode("ascii")
        return "".join(f"{line.rstrip()}\n" for line in text.splitlines())

    def styled(self, parts: Iterable[tuple[str, str]], *, indent: int = 0, hang: int = 0) -> None:
        """Print parts (text, style), wrapped: ``hang`` columns are kept free below the first line."""
        from rich.text import Text

        self._started = True
        text = Text.assemble(*parts, end="")
        room = max(MIN_ROOM, self.console.width - indent - hang)
        first, rest = (text[:hang], text[hang:]) if hang else (Text(""), text)
        for number, line in enumerate(rest.wrap(self.console, room) or [Text("")]):
            line.rstrip()
            lead = first if number == 0 else Text(" " * hang)
            self.console.print(
                Text.assemble(" " * indent, lead, line), soft_wrap=True, overflow="ignore", no_wrap=True
            )

    def paragraph(self, mark: str, words: str, style: str = "", *, indent: int = 0) -> None:
        """Print words from outside, wrapped, hanging behind the mark."""
        self.styled([(mark, ""), (terminal(words), style)], indent=indent, hang=len(mark))

    def heading(self, words: str) -> None:
        """Print a heading, with an empty line before it unless it is the first line."""
        if self._started:
            self.console.print()
        self.styled([(words, "bold")])
