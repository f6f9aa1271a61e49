"""An answer for a terminal: good at 80 columns, plain in a pipe.

Every word from outside passes :func:`~failgraph.render.escape.terminal`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from failgraph.render.escape import terminal
from failgraph.render.outline import (
    MAX_PLACES,
    MAX_STATEMENTS,
    STATE_WORDS,
    Entry,
    Ledger,
    Outline,
    Rank,
    Step,
    factor_text,
    outline,
    percent,
    place_text,
    plural,
    terms_text,
    unshown_places,
)
from failgraph.render.page import INDENT, PIPE, Page, Surface
from failgraph.schema.exchange import Answer, Finding, HopState, Reading, Verdict

BAR: Final = 12
"""Columns of a probability bar."""

_VERDICT_STYLES: Final = {
    Verdict.EXPLAINED: "bold green",
    Verdict.AMBIGUOUS: "bold yellow",
    Verdict.UNKNOWN: "bold magenta",
}
_STATE_STYLES: Final = {HopState.OBSERVED: "green", HopState.INFERRED: "yellow", HopState.MISSING: "red"}


def render_text(
    answer: Answer,
    *,
    top: int = 5,
    meanings: Mapping[str, str] | None = None,
    surface: Surface = PIPE,
    verbose: bool = False,
) -> str:
    """Return an answer as text that ends with a newline.

    Args:
        answer: what a match gave.
        top: how many classes the ranking lists.
        meanings: what each observable id says, in plain words.
        surface: what it is printed on.
        verbose: also list what every file was taken for and the queries behind the answer.
    """
    page = _Page(surface)
    shown = outline(answer, top=top, meanings=meanings)
    page.head(shown)
    page.ranking(shown)
    page.path(shown)
    page.wording(shown)
    for ledger in shown.ledgers:
        page.ledger(ledger)
    page.contrast(shown)
    page.checks(shown)
    page.actions(shown)
    page.similar(answer)
    page.unattached(answer)
    page.readings(answer.readings, verbose)
    if verbose:
        page.terms(shown)
        page.queries(answer)
    for note in shown.notes:
        page.paragraph("note: ", note, "dim")
    return page.text()


class _Page(Page):
    """Writes the panels one below the other."""

    def mark(self, state: HopState | None) -> str:
        """Return the mark of a hop's state; the root, which has none, is what the class assumes."""
        marks = {HopState.OBSERVED: self.symbols.observed, HopState.MISSING: self.symbols.missing}
        return marks.get(state or HopState.INFERRED, self.symbols.inferred)

    def head(self, shown: Outline) -> None:
        """Print verdict, headline and which incident it is."""
        answer = shown.answer
        verdict = answer.verdict.value.upper()
        self.styled(
            [(f"{verdict}: ", _VERDICT_STYLES[answer.verdict]), (terminal(shown.headline), "bold")],
            hang=len(verdict) + 2,
        )
        name = " - ".join(terminal(part) for part in (answer.incident, answer.title) if part)
        if name:
            self.styled([("incident: ", "dim"), (name, "")], hang=10)
        seen = sum(1 for item in answer.findings if item.state.value == "present")
        silent = sum(1 for item in answer.findings if item.state.value == "absent")
        words = f"{plural(len(answer.readings), 'source')} read, " if answer.readings else ""
        words += f"{plural(seen, 'finding')} present, {silent} absent"
        if answer.unattached:
            words += f", {plural(len(answer.unattached), 'statement')} not attached"
        self.styled([("evidence: ", "dim"), (words, "")], hang=10)

    def ranking(self, shown: Outline) -> None:
        """Print the ranked classes with their bars, and *none of these* in its place."""
        self.heading("What explains it")
        for rank in shown.ranking:
            self._rank(rank)
        if shown.more_classes:
            self.styled(
                [
                    (
                        f"{plural(shown.more_classes, 'less likely class', 'less likely classes')} not shown",
                        "dim",
                    )
                ],
                indent=INDENT,
            )

    def _rank(self, rank: Rank) -> None:
        filled = round(rank.probability * BAR)
        bar = self.symbols.full * filled + self.symbols.empty * (BAR - filled)
        style = "magenta" if rank.class_id is None else "cyan"
        name = terminal(rank.name) + (" (benign)" if rank.benign else "")
        lead = f"{percent(rank.probability):>8} "
        parts = [(lead, "bold"), (bar, style), ("  ", ""), (name, "bold" if rank.class_id else "")]
        hang = len(lead) + BAR + 2
        self.styled(parts, indent=INDENT, hang=hang)
        if rank.class_id is not None:
            label = f"{terminal(rank.class_id)}, layer {terminal(rank.layer or '')}"
            self.styled([(" " * hang, ""), (label, "dim")], indent=INDENT, hang=hang)

    def path(self, shown: Outline) -> None:
        """Print the causal path of the best class as a tree, with the lines that prove its observed hops."""
        if not shown.steps or shown.best is None:
            return
        self.heading(f"How it leads to what was seen: {terminal(shown.best.class_id)}")
        quoted: set[str] = set()
        steps = list(shown.steps)
        position = 0
        while position < len(steps):
            step = steps[position]
            gathered = [step.id]
            if _is_missing_trace(step):
                while position + 1 < len(steps) and _follows_missing(step, steps[position + 1]):
                    position += 1
                    gathered.append(steps[position].id)
            self._step(step, gathered, quoted)
            position += 1
        legend = "   ".join(f"{self.mark(state)} {state.value}" for state in HopState)
        self.styled([(legend, "dim")], indent=INDENT)

    def _step(self, step: Step, gathered: list[str], quoted: set[str]) -> None:
        indent = INDENT + min(step.depth, 12) * 2
        style = _STATE_STYLES[step.state] if step.state else "bold"
        mark = f"{self.mark(step.state)} "
        verb = {"CAUSES": "causes ", "SHOWS": "shows "}.get(step.relation or "", "root: ")
        parts = [(mark, style), (verb, "dim"), (terminal(", ".join(gathered)), "" if step.state else "bold")]
        if step.again:
            parts.append((" (continued above)", "dim"))
        self.styled(parts, indent=indent, hang=len(mark) + (len(verb) if len(gathered) > 1 else 0))
        if step.relation == "SHOWS":
            for finding in step.findings:
                if finding.id not in quoted:
                    quoted.add(finding.id)
                    self._places(finding, indent + 4)

    def _places(self, finding: Finding, indent: int) -> None:
        for where in finding.where[:MAX_PLACES]:
            place = terminal(place_text(where))
            quote = f" {terminal(where.quote)}" if where.quote else ""
            self.styled([(place, "cyan"), (quote, "dim")], indent=indent, hang=2)
        if more := unshown_places(finding):
            self.styled([(f"and {more} more", "dim")], indent=indent)

    def wording(self, shown: Outline) -> None:
        """Print the words of the report that speak most for the best class."""
        if shown.wording is None:
            return
        self.heading("How the report reads")
        lead, style = self._lead(shown.wording.factor)
        words = terminal(", ".join(shown.wording.words))
        self.styled(
            [(lead, style), ("words that weigh most: ", "dim"), (words, "")], indent=INDENT, hang=len(lead)
        )

    def _lead(self, factor: float | None) -> tuple[str, str]:
        """Return what stands before a line of evidence, and its style."""
        if factor is None:
            return f"{self.symbols.bullet} ", ""
        size = factor_text(factor).replace("×", self.symbols.times).replace("÷", self.symbols.divided)
        return f"{size:>7}  ", "green" if factor >= 1.0 else "red"

    def ledger(self, ledger: Ledger) -> None:
        """Print one part of the ledger."""
        self.heading(ledger.heading)
        for entry in ledger.entries:
            self._entry(entry)
        if ledger.more:
            self.styled([(f"and {ledger.more} more", "dim")], indent=INDENT)

    def _entry(self, entry: Entry, *, places: bool = True) -> None:
        lead, style = self._lead(entry.factor)
        parts = [(lead, style), (terminal(entry.subject), "bold")]
        if entry.state is not None and entry.state.value != "present":
            parts.append((f" ({STATE_WORDS[entry.state]})", "yellow"))
        if entry.meaning:
            parts.append((f": {terminal(entry.meaning)}", ""))
        self.styled(parts, indent=INDENT, hang=len(lead))
        if places and entry.finding is not None and entry.finding.where:
            names = dict.fromkeys(terminal(place_text(where)) for where in entry.finding.where)
            shown = ", ".join(list(names)[:MAX_PLACES])
            more = unshown_places(entry.finding)
            tail = f" and {more} more" if more else ""
            self.styled([(shown + tail, "cyan")], indent=INDENT + len(lead), hang=2)
        if entry.because:
            self.styled([(terminal(entry.because), "dim")], indent=INDENT + len(lead), hang=0)

    def contrast(self, shown: Outline) -> None:
        """Print what tells the best class from the runner-up."""
        contrast = shown.answer.contrast
        if contrast is None:
            return
        self.heading(f"Why not {terminal(contrast.other)}")
        for entry in shown.contrast:
            self._entry(entry, places=False)
        if shown.flip:
            self.paragraph("", shown.flip, indent=INDENT)

    def checks(self, shown: Outline) -> None:
        """Print the checks that tell most for their cost."""
        if not shown.checks:
            return
        self.heading("What to check next")
        for number, check in enumerate(shown.checks, start=1):
            lead = f"{number}. "
            disturb = "does not disturb a job" if check.safe else "disturbs a running job"
            cost = "needs a drain" if check.cost == "drain" else f"takes {check.cost}"
            self.styled([(lead, "bold"), (terminal(check.command), "bold cyan")], indent=INDENT, hang=3)
            self.styled([(f"{terminal(cost)}, {disturb}", "dim")], indent=INDENT + 3)
            self.paragraph("", check.read_it, indent=INDENT + 3)

    def actions(self, shown: Outline) -> None:
        """Print repair and prevention of the best class."""
        if shown.best is None:
            return
        for words, items in (("Repair", shown.best.remedies), ("Prevention", shown.best.preventions)):
            if items:
                self.heading(words)
                for item in items:
                    self.paragraph(f"{self.symbols.bullet} ", item, indent=INDENT)

    def similar(self, answer: Answer) -> None:
        """Print stored incidents that share findings."""
        if not answer.similar:
            return
        self.heading("Similar incidents")
        for item in answer.similar:
            cause = f", cause: {', '.join(item.causes)}" if item.causes else ""
            self.paragraph(f"{self.symbols.bullet} ", f"{item.incident}: {item.title}{cause}", indent=INDENT)
            self.paragraph("shares: ", ", ".join(item.shared), "dim", indent=INDENT + 2)

    def unattached(self, answer: Answer) -> None:
        """Print the statements that nothing known fits, with what comes nearest."""
        if not answer.unattached:
            return
        self.heading("Statements attached to nothing known")
        for item in answer.unattached[:MAX_STATEMENTS]:
            self.paragraph(f"{self.symbols.bullet} ", f"{place_text(item.where)} {item.text}", indent=INDENT)
            if item.nearest:
                near = ", ".join(suggestion.observable for suggestion in item.nearest)
                self.paragraph("nearest: ", near, "dim", indent=INDENT + 2)
        if more := len(answer.unattached[MAX_STATEMENTS:]):
            self.styled([(f"and {more} more", "dim")], indent=INDENT)

    def readings(self, readings: tuple[Reading, ...], verbose: bool) -> None:
        """Print what each file was taken for; without ``verbose`` only a few and those with a problem."""
        if not readings:
            return
        problems = [reading for reading in readings if reading.problem or reading.truncated]
        chosen = list(readings) if verbose or len(readings) <= 5 else problems
        self.heading("What was read")
        for reading in chosen:
            words = f"{terminal(reading.kind)}, {plural(reading.lines, 'line')}"
            if reading.complete:
                words += ", complete: its silence counts"
            if reading.truncated:
                words += ", cut short"
            parts = [(f"{self.symbols.bullet} ", ""), (terminal(reading.file), "cyan"), (f": {words}", "")]
            if reading.problem:
                parts.append((f"; {terminal(reading.problem)}", "red"))
            self.styled(parts, indent=INDENT, hang=2)
        if len(chosen) < len(readings):
            self.styled([(f"and {len(readings) - len(chosen)} more; -v lists them", "dim")], indent=INDENT)

    def terms(self, shown: Outline) -> None:
        """Print the parts of the scores of the classes that are listed."""
        ranked = [rank.class_id for rank in shown.ranking if rank.class_id is not None]
        if not ranked:
            return
        self.heading("Parts of the scores (natural logarithms)")
        for item in shown.answer.hypotheses:
            if item.class_id in ranked:
                self.paragraph(
                    f"{self.symbols.bullet} ", f"{item.class_id}: {terms_text(item.terms)}", indent=INDENT
                )

    def queries(self, answer: Answer) -> None:
        """Print the names of the queries behind the answer."""
        if answer.queries:
            self.heading("Queries (failgraph query show NAME)")
            names = ", ".join(dict.fromkeys(query.name for query in answer.queries))
            self.paragraph("", names, indent=INDENT)


def _is_missing_trace(step: Step) -> bool:
    return step.relation == "SHOWS" and step.state is HopState.MISSING


def _follows_missing(step: Step, following: Step) -> bool:
    return _is_missing_trace(following) and following.depth == step.depth
