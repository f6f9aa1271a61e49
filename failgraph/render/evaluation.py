"""An evaluation as text and as Markdown: how often right, beside baselines; calibration; none of these; each miss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from failgraph.render.escape import markdown, terminal

if TYPE_CHECKING:
    from failgraph.loaders.evaluate import Report
    from failgraph.loaders.measures import Measure

Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Heading, column names, rows."""

_MISSES_SHOWN: Final = 20


def evaluation_tables(report: Report) -> list[Table]:
    """Return what an evaluation tells, as tables of text."""
    ranking = [
        (
            scores.method,
            _share(scores.top1),
            _share(scores.top3),
            _share(scores.top1_or_near),
            _share(scores.layer),
            f"{scores.mean_rank.value:.1f}",
            f"{scores.macro_f1.value:.2f}",
        )
        for scores in report.methods
    ]
    none = [
        (
            scores.group,
            str(scores.count),
            f"{scores.none_first:.0%}",
            f"{scores.verdict_unknown:.0%}",
            f"{scores.mean_probability:.2f}",
            "" if scores.separation is None else f"{scores.separation:.2f}",
        )
        for scores in report.none
        if scores.count
    ]
    calibration = report.calibration
    low, high = calibration.band
    figures = [
        ("Brier score of the first class", f"{calibration.brier:.3f}"),
        ("log loss of the right classes", f"{calibration.log_loss:.2f}"),
        ("calibration error", f"{calibration.error:.3f} (well calibrated: {low:.3f} to {high:.3f})"),
        ("findings a case", f"{report.findings_per_case:.1f}"),
        ("statements left unattached a case", f"{report.unattached_per_case:.1f}"),
        (
            "seconds a case, mean and slowest",
            f"{report.seconds_per_case:.3f}, {report.seconds_slowest:.3f}",
        ),
    ]
    misses = [
        (outcome.case, outcome.first, f"{outcome.first_probability:.2f}", str(outcome.rank or "-"))
        for outcome in report.outcomes
        if outcome.group == "covered" and outcome.rank != 1
    ]
    misses.sort(key=lambda row: (-float(row[2]), row[0]))
    return [
        (
            f"Right class of {report.cases.get('covered', 0)} known and covered cases (95 % interval)",
            ("method", "first", "first three", "right or near", "layer", "mean rank", "macro F1"),
            ranking,
        ),
        ("Calibration, findings, time", ("figure", "value"), figures),
        (
            "None of these",
            ("group", "cases", "none first", "verdict unknown", "mean probability", "AUROC"),
            none,
        ),
        (
            f"Surest misses ({min(len(misses), _MISSES_SHOWN)} of {len(misses)})",
            ("case", "first class", "probability", "rank of the right one"),
            misses[:_MISSES_SHOWN],
        ),
    ]


def render_evaluation_text(report: Report) -> str:
    """Return an evaluation as aligned columns."""
    parts = []
    for heading, columns, rows in evaluation_tables(report):
        shown = [list(columns), *([terminal(cell) for cell in row] for row in rows)]
        widths = [max(len(row[place]) for row in shown) for place in range(len(columns))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in shown
        ]
        parts.append("\n".join([heading, "", *(f"  {line}".rstrip() for line in lines)]))
    return "\n\n".join(parts) + "\n"


def render_evaluation_markdown(report: Report) -> str:
    """Return an evaluation as Markdown."""
    parts = []
    for heading, columns, rows in evaluation_tables(report):
        lines = [
            _row(columns),
            _row(["---"] * len(columns)),
            *(_row([markdown(c) for c in row]) for row in rows),
        ]
        parts.append("\n".join([f"## {heading}", "", *lines]))
    return "\n\n".join(parts) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _share(measure: Measure) -> str:
    return f"{measure.value:.0%} ({measure.low:.0%} to {measure.high:.0%})"
