"""Labelled cases: real incidents with their confirmed cause, one YAML file each, for measuring the matches.

What the reporter saw before the cause was known becomes an incident directory, exactly as a user would hold it:
``incident.md`` and one file an artefact. What was learnt on the way to the cause is left out unless asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from failgraph.loaders.yaml_file import Document, read_yaml
from failgraph.schema.errors import NothingReadError, PackError, UsageError


class CaseKind(StrEnum):
    """What is known of a case: its cause, nothing, or that it lies outside GPU infrastructure."""

    KNOWN = "known"
    UNEXPLAINED = "unexplained"
    FOREIGN = "foreign"


@dataclass(frozen=True)
class LabelledCase:
    """One incident with its outcome.

    Attributes:
        id: name of the case.
        kind: what is known of it.
        novel: no class of the catalogue covers the cause; right is "none of these".
        accept: classes that are right.
        near: classes that are close.
        root_layer: layer of the confirmed cause.
        source: the public place it was taken from.
        incident_files: file name -> text, as the user holds them.
    """

    id: str
    kind: CaseKind
    novel: bool
    accept: tuple[str, ...]
    near: tuple[str, ...]
    root_layer: str
    source: str
    incident_files: Mapping[str, str]

    @property
    def is_covered(self) -> bool:
        """Whether a class of the catalogue is the right answer."""
        return self.kind is CaseKind.KNOWN and bool(self.accept) and not self.novel

    @property
    def is_none(self) -> bool:
        """Whether "none of these" is the right answer."""
        return self.kind is CaseKind.FOREIGN or (self.kind is CaseKind.KNOWN and self.novel)


_TEXT_KEYS: Final = ("id", "kind", "source", "summary_as_reported", "root_layer")
_LIST_KEYS: Final = ("observations", "negative_findings", "late_findings", "accept", "near")
_OPTIONAL_KEYS: Final = frozenset(
    {"year", "true_cause", "cause_label", "confirmed_by", "fix", "artefacts", "novel", "note"}
)
_KINDS: Final = {
    "known": CaseKind.KNOWN,
    "unknown": CaseKind.UNEXPLAINED,
    "unexplained": CaseKind.UNEXPLAINED,
    "foreign": CaseKind.FOREIGN,
}
_FILE_NAMES: Final = {
    "kernel_log": "dmesg.log",
    "nccl_log": "nccl.log",
    "job_log": "job.log",
    "slurm": "slurm.log",
    "k8s_event": "k8s-events.txt",
    "prometheus": "metrics.txt",
    "nvidia_smi": "nvidia-smi.txt",
    "ibstat": "ibstat.txt",
}
"""Names that files of these kinds usually have; any other kind is a plain text file of that name."""


def read_cases(directory: Path, *, with_late: bool = False) -> list[LabelledCase]:
    """Return the cases of a directory, ordered by id.

    Args:
        directory: holds one YAML file a case.
        with_late: also tell, as observed, what was learnt on the way to the cause.

    Raises:
        UsageError: there is no such directory, or two files hold one id.
        NothingReadError: it holds no case.
        PackError: a file is not a labelled case; the message names file and line.
    """
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a directory; give one that holds labelled cases (*.yaml)")
    paths = sorted(directory.glob("*.yaml"))
    if not paths:
        raise NothingReadError(f"{directory} holds no *.yaml file; give a directory of labelled cases")
    cases: dict[str, LabelledCase] = {}
    for path in paths:
        case = read_case(path, with_late=with_late)
        if case.id in cases:
            raise UsageError(f"{path}: the case {case.id} is defined twice; give each case an id of its own")
        cases[case.id] = case
    return [cases[name] for name in sorted(cases)]


def read_case(path: Path, *, with_late: bool = False) -> LabelledCase:
    """Return the case of one file.

    Raises:
        PackError: the file is not a labelled case; the message names file and line.
    """
    document = read_yaml(path)
    data = document.data
    if not isinstance(data, dict):
        raise PackError("a labelled case is a mapping with the key `id`", location=document.location())
    allowed = _OPTIONAL_KEYS.union(_TEXT_KEYS, _LIST_KEYS)
    for key in data:
        if key not in allowed:
            raise PackError(
                f"a labelled case has no key `{key}`; known are {', '.join(sorted(allowed))}",
                location=document.location((key,), of_key=True),
            )
    texts = {key: _required(document, key) for key in _TEXT_KEYS}
    lists = {key: _texts(document, (key,), data.get(key)) for key in _LIST_KEYS}
    if texts["kind"] not in _KINDS:
        raise PackError(
            f"`kind` is one of {', '.join(_KINDS)}, not {texts['kind']}",
            location=document.location(("kind",)),
        )
    novel = data.get("novel", False)
    if not isinstance(novel, bool):
        raise PackError("`novel` is true or false", location=document.location(("novel",)))
    late = lists["late_findings"] if with_late else ()
    files = {
        "incident.md": _note(
            texts["summary_as_reported"], lists["observations"], lists["negative_findings"], late
        ),
        **_artefacts(document, data.get("artefacts")),
    }
    return LabelledCase(
        id=texts["id"],
        kind=_KINDS[texts["kind"]],
        novel=novel,
        accept=lists["accept"],
        near=lists["near"],
        root_layer=texts["root_layer"],
        source=texts["source"],
        incident_files=files,
    )


def write_incident(case: LabelledCase, directory: Path) -> list[Path]:
    """Write the files of a case into a directory and return their paths.

    Raises:
        UsageError: the directory cannot be written.
    """
    paths = []
    for name, text in case.incident_files.items():
        path = directory / name
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"{path} cannot be written ({error.strerror}); give another directory"
            ) from error
        paths.append(path)
    return paths


def _note(summary: str, observed: Sequence[str], normal: Sequence[str], late: Sequence[str]) -> str:
    """Return the incident note: what was seen and, where wanted, learnt later; what was checked and normal."""
    sections = [("Observed", (summary, *observed, *late)), ("Checked and normal", tuple(normal))]
    lines: list[str] = []
    for title, items in sections:
        if items:
            lines += [f"## {title}", "", *(f"- {_one_line(item)}" for item in items), ""]
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _artefacts(document: Document, value: Any) -> dict[str, str]:
    """Return file name -> text for the artefacts of a case."""
    items = _sequence(document, ("artefacts",), value)
    files: dict[str, str] = {}
    for place, item in enumerate(items):
        steps = ("artefacts", place)
        if not isinstance(item, dict) or not {"kind", "text"} <= set(item):
            raise PackError("an artefact has `kind` and `text`", location=document.location(steps))
        if not isinstance(item["kind"], str) or not isinstance(item["text"], str):
            raise PackError("`kind` and `text` of an artefact are text", location=document.location(steps))
        usual = _FILE_NAMES.get(item["kind"], f"{_file_stem(item['kind'])}.txt")
        name, number = usual, 2
        while name in files:
            stem, _, ending = usual.rpartition(".")
            name, number = f"{stem}-{number}.{ending}", number + 1
        files[name] = item["text"] if item["text"].endswith("\n") else item["text"] + "\n"
    return files


def _file_stem(kind: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in kind)[:40] or "artefact"


def _required(document: Document, key: str) -> str:
    """Return a text that must be there."""
    value = document.data.get(key)
    if not isinstance(value, str) or not value.strip():
        place = document.location((key,)) if key in document.data else document.location()
        raise PackError(f"a labelled case needs the key `{key}` with a text", location=place)
    return value


def _texts(document: Document, steps: tuple[str, ...], value: Any) -> tuple[str, ...]:
    """Return a list of texts; a missing key is an empty list."""
    items = _sequence(document, steps, value)
    for place, item in enumerate(items):
        if not isinstance(item, str):
            raise PackError(
                f"an item of `{steps[0]}` is a text; put it in quotes",
                location=document.location((*steps, place)),
            )
    return tuple(items)


def _sequence(document: Document, steps: tuple[str, ...], value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise PackError(f"`{steps[0]}` is a list", location=document.location(steps))
    return value
