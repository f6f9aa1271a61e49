"""A failure graph as Mermaid and DOT."""

from __future__ import annotations

import re

import pytest

from failgraph.render.drawing import Drawing, DrawnEdge, DrawnNode, dot_drawing, mermaid_drawing
from tests.unit.failgraph.test_escape import HOSTILE

DRAWING = Drawing(
    "Shared memory too small",
    (
        DrawnNode("shm-small", "Shared memory too small", "class"),
        DrawnNode("no-segment", "no segment", "mechanism", "host"),
        DrawnNode("nccl-shm-failed", "the collective library could not make its segment", "evidence", "host"),
        DrawnNode("init-error", "start fails", "symptom"),
    ),
    (
        DrawnEdge("shm-small", "no-segment", "ROOTED_IN"),
        DrawnEdge("no-segment", "nccl-shm-failed", "SHOWS", 0.75),
        DrawnEdge("no-segment", "init-error", "SHOWS", 0.35),
        DrawnEdge("no-segment", "elsewhere", "CAUSES", 0.9),
    ),
)


def test_mermaid_drawing() -> None:
    """Nodes stand in the group of their layer; likely steps are full lines, others dashed."""
    expected = """\
---
title: "Shared memory too small"
---
flowchart LR
  n1(["Shared memory too small"]):::failure
  n4("start fails"):::symptom
  subgraph g1 ["host"]
    n2["no segment"]:::mechanism
    n3[/"the collective library could<br/>not make its segment"/]:::evidence
  end
  n1 --> n2
  n2 -->|0.75| n3
  n2 -.->|0.35| n4
"""
    assert mermaid_drawing(DRAWING).startswith(expected)


def test_dot_drawing() -> None:
    """The DOT text has a cluster for each layer and an arrow for each step between drawn nodes."""
    text = dot_drawing(DRAWING)
    assert text.count("->") == 3
    assert 'n3 [label="the collective library could\\nnot make its segment", shape=note' in text
    assert '  n2 -> n4 [style=dashed, label="0.35"];' in text
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("words", HOSTILE)
def test_labels_never_become_syntax(words: str) -> None:
    """Whatever a pack names a node, the drawing has the same nodes and arrows."""
    hostile = Drawing(
        words,
        tuple(DrawnNode(words + node.id, words, node.kind, words) for node in DRAWING.nodes),
        tuple(
            DrawnEdge(words + edge.start, words + edge.end, words, edge.strength) for edge in DRAWING.edges
        ),
    )
    chart = mermaid_drawing(hostile)
    assert len(re.findall(r"^ +n\d\S* ", chart, re.MULTILINE)) >= 3
    assert len(re.findall(r"^  n\d (?:-->|-\.->)(?:\|0\.\d\d\|)? n\d$", chart, re.MULTILINE)) == 3
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', '""', dot_drawing(hostile))
    assert len(re.findall(r"^  n\d -> n\d(?: \[[^\]]*\])?;$", outside, re.MULTILINE)) == 3
    assert outside.count("{") == outside.count("}") == 2
