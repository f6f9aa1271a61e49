"""Tells prose from pasted output in plain text, line by line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from failgraph.loaders.notes import Part, Passage
from failgraph.loaders.parsers.text import TextParser
from failgraph.schema.exchange import State

LARGEST_PROSE: Final = 256 * 1024
"""Prose is looked for in texts up to this many bytes; a larger text is output of some program."""

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_COLUMNS: Final = re.compile(r"\t|\S {3,}\S")
_SYMBOLS: Final = re.compile(r"[=<>{}\[\]|\\_#$@^~]|::|0x[0-9a-fA-F]")
_JOINING: Final = re.compile(
    r"\b(?:an?|the|is|are|was|were|be|been|has|have|had|do|does|did|not?|none|never|nothing|all|any|every|each|only|one|two"
    r"|some|most|of|on|in|at|to|for|from|with|without|by|after|before|during|since|until|when|while|if|because|then|than"
    r"|as|and|or|but|its?|they|this|that|these|those|we|our|my|there|here|still|again|always|sometimes|just|about|into"
    r"|over|under|same|other|both|more|less|fine|normal)\b",
    re.IGNORECASE,
)
_LEAST_WORDS: Final = 3
_MOST_SYMBOLS: Final = 0.04
_LEAST_LETTERS: Final = 0.7
_PREVAILING: Final = 1.5
_PARSER: Final = TextParser(())


def is_prose(line: str, *, strict: bool = True) -> bool:
    """Return whether a line reads like a sentence and not like output of a program.

    Args:
        line: the line.
        strict: it must have a few words, among them one of those that sentences are made with.

    >>> is_prose("All ranks hang, one GPU is idle.")
    True
    >>> is_prose("NVRM: Xid (PCI:0000:52:00): 79, GPU has fallen off the bus.")
    False
    """
    text = line.strip()
    words = _WORD.findall(text)
    if len(words) < (_LEAST_WORDS if strict else 1):
        return False
    if _COLUMNS.search(text) or is_log(text):
        return False
    if len(_SYMBOLS.findall(text)) > max(1, len(text) * _MOST_SYMBOLS):
        return False
    letters = sum(1 for character in text if character.isalpha() or character in " ,.'’-")
    if letters < len(text) * _LEAST_LETTERS:
        return False
    return not strict or _JOINING.search(text) is not None


def is_log(line: str) -> bool:
    """Return whether a line begins as those of logs do: with a time, a host, a rank or the kernel's own words."""
    facts = _PARSER.facts(line.encode("utf-8", errors="replace"))
    return facts.start > 0 or facts.kernel


def prose_passages(text: str, *, strict: bool = True) -> list[Passage]:
    """Return the paragraphs of prose in a plain text; lines of logs and other output divide them.

    Tools print sentences, too. So where most lines are neither prose nor log, none is taken for prose.

    Args:
        text: the text.
        strict: see :func:`is_prose`; also, prose must prevail.
    """
    passages: list[Passage] = []
    current: list[str] = []
    fenced = False
    spoken = printed = 0
    lines = text.split("\n")
    for number, line in enumerate([*lines, ""], start=1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and is_prose(line, strict=strict):
            if current and _begins_item(line):
                passages.append(_passage(current, number))
                current = []
            current.append(line)
            spoken += 1
            continue
        elif not fenced and line.strip() and not is_log(line.strip()):
            printed += 1
        if current:
            passages.append(_passage(current, number))
            current = []
    return [] if strict and spoken < printed * _PREVAILING else passages


def _begins_item(line: str) -> bool:
    return re.match(r"\s*(?:[-*•]|\d{1,3}[.)])\s", line) is not None


def _passage(lines: Sequence[str], next_line: int) -> Passage:
    text = "\n".join(re.sub(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+", "", line).strip() for line in lines)
    return Passage(text, next_line - len(lines), next_line - 1, State.PRESENT, Part.PROSE)
