"""Words of prose as tokens: lower case, lightly stemmed, codes in one spelling, synonyms of the field joined.

Phrases of the catalogue and statements of a report pass through the same function, so whatever it does to one it
does to the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from failgraph.loaders.prose.codes import find_codes
from failgraph.loaders.prose.synonyms import SEQUENCES, WORDS


class Token(NamedTuple):
    """One word or code: its stem, where it stands (character offsets), and whether it is a code."""

    stem: str
    start: int
    end: int
    code: bool


_WORD = re.compile(
    r"""
      \d[\d.,]*\s?(?:[kKmMgGtT]i?[bB](?:it|yte)?s?/s|[kKmMgGtT]bps|GT/s|tok(?:en)?s?/s|s/it|it/s|s/step|°\s?C|C\b|[MG]Hz|[kM]?[Ww](?:atts?)?\b)
    | [A-Za-z][A-Za-z0-9]*(?:[._/:'’-]?[A-Za-z0-9]+)*
    """,
    re.VERBOSE,
)
_SEPARATOR = re.compile(r"[._/:'’-]")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_IDENTIFIER = re.compile(r"[a-z]{2}[A-Z]|_|[A-Z][a-z]+[A-Z]{2}|[a-z0-9]\.[a-z]+_")
_MEASURES: Final = (
    (re.compile(r"b(?:it|yte)?s?/s|bps$"), "bandwidth"),
    (re.compile(r"gt/s"), "gts"),
    (re.compile(r"tok(?:en)?s?/s|it/s"), "throughput"),
    (re.compile(r"s/it|s/step"), "step-time"),
    (re.compile(r"c$"), "temperature"),
    (re.compile(r"hz$"), "clock"),
    (re.compile(r"w(?:atts?)?$"), "power"),
)
_STOP_WORDS: Final = (
    "a an the of to in on at by for from with and or as is are was were be been being it its this that these those "
    "there then than so we our us i my me you your they them their he she which who what when where while into onto "
    "over under after before during about again also just only same very more most some any all each every both "
    "other another such s t d ll re ve m has have had having do does did done will would can could should may might "
    "if but still yet get gets got now here how via per up out off "
    "no not never none neither nor without zero nothing nobody didn doesn isn wasn aren weren hasn haven won don "
    "clean normal normally fine healthy ok okay good flat unchanged nominal quiet ruled excluded checked looked "
    "pass passes passed one two three four five six seven eight"
)
_STOP: Final = frozenset(_STOP_WORDS.split())
"""Words that say nothing by themselves; negations and words of health are read by :mod:`.negation`."""


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the stem of a lower-case word: plural, -ing, -ed, -ly and -ion removed, nothing cleverer.

    >>> stem("throttling"), stem("retries"), stem("corruption"), stem("corrupted"), stem("bus")
    ('throttl', 'retry', 'corrupt', 'corrupt', 'bus')
    """
    if word in _STOP or len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and (word.endswith("pus") or not word.endswith(("ss", "us", "is"))):
        word = word[:-1]
    for suffix in ("ingly", "edly", "ing", "ed", "ly"):
        rest = word[: -len(suffix)]
        if word.endswith(suffix) and len(rest) > 2 and any(letter in "aeiouy" for letter in rest):
            word = rest
            if len(word) > 2 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if word.endswith(("tion", "sion")) and len(word) > 6:
        word = word[:-3]
    if word.endswith("e") and len(word) > 4:
        word = word[:-1]
    return word


@cache
def _word_table() -> dict[str, str]:
    """Return stem -> the stem it is read as."""
    return {stem(member): stem(head) for head, members in WORDS.items() for member in members.split()}


@cache
def _sequence_table() -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """Return first stem -> the sequences that begin with it, longest first, and what each is read as."""
    table: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for head, sequences in SEQUENCES.items():
        for sequence in sequences.split("|"):
            stems = tuple(stem(word) for word in _SEPARATOR.sub(" ", sequence).split())
            table.setdefault(stems[0], []).append((stems, stem(head)))
    return {
        first: tuple(sorted(entries, key=lambda entry: -len(entry[0]))) for first, entries in table.items()
    }


@cache
def _pairs() -> frozenset[tuple[str, str]]:
    """Return the first two stems of every sequence: a text without any of these pairs holds none."""
    return frozenset((stems[0], stems[1]) for entries in _sequence_table().values() for stems, _ in entries)


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a statement in order, stop words left out.

    >>> [token.stem for token in tokenize("The card fell off the bus, Xid 79 in dmesg")]
    ['gpu', 'drop', 'off-bus', 'xid:79', 'xid', 'dmesg']
    >>> [token.stem for token in tokenize("port_xmit_wait rises")]
    ['port_xmit_wait', 'port', 'xmit', 'wait', 'rise']
    """
    raw = [Token(code.name, code.start, code.end, True) for code in find_codes(text)]
    coded = bool(raw)
    for match in _WORD.finditer(text):
        start, end = match.span()
        for name, code in _word_stems(match.group()):
            raw.append(Token(name, start, end, code))
    if coded:
        raw.sort(key=lambda token: token.start)
    words = _word_table()
    tokens: list[Token] = []
    for first, last, head in _joined([token.stem for token in raw]):
        token = raw[first]
        if head is not None:
            tokens.append(Token(head, token.start, raw[last - 1].end, ":" in head))
            if ":" in head:
                tokens.extend(_plain(raw[first:last], words))
        else:
            tokens.extend(_plain(raw[first:last], words))
    return tokens


def _plain(raw: list[Token], words: Mapping[str, str]) -> Iterator[Token]:
    """Yield words under the name they are read as, stop words left out."""
    for token in raw:
        if token.stem in words:
            yield token._replace(stem=words[token.stem])
        elif token.code or token.stem not in _STOP:
            yield token


def stems_of(text: str) -> frozenset[str]:
    """Return the distinct stems of a text: as :func:`tokenize`, without places, for the phrases of a catalogue.

    >>> sorted(stems_of("no Xid 79 on the node"))
    ['node', 'xid', 'xid:79']
    """
    codes = [code.name for code in find_codes(text)]
    names: list[str] = []
    for value in _WORD.findall(text):
        for name, code in _word_stems(value):
            (codes if code else names).append(name)
    if not _pairs().isdisjoint(pairwise(names)):
        joined = []
        for first, last, head in _joined(names):
            if head is not None:
                joined.append(head)
            if head is None or ":" in head:
                joined.extend(names[first:last])
        names = joined
    words = _word_table()
    stems = {words.get(name, name) for name in names if name not in _STOP}
    stems.update(codes)
    return frozenset(stems)


def _joined(names: list[str]) -> Iterator[tuple[int, int, str | None]]:
    """Yield (first, last, head): the word at first, or the words before last that are read as head."""
    sequences = _sequence_table()
    position = 0
    while position < len(names):
        for sequence, head in sequences.get(names[position], ()):
            last = position + len(sequence)
            if tuple(names[position:last]) == sequence:
                yield position, last, head
                position = last
                break
        else:
            yield position, position + 1, None
            position += 1


@lru_cache(maxsize=65536)
def _word_stems(value: str) -> tuple[tuple[str, bool], ...]:
    """Return the stems of one word: identifiers whole (as a code) and in parts, compounds in parts.

    A number with a unit becomes what it measures; a bare number says nothing.
    """
    lower = value.lower()
    if lower[0].isdigit():
        for pattern, name in _MEASURES:
            if pattern.search(lower):
                return ((name, False),)
        return ()
    if lower.isalpha() and (value[1:].islower() or value.isupper() or value.islower()):
        return ((stem(lower), False),)
    whole: tuple[tuple[str, bool], ...] = ()
    if _IDENTIFIER.search(value):
        whole = ((lower, True),)
        parts = _PART.findall(value)
    else:
        parts = _SEPARATOR.split(lower)
    return whole + tuple(
        (stem(part.lower()), False) for part in parts if len(part) > 1 and not part.isdigit()
    )
