"""Reads incident notes: Markdown whose sections say how what they hold stands.

Items and paragraphs under "Observed" and under headings we do not know were seen; under "Checked and normal" they
were looked for and not there; what is under "Learnt later" (root causes, action items and the like) was not known
when the incident was first reported, and is left out. Code is an excerpt of some artefact: it was seen, wherever it
stands. Links, raw HTML and images are text at most; nothing is followed or run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from failgraph.loaders.parsers.note import NOTE_KEYS, front_matter_end, is_own
from failgraph.schema.errors import Location, UsageError
from failgraph.schema.exchange import Context, State
from failgraph.schema.nodes import IncidentStatus

if TYPE_CHECKING:
    from markdown_it.token import Token

LONGEST_NOTE: Final = 256 * 1024
"""Only so many bytes of a note are read as Markdown."""

_LATER: Final = re.compile(
    r"(?:learn(?:ed|t) later|root causes?|action items?|lessons? learn(?:ed|t)|resolution|remediation|remedy|fix(?:es)?|prevention"
    r"|follow[- ]?ups?|what went (?:well|wrong)|where we got lucky)\b",
    re.IGNORECASE,
)
_NORMAL: Final = re.compile(r"checked and (?:normal|fine|ok|healthy)\b", re.IGNORECASE)
# A date without quotes is no text to YAML, but what else should stand behind "opened:".
_BARE_DATE: Final = re.compile(
    rb"^(\s*(?:- +)?(?:[\w-]+: +)?)(\d{4}-\d\d-\d\d(?:[T ]\d\d?:\d\d[\d:.]*(?: ?(?:Z|[+-]\d\d?(?::?\d\d)?))?)?)(\s*(?: #.*)?)$",
    re.MULTILINE,
)


class _Front(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NoteCause(_Front):
    """Classes that are the confirmed cause, and classes that come close."""

    accept: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


class NoteWindow(_Front):
    """Start and end of the incident."""

    start: str
    end: str


class FrontMatter(_Front):
    """The front matter of a note; every key may be left out."""

    id: str | None = None
    title: str | None = None
    opened: str | None = None
    closed: str | None = None
    status: IncidentStatus | None = None
    space: str | None = None
    context: Context = Context()
    window: str | NoteWindow | None = None
    cause: NoteCause = NoteCause()
    confirmed_by: str | None = None
    interventions: list[Any] = Field(default_factory=list)
    timeline: list[Any] = Field(default_factory=list)
    entities: list[Any] | dict[str, Any] = Field(default_factory=list)
    fix: str | list[str] | None = None
    prevention: str | list[str] | None = None
    sources: list[str] = Field(default_factory=list)

    @property
    def window_text(self) -> str | None:
        """The window in the form START/END or START/DURATION."""
        if isinstance(self.window, NoteWindow):
            return f"{self.window.start}/{self.window.end}"
        return self.window


class Part(StrEnum):
    """What a line of a note is."""

    PROSE = "prose"
    CODE = "code"


@dataclass(frozen=True)
class Passage:
    """A paragraph, a list item, a table cell or a piece of code.

    Attributes:
        text: without the marks of Markdown; code as it stands.
        line: number of its first line in the file.
        last_line: number of its last line.
        state: present or absent, by the section.
        part: prose or code.
    """

    text: str
    line: int
    last_line: int
    state: State
    part: Part


@dataclass(frozen=True)
class Note:
    """An incident note.

    Attributes:
        front: its front matter.
        passages: what it says, in order, without what was learnt later.
        lines: number of lines of the file.
        truncated: it was too long to be read to its end.
    """

    front: FrontMatter
    passages: tuple[Passage, ...]
    lines: int
    truncated: bool = False


def read_note(raw: bytes, name: str) -> Note:
    """Return the note that a Markdown text holds.

    Args:
        raw: the text.
        name: the file, relative to the argument, for messages.

    Raises:
        UsageError: the front matter of one of our notes has an unknown key or a wrong value.
        PackError: the front matter is not the plain YAML that failgraph takes.
    """
    truncated = len(raw) > LONGEST_NOTE
    text = raw[:LONGEST_NOTE].decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    end = front_matter_end(lines)
    front = FrontMatter()
    body_start = 0
    if end is not None:
        body_start = end + 1
        if is_own(lines):
            front = _front_matter("\n".join(["", *lines[1:end], ""]), name)
    passages = tuple(_passages("\n".join(lines[body_start:]), body_start))
    return Note(front, passages, raw.count(b"\n") + (not raw.endswith(b"\n")), truncated)


def _front_matter(text: str, name: str) -> FrontMatter:
    from failgraph.loaders.yaml_file import parse_yaml

    if not text.strip():
        return FrontMatter()
    document = parse_yaml(_BARE_DATE.sub(rb"\1'\2'\3", text.encode()), name)
    if not isinstance(document.data, dict):
        raise UsageError(
            "the front matter of a note is a list of `key: value` lines; write it so",
            location=Location(name, 2, 1),
        )
    try:
        return FrontMatter.model_validate(document.data)
    except ValidationError as error:
        problem = error.errors()[0]
        steps = [step for step in problem["loc"] if step in _known_steps(document.data, problem["loc"])]
        if problem["type"] == "extra_forbidden":
            key = str(problem["loc"][-1])
            known = ", ".join(sorted(NOTE_KEYS)) if len(problem["loc"]) == 1 else "fewer keys"
            raise UsageError(
                f"a note has no key `{key}` here; known are {known}",
                location=document.location(steps, of_key=True),
            ) from error
        where = ".".join(str(step) for step in steps) or "the front matter"
        raise UsageError(
            f"`{where}` is not right: {problem['msg'][0].lower()}{problem['msg'][1:]}",
            location=document.location(steps),
        ) from error


def _known_steps(data: Any, steps: tuple[int | str, ...]) -> list[int | str]:
    """Return the steps that lead somewhere; pydantic also names the branch of a union that failed."""
    known: list[int | str] = []
    for step in steps:
        in_mapping = isinstance(data, Mapping) and step in data
        if in_mapping or (isinstance(data, list) and isinstance(step, int) and step < len(data)):
            data = data[step]
            known.append(step)
    return known


def _passages(text: str, offset: int) -> Iterator[Passage]:
    """Yield the passages of Markdown; ``offset`` lines stand before it in the file."""
    from markdown_it import MarkdownIt

    section: State | None = State.PRESENT
    levels: list[tuple[int, State | None]] = []
    heading_level = 0
    tokens: list[Token] = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table").parse(text)
    for token in tokens:
        if token.type == "heading_open":
            heading_level = int(token.tag[1:])
        elif token.type == "heading_close":
            heading_level = 0
        elif token.type == "inline" and heading_level:
            while levels and levels[-1][0] >= heading_level:
                levels.pop()
            section = _state_of(token.content, levels[-1][1] if levels else State.PRESENT)
            levels.append((heading_level, section))
        elif section is None or token.map is None:
            continue
        elif token.type == "inline" and (words := _words(token)):
            yield Passage(words, token.map[0] + 1 + offset, token.map[1] + offset, section, Part.PROSE)
        elif token.type in ("fence", "code_block") and token.content.strip():
            first = token.map[0] + 1 + offset + (token.type == "fence")
            last = first + token.content.count("\n") - 1
            yield Passage(token.content, first, max(first, last), State.PRESENT, Part.CODE)


def _state_of(heading: str, outer: State | None) -> State | None:
    """Return how what stands under a heading stands; None: it was learnt later."""
    heading = heading.strip()
    if _LATER.match(heading):
        return None
    if _NORMAL.match(heading):
        return State.ABSENT
    if heading.casefold() == "observed":
        return State.PRESENT
    return outer


def _words(token: Token) -> str:
    """Return the text of a paragraph as a reader sees it; line breaks stay."""
    parts: list[str] = []
    for child in token.children or []:
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type == "image":
            parts.append(child.content)
    return "".join(parts).strip()
