"""The way from an incident to a printed answer, the same for every command that explains."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from failgraph.commands.output import AnswerFormat

if TYPE_CHECKING:
    from failgraph.schema.exchange import Incident
    from failgraph.schema.lexicon import Lexicon


def answer_incident(read: Callable[[Lexicon], Incident], output: AnswerFormat, top: int) -> None:
    """Open the knowledge, read the incident with its lexicon, match it, and print the answer.

    Args:
        read: makes the incident, given the lexicon of the loaded packs.
        output: how the answer is printed.
        top: how many classes the ranking lists.
    """
    from failgraph.commands.opening import open_knowledge
    from failgraph.commands.output import write_answer

    with open_knowledge(_import_what_follows) as client:
        from failgraph.graph.match import match
        from failgraph.graph.store import lexicon
        from failgraph.loaders.prose.witness import text_witness

        words = lexicon(client)
        incident = read(words)
        answer = match(client, incident, text=text_witness(incident))
    write_answer(answer, output, top, {entry.id: entry.says for entry in words.entries})


def _import_what_follows() -> None:
    """Import what reading and matching need, while the engine starts outside Python."""
    import failgraph.graph.match
    import failgraph.loaders.incident
    import failgraph.loaders.notes
    import failgraph.loaders.prose.witness
    import failgraph.loaders.yaml_file  # noqa: F401  imported for later
