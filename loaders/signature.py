r"""What a log signature needs of a line, worked out once: the forms that the search engines can use.

A signature is written for ``re.search`` with MULTILINE over one line without its line end (or, when it is marked
multiline, over a few lines). Engines scan large blocks of many lines and must not miss a line, so each signature
is also kept in a *relaxed* form that matches every line the exact one matches, and perhaps more:

* ``^`` and ``\A`` are left out, because the text of a line may begin after a prefix (a time, a host, a rank);
* nothing may run over a line end: ``\s`` becomes blanks and tabs, ``[^x]`` becomes ``[^x\n]``;
* a multiline signature is represented by literal text that every match must contain.

Only what Python's ``re``, RE2 and Hyperscan read alike is allowed; :func:`parse_signature` refuses the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from failgraph.schema.errors import PackError

SHORTEST_LITERAL: Final = 2
"""Shorter required texts are not worth a search of their own."""
SHORTEST_ANCHOR: Final = 3
"""A multiline signature is found by required text of at least this length."""

_FLAGS: Final = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAMED: Final = re.compile(r"\(\?P<[A-Za-z_]\w*>")
_PLAIN: Final = re.compile(
    r"[^\\\[\](){}.*+?^$|]+(?=[^\\\[\](){}.*+?^$|])"
)  # all but the last, which may be repeated
_QUANTIFIER: Final = re.compile(r"(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??")
_BLANKS: Final = r"\t\f\r "
_ALIKE: Final = {"s": f"[{_BLANKS}\\n]", "S": f"[^{_BLANKS}\\n]"}  # the engines differ about vertical tab
_WITHIN_LINE: Final = {
    "s": f"[{_BLANKS}]",
    "S": f"[^{_BLANKS}\\n]",
    "D": r"[^0-9\n]",
    "W": r"[^0-9A-Za-z_\n]",
}
_CLASS_ESCAPES: Final = frozenset("dDwWsS")
_CROSSING: Final = frozenset(
    {"\\n", "\\x", "\\W", "\\D", "\\t", "\\r", "\\f", "\\v", "\\a"}
)  # also as ends of a range
_PLAIN_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}


@dataclass(frozen=True)
class Signature:
    """One signature in the forms that the engines use.

    Attributes:
        id: the observable.
        pattern: as written.
        multiline: matched over a block of lines instead of one line.
        exact: the pattern with white space spelt out, since engines differ about vertical tab.
        relaxed: a regular expression that finds every line with a match (bytes, no line start, no flags).
        literals: every match contains at least one of these; empty when nothing is certain.
        ignore_case: letters match in either case; ``literals`` are in lower case then.
        anchored: the signature looks at the start of a line, so it is also tried after the line's prefix.
        settled: the relaxed form matches a line only if the exact one does.
    """

    id: str
    pattern: str
    multiline: bool
    exact: bytes
    relaxed: bytes
    literals: tuple[bytes, ...]
    ignore_case: bool
    anchored: bool
    settled: bool


@dataclass(frozen=True)
class _Part:
    """What is known of a piece of a pattern: literal texts of which each match holds one, at least."""

    literals: tuple[str, ...] = ()
    exact: str | None = None  # the piece matches this text and nothing else
    nullable: bool = False  # the piece also matches nothing at all

    @property
    def worth(self) -> tuple[int, int]:
        """Longer is better, then fewer."""
        return (min(map(len, self.literals), default=0), -len(self.literals))


class _Parser:
    """Reads a pattern once: writes the relaxed form and collects required literals."""

    def __init__(self, observable: str, pattern: str) -> None:
        self.observable = observable
        self.pattern = pattern
        self.position = 0
        self.written: list[str] = []  # the relaxed form
        self.exact: list[str] = []
        self.ignore_case = False
        self.anchored = False
        self.crossing = False  # something in it may match a line end

    def parse(self) -> _Part:
        part = self.alternatives()
        if self.position < len(self.pattern):
            raise self.problem("has a closing bracket too many")
        return part

    def problem(self, what: str) -> PackError:
        return PackError(f"the signature {self.pattern!r} of {self.observable} {what}")

    def alternatives(self) -> _Part:
        branches = [self.sequence()]
        while self.pattern.startswith("|", self.position):
            self.position += 1
            self.both("|")
            branches.append(self.sequence())
        if len(branches) == 1:
            return branches[0]
        nullable = any(branch.nullable for branch in branches)
        if all(branch.literals for branch in branches):
            texts = tuple(dict.fromkeys(text for branch in branches for text in branch.literals))
            return _Part(texts, nullable=nullable)
        return _Part(nullable=nullable)

    def sequence(self) -> _Part:
        found: list[_Part] = []
        run = ""
        only_exact = nullable = True
        while self.position < len(self.pattern) and self.pattern[self.position] not in "|)":
            if plain := _PLAIN.match(self.pattern, self.position):
                self.position = plain.end()
                self.both(plain[0])
                run += plain[0]
                nullable = False
                continue
            part = self.atom()
            least, most = self.quantifier()
            nullable = nullable and (part.nullable or least == 0)
            if part.exact is not None and (least, most) == (1, 1):
                run += part.exact
                continue
            only_exact = False
            if part.exact is not None and least >= 1:  # at least one copy ends the run, one begins the next
                found.append(_Part((run + part.exact,)))
                run = ""
                continue
            if run:
                found.append(_Part((run,)))
                run = ""
            if least >= 1 and part.literals:
                found.append(part)
        if only_exact:
            return _Part((run,) if run else (), exact=run, nullable=nullable)
        if run:
            found.append(_Part((run,)))
        best = max(found, key=lambda part: part.worth, default=_Part())
        return _Part(best.literals, nullable=nullable)

    def quantifier(self) -> tuple[int, int | None]:
        match = _QUANTIFIER.match(self.pattern, self.position)
        if match is None:
            return (1, 1)
        self.position = match.end()
        self.both(match[0])
        if match[1] is not None:
            least = int(match[1])
            most = least if match[2] is None else (int(match[2]) if match[2] else None)
            return (least, most)
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[match[0][0]]

    def atom(self) -> _Part:
        character = self.pattern[self.position]
        if character == "(":
            return self.group()
        if character == "[":
            return self.character_class()
        if character == "\\":
            return self.escape()
        self.position += 1
        if character == "^":
            self.exact.append("^")
            self.anchored = True
            return _Part(exact="", nullable=True)
        if character in "$.":
            self.both(character)
            return _Part(nullable=character == "$")
        if character in "*+?":
            raise self.problem(f"repeats nothing at position {self.position}")
        self.both("\\{" if character == "{" else character)
        return _Part(exact=character)

    def group(self) -> _Part:
        flags = _FLAGS.match(self.pattern, self.position)
        if flags is not None:
            return self.flags(flags)
        named = _NAMED.match(self.pattern, self.position)
        if named is None and self.pattern.startswith("(?", self.position):
            raise self.problem("looks ahead or back, which RE2 cannot; say what must be there instead")
        self.position = named.end() if named else self.position + 1
        return self.rest_of_group()

    def flags(self, match: re.Match[str]) -> _Part:
        on, off = match[1], match[2] or ""
        unknown = set(on + off) - set("ims")
        if unknown:
            raise self.problem(f"uses the flag {min(unknown)!r}; only i, m and s are allowed")
        if "i" in on + off and (off or match[3] == ":"):
            raise self.problem("ignores case in a part only; write (?i) at its start")
        self.position = match.end()
        if match[3] == ")":
            if "i" in on:
                self.ignore_case = True
            self.exact.append(match[0])
            return _Part(exact="", nullable=True)
        return self.rest_of_group(match[0])

    def rest_of_group(self, opening: str = "(?:") -> _Part:
        self.written.append("(?:")
        self.exact.append(opening)
        part = self.alternatives()
        if not self.pattern.startswith(")", self.position):
            raise self.problem("has an open bracket that is never closed")
        self.position += 1
        self.both(")")
        return part

    def both(self, text: str) -> None:
        self.written.append(text)
        self.exact.append(text)

    def escape(self) -> _Part:
        if self.position + 1 >= len(self.pattern):
            raise self.problem("ends in a backslash")
        kind = self.pattern[self.position + 1]
        self.position += 2
        if kind == "A":
            self.exact.append("\\A")
            self.anchored = True
            return _Part(exact="", nullable=True)
        if kind in "bB":
            self.both("\\" + kind)
            return _Part(exact="" if kind == "b" else None, nullable=True)
        if kind in _CLASS_ESCAPES:
            self.written.append(_WITHIN_LINE.get(kind, "\\" + kind))
            self.exact.append(_ALIKE.get(kind, "\\" + kind))
            return _Part()
        if kind == "x":
            match = re.compile(r"[0-9A-Fa-f]{2}").match(self.pattern, self.position)
            if match is None:
                raise self.problem(r"has \x without two hexadecimal digits")
            self.position = match.end()
            self.crossing = self.crossing or int(match[0], 16) < 0x20
            self.both("\\x" + match[0])
            return _Part(exact=chr(int(match[0], 16))) if int(match[0], 16) < 0x80 else _Part()
        if kind in _PLAIN_ESCAPES:
            self.crossing = self.crossing or kind == "n"
            self.both("\\" + kind)
            return _Part(exact=_PLAIN_ESCAPES[kind])
        if kind.isalnum():
            raise self.problem(f"has \\{kind}, which the engines do not read alike")
        self.both("\\" + kind)
        return _Part(exact=kind)

    def character_class(self) -> _Part:
        start = self.position
        self.position += 1
        negated = self.pattern.startswith("^", self.position)
        if negated:
            self.position += 1
        relaxed: list[str] = []
        exact: list[str] = []
        first = self.position
        while self.position == first or not self.pattern.startswith("]", self.position):
            character = self.pattern[self.position : self.position + 1]
            if self.pattern.startswith(("[:", "[.", "[="), self.position):
                raise self.problem("has a POSIX character class, which Python does not read")
            if character == "\\":
                self.position += 1
                character += self.pattern[self.position : self.position + 1]
            if not character.removeprefix("\\"):
                raise self.problem(f"has a character class that is never closed, at position {start + 1}")
            if character == "\\S":
                raise self.problem("has \\S in a character class; list what it may be instead")
            if character in ("[", "]"):
                character = "\\" + character
            if not negated and (character < " " or character in _CROSSING):
                self.crossing = True
            relaxed.append(_BLANKS if character == "\\s" else character)
            exact.append(_BLANKS + "\\n" if character == "\\s" else character)
            self.position += 1
        self.position += 1
        self.written.append(f"[^{''.join(relaxed)}\\n]" if negated else f"[{''.join(relaxed)}]")
        self.exact.append(f"[{'^' if negated else ''}{''.join(exact)}]")
        return _Part()


def parse_signature(
    observable: str, pattern: str, *, multiline: bool = False, check: bool = True
) -> Signature:
    r"""Return a signature in the forms that the engines use.

    Args:
        observable: the id it belongs to.
        pattern: a regular expression of the subset that ``re``, RE2 and Hyperscan share.
        multiline: it is matched over a block of lines.
        check: have Python's compiler look at it, too; an engine that compiles it will do the same.

    Raises:
        PackError: the pattern cannot be read, or a multiline one has no fixed text to be found by.

    >>> parse_signature("oom", r"^Out of memory: Killed process \d+ \(").literals
    (b'Out of memory: Killed process ',)
    """
    if check:
        try:
            re.compile(pattern.encode())
        except re.error as error:
            raise PackError(f"the signature {pattern!r} of {observable} is not valid: {error}") from error
    parser = _Parser(observable, pattern)
    part = parser.parse()
    shortest = SHORTEST_ANCHOR if multiline else SHORTEST_LITERAL
    usable = all(len(text) >= shortest and "\n" not in text for text in part.literals)
    literals = tuple(text.encode() for text in part.literals) if usable else ()
    if parser.ignore_case:
        literals = tuple(dict.fromkeys(text.lower() for text in literals))  # ASCII letters, as in the engines
    if multiline and not literals:
        raise PackError(
            f"the multiline signature {pattern!r} of {observable} has no fixed text of {SHORTEST_ANCHOR} or more "
            "characters that every match contains; add some, or match single lines"
        )
    relaxed = b"|".join(map(re.escape, literals)) if multiline else "".join(parser.written).encode()
    if part.nullable:
        raise PackError(
            f"the signature {pattern!r} of {observable} matches an empty line; say what must be there"
        )
    return Signature(
        id=observable,
        pattern=pattern,
        multiline=multiline,
        exact="".join(parser.exact).encode(),
        relaxed=relaxed,
        literals=literals,
        ignore_case=parser.ignore_case,
        anchored=parser.anchored,
        settled=not (multiline or parser.anchored or parser.crossing),
    )
