"""Splitting and reading migrations, and their agreement with the models."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failgraph.schema.errors import MigrationError
from failgraph.schema.migration import Statement, read_migrations, shipped_migrations, split_statements
from failgraph.schema.nodes import NODES, PackNode
from failgraph.schema.relations import RELATIONS


def texts(text: str) -> list[str]:
    """Return the texts of the statements."""
    return [statement.text for statement in split_statements(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" ; ;\n", []),
        ("RETURN 1", ["RETURN 1"]),
        ("RETURN 1; RETURN 2;", ["RETURN 1", "RETURN 2"]),
        ("RETURN ';';RETURN \";\"", ["RETURN ';'", 'RETURN ";"']),
        ("RETURN `a;``b`; RETURN 2", ["RETURN `a;``b`", "RETURN 2"]),
        (r"RETURN 'it\'s; one'; RETURN '\\'; RETURN 3", [r"RETURN 'it\'s; one'", r"RETURN '\\'", "RETURN 3"]),
        ("RETURN 1 // no; end\n; RETURN 2", ["RETURN 1", "RETURN 2"]),
        ("RETURN /* a; ' b */ 1; RETURN 2", ["RETURN  1", "RETURN 2"]),
        ("RETURN 'http://x' ; RETURN 2", ["RETURN 'http://x'", "RETURN 2"]),
        ("// only a comment;", []),
    ],
)
def test_statements_end_at_semicolons_outside_strings_and_comments(text: str, expected: list[str]) -> None:
    """A semicolon in a string, a quoted name or a comment ends nothing."""
    assert expected == texts(text)


def test_a_statement_knows_its_line() -> None:
    """The line is where the statement starts, after comments."""
    expected = (Statement("RETURN 1", 2), Statement("RETURN\n2", 5))

    assert expected == split_statements("// one\nRETURN 1;\n\n/* two\n*/ RETURN\n2;\n")


@pytest.mark.parametrize("text", ["RETURN 1;\nRETURN 'open", 'x\n"open', "x\n`open", "x\n/* open; "])
def test_what_is_not_closed_is_refused_with_its_line(text: str) -> None:
    """An open string, name or comment is named with file and line."""
    with pytest.raises(MigrationError, match=r"^V1:2: .* never closed") as caught:
        split_statements(text, "V1")

    assert caught.value.exit_code == MigrationError.exit_code


@given(
    st.lists(
        st.sampled_from(["RETURN 1", "RETURN ';'", 'RETURN "//;"', "RETURN `/*;`", "MATCH (n)\nRETURN n"]),
        max_size=6,
    ),
    st.sampled_from([";", " ;\n", ";// c;'\n", '/* ;" */;']),
)
def test_joined_statements_split_again(statements: list[str], separator: str) -> None:
    """Splitting undoes joining, whatever stands between the statements."""
    assert statements == texts("".join(statement + separator for statement in statements))


def write(folder: Path, **contents: str) -> Path:
    """Write files named by keyword, with .cypher added."""
    for name, content in contents.items():
        (folder / f"{name}.cypher").write_text(content)
    return folder


def test_migrations_come_in_order_with_their_checksum(tmp_path: Path) -> None:
    """Files are read by number, and the checksum is that of the bytes."""
    write(tmp_path, V0002__more="RETURN 2;", V0001__start="RETURN 1;")
    (tmp_path / "notes.txt").write_text("no migration")

    found = read_migrations(tmp_path)

    assert [(migration.id, migration.name) for migration in found] == [("V0001", "start"), ("V0002", "more")]
    assert found[0].checksum != found[1].checksum


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"V1__start": "RETURN 1"}, "m/V1__start.cypher: this is no name of a migration"),
        ({"V0002__start": "RETURN 1"}, "m/V0002__start.cypher: .* V0001 is due"),
        ({"V0001__a": "RETURN 1", "V0001__b": "RETURN 1"}, "m/V0001__b.cypher: .* V0002 is due"),
        ({"V0001__a": "// nothing"}, "m/V0001__a.cypher: the migration holds no statement"),
    ],
)
def test_a_wrong_set_of_migrations_is_refused(tmp_path: Path, files: dict[str, str], problem: str) -> None:
    """A wrong name, a gap, a number used twice and an empty file are named."""
    with pytest.raises(MigrationError, match=problem):
        read_migrations(write(tmp_path, **files), "m")


def shipped_statements() -> str:
    """Return all statements that are shipped."""
    return "\n".join(
        statement.text for migration in shipped_migrations() for statement in migration.statements
    )


def test_every_first_label_has_a_unique_id() -> None:
    """The migrations and the node models name the same labels."""
    expected = {model.labels[0] for model in NODES}

    assert expected == set(re.findall(r"FOR \(n:(\w+)\) REQUIRE n\.id IS UNIQUE", shipped_statements()))


def test_every_relationship_type_has_a_unique_id() -> None:
    """The migrations and the relationship models name the same types."""
    expected = {model.type for model in RELATIONS}

    assert expected == set(
        re.findall(r"FOR \(\)-\[r:(\w+)\]-\(\) REQUIRE r\.id IS UNIQUE", shipped_statements())
    )


def test_every_label_of_a_pack_is_indexed_by_pack() -> None:
    """What a pack owns is found without reading everything."""
    expected = {model.labels[0] for model in NODES if issubclass(model, PackNode)}

    assert expected == set(re.findall(r"FOR \(n:(\w+)\) ON \(n\.pack\)", shipped_statements()))


def test_indexed_properties_exist() -> None:
    """An index is on a property that a model of the label has."""
    known = {(label, name) for model in NODES for label in model.labels for name in model.model_fields}

    assert set() == set(re.findall(r"FOR \(n:(\w+)\) ON \(n\.(\w+)\)", shipped_statements())) - known


def test_every_statement_may_be_run_again() -> None:
    """A migration that failed half-way is repeated from its start."""
    statements = [statement.text for migration in shipped_migrations() for statement in migration.statements]

    assert statements == [text for text in statements if "IF NOT EXISTS" in text]
