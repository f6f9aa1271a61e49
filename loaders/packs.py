"""Reads a knowledge pack from its folder.

:func:`read_pack` stops at the first problem; :func:`read_pack_source` collects all of them and keeps the place of
every definition, for lint. A file's place says what it holds: ``mechanisms/gpu.yaml`` the mechanisms of layer gpu,
``observables/nccl-log.yaml`` the observables of that topic, ``classes/gpu/some-class.yaml`` one class.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from failgraph.loaders.canonical import canonical_pack
from failgraph.loaders.problem import Problem, Severity
from failgraph.loaders.shape import shape_problems
from failgraph.loaders.yaml_file import Document, Step, read_yaml
from failgraph.schema.errors import Location, PackError
from failgraph.schema.pack import (
    AdjustmentItem,
    CheckItem,
    CircumstanceItem,
    ClassItem,
    FittedNumbers,
    LayerItem,
    MechanismItem,
    NarrativeItem,
    ObservableItem,
    PackContent,
    PackHeader,
    PackItem,
)

TEXT_MODEL: Final = "text-model.npz"
"""What ``failgraph pack train`` makes of a pack's narratives, in the pack's folder; not a part of its content."""
_NAME: Final = r"[a-z0-9]+(?:-[a-z0-9]+)*"


@dataclass(frozen=True)
class Place:
    """What a file of a pack holds.

    Attributes:
        part: the field of :class:`PackContent` that it feeds.
        model: the model of one item.
        supplies: fields of the item that the file's place gives.
        keyed: the file maps ids to items; else it is one item.
    """

    part: str
    model: type[PackItem]
    supplies: Mapping[str, str] = field(default_factory=dict)
    keyed: bool = True


@dataclass(frozen=True)
class Definition:
    """Where an item stands: its document, and the steps to it."""

    document: Document
    steps: tuple[Step, ...]

    def location(self, *steps: Step, of_key: bool = False) -> Location:
        """Return the place of a part of the item (of the item itself without steps)."""
        return self.document.location((*self.steps, *steps), of_key=of_key or not steps)

    def place_of_id(self) -> Location:
        """Return the place of the item's id: its key, or its `id` where the file is one item."""
        return self.location() if self.steps else self.location("id")


@dataclass(frozen=True)
class PackSource:
    """A pack as it stands in its folder.

    Attributes:
        root: the folder, as the user named it.
        content: what the pack says, in canonical order.
        definitions: the place of each item, by part of :class:`PackContent` and id.
        whole: all of the pack could be read; if not, content lacks the parts that could not.
    """

    root: Path
    content: PackContent
    definitions: Mapping[tuple[str, str], Definition]
    whole: bool

    def location(self, part: str, item_id: str, *steps: Step, of_key: bool = False) -> Location:
        """Return the place of an item, or of what the steps lead to within it."""
        definition = self.definitions.get((part, item_id))
        return definition.location(*steps, of_key=of_key) if definition else Location(str(self.root))


def core_pack_path() -> Path:
    """Return the folder of the knowledge that ships with failgraph."""
    return shipped_pack_path("core")


def shipped_pack_path(pack_id: str) -> Path:
    """Return the folder of a pack that ships with failgraph: ``core``, or ``reports`` (its written reports)."""
    return Path(__file__).parent / "packs" / pack_id


def place_of(relative: str) -> Place | None:
    """Return what the file with this path within a pack holds; None when no file belongs there."""
    single = {
        "pack.yaml": Place("header", PackHeader, keyed=False),
        "layers.yaml": Place("layers", LayerItem),
        "adjustments.yaml": Place("adjustments", AdjustmentItem),
        "fitted.yaml": Place("fitted", FittedNumbers, keyed=False),
    }.get(relative)
    if single:
        return single
    if match := re.fullmatch(rf"mechanisms/({_NAME})\.yaml", relative):
        return Place("mechanisms", MechanismItem, {"layer": match[1]})
    if match := re.fullmatch(rf"observables/({_NAME})\.yaml", relative):
        return Place("observables", ObservableItem, {"topic": match[1]})
    if match := re.fullmatch(rf"classes/({_NAME})/({_NAME})\.yaml", relative):
        return Place("classes", ClassItem, {"layer": match[1]}, keyed=False)
    if match := re.fullmatch(rf"checks/({_NAME})\.yaml", relative):
        return Place("checks", CheckItem, {"topic": match[1]})
    if re.fullmatch(r"circumstances/[a-z0-9_]+\.yaml", relative):
        return Place("circumstances", CircumstanceItem)
    if match := re.fullmatch(rf"narratives/({_NAME})\.yaml", relative):
        return Place("narratives", NarrativeItem, {"topic": match[1]})
    return None


def read_pack(path: Path) -> PackContent:
    """Return the pack in a folder, in canonical order.

    Raises:
        PackError: the first problem, with its file, line and column, and how many more there are.
    """
    source, problems = read_pack_source(path)
    if problems:
        first = min(problems)
        more = (
            f" (and {len(problems) - 1} more; `failgraph pack lint` lists them)" if len(problems) > 1 else ""
        )
        raise PackError(first.message + more, location=first.location)
    if source is None:
        raise PackError(
            "the pack cannot be read; check it with `failgraph pack lint`", location=Location(str(path))
        )
    return source.content


def read_pack_problems(path: Path) -> tuple[PackContent | None, list[Problem]]:
    """Return the pack in a folder, as far as it can be read, and all problems of its files, by place."""
    source, problems = read_pack_source(path)
    return (source.content if source else None), problems


