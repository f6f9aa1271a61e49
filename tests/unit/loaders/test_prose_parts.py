"""The parts of reading prose: statements, words, codes and denials."""

from __future__ import annotations

import pytest

from failgraph.loaders.prose.clauses import split_clauses
from failgraph.loaders.prose.codes import find_codes
from failgraph.loaders.prose.negation import Cue, certainty, find_scopes
from failgraph.loaders.prose.tokens import stems_of, tokenize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One", "Two", "Three"]),
        ("- a item\n* b item\n3. c item", ["a item", "b item", "c item"]),
        ("NCCL 2.22.3 took 3.5 s on /dev/shm.old vs. 1.2 s", ["NCCL 2.22.3 took 3.5 s on /dev/shm.old vs. 1.2 s"]),
        ("hangs while saving", ["hangs", "while saving"]),
        ("loss fine, but slow; no Xid", ["loss fine", "but slow", "no Xid"]),
        ("ports up, and no errors", ["ports up", "and no errors"]),
        ("a `x; y, but z` b", ["a `x; y, but z` b"]),
        ("```\nline one. two\nline; three\n```\nafter", ["line one. two", "line; three", "after"]),
        ("", []),
    ],
)  # fmt: skip
def test_text_splits_into_statements(text: str, expected: list[str]) -> None:
    """Sentences, items, clauses and fenced lines are statements; versions, paths and quotes stay whole."""
    assert [clause.text for clause in split_clauses(text)] == expected


def test_question_is_marked() -> None:
    """A sentence with a question mark says so."""
    assert [clause.question for clause in split_clauses("Is it broken? It is.")] == [True, False]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Xid 79", ["xid:79"]),
        ("NVRM: Xid (PCI:0000:38:00): 13, pid=1", ["xid:13"]),
        ("Xids 31, 43 and 45", ["xid:31", "xid:43", "xid:45"]),
        ("Xid 31 and 8 GPUs lost", ["xid:31"]),
        ("SXid 20034 on a switch", ["sxid:20034"]),
        ("exit code 137", ["signal:9"]),
        ("exited with 1", ["exit:1"]),
        ("killed by signal 9 (SIGKILL)", ["signal:9", "signal:9"]),
        ("errno 24, EMFILE", ["errno:24", "errno:24"]),
        ("CUDA_ERROR_ILLEGAL_ADDRESS", ["cuda:700"]),
        ("CUDA error: 999", ["cuda:999"]),
        ("waited 137 s for 802 files", []),
        ("ERROR and EVENT are words", []),
    ],
)
def test_codes_have_one_spelling(text: str, expected: list[str]) -> None:
    """However a code is written, it is read as one name; bare numbers and words are none."""
    assert [code.name for code in find_codes(text)] == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("all-reduce timed out", "allreduce timeouts"),
        ("GPU temperatures rising", "temps of the cards rose"),
        ("the HCA's link down", "link down on a NIC"),
        ("ran out of memory", "OOM"),
        ("bus bandwidth", "bus busbw"),
    ],
)
def test_synonyms_are_read_alike(one: str, other: str) -> None:
    """Words of the field that stand for one another give the same stems."""
    assert stems_of(one) == stems_of(other)


@pytest.mark.parametrize(
    "text", ["The card fell off the bus, Xid 79", "no space left on /dev/shm", "180 GB/s to 10 GB/s"]
)
def test_phrases_and_reports_are_read_alike(text: str) -> None:
    """The quick reading of phrases and the reading with places give the same stems."""
    assert stems_of(text) == {token.stem for token in tokenize(text)}


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("no Xid in dmesg", "no Xid in dmesg"),
        ("no Xid, ECC or NVLink errors", "no Xid, ECC or NVLink errors"),
        ("no Xid, link is flapping", "no Xid"),
        ("ECC counters are clean", "ECC counters are clean"),
        ("rx_crc is 0", "rx_crc is 0"),
        ("we did not see any retransmits", "did not see any retransmits"),
        ("module 0 is hot", ""),
        ("NCCL 2.0 hangs", ""),
        ("no longer reachable", ""),
        ("the node does not respond", ""),
    ],
)
def test_denial_has_a_scope(text: str, denied: str) -> None:
    """A denial covers what it names, up to the end of its part; a failing verb denies nothing."""
    spans = [text[scope.start : scope.end] for scope in find_scopes(text) if scope.cue is Cue.DENIES]
    assert "".join(spans[:1]) == denied


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("raising the timeout did not help", Cue.ATTEMPT),
        ("what if the switch is broken", Cue.SUPPOSED),
        ("the other nodes are quick", Cue.ELSEWHERE),
    ],
)
def test_other_cues(text: str, cue: Cue) -> None:
    """Attempts, suppositions and parts that are not affected are told from denials."""
    assert cue in {scope.cue for scope in find_scopes(text)}


def test_hedges_are_ordered() -> None:
    """A suspicion counts less than a probability, and that less than a plain statement."""
    assert certainty("we suspect the cable") < certainty("probably the cable") < certainty("the cable") == 1.0
