"""``python -m failgraph``."""

from failgraph.cli import main

if __name__ == "__main__":
    main()
