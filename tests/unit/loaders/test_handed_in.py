"""What other programs hand in, turned into an incident."""

from __future__ import annotations

import re

import pytest

from failgraph.loaders.handed_in import incident_from_input
from failgraph.schema.errors import UsageError
from failgraph.schema.exchange import FindingInput, MatchInput, State, Where, Window
from failgraph.schema.lexicon import Lexicon, LexiconEntry
from failgraph.schema.nodes import ObservableKind
from failgraph.schema.scales import Specificity

LEXICON = Lexicon(
    entries=(
        LexiconEntry(
            id="xid-79",
            kind=ObservableKind.LOG,
            says="The GPU has fallen off the bus.",
            source="kernel log",
            signature=r"NVRM: Xid \(PCI:[^)]*\): 79\b",
            specificity=Specificity.STRONG,
            phrases=("GPU has fallen off the bus",),
        ),
    ),
    checksum="one",
)
WINDOW = Window(start="2026-03-01T10:00:00Z", end="2026-03-01T12:00:00+00:00")


def test_findings_keep_what_is_said() -> None:
    """State, confidence and coverage stay; ids are given in the order of observables."""
    handed_in = MatchInput(
        incident="i-1",
        findings=(
            FindingInput(observable="xid-79", confidence=0.9),
            FindingInput(observable="oom-kill", state=State.ABSENT, coverage=0.5),
        ),
        circumstances=(FindingInput(circumstance="scope.one-host"),),
    )
    incident = incident_from_input(handed_in, LEXICON)
    assert incident.id == "i-1"
    assert [
        (item.id, item.subject, item.state, item.confidence, item.coverage) for item in incident.findings
    ] == [
        ("f1", "oom-kill", State.ABSENT, 1.0, 0.5),
        ("f2", "scope.one-host", State.PRESENT, 1.0, 1.0),
        ("f3", "xid-79", State.PRESENT, 0.9, 1.0),
    ]


@pytest.mark.parametrize(
    ("first", "last", "state"),
    [
        ("2026-03-01T11:00:00+01:00", None, State.PRESENT),
        ("2026-03-01T09:00:00Z", "2026-03-01T10:30:00Z", State.PRESENT),
        ("2026-03-01T09:00:00Z", "2026-03-01T09:30:00Z", State.STALE),
        ("2026-03-01T12:00:01Z", None, State.STALE),
        (None, "2026-03-01T09:59:59Z", State.STALE),
        (None, None, State.PRESENT),
    ],
)
def test_findings_outside_the_window_are_stale(first: str | None, last: str | None, state: State) -> None:
    """A finding that lies wholly outside the window does not count."""
    handed_in = MatchInput(
        findings=(FindingInput(observable="xid-79", first=first, last=last),), window=WINDOW
    )
    (finding,) = incident_from_input(handed_in, LEXICON).findings
    assert finding.state is state


def test_times_become_utc() -> None:
    """A time with an offset is shown in UTC."""
    handed_in = MatchInput(findings=(FindingInput(observable="xid-79", first="2026-03-01T11:00:00+01:00"),))
    (finding,) = incident_from_input(handed_in, LEXICON).findings
    assert finding.first == "2026-03-01T10:00:00Z"


def test_a_wrong_time_is_named_with_its_path() -> None:
    """The error says where the time stands and how to write it."""
    handed_in = MatchInput(findings=(FindingInput(observable="xid-79", first="yesterday"),))
    with pytest.raises(UsageError, match=re.escape("$.findings[0].first: 'yesterday' is no time")):
        incident_from_input(handed_in, LEXICON)


def test_a_window_that_ends_before_it_starts_is_refused() -> None:
    """Start and end the wrong way round would make everything stale."""
    handed_in = MatchInput(window=Window(start=WINDOW.end, end=WINDOW.start))
    with pytest.raises(UsageError, match="ends before it starts"):
        incident_from_input(handed_in, LEXICON)


def test_text_is_read_for_findings() -> None:
    """Text beside the findings is read as explain reads it."""
    handed_in = MatchInput(text="NVRM: Xid (PCI:0000:52:00): 79, GPU has fallen off the bus.")
    incident = incident_from_input(handed_in, LEXICON)
    assert [item.observable for item in incident.findings] == ["xid-79"]
    assert incident.findings[0].where[0].file == "text"


def test_quotes_are_masked() -> None:
    """A secret in a quotation that was handed in is not passed on."""
    where = Where(file="a.log", quote="export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345")
    handed_in = MatchInput(findings=(FindingInput(observable="xid-79", where=(where,)),))
    (finding,) = incident_from_input(handed_in, LEXICON).findings
    assert finding.where[0].quote == "export HF_TOKEN=[masked: secret]"
