"""Reading YAML: plain data with places, and a refusal with file, line, column and advice for anything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from failgraph.loaders.yaml_file import MAX_BYTES, Verbatim, dump, parse_yaml, read_yaml
from failgraph.schema.errors import PackError


def test_plain_data() -> None:
    """Text, numbers, truth values, null, lists and mappings come back as plain Python."""
    text = "a: word\nb: [1, -2, 0.5, 1e3, true, null]\nc:\n  - d: 'no'\n    e: ''\n"
    expected = {"a": "word", "b": [1, -2, 0.5, "1e3", True, None], "c": [{"d": "no", "e": ""}]}
    assert expected == parse_yaml(text.encode(), "x.yaml").data


def test_byte_order_mark() -> None:
    """A byte order mark at the start of a file is not part of its first key."""
    assert parse_yaml(b"\xef\xbb\xbfa: 1\n", "x.yaml").data == {"a": 1}


def test_places() -> None:
    """A document tells where a value, a key, a list item by number and by name stand."""
    document = parse_yaml(b"first:\n  second: [x, y]\n  third:\n    - id: p\n      q: 1\n", "x.yaml")
    actual = [
        str(document.location(steps, of_key=of_key))
        for steps, of_key in [
            (("first", "second"), False),
            (("first", "second"), True),
            (("first", "second", 1), False),
            (("first", "second", "y"), False),
            (("first", "third", "p", "q"), False),
            (("first", "gone"), False),
            ((), False),
        ]
    ]
    expected = [
        "x.yaml:2:11",
        "x.yaml:2:3",
        "x.yaml:2:15",
        "x.yaml:2:15",
        "x.yaml:5:10",
        "x.yaml:2:3",
        "x.yaml:1:1",
    ]
    assert expected == actual


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3:1: key `a` stands twice (first on line 1); keep one of the two"),
        ("a: &one 1\nb: *one\n", "x.yaml:1:4: `&one` is an anchor; remove it"),
        ("a: &one 1\n", "x.yaml:1:4: `&one` is an anchor; remove it"),
        ("a: {b: 1}\nc:\n  <<: {b: 2}\n", "x.yaml:3:3: `<<` merges are not allowed; write the keys out"),
        (
            "a: !!python/object:os.system x\n",
            "x.yaml:1:4: `tag:yaml.org,2002:python/object:os.system` is a tag",
        ),
        ("a: !!str 1\n", "x.yaml:1:4: `tag:yaml.org,2002:str` is a tag; remove it"),
        ("- a\n- !secret b\n", "x.yaml:2:3: `!secret` is a tag; remove it"),
        ("a: no\n", "x.yaml:1:4: YAML reads `no` as a truth value; write true or false, or put it in quotes"),
        ("on: 1\n", "x.yaml:1:1: `on` as a key is not text; put it in quotes if it is meant as a name"),
        ("1: a\n", "x.yaml:1:1: `1` as a key is not text"),
        ("? [a]\n: 1\n", "x.yaml:1:3: a list or mapping as a key is not text"),
        ("a: 2026-06-01\n", "x.yaml:1:4: YAML reads `2026-06-01` as a date; put it in quotes"),
        ("a: 010\n", "x.yaml:1:4: `010` is not a plain whole number"),
        ("a: 12:30\n", "x.yaml:1:4: `12:30` is not a plain whole number"),
        (f"a: {'9' * 5000}\n", "is not a plain whole number"),
        ("a: .nan\n", "x.yaml:1:4: `.nan` is not a finite decimal number"),
        ("a: -.inf\n", "x.yaml:1:4: `-.inf` is not a finite decimal number"),
        ("a: 1.0e+999\n", "x.yaml:1:4: `1.0e+999` is not a finite decimal number"),
        ("a: =\n", "x.yaml:1:4: `=` is not text or a number; put it in quotes"),
        ("a:\n\tb: 1\n", "x.yaml:2:1: a tab stands where spaces belong; indent with spaces"),
        ("a: [1\nb: 2\n", "x.yaml:2:2: this is not valid YAML"),
        ("a: b: c\n", "x.yaml:1:5: this is not valid YAML (mapping values are not allowed in this context)"),
        ("a: 1\n---\nb: 2\n", "x.yaml:2:1: a second document begins here; put it into a file of its own"),
        ("", "x.yaml:1:1: the file is empty; write its content or remove it"),
        ("# only a remark\n", "x.yaml:1:1: the file is empty"),
    ],
)
def test_refused(text: str, message: str) -> None:
    """What makes YAML surprising or dangerous is refused, with its place and what to write instead."""
    with pytest.raises(PackError) as caught:
        parse_yaml(text.encode(), "x.yaml")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"a: 1\nb: caf\xe9\n", "x.yaml:2:7: byte 0xe9 is not UTF-8 text; save the file as UTF-8"),
        (b"a: \x00\x01\n", "x.yaml:1:4: a control character stands in the file, which is not text"),
        (b"\x7fELF\x02\x01\x01\x00", "x.yaml:1:1: a control character stands in the file, which is not text"),
        (b"\x89PNG\r\n\x1a\n", "x.yaml:1:1: byte 0x89 is not UTF-8 text; save the file as UTF-8"),
        (b"a" * (MAX_BYTES + 1), "x.yaml: the file is larger than 8 MB; split it into several files"),
    ],
)
def test_not_text(raw: bytes, message: str) -> None:
    """Binary junk, other encodings and huge files are refused with one sentence."""
    with pytest.raises(PackError) as caught:
        parse_yaml(raw, "x.yaml")
    assert message in str(caught.value)


def test_aliases_are_not_blown_up() -> None:
    """Aliases of aliases, which would fill the memory, are refused at the first anchor."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    with pytest.raises(PackError) as caught:
        parse_yaml("\n".join(lines).encode(), "x.yaml")
    assert (
        str(caught.value) == "x.yaml:1:5: `&a0` is an anchor; remove it, anchors and aliases are not allowed"
    )


