"""Publish person-level data so that nobody in it stands out.

>>> release = incrowd.anonymize(df, quasi=["age", "zip"], sensitive=["disease"], k=10)
>>> release.to_polars(), release.metrics.ncp
>>> incrowd.verify(release).holds
"""

from __future__ import annotations

import json as _json

from . import _incrowd
from ._answers import (
    Attacks,
    Comparison,
    Explanation,
    Hierarchy,
    Page,
    Pages,
    Profile,
    Record,
    Verification,
)
from ._errors import (
    Error,
    InputError,
    InternalError,
    JobError,
    ResourcesError,
    Unsatisfiable,
    Warning,
)
from ._functions import anonymize, attack, batches, compare, init, measure, profile, report, verify
from ._hierarchies import hierarchy, lint
from ._job import Job
from ._release import Release, ReleasedTable
from ._serve import serve

__version__ = _incrowd.__version__


def explain(name: str) -> Explanation:
    """Explains a model, algorithm, metric or attack: its meaning, its paper and its limits."""
    return Explanation(_json.loads(_incrowd.explain(name)))


def names() -> dict[str, list[str]]:
    """Returns the names that `explain` accepts, by kind."""
    known: dict[str, list[str]] = {}
    for entry in _json.loads(_incrowd.explain(None)):
        known.setdefault(entry["kind"], []).append(entry["name"])
    return known


__all__ = [
    "Attacks",
    "Comparison",
    "Error",
    "Explanation",
    "Hierarchy",
    "InputError",
    "InternalError",
    "Job",
    "JobError",
    "Page",
    "Pages",
    "Profile",
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
    "hierarchy",
    "init",
    "lint",
    "measure",
    "names",
    "profile",
    "report",
    "serve",
    "verify",
]
