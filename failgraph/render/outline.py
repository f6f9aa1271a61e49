"""What is shown of an answer, and in which order: the one outline that text and Markdown both follow.

Everything is taken from the :class:`~failgraph.schema.exchange.Answer`; the optional meanings only put plain
words beside ids. Text from outside is passed on as it is: each surface escapes what it prints.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from failgraph.schema.exchange import (
    Answer,
    CheckHint,
    Finding,
    Hop,
    HopState,
    Hypothesis,
    State,
    Support,
    Terms,
    Verdict,
    Where,
)

MAX_PLACES: Final = 3
"""Places quoted for one finding; the JSON answer has all."""
MAX_CHECKS: Final = 3
MAX_LEDGER: Final = 8
"""Lines of one part of the ledger; the rest is counted."""
MAX_STATEMENTS: Final = 10
"""Statements without attachment that are listed; the rest is counted."""
NONE_FITS_FROM: Final = 0.5
"""From this probability on, *none of these* is the headline of an unknown incident."""
MAX_FACTOR: Final = 1000.0

STATE_WORDS: Final = {
    State.PRESENT: "present",
    State.ABSENT: "absent",
    State.NOT_CHECKED: "not checked",
    State.COULD_NOT_CHECK: "could not check",
    State.STALE: "stale",
}


@dataclass(frozen=True)
class Rank:
    """One line of the ranking; ``class_id`` is None for *none of these*."""

    probability: float
    class_id: str | None
    name: str
    layer: str | None = None
    benign: bool = False


@dataclass(frozen=True)
class Step:
    """One step of the causal path: ``depth`` 0 is the root.

    ``relation`` and ``state`` say how it follows from the step above (None: the root). ``again`` marks a step
    whose continuation was drawn before.
    """

    depth: int
    id: str
    relation: str | None = None
    state: HopState | None = None
    findings: tuple[Finding, ...] = ()
    again: bool = False


@dataclass(frozen=True)
class Entry:
    """One line of the ledger. ``factor`` says how many times likelier (below 1: less likely) it makes the class."""

    subject: str
    meaning: str | None = None
    factor: float | None = None
    state: State | None = None
    finding: Finding | None = None
    because: str | None = None


@dataclass(frozen=True)
class Ledger:
    """One part of the ledger: its heading, its first entries, and how many more there are."""

    heading: str
    entries: tuple[Entry, ...]
    more: int = 0


@dataclass(frozen=True)
class Wording:
    """How the report reads: ``factor`` says how many times likelier such words are for the class than on average.

    The words are pieces of what was reported, those that weighed most first; ``factor`` is None where the answer
    does not say it.
    """

    words: tuple[str, ...]
    factor: float | None = None


@dataclass(frozen=True)
class Outline:
    """An answer as it is shown, top to bottom."""

    answer: Answer
    headline: str
    ranking: tuple[Rank, ...]
    more_classes: int
    best: Hypothesis | None
    steps: tuple[Step, ...]
    wording: Wording | None
    ledgers: tuple[Ledger, ...]
    contrast: tuple[Entry, ...]
    flip: str | None
    checks: tuple[CheckHint, ...]
    notes: tuple[str, ...]


def outline(answer: Answer, *, top: int = 5, meanings: Mapping[str, str] | None = None) -> Outline:
    """Return what to show of an answer.

    Args:
        answer: what a match gave.
        top: how many classes the ranking lists.
        meanings: what each observable or circumstance id says, in plain words.
    """
    words = meanings or {}
    best = answer.hypotheses[0] if answer.hypotheses else None
    by_id = {finding.id: finding for finding in answer.findings}
    return Outline(
        answer=answer,
        headline=_headline(answer, best),
        ranking=_ranking(answer, top),
        more_classes=max(0, len(answer.hypotheses) - top),
        best=best,
        steps=_steps(best.path, by_id) if best else (),
        wording=_wording(best) if best else None,
        ledgers=_ledgers(answer, best, by_id, words),
        contrast=_entries(answer.contrast.differing, by_id, words) if answer.contrast else (),
        flip=_flip(answer, words),
        checks=best.checks[:MAX_CHECKS] if best else (),
        notes=_notes(answer),
    )


def percent(probability: float) -> str:
    """Return a probability as text that never rounds to certainty.

    >>> [percent(value) for value in (0.934, 0.9999, 0.0004, 0.0)]
    ['93.4 %', '>99.9 %', '<0.1 %', '0.0 %']
    """
    if 0.0 < probability < 0.001:
        return "<0.1 %"
    if 0.999 < probability < 1.0:
        return ">99.9 %"
    return f"{probability * 100:.1f} %"


def factor_text(factor: float) -> str:
    """Return how strongly something speaks for or against.

    >>> [factor_text(value) for value in (66.7, 1.26, 0.25, 1e9, 1.0)]
    ['×67', '×1.3', '÷4.0', '×>1000', '×1.0']
    """
    sign, size = ("×", factor) if factor >= 1.0 else ("÷", 1.0 / max(factor, 1e-300))
    if size > MAX_FACTOR:
        return f"{sign}>{MAX_FACTOR:.0f}"
    return f"{sign}{size:.0f}" if size >= 10.0 else f"{sign}{size:.1f}"


def place_text(where: Where) -> str:
    """Return ``file:line``, or the file alone.

    >>> place_text(Where(file="kern.log", line=7))
    'kern.log:7'
    """
    return f"{where.file}:{where.line}" if where.line else where.file


def unshown_places(finding: Finding) -> int:
    """Return how often a finding was read beyond the places that are quoted.

    >>> unshown_places(Finding(id="f1", observable="oom-kill", count=5, where=(Where(file="kern.log"),)))
    4
    """
    return max(finding.count, len(finding.where)) - min(len(finding.where), MAX_PLACES)


def terms_text(terms: Terms) -> str:
    """Return the parts of a score in one line; parts that nothing was said about are left out.

    >>> terms_text(Terms(prior=-4.8283, structure=6.5))
    'prior -4.83, structure +6.50, refuters +0.00'
    """
    parts = [(name, getattr(terms, name)) for name in type(terms).model_fields]
    return ", ".join(f"{name} {value:+.2f}" for name, value in parts if value is not None)


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun.

    >>> plural(1, "class", "classes"), plural(3, "line")
    ('1 class', '3 lines')
    """
    return f"{count} {one if count == 1 else many or one + 's'}"