@pytest.mark.parametrize(
    "text",
    [
        "[" * 500_000,
        "{a: " * 100_000,
        "- " * 200_000 + "a",
        "? " * 100_000 + "a",
        "a: " + "[" * 41 + "]" * 41,
        "\n".join(" " * n + "a:" for n in range(1_000)),
    ],
    ids=["lists", "mappings", "dashes", "keys", "just too deep", "lines"],
)
def test_too_deep(text: str) -> None:
    """Deep nesting is refused, however it is written, and does not end the process."""
    with pytest.raises(PackError, match="nested deeper than 40 levels; flatten it"):
        parse_yaml(text.encode(), "x.yaml")


def test_without_the_parser_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser in Python, used where the one in C is missing, gives the same data, places and refusals."""
    text = b"a: {b: [1, two]}\nc: 'x'\n"
    expected = parse_yaml(text, "x.yaml")
    monkeypatch.delattr(yaml, "CSafeLoader")
    actual = parse_yaml(text, "x.yaml")
    assert expected.data == actual.data
    assert expected.location(("a", "b", 1)) == actual.location(("a", "b", 1))
    for refused in (b"[" * 100_000, b"a: &x [1]\nb: *x\n", b"a:\n\tb: 1\n", b"a: \x00\n"):
        with pytest.raises(PackError):
            parse_yaml(refused, "x.yaml")


def test_unreadable_file(tmp_path: Path) -> None:
    """A file that is not there, or is a folder, is named with the reason."""
    for name in ("gone.yaml", "."):
        with pytest.raises(PackError, match="the file cannot be read"):
            read_yaml(tmp_path / name)


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.text("ab 01:#-?&*!|>%@'\"[]{},.\n\\`~=<_")
    | st.sampled_from(
        ["no", "1e-5", "null", "a: b", "a #b", " a", "a ", "a\n", "\n", "---", "...", "0x1F", "1_0"]
    )
)
keys = st.text("ab c-_.:#?0'\n", max_size=8) | st.sampled_from(["on", "1", "<<", "a: b"])
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@given(documents)
def test_written_is_read_back(data: Any) -> None:
    """Any data that is written is read back equal."""
    assert data == parse_yaml(dump(data).encode(), "x.yaml").data


@given(st.text(st.sampled_from("ab c:#'\"-"), min_size=100, max_size=400))
def test_folded_is_read_back(text: str) -> None:
    """Long text, folded or kept on one line, is read back equal."""
    assert {"key": text, "list": [Verbatim(text)]} == parse_yaml(
        dump({"key": text, "list": [Verbatim(text)]}).encode(), "x.yaml"
    ).data


def test_written_form() -> None:
    """Short words stand in brackets, prose is folded, patterns are not, quotes stand only where needed."""
    data = {
        "ids": ["one", "two"],
        "words": ["one two", "three"],
        "prose": "word " * 30 + "end",
        "pattern": Verbatim("a: " + "x " * 80 + "'y'"),
        "block": "one\ntwo\n",
        "odd": ["yes", "- dash", "it's"],
        "empty": [],
        "small": 1e-7,
        "items": [{"a": 1, "b": ["c"]}],
    }
    expected = (
        "ids: [one, two]\n"
        "words:\n  - one two\n  - three\n"
        f"prose: {('word ' * 20).strip()}\n  {'word ' * 10}end\n"
        f"pattern: 'a: {'x ' * 80}''y'''\n"
        "block: |\n  one\n  two\n"
        "odd:\n  - 'yes'\n  - '- dash'\n  - it's\n"
        "empty: []\n"
        "small: 1.0e-07\n"
        "items:\n  - a: 1\n    b: [c]\n"
    )
    assert expected == dump(data)
