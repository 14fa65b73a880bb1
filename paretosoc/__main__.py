"""The entry of the command: ``dse``, ``python -m paretosoc``."""

import signal

# While Python imports, Ctrl-C ends it without a traceback.
_is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if _is_ours:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from paretosoc.dse.cli.main import main  # noqa: E402

if _is_ours:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if __name__ == "__main__":
    main()
