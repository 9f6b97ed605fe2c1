"""Publish person-level data so that nobody in it stands out.

>>> release = incrowd.anonymize(df, quasi=["age", "zip"], sensitive=["disease"], k=10)
>>> release.to_polars(), release.metrics.ncp
>>> incrowd.verify(release).holds
"""

from __future__ import annotations

import json as _json

from . import _incrowd
from ._errors import (
    Error,
    InputError,
    InternalError,
    JobError,
    ResourcesError,
    Unsatisfiable,
    Warning,
)
from ._functions import anonymize, attack, batches, compare, measure, profile, report, verify
from ._job import Job
from ._results import Attacks, Comparison, Explanation, Page, Pages, Record, Release, ReleasedTable, Verification

__version__ = _incrowd.__version__


def explain(name: str) -> Explanation:
    """What a model, algorithm, metric or attack means, its paper and its limits."""
    return Explanation(_json.loads(_incrowd.explain(name)))


def names() -> dict[str, list[str]]:
    """Everything that can be explained, by kind."""
    known: dict[str, list[str]] = {}
    for entry in _json.loads(_incrowd.explain(None)):
        known.setdefault(entry["kind"], []).append(entry["name"])
    return known


__all__ = [
    "Attacks",
    "Comparison",
    "Error",
    "Explanation",
    "InputError",
    "InternalError",
    "Job",
    "JobError",
    "Page",
    "Pages",
    "Record",
    "Release",
    "ReleasedTable",
    "ResourcesError",
    "Unsatisfiable",
    "Verification",
    "Warning",
    "__version__",
    "anonymize",
    "attack",
    "batches",
    "compare",
    "explain",
    "measure",
    "names",
    "profile",
    "report",
    "verify",
]
