"""Text from outside stays data on every surface."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from failgraph.render.escape import dot, markdown, markdown_code, mermaid, one_line, terminal

HOSTILE = (
    "\x1b]8;;http://evil.example\x07click\x1b]8;;\x07",
    "\x1b[2J\x1b[31mred\x9b31m",
    "[bold red]markup[/bold red]",
    "<script>alert(1)</script><img src=x onerror=y>",
    "![x](http://evil.example/i.png) [y](javascript:z)",
    "``` \n# heading\n- item\n1. one",
    "`tick` ``two`` *em* __strong__ ~~gone~~ | cell |",
    'quote" -> other [label="x"]; }',
    'A["x"] --> B; click A "http://evil.example"',
    "right\u202eto left\u2066isolate\ufeff zero\u200bwidth",
    "&lt;already&gt; &amp; \\escaped\\",
    "lone surrogate \ud83d end",
    "http://evil.example www.evil.example @someone",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_one_line_prints_nothing_that_acts(text: str) -> None:
    """No control, direction mark, surrogate or line end is left."""
    shown = one_line(text)
    assert shown.isprintable()
    assert shown == one_line(shown)
    assert terminal(text) == shown
    shown.encode("utf-8")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(
    ("around", "blocks"),
    [
        ("{}", ["paragraph_open"]),
        ("- {}", ["bullet_list_open", "list_item_open", "paragraph_open"]),
        ("1. {}", ["ordered_list_open", "list_item_open", "paragraph_open"]),
        ("# {}", ["heading_open"]),
        ("x {} y", ["paragraph_open"]),
    ],
)
def test_markdown_renders_as_the_plain_text(text: str, around: str, blocks: list[str]) -> None:
    """A Markdown reader makes no markup of it and shows the same words."""
    reader = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    tokens = reader.parse(around.format(markdown(text)))
    inline = [child for token in tokens for child in token.children or ()]
    assert {"text", "text_special"} >= {child.type for child in inline}
    shown = "".join(child.content for child in inline)
    assert one_line(text).strip() in shown
    assert [token.type for token in tokens if token.type.endswith("_open")] == blocks


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_code_is_one_code_span(text: str) -> None:
    """A code span holds exactly the text, whatever backticks are in it."""
    tokens = MarkdownIt("commonmark").parse(f"- {markdown_code(text)}")
    (inline,) = [token for token in tokens if token.type == "inline"]
    assert [child.type for child in inline.children or ()] == ["code_inline"]
    assert (inline.children or [])[0].content.strip() == one_line(text).strip()


@pytest.mark.parametrize("text", HOSTILE)
def test_mermaid_label_cannot_be_left(text: str) -> None:
    """A quoted label holds no quotation mark, bracket, semicolon of its own or tag."""
    label = mermaid(text)
    assert not set('"<>[](){}|&`\\') & set(label)
    assert all(part.rpartition("#")[2].isdigit() for part in label.split(";")[:-1])


@pytest.mark.parametrize("text", HOSTILE)
def test_dot_string_cannot_be_left(text: str) -> None:
    """Every quotation mark is escaped, and no escape of DOT is made by accident."""
    quoted = dot(text)
    unescaped = quoted.replace("\\\\", "").replace('\\"', "")
    assert '"' not in unescaped
    assert "\\" not in unescaped
