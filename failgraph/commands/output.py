"""What commands share when they print: formats, colour, width, and progress on a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from failgraph.schema.exchange import Answer, to_json
from failgraph.settings import color_wanted, invocation

if TYPE_CHECKING:
    from failgraph.render.page import Surface

PROGRESS_AFTER: Final = 1.0
"""Seconds of work after which a progress bar appears."""


class AnswerFormat(StrEnum):
    """How an answer is printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "md"


class TableFormat(StrEnum):
    """How a list is printed."""

    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[AnswerFormat, typer.Option("--format", help="text, json, or md for a ticket.")]
TopOption = Annotated[int, typer.Option("--top", min=1, max=1000, help="How many classes the ranking lists.")]


def write(text: str) -> None:
    """Write the result of a command to standard output."""
    sys.stdout.write(text)


def note(sentence: str) -> None:
    """Write a remark to standard error, unless --quiet."""
    if invocation().verbosity >= 0:
        from failgraph.render.escape import terminal

        print(terminal(sentence), file=sys.stderr)


def colored() -> bool:
    """Return whether standard output takes colour: a terminal, and nobody said no."""
    return sys.stdout.isatty() and color_wanted()


def width() -> int:
    """Return the columns of the terminal; 80 in a pipe."""
    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80


def surface() -> Surface:
    """Return what standard output is: its columns, whether it takes colour, and its characters."""
    from failgraph.render.page import Surface

    try:
        "█●◌○×÷".encode(sys.stdout.encoding or "ascii")
        unicode = True
    except UnicodeEncodeError:
        unicode = False
    return Surface(width=width(), color=colored(), unicode=unicode)


def write_answer(answer: Answer, output: AnswerFormat, top: int, meanings: Mapping[str, str]) -> None:
    """Print an answer in the wanted format.

    Args:
        answer: what a match gave.
        output: the format.
        top: how many classes the ranking of text and Markdown lists; JSON has all.
        meanings: what each observable id says, in plain words.
    """
    if output is AnswerFormat.JSON:
        write(to_json(answer))
    elif output is AnswerFormat.MARKDOWN:
        from failgraph.render.markdown import render_markdown

        write(render_markdown(answer, top=top, meanings=meanings))
    else:
        from failgraph.render.text import render_text

        write(
            render_text(
                answer,
                top=top,
                meanings=meanings,
                surface=surface(),
                verbose=invocation().verbosity > 0,
            )
        )


@contextmanager
def progress(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function ``report(done, total)`` that draws a bar once the work takes longer than a second.

    Nothing is drawn with --quiet or when standard error is no terminal.

    Args:
        doing: what is being done, as the bar's label.
    """
    if invocation().verbosity < 0 or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    bar = _Bar(doing)
    try:
        yield bar.report
    finally:
        bar.close()


class _Bar:
    """A progress bar that appears late and leaves nothing behind."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self.started = time.monotonic()
        self.bar: Any = None
        self.task: Any = None

    def report(self, done: int, total: int) -> None:
        """Show how far the work is."""
        if self.bar is None:
            if time.monotonic() - self.started < PROGRESS_AFTER:
                return
            from rich.console import Console
            from rich.progress import Progress

            self.bar = Progress(console=Console(stderr=True, no_color=not color_wanted()), transient=True)
            self.bar.start()
            self.task = self.bar.add_task(self.doing, total=total or None)
        self.bar.update(self.task, completed=done, total=total or None)

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.stop()
