"""Sheets and drawings of the catalogue, from rows of their queries."""

from __future__ import annotations

from typing import Any

import pytest
from markdown_it import MarkdownIt

from failgraph.render.catalogue import class_drawing, class_sheet, mechanism_sheet, observable_sheet
from failgraph.render.page import PIPE, Surface
from failgraph.render.sheet import list_text, sheet_markdown, sheet_text

CHECK = {
    "id": "shm",
    "command": "df -h /dev/shm",
    "cost": "seconds",
    "safe": True,
    "read_it": "64M is the default.",
}
CLASS: dict[str, Any] = {
    "id": "shm-small",
    "name": "Shared memory too small",
    "summary": "The mount is too small.",
    "kind": "fault",
    "status": "accepted",
    "prior": 1.5,
    "revision": 2,
    "aliases": [],
    "pack": "core",
    "note": None,
    "layer": "host",
    "root": {"id": "mount-small", "name": "The mount is small"},
    "mechanisms": [
        {"id": "mount-small", "name": "The mount is small", "layer": "host"},
        {"id": "init-failure", "name": "Set-up fails", "layer": "framework"},
    ],
    "chain": [["mount-small", "init-failure", 0.75], ["init-failure", "mount-small", 0.1]],
    "expects": [
        {
            "observable": "no-segment",
            "says": "No segment",
            "kind": "log",
            "specificity": "strong",
            "probability": 0.75,
            "word": "usually",
        }
    ],
    "refuters": [
        {"observable": "disk-full", "when": "present", "because": "It is the disk.", "factor": None}
    ],
    "presentations": [{"name": "at init", "description": "Fails.", "shows": ["no-segment"], "lacks": []}],
    "circumstances": [
        {"id": "scope.one-job", "means": "one job", "probability": 0.65},
        {"id": "scope.one-gpu", "means": "one GPU", "probability": 0.01},
    ],
    "checks": [CHECK],
    "remedies": ["Make it larger."],
    "preventions": [],
    "sources": ["a source"],
    "specialises": [],
}
STEPS: list[dict[str, Any]] = [
    {
        "from_id": "mount-small",
        "from_name": "The mount is small",
        "from_layer": "host",
        "relation": "SHOWS",
        "to_id": "no-segment",
        "to_name": "No segment",
        "to_layer": None,
        "to_kind": "log",
        "strength": 0.75,
        "word": "usually",
    }
]
CLASS_TEXT = """\
Shared memory too small
shm-small
The mount is too small.
layer:  host
kind:   fault
status: accepted, revision 2, pack core
prior:  1.5 times the average

How it spreads
  mount-small: root. The mount is small (layer host)
    init-failure: 0.75. Set-up fails (layer framework)
      mount-small: 0.10. The mount is small (layer host) (continued above)

What one sees (probability when this is the cause)
  no-segment: 75.0 %, log. No segment

What speaks against it
  disk-full: when present. It is the disk.

Its faces
  • at init: Fails.
    shows: no-segment

Checks
  df -h /dev/shm
    Takes seconds. 64M is the default.

Repair
  • Make it larger.

What is usual around it
  scope.one-job: 65.0 %. one job
  • 1 rarer than 10.0 % (--format json has all)

Sources
  • a source
"""


def test_class_as_text() -> None:
    """A class's sheet goes from how it spreads to what to do; empty sections are left out, a loop ends."""
    assert sheet_text(class_sheet(CLASS), PIPE) == CLASS_TEXT


def test_class_as_markdown() -> None:
    """The Markdown sheet has the same sections."""
    document = sheet_markdown(class_sheet(CLASS))
    headings = [line.removeprefix("## ") for line in document.splitlines() if line.startswith("## ")]
    assert headings == [line for line in CLASS_TEXT.splitlines() if line in headings]
    assert "  - `init-failure`: 0.75. Set-up fails (layer framework)\n" in document


def test_class_drawing_starts_at_the_class() -> None:
    """The drawing joins the class to its root and shows what each step leaves."""
    drawing = class_drawing(CLASS, STEPS)
    assert [(node.id, node.kind, node.group) for node in drawing.nodes] == [
        ("class:shm-small", "class", None),
        ("mechanism:mount-small", "mechanism", "host"),
        ("observable:no-segment", "evidence", None),
    ]
    assert [(edge.start, edge.end, edge.relation) for edge in drawing.edges] == [
        ("class:shm-small", "mechanism:mount-small", "ROOTED_IN"),
        ("mechanism:mount-small", "observable:no-segment", "SHOWS"),
    ]


