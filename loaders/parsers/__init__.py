"""How one kind of artefact is read; one parser a kind."""
