"""Canonical form of a knowledge pack: which file holds what, and how it is written.

:func:`format_pack` is a pure function of the content, so a pack that was exported from the graph gives the same
bytes as the files it was loaded from.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from failgraph.loaders.canonical import canonical_pack
from failgraph.loaders.packs import place_of, read_pack
from failgraph.loaders.yaml_text import Rows, Verbatim, dump
from failgraph.schema.errors import Location, PackError
from failgraph.schema.pack import (
    AdjustmentItem,
    CheckItem,
    CircumstanceItem,
    ClassItem,
    FittedNumbers,
    LayerItem,
    MechanismItem,
    MetricSignature,
    NarrativeItem,
    ObservableItem,
    PackContent,
    PackHeader,
)

_SPACED: Final = ("observables/", "checks/", "circumstances/")
_METRIC_KEYS: Final = ("name", "aggregation", "window", "comparison", "value", "threshold_basis")


def format_pack(content: PackContent) -> dict[str, str]:
    """Return the canonical files of a pack: relative path (with ``/``) to text, sorted by path."""
    pack = canonical_pack(content)
    documents: dict[str, Any] = {"pack.yaml": _header(pack.header)}
    if pack.layers:
        documents["layers.yaml"] = {layer.id: _layer(layer) for layer in pack.layers}
    for mechanism in pack.mechanisms:
        documents.setdefault(f"mechanisms/{mechanism.layer}.yaml", {})[mechanism.id] = _mechanism(mechanism)
    for observable in pack.observables:
        file = documents.setdefault(f"observables/{observable.topic}.yaml", {})
        file[observable.id] = _observable(observable)
    for failure_class in pack.classes:
        documents[f"classes/{failure_class.layer}/{failure_class.id}.yaml"] = _class(failure_class)
    for check in pack.checks:
        documents.setdefault(f"checks/{check.topic}.yaml", {})[check.id] = _check(check)
    for circumstance in pack.circumstances:
        dimension = circumstance.id.split(".", 1)[0]
        file = documents.setdefault(f"circumstances/{dimension}.yaml", {})
        file[circumstance.id] = _circumstance(circumstance)
    for narrative in pack.narratives:
        file = documents.setdefault(f"narratives/{narrative.topic}.yaml", {})
        file[narrative.id] = _narrative(narrative)
    if pack.adjustments:
        documents["adjustments.yaml"] = {item.target: _adjustment(item) for item in pack.adjustments}
    if pack.fitted is not None:
        documents["fitted.yaml"] = _fitted(pack.fitted)
    return {path: _text(path, documents[path]) for path in sorted(documents)}


def _text(path: str, document: dict[str, Any]) -> str:
    """Return the text of one file; long entries are set apart by an empty line."""
    if path.startswith(_SPACED):
        return "\n".join(dump({entry: body}) for entry, body in document.items())
    return dump(document)


def _header(item: PackHeader) -> dict[str, Any]:
    return _filled(
        id=item.id, name=item.name, revision=item.revision, summary=item.summary, requires=list(item.requires)
    )


def _layer(item: LayerItem) -> dict[str, Any]:
    return _filled(name=item.name, rank=item.rank, note=item.note)


def _mechanism(item: MechanismItem) -> dict[str, Any]:
    return _filled(name=item.name, summary=item.summary, note=item.note)


def _observable(item: ObservableItem) -> dict[str, Any]:
    return _filled(
        says=item.says,
        kind=item.kind.value,
        source=item.source,
        signature=Verbatim(item.signature),
        multiline=item.multiline or None,
        metric=_metric(item.metric) if item.metric else None,
        specificity=item.specificity.value,
        verified=item.verified,
        verification=item.verification,
        seen_in=item.seen_in,
        implies=list(item.implies),
        shown_by=[
            _filled(mechanism=shown.mechanism, strength=shown.strength.value, because=shown.because)
            for shown in item.shown_by
        ],
        because=item.because,
        phrases=list(item.phrases),
        negated=list(item.negated),
        examples=[Verbatim(example) for example in item.examples],
        not_examples=[Verbatim(example) for example in item.not_examples],
        note=item.note,
    )


def _metric(item: MetricSignature) -> dict[str, Any]:
    given = item.model_dump()
    ordered = [key for key in _METRIC_KEYS if key in given] + sorted(set(given) - set(_METRIC_KEYS))
    return {key: Verbatim(given[key]) if isinstance(given[key], str) else given[key] for key in ordered}


def _class(item: ClassItem) -> dict[str, Any]:
    named = {effect for effects in item.chain.values() for effect in effects}
    return _filled(
        id=item.id,
        name=item.name,
        summary=item.summary,
        kind=None if item.kind == ClassItem.model_fields["kind"].default else item.kind.value,
        status=None if item.status == ClassItem.model_fields["status"].default else item.status.value,
        revision=None if item.revision == 1 else item.revision,
        prior=None if item.prior == 1.0 else item.prior,
        aliases=list(item.aliases),
        specialises=list(item.specialises),
        root=item.root,
        # A mechanism that only ends the chain is not repeated as a key of its own.
        chain={
            cause: list(effects) for cause, effects in item.chain.items() if effects or cause not in named
        },
        expects={word.value: list(observables) for word, observables in item.expects.items()},
        refuters=[
            _filled(
                observable=refuter.observable,
                when=refuter.when,
                because=refuter.because,
                factor=refuter.factor,
            )
            for refuter in item.refuters
        ],
        presentations=[
            _filled(
                name=face.name, description=face.description, shows=list(face.shows), lacks=list(face.lacks)
            )
            for face in item.presentations
        ],
        checks=list(item.checks),
        remedies=list(item.remedies),
        preventions=list(item.preventions),
        circumstances=Rows(item.circumstances),
        sources=list(item.sources),
        note=item.note,
    )


def _check(item: CheckItem) -> dict[str, Any]:
    return _filled(
        command=Verbatim(item.command),
        where=item.where,
        needs=item.needs,
        cost=item.cost.value,
        safe=item.safe,
        reveals=list(item.reveals),
        read_it=item.read_it,
        note=item.note,
    )


def _circumstance(item: CircumstanceItem) -> dict[str, Any]:
    return _filled(
        means=item.means,
        base_rate=item.base_rate,
        phrases=list(item.phrases),
        not_phrases=list(item.not_phrases),
        note=item.note,
    )


def _narrative(item: NarrativeItem) -> dict[str, Any]:
    return _filled(
        style=item.style,
        presentation=item.presentation,
        text=item.text,
        checked=list(item.checked),
        circumstances=list(item.circumstances),
        observables=list(item.observables),
        note=item.note,
    )


def _adjustment(item: AdjustmentItem) -> dict[str, Any]:
    return _filled(
        prior=item.prior,
        status=item.status.value if item.status else None,
        phrases=list(item.phrases),
        negated=list(item.negated),
    )


def _fitted(item: FittedNumbers) -> dict[str, Any]:
    return _filled(
        made_by=item.made_by,
        figures=dict(sorted(item.figures.items())),
        causes=dict(sorted(item.causes.items())),
    )


def _filled(**fields: Any) -> dict[str, Any]:
    """Return the fields that say something: no None, no empty list or mapping."""
    return {key: value for key, value in fields.items() if value is not None and value != [] and value != {}}


def write_pack(content: PackContent, directory: Path) -> list[str]:
    """Write the canonical files of a pack and remove pack files that no longer belong to it.

    Each file is replaced as a whole: a reader, or a stop in between, never meets half a file.

    Args:
        content: the pack.
        directory: its folder; made when missing.

    Returns:
        The relative paths that were written or removed, sorted; empty when all was canonical.

    Raises:
        PackError: the folder cannot be written.
    """
    files = format_pack(content)
    changed = changed_files(files, directory)
    try:
        for relative in changed:
            target = directory / relative
            if relative in files:
                _replace(target, files[relative])
            else:
                target.unlink()
        for folder in sorted({(directory / relative).parent for relative in changed}, reverse=True):
            if folder != directory and not any(folder.iterdir()):
                folder.rmdir()
    except OSError as error:
        place = Location(str(error.filename or directory))
        raise PackError(
            f"cannot write the pack ({error.strerror}); make the folder writable and run it again",
            location=place,
        ) from error
    return changed


def format_directory(directory: Path, *, check: bool = False) -> list[str]:
    """Bring the files of a pack into canonical form; with check, only say which would change.

    Returns:
        The relative paths that changed, or would, sorted.

    Raises:
        PackError: the pack is not valid (then nothing is touched), or its folder cannot be written.
    """
    content = read_pack(directory)
    if check:
        return changed_files(format_pack(content), directory)
    return write_pack(content, directory)


def changed_files(files: Mapping[str, str], directory: Path) -> list[str]:
    """Return the relative paths in which a folder differs from the canonical files of its pack, sorted."""
    changed = {
        relative for relative in files if _read_bytes(directory / relative) != files[relative].encode()
    }
    return sorted(changed | (set(_pack_files(directory)) - set(files)))


def _pack_files(directory: Path) -> Iterable[str]:
    """Return the files of the folder that have a place in a pack; others are none of ours."""
    found = (path.relative_to(directory).as_posix() for path in directory.rglob("*.yaml"))
    return (relative for relative in found if place_of(relative) is not None)


def _read_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _replace(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=".new", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise
