"""What an answer looks like for a terminal, in a pipe and in a ticket."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from failgraph.render.markdown import render_markdown
from failgraph.render.outline import outline
from failgraph.render.page import Surface
from failgraph.render.text import render_text
from failgraph.schema.exchange import Answer, State, Verdict, Where
from tests.unit.failgraph import answers

MEANINGS = {"nccl-shm-failed": "NCCL could not create its segment"}
EXPECTED_TEXT = """\
EXPLAINED: Shared memory too small (94.1 %)
incident: example - Set-up fails
evidence: 3 sources read, 2 findings present, 1 absent, 1 statement not attached

What explains it
    94.1 % ███████████·  Shared memory too small
                         shm-small, layer host
     3.0 % ············  Disk full
                         disk-full, layer host
     2.9 % ············  none of these (unlike anything known)

How it leads to what was seen: shm-small
  ◌ root: shm-full
    ● causes no-segment
      ● shows nccl-shm-failed
          nccl.log:2 include/shm.h:48 NCCL WARN Error while creating shared
            memory segment nccl-shm-recv-0-1 (size 9637888)
          and 4 more
      ○ shows bus-error, worker-died
      ◌ causes job-abort
        ● shows init-error
            incident.md:9
  ● observed   ◌ inferred   ○ missing
"""


def test_text_of_the_first_panels() -> None:
    """Verdict, ranking and causal path stand at the top, with the lines that prove the observed hops."""
    text = render_text(answers.explained(), meanings=MEANINGS)
    assert text.startswith(EXPECTED_TEXT)


@pytest.mark.parametrize("width", [50, 60, 80, 200])
@pytest.mark.parametrize("verbose", [False, True])
def test_text_fits_its_width(width: int, verbose: bool) -> None:
    """No line is longer than the terminal, nor than what one reads well, and none ends in blanks."""
    text = render_text(answers.explained(), meanings=MEANINGS, surface=Surface(width=width), verbose=verbose)
    assert max(map(len, text.splitlines())) <= min(width, 110)
    assert re.findall(r"[ \t]+$", text, re.MULTILINE) == []


def test_text_without_colour_has_the_same_characters() -> None:
    """Colour only adds escape sequences."""
    plain = render_text(answers.explained(), verbose=True)
    colored = render_text(answers.explained(), verbose=True, surface=Surface(color=True))
    assert "\x1b[" in colored
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain


def test_text_in_plain_ascii() -> None:
    """An output that knows only ASCII gets stand-ins."""
    text = render_text(answers.explained(), surface=Surface(unicode=False))
    assert text.isascii()
    assert "94.1 % ###########.  Shared memory too small" in text
    assert "   x181  nccl-shm-failed" in text


PANELS = (
    "What explains it",
    "How it leads to what was seen: shm-small",
    "How the report reads",
    "Speaks for it",
    "Speaks against it",
    "Expected, but not seen (seen, it would speak for it)",
    "Not explained by it",
    "Could not be checked",
    "Stale (outside the incident's time, not counted)",
    "Why not disk-full",
    "What to check next",
    "Repair",
    "Prevention",
    "Similar incidents",
    "Statements attached to nothing known",
    "What was read",
)


def test_text_and_markdown_have_the_same_panels() -> None:
    """A ticket says what the terminal says, in the same order."""
    text = render_text(answers.explained())
    headings = [line for line in text.splitlines() if line in PANELS]
    titles = re.findall(r"^## (.*)$", render_markdown(answers.explained()), re.MULTILINE)
    assert list(PANELS) == headings
    assert [*PANELS, "Queries", "Notes"] == [title.replace("`", "") for title in titles]


def test_text_names_the_queries_only_when_asked() -> None:
    """The queries behind the answer are for --verbose."""
    assert "match_subgraph, lexicon" in render_text(answers.explained(), verbose=True)
    assert "match_subgraph" not in render_text(answers.explained())


def test_text_shows_the_parts_of_scores_only_when_asked() -> None:
    """A score's parts are for --verbose."""
    assert "shm-small: prior -4.00, structure +2.00, refuters +0.00, text +4.20" in render_text(
        answers.explained(), verbose=True
    )
    assert "structure" not in render_text(answers.explained())


def test_markdown_is_one_document_without_html() -> None:
    """The Markdown parses to headings, lists and one table."""
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(
        render_markdown(answers.explained())
    )
    kinds = {token.type for token in tokens} | {
        child.type for token in tokens for child in token.children or ()
    }
    assert {"html_block", "html_inline", "link_open", "image", "fence", "code_block"} & kinds == set()
    assert [token.type for token in tokens].count("table_open") == 1


def hostile(answer: Answer, words: str) -> Answer:
    """Return the answer with the words wherever something comes from outside."""
    where = Where(file=words, line=1, quote=words, host=words)
    return answer.model_copy(
        update={
            "incident": words,
            "title": words,
            "findings": tuple(item.model_copy(update={"where": (where,)}) for item in answer.findings),
            "unattached": tuple(
                item.model_copy(update={"text": words, "where": where}) for item in answer.unattached
            ),
            "readings": tuple(item.model_copy(update={"file": words}) for item in answer.readings),
            "hypotheses": tuple(item.model_copy(update={"words": (words,)}) for item in answer.hypotheses),
            "similar": tuple(item.model_copy(update={"title": words}) for item in answer.similar),
        }
    )


