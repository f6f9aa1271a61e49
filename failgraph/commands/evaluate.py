"""``failgraph eval``: measure the matching on labelled cases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from failgraph.commands.output import AnswerFormat, FormatOption


def evaluate(
    cases: Annotated[
        Path, typer.Option("--cases", metavar="DIR", help="Directory with one labelled case (*.yaml) a file.")
    ],
    output: FormatOption = AnswerFormat.TEXT,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only the first N cases, by id.", show_default=False)
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=64, help="How many cases run at once.")] = 1,
    with_late: Annotated[
        bool, typer.Option("--with-late", help="Also tell the match what was learnt on the way to the cause.")
    ] = False,
) -> None:
    """Measure the matching on labelled cases.

    Each case is read and matched as an incident directory would be, and only from what the reporter saw before the
    cause was known. Simple baselines run beside it on the same cases.

    Example:
        failgraph eval --cases our-incidents
    """
    import json
    import tempfile

    from failgraph.commands.opening import open_knowledge
    from failgraph.commands.output import progress, write
    from failgraph.graph.match import match
    from failgraph.graph.pack_store import pack_heads
    from failgraph.graph.store import lexicon
    from failgraph.loaders.baselines import class_profiles
    from failgraph.loaders.cases import LabelledCase, read_cases, write_incident
    from failgraph.loaders.evaluate import evaluate as measure
    from failgraph.loaders.incident import read_incident
    from failgraph.loaders.prose import PhraseIndex
    from failgraph.loaders.prose.witness import text_witness
    from failgraph.loaders.scanner import Scanner, default_cache_dir
    from failgraph.loaders.sync import export_pack
    from failgraph.render.evaluation import render_evaluation_markdown, render_evaluation_text
    from failgraph.schema.exchange import Answer

    chosen = read_cases(cases, with_late=with_late)[:limit]
    with open_knowledge() as client:
        words = lexicon(client)
        profiles = class_profiles(export_pack(client, head.id) for head in pack_heads(client))
        phrases = PhraseIndex(words, default_cache_dir())
        scanner = Scanner(words, cache_dir=default_cache_dir())

        def answer(case: LabelledCase) -> Answer:
            with tempfile.TemporaryDirectory(prefix="failgraph-") as directory:
                write_incident(case, Path(directory))
                incident = read_incident(
                    [Path(directory)], words, timezone="UTC", phrase_index=phrases, scanner=scanner
                )
            return match(client, incident, text=text_witness(incident))

        with progress("Matching") as report:
            measured = measure(chosen, answer, profiles, jobs=jobs, progress=report)
    if output is AnswerFormat.JSON:
        write(json.dumps(measured.as_data(), ensure_ascii=False, indent=2) + "\n")
    elif output is AnswerFormat.MARKDOWN:
        write(render_evaluation_markdown(measured))
    else:
        write(render_evaluation_text(measured))
