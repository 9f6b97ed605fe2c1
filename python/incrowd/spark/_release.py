"""A release written by Spark."""

from __future__ import annotations

import json
from typing import Any, cast

from .. import _incrowd
from .._answers import Record
from .._release import Texts
from ._directory import open_directory


class Release:
    """A verified, immutable release written by Spark."""

    __slots__ = ("_release", "place", "spark")
    _release: _incrowd.Release
    spark: Any
    place: str

    def __init__(self, release: _incrowd.Release, spark: Any, place: str) -> None:
        object.__setattr__(self, "_release", release)
        object.__setattr__(self, "spark", spark)
        object.__setattr__(self, "place", place)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` cannot be set: a release is immutable")

    @property
    def df(self) -> Any:
        """The published records as a DataFrame."""
        if self.place.startswith("table:"):
            return self.spark.table(self.place.removeprefix("table:"))
        return open_directory(self.spark, self.place)[0]

    @property
    def manifest(self) -> Record:
        """The manifest, which may be published: models, metrics, digest."""
        return Record(json.loads(self._release.manifest))

    @property
    def metrics(self) -> Record:
        """The information loss: ``release.metrics.ncp``."""
        return cast("Record", self.manifest["metrics"])

    @property
    def private(self) -> Record:
        """The results for the data owner only."""
        return Record(json.loads(self._release.answer).get("private", {}))

    @property
    def person(self) -> str | None:
        """The person column of the original, if persons were counted."""
        return self._release.person

    @property
    def report(self) -> Texts:
        """The report as text."""
        return Texts(self._release.public_text, self._release.owner_text)

    def __len__(self) -> int:
        return int(self.manifest["records"]["published"])

    def __repr__(self) -> str:
        return self.report.public.rstrip("\n")
