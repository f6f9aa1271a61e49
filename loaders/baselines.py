"""What a match must beat: simple rankings of the classes for a labelled case.

Each baseline returns all classes, best first; ties go by id, so a run always gives the same ranking.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from failgraph.loaders.cases import LabelledCase
from failgraph.loaders.prose.tokens import tokenize
from failgraph.schema.exchange import Answer, State
from failgraph.schema.nodes import ClassStatus
from failgraph.schema.pack import PackContent

Ranker = Callable[[LabelledCase, Answer], tuple[str, ...]]
"""Ranks the classes for a case; the answer of the match tells what was found."""

K1: Final = 1.2
B: Final = 0.75
"""The usual constants of BM25."""
NOTE: Final = "incident.md"


@dataclass(frozen=True)
class ClassProfile:
    """What a baseline knows of a class: its texts and what it expects to be seen."""

    id: str
    layer: str
    text: str
    expects: frozenset[str]


def class_profiles(packs: Iterable[PackContent]) -> tuple[ClassProfile, ...]:
    """Return the profiles of the accepted classes of these packs, ordered by id.

    The text of a class is its name and summary, the names of its mechanisms, what its observables say, and its
    presentations.
    """
    contents = tuple(packs)
    mechanisms = {item.id: item.name for content in contents for item in content.mechanisms}
    says = {item.id: item.says for content in contents for item in content.observables}
    profiles = []
    for content in contents:
        for item in content.classes:
            if item.status is not ClassStatus.ACCEPTED:
                continue
            expects = [name for names in item.expects.values() for name in names]
            parts = [
                item.id.replace("-", " "),
                item.name,
                item.summary,
                *(mechanisms.get(name, "") for name in item.chain),
                *(says.get(name, "") for name in expects),
                *(presentation.description for presentation in item.presentations),
            ]
            profiles.append(ClassProfile(item.id, item.layer, "\n".join(parts), frozenset(expects)))
    return tuple(sorted(profiles, key=lambda profile: profile.id))


def ranked(scores: Mapping[str, float], profiles: Sequence[ClassProfile]) -> tuple[str, ...]:
    """Return all classes by falling score, then by id."""
    return tuple(
        sorted((profile.id for profile in profiles), key=lambda name: (-scores.get(name, 0.0), name))
    )


def majority(profiles: Sequence[ClassProfile], cases: Sequence[LabelledCase]) -> Ranker:
    """Return the baseline that names what is most often right among the other cases."""
    counts = Counter(name for case in cases if case.is_covered for name in case.accept)

    def rank(case: LabelledCase, answer: Answer) -> tuple[str, ...]:
        others = Counter(counts)
        if case.is_covered:
            others.subtract(case.accept)
        return ranked(others, profiles)

    return rank


def signature_vote(profiles: Sequence[ClassProfile]) -> Ranker:
    """Return the baseline that counts, for each class, its observables that an artefact was found to show."""

    def rank(case: LabelledCase, answer: Answer) -> tuple[str, ...]:
        hits = {
            finding.observable
            for finding in answer.findings
            if finding.state is State.PRESENT
            and finding.observable
            and any(not place.file.endswith(NOTE) for place in finding.where)
        }
        return ranked({profile.id: float(len(profile.expects & hits)) for profile in profiles}, profiles)

    return rank


def bm25(profiles: Sequence[ClassProfile]) -> Ranker:
    """Return the baseline that ranks the class texts by BM25 for the words of the report and its artefacts."""
    documents = [Counter(token.stem for token in tokenize(profile.text)) for profile in profiles]
    lengths = [sum(document.values()) for document in documents]
    usual = sum(lengths) / len(lengths) if lengths else 1.0
    spread = Counter(stem for document in documents for stem in document)
    rarity = {
        stem: math.log(1 + (len(documents) - count + 0.5) / (count + 0.5)) for stem, count in spread.items()
    }

    def rank(case: LabelledCase, answer: Answer) -> tuple[str, ...]:
        words = sorted({token.stem for text in case.incident_files.values() for token in tokenize(text)})
        scores = {}
        for profile, document, length in zip(profiles, documents, lengths, strict=True):
            scores[profile.id] = math.fsum(
                rarity[word]
                * document[word]
                * (K1 + 1)
                / (document[word] + K1 * (1 - B + B * length / usual))
                for word in words
                if word in document
            )
        return ranked(scores, profiles)

    return rank
