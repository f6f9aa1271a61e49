"""Every Cypher text that runs after set-up, one query a file, and the code that reads them."""
