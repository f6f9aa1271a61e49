"""The commands, one module a noun or verb; thin, no logic of their own."""
