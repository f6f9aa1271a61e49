"""How a report reads: the text witness of an incident, by the model that ships with failgraph."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from failgraph.loaders.packs import TEXT_MODEL, shipped_pack_path
from failgraph.loaders.prose.likelihood import TextModel, load_text_model
from failgraph.schema.exchange import Incident
from failgraph.schema.witness import TextWitness


def shipped_text_model_path() -> Path:
    """Return where the text model of the shipped narratives lies."""
    return shipped_pack_path("reports") / TEXT_MODEL


@cache
def shipped_text_model() -> TextModel:
    """Return the text model that ships with failgraph, read once.

    Raises:
        PackError: the file is missing or damaged.
    """
    return load_text_model(shipped_text_model_path())


def text_witness(incident: Incident) -> TextWitness | None:
    """Return how the incident's prose reads; None where nothing was told.

    Raises:
        PackError: the shipped model is missing or damaged.
    """
    if not incident.text or not incident.text.strip():
        return None
    witness = shipped_text_model().weigh(incident.text)
    return witness if witness.log_ratios else None
