"""How a report reads as a whole: the likelihood of its words under each class, by a linear model.

The model is three tables of numbers over the stems of a report, added up after each is brought to mean 0 and
spread 1 over the classes:

- *separators*: one weight per class for every stem and pair of neighbouring stems, learnt to tell the classes'
  narratives apart (a linear support vector machine on tf-idf);
- *narratives* and *descriptions*: the BM25 weight of every stem in all that is written of a class, and in what the
  catalogue says of it.

One more column of separators is trained on troubles outside all classes. The model is made by ``failgraph pack
train`` and stored in the pack as plain arrays. It is a witness beside the findings, never part of a causal path.
"""

from __future__ import annotations

import itertools
import math
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from failgraph.loaders.prose.tokens import stem
from failgraph.schema.errors import Location, PackError
from failgraph.schema.witness import TextWitness

LONGEST_TEXT: Final = 200_000
"""Characters of a report that are weighed; what follows is left out."""
FEW_WORDS: Final = 5
"""A text of so many known words counts half: few words are often common to all reports."""
WORDS_SHOWN: Final = 6
CLASSES_SHOWN: Final = 10
_WORD: Final = re.compile(r"[a-z]+[0-9]*|[0-9]+")

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8] | npt.NDArray[np.int8]


def stems_in_order(text: str) -> list[tuple[str, str]]:
    """Return each word and number of a text as (stem, word), in order; all words count, common ones too.

    >>> stems_in_order("Ranks wait, 3 of 8")
    [('rank', 'ranks'), ('wait', 'wait'), ('3', '3'), ('of', 'of'), ('8', '8')]
    """
    return [(stem(word), word) for word in _WORD.findall(text[:LONGEST_TEXT].lower())]


def with_pairs(stems: Sequence[str]) -> list[str]:
    """Return the stems and each two neighbours as one.

    >>> with_pairs(["bus", "error"])
    ['bus', 'error', 'bus error']
    """
    return [*stems, *(f"{one} {other}" for one, other in itertools.pairwise(stems))]


