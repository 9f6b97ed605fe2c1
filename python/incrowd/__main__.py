"""The command: `incrowd`, or `python -m incrowd`."""

from __future__ import annotations

import sys

from . import _incrowd


def main() -> int:
    """Runs the command with the arguments of the process."""
    return _incrowd.command(["incrowd", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
