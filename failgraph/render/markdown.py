"""An answer as Markdown for a ticket: the same content as the text, in the same order.

Ids, commands and everything quoted from outside stand in code spans; other words from outside are escaped, so
nothing becomes markup, a link or HTML.
"""

from __future__ import annotations

from collections.abc import Mapping

from failgraph.render.escape import markdown, markdown_code
from failgraph.render.outline import (
    MAX_PLACES,
    MAX_STATEMENTS,
    STATE_WORDS,
    Entry,
    Outline,
    Step,
    factor_text,
    outline,
    percent,
    place_text,
    plural,
    unshown_places,
)
from failgraph.schema.exchange import Answer, Finding


def render_markdown(answer: Answer, *, top: int = 5, meanings: Mapping[str, str] | None = None) -> str:
    """Return an answer as a Markdown document that ends with a newline.

    Args:
        answer: what a match gave.
        top: how many classes the ranking lists.
        meanings: what each observable id says, in plain words.
    """
    shown = outline(answer, top=top, meanings=meanings)
    lines = [f"# {answer.verdict.value.capitalize()}: {markdown(shown.headline)}", ""]
    name = " - ".join(markdown(part) for part in (answer.incident, answer.title) if part)
    if name:
        lines += [f"Incident: {name}", ""]
    lines += _ranking(shown)
    lines += _path(shown)
    lines += _wording(shown)
    for ledger in shown.ledgers:
        lines += _section(ledger.heading, [_entry(entry) for entry in ledger.entries])
        if ledger.more:
            lines[-1:] = [f"- and {ledger.more} more", ""]
    lines += _contrast(shown)
    lines += _checks(shown)
    if shown.best:
        lines += _section("Repair", [f"- {markdown(item)}" for item in shown.best.remedies])
        lines += _section("Prevention", [f"- {markdown(item)}" for item in shown.best.preventions])
    lines += _rest(answer)
    lines += _section("Notes", [f"- {markdown(note)}" for note in shown.notes])
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(heading: str, items: list[str]) -> list[str]:
    return [f"## {heading}", "", *items, ""] if items else []


def _ranking(shown: Outline) -> list[str]:
    lines = ["## What explains it", "", "| probability | class | layer |", "| ---: | --- | --- |"]
    for rank in shown.ranking:
        benign = " (benign)" if rank.benign else ""
        label = f" {markdown_code(rank.class_id)}" if rank.class_id else ""
        layer = markdown(rank.layer) if rank.layer else ""
        probability = percent(rank.probability).replace("<", "&lt;").replace(">", "&gt;")
        lines.append(f"| {probability} | {markdown(rank.name)}{benign}{label} | {layer} |")
    lines.append("")
    if shown.more_classes:
        more = plural(shown.more_classes, "less likely class", "less likely classes")
        lines += [f"{more} not shown.", ""]
    return lines


def _path(shown: Outline) -> list[str]:
    if not shown.best or not shown.steps:
        return []
    return [
        f"## How it leads to what was seen: {markdown_code(shown.best.class_id)}",
        "",
        *(line for step in shown.steps for line in _step(step)),
        "",
    ]


def _wording(shown: Outline) -> list[str]:
    if shown.wording is None:
        return []
    factor = f"{factor_text(shown.wording.factor)} " if shown.wording.factor is not None else ""
    words = ", ".join(map(markdown_code, shown.wording.words))
    return _section("How the report reads", [f"- {factor}words that weigh most: {words}"])


def _step(step: Step) -> list[str]:
    indent = "  " * step.depth
    verb = {"CAUSES": "causes", "SHOWS": "shows"}.get(step.relation or "", "root:")
    state = f" ({step.state.value})" if step.state else ""
    again = " (continued above)" if step.again else ""
    lines = [f"{indent}- {verb} {markdown_code(step.id)}{state}{again}"]
    if step.relation == "SHOWS":
        for finding in step.findings:
            lines += [f"{indent}  - {quoted}" for quoted in _quotes(finding)]
    return lines


def _quotes(finding: Finding) -> list[str]:
    quotes = [
        markdown_code(place_text(where)) + (f" {markdown_code(where.quote)}" if where.quote else "")
        for where in finding.where[:MAX_PLACES]
    ]
    more = unshown_places(finding)
    return [*quotes, f"and {more} more"] if more and quotes else quotes


def _entry(entry: Entry) -> str:
    factor = f"{factor_text(entry.factor)} " if entry.factor is not None else ""
    state = ""
    if entry.state is not None and entry.state.value != "present":
        state = f" ({STATE_WORDS[entry.state]})"
    meaning = f": {markdown(entry.meaning)}" if entry.meaning else ""
    because = f" ({markdown(entry.because)})" if entry.because else ""
    places = ""
    if entry.finding and entry.finding.where:
        names = list(dict.fromkeys(place_text(where) for where in entry.finding.where))[:MAX_PLACES]
        places = f", {', '.join(markdown_code(name) for name in names)}"
    return f"- {factor}{markdown_code(entry.subject)}{state}{meaning}{because}{places}"


def _contrast(shown: Outline) -> list[str]:
    contrast = shown.answer.contrast
    if contrast is None:
        return []
    lines = [f"## Why not {markdown_code(contrast.other)}", "", *map(_entry, shown.contrast), ""]
    return [*lines, markdown(shown.flip), ""] if shown.flip else lines


def _checks(shown: Outline) -> list[str]:
    items = []
    for number, check in enumerate(shown.checks, start=1):
        disturb = "does not disturb a job" if check.safe else "disturbs a running job"
        cost = "needs a drain" if check.cost == "drain" else f"takes {check.cost}"
        items.append(f"{number}. {markdown_code(check.command)} ({markdown(cost)}, {disturb})")
        items.append(f"   {markdown(check.read_it)}")
    return _section("What to check next", items)


def _rest(answer: Answer) -> list[str]:
    lines = []
    similar = []
    for item in answer.similar:
        causes = f", cause: {', '.join(map(markdown_code, item.causes))}" if item.causes else ""
        shared = ", ".join(map(markdown_code, item.shared))
        similar.append(f"- {markdown_code(item.incident)}: {markdown(item.title)}{causes}; shares {shared}")
    lines += _section("Similar incidents", similar)
    statements = []
    for statement in answer.unattached[:MAX_STATEMENTS]:
        near = ", ".join(markdown_code(suggestion.observable) for suggestion in statement.nearest)
        tail = f"; nearest: {near}" if near else ""
        place = markdown_code(place_text(statement.where))
        statements.append(f"- {place} {markdown_code(statement.text)}{tail}")
    if more := len(answer.unattached[MAX_STATEMENTS:]):
        statements.append(f"- and {more} more")
    lines += _section("Statements attached to nothing known", statements)
    files = []
    for reading in answer.readings:
        words = f"{markdown(reading.kind)}, {plural(reading.lines, 'line')}"
        words += ", complete: its silence counts" if reading.complete else ""
        words += ", cut short" if reading.truncated else ""
        words += f"; {markdown(reading.problem)}" if reading.problem else ""
        files.append(f"- {markdown_code(reading.file)}: {words}")
    lines += _section("What was read", files)
    names = ", ".join(markdown_code(name) for name in dict.fromkeys(query.name for query in answer.queries))
    lines += _section("Queries", [f"- {names}"] if names else [])
    return lines
