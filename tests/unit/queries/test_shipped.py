"""What shipped queries must name in full."""

from __future__ import annotations

from failgraph.queries.registry import get_query
from failgraph.queries.tokens import Kind, tokenize
from failgraph.schema.nodes import LABELS
from failgraph.schema.relations import RELATION_TYPES


def test_counts_name_every_label_and_type() -> None:
    """No label and no relationship type of the schema is left out of the counts of the graph."""
    texts = {
        token.text[1:-1] for token in tokenize(get_query("graph_counts").text) if token.kind is Kind.STRING
    }

    assert sorted({*LABELS, *RELATION_TYPES}) == sorted(texts - {"node", "relationship"})
