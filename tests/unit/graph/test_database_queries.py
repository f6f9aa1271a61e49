"""The queries that name every label or type agree with the models."""

from __future__ import annotations

import re

import pytest

from failgraph.queries.registry import get_query
from failgraph.schema.nodes import NODES, Migration
from failgraph.schema.relations import RELATIONS


@pytest.mark.parametrize("name", ["all_nodes", "count_nodes", "delete_owned"])
def test_queries_over_everything_name_every_label(name: str) -> None:
    """No label is left out of a backup, a count or a reset, and the record of migrations is in none."""
    expected = {model.labels[0] for model in NODES if model is not Migration}
    match = re.search(r"MATCH \(n:([\w|\s]+)\)", get_query(name).text)

    assert match
    assert expected == {label.strip() for label in match[1].split("|")}


def test_a_backup_reads_every_type() -> None:
    """No relationship type is left out of a backup."""
    expected = {model.type for model in RELATIONS}
    match = re.search(r"\[r:([\w|\s]+)\]", get_query("all_relations").text)

    assert match
    assert expected == {name.strip() for name in match[1].split("|")}


def test_a_restore_writes_every_kind_of_node() -> None:
    """Each kind has a branch, and the branch's guard and pattern are the same."""
    expected = [":".join(model.labels) for model in NODES if model is not Migration]
    branches = re.findall(r"\$labels = '([\w:]+)' .*MERGE \(n:([\w:]+) ", get_query("restore_nodes").text)

    assert [(labels, labels) for labels in expected] == branches


def test_a_restore_writes_every_pattern() -> None:
    """Each pattern of a relationship has a branch, and the branch's guard and clauses are the same."""
    expected = [(start, model.type, end) for model in RELATIONS for start, end in model.ends]
    branches = re.findall(
        r"\$pattern = '(\w+) (\w+) (\w+)'.*?"
        r"MATCH \(source:(\w+) .*?MATCH \(target:(\w+) .*?MERGE \(source\)-\[r:(\w+) ",
        get_query("restore_relations").text,
        re.DOTALL,
    )

    assert [(start, kind, end, start, end, kind) for start, kind, end in expected] == branches
