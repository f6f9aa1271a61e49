"""The text witness of an incident, by the model that ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from failgraph.loaders.prose import witness
from failgraph.loaders.prose.witness import shipped_text_model, shipped_text_model_path, text_witness
from failgraph.schema.errors import PackError
from failgraph.schema.exchange import Incident


@pytest.mark.parametrize("text", [None, "", " \n\t ", "\u6f22\u5b57", "xyzzyplugh qwrtpsdf"])
def test_no_words_no_witness(text: str | None) -> None:
    """Where nothing was told, or not one known word, there is no witness."""
    assert text_witness(Incident(text=text)) is None


def test_prose_is_weighed() -> None:
    """An ordinary report reads like its class, and the words that say so are its own."""
    text = "NCCL setup fails in the container: no space left on /dev/shm, the default of 64 MB is too small."
    found = text_witness(Incident(text=text))
    assert found is not None
    best = max(found.log_ratios, key=lambda name: found.log_ratios[name])
    assert best == "host-shared-memory-too-small"
    assert all(piece in text.lower() for word in found.words[best] for piece in word.split())


def test_the_model_is_read_once() -> None:
    """The shipped model is kept after the first use."""
    assert shipped_text_model() is shipped_text_model()


def test_the_model_lies_in_its_pack() -> None:
    """The model stands beside the narratives that it was made of."""
    assert (shipped_text_model_path().parent / "narratives").is_dir()


def test_a_missing_model_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation that lost its model says which file, not that nothing fits."""
    monkeypatch.setattr(witness, "shipped_text_model_path", lambda: tmp_path / "gone.npz")
    shipped_text_model.cache_clear()
    try:
        with pytest.raises(PackError, match=r"gone\.npz"):
            text_witness(Incident(text="a fan stands still"))
    finally:
        shipped_text_model.cache_clear()
