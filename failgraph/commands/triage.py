"""``failgraph triage``: explain an incident from its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from failgraph.commands.output import AnswerFormat, FormatOption, TopOption

if TYPE_CHECKING:
    from failgraph.schema.exchange import Incident
    from failgraph.schema.lexicon import Lexicon


def triage(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Files, directories and archives of one incident; - is standard input."
        ),
    ],
    output: FormatOption = AnswerFormat.TEXT,
    timezone: Annotated[
        str | None,
        typer.Option(
            "--tz", metavar="ZONE", help="Zone of times without one, as Europe/Paris [this machine's]."
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            "--window", metavar="START/DURATION", help="Time of the incident, as 2026-03-01T10:00Z/2h."
        ),
    ] = None,
    top: TopOption = 5,
) -> None:
    """Explain an incident from its files.

    All paths together are one incident. Each file is recognised by what is in it, not by its name. Nothing is
    stored.

    Example:
        failgraph triage examples/container-shared-memory
    """
    from failgraph.commands.answering import answer_incident
    from failgraph.commands.output import progress

    def read(lexicon: Lexicon) -> Incident:
        from failgraph.loaders.incident import read_incident

        with progress("Reading") as report:
            return read_incident(paths, lexicon, timezone=timezone, window=window, progress=report)

    answer_incident(read, output, top)