WORDS = "a [bold]b[/bold] \x1b[31mc\x9b0m <b>d</b> [e](http://f) ![g](h) `i` | j |\n# k\u202e"


def test_text_shows_hostile_words_as_they_are() -> None:
    """Markup stays markup, control characters are shown as escapes, a line end does not make a line."""
    text = render_text(hostile(answers.explained(), WORDS), surface=Surface(width=110))
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert "\u202e" not in text
    assert r"a [bold]b[/bold] \x1b[31mc\x9b0m <b>d</b>" in " ".join(text.split())
    assert not any(line.startswith("# k") for line in text.splitlines())


def test_markdown_keeps_hostile_words_harmless() -> None:
    """No link, image, HTML, heading or table cell comes of what was read."""
    document = render_markdown(hostile(answers.explained(), WORDS))
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(document)
    kinds = {token.type for token in tokens} | {
        child.type for token in tokens for child in token.children or ()
    }
    assert {"html_block", "html_inline", "link_open", "image", "fence", "code_block"} & kinds == set()
    headings = re.findall(r"^#+ ", document, re.MULTILINE)
    assert len(PANELS) + 3 == len(headings)


def test_the_words_that_weighed_most_are_shown() -> None:
    """Where the report's words are weighed, the best class shows those that spoke most for it, and how strongly."""
    text = render_text(answers.explained())
    document = render_markdown(answers.explained())
    assert (
        "How the report reads\n      ×67  words that weigh most: shared memory, segment, shm size\n" in text
    )
    assert (
        "## How the report reads\n\n- ×67 words that weigh most: `shared memory`, `segment`, `shm size`\n"
        in document
    )


def test_words_without_a_weight_are_still_shown() -> None:
    """An answer that names words but not their weight shows the words alone."""
    best = answers.hypothesis("disk-full", "Disk full", 0.9).model_copy(update={"words": ("no space",)})
    answer = answers.unknown().model_copy(update={"hypotheses": (best,)})
    assert "  - words that weigh most: no space\n" in render_text(answer, surface=Surface(unicode=False))
    assert "\n- words that weigh most: `no space`\n" in render_markdown(answer)


def test_without_words_nothing_is_said_of_how_the_report_reads() -> None:
    """Logs alone, or an answer without a text model, have no such panel."""
    assert "How the report reads" not in render_text(answers.unknown())
    assert "How the report reads" not in render_markdown(answers.unknown())


def test_nothing_recognised_is_said_plainly() -> None:
    """Without findings the answer does not pretend to know."""
    text = render_text(answers.unknown())
    assert text.startswith(
        "UNKNOWN: nothing in the input was recognised\nevidence: 0 findings present, 0 absent\n"
    )


@pytest.mark.parametrize(
    ("verdict", "none", "headline"),
    [
        (Verdict.EXPLAINED, 0.03, "Shared memory too small (94.1 %)"),
        (Verdict.AMBIGUOUS, 0.03, "most likely Shared memory too small (94.1 %), but not surely"),
        (Verdict.UNKNOWN, 0.03, "no class stands out; the likeliest is Shared memory too small (94.1 %)"),
        (Verdict.UNKNOWN, 0.95, "no known class fits (95.0 %): unlike anything known"),
    ],
)
def test_headline_follows_the_verdict(verdict: Verdict, none: float, headline: str) -> None:
    """The first line says how sure the answer is."""
    answer = answers.explained()
    changed = answer.model_copy(
        update={"verdict": verdict, "unknown": answer.unknown.model_copy(update={"probability": none})}
    )
    assert headline == outline(changed).headline


def test_no_class_at_all() -> None:
    """An empty catalogue gives a sentence, not a crash."""
    answer = answers.unknown().model_copy(update={"hypotheses": ()})
    assert render_text(answer).startswith("UNKNOWN: No failure class is loaded")
    assert render_markdown(answer).startswith("# Unknown: No failure class is loaded")


def test_none_of_these_takes_its_place_in_the_ranking() -> None:
    """None of these stands where its probability puts it."""
    ranks = outline(answers.unknown()).ranking
    assert [rank.class_id for rank in ranks] == [None, "disk-full"]


def test_a_loop_in_a_path_ends() -> None:
    """A path that comes back to itself is drawn once and said to go on above."""
    answer = answers.explained()
    best = answer.hypotheses[0]
    looped = best.model_copy(
        update={"path": (*best.path, answers.hop("job-abort", "no-segment", "CAUSES", best.path[0].state))}
    )
    steps = outline(answer.model_copy(update={"hypotheses": (looped,)})).steps
    assert [(step.id, step.again) for step in steps][-1] == ("no-segment", True)


def test_states_are_counted_in_the_head() -> None:
    """The head counts what is present and what is absent, and nothing else."""
    answer = answers.explained()
    stale = tuple(item.model_copy(update={"state": State.STALE}) for item in answer.findings)
    assert "0 findings present, 0 absent" in render_text(answer.model_copy(update={"findings": stale}))