@dataclass(frozen=True)
class WordTable:
    """Weights of words per class, in eight bits: ``weight = stored * scale``; rows are terms, columns classes."""

    terms: tuple[str, ...]
    stored: Bytes
    scale: Floats

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each term."""
        return {term: row for row, term in enumerate(self.terms)}

    def weights(self, rows: Sequence[int]) -> Floats:
        """Return the weights of these rows."""
        weights: Floats = self.stored[list(rows)].astype(np.float32) * self.scale
        return weights


@dataclass(frozen=True)
class TextModel:
    """The trained model.

    Args:
        classes: class ids; the columns of the tables (``separators`` has one more: outside all classes).
        separators: weights of stems and pairs; ``rarity`` is the idf of each of its terms.
        rarity: see ``separators``.
        intercepts: one per column of ``separators``.
        narratives: BM25 weights in all that is written of a class.
        descriptions: BM25 weights in what the catalogue says of a class.
        sharpness: turns the summed scores into natural logarithms of likelihood.
        outside: slope and offset that turn the score *outside all classes* into a log ratio.
    """

    classes: tuple[str, ...]
    separators: WordTable
    rarity: Floats
    intercepts: Floats
    narratives: WordTable
    descriptions: WordTable
    sharpness: float
    outside: tuple[float, float]

    def weigh(self, text: str) -> TextWitness:
        """Return how the text reads; empty where it holds no known word."""
        found = stems_in_order(text)
        terms = with_pairs([one for one, _ in found])
        parts = [part for part in (self._separate(terms), *self._look_up(terms)) if part is not None]
        if not parts:
            return TextWitness()
        scores = np.zeros(len(self.classes))
        for part in parts:
            scores += part.score
        tables = (self.separators, self.narratives, self.descriptions)
        known = sum(any(one in table.rows for table in tables) for one in {one for one, _ in found})
        trust = known / (known + FEW_WORDS)
        logs = scores * self.sharpness * trust
        logs = logs - logs.max()
        logs = logs - np.log(np.exp(logs).sum()) + math.log(len(self.classes))
        order = np.lexsort((np.arange(len(logs)), -logs))[:CLASSES_SHOWN]
        spelled = dict(reversed(found))
        slope, offset = self.outside
        return TextWitness(
            log_ratios={name: float(value) for name, value in zip(self.classes, logs, strict=True)},
            none=(slope * parts[0].outside + offset) * trust,
            words={self.classes[column]: _heaviest(parts, int(column), spelled) for column in order},
        )

    def _separate(self, terms: Sequence[str]) -> _Part | None:
        counts: dict[int, int] = {}
        for term in terms:
            row = self.separators.rows.get(term)
            if row is not None:
                counts[row] = counts.get(row, 0) + 1
        if not counts:
            return None
        rows = sorted(counts)
        values = np.array([1.0 + math.log(counts[row]) for row in rows], np.float32) * self.rarity[rows]
        values /= np.linalg.norm(values)
        weights = self.separators.weights(rows) * values[:, None]
        raw = weights.sum(axis=0) + self.intercepts
        return _Part.of(self.separators, rows, weights[:, :-1], raw[:-1], float(raw[-1]))

    def _look_up(self, terms: Sequence[str]) -> list[_Part]:
        parts = []
        for table in (self.narratives, self.descriptions):
            rows = sorted({table.rows[term] for term in terms if term in table.rows})
            if rows:
                weights = table.weights(rows)
                parts.append(_Part.of(table, rows, weights, weights.sum(axis=0), 0.0))
        return parts


@dataclass(frozen=True)
class _Part:
    """The score of one table, brought to mean 0 and spread 1, and what each term adds to it."""

    terms: list[str]
    shares: npt.NDArray[np.floating[Any]]
    score: npt.NDArray[np.floating[Any]]
    outside: float

    @classmethod
    def of(cls, table: WordTable, rows: Sequence[int], weights: Floats, raw: Floats, outside: float) -> _Part:
        spread = float(raw.std()) or 1.0
        return cls(
            terms=[table.terms[row] for row in rows],
            shares=(weights - weights.mean(axis=1, keepdims=True)) / spread,
            score=(raw - raw.mean()) / spread,
            outside=outside,
        )


def _heaviest(parts: Sequence[_Part], column: int, spelled: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words that added most to the score of one class."""
    sums: dict[str, float] = {}
    for part in parts:
        for term, share in zip(part.terms, part.shares[:, column].tolist(), strict=True):
            word = " ".join(spelled.get(piece, piece) for piece in term.split(" "))
            sums[word] = sums.get(word, 0.0) + share
    ranked = sorted((-share, word) for word, share in sums.items() if share > 0.0)
    return tuple(word for _, word in ranked[:WORDS_SHOWN])


# -- storage: plain arrays, never objects


def save_text_model(model: TextModel, path: Path) -> None:
    """Write the model as an archive of plain arrays."""
    arrays: dict[str, Any] = {
        "classes": _packed(model.classes),
        "rarity": model.rarity,
        "intercepts": model.intercepts,
        "numbers": np.array([model.sharpness, *model.outside]),
    }
    for name in ("separators", "narratives", "descriptions"):
        table: WordTable = getattr(model, name)
        arrays |= {
            f"{name}_terms": _packed(table.terms),
            f"{name}_stored": table.stored,
            f"{name}_scale": table.scale,
        }
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def load_text_model(path: Path) -> TextModel:
    """Read a model.

    Raises:
        PackError: the file is none, or is damaged.
    """
    try:
        with path.open("rb") as file, zipfile.ZipFile(file):  # refuses what is no archive
            file.seek(0)
            arrays = np.load(file, allow_pickle=False)
            tables = {
                name: WordTable(
                    _unpacked(arrays[f"{name}_terms"]), arrays[f"{name}_stored"], arrays[f"{name}_scale"]
                )
                for name in ("separators", "narratives", "descriptions")
            }
            sharpness, slope, offset = arrays["numbers"].tolist()
            model = TextModel(
                classes=_unpacked(arrays["classes"]),
                rarity=arrays["rarity"],
                intercepts=arrays["intercepts"],
                sharpness=sharpness,
                outside=(slope, offset),
                **tables,
            )
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise PackError(
            f"this is no text model ({error}); make it anew with 'failgraph pack train'",
            location=Location(str(path)),
        ) from error
    return model


def _packed(names: Sequence[str]) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\n".join(names).encode(), np.uint8)


def _unpacked(data: npt.NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(data.tobytes().decode().split("\n"))
