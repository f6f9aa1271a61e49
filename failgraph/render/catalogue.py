"""What is shown of classes, observables and mechanisms, from the rows of their queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from failgraph.render.drawing import Drawing, DrawnEdge, DrawnNode
from failgraph.render.outline import percent
from failgraph.render.sheet import Line, Section, Sheet

USUAL = 0.1
"""Circumstances of at least this probability are listed."""
Row = Mapping[str, Any]


def class_sheet(row: Row) -> Sheet:
    """Return the sheet of a class from a row of ``class_show``."""
    facts = [
        ("layer", str(row["layer"])),
        ("kind", str(row["kind"])),
        ("status", f"{row['status']}, revision {row['revision']}, pack {row['pack']}"),
        ("prior", f"{row['prior']:g} times the average"),
    ]
    facts += [(label, ", ".join(row[label])) for label in ("specialises", "aliases") if row[label]]
    return Sheet(
        id=row["id"],
        name=row["name"],
        summary=row["summary"],
        facts=tuple(facts),
        sections=(
            Section("How it spreads", _chain(row)),
            Section(
                "What one sees (probability when this is the cause)",
                tuple(
                    Line(
                        item["observable"], f"{percent(item['probability'])}, {item['kind']}. {item['says']}"
                    )
                    for item in row["expects"]
                ),
            ),
            Section(
                "What speaks against it",
                tuple(
                    Line(item["observable"], f"when {item['when']}. {item['because']}")
                    for item in row["refuters"]
                ),
            ),
            Section(
                "Its faces",
                tuple(
                    Line("", f"{item['name']}: {item['description']}", _face(item))
                    for item in row["presentations"]
                ),
            ),
            Section("Checks", _checks(row["checks"])),
            Section("Repair", tuple(Line("", text) for text in row["remedies"])),
            Section("Prevention", tuple(Line("", text) for text in row["preventions"])),
            Section(
                "What is usual around it",
                _circumstances(row["circumstances"]),
            ),
            Section("Sources", tuple(Line("", text) for text in row["sources"])),
        ),
    )


def observable_sheet(row: Row) -> Sheet:
    """Return the sheet of an observable from a row of ``observable_show``."""
    verified = "yes" if row["verified"] else "no"
    if row["verification"]:
        verified += f" ({row['verification']})"
    facts = [
        ("kind", str(row["kind"])),
        ("seen in", str(row["source"])),
        ("signature", str(row["signature"]) + (" (over several lines)" if row["multiline"] else "")),
        (
            "specificity",
            f"{row['specificity']}: seen without its causes in {percent(row['leak'])} of incidents",
        ),
        ("verified", verified),
        ("pack", str(row["pack"])),
    ]
    facts += [
        (label, ", ".join(row[key]))
        for label, key in (("implies", "implies"), ("implied by", "implied_by"))
        if row[key]
    ]
    if row["because"]:
        facts.append(("because", row["because"]))
    return Sheet(
        id=row["id"],
        name=row["says"],
        summary="",
        facts=tuple(facts),
        sections=(
            Section(
                "Mechanisms that show it",
                tuple(
                    Line(
                        item["mechanism"],
                        f"{item['word']}, layer {item['layer']}. {item['name']}",
                        item["because"] or "",
                    )
                    for item in row["shown_by"]
                ),
            ),
            Section(
                "Classes that lead one to see it",
                tuple(Line(str(item[0]), percent(float(item[1]))) for item in row["classes"]),
            ),
            Section(
                "Classes it speaks against",
                tuple(
                    Line(item["class"], f"when {item['when']}. {item['because']}") for item in row["refutes"]
                ),
            ),
            Section("Checks that reveal it", _checks(row["checks"])),
            Section("How people say it is there", _texts(row["phrases"])),
            Section("How people say it is not there", _texts(row["negated"])),
            Section("Lines its signature matches", _texts(row["examples"])),
            Section("Lines it must not match", _texts(row["not_examples"])),
        ),
    )


def mechanism_sheet(row: Row) -> Sheet:
    """Return the sheet of a mechanism from a row of ``mechanism_show``."""
    facts = [("layer", str(row["layer"])), ("pack", str(row["pack"]))]
    if row["rooted"]:
        facts.append(("starts", ", ".join(row["rooted"])))
    others = [name for name in row["classes"] if name not in row["rooted"]]
    if others:
        facts.append(("step of", ", ".join(others)))

    def steps(items: Iterable[Row]) -> tuple[Line, ...]:
        return tuple(
            Line(item["id"], f"{item['strength']:.2f}, layer {item['layer']}. {item['name']}")
            for item in items
        )

    return Sheet(
        id=row["id"],
        name=row["name"],
        summary=row["summary"] or "",
        facts=tuple(facts),
        sections=(
            Section("Brought about by (probability)", steps(row["caused_by"])),
            Section("Brings about (probability)", steps(row["causes"])),
            Section(
                "Shows",
                tuple(
                    Line(item["observable"], f"{item['word']}, {item['kind']}. {item['says']}")
                    for item in row["shows"]
                ),
            ),
        ),
    )


def class_drawing(shown: Row, steps: Sequence[Row]) -> Drawing:
    """Return the failure graph of a class as a drawing.

    Args:
        shown: a row of ``class_show``.
        steps: rows of ``class_graph``.
    """
    nodes = {f"class:{shown['id']}": DrawnNode(f"class:{shown['id']}", shown["name"], "class")}
    edges = []

    def mechanism(identifier: str, name: str, layer: str | None) -> str:
        key = f"mechanism:{identifier}"
        nodes.setdefault(key, DrawnNode(key, name, "mechanism", layer))
        return key

    root = mechanism(shown["root"]["id"], shown["root"]["name"], shown["layer"])
    edges.append(DrawnEdge(f"class:{shown['id']}", root, "ROOTED_IN"))
    for step in steps:
        start = mechanism(step["from_id"], step["from_name"], step["from_layer"])
        if step["relation"] == "CAUSES":
            end = mechanism(step["to_id"], step["to_name"], step["to_layer"])
        else:
            end = f"observable:{step['to_id']}"
            kind = "symptom" if step["to_kind"] == "behaviour" else "evidence"
            nodes.setdefault(end, DrawnNode(end, step["to_id"], kind))
        edges.append(DrawnEdge(start, end, step["relation"], step["strength"]))
    return Drawing(f"{shown['name']} ({shown['id']})", tuple(nodes.values()), tuple(edges))


def _chain(row: Row) -> tuple[Line, ...]:
    """Return the class's own chain as an indented tree, each step's continuation once."""
    names = {item["id"]: f"{item['name']} (layer {item['layer']})" for item in row["mechanisms"]}
    following: dict[str, list[tuple[str, float]]] = {}
    for cause, effect, strength in row["chain"]:
        following.setdefault(cause, []).append((effect, float(strength)))
    root = row["root"]["id"]
    lines = []
    drawn: set[str] = set()
    stack: list[tuple[int, str, float | None]] = [(0, root, None)]
    while stack:
        depth, step, strength = stack.pop()
        again = step in drawn and step in following
        words = names.get(step, row["root"]["name"] if step == root else "")
        figure = f"{strength:.2f}. " if strength is not None else "root. "
        lines.append(Line(step, f"{figure}{words}" + (" (continued above)" if again else ""), depth=depth))
        if not again:
            drawn.add(step)
            stack.extend((depth + 1, effect, chance) for effect, chance in reversed(following.get(step, [])))
    return tuple(lines)


def _circumstances(items: Sequence[Row]) -> tuple[Line, ...]:
    usual = [item for item in items if item["probability"] >= USUAL]
    lines = [Line(item["id"], f"{percent(item['probability'])}. {item['means']}") for item in usual]
    if rarer := len(items) - len(usual):
        lines.append(Line("", f"{rarer} rarer than {percent(USUAL)} (--format json has all)"))
    return tuple(lines)


def _checks(items: Iterable[Row]) -> tuple[Line, ...]:
    lines = []
    for item in items:
        cost = "Needs a drain" if item["cost"] == "drain" else f"Takes {item['cost']}"
        disturbs = "" if item["safe"] else ", disturbs a running job"
        lines.append(Line(item["command"], "", f"{cost}{disturbs}. {item['read_it']}"))
    return tuple(lines)


def _face(item: Row) -> str:
    parts = [f"{label}: {', '.join(item[label])}" for label in ("shows", "lacks") if item[label]]
    return "; ".join(parts)


def _texts(texts: Iterable[str]) -> tuple[Line, ...]:
    return tuple(Line("", text) for text in texts)
