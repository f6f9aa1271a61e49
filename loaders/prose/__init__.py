"""Prose to findings: what a report says in words, attached to the observables of the catalogue."""

from failgraph.loaders.prose.reader import Attachment, PhraseIndex, ProseFinding

__all__ = ["Attachment", "PhraseIndex", "ProseFinding"]
