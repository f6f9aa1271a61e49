"""Statements of a report attached to observables of the catalogue.

How a text is read:

1. It is cut into clauses (:mod:`.clauses`) and these into tokens (:mod:`.tokens`).
2. The index (:mod:`.index`) names the observables a clause may speak of; a small model (:mod:`.weights`) says how
   likely each is right. A code that one observable owns ("Xid 79") settles it.
3. Polarity decides the state (:mod:`.negation`): a word that the clause denies and the phrase does not turns present
   into absent. Attempts, suppositions, questions and parts that are not affected attach nothing.
4. The words that gave a finding are taken out of the clause, and the rest may give another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from failgraph.loaders.prose.clauses import Clause, split_clauses
from failgraph.loaders.prose.index import Candidate, PhraseTable
from failgraph.loaders.prose.negation import Cue, Scope, certainty, find_scopes
from failgraph.loaders.prose.synonyms import FAMILIES, GENERAL, HEALTHY_ENDINGS, PLACES, RECORDS
from failgraph.loaders.prose.tokens import Token, stems_of, tokenize
from failgraph.loaders.prose.weights import chance
from failgraph.schema.exchange import State, Suggestion
from failgraph.schema.lexicon import Lexicon


class ProseFinding(NamedTuple):
    """One observable that a clause speaks of: its state, the chance that this is right, and the words it rests on."""

    observable: str
    state: State
    confidence: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attachment:
    """One statement and what it says of the catalogue.

    ``offset`` is the place of the statement in the text (characters). Without findings, ``nearest`` names the
    observables that came closest. ``note`` is set on a last attachment when a part of the text was not read.
    """

    text: str
    findings: tuple[ProseFinding, ...] = ()
    nearest: tuple[Suggestion, ...] = ()
    offset: int = 0
    note: str | None = None


THRESHOLD: Final = 0.2
"""Attachments less likely right than this are only suggested."""
MAX_CHARACTERS: Final = 1_000_000
MAX_CLAUSES: Final = 2_000
MAX_ROUNDS: Final = 3
_KEPT_CLAUSES: Final = 10_000
"""Clauses whose reading is remembered, so that repeats cost nothing."""
_SURE_FAMILIES: Final = frozenset({"xid", "sxid", "cuda", "completion"})
"""Code families that mean one thing wherever they stand; an errno or a signal needs the words around it."""
_OWNED_CONFIDENCE: Final = 0.95
_FAMILY_CONFIDENCE: Final = 0.8
_GROUP_CONFIDENCE: Final = 0.7
_GROUP_WORDS: Final = 3
_GROUP_MASS: Final = 3.0
_GROUP_SIZE: Final = 12
_NEGATED_CONFIDENCE: Final = 0.9
_BARE_CONFIDENCE: Final = 0.8
_BARE_WORDS: Final = 6
_ALTERNATIVE_THRESHOLD: Final = 0.4
"""Another finding in words that already gave one must be this sure."""
_FURTHER_THRESHOLD: Final = 0.5
"""A second finding in the words that the first one left must be this sure; so must one without any cue."""
_UNCUED_THRESHOLD: Final = 0.65
"""An observable is absent without any word of denial ("node Ready") only when this sure."""
_LEAST_MASS: Final = 3.0
"""Rarity of what is left of a clause, below which it is not read again."""
_NEAREST: Final = 3


@dataclass(frozen=True, slots=True)
class _Statement:
    """A clause made ready: its tokens, which stems are denied, and what else its cues say."""

    stems: frozenset[str]
    denied: frozenset[str]
    surfaces: tuple[tuple[str, str], ...]
    certainty: float
    has_cue: bool
    is_void: bool


class PhraseIndex:
    """The catalogue's phrases, ready to read prose.

    Args:
        lexicon: the observables of the loaded packs.
        cache_dir: where the stems of the phrases may be kept between runs; None keeps none.
        threshold: least chance of being right that makes a finding.
    """

    def __init__(
        self, lexicon: Lexicon, cache_dir: Path | None = None, *, threshold: float = THRESHOLD
    ) -> None:
        self._table = PhraseTable(lexicon, cache_dir)
        self._threshold = threshold
        self._records, self._families = stems_of(RECORDS), stems_of(FAMILIES)
        self._general, self._places = stems_of(GENERAL), stems_of(PLACES)
        self._polarity: dict[str, frozenset[str]] = {}
        self._read: dict[tuple[str, State], tuple[tuple[ProseFinding, ...], tuple[Suggestion, ...]]] = {}

    @property
    def table(self) -> PhraseTable:
        """The phrases with their postings."""
        return self._table

    def attach(self, text: str, state: State = State.PRESENT) -> list[Attachment]:
        """Return one attachment for each statement of a text, in order.

        At most the first ``MAX_CLAUSES`` statements of the first ``MAX_CHARACTERS`` characters are read; a last
        attachment with a note says so when there is more.

        Args:
            text: prose: a paragraph, a list item, a whole note.
            state: what the place of the text says: present for what was observed, absent for what was checked
                and found normal.
        """
        attachments: list[Attachment] = []
        for clause in split_clauses(text[:MAX_CHARACTERS]):
            if len(attachments) == MAX_CLAUSES:
                attachments.append(_unread(text, clause.offset))
                return attachments
            key = (clause.text + "?" * clause.question, state)
            if key not in self._read:
                if len(self._read) >= _KEPT_CLAUSES:
                    self._read.clear()
                self._read[key] = self._read_clause(clause, state)
            findings, nearest = self._read[key]
            attachments.append(Attachment(clause.text, findings, nearest, clause.offset))
        if len(text) > MAX_CHARACTERS:
            attachments.append(_unread(text, MAX_CHARACTERS))
        return attachments

    def _read_clause(
        self, clause: Clause, state: State
    ) -> tuple[tuple[ProseFinding, ...], tuple[Suggestion, ...]]:
        """Return the findings of one clause, or else the nearest observables."""
        findings: dict[str, ProseFinding] = {}
        nearest: list[Candidate] = []
        for statement in _statements(clause):
            candidates = self._table.candidates(statement.stems)
            nearest.extend(candidates[:_NEAREST])
            if statement.is_void:
                continue
            for finding in (
                *self._group_findings(statement, state),
                *self._owned_findings(statement, state),
                *self._phrase_findings(statement, candidates, state),
            ):
                findings.setdefault(finding.observable, finding)
        if findings:
            return tuple(findings.values()), ()
        chances = {self._table.ids[candidate.entry]: chance(candidate) for candidate in nearest}
        ranked = sorted(chances.items(), key=lambda item: (-item[1], item[0]))[:_NEAREST]
        return (), tuple(Suggestion(observable=name, score=score) for name, score in ranked)

    def _phrase_findings(
        self, statement: _Statement, candidates: Sequence[Candidate], state: State
    ) -> list[ProseFinding]:
        """Return what the phrases of the catalogue find, the best first.

        Words that speak of several observables give several findings, each with its own chance; the words of the
        best are then taken out, and the rest is read again.
        """
        findings: list[ProseFinding] = []
        stems = statement.stems
        least = self._threshold
        for _ in range(MAX_ROUNDS):
            likely: list[Candidate] = []
            for candidate in candidates:
                wanted = max(least, _ALTERNATIVE_THRESHOLD) if likely else least
                if not candidate.conflict and chance(candidate) * statement.certainty >= wanted:
                    likely.append(candidate)
            for candidate in likely:
                read = self._state(statement, candidate, state)
                confidence = chance(candidate) * statement.certainty * (read[1] if read else 0.0)
                if read is not None and confidence >= least:
                    name = self._table.ids[candidate.entry]
                    words = _words(statement, candidate.matched)
                    findings.append(ProseFinding(name, read[0], round(confidence, 4), words))
            if not likely:
                break
            stems = stems - likely[0].matched
            if self._table.mass(stems) < _LEAST_MASS:
                break
            candidates = self._table.candidates(stems)
            least = max(self._threshold, _FURTHER_THRESHOLD)
        return findings

    def _owned_findings(self, statement: _Statement, state: State) -> list[ProseFinding]:
        """Return the observables whose very own code the clause names."""
        findings = []
        for code in sorted(stem for stem in statement.stems if stem.partition(":")[0] in _SURE_FAMILIES):
            owners = self._table.owners(code)
            if len(owners) != 1:
                continue
            entry = next(iter(owners))
            if code in statement.denied:
                found, factor = State.ABSENT, _NEGATED_CONFIDENCE
            elif state is State.ABSENT:
                if statement.has_cue:
                    continue
                found, factor = State.ABSENT, _BARE_CONFIDENCE
            else:
                found, factor = state, 1.0
            confidence = round(_OWNED_CONFIDENCE * factor * statement.certainty, 4)
            words = _words(statement, frozenset({code}))
            findings.append(ProseFinding(self._table.ids[entry], found, confidence, words))
        return findings

    def _group_findings(self, statement: _Statement, state: State) -> list[ProseFinding]:
        """Return absent for every observable that a short general statement denies: "no Xid", "NVLink errors".

        A denial of the general is one of each particular. Without any word of denial this holds only where the
        place of the statement denies it.
        """
        if state is State.ABSENT and not (statement.has_cue and not statement.denied):
            stems = statement.denied or statement.stems
        else:
            stems = statement.denied
        named = stems - self._general
        if named & self._records:
            named = named - self._places
        families = named & self._families
        stems = named if families or len(named) > 1 else stems
        if not stems or len(stems) > _GROUP_WORDS or any(":" in stem for stem in statement.stems):
            return []
        entries = set(self._table.entailed(stems))
        if families and families == stems:
            entries.update(entry for family in families for entry in self._table.named_after(family))
        elif len(stems) < 2 or self._table.mass(stems) < _GROUP_MASS or len(entries) > _GROUP_SIZE:
            return []
        words = _words(statement, stems)
        confidence = round((_FAMILY_CONFIDENCE if families else _GROUP_CONFIDENCE) * statement.certainty, 4)
        return [
            ProseFinding(self._table.ids[entry], State.ABSENT, confidence, words)
            for entry in sorted(entries)
            if not self._is_healthy(entry)
        ]

    def _state(self, statement: _Statement, candidate: Candidate, state: State) -> tuple[State, float] | None:
        """Return the state that a clause gives an observable and what its confidence is multiplied by, or None."""
        phrase, entry = candidate.phrase, candidate.entry
        phrase_denied = self._denied_by_phrase(phrase.text)
        clause_denied = candidate.matched & statement.denied
        agree = self._table.mass(
            frozenset(s for s in candidate.matched if (s in clause_denied) == (s in phrase_denied))
        )
        flipped = agree < candidate.mass / 2
        if flipped and clause_denied and phrase.state is State.PRESENT:
            # "a rank never joined" against "waits for ranks to join": other phrases of it deny the same words.
            flipped = not clause_denied & self._denied_by_entry(entry)
        if flipped and not clause_denied and phrase.state is State.PRESENT:
            # "all ranks joined" against "one rank never joined": the opposite, where that is the point.
            return (State.ABSENT, _BARE_CONFIDENCE) if state is State.ABSENT else None
        if (phrase.state is State.PRESENT) == flipped:
            if chance(candidate) < self._least_absent(statement, state, is_denied=bool(clause_denied)):
                return None
            return State.ABSENT, _NEGATED_CONFIDENCE
        if state is not State.ABSENT:
            return state, 1.0
        if self._is_healthy(entry):
            return State.PRESENT, _NEGATED_CONFIDENCE
        if statement.has_cue or len(statement.stems) > _BARE_WORDS or chance(candidate) < _FURTHER_THRESHOLD:
            return None
        return State.ABSENT, _BARE_CONFIDENCE

    def _least_absent(self, statement: _Statement, state: State, *, is_denied: bool) -> float:
        """Return how sure a reading as absent must be: less where words deny it or the place does."""
        if state is State.ABSENT:
            is_short = len(statement.stems) <= _BARE_WORDS
            return self._threshold if is_denied or is_short else _FURTHER_THRESHOLD
        return _FURTHER_THRESHOLD if is_denied else _UNCUED_THRESHOLD

    def _denied_by_phrase(self, text: str) -> frozenset[str]:
        """Return the stems that a phrase of the catalogue denies."""
        if text not in self._polarity:
            self._polarity[text] = _denied(tokenize(text), find_scopes(text))
        return self._polarity[text]

    def _denied_by_entry(self, entry: int) -> frozenset[str]:
        """Return the stems that any positive phrase of an observable denies."""
        phrases = self._table.lexicon.entries[entry].phrases
        return frozenset().union(*(self._denied_by_phrase(text) for text in phrases))

    def _is_healthy(self, entry: int) -> bool:
        """Tell whether an observable is itself good news, by its id or because most of its phrases deny something."""
        if self._table.ids[entry].rpartition("-")[2] in HEALTHY_ENDINGS:
            return True
        phrases = self._table.lexicon.entries[entry].phrases
        return 2 * sum(bool(self._denied_by_phrase(text)) for text in phrases) > len(phrases)


def _statements(clause: Clause) -> list[_Statement]:
    """Return a clause made ready to be read: whole, or cut at its commas where a part denies something."""
    text = clause.text
    scopes = find_scopes(text)
    cues = {scope.cue for scope in scopes}
    elsewhere = [_segment(text, scope) for scope in scopes if scope.cue is Cue.ELSEWHERE]
    tokens = [
        token for token in tokenize(text) if not any(start <= token.start < end for start, end in elsewhere)
    ]
    denied = _denied(tokens, scopes)
    sure = certainty(text)
    is_void = clause.question or Cue.SUPPOSED in cues or Cue.ATTEMPT in cues
    statements = []
    for start, end in _parts(text, scopes):
        part = [token for token in tokens if start <= token.start < end]
        stems = frozenset(token.stem for token in part)
        if stems:
            surfaces = tuple((token.stem, text[token.start : token.end]) for token in part)
            statements.append(_Statement(stems, denied & stems, surfaces, sure, bool(cues), is_void))
    return statements


def _parts(text: str, scopes: Sequence[Scope]) -> list[tuple[int, int]]:
    """Return the parts of a clause: one, unless it denies something and has commas outside its denials."""
    denials = [(scope.start, scope.end) for scope in scopes if scope.cue is Cue.DENIES]
    if not denials:
        return [(0, len(text))]
    cuts = [0]
    position = text.find(", ")
    while position >= 0:
        if not any(start < position < end for start, end in denials):
            cuts.append(position)
        position = text.find(", ", position + 1)
    return list(zip(cuts, [*cuts[1:], len(text)], strict=True))


def _denied(tokens: Sequence[Token], scopes: Sequence[Scope]) -> frozenset[str]:
    """Return the stems that stand inside a denial."""
    spans = [(scope.start, scope.end) for scope in scopes if scope.cue is Cue.DENIES]
    return frozenset(
        token.stem for token in tokens if any(start <= token.start < end for start, end in spans)
    )


def _segment(text: str, scope: Scope) -> tuple[int, int]:
    """Return the part between commas in which a scope stands."""
    start = text.rfind(",", 0, scope.start) + 1
    end = text.find(",", scope.end)
    return start, len(text) if end < 0 else end


def _words(statement: _Statement, stems: frozenset[str]) -> tuple[str, ...]:
    """Return the words of the clause that carry these stems, each once, in order."""
    words = dict.fromkeys(surface for stem, surface in statement.surfaces if stem in stems)
    return tuple(word for word in words if not any(word != other and word in other for other in words))


def _unread(text: str, offset: int) -> Attachment:
    """Return the attachment that says where reading ended."""
    line = text.count("\n", 0, offset) + 1
    return Attachment(
        text=f"(not read from line {line} on)",
        offset=offset,
        note=f"Only the first {MAX_CLAUSES} statements of a text are read; shorten it to what matters.",
    )
