"""Makes the text model of :mod:`failgraph.loaders.prose.likelihood` from what packs say and narratives tell.

Needs scikit-learn (the extra ``failgraph[build]``); a match does not. Deterministic: the same packs give the same
model.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from failgraph.loaders.prose.likelihood import TextModel, WordTable, stems_in_order, with_pairs
from failgraph.schema.errors import PackError, UsageError
from failgraph.schema.nodes import ClassStatus
from failgraph.schema.pack import ClassItem, NarrativeItem, ObservableItem, PackContent
from failgraph.schema.scales import Specificity, Strength

RAREST: Final = 3
"""A term must stand in this many texts to separate classes."""
PENALTY: Final = 0.5
SATURATION: Final = 1.2
LENGTH: Final = 0.75
"""With SATURATION the usual constants of BM25."""
FOLDS: Final = 5


@dataclass(frozen=True)
class Lesson:
    """One text, and the column of the class it tells of (one more than the classes: outside all)."""

    stems: tuple[str, ...]
    column: int
    written: bool
    """It is a narrative, not a text of the catalogue."""


@dataclass(frozen=True)
class TrainingFigures:
    """How well the model does on narratives it has not seen, in cross-validation; shares within 0 and 1."""

    narratives: int
    first: float
    first_three: float
    outside_auroc: float


def train(contents: Sequence[PackContent]) -> tuple[TextModel, TrainingFigures]:
    """Return the text model of these packs, with its figures.

    Raises:
        PackError: there are no narratives, or one tells of a class that no pack defines.
        UsageError: scikit-learn is not installed.
    """
    classes = {item.id: item for content in contents for item in content.classes}
    accepted = tuple(sorted(name for name, item in classes.items() if item.status is ClassStatus.ACCEPTED))
    columns = {name: column for column, name in enumerate(accepted)}
    narratives = [item for content in contents for item in content.narratives]
    if not narratives:
        raise PackError("there are no narratives in these packs; name the pack that holds them")
    lessons = [_lesson(item, columns) for item in narratives]
    observables = {item.id: item for content in contents for item in content.observables}
    catalogue = [
        Lesson(_stems(text), columns[name], written=False)
        for name in accepted
        for text in _catalogue_texts(classes[name], observables)
    ]
    descriptions = [
        [stem for lesson in catalogue if lesson.column == column for stem in lesson.stems]
        for column in range(len(accepted))
    ]
    figures = _Folds(accepted, catalogue, descriptions)
    sharpness, outside, measured = figures.measure(lessons)
    model = _model(accepted, lessons, catalogue, descriptions, sharpness, outside)
    return model, measured


def _stems(text: str) -> tuple[str, ...]:
    return tuple(stem for stem, _ in stems_in_order(text))


def _lesson(item: NarrativeItem, columns: dict[str, int]) -> Lesson:
    if item.describes is None:
        return Lesson(_stems(item.whole), len(columns), written=True)
    if item.describes not in columns:
        raise PackError(
            f"narrative {item.id} tells of class {item.describes}, which no given pack defines; name that pack too"
        )
    return Lesson(_stems(item.whole), columns[item.describes], written=True)


def _catalogue_texts(item: ClassItem, observables: dict[str, ObservableItem]) -> list[str]:
    """Return what the catalogue says of a class: its names, its faces, and what it is expected to show."""
    texts = [f"{item.name}. {item.summary}", *(face.description for face in item.presentations)]
    for word in (Strength.ALWAYS, Strength.USUALLY, Strength.SOMETIMES):
        for name in item.expects.get(word, ()):
            observable = observables.get(name)
            if observable is not None and observable.specificity is not Specificity.GENERIC:
                texts.append("\n".join((observable.says, *observable.phrases)))
    return texts


class _Folds:
    """Cross-validation over narratives: the sharpness of the scores, and how *outside* is told."""

    def __init__(
        self, classes: Sequence[str], catalogue: Sequence[Lesson], descriptions: Sequence[Sequence[str]]
    ) -> None:
        self.classes = classes
        self.catalogue = catalogue
        self.descriptions = descriptions

    def measure(self, lessons: Sequence[Lesson]) -> tuple[float, tuple[float, float], TrainingFigures]:
        """Return sharpness, slope and offset of *outside*, and the figures."""
        fold = _fold_of(lessons)
        scores = np.zeros((len(lessons), len(self.classes)))
        outside = np.zeros(len(lessons))
        for held in range(FOLDS):
            model = _model(
                self.classes,
                [lesson for lesson, number in zip(lessons, fold, strict=True) if number != held],
                self.catalogue,
                self.descriptions,
                1.0,
                (1.0, 0.0),
            )
            for place in [place for place, number in enumerate(fold) if number == held]:
                witness = model.weigh(" ".join(lessons[place].stems))
                scores[place] = [witness.log_ratios.get(name, 0.0) for name in self.classes]
                outside[place] = witness.none
        truth = np.array([lesson.column for lesson in lessons])
        inside = truth < len(self.classes)
        ranks = (scores[inside] > scores[inside][np.arange(inside.sum()), truth[inside]][:, None]).sum(axis=1)
        figures = TrainingFigures(
            narratives=len(lessons),
            first=float((ranks < 1).mean()),
            first_three=float((ranks < 3).mean()),
            outside_auroc=_auroc(outside[~inside], outside[inside]),
        )
        return _sharpness(scores[inside], truth[inside]), _logistic(outside, ~inside), figures


def _fold_of(lessons: Sequence[Lesson]) -> list[int]:
    """Deal the lessons of each class over the folds in turn."""
    dealt: Counter[int] = Counter()
    folds = []
    for lesson in lessons:
        folds.append(dealt[lesson.column] % FOLDS)
        dealt[lesson.column] += 1
    return folds


def _sharpness(scores: npt.NDArray[np.float64], truth: npt.NDArray[np.int64]) -> float:
    """Return the factor on the scores that makes the held-out classes likeliest."""
    best, least = 1.0, math.inf
    for factor in np.geomspace(0.1, 3.0, 60):
        logs = scores * factor
        logs -= logs.max(axis=1, keepdims=True)
        loss = float(np.mean(np.log(np.exp(logs).sum(axis=1)) - logs[np.arange(len(truth)), truth]))
        if loss < least:
            best, least = float(factor), loss
    return best


def _logistic(values: npt.NDArray[np.float64], is_outside: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Return slope and offset of the log ratio *outside against inside*, prior odds taken out."""
    if not is_outside.any():
        return 0.0, 0.0
    model = _learn("linear_model").LogisticRegression(C=1e6, class_weight="balanced")
    model.fit(values[:, None], is_outside)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def _auroc(high: npt.NDArray[np.float64], low: npt.NDArray[np.float64]) -> float:
    if not len(high) or not len(low):
        return math.nan
    order = np.concatenate([high, low]).argsort().argsort() + 1
    return float((order[: len(high)].sum() - len(high) * (len(high) + 1) / 2) / (len(high) * len(low)))


