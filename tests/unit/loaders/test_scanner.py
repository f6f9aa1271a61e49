"""Signatures are found alike by all engines, on the right lines, and the compiled form is kept safely."""

from __future__ import annotations

import stat
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failgraph.loaders.engines import ENGINE_NAMES, HyperscanEngine, available_engines
from failgraph.loaders.lexicon import checksum_of, lexicon_of
from failgraph.loaders.packs import core_pack_path, read_pack
from failgraph.loaders.scanner import SCANNED_KINDS, Scanner
from failgraph.loaders.signature import parse_signature
from failgraph.schema.errors import PackError, UsageError
from failgraph.schema.lexicon import Lexicon, LexiconEntry
from failgraph.schema.pack import ObservableItem, PackContent
from tests.small_lexicon import entry, small_lexicon

SAMPLES: Final = Path(__file__).parents[2] / "samples"
KERNEL_PREFIX: Final = b"[430954.509118] "


@cache
def core_pack() -> PackContent:
    """Return the core pack."""
    return read_pack(core_pack_path())


@cache
def scanner_of(engine: str, *, core: bool = False) -> Scanner:
    """Return a scanner of the core pack or of the small catalogue."""
    return Scanner(lexicon_of([core_pack()]) if core else small_lexicon(), engine=engine)


def lexicon_with(*entries: LexiconEntry) -> Lexicon:
    """Return a catalogue of these observables."""
    return Lexicon(entries, checksum_of(entries))


def hits_of(scanner: Scanner, data: bytes) -> tuple[list[Any], list[Any]]:
    """Return what a scanner finds in whole lines."""
    return scanner.scan(data if data.endswith(b"\n") else data + b"\n")


SCANNED: Final = [item for item in core_pack().observables if item.kind in SCANNED_KINDS]


# -- signatures


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"Out of memory: Killed process \d+ \(", (b"Out of memory: Killed process ",)),
        (r"(?:Nodes \S+ down|Reason=down)", (b"Nodes ", b"Reason=down")),
        (r"(?:optional )?text", (b"text",)),
        (r"abc+d", (b"abc",)),
        (r"a\.b\tc", (b"a.b\tc",)),
        (r"(?i)CUDA Error", (b"cuda error",)),
        (r"\d{5}", ()),
    ],
)
def test_required_text_of_a_signature(pattern: str, literals: tuple[bytes, ...]) -> None:
    """The fixed text that every match contains is found, if there is any."""
    assert literals == parse_signature("one", pattern).literals


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(open", "not valid"),
        ("a*", "matches an empty line"),
        ("(?=ahead)text", "looks ahead"),
        (r"(?<!behind)text", "looks ahead"),
        (r"text\Z", "not read alike"),
        (r"[\S]text", "in a character class"),
        ("(?x) te xt", "flag 'x'"),
        ("(?i:te)xt", "in a part only"),
        (r"(a)\1text", "not read alike"),
    ],
)
def test_signature_that_engines_read_differently_is_refused(pattern: str, words: str) -> None:
    """What is not in the common part of the three engines is refused, and the message names the observable."""
    with pytest.raises(PackError, match=words) as caught:
        parse_signature("some-observable", pattern)
    assert "some-observable" in str(caught.value)


def test_multiline_signature_needs_fixed_text() -> None:
    """Without fixed text there is nothing to find the block by."""
    with pytest.raises(PackError, match="no fixed text"):
        parse_signature("one", r"(?s)\d+.{0,9}\d+", multiline=True)


# -- engines find the same


def test_all_engines_are_tested() -> None:
    """This suite is worth its name only where all three engines are installed."""
    assert list(ENGINE_NAMES) == list(available_engines())


@pytest.mark.parametrize("engine", ENGINE_NAMES)
@pytest.mark.parametrize("item", SCANNED, ids=lambda item: item.id)
def test_signature_matches_its_examples_only(item: ObservableItem, engine: str) -> None:
    """Each signature of the core pack matches its examples and none of its counter-examples, in every engine."""
    scanner = scanner_of(engine, core=True)

    assert item.examples
    assert [item.id] * len(item.examples) == [
        item.id if item.id in scanner.matches(text) else text for text in item.examples
    ]
    assert not [text for text in item.not_examples if item.id in scanner.matches(text)]