def _headline(answer: Answer, best: Hypothesis | None) -> str:
    known = percent(answer.unknown.probability)
    if best is None:
        return "No failure class is loaded, so nothing can be explained."
    if answer.verdict is Verdict.EXPLAINED:
        return f"{best.name} ({percent(best.probability)})"
    if answer.verdict is Verdict.AMBIGUOUS:
        return f"most likely {best.name} ({percent(best.probability)}), but not surely"
    if not any(finding.state in (State.PRESENT, State.ABSENT) for finding in answer.findings):
        return "nothing in the input was recognised"
    if answer.unknown.probability >= NONE_FITS_FROM:
        return f"no known class fits ({known}): {answer.unknown.reason}"
    return f"no class stands out; the likeliest is {best.name} ({percent(best.probability)})"


def _ranking(answer: Answer, top: int) -> tuple[Rank, ...]:
    ranks = [
        Rank(item.probability, item.class_id, item.name, item.layer, item.kind == "benign")
        for item in answer.hypotheses[:top]
    ]
    none = Rank(answer.unknown.probability, None, f"none of these ({answer.unknown.reason})")
    return tuple(sorted([*ranks, none], key=lambda rank: -rank.probability))


def _steps(path: Sequence[Hop], by_id: Mapping[str, Finding]) -> tuple[Step, ...]:
    """Return the path as a tree, depth first, each step's continuation drawn once."""
    children: dict[str, list[Hop]] = {}
    targets = {hop.end for hop in path}
    for edge in path:
        children.setdefault(edge.start, []).append(edge)
    roots = list(dict.fromkeys(hop.start for hop in path if hop.start not in targets))
    if path and not roots:
        roots = [path[0].start]
    steps: list[Step] = []
    drawn: set[str] = set()
    stack: list[tuple[int, str, Hop | None]] = [(0, root, None) for root in reversed(roots)]
    while stack:
        depth, identifier, hop = stack.pop()
        following = children.get(identifier, [])
        again = identifier in drawn and bool(following)
        found = tuple(by_id[name] for name in hop.findings if name in by_id) if hop else ()
        steps.append(
            Step(depth, identifier, hop.relation if hop else None, hop.state if hop else None, found, again)
        )
        if again:
            continue
        drawn.add(identifier)
        traces = [item for item in following if item.relation == "SHOWS"]
        effects = [item for item in following if item.relation != "SHOWS"]
        stack.extend((depth + 1, item.end, item) for item in reversed(traces + effects))
    return tuple(steps)


