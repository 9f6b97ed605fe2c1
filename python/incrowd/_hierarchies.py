"""Hierarchies: building them from the values of a column, and checking files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any

from . import _incrowd
from ._answers import Hierarchy, Record
from ._progress import Progress, listener


def hierarchy(
    table: object, column: str, kind: str | PathLike[str] | Mapping[str, Any], *, progress: Progress = None
) -> Hierarchy:
    """What becomes of each value of a column at every level.

    `kind` is what `hierarchies` takes: the name of a recipe such as ``mask``, ``intervals:5`` or ``dates``, a table with its
    settings, or the path of a file.
    """
    told, close = listener(progress)
    try:
        return Hierarchy(_incrowd.hierarchy(table, column, kind, told))
    finally:
        close()


def lint(path: str | PathLike[str]) -> Record:
    """What is wrong with a hierarchy file: ``errors`` counts what must be mended, ``findings`` name their lines."""
    return Record(json.loads(_incrowd.lint(path)))
