"""The phrases of the catalogue as an index: which observables may a handful of words speak of?

Every phrase is scored by the rarity (idf, natural logarithm) of the words it shares with the clause. The best
phrase of each observable stays, together with how well all its phrases cover the clause (``support``). Codes are
owned by the observables whose id or signature names them; no list of codes is kept by hand.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from failgraph.loaders.prose.cache import load_stems, save_stems
from failgraph.loaders.prose.tokens import stems_of
from failgraph.schema.exchange import State
from failgraph.schema.lexicon import Lexicon, LexiconEntry
from failgraph.schema.nodes import ObservableKind


class Phrase(NamedTuple):
    """One way to state an observable: whose (its place in the lexicon), in which words, and what it says."""

    entry: int
    field: str
    text: str
    stems: frozenset[str]
    mass: float

    @property
    def state(self) -> State:
        """What the phrase says of its observable."""
        return State.ABSENT if self.field == "negated" else State.PRESENT


@dataclass(frozen=True, slots=True)
class Candidate:
    """One observable that a clause may speak of, with the figures that decide.

    ``mass`` is the rarity of the words in common (sum of idf), ``cover_phrase`` and ``cover_clause`` are its
    shares of the phrase and of the clause, ``support`` is how well all the observable's phrases cover the clause,
    ``margin`` is the lead over the next unrelated observable, ``owned`` counts the codes that belong to this
    observable (a code of n observables counts 1/n), ``conflict`` says that both name a code of one family and not the same.
    """

    entry: int
    phrase: Phrase
    matched: frozenset[str]
    score: float
    mass: float
    cover_phrase: float
    cover_clause: float
    support: float
    margin: float
    owned: float
    conflict: bool


SATURATION: Final = 4.0
"""Rarity at which a match counts half: one common word is never enough."""
SUPPORT_WEIGHT: Final = 0.6
"""Weight of all phrases together against the best single phrase."""
OPENING_IDF: Final = 2.0
"""Words rarer than this open candidates; commoner ones only add to those that others opened."""
KEPT: Final = 6

_ESCAPE = re.compile(r"\\[sSdDwWbB][+*?]?(?:\{[^}]*\})?")
_LITERAL = re.compile(r"\\(.)")
_OPERATOR = re.compile(r"\(\?:|\[\^?[^\]]*\][+*?]?|\.[+*]\??|[()|+*?^$\[\]{}\"']")


def plain_signature(entry: LexiconEntry) -> str:
    r"""Return the literal words of a signature: what a regular expression leaves without its operators."""
    if entry.kind in (ObservableKind.BEHAVIOUR, ObservableKind.METRIC):
        return entry.signature
    text = _ESCAPE.sub(" ", entry.signature).replace(r"\(", "\x01").replace(r"\)", "\x02")
    text = _OPERATOR.sub(" ", _LITERAL.sub(r"\1", text))
    return text.replace("\x01", "(").replace("\x02", ")")[:400]


class PhraseTable:
    """All phrases of a lexicon with their postings.

    Building reads about 5,500 short texts, unless a cache directory holds their stems; scoring a clause touches
    only the phrases that share a rare word.
    """

    def __init__(self, lexicon: Lexicon, cache_dir: Path | None = None) -> None:
        self.lexicon = lexicon
        entries = lexicon.entries
        self.ids = tuple(entry.id for entry in entries)
        named = [
            (place, field, text) for place, entry in enumerate(entries) for field, text in _fields(entry)
        ]
        read = _read_stems([text for _, _, text in named], cache_dir)
        rows = [(place, field, text, stems) for (place, field, text), stems in zip(named, read, strict=True)]
        self._counts: list[Counter[str]] = [Counter() for _ in entries]
        self._sizes = [0] * len(entries)
        for place, field, _, stems in rows:
            if field != "signature":
                self._counts[place].update(stems)
                self._sizes[place] += 1
        document_counts = Counter(stem for counts in self._counts for stem in counts)
        total = len(entries)
        self._idf = {stem: math.log(1 + total / (0.5 + count)) for stem, count in document_counts.items()}
        self._unseen = math.log(1 + total / 0.5)
        self.phrases: list[Phrase] = []
        postings: defaultdict[str, list[int]] = defaultdict(list)
        for place, field, text, stems in rows:
            if stems:
                for stem in stems:
                    postings[stem].append(len(self.phrases))
                self.phrases.append(Phrase(place, field, text, stems, self.mass(stems)))
        self._postings = dict(postings)
        support: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for place, counts in enumerate(self._counts):
            weight = 3.0 / self._sizes[place]
            for stem, count in counts.items():
                support[stem].append((place, min(1.0, weight * count)))
        self._support = dict(support)
        self._owners = self._read_owners(rows)
        self._named: dict[str, list[int]] = {}
        for place, field, _, stems in rows:
            if field == "id":
                for stem in sorted(stems):
                    self._named.setdefault(stem, []).append(place)
        self._families = self._read_families()
        self._related = self._read_related()

    def _read_owners(self, rows: list[tuple[int, str, str, frozenset[str]]]) -> dict[str, frozenset[int]]:
        """Return code -> the observables whose id, meaning or signature names it."""
        owners: dict[str, set[int]] = {}
        for place, field, _, stems in rows:
            if field not in ("id", "signature"):
                continue
            for name in stems:
                if ":" not in name and "_" not in name:
                    continue
                owners.setdefault(name, set()).add(place)
        return {name: frozenset(places) for name, places in owners.items()}

    def _read_families(self) -> list[dict[str, set[str]]]:
        """Return, for each observable, the numbers of each code family that any of its phrases names."""
        families: list[dict[str, set[str]]] = [{} for _ in self.ids]
        for phrase in self.phrases:
            for name in phrase.stems:
                family, colon, _ = name.partition(":")
                if colon:
                    families[phrase.entry].setdefault(family, set()).add(name)
        return families

    def _read_related(self) -> list[frozenset[int]]:
        """Return, for each observable, itself and those it implies or that imply it."""
        places = {name: place for place, name in enumerate(self.ids)}
        related: list[set[int]] = [{place} for place in range(len(self.ids))]
        for place, entry in enumerate(self.lexicon.entries):
            for name in entry.implies:
                if name in places:
                    related[place].add(places[name])
                    related[places[name]].add(place)
        return [frozenset(group) for group in related]

    def idf(self, stem: str) -> float:
        """Return how rare a word is over the observables; a word of no phrase is as rare as can be."""
        return self._idf.get(stem, self._unseen)

    def mass(self, stems: frozenset[str]) -> float:
        """Return the rarity of a set of words: the sum of their idf."""
        idf, unseen = self._idf, self._unseen
        return math.fsum([idf.get(stem, unseen) for stem in stems])

    def related(self, entry: int) -> frozenset[int]:
        """Return an observable, those it implies and those that imply it."""
        return self._related[entry]

    def owners(self, code: str) -> frozenset[int]:
        """Return the observables whose id or signature names a code."""
        return self._owners.get(code, frozenset())

    def named_after(self, stem: str) -> list[int]:
        """Return the observables whose id holds a word, in order."""
        return self._named.get(stem, [])

    def entailed(self, stems: frozenset[str]) -> list[int]:
        """Return the observables that these words name as a group: each word is usual for each of them."""
        groups = [
            {entry for entry, share in self._support.get(stem, ()) if share >= 1.0} for stem in sorted(stems)
        ]
        return sorted(set.intersection(*groups)) if groups else []

    def candidates(self, stems: frozenset[str], without: int | None = None) -> list[Candidate]:
        """Return the observables that these words may speak of, best first.

        Args:
            stems: the distinct words of a clause.
            without: place of a phrase to leave out, for measuring how well it is found by the others.
        """
        known = [stem for stem in stems if stem in self._idf]
        if not known:
            return []
        clause_mass = self.mass(stems)
        best = self._best_phrases(known, clause_mass, without)
        if not best:
            return []
        support = self._supports(known, clause_mass, best, without)
        ranked = sorted(
            (
                (score + SUPPORT_WEIGHT * support[entry], -entry, place)
                for entry, (score, place) in best.items()
            ),
            reverse=True,
        )[: KEPT + 4]
        found = []
        for position, (score, negative, place) in enumerate(ranked[:KEPT]):
            entry, phrase = -negative, self.phrases[place]
            matched = phrase.stems & stems
            mass = self.mass(matched)
            rival = next(
                (other for other, n, _ in ranked[position + 1 :] if -n not in self._related[entry]), 0.0
            )
            if position:
                rival = max(rival, ranked[0][0])
            found.append(
                Candidate(
                    entry=entry,
                    phrase=phrase,
                    matched=matched,
                    score=score,
                    mass=mass,
                    cover_phrase=mass / phrase.mass,
                    cover_clause=mass / clause_mass,
                    support=support[entry],
                    margin=score - rival,
                    owned=sum(1 / len(owners) for owners in map(self.owners, stems) if entry in owners),
                    conflict=self._conflicts(entry, stems),
                )
            )
        return found

    def _best_phrases(
        self, known: list[str], clause_mass: float, without: int | None
    ) -> dict[int, tuple[float, int]]:
        """Return, for each observable that shares a rare word, its best phrase and that phrase's score."""
        shared: dict[int, float] = {}
        for stem in sorted(known, key=lambda stem: (-self._idf[stem], stem)):
            idf = self._idf[stem]
            if idf >= OPENING_IDF or not shared:
                for place in self._postings[stem]:
                    shared[place] = shared.get(place, 0.0) + idf
            else:
                for place in self._postings[stem]:
                    if place in shared:
                        shared[place] += idf
        if without is not None:
            shared.pop(without, None)
        best: dict[int, tuple[float, int]] = {}
        for place, mass in shared.items():
            phrase = self.phrases[place]
            score = mass / math.sqrt(phrase.mass * clause_mass) * mass / (mass + SATURATION)
            if score > best.get(phrase.entry, (0.0, 0))[0]:
                best[phrase.entry] = (score, place)
        return best

    def _supports(
        self, known: list[str], clause_mass: float, best: dict[int, tuple[float, int]], without: int | None
    ) -> dict[int, float]:
        """Return, for each observable in question, how well all its phrases cover the clause."""
        support = dict.fromkeys(best, 0.0)
        held = self.phrases[without] if without is not None else None
        for stem in known:
            idf = self._idf[stem]
            for entry, share in self._support.get(stem, ()):
                if entry not in support:
                    continue
                if held is not None and held.entry == entry and stem in held.stems:
                    left = self._counts[entry][stem] - 1
                    share = min(1.0, 3.0 * left / max(1, self._sizes[entry] - 1))
                support[entry] += share * idf / clause_mass
        return support

    def _conflicts(self, entry: int, stems: frozenset[str]) -> bool:
        """Tell whether the clause names a number of a code family of which the observable names only others."""
        for name in stems:
            family, colon, _ = name.partition(":")
            numbers = self._families[entry].get(family) if colon else None
            if numbers and not numbers & stems:
                return True
        return False


def _read_stems(texts: list[str], cache_dir: Path | None) -> list[frozenset[str]]:
    """Return the stems of each text, from the cache where there is one."""
    kept = load_stems(cache_dir, texts) if cache_dir else None
    if kept is not None:
        return kept
    stems = [stems_of(text) for text in texts]
    if cache_dir:
        save_stems(cache_dir, texts, stems)
    return stems


def _fields(entry: LexiconEntry) -> list[tuple[str, str]]:
    """Return the texts that state an observable, each with the field it stands in."""
    return [
        *(("phrase", text) for text in entry.phrases),
        *(("negated", text) for text in entry.negated),
        ("says", entry.says),
        ("id", entry.id.replace("-", " ")),
        ("signature", plain_signature(entry)),
    ]