def read_pack_source(path: Path) -> tuple[PackSource | None, list[Problem]]:
    """Return a pack with the places of its items, and all problems of its files, sorted by place.

    The source is None when there is no folder or no header; it holds every item that could be read.
    """
    reader = _Reader(path)
    if not path.is_dir():
        reader.error(
            Location(str(path)), "files", "there is no folder here; name a folder that holds pack.yaml"
        )
        return None, reader.problems
    for relative in reader.files():
        place = place_of(relative)
        if place is None:
            reader.error(
                Location(str(path / relative)),
                "files",
                "this file has no place in a pack; remove it, or move it to where docs/packs.md puts its kind "
                "(remarks go under `note:`)",
            )
        else:
            reader.read(relative, place)
    if not (path / "pack.yaml").is_file():
        reader.error(
            Location(str(path / "pack.yaml")),
            "files",
            "pack.yaml is missing; write one with id, name, revision and summary",
        )
    return reader.source(), sorted(reader.problems)


class _Reader:
    """Collects the items and problems of one pack."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.problems: list[Problem] = []
        self.items: dict[str, list[Any]] = {}
        self.definitions: dict[tuple[str, str], Definition] = {}

    def error(self, location: Location, rule: str, message: str) -> None:
        self.problems.append(Problem(location, Severity.ERROR, rule, message))

    def files(self) -> Iterator[str]:
        """Yield the relative path of each file, sorted; refuses links that leave the pack. Hidden ones are skipped."""
        top = self.root.resolve()
        for folder, folders, names in os.walk(self.root, onerror=self._unreadable):
            here = Path(folder)
            linked = [name for name in folders if (here / name).is_symlink()]
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in linked)
            for name in sorted([*names, *linked]):
                path = here / name
                if name.startswith(".") or path == self.root / TEXT_MODEL:
                    continue
                if name in linked or (path.is_symlink() and not path.resolve().is_relative_to(top)):
                    self.error(
                        Location(str(path)),
                        "files",
                        "this is a link that may lead out of the pack; put a copy of the file in its place",
                    )
                elif not (path.is_file() or path.is_symlink()):
                    self.error(Location(str(path)), "files", "this is not a regular file; remove it")
                else:
                    yield path.relative_to(self.root).as_posix()

    def _unreadable(self, error: OSError) -> None:
        reason = error.strerror or type(error).__name__
        place = Location(str(error.filename or self.root))
        self.error(place, "files", f"the folder cannot be read ({reason}); check its rights")

    def read(self, relative: str, place: Place) -> None:
        """Read one file's items."""
        try:
            document = read_yaml(self.root / relative, str(self.root / relative))
        except PackError as error:
            self.error(error.location or Location(str(self.root / relative)), "yaml", error.message)
            return
        if not isinstance(document.data, dict):
            self.error(document.location(), "shape", "the file must be a mapping of keys to values")
            return
        if not place.keyed:
            self._item(document, (), document.data, place, {})
            return
        named = "target" if place.part == "adjustments" else "id"
        for item_id, body in document.data.items():
            self._item(document, (item_id,), body, place, {named: item_id})

    def _item(
        self, document: Document, steps: tuple[Step, ...], body: Any, place: Place, given: Mapping[str, str]
    ) -> None:
        supplied = {**given, **place.supplies}
        if not isinstance(body, dict):
            where = document.location(steps)
            self.error(
                where, "shape", f"`{steps[-1]}` must hold keys and values; write them indented below it"
            )
            return
        for name in supplied.keys() & body.keys():
            self.error(
                document.location((*steps, name), of_key=True),
                "shape",
                f"`{name}` is given by the place of the item; remove it here",
            )
        try:
            item = place.model.model_validate({**body, **supplied})
        except ValidationError as error:
            self.problems += shape_problems(error, document, steps, place.model, frozenset(supplied))
            return
        self._keep(item, Definition(document, steps), place)

    def _keep(self, item: Any, definition: Definition, place: Place) -> None:
        item_id = item.target if place.part == "adjustments" else getattr(item, "id", place.part)
        if place.part in ("classes", "circumstances"):
            self._compare_names(item_id, definition, place)
        known = self.definitions.get((place.part, item_id))
        if known:
            message = f"`{item_id}` is defined twice (also at {known.place_of_id()}); rename or remove one"
            self.error(definition.place_of_id(), "duplicate-id", message)
            return
        self.definitions[place.part, item_id] = definition
        self.items.setdefault(place.part, []).append(item)

    def _compare_names(self, item_id: str, definition: Definition, place: Place) -> None:
        stem = Path(definition.document.path).stem
        if place.part == "classes" and item_id != stem:
            message = f"class `{item_id}` stands in {stem}.yaml; name both alike"
            self.error(definition.place_of_id(), "file-name", message)
        if place.part == "circumstances" and item_id.split(".", 1)[0] != stem:
            message = f"`{item_id}` stands in {stem}.yaml; its id must begin with `{stem}.`"
            self.error(definition.place_of_id(), "file-name", message)

    def source(self) -> PackSource | None:
        """Return what was read; None without a header."""
        headers: Sequence[PackHeader] = self.items.pop("header", ())
        if not headers:
            return None
        fitted = self.items.pop("fitted", [None])
        parts = {part: tuple(items) for part, items in self.items.items()}
        content = PackContent(header=headers[0], fitted=fitted[0], **parts)
        return PackSource(self.root, canonical_pack(content), self.definitions, whole=not self.problems)
