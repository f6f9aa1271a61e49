"""Prose into statements: sentences, list items, clauses and log lines, each with its place in the text.

Splitting is linear in the length of the text and leaves paths, versions, decimals, quoted code and log lines whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple


class Clause(NamedTuple):
    """One statement: its text, where it begins in the whole (character offset), and whether it is a question."""

    text: str
    offset: int
    question: bool = False


MAX_CLAUSE: Final = 1200
"""Characters of a clause that are read; a longer one (a minified dump, a base64 blob) is cut here."""

_LINE = re.compile(r"\n+|[^\n]+\n?")
_ITEM = re.compile(r"\s*(?:>\s?)*(?:[-*+•]\s+|\d{1,2}[.)]\s+|#{1,6}\s+|\[[ xX]\]\s+)*")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_MARKED = re.compile(r"\s*(?:[-*+•>#|]|\d{1,2}[.)]\s)")
_CAPITAL = re.compile(r"\s*[A-Z0-9\[\"'`(]")
_WRAPPED: Final = 60
"""A line of prose shorter than this was ended by its writer; a longer one may have been wrapped."""
_ABBREVIATED: Final = (
    "e.g eg i.e ie vs approx ca cf etc incl nr fig min max avg resp dept st dr mr ms mrs prof inc ltd al"
)
_ABBREVIATIONS: Final = frozenset(_ABBREVIATED.split())
_SENTENCE = re.compile(r"([.!?]+)[\"')\]]*(?:\s+[.!?]+)*(?=\s|$)")
_CLAUSE = re.compile(
    r"""
      ;(?=\s)
    | \s(?:--|–|—|->|=>|→)(?=\s)
    | ,?\s(?=(?:but|while|whereas|although|though|however|except\sthat)\s)
    | ,\s(?=(?:and\s|or\s)?(?:no|not|nothing|nobody|none|never|neither|without|zero)\b)
    | \s(?=and\s(?:no|nothing|nobody|none|never|neither|without|zero)\b)
    | ,\s(?=(?:then|so|which|after\swhich|and\sthen|and\sthe|and\sall|yet)\s)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LAST_WORD = re.compile(r"[\w.]+$")


def split_clauses(text: str) -> Iterator[Clause]:
    """Yield the statements of a text in order; lines inside a code fence are one statement each.

    >>> [clause.text for clause in split_clauses("Loss is fine, but v2.1 hangs after 3.5 h. No Xid; ports up.")]
    ['Loss is fine', 'but v2.1 hangs after 3.5 h', 'No Xid', 'ports up']
    """
    for block, offset, is_code in _blocks(text):
        if is_code:
            if block.strip():
                yield _clause(block, offset, question=False)
            continue
        for start, end, question in _sentences(block):
            cut = counted = start
            ticks = quotes = 0
            for match in _CLAUSE.finditer(block, start, end):
                at = match.start()
                ticks += block.count("`", counted, at)
                quotes += block.count('"', counted, at)
                counted = at
                if ticks % 2 or quotes % 2:
                    continue
                if block[cut:at].strip():
                    yield _clause(block[cut:at], offset + cut, question=question)
                cut = match.end()
            if block[cut:end].strip(" \t\n.!?"):
                yield _clause(block[cut:end], offset + cut, question=question)


def _clause(text: str, offset: int, *, question: bool) -> Clause:
    """Return the clause without the white space and full stops around it."""
    lead = len(text) - len(text.lstrip())
    return Clause(text.strip()[:MAX_CLAUSE].rstrip(".!? \t\n"), offset + lead, question)


def _blocks(text: str) -> Iterator[tuple[str, int, bool]]:
    """Yield paragraphs and list items (markers left out) with their offset; fenced lines one by one."""
    start = end = 0
    fenced = False
    previous = ""
    for match in _LINE.finditer(text):
        line, at = match.group(), match.start()
        if _FENCE.match(line):
            if end > start:
                yield text[start:end], start, False
            start = end = match.end()
            fenced = not fenced
            continue
        if fenced:
            yield line, at, True
            start = end = match.end()
            continue
        opens = (
            not line.strip()
            or _MARKED.match(line)
            or previous.rstrip()[-1:] in ".:;!?"
            or (len(previous) < _WRAPPED and _CAPITAL.match(line))
        )
        previous = line
        if opens or end - start > MAX_CLAUSE:
            if end > start:
                yield text[start:end], start, False
            marker = _ITEM.match(line)
            start = at + (marker.end() if marker else 0)
        end = match.end()
    if end > start:
        yield text[start:end], start, False


def _sentences(block: str) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of the sentences of a block, and whether each is a question."""
    start = 0
    for match in _SENTENCE.finditer(block):
        if match.group(1) == ".":
            word = _LAST_WORD.search(block, max(start, match.start() - 24), match.start())
            if word and (word.group().lower() in _ABBREVIATIONS or re.fullmatch(r"[A-Z]", word.group())):
                continue
        if match.end() > start:
            yield start, match.end(), "?" in match.group(1)
            start = match.end()
    if start < len(block):
        yield start, len(block), False
