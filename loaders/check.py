"""``failgraph pack lint``: all problems of all packs in one run, each with its place and what to do.

Reading finds what a file says wrongly; the rules find what is wrong although each file reads well. A new rule is
one function in ``loaders/checks`` and one line here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from failgraph.loaders import packs
from failgraph.loaders.checks import prose, references, signatures, structure
from failgraph.loaders.checks.packset import PackSet, Rule
from failgraph.loaders.format import changed_files, format_pack
from failgraph.loaders.packs import PackSource, read_pack_source
from failgraph.loaders.problem import Problem, Severity
from failgraph.schema.errors import Location

__all__ = ["RULES", "Problem", "Severity", "lint"]

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING

RULES: Final = (
    Rule(_ERROR, references.unknown_reference, needs_all=True),
    Rule(_ERROR, references.duplicate_id),
    Rule(_ERROR, references.duplicate_pack),
    Rule(_ERROR, references.missing_pack, needs_all=True),
    Rule(_ERROR, references.misplaced_class),
    Rule(_ERROR, references.own_adjustment),
    Rule(_WARNING, references.unused_mechanism, needs_all=True),
    Rule(_WARNING, references.unused_observable, needs_all=True),
    Rule(_WARNING, references.stale_fit, needs_all=True),
    Rule(_ERROR, structure.cycle),
    Rule(_ERROR, structure.implies_cycle),
    Rule(_ERROR, structure.root_outside_chain),
    Rule(_ERROR, structure.loose_chain),
    Rule(_ERROR, structure.shared_root),
    Rule(_ERROR, structure.unreachable_expectation),
    Rule(_ERROR, structure.expected_twice),
    Rule(_ERROR, structure.shown_by_twice),
    Rule(_ERROR, structure.shows_and_lacks),
    Rule(_WARNING, structure.shown_by_nothing, needs_all=True),
    Rule(_WARNING, structure.refuted_by_itself),
    Rule(_WARNING, structure.refuter_against_presentation),
    Rule(_ERROR, signatures.bad_signature),
    Rule(_ERROR, signatures.missing_example),
    Rule(_ERROR, signatures.wrong_example),
    Rule(_ERROR, signatures.spans_lines),
    Rule(_ERROR, signatures.kind_and_keys),
    Rule(_ERROR, signatures.implies_mismatch),
    Rule(_ERROR, prose.phrase_twice),
    Rule(_WARNING, prose.no_phrases),
    Rule(_WARNING, prose.bare_class),
    Rule(_WARNING, prose.long_class),
)
"""Every rule over packs that could be read. Reading itself reports the rules files, yaml, shape, file-name."""


def lint(
    paths: Sequence[Path], *, expected: Mapping[str, Mapping[str, float]] | None = None
) -> list[Problem]:
    """Return all problems of the packs in some folders, sorted by place; errors and warnings.

    The core pack is read along when a pack requires it and it is not among the folders; its own problems are then
    not reported.

    Args:
        paths: the folders of the packs, checked as one set.
        expected: P(observable | class) by class and observable, if at hand; else a quick forecast is used where a
            rule needs it.
    """
    problems: list[Problem] = []
    sources: list[PackSource] = []
    whole = True
    for path in {path.resolve(): path for path in paths}.values():
        source, found = read_pack_source(path)
        problems += found
        whole = whole and not found
        if source:
            sources.append(source)
            problems += _not_canonical(source)
    own = len(sources)
    sources += _required_core(sources)
    packs = PackSet(tuple(sources), expected)
    for rule in RULES:
        if whole or not rule.needs_all:
            problems += rule.problems(packs)
    theirs = tuple(str(source.root) for source in sources[own:])
    return sorted(problem for problem in problems if not _is_within(problem.location, theirs))


def _required_core(sources: Sequence[PackSource]) -> Iterator[PackSource]:
    ids = {source.content.header.id for source in sources}
    if "core" not in ids and any("core" in source.content.header.requires for source in sources):
        core, _ = read_pack_source(packs.core_pack_path())
        if core:
            yield core


def _is_within(location: Location, roots: Sequence[str]) -> bool:
    return any(Path(location.path).is_relative_to(root) for root in roots)


def _not_canonical(source: PackSource) -> Iterator[Problem]:
    """Yield the files that are not in the form that ``failgraph pack format`` gives them."""
    if not source.whole:
        return
    files = format_pack(source.content)
    for relative in changed_files(files, source.root):
        path = source.root / relative
        if relative not in files:
            message = "this file holds nothing; remove it, or run `failgraph pack format`"
            yield Problem(Location(str(path), 1, 1), Severity.ERROR, "form", message)
        elif not path.exists():
            message = "what belongs into this file stands in another; run `failgraph pack format`"
            yield Problem(Location(str(path)), Severity.ERROR, "form", message)
        else:
            line = _first_difference(path.read_text(encoding="utf-8"), files[relative])
            message = "the file is not in canonical form from here on; run `failgraph pack format`"
            yield Problem(Location(str(path), line, 1), Severity.ERROR, "form", message)


def _first_difference(text: str, canonical: str) -> int:
    """Return the first line, from 1, in which two texts differ."""
    pairs = zip(text.split("\n"), canonical.split("\n"), strict=False)
    return next((number for number, (one, other) in enumerate(pairs, 1) if one != other), 1)
