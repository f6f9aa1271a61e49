"""Training of the text model: on a small pack, and what is asked of packs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from failgraph.loaders.packs import core_pack_path, read_pack
from failgraph.loaders.prose.likelihood import TextModel, save_text_model
from failgraph.loaders.prose.training import train
from failgraph.loaders.prose.witness import shipped_text_model
from failgraph.schema.errors import PackError, UsageError
from failgraph.schema.nodes import ClassStatus
from failgraph.schema.pack import PackContent

pytest.importorskip("sklearn", reason="training needs scikit-learn: pip install 'failgraph[build]'")

TOLD = Path(__file__).parents[2] / "samples" / "packs" / "told"


@pytest.fixture(scope="module")
def told() -> PackContent:
    """The small pack: three classes, twelve narratives."""
    return read_pack(TOLD)


@pytest.fixture(scope="module")
def model(told: PackContent) -> TextModel:
    """The model of the small pack."""
    return train([told])[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nothing can be written, the volume for checkpoints has no free space.", "full-disk"),
        ("The temperature of this card climbs since its fan broke.", "hot-card"),
        ("After a reboot only seven cards are listed on the bus.", "lost-card"),
    ],
)
def test_sentences_it_never_saw_are_told_apart(model: TextModel, text: str, expected: str) -> None:
    """A trained model puts the right class first for a sentence that stands in no narrative."""
    ratios = model.weigh(text).log_ratios
    assert expected == max(ratios, key=lambda name: ratios[name])


def test_outside_is_told_from_inside(model: TextModel) -> None:
    """A trouble of no class reads more like *outside* than one of a class does."""
    outside = model.weigh("The compiler refuses its licence, builds wait.").none
    assert outside > model.weigh("The fan of the card stands still.").none


def test_figures_are_of_narratives_held_out(told: PackContent) -> None:
    """The figures count all narratives, and are shares."""
    figures = train([told])[1]
    assert figures.narratives == 12
    assert 0.5 <= figures.first <= figures.first_three <= 1.0
    assert 0.5 <= figures.outside_auroc <= 1.0


def test_the_same_packs_give_the_same_bytes(told: PackContent, model: TextModel, tmp_path: Path) -> None:
    """Training twice writes the same file, so a difference is a difference in knowledge."""
    save_text_model(model, tmp_path / "one.npz")
    save_text_model(train([told])[0], tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_columns_are_the_accepted_classes(told: PackContent) -> None:
    """A class that is not accepted is not weighed."""
    retired = next(item for item in told.classes if item.id == "hot-card")
    classes = tuple(
        item.model_copy(update={"status": ClassStatus.RETIRED}) if item is retired else item
        for item in told.classes
    )
    narratives = tuple(item for item in told.narratives if item.describes != "hot-card")
    model, _ = train([told.model_copy(update={"classes": classes, "narratives": narratives})])
    assert ("full-disk", "lost-card") == model.classes


def test_a_narrative_of_no_class_is_refused(told: PackContent) -> None:
    """A narrative whose class no given pack defines is named, with what to do."""
    classes = tuple(item for item in told.classes if item.id != "hot-card")
    with pytest.raises(PackError, match=r"hot-card/1 tells of class hot-card.*name that pack too"):
        train([told.model_copy(update={"classes": classes})])


def test_packs_without_narratives_are_refused(told: PackContent) -> None:
    """Without a narrative there is nothing to learn, and the error says what is missing."""
    with pytest.raises(PackError, match="no narratives in these packs"):
        train([told.model_copy(update={"narratives": ()})])


def test_without_scikit_learn_it_says_what_to_install(
    told: PackContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training without scikit-learn ends in one sentence, not in a traceback."""
    import importlib

    real = importlib.import_module

    def without(name: str, package: str | None = None) -> Any:
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(UsageError, match=r"failgraph\[build\]"):
        train([told])


def test_the_shipped_model_is_of_the_shipped_classes() -> None:
    """The model that ships knows exactly the accepted classes of the core pack; else run ``failgraph pack train``."""
    accepted = [
        item.id for item in read_pack(core_pack_path()).classes if item.status is ClassStatus.ACCEPTED
    ]
    assert sorted(accepted) == list(shipped_text_model().classes)
