"""The way from an incident to a printed answer, the same for every command that explains."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

from failgraph.commands.output import AnswerFormat
from failgraph.schema.errors import FailgraphError

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
        from failgraph.graph.lexicon_cache import kept_lexicon
        from failgraph.graph.match import match
        from failgraph.loaders.prose.witness import text_witness
        from failgraph.loaders.scanner import default_cache_dir

        model = _aside(_load_text_model)
        words = kept_lexicon(client, default_cache_dir())
        incident = read(words)
        model.join()
        witness = text_witness(incident)
        renderer = _aside(_import_renderer, output)
        answer = match(client, incident, text=witness)
    renderer.join()
    write_answer(answer, output, top, {entry.id: entry.says for entry in words.entries})


def _aside(work: Callable[..., None], *arguments: object) -> Thread:
    """Do work in another thread, while this one reads, or waits for the database."""
    thread = Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def _import_what_follows() -> None:
    """Import what reading and matching need, while the engine starts outside Python."""
    import failgraph.graph.lexicon_cache
    import failgraph.graph.match
    import failgraph.loaders.incident
    import failgraph.loaders.notes
    import failgraph.loaders.prose.witness
    import failgraph.loaders.yaml_file  # noqa: F401  imported for later


def _load_text_model() -> None:
    """Read the text model; where it is damaged, the match says so."""
    from failgraph.loaders.prose.witness import shipped_text_model

    with suppress(FailgraphError):
        shipped_text_model()


def _import_renderer(output: AnswerFormat) -> None:
    """Import what prints the answer."""
    if output is AnswerFormat.TEXT:
        import failgraph.render.text
    elif output is AnswerFormat.MARKDOWN:
        import failgraph.render.markdown  # noqa: F401  imported for later
