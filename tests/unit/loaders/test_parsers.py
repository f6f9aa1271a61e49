"""Every parser reads its samples as expected: what a file is, what its lines tell, what is found in it.

Beside each sample in ``tests/samples/<kind>/`` stands ``<sample>.expected.json``. To write the expectations anew after
a change that is meant, run ``python -m tests.unit.loaders.test_parsers`` and read the difference.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import pytest

from failgraph.loaders.incident import read_incident
from failgraph.loaders.parsers.base import Facts
from failgraph.loaders.parsers.note import INCIDENT_NOTE
from failgraph.loaders.parsers.registry import KINDS, kind_table
from failgraph.loaders.parsers.text import TextParser
from failgraph.loaders.recognise import recognise, sample_lines
from failgraph.loaders.scanner import Scanner
from tests.small_lexicon import WholePhrases, small_lexicon

SAMPLES: Final = Path(__file__).parents[2] / "samples"
SUFFIX: Final = ".expected.json"
LINES_SHOWN: Final = 12
SAMPLE_FILES: Final = sorted(
    path
    for kind in KINDS
    for path in (SAMPLES / kind.name).glob("*")
    if path.is_file() and not path.name.endswith(SUFFIX)
)


@pytest.fixture(scope="module", name="scanner")
def _scanner() -> Scanner:
    return Scanner(small_lexicon())


def told(facts: Facts) -> dict[str, Any]:
    """Return what a line tells, without what it does not."""
    fields = asdict(facts)
    if facts.stamp is not None:
        fields["stamp"] = facts.stamp.at.isoformat() + ("" if facts.stamp.has_year else " (no year)")
    defaults = asdict(Facts())
    return {key: value for key, value in fields.items() if value != defaults[key]}


def result_of(path: Path, scanner: Scanner) -> dict[str, Any]:
    """Return everything that reading one sample gives, as plain data."""
    raw = path.read_bytes()
    kind = recognise(raw)
    lines = sample_lines(raw)[:LINES_SHOWN]
    facts: list[Any] = []
    if kind.records is not None:
        records = kind.records()
        for line in lines:
            found = records.read(line.encode("latin-1"))
            facts += [{"text": text.decode(), **told(own)} for text, own in found]
    elif kind is not INCIDENT_NOTE:
        parser = kind.parser(lines) if kind.parser is not None else TextParser(lines)
        facts = [told(parser.facts(line.encode("latin-1"))) for line in lines]
    incident = read_incident(
        [path], small_lexicon(), timezone="UTC", scanner=scanner, phrase_index=WholePhrases()
    )
    return {
        "kind": kind.name,
        "facts": facts,
        "incident": incident.model_dump(mode="json", exclude_defaults=True, exclude={"text"}),
    }


@pytest.mark.parametrize("path", SAMPLE_FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_sample_is_read_as_expected(path: Path, scanner: Scanner) -> None:
    """A sample gives the result that stands beside it, and is recognised as the kind whose folder it is in."""
    actual = json.loads(json.dumps(result_of(path, scanner)))

    assert actual["kind"] == path.parent.name
    assert json.loads(Path(f"{path}{SUFFIX}").read_text(encoding="utf-8")) == actual


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_parser_has_a_sample_with_its_result(kind: Any) -> None:
    """A kind without a pair of sample and expected result is not finished."""
    samples = [path for path in SAMPLE_FILES if path.parent.name == kind.name]

    assert samples
    assert not [path.name for path in samples if not Path(f"{path}{SUFFIX}").is_file()]


def test_no_expected_result_without_its_sample() -> None:
    """A sample that was taken away takes its expected result with it."""
    lonely = [
        path.name
        for path in SAMPLES.glob(f"*/*{SUFFIX}")
        if path.parent.name in {kind.name for kind in KINDS}
        and not Path(str(path).removesuffix(SUFFIX)).is_file()
    ]

    assert not lonely


def test_kind_table_describes_every_kind() -> None:
    """The documentation gets a row with a title and the forms for every kind that is read."""
    rows = kind_table()

    assert [kind.name for kind in KINDS] == [row[0] for row in rows]
    assert all(title and reads for _, title, reads, _ in rows)


if __name__ == "__main__":
    small = Scanner(small_lexicon())
    for sample in SAMPLE_FILES:
        text = json.dumps(result_of(sample, small), ensure_ascii=False, indent=1)
        Path(f"{sample}{SUFFIX}").write_text(text + "\n", encoding="utf-8")
