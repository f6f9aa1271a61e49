"""What we do with the graph: client, engine, migrations, store, inference, explanation."""