def _model(
    classes: Sequence[str],
    lessons: Sequence[Lesson],
    catalogue: Sequence[Lesson],
    descriptions: Sequence[Sequence[str]],
    sharpness: float,
    outside: tuple[float, float],
) -> TextModel:
    separators, rarity, intercepts = _separators(len(classes), [*lessons, *catalogue])
    told = [
        [stem for lesson in lessons if lesson.column == column for stem in lesson.stems]
        + list(descriptions[column])
        for column in range(len(classes))
    ]
    return TextModel(
        classes=tuple(classes),
        separators=separators,
        rarity=rarity,
        intercepts=intercepts,
        narratives=_bm25(told),
        descriptions=_bm25(descriptions),
        sharpness=sharpness,
        outside=outside,
    )


def _separators(
    columns: int, lessons: Sequence[Lesson]
) -> tuple[WordTable, npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Train one linear separator per class, and one for *outside*."""
    documents = [with_pairs(lesson.stems) for lesson in lessons]
    vectoriser = _learn("feature_extraction.text").TfidfVectorizer(
        analyzer=_as_it_is, sublinear_tf=True, min_df=RAREST
    )
    matrix = vectoriser.fit_transform(documents)
    machine = _learn("svm").LinearSVC(C=PENALTY, random_state=0)
    machine.fit(matrix, [lesson.column for lesson in lessons])
    weights = np.zeros((columns + 1, matrix.shape[1]))
    offsets = np.full(columns + 1, -1.0)
    weights[machine.classes_] = machine.coef_
    offsets[machine.classes_] = machine.intercept_
    scale = np.maximum(np.abs(weights).max(axis=1), 1e-12) / 127.0
    stored = np.rint(weights / scale[:, None]).astype(np.int8).T
    table = WordTable(
        tuple(vectoriser.get_feature_names_out().tolist()),
        np.ascontiguousarray(stored),
        scale.astype(np.float32),
    )
    return table, vectoriser.idf_.astype(np.float32), offsets.astype(np.float32)


def _as_it_is(document: list[str]) -> list[str]:
    return document


def _bm25(documents: Sequence[Sequence[str]]) -> WordTable:
    """Return the BM25 weight of every stem in each document."""
    counts = [Counter(document) for document in documents]
    spread = Counter(stem for count in counts for stem in count)
    terms = tuple(sorted(spread))
    rows = {term: row for row, term in enumerate(terms)}
    mean_length = sum(map(len, documents)) / max(len(documents), 1)
    weights = np.zeros((len(terms), len(documents)))
    for column, count in enumerate(counts):
        length = 1.0 - LENGTH + LENGTH * len(documents[column]) / mean_length
        for term, times in count.items():
            rarity = math.log(1.0 + (len(documents) - spread[term] + 0.5) / (spread[term] + 0.5))
            weights[rows[term], column] = rarity * times * (SATURATION + 1.0) / (times + SATURATION * length)
    scale = np.float32(max(float(weights.max(initial=0.0)), 1e-12) / 255.0)
    return WordTable(terms, np.rint(weights / scale).astype(np.uint8), np.full(1, scale, np.float32))


def _learn(module: str) -> Any:
    """Import a part of scikit-learn."""
    from importlib import import_module

    try:
        return import_module(f"sklearn.{module}")
    except ImportError as error:
        raise UsageError(
            "Training needs scikit-learn; install it with: pip install 'failgraph[build]'."
        ) from error
