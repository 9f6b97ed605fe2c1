"""Progress of long work: a line on standard error, in terminals and notebooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Union

Progress = Union[bool, None, Callable[[str, int, Union[int, None]], object]]
"""``None`` shows a bar in terminals and notebooks, ``True`` always, ``False`` never; or a function
of step, done and total."""

_WIDTH = 30
#: The bar is shown after this many seconds.
_DELAY = 0.5


class _Bar:
    """A line that is rewritten and cleared at the end. Short work shows none."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown = 0

    def __call__(self, step: str, done: int, total: int | None) -> None:
        if time.monotonic() - self._started < _DELAY:
            return
        line = step
        if total:
            filled = min(_WIDTH, _WIDTH * done // total)
            percent = min(100, 100 * done // total)
            line = f"{step:<14} [{'#' * filled}{' ' * (_WIDTH - filled)}] {percent:3} %"
        self._write(line)

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(line)

    def close(self) -> None:
        """Clears the line."""
        if self._shown:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()


def in_notebook() -> bool:
    """Returns whether the code runs in a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def listener(progress: Progress) -> tuple[
    Callable[[str, int, int | None], object] | None, Callable[[], None]
]:
    """Returns the function that receives progress, and a function to call at the end."""
    if callable(progress):
        return progress, lambda: None
    if progress is None:
        progress = sys.stderr.isatty() or in_notebook()
    if not progress:
        return None, lambda: None
    bar = _Bar()
    return bar, bar.close
