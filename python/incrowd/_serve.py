"""The pages in a browser."""

from __future__ import annotations

import webbrowser
from os import PathLike
from pathlib import Path

from . import _incrowd


def serve(
    table: object | str | PathLike[str] | None = None, *, port: int = 0, open: bool = True, max_upload: int = 1024
) -> None:
    """Serves the whole way in a browser, on this machine only, until it is interrupted (Ctrl-C).

    `table` is a table (pandas, Polars, pyarrow and the like) or the path of a file; without one the first page asks for it.

    port: The port; 0 is any that is free.
    open: Open the browser. The address is printed either way. Whoever has it sees the table.
    max_upload: The size of the largest upload, in MiB.
    """

    def told(address: str, page: str | PathLike[str]) -> None:
        print(f"serving  {address}\n         on this machine only; Ctrl-C stops it", flush=True)
        # The page is a private file that leads to the address: others can see what programs are started with.
        if open and not webbrowser.open(Path(page).as_uri()):
            print("         no browser could be opened: open the address yourself", flush=True)

    try:
        _incrowd.serve(table, port, max_upload, told)
    except KeyboardInterrupt:
        return
