"""A sheet about one thing of the catalogue, and lists of things: as text and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from failgraph.render.escape import markdown, markdown_code, terminal
from failgraph.render.page import INDENT, Page, Surface


@dataclass(frozen=True)
class Line:
    """One line of a section: an id or figure in front, words behind it, more words below; ``depth`` indents."""

    lead: str = ""
    words: str = ""
    below: str = ""
    depth: int = 0


@dataclass(frozen=True)
class Section:
    """A heading and its lines; one without lines is not shown."""

    heading: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Sheet:
    """What is shown of one thing: id, name, facts in one line each, and sections."""

    id: str
    name: str
    summary: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]


def sheet_text(sheet: Sheet, surface: Surface) -> str:
    """Return a sheet as text that ends with a newline."""
    page = Page(surface)
    page.styled([(terminal(sheet.name), "bold")])
    page.styled([(terminal(sheet.id), "cyan")])
    if sheet.summary:
        page.paragraph("", sheet.summary)
    wide = max((len(label) for label, _ in sheet.facts), default=0) + 2
    for label, value in sheet.facts:
        page.styled([(f"{label + ':':<{wide}}", "dim"), (terminal(value), "")], hang=wide)
    for section in sheet.sections:
        if not section.lines:
            continue
        page.heading(section.heading)
        for line in section.lines:
            indent = INDENT + min(line.depth, 12) * 2
            lead = terminal(line.lead)
            if lead:
                parts = [(lead, "cyan"), (f": {terminal(line.words)}" if line.words else "", "")]
                page.styled(parts, indent=indent, hang=2)
            else:
                page.paragraph(f"{page.symbols.bullet} ", line.words, indent=indent)
            if line.below:
                page.paragraph("", line.below, "dim", indent=indent + 2)
    return page.text()


def sheet_markdown(sheet: Sheet) -> str:
    """Return a sheet as a Markdown document that ends with a newline."""
    lines = [f"# {markdown(sheet.name)}", "", markdown_code(sheet.id), ""]
    if sheet.summary:
        lines += [markdown(sheet.summary), ""]
    lines += [f"- {label}: {markdown(value)}" for label, value in sheet.facts]
    for section in sheet.sections:
        if not section.lines:
            continue
        lines += ["", f"## {section.heading}", ""]
        for line in section.lines:
            lead = markdown_code(line.lead) if line.lead else ""
            words = ": ".join(part for part in (lead, markdown(line.words)) if part)
            below = f" ({markdown(line.below)})" if line.below else ""
            lines.append(f"{'  ' * line.depth}- {words}{below}")
    return "\n".join(lines).rstrip("\n") + "\n"


def list_text(rows: Sequence[tuple[str, str, str]], surface: Surface, *, cut: bool) -> str:
    """Return one line a row (id, group, words) in columns.

    Args:
        rows: what is listed.
        surface: what it is printed on.
        cut: shorten lines to the width; in a pipe nothing is cut, so that it can be searched.
    """
    first = max((len(row[0]) for row in rows), default=0)
    second = max((len(row[1]) for row in rows), default=0)
    lines = []
    for identifier, group, words in rows:
        line = terminal(f"{identifier:<{first}}  {group:<{second}}  {words}").rstrip()
        if cut and len(line) > surface.width:
            line = line[: surface.width - 1].rstrip() + ("…" if surface.unicode else "")
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)
