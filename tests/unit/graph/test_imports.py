"""Hiding optional packages during an import."""

from __future__ import annotations

import sys
import threading
from importlib import import_module

import pytest

from failgraph.graph.imports import without_modules


@pytest.fixture(autouse=True)
def _forget_colorsys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)


def test_a_hidden_module_is_not_found() -> None:
    """Inside the block the import fails as if nothing were installed."""
    with without_modules("colorsys"), pytest.raises(ModuleNotFoundError, match="hidden here on purpose"):
        import_module("colorsys")


def test_a_module_is_found_again_afterwards() -> None:
    """Leaving the block, also by an error, ends the hiding."""
    with pytest.raises(KeyError), without_modules("colorsys"):
        raise KeyError

    assert import_module("colorsys").__name__ == "colorsys"


def test_other_threads_see_everything() -> None:
    """A thread that imports meanwhile is not disturbed."""
    found = []

    def work() -> None:
        found.append(import_module("colorsys").__name__)

    with without_modules("colorsys"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    assert found == ["colorsys"]


def test_blocks_nest() -> None:
    """The inner block adds to the outer one and takes only its own names away."""
    with without_modules("colorsys"):
        with without_modules("chunk"):
            pass
        with pytest.raises(ModuleNotFoundError):
            import_module("colorsys")
