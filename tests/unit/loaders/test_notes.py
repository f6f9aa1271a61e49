"""Incident notes: sections say how things stand, code is an excerpt, a wrong front matter names its line."""

from __future__ import annotations

import pytest

from failgraph.loaders.notes import LONGEST_NOTE, Part, read_note
from failgraph.loaders.statements import is_prose, prose_passages
from failgraph.schema.errors import FailgraphError, PackError, UsageError
from failgraph.schema.exchange import State


def parts_of(text: str) -> list[tuple[str, int, str, str]]:
    """Return text, first line, state and kind of every passage of a note."""
    note = read_note(text.encode(), "note.md")
    return [
        (passage.text, passage.line, passage.state.value, passage.part.value) for passage in note.passages
    ]


def test_sections_say_how_things_stand() -> None:
    """Observed is present, checked and normal absent, learnt later left out, anything else present."""
    text = (
        "The job hangs.\n\n## Observed\n\n- one\n- two\n\n## Checked and normal\n\n- three\n\n"
        "### On the other nodes\n\nfour\n\n## Learnt later\n\n- five\n\n### Details\n\nsix\n\n## Impact\n\nseven\n"
    )

    assert [
        ("The job hangs.", 1, "present", "prose"),
        ("one", 5, "present", "prose"),
        ("two", 6, "present", "prose"),
        ("three", 10, "absent", "prose"),
        ("four", 14, "absent", "prose"),
        ("seven", 26, "present", "prose"),
    ] == parts_of(text)


@pytest.mark.parametrize(
    "heading",
    ["Learned later", "Root cause", "Root Causes", "Action items", "Lessons learned", "Resolution", "Fix"],
)
def test_what_was_not_known_at_first_is_left_out(heading: str) -> None:
    """Headings of postmortems that tell the end of the story count as learnt later."""
    assert [("before", 1, "present", "prose")] == parts_of(
        f"before\n\n### {heading}\n\nthe retimer was broken\n"
    )


def test_code_is_an_excerpt_wherever_it_stands() -> None:
    """Fenced and indented code was seen, in any section but the last; its line numbers are the file's."""
    text = "## Checked and normal\n\nwords\n\n```text\nline a\nline b\n```\n\n    indented\n\n## Learnt later\n\n```\nno\n```\n"

    assert [
        ("words", 3, "absent", "prose"),
        ("line a\nline b\n", 6, "present", "code"),
        ("indented\n", 10, "present", "code"),
    ] == parts_of(text)


def test_marks_of_markdown_are_taken_off() -> None:
    """Emphasis, links, code spans and tables give their words, tags and comments nothing."""
    text = (
        "It **hangs** at [step](http://example.com) `4413`\nagain\n\n<!-- no -->\n\n<b>bold</b>\n\n"
        "| when | what |\n|---|---|\n| 16:24 | timeout |\n\n1. first\n   - nested\n"
    )

    assert [
        "It hangs at step 4413\nagain",
        "bold",
        "when",
        "what",
        "16:24",
        "timeout",
        "first",
        "nested",
    ] == [part[0] for part in parts_of(text)]


def test_front_matter_is_read() -> None:
    """All keys are optional; dates may stand without quotes; lines of the body are counted from the file's start."""
    text = (
        "---\nid: inc-1\ntitle: Stall\nopened: 2026-02-22\nclosed: 2026-02-22T18:00:00Z  # evening\nstatus: confirmed\n"
        "context:\n  fabric: roce\n  changes:\n    - at: 2026-02-20 10:00\n      what: firmware\n"
        "window: 2026-02-22T16:00Z/1h\ncause:\n  accept: [pcie-fatal-error]\nconfirmed_by: swap\nsources: [ticket]\n"
        "entities: {host: gpu-a017}\nfix: drained\n---\nIt hangs.\n"
    )
    note = read_note(text.encode(), "note.md")

    front = note.front
    assert ("inc-1", "Stall", "2026-02-22", "2026-02-22T18:00:00Z") == (
        front.id,
        front.title,
        front.opened,
        front.closed,
    )
    assert "2026-02-22T16:00Z/1h" == front.window_text
    assert ("pcie-fatal-error",) == front.cause.accept
    assert {"fabric": "roce"} == front.context.model_extra
    assert ("2026-02-20 10:00", "firmware") == (front.context.changes[0].at, front.context.changes[0].what)
    assert [("It hangs.", 20)] == [(passage.text, passage.line) for passage in note.passages]


def test_window_as_start_and_end() -> None:
    """A window may be written in two keys."""
    note = read_note(b"---\nwindow: {start: 2026-02-22T16:00Z, end: 2026-02-22T17:00Z}\n---\n", "note.md")

    assert "2026-02-22T16:00Z/2026-02-22T17:00Z" == note.front.window_text


