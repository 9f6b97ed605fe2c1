"""The browser interface."""

from __future__ import annotations

import webbrowser
from os import PathLike
from pathlib import Path

from . import _incrowd


def serve(
    table: object | str | PathLike[str] | None = None, *, port: int = 0, open: bool = True,
    max_upload: int = 1024
) -> None:
    """Runs the browser interface, on this machine only, until it is interrupted (Ctrl-C).

    `table` is a table (for example of pandas, Polars or pyarrow) or the path of a file. Without it
    the first page asks for a table.

    port: The port; 0 selects a free port.
    open: Open the browser. The address is always printed. It works once.
    max_upload: The size of the largest upload, in MiB.
    """

    def ready(address: str, page: str | PathLike[str]) -> None:
        print(f"serving  {address}\n         on this machine only; Ctrl-C stops the server")
        print(f"         the address works once; open {page} to connect again", flush=True)
        # The page is a private file that redirects to the server: every user of the machine can
        # read command lines.
        if open and not webbrowser.open(Path(page).as_uri()):
            print("         no browser could be started: open the address manually", flush=True)

    try:
        _incrowd.serve(table, port, max_upload, ready)
    except KeyboardInterrupt:
        return
