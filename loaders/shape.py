"""Says in plain words, with file, line and column, why an item of a pack does not fit its model."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from failgraph.loaders.problem import Problem, Severity
from failgraph.loaders.yaml_file import Document, Step
from failgraph.schema.pack import MetricSignature, PresentationItem, RefuterItem, ShownBy

_NESTED: Final[dict[str, type[BaseModel]]] = {
    "shown_by": ShownBy,
    "refuters": RefuterItem,
    "presentations": PresentationItem,
    "metric": MetricSignature,
}
_ID: Final = "small letters and digits, words joined by single hyphens, 80 characters at most"
_CIRCUMSTANCE_ID: Final = "dimension.value, such as scope.one-gpu"


def shape_problems(
    error: ValidationError,
    document: Document,
    steps: Sequence[Step],
    model: type[BaseModel],
    supplied: frozenset[str],
) -> list[Problem]:
    """Return one problem for each thing in which an item differs from its model.

    Args:
        error: what the model says.
        document: the file.
        steps: the way from the top of the file to the item.
        model: the item's model.
        supplied: fields that the item's place gives, so that the file does not hold them.
    """
    problems = []
    details = error.errors(include_url=False)
    misspelt = _misspelt(details, model, supplied)
    for detail in details:
        if detail["type"] == "missing" and detail["loc"] in misspelt:
            continue  # told where it is misspelt
        where: tuple[Step, ...] = tuple(step for step in detail["loc"] if step != "[key]")
        of_key = "[key]" in detail["loc"] or detail["type"] == "extra_forbidden"
        if where and where[0] in supplied:
            where, of_key = (), True
        if detail["type"] == "missing":
            location = document.location((*steps, *where[:-1]), of_key=len(where) == 1)
        else:
            location = document.location((*steps, *where), of_key=of_key)
        message = _message(detail, where, model, supplied)
        problems.append(Problem(location, Severity.ERROR, "shape", message))
    return problems


def _misspelt(
    details: Sequence[Any], model: type[BaseModel], supplied: frozenset[str]
) -> set[tuple[Step, ...]]:
    """Return the places of the keys that unknown keys were probably meant to be."""
    meant = set()
    for detail in details:
        if detail["type"] == "extra_forbidden":
            near = _near(detail["loc"], model, supplied)
            if near:
                meant.add((*detail["loc"][:-1], near))
    return meant


def _near(where: tuple[Step, ...], model: type[BaseModel], supplied: frozenset[str]) -> str | None:
    allowed = [key for key in _model_at(where, model).model_fields if key not in supplied]
    return next(iter(difflib.get_close_matches(str(where[-1]), allowed, n=1)), None)


def _message(detail: Any, where: tuple[Step, ...], model: type[BaseModel], supplied: frozenset[str]) -> str:
    kind, given = detail["type"], detail["input"]
    name = next((str(step) for step in reversed(where) if isinstance(step, str)), "the item")
    if kind == "missing":
        return f"`{name}` is missing; add it"
    if kind == "extra_forbidden":
        allowed = [key for key in _model_at(where, model).model_fields if key not in supplied]
        near = _near(where, model, supplied)
        advice = f"did you mean `{near}`?" if near else f"use one of {', '.join(allowed)}"
        return f"unknown key `{name}`; {advice}"
    if kind == "string_pattern_mismatch" or (kind == "string_too_long" and isinstance(given, str)):
        form = _CIRCUMSTANCE_ID if "\\." in str(detail.get("ctx", {}).get("pattern", "")) else _ID
        return f"`{_short(given)}` is not an id; write {form}"
    if kind == "string_type":
        return f"`{name}` must be text, not {_named(given)}; put it in quotes if it is text"
    if kind == "string_too_short":
        return f"`{name}` is empty; write something or remove it"
    if kind in ("enum", "literal_error"):
        expected = str(detail["ctx"]["expected"]).replace("'", "`")
        return f"`{_short(given)}` is not known for `{name}`; use {expected}"
    if kind in ("tuple_type", "list_type"):
        return f"`{name}` must be a list, not {_named(given)}; write its items with dashes or in brackets"
    if kind in ("mapping_type", "dict_type", "model_type", "model_attributes_type"):
        return f"`{name}` must hold keys and values, not {_named(given)}; write them indented below it"
    reason = detail["msg"][:1].lower() + detail["msg"][1:]
    return f"`{name}` does not fit: {reason}, not {_named(given)}; mend the value"


def _model_at(where: tuple[Step, ...], model: type[BaseModel]) -> type[BaseModel]:
    for step in where[:-1]:
        if isinstance(step, str) and step in _NESTED:
            return _NESTED[step]
    return model


def _named(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"the truth value `{str(value).lower()}`"
    if isinstance(value, int | float):
        return f"the number `{value}`"
    if isinstance(value, str):
        return f"`{_short(value)}`"
    return "a list" if isinstance(value, list) else "a mapping"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