@pytest.mark.parametrize(
    "path",
    sorted(path for path in SAMPLES.glob("*/*") if path.is_file() and path.suffix != ".yaml"),
    ids=lambda path: path.name,
)
def test_engines_agree_on_samples(path: Path) -> None:
    """All engines find the same lines in every sample, with the signatures of the core pack."""
    data = path.read_bytes()
    expected = hits_of(scanner_of("re", core=True), data)

    assert expected == hits_of(scanner_of("re2", core=True), data)
    assert expected == hits_of(scanner_of("hyperscan", core=True), data)


FRAGMENTS: Final = sorted(
    {
        piece
        for item in SCANNED
        for example in item.examples
        for piece in (example, example[: len(example) // 2])
    }
)


@given(
    st.lists(
        st.one_of(
            st.sampled_from(FRAGMENTS),
            st.text(st.characters(codec="utf-8"), max_size=12),
            st.sampled_from(
                ["\n", "\r", "\x0b", "\x00", "\t", " ", "\x85", "\u2028", "é", ": ", "[", "]", "("]
            ),
        ),
        max_size=12,
    )
)
@settings(max_examples=150, deadline=None, database=None)
def test_engines_agree_on_any_text(pieces: list[str]) -> None:
    """All engines find the same, whatever stands around and inside the lines."""
    data = "".join(pieces).encode()
    expected = hits_of(scanner_of("re", core=True), data)

    assert expected == hits_of(scanner_of("re2", core=True), data)
    assert expected == hits_of(scanner_of("hyperscan", core=True), data)


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_case_is_ignored_where_the_signature_says_so(engine: str) -> None:
    """The flag (?i) works in every engine, and only for its signature."""
    scanner = scanner_of(engine)

    assert {"ecc-error"} == scanner.matches("CUDA ERROR: uncorrectable ECC error encountered")
    assert set() == scanner.matches("NO SPACE LEFT ON DEVICE")


@pytest.mark.parametrize("engine", ENGINE_NAMES)
@pytest.mark.parametrize(
    "text",
    [
        "NVRM: Xid (PCI:0000:9b:00): 79, GPU has\nfallen off the bus",
        "No space left\non device",
        "Connected\nall rings",
    ],
)
def test_signature_never_runs_over_a_line_end(text: str, engine: str) -> None:
    """White space and negated classes of a signature stay within the line."""
    assert set() == scanner_of(engine).matches(text)


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_line_start_is_also_behind_the_prefix(engine: str) -> None:
    """A signature that begins with ^ matches at the start of a line and behind the line's prefix, nowhere else."""
    scanner = scanner_of(engine)
    data = b"Connected all rings\n[4.500000] Connected all trees\nnot Connected all rings\n"

    hits, _ = scanner.scan(data, lambda line: 11 if line.startswith(b"[") else 0)

    assert [0, 20] == [hit.start for hit in hits]


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_flood_is_counted_line_by_line(engine: str) -> None:
    """A thousand equal lines are a thousand hits, also when the engine is believed without confirmation."""
    line = KERNEL_PREFIX + b"NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.\n"

    hits, _ = scanner_of(engine).scan(line * 1000)

    assert 1000 == len(hits)
    assert [len(line) * number for number in range(1000)] == [hit.start for hit in hits]


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_several_signatures_on_one_line(engine: str) -> None:
    """Each signature on a line is a hit of its own, once."""
    text = "No space left on device; No space left on device; Connection closed: Net : Connection closed by remote peer"

    assert {"disk-full", "nccl-closed"} == scanner_of(engine).matches(text)


def test_part_of_the_data_is_searched() -> None:
    """A block inside a larger piece of data is searched, and places are those in the data."""
    data = b"No space left on device\n" * 3

    for engine in ENGINE_NAMES:
        hits, _ = scanner_of(engine).scan(data, start=24, end=48)
        assert [(24, 47)] == [(hit.start, hit.end) for hit in hits]


def test_catalogue_without_signatures_finds_nothing() -> None:
    """An empty catalogue can be searched for."""
    for engine in ENGINE_NAMES:
        assert set() == Scanner(lexicon_with(), engine=engine).matches("No space left on device")


def test_long_line_costs_linear_time() -> None:
    """A line made to provoke backtracking is settled quickly, because RE2 confirms."""
    hostile = "NVRM: Xid (PCI:" * 4000 + "): 31, MMU Fault: ENGINE x faulted @ 0x"

    assert "xid-31-mmu-fault" not in scanner_of("hyperscan", core=True).matches(hostile)


# -- the compiled database


def test_compiled_database_is_kept_and_used_again(tmp_path: Path) -> None:
    """The second start loads what the first compiled; the file is the user's alone."""
    first = Scanner(small_lexicon(), engine="hyperscan", cache_dir=tmp_path / "cache")
    second = Scanner(small_lexicon(), engine="hyperscan", cache_dir=tmp_path / "cache")

    (kept,) = (tmp_path / "cache").glob("signatures-*")
    assert 0o600 == stat.S_IMODE(kept.stat().st_mode)
    assert [False, True] == [_engine(scanner).from_cache for scanner in (first, second)]
    assert {"disk-full"} == second.matches("No space left on device")


@pytest.mark.parametrize("damage", ["cut", "changed", "other", "empty"])
def test_damaged_database_is_compiled_anew(tmp_path: Path, damage: str) -> None:
    """A cache file that is not what it was is never loaded."""
    Scanner(small_lexicon(), engine="hyperscan", cache_dir=tmp_path)
    (kept,) = tmp_path.glob("signatures-*")
    content = kept.read_bytes()
    changed = bytearray(content)
    changed[-1] ^= 1
    kept.write_bytes(
        {"cut": content[:-100], "changed": bytes(changed), "other": b"x" * 200, "empty": b""}[damage]
    )

    scanner = Scanner(small_lexicon(), engine="hyperscan", cache_dir=tmp_path)

    assert not _engine(scanner).from_cache
    assert {"disk-full"} == scanner.matches("No space left on device")


def test_database_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    """A cache file that somebody else could have made is not trusted."""
    Scanner(small_lexicon(), engine="hyperscan", cache_dir=tmp_path)
    (kept,) = tmp_path.glob("signatures-*")
    kept.chmod(0o666)

    assert not _engine(Scanner(small_lexicon(), engine="hyperscan", cache_dir=tmp_path)).from_cache


def test_cache_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    """Where the cache directory cannot be made, scanning goes on without it."""
    (tmp_path / "file").write_text("in the way")

    scanner = Scanner(small_lexicon(), engine="hyperscan", cache_dir=tmp_path / "file" / "cache")

    assert {"disk-full"} == scanner.matches("No space left on device")


def test_few_databases_are_kept(tmp_path: Path) -> None:
    """Changed catalogues do not fill the disk with old databases."""
    for number in range(7):
        Scanner(
            lexicon_with(entry("one", "job log", f"text {number}")), engine="hyperscan", cache_dir=tmp_path
        )

    assert len(list(tmp_path.glob("signatures-*"))) <= 4


def _engine(scanner: Scanner) -> HyperscanEngine:
    engine = scanner._engine
    assert isinstance(engine, HyperscanEngine)
    return engine


# -- usage


def test_unknown_engine_is_refused() -> None:
    """The message names the engines there are."""
    with pytest.raises(UsageError, match="hyperscan, re2, re"):
        Scanner(small_lexicon(), engine="grep")


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine whose package is missing is refused by name, and auto takes the next one."""
    monkeypatch.setattr(
        "failgraph.loaders.engines.find_spec", lambda name: None if name == "hyperscan" else object()
    )

    with pytest.raises(UsageError, match="not installed"):
        Scanner(small_lexicon(), engine="hyperscan")
    assert "re2" == Scanner(small_lexicon()).engine


def test_lexicon_of_two_packs_with_one_observable_is_refused() -> None:
    """An observable is defined once."""
    with pytest.raises(PackError, match="is defined by the packs"):
        lexicon_of([core_pack(), core_pack()])


def test_lexicon_is_ordered_and_its_checksum_tells_changes() -> None:
    """Entries are in the order of their ids; another entry, another checksum."""
    lexicon = lexicon_of([core_pack()])

    assert sorted(item.id for item in lexicon.entries) == [item.id for item in lexicon.entries]
    assert lexicon.checksum != checksum_of(lexicon.entries[1:])
    assert lexicon.checksum == checksum_of(lexicon.entries)