def test_observable_as_text() -> None:
    """An observable's sheet says where it is seen, who shows it and which classes explain it."""
    row = {
        "id": "no-segment",
        "kind": "log",
        "says": "No segment",
        "source": "NCCL log",
        "signature": r"shm: \S+",
        "multiline": True,
        "specificity": "strong",
        "leak": 0.005,
        "verified": True,
        "verification": "seen in source",
        "seen_in": None,
        "because": None,
        "phrases": ["no room in shm"],
        "negated": [],
        "examples": ["shm: failed"],
        "not_examples": [],
        "metric": None,
        "note": None,
        "pack": "core",
        "shown_by": [
            {
                "mechanism": "mount-small",
                "name": "The mount is small",
                "layer": "host",
                "strength": 0.75,
                "word": "usually",
                "because": "It is made there.",
            }
        ],
        "classes": [["shm-small", 0.75, "usually"]],
        "refutes": [],
        "checks": [CHECK],
        "implies": ["job-log-error"],
        "implied_by": [],
    }
    text = sheet_text(observable_sheet(row), PIPE)
    for words in (
        "signature:   shm: \\S+ (over several lines)\n",
        "specificity: strong: seen without its causes in 0.5 % of incidents\n",
        "verified:    yes (seen in source)\n",
        "implies:     job-log-error\n",
        "  mount-small: usually, layer host. The mount is small\n    It is made there.\n",
        "  shm-small: 75.0 %\n",
        "  • no room in shm\n",
    ):
        assert words in text


def test_mechanism_as_text() -> None:
    """A mechanism's sheet has what brings it about, what it brings about and what it shows."""
    row = {
        "id": "mount-small",
        "name": "The mount is small",
        "summary": None,
        "note": None,
        "pack": "core",
        "layer": "host",
        "causes": [{"id": "init-failure", "name": "Set-up fails", "layer": "framework", "strength": 0.75}],
        "caused_by": [],
        "shows": [
            {
                "observable": "no-segment",
                "says": "No segment",
                "kind": "log",
                "strength": 0.75,
                "word": "usually",
            }
        ],
        "rooted": ["shm-small"],
        "classes": ["shm-small", "other"],
    }
    expected = """\
The mount is small
mount-small
layer:   host
pack:    core
starts:  shm-small
step of: other

Brings about (probability)
  init-failure: 0.75, layer framework. Set-up fails

Shows
  no-segment: usually, log. No segment
"""
    assert sheet_text(mechanism_sheet(row), PIPE) == expected


WORDS = "a\x1b[31m [bold]b[/bold] <b>c</b> [d](http://e) | f\n# g"


def test_what_a_pack_says_is_data() -> None:
    """Whatever a site pack writes, text and Markdown stay what they are."""
    hostile = {
        **CLASS,
        "name": WORDS,
        "summary": WORDS,
        "remedies": [WORDS],
        "expects": [{**CLASS["expects"][0], "says": WORDS}],
        "checks": [{**CHECK, "command": WORDS, "read_it": WORDS}],
    }
    text = sheet_text(class_sheet(hostile), PIPE)
    assert "\x1b" not in text
    assert "[bold]b[/bold]" in text
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(
        sheet_markdown(class_sheet(hostile))
    )
    kinds = {token.type for token in tokens} | {
        child.type for token in tokens for child in token.children or ()
    }
    assert {"html_block", "html_inline", "link_open", "table_open", "fence"} & kinds == set()


@pytest.mark.parametrize(
    ("cut", "last"),
    [(False, "b   host  " + "long " * 20), (True, ("b   host  " + "long " * 20)[:59].rstrip() + "…")],
)
def test_lists_are_cut_on_a_terminal_only(cut: bool, last: str) -> None:
    """In a pipe a list has whole lines, so that it can be searched."""
    rows = [("aa", "gpu", "short"), ("b", "host", "long " * 20)]
    lines = list_text(rows, Surface(width=60), cut=cut).splitlines()
    assert lines[0] == "aa  gpu   short"
    assert lines[1] == last.rstrip()
