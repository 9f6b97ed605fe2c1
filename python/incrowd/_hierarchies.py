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
    table: object, column: str, kind: str | PathLike[str] | Mapping[str, Any], *,
    progress: Progress = None
) -> Hierarchy:
    """Builds the hierarchy of a column from its values.

    `kind` is the name of a recipe such as ``mask``, ``intervals:5`` or ``dates``, a mapping with
    its settings, or the path of a file, as in the argument `hierarchies`.
    """
    report, close = listener(progress)
    try:
        return Hierarchy(_incrowd.hierarchy(table, column, kind, report))
    finally:
        close()


def lint(path: str | PathLike[str]) -> Record:
    """Checks a hierarchy file: ``errors`` is the number of errors, ``findings`` have line
    numbers."""
    return Record(json.loads(_incrowd.lint(path)))
