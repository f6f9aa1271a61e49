"""Statements of a report become findings with the right state, or stay unattached."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from failgraph.loaders.lexicon import lexicon_of
from failgraph.loaders.packs import core_pack_path, read_pack
from failgraph.loaders.prose import Attachment, PhraseIndex
from failgraph.loaders.prose.measure import leave_one_phrase_out
from failgraph.loaders.prose.reader import MAX_CLAUSES
from failgraph.schema.exchange import State
from failgraph.schema.lexicon import Lexicon, LexiconEntry
from failgraph.schema.nodes import ObservableKind
from failgraph.schema.scales import Specificity


@pytest.fixture(scope="module")
def core_lexicon() -> Lexicon:
    """The observables of the core pack."""
    return lexicon_of([read_pack(core_pack_path())])


@pytest.fixture(scope="module")
def index(core_lexicon: Lexicon) -> PhraseIndex:
    """The phrases of the core pack."""
    return PhraseIndex(core_lexicon)


def states(attachments: list[Attachment]) -> dict[str, State]:
    """Return observable -> state of all findings."""
    return {finding.observable: finding.state for part in attachments for finding in part.findings}


@pytest.mark.parametrize(
    ("text", "observable"),
    [
        ("GPU 3 fell off the bus in the night", "xid-79-fallen-off-bus"),
        ("dmesg shows Xid 79 for one card", "xid-79-fallen-off-bus"),
        ("XID: 119 on gpu-07, then the job hung", "xid-119-gsp-rpc-timeout"),
        ("Xid 31 and 43 on the same GPU", "xid-43-gpu-stopped-processing"),
        ("NCCL error 12 from one peer", "nccl-ib-retry-exceeded"),
        ("Got completion with status=12 on mlx5_3", "nccl-ib-retry-exceeded"),
        ("IBV_WC_RETRY_EXC_ERR on two ranks", "nccl-ib-retry-exceeded"),
        ("every CUDA sample fails with 802", "cuda-system-not-initialized"),
        ("cudaErrorSystemNotReady at start", "cuda-system-not-initialized"),
        ("the worker ended with exit code 137", "elastic-child-sigkill"),
        ("torchrun says exitcode : -9", "elastic-child-sigkill"),
        ("rank 5 got SIGBUS", "elastic-child-sigbus"),
        ("EMFILE on accept in the bootstrap", "emfile"),
        ("loss went to NaN at step 12,000", "loss-nan"),
        ("rx_discards_phy climbing on all hosts", "eth-rx-discards"),
        ("The IB port is down on mlx5_4", "ibstat-port-down"),
    ],
)
def test_plain_statement_is_present(index: PhraseIndex, text: str, observable: str) -> None:
    """What is said to be there becomes a finding with state present."""
    assert states(index.attach(text)).get(observable) == State.PRESENT


@pytest.mark.parametrize(
    ("text", "observable"),
    [
        ("no Xid anywhere", "xid-79-fallen-off-bus"),
        ("No Xid 79 in the kernel log", "xid-79-fallen-off-bus"),
        ("Xid errors were ruled out", "xid-48-double-bit-ecc"),
        ("without any ECC errors", "xid-48-double-bit-ecc"),
        ("rx_discards_phy stays flat", "eth-rx-discards"),
        ("rx_discards_phy: 0", "eth-rx-discards"),
        ("GPU temperatures looked normal", "dcgm-gpu-temp-at-slowdown"),
        ("ports up, no Xid, loss fine", "xid-31-mmu-fault"),
    ],
)
def test_denied_statement_is_absent(index: PhraseIndex, text: str, observable: str) -> None:
    """What is said not to be there becomes a finding with state absent."""
    assert states(index.attach(text)).get(observable) == State.ABSENT


def test_denial_ends_at_a_turn_of_the_sentence(index: PhraseIndex) -> None:
    """A denial does not reach over "but": the second half of the sentence is present."""
    found = states(index.attach("No Xid in dmesg, but rx_discards_phy is climbing on the RoCE port"))
    assert (found["xid-79-fallen-off-bus"], found["eth-rx-discards"]) == (State.ABSENT, State.PRESENT)


@pytest.mark.parametrize(
    "text",
    [
        "Is it a bad cable?",
        "Could it be that a GPU fell off the bus?",
        "What if the IB port is down",
        "Rebooting the node did not help",
        "Replacing the InfiniBand cable made no difference",
        "The other nodes never lost a GPU from the bus",
        "We have eight nodes with eight GPUs each and train a language model",
        "Thanks in advance, any pointers are welcome",
    ],
)
def test_unclear_statement_attaches_nothing(index: PhraseIndex, text: str) -> None:
    """Questions, suppositions, attempts, parts that are not affected and small talk give no finding."""
    assert states(index.attach(text)) == {}


def test_unattached_statement_names_the_nearest(index: PhraseIndex) -> None:
    """A statement without a finding suggests at most three observables, the likeliest first."""
    (part,) = index.attach("we think about a bad optical cable")
    scores = [suggestion.score for suggestion in part.nearest]
    assert (part.findings, 1 <= len(scores) <= 3, scores) == ((), True, sorted(scores, reverse=True))


@pytest.mark.parametrize(
    ("text", "observable", "state"),
    [
        ("no Xid", "xid-79-fallen-off-bus", State.ABSENT),
        ("GPU temperature normal", "dcgm-gpu-temp-at-slowdown", State.ABSENT),
        ("GPU temperature", "dcgm-gpu-temp-at-slowdown", State.ABSENT),
        ("NVLink errors", "xid-74-nvlink-error", State.ABSENT),
        ("nccl-tests at baseline", "nccl-test-busbw-low", State.ABSENT),
        ("IB ports Active", "ibstat-port-active", State.PRESENT),
    ],
)
def test_checked_and_normal(index: PhraseIndex, text: str, observable: str, state: State) -> None:
    """Among what was checked, a fault that is named is absent and a good state that is named is present."""
    assert states(index.attach(text, State.ABSENT)).get(observable) == state


@pytest.mark.parametrize(
    "text",
    [
        "does not happen on other nodes",
        "upgrading NCCL does not change the hang",
        "the watchdog message itself can have any number of causes",
    ],
)
def test_checked_but_unclear_attaches_nothing(index: PhraseIndex, text: str) -> None:
    """Among what was checked, a statement that is not clearly about a normal state gives no finding."""
    assert states(index.attach(text, State.ABSENT)) == {}


def test_doubt_lowers_the_confidence(index: PhraseIndex) -> None:
    """A hedge leaves the finding and lowers its confidence."""
    sure = index.attach("Xid 79 in dmesg")[0].findings[0]
    unsure = index.attach("maybe Xid 79 in dmesg")[0].findings[0]
    assert (sure.observable, sure.confidence > unsure.confidence) == (unsure.observable, True)


def test_words_come_from_the_statement(index: PhraseIndex) -> None:
    """The words of a finding stand in the statement, as they were written."""
    (part,) = index.attach("the RoCE port counts rx_discards_phy")
    assert [word in part.text for finding in part.findings for word in finding.words] != []
    assert all(word in part.text for finding in part.findings for word in finding.words)


def test_offsets_point_into_the_text(index: PhraseIndex) -> None:
    """Each statement begins at its offset in the text, so that the line can be told."""
    text = "- first item: no Xid\n- second item; a third part\n\nA paragraph. With two sentences."
    assert [text.startswith(part.text, part.offset) for part in index.attach(text)] == [True] * 5


def test_one_statement_may_give_two_findings(index: PhraseIndex) -> None:
    """Two things named in one clause are both found."""
    found = states(index.attach("Xid 79 on GPU 3 and out_of_buffer goes up on the RoCE port"))
    assert {"xid-79-fallen-off-bus", "hw-out-of-buffer"} <= set(found)


def test_same_text_same_findings(core_lexicon: Lexicon, index: PhraseIndex) -> None:
    """Reading is deterministic, over calls and over indexes."""
    text = "Job hangs at step 100, all ranks at 100 % util. No Xid, IB port down on one host."
    assert index.attach(text) == PhraseIndex(core_lexicon).attach(text)


@pytest.mark.parametrize(
    "text",
    [
        "no Xid, " * 600_000,
        "a" * 5_000_000,
        ". " * 2_000_000,
        "\n" * 4_000_000,
        "- item with Xid 79 and rx_discards_phy\n" * 120_000,
        '"' * 3_000_000,
        "no x, " + "y" * 4_000_000,
    ],
    ids=["commas", "one-word", "full-stops", "line-ends", "repeats", "quotes", "long-word"],
)
def test_huge_text_takes_bounded_time(index: PhraseIndex, text: str) -> None:
    """A text of megabytes is read in seconds, and what is not read is said."""
    started = time.perf_counter()
    parts = index.attach(text)
    assert time.perf_counter() - started < 10
    assert len(parts) <= MAX_CLAUSES + 1
    assert parts[-1].note is not None


def test_empty_text_gives_nothing(index: PhraseIndex) -> None:
    """No statement, no attachment."""
    assert index.attach(" \n\n - \n") == []


def test_empty_lexicon_attaches_nothing() -> None:
    """Without any observable every statement stays unattached."""
    (part,) = PhraseIndex(Lexicon((), "none")).attach("GPU fell off the bus")
    assert (part.findings, part.nearest) == ((), ())


def test_cache_gives_the_same_findings(core_lexicon: Lexicon, index: PhraseIndex, tmp_path: Path) -> None:
    """An index from the cache reads as one that was built anew; a damaged cache is passed over."""
    text = "no Xid, GPU 3 fell off the bus"
    expected = index.attach(text)
    PhraseIndex(core_lexicon, tmp_path)
    (kept,) = tmp_path.glob("phrases-*.json")
    assert PhraseIndex(core_lexicon, tmp_path).attach(text) == expected
    kept.write_text("[1, 2")
    assert PhraseIndex(core_lexicon, tmp_path).attach(text) == expected


def test_codes_are_read_out_of_the_lexicon() -> None:
    """A code belongs to the observable whose signature names it; nothing lists codes by hand."""
    entry = LexiconEntry(
        id="made-up-fault",
        kind=ObservableKind.LOG,
        says="A made-up fault",
        source="kernel log",
        signature=r"NVRM: Xid \(PCI:[^)]+\): 999, ",
        specificity=Specificity.STRONG,
    )
    (part,) = PhraseIndex(Lexicon((entry,), "one")).attach("we saw XID 999 twice")
    assert [finding.observable for finding in part.findings] == ["made-up-fault"]


def test_phrases_find_their_observable_without_themselves(core_lexicon: Lexicon) -> None:
    """Each phrase left out, the others find its observable about as often as the confidence says, or more."""
    report = leave_one_phrase_out(core_lexicon)
    assert report.first / report.phrases > 0.65
    assert report.first_three / report.phrases > 0.82
    assert all(part.precision >= part.lowest for part in report.bins)
