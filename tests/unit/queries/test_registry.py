"""How queries are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from failgraph.queries.registry import Registry, all_queries, get_query
from failgraph.schema.errors import QueryDefinitionError, UsageError

TEXT = "// doc: Counts.\n// access: read\n// shape: value\n// column: n int\nRETURN 1 AS n\n"


def put(root: Path, *paths: str, text: str = TEXT) -> None:
    """Write query files."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def test_queries_are_found_in_all_folders(tmp_path: Path) -> None:
    """Every .cypher file below the root is a query named by its stem; other files are none."""
    put(tmp_path, "explain/b.cypher", "deep/er/a.cypher", "explain/notes.md")
    registry = Registry(tmp_path)

    assert registry.names() == ("a", "b")
    assert registry.get("a").path == "queries/deep/er/a.cypher"
    assert [query.name for query in registry.all()] == ["a", "b"]


def test_a_query_is_parsed_once_and_only_when_asked_for(tmp_path: Path) -> None:
    """A broken file does not stop the others, and a query that was read is kept."""
    put(tmp_path, "a.cypher")
    put(tmp_path, "broken.cypher", text="RETURN 1")
    registry = Registry(tmp_path)

    assert registry.get("a") is registry.get("a")
    with pytest.raises(QueryDefinitionError, match="the header has no doc"):
        registry.all()


def test_two_queries_of_one_name_are_refused_naming_both_files(tmp_path: Path) -> None:
    """A name that two files have is an error for that name."""
    put(tmp_path, "x/same.cypher", "y/same.cypher", "y/other.cypher")
    registry = Registry(tmp_path)

    assert registry.get("other").name == "other"
    with pytest.raises(QueryDefinitionError) as caught:
        registry.get("same")
    expected = (
        "queries/x/same.cypher: two queries are named same: this file and queries/y/same.cypher; rename one"
    )
    assert expected == str(caught.value)


def test_an_unknown_name_gets_suggestions() -> None:
    """A typing error is answered with near names."""
    with pytest.raises(UsageError, match="there is no query 'match_clases'; did you mean match_classes"):
        get_query("match_clases")


def test_a_name_that_is_near_nothing_is_answered_with_how_to_list(tmp_path: Path) -> None:
    """Without near names the error says where the names are."""
    with pytest.raises(UsageError, match="failgraph query list"):
        Registry(tmp_path).get("zzz")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 end in one sentence with the file."""
    (tmp_path / "a.cypher").write_bytes(b"// doc: \xff\n")

    with pytest.raises(QueryDefinitionError, match="the file is not UTF-8"):
        Registry(tmp_path).get("a")


def test_all_shipped_queries_load() -> None:
    """Every shipped file has a right header, and no two have one name."""
    names = [query.name for query in all_queries()]

    assert sorted(set(names)) == names
    assert {"match_classes", "match_subgraph", "what_explains"} <= set(names)
