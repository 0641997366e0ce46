"""The command ``juror``, also run as ``python -m juror``."""

import signal
import sys

from . import _package

_package.check()

from ._juror import run_command  # noqa: E402


def main() -> int:
    """Runs the program with the arguments of the process and returns its exit code."""
    # The program handles interrupts itself. Python would raise them again at the end.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_command(sys.argv[1:], [sys.executable or "python3", "-m", "juror"])


if __name__ == "__main__":
    sys.exit(main())
