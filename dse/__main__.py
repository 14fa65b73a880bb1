"""``python -m dse``: the command."""

from dse.cli.main import main

main()
