"""How knowledge and incidents come in: packs, artefacts, notes and prose."""
