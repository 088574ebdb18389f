"""``python -m contree`` is the command ``contree``."""

from contree.cli import main

main()
