"""Tables that `incrowd.spark` plans in parts, because there are more distinct rows than the driver should hold."""

from __future__ import annotations

import collections
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
# The session and the table are those of the other tests.
from test_spark import LEVELS, ROLES, df, published, quiet, records, spark, table  # noqa: E402, F401

import incrowd  # noqa: E402
import incrowd.spark  # noqa: E402

DIVERSE = ["l-diversity:l=2,on=disease"]
PARTED: dict[str, Any] = {**ROLES, "algorithm": "mondrian"}


def histogram(cells: list[Any]) -> dict[Any, int]:
    return collections.Counter(cells)


@pytest.mark.parametrize(
    ("limit", "missing", "carried", "hierarchies"),
    [(60, "keep", [], {}), (20, "drop", [], LEVELS), (200, "keep", ["ward"], LEVELS), (60, "drop", ["ward"], {})],
)
def test_every_promise_holds_of_the_whole_and_nobody_is_lost(
    df: Any, table: Path, tmp_path: Path, limit: int, missing: str, carried: list[str], hierarchies: dict[str, str]  # noqa: F811
) -> None:
    job = {**PARTED, "on_missing": missing, "passthrough": carried, "model": DIVERSE, "hierarchy": hierarchies}
    release = quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", most_rows=limit, **job)
    found = published(tmp_path / "release").to_pylist()
    # Counted by hand, on what was written.
    groups = collections.defaultdict(list)
    for record in found:
        groups[record["age"], record["zip"], record["sex"]].append(record["disease"])
    assert min(len(group) for group in groups.values()) >= 5
    assert min(len(set(group)) for group in groups.values()) >= 2
    assert len(groups) == release.manifest.groups > 1
    twin = quiet(incrowd.anonymize, table, **job)
    assert release.manifest.records == twin.manifest.records
    own = twin.to_arrow().to_pylist()
    for name in ["disease", *carried]:
        assert histogram([row[name] for row in found]) == histogram([row[name] for row in own])
    if carried:
        pair = lambda row: (row["disease"], row["ward"])  # noqa: E731
        assert histogram([pair(row) for row in found]) == histogram([pair(row) for row in own])
    assert quiet(incrowd.spark.verify, release).holds
    # On so few records a cut costs much; it is measured on large tables.
    assert release.metrics.ncp <= 2 * twin.manifest.metrics.ncp + 0.05


def test_the_setting_of_a_session_says_the_same_as_the_argument(df: Any, spark: Any, tmp_path: Path) -> None:  # noqa: F811
    """Also of a release that has more distinct rows than the setting allows to plan at once."""
    spark.conf.set(incrowd.spark.SETTING, "20")
    try:
        release = quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", on_missing="keep", **PARTED)
    finally:
        spark.conf.unset(incrowd.spark.SETTING)
    assert release.df.distinct().count() > 20
    assert quiet(incrowd.spark.verify, release).holds


def test_cells_cover_the_values_of_their_records(df: Any, tmp_path: Path) -> None:  # noqa: F811
    """Whoever is published is where the table has somebody: the loss against the original is what the manifest says."""
    release = quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", most_rows=50, on_missing="keep", **PARTED)
    measured = quiet(incrowd.spark.measure, df, release, on_missing="keep")
    assert measured.metrics.ncp == pytest.approx(release.metrics.ncp)


def test_a_limit_that_is_not_reached_changes_nothing(df: Any, tmp_path: Path) -> None:  # noqa: F811
    for to, limit in (("a", 100_000), ("b", None)):
        quiet(incrowd.spark.anonymize, df, to=tmp_path / to, most_rows=limit, on_missing="keep", **PARTED)
    assert records(published(tmp_path / "a")) == records(published(tmp_path / "b"))


def test_it_is_said_before_what_parts_need(df: Any, tmp_path: Path) -> None:  # noqa: F811
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        incrowd.spark.anonymize(df, to=tmp_path / "release", most_rows=100, on_missing="keep", **PARTED)
    assert any("planned in parts of at most 100," in str(warning.message) for warning in told)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model": ["t-closeness:t=0.5,on=disease"]}, "looks at the whole table"),
        ({"algorithm": "full-domain", "hierarchy": LEVELS}, "cannot work in parts"),
        ({"order": "sorted"}, "not sorted"),
    ],
)
def test_what_looks_at_the_whole_table_is_refused(
    df: Any, tmp_path: Path, change: dict[str, Any], says: str  # noqa: F811
) -> None:
    with pytest.raises(incrowd.ResourcesError, match=says):
        quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", most_rows=50, on_missing="keep", **{**PARTED, **change})
    assert not any(tmp_path.iterdir())


def test_a_table_that_cannot_be_cut_is_refused(df: Any, tmp_path: Path) -> None:  # noqa: F811
    with pytest.raises(incrowd.ResourcesError, match="cannot be cut"):
        quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", most_rows=2, on_missing="keep", **PARTED)
    assert not any(tmp_path.iterdir())
