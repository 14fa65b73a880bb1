"""``python -m paretosoc``: the command."""

from paretosoc.dse.cli.main import main

main()