@pytest.mark.parametrize(
    ("front", "kind", "place", "words"),
    [
        (
            "opened: x\nsevrity: high",
            UsageError,
            "note.md:3:1",
            "no key `sevrity` here; known are cause, closed",
        ),
        ("opened: x\ncause:\n  acept: [a]", UsageError, "note.md:4:3", "no key `acept` here"),
        ("opened: x\nstatus: done", UsageError, "note.md:3:9", "`status` is not right"),
        ("opened: [1]", UsageError, "note.md:2:9", "`opened` is not right"),
        ("opened: x\nopened: y", PackError, "note.md:3:1", "stands twice"),
        ("opened: x\nfix: &a b\nsources: [*a]", PackError, "note.md:3", "alias"),
        ("opened: 'x\n", PackError, "note.md", ""),
    ],
)
def test_wrong_front_matter_names_its_place(
    front: str, kind: type[FailgraphError], place: str, words: str
) -> None:
    """An unknown key, a wrong value and bad YAML are refused with file, line and column."""
    with pytest.raises(kind) as caught:
        read_note(f"---\n{front}\n---\nIt hangs.\n".encode(), "note.md")
    assert str(caught.value).startswith(place)
    assert words in str(caught.value)


def test_front_matter_of_other_documents_is_passed_over() -> None:
    """A Markdown page of something else is read as text, whatever its front matter says."""
    note = read_note(b"---\nlayout: page\ntitle: About\n---\n\nwords\n", "page.md")

    assert None is note.front.title
    assert ["words"] == [passage.text for passage in note.passages]


def test_empty_front_matter() -> None:
    """Front matter without content is no mistake."""
    assert [("words", 3, "present", "prose")] == parts_of("---\n---\nwords\n\n## Observed\n")


def test_long_note_is_cut() -> None:
    """Of a very long note only the beginning is read, and it is said."""
    note = read_note(b"words\n\n" * (LONGEST_NOTE // 7 + 10), "note.md")

    assert note.truncated
    assert note.lines > LONGEST_NOTE // 4


@pytest.mark.parametrize(
    "text", ["[" * 20_000, "> " * 5_000 + "x", "*a_ " * 8_000, "- " * 3_000 + "x", "`" * 9_999]
)
def test_hostile_markdown_ends(text: str) -> None:
    """Deep nesting and unclosed marks cost no endless time and no stack."""
    read_note(text.encode(), "note.md")


# -- prose in plain text


@pytest.mark.parametrize(
    "line",
    [
        "All ranks hang in all-reduce, one GPU is idle.",
        "Step time went from 5.2 s to 9.8 s at 16:23 on all ranks, no errors",
        "- nothing in dmesg",
        "NCCL watchdog timeout on all ranks, one rank idle at 0% GPU util",
    ],
)
def test_sentence_is_prose(line: str) -> None:
    """What people write is told from output."""
    assert is_prose(line)


@pytest.mark.parametrize(
    "line",
    [
        "[430954.509118] NVRM: Xid (PCI:0000:52:00): 79, GPU has fallen off the bus.",
        "NVRM: Xid (PCI:0000:52:00): 79, GPU has fallen off the bus.",
        "[rank0]: RuntimeError: something is wrong with it",
        "    Remapping Failure Occurred        : No",
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-3f1c0a77-9d1e-4b52-8c60-5a1de0b7c411)",
        "State=DOWN+DRAIN ThreadsPerCore=2 TmpDisk=0 Weight=1",
        "yes",
        "",
        "a\tb is\tc",
    ],
)
def test_output_is_no_prose(line: str) -> None:
    """Lines of logs and tools are not read as sentences."""
    assert not is_prose(line)


def test_paragraphs_of_a_text() -> None:
    """Log lines, blank lines, fences and list items divide prose; numbers are those of the lines."""
    text = (
        "The job hangs\nafter a few hundred steps.\n[1.000000] usb 1-1: new device\nIt is the same on all nodes.\n\n"
        "- the first item is here\n- the second item is here\n```\nthis is a fence with words in it\n```\n"
    )
    found = [(passage.text, passage.line, passage.last_line) for passage in prose_passages(text)]

    assert [
        ("The job hangs\nafter a few hundred steps.", 1, 2),
        ("It is the same on all nodes.", 4, 4),
        ("the first item is here", 6, 6),
        ("the second item is here", 7, 7),
    ] == found


def test_output_with_sentences_is_no_prose() -> None:
    """Where most lines are a tool's table, its sentences are output, too."""
    table = "".join(f"GPU {number}   Fail   12 W\n" for number in range(9))

    assert not prose_passages("Missing data from one of the ranks.\n" + table)


def test_few_words_are_prose_when_somebody_typed_them() -> None:
    """What is typed at a prompt is prose, however short."""
    (passage,) = prose_passages("job hangs", strict=False)

    assert ("job hangs", State.PRESENT, Part.PROSE) == (passage.text, passage.state, passage.part)
    assert not prose_passages("job hangs")