def _wording(best: Hypothesis) -> Wording | None:
    if not best.words:
        return None
    return Wording(best.words, None if best.terms.text is None else _factor(best.terms.text))


def _factor(log_ratio: float) -> float:
    """Return a natural log ratio as a factor, kept within what a float holds."""
    return math.exp(min(max(log_ratio, -700.0), 700.0))


def _entries(
    supports: Sequence[Support], by_id: Mapping[str, Finding], words: Mapping[str, str]
) -> tuple[Entry, ...]:
    entries = []
    for support in supports:
        subject = support.observable or support.circumstance or ""
        finding = by_id.get(support.finding) if support.finding else None
        entries.append(
            Entry(
                subject=subject,
                meaning=words.get(subject),
                factor=_factor(support.log_ratio),
                state=finding.state if finding else None,
                finding=finding,
                because=support.because,
            )
        )
    return tuple(entries)


def _ledgers(
    answer: Answer, best: Hypothesis | None, by_id: Mapping[str, Finding], words: Mapping[str, str]
) -> tuple[Ledger, ...]:
    parts: list[tuple[str, tuple[Entry, ...]]] = []
    if best:
        parts.append(("Speaks for it", _entries(best.supporting, by_id, words)))
        parts.append(("Speaks against it", _entries(best.refuting, by_id, words)))
        parts.append(
            ("Expected, but not seen (seen, it would speak for it)", _entries(best.missing, by_id, words))
        )
    unexplained = [by_id[name] for name in answer.unexplained if name in by_id]
    parts.append(("Not explained by it", _plain(unexplained, words)))
    for state, heading in (
        (State.COULD_NOT_CHECK, "Could not be checked"),
        (State.STALE, "Stale (outside the incident's time, not counted)"),
    ):
        parts.append((heading, _plain([item for item in answer.findings if item.state is state], words)))
    return tuple(
        Ledger(heading, entries[:MAX_LEDGER], max(0, len(entries) - MAX_LEDGER))
        for heading, entries in parts
        if entries
    )


def _plain(findings: Sequence[Finding], words: Mapping[str, str]) -> tuple[Entry, ...]:
    return tuple(
        Entry(finding.subject, words.get(finding.subject), state=finding.state, finding=finding)
        for finding in findings
    )


def _flip(answer: Answer, words: Mapping[str, str]) -> str | None:
    contrast = answer.contrast
    if contrast is None or contrast.flip is None:
        return None
    state = STATE_WORDS[contrast.flip_state] if contrast.flip_state else "known"
    meaning = words.get(contrast.flip)
    detail = f" ({meaning})" if meaning else ""
    return f"The order would turn if {contrast.flip}{detail} were {state}."


def _notes(answer: Answer) -> tuple[str, ...]:
    notes = []
    if answer.assumed_timezone:
        notes.append(f"Times without a zone were read as {answer.assumed_timezone}; --tz says otherwise.")
    notes.extend(answer.approximations)
    return tuple(notes)
