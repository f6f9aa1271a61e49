"""A failure graph as a drawing: Mermaid and DOT.

Nodes are numbered, so no id from a pack ever becomes syntax; labels pass the escape of their surface.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from failgraph.render.escape import dot, mermaid, one_line

USUAL: Final = 0.5
"""A step of at least this probability is drawn as a full line."""
LABEL_WIDTH: Final = 28
"""Letters of a label before a new line."""
_CLASS_NAMES: Final = {"class": "failure"}
"""Style names in Mermaid, where a kind's own name is a word of its language."""


@dataclass(frozen=True)
class DrawnNode:
    """A node: ``kind`` is class, mechanism, symptom or evidence; ``group`` is the layer it is drawn in."""

    id: str
    label: str
    kind: str
    group: str | None = None


@dataclass(frozen=True)
class DrawnEdge:
    """An arrow: ``relation`` as in the graph, ``strength`` its probability if it has one."""

    start: str
    end: str
    relation: str
    strength: float | None = None


@dataclass(frozen=True)
class Drawing:
    """What is drawn; edges whose ends are not among the nodes are left out."""

    title: str
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]

    def numbered(self) -> dict[str, str]:
        """Return the drawn name of each node: n1, n2 ... in order."""
        return {node.id: f"n{number}" for number, node in enumerate(self.nodes, start=1)}

    def groups(self) -> list[tuple[str | None, list[DrawnNode]]]:
        """Return the nodes by group, groups in order of their first node; without a group first."""
        found: dict[str | None, list[DrawnNode]] = {None: []}
        for node in self.nodes:
            found.setdefault(node.group, []).append(node)
        return list(found.items())

    def drawn_edges(self) -> list[DrawnEdge]:
        """Return the edges between drawn nodes."""
        known = {node.id for node in self.nodes}
        return [edge for edge in self.edges if edge.start in known and edge.end in known]


def mermaid_drawing(drawing: Drawing) -> str:
    """Return the drawing as a Mermaid flow chart that ends with a newline."""
    names = drawing.numbered()
    shapes = {"class": ("([", "])"), "mechanism": ("[", "]"), "symptom": ("(", ")"), "evidence": ("[/", "/]")}
    lines = [
        "---",
        f"title: {json.dumps(one_line(drawing.title), ensure_ascii=False)}",
        "---",
        "flowchart LR",
    ]
    for number, (group, nodes) in enumerate(drawing.groups()):
        indent = "  "
        if group is not None:
            lines.append(f'  subgraph g{number} ["{mermaid(group)}"]')
            indent = "    "
        for node in nodes:
            opening, closing = shapes[node.kind]
            label = "<br/>".join(mermaid(part) for part in _folded(node.label))
            lines.append(
                f'{indent}{names[node.id]}{opening}"{label}"{closing}:::{_CLASS_NAMES.get(node.kind, node.kind)}'
            )
        if group is not None:
            lines.append("  end")
    for edge in drawing.drawn_edges():
        arrow = "-->" if _solid(edge) else "-.->"
        label = f"|{_strength(edge)}|" if edge.strength is not None else ""
        lines.append(f"  {names[edge.start]} {arrow}{label} {names[edge.end]}")
    lines += [
        "  classDef failure fill:#fde2e1,stroke:#b3261e,color:#000",
        "  classDef mechanism fill:#e3ecfb,stroke:#3b5b92,color:#000",
        "  classDef symptom fill:#fff4d6,stroke:#8a6d00,color:#000",
        "  classDef evidence fill:#e4f3e2,stroke:#2e6b2a,color:#000",
    ]
    return "\n".join(lines) + "\n"


def dot_drawing(drawing: Drawing) -> str:
    """Return the drawing as a DOT graph that ends with a newline."""
    names = drawing.numbered()
    styles = {
        "class": 'shape=box, style="rounded,filled", fillcolor="#fde2e1"',
        "mechanism": 'shape=box, style="filled", fillcolor="#e3ecfb"',
        "symptom": 'shape=ellipse, style="filled", fillcolor="#fff4d6"',
        "evidence": 'shape=note, style="filled", fillcolor="#e4f3e2"',
    }
    lines = [
        "digraph failure {",
        f'  graph [label="{dot(drawing.title)}", labelloc=t, rankdir=LR, fontname="sans-serif"];',
        '  node [fontname="sans-serif", fontsize=10];',
        '  edge [fontname="sans-serif", fontsize=9];',
    ]
    for number, (group, nodes) in enumerate(drawing.groups()):
        indent = "  "
        if group is not None:
            lines += [f"  subgraph cluster_{number} {{", f'    label="{dot(group)}"; color="#999999";']
            indent = "    "
        for node in nodes:
            label = "\\n".join(dot(part) for part in _folded(node.label))
            lines.append(f'{indent}{names[node.id]} [label="{label}", {styles[node.kind]}];')
        if group is not None:
            lines.append("  }")
    for edge in drawing.drawn_edges():
        parts = [] if _solid(edge) else ["style=dashed"]
        if edge.strength is not None:
            parts.append(f'label="{_strength(edge)}"')
        tail = f" [{', '.join(parts)}]" if parts else ""
        lines.append(f"  {names[edge.start]} -> {names[edge.end]}{tail};")
    return "\n".join([*lines, "}"]) + "\n"


def _solid(edge: DrawnEdge) -> bool:
    return edge.strength is None or edge.strength >= USUAL


def _strength(edge: DrawnEdge) -> str:
    return f"{edge.strength:.2f}" if edge.strength is not None else ""


def _folded(label: str) -> Iterable[str]:
    """Give a label in lines of a readable width.

    >>> list(_folded("the collective waits for a rank that never comes"))
    ['the collective waits for a', 'rank that never comes']
    """
    line = ""
    for word in label.split():
        if line and len(line) + 1 + len(word) > LABEL_WIDTH:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    yield line
