"""``failgraph explain``: explain an incident from a few words."""

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer

from failgraph.commands.output import AnswerFormat, FormatOption, TopOption

MAX_BYTES: Final = 1024 * 1024
"""Longest text that is read from standard input; logs are for ``failgraph triage``."""


def explain(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What is seen, in your words; - is standard input.")
    ],
    output: FormatOption = AnswerFormat.TEXT,
    top: TopOption = 5,
) -> None:
    """Explain an incident from a few words.

    Pasted log lines are read as such; "no errors in dmesg" is understood as looked for and not there.

    Example:
        failgraph explain "NCCL watchdog timeout on all ranks, one rank idle at 0% GPU util"
    """
    from failgraph.commands.answering import answer_incident
    from failgraph.loaders.incident import read_text
    from failgraph.schema.errors import UsageError

    words = text
    if text == "-":
        words = sys.stdin.buffer.read(MAX_BYTES + 1).decode("utf-8", "replace")
        if len(words) > MAX_BYTES:
            raise UsageError(
                "The text is longer than 1 MiB; put it into a file and use failgraph triage FILE."
            )
    if not words.strip():
        raise UsageError(
            'There is nothing to explain; say what is seen, as in: failgraph explain "job hangs".'
        )
    answer_incident(lambda lexicon: read_text(words, lexicon), output, top)
