"""Tables that `incrowd.spark` plans in parts, because they have more distinct rows than the driver
should hold."""

# Fixtures are imported, and tests name them as arguments.
# ruff: noqa: F811

from __future__ import annotations

import collections
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
# The session and the table are those of the other tests.
from test_spark import KIND, LEVELS, ROLES, df, published, quiet, records, table  # noqa: E402, F401

import incrowd  # noqa: E402
import incrowd.spark  # noqa: E402
from incrowd import _incrowd  # noqa: E402

DIVERSE = ["l-diversity:l=2,on=disease"]
PARTED: dict[str, Any] = {**ROLES, "algorithm": "mondrian"}
#: Tests that do not depend on the kind of session run once.
once = pytest.mark.skipif(KIND != "classic", reason="tested in a classic session")


def histogram(cells: list[Any]) -> dict[Any, int]:
    return collections.Counter(cells)


@pytest.mark.parametrize(
    ("limit", "missing", "carried", "hierarchies"),
    [
        (60, "keep", [], {}), (20, "drop", [], LEVELS), (200, "keep", ["ward"], LEVELS),
        (60, "drop", ["ward"], {})
    ],
)
def test_every_model_holds_for_the_whole_and_no_record_is_lost(
    df: Any,
    table: Path,
    tmp_path: Path,
    limit: int,
    missing: str,
    carried: list[str],
    hierarchies: dict[str, str],
) -> None:
    job = {
        **PARTED, "on_missing": missing, "passthrough": carried, "model": DIVERSE,
        "hierarchy": hierarchies
    }
    release = quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", most_rows=limit, **job)
    found = published(tmp_path / "release").to_pylist()
    # Counted on the written files.
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
    # Cuts of few records cost much; the loss is measured on large tables.
    assert release.metrics.ncp <= 2 * twin.manifest.metrics.ncp + 0.05


def test_the_session_setting_equals_the_argument(
    df: Any, spark: Any, tmp_path: Path
) -> None:
    """Also for a release with more distinct rows than the setting allows to plan at once."""
    spark.conf.set(incrowd.spark.SETTING, "20")
    try:
        release = quiet(
            incrowd.spark.anonymize, df, to=tmp_path / "release", on_missing="keep", **PARTED
        )
    finally:
        spark.conf.unset(incrowd.spark.SETTING)
    assert release.df.distinct().count() > 20
    assert quiet(incrowd.spark.verify, release).holds


@once
def test_cells_cover_the_values_of_their_records(df: Any, tmp_path: Path) -> None:
    """Published cells contain the original values: the loss against the original equals that in the
    manifest."""
    release = quiet(
        incrowd.spark.anonymize, df, to=tmp_path / "release", most_rows=50, on_missing="keep",
        **PARTED
    )
    measured = quiet(incrowd.spark.measure, df, release, on_missing="keep")
    assert measured.metrics.ncp == pytest.approx(release.metrics.ncp)


@once
def test_an_unreached_limit_changes_nothing(df: Any, tmp_path: Path) -> None:
    for to, limit in (("a", 100_000), ("b", None)):
        quiet(
            incrowd.spark.anonymize, df, to=tmp_path / to, most_rows=limit, on_missing="keep",
            **PARTED
        )
    assert records(published(tmp_path / "a")) == records(published(tmp_path / "b"))


@once
def test_planning_in_parts_gives_a_warning_first(df: Any, tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        incrowd.spark.anonymize(
            df, to=tmp_path / "release", most_rows=100, on_missing="keep", **PARTED
        )
    assert any("planned in parts of at most 100," in str(warning.message) for warning in told)


CATEGORIES = {
    "category": {"disease": {"Severe": ["measles", "asthma"], "Mild": ["flu", "cold", "none"]}},
    "publish": {"disease": "both"},
}


def together(path: Path) -> dict[tuple[Any, ...], list[str]]:
    """Returns the diseases of each group of a release."""
    groups = collections.defaultdict(list)
    for record in published(path).to_pylist():
        groups[record["age"], record["zip"], record["sex"]].append(record["disease"])
    return groups


@once
@pytest.mark.parametrize(
    "algorithm", [{"name": "auto"}, {"name": "top-down", "seed": 1}, {"name": "mdav"}],
    ids=lambda a: a["name"]
)
def test_every_local_algorithm_plans_parts(
    df: Any, table: Path, tmp_path: Path, algorithm: dict[str, Any]
) -> None:
    job = {**ROLES, "algorithm": algorithm, "on_missing": "keep", "model": DIVERSE}
    release = quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", most_rows=250, **job)
    groups = together(tmp_path / "release")
    assert min(map(len, groups.values())) >= 5 and min(
        len(set(group)) for group in groups.values()
    ) >= 2
    assert len(groups) == release.manifest.groups > 1
    twin = quiet(incrowd.anonymize, table, **job)
    assert (
        release.manifest.records == twin.manifest.records
        and release.manifest.algorithm.name == algorithm["name"]
    )
    found = histogram(published(tmp_path / "release").column("disease").to_pylist())
    assert found == histogram(twin.to_arrow().column("disease").to_pylist())
    assert incrowd.verify(tmp_path / "release").holds
    assert quiet(
        incrowd.spark.measure, df, release, on_missing="keep"
    ).metrics.ncp == pytest.approx(release.metrics.ncp)


@once
@pytest.mark.parametrize(
    ("model", "more", "kept"),
    [
        (
            "alpha-k-anonymity:alpha=0.5,k=5,on=disease", {},
            lambda own: 2 * max(histogram(own).values()) <= len(own)
        ),
        ("p-sensitive:p=3,k=5,on=disease", {}, lambda own: len(set(own)) >= 3),
        (
            "p-alpha-sensitive:p=3,alpha=1,k=5,on=disease", CATEGORIES,
            lambda own: len(set(own)) >= 3
        ),
        (
            "p-plus-alpha-sensitive:p=2,alpha=1,k=5,on=disease",
            CATEGORIES,
            lambda own: bool({"measles", "asthma"} & set(own)) and bool(
                {"flu", "cold", "none"} & set(own)
            ),
        ),
    ],
    ids=["alpha-k", "p-sensitive", "p-alpha", "p-plus-alpha"],
)
def test_models_of_single_groups_hold(
    df: Any, tmp_path: Path, model: str, more: dict[str, Any], kept: Any
) -> None:
    job = {**PARTED, "on_missing": "keep", "model": [model], **more}
    release = quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", most_rows=250, **job)
    groups = together(tmp_path / "release")
    assert len(groups) > 1 and sum(map(len, groups.values())) == 600
    assert all(len(own) >= 5 and kept(own) for own in groups.values())
    name = model.partition(":")[0]
    assert all(judged.holds for judged in release.manifest.models) and name in [
        judged.name for judged in release.manifest.models
    ]
    assert incrowd.verify(tmp_path / "release").holds


@pytest.mark.parametrize("carried", [[], ["ward"]], ids=["from-the-plan", "carried"])
@pytest.mark.parametrize(
    "more",
    [
        {"hierarchy": LEVELS},
        {"algorithm": {"name": "top-down", "seed": 1}, "numbers": "mean", "model": DIVERSE}
    ],
    ids=["levels", "means"],
)
def test_executors_plan_like_the_driver(
    df: Any, tmp_path: Path, carried: list[str], more: dict[str, Any]
) -> None:
    job = {**PARTED, "on_missing": "keep", "passthrough": carried, **more}
    made = {
        where: quiet(
            incrowd.spark.anonymize, df, to=tmp_path / where, most_rows=120, plan_on=where, **job
        )
        for where in ("driver", "executors")
    }
    found = {where: published(tmp_path / where) for where in made}
    cells = {where: records(table.drop_columns(carried)) for where, table in found.items()}
    assert cells["driver"] == cells["executors"]
    for name in carried:
        assert histogram(found["driver"].column(name).to_pylist()) == histogram(
            found["executors"].column(name).to_pylist()
        )
    for part in ("metrics", "records", "groups", "models", "algorithm"):
        assert made["driver"].manifest[part] == made["executors"].manifest[part]
    assert incrowd.verify(tmp_path / "executors").holds


def test_errors_of_executors_equal_those_of_the_driver(
    df: Any, spark: Any, tmp_path: Path
) -> None:
    said: list[str] = []
    # Five diseases are not distributed that evenly.
    job = {**PARTED, "on_missing": "keep", "model": ["alpha-k-anonymity:alpha=0.21,k=5,on=disease"]}
    for where in ("driver", "executors"):
        with pytest.raises(incrowd.Unsatisfiable) as told:
            quiet(
                incrowd.spark.anonymize, df, to=tmp_path / "release", most_rows=120, plan_on=where,
                **job
            )
        said.append(str(told.value))
        assert not any(tmp_path.iterdir())
    assert said[0] == said[1]
    with pytest.raises(incrowd.JobError, match="hierarchy of other columns"):
        more = {"hierarchy": {"zip": "columns:region"}, "plan_on": "executors", "most_rows": 550}
        wider = df.withColumn("region", df["zip"].substr(1, 1))
        quiet(
            incrowd.spark.anonymize, wider, to=tmp_path / "release", on_missing="keep",
            **{**PARTED, **more}
        )
    with pytest.raises(incrowd.JobError, match="`driver` or `executors`, not `moon`"):
        incrowd.spark.anonymize(df, to=tmp_path / "release", plan_on="moon", **PARTED)
    spark.conf.set(incrowd.spark.PLAN_ON, "moon")
    try:
        with pytest.raises(incrowd.JobError, match="the setting spark.incrowd.planOn"):
            incrowd.spark.anonymize(df, to=tmp_path / "release", **PARTED)
    finally:
        spark.conf.unset(incrowd.spark.PLAN_ON)
    assert not any(tmp_path.iterdir())


def test_an_executor_with_another_version_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa
    from incrowd.spark import _executor

    sent = _executor.message(pa.table({"a": [1]}), {}, None, [], None)
    rows = pa.record_batch({"v0": [1], "records": [2], "_incrowd_row": [3], "part": [4]})
    monkeypatch.setattr(_incrowd, "__version__", "0.0.0")
    answer = pa.Table.from_batches(list(_executor.plan(sent, iter([rows]))))
    assert answer.column("part").to_pylist() == [4]
    with pytest.raises(incrowd.ResourcesError, match="an executor 0.0.0"):
        _executor.answered(answer)


def test_executors_without_the_package_are_reported() -> None:
    from incrowd.spark._parts import _missing_package

    with pytest.raises(
        incrowd.ResourcesError, match="not installed on the executors"
    ), _missing_package():
        raise RuntimeError("PythonException: ModuleNotFoundError: No module named 'incrowd'")
    with pytest.raises(RuntimeError, match="else"), _missing_package():
        raise RuntimeError("something else")


def test_the_page_names_the_algorithms_that_work_in_parts() -> None:
    page = Path(__file__).parents[2] / "docs" / "spark.md"
    known = json.loads(_incrowd.explain(None))
    local = [
        f"`{entry['name']}`" for entry in known if entry["kind"] == "algorithm" and entry["local"]
    ]
    assert len(local) > 1 and f"- Algorithms: {', '.join(local)}." in page.read_text(
        encoding="utf-8"
    )


def test_rows_of_a_partition_are_split_by_part() -> None:
    import pyarrow as pa
    from incrowd.spark._executor import _parts

    numbers = [[2, 2, 5], [5], [], [5, 7, 7], [7]]
    batches = [
        pa.record_batch({"v": pa.array(own, pa.int32()), "part": pa.array(own, pa.int32())})
        for own in numbers
    ]
    found = [
        (part, rows.column("v").to_pylist(), rows.column_names)
        for part, rows in _parts(iter(batches))
    ]
    assert found == [(2, [2, 2], ["v"]), (5, [5, 5, 5], ["v"]), (7, [7, 7, 7], ["v"])]


@once
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"model": ["t-closeness:t=0.5,on=disease"]}, "`t-closeness.*depends on the whole table"),
        (
            {"model": ["beta-likeness:beta=2,on=disease"]},
            "`beta-likeness.*depends on the whole table"
        ),
        (
            {"model": ["delta-disclosure:delta=2,on=disease"]},
            "`delta-disclosure.*depends on the whole table"
        ),
        (
            {"model": ["plain-k-anonymity:k=5"], "algorithm": "expc"},
            "cannot be planned in parts|cannot plan in parts"
        ),
        (
            {"algorithm": "full-domain", "hierarchy": LEVELS},
            "cannot plan in parts; `auto`, `mondrian`, `top-down`, `mdav` can"
        ),
        ({"algorithm": "ascent", "hierarchy": LEVELS}, "`ascent` cannot plan in parts"),
        ({"algorithm": {"name": "auto", "cells": "both", "missing_cells": "any"}}, "single cells"),
        ({"hierarchy": {"age": "mdr"}}, "regular intervals"),
        ({"order": "sorted"}, "parts cannot be sorted together"),
    ],
    ids=lambda value: None if isinstance(value, str) else next(iter(map(str, value.values())))[:24],
)
def test_models_of_the_whole_table_are_refused(
    df: Any, tmp_path: Path, change: dict[str, Any], expected: str
) -> None:
    with pytest.raises(incrowd.ResourcesError, match=expected):
        quiet(
            incrowd.spark.anonymize, df, to=tmp_path / "release", most_rows=50, on_missing="keep",
            **{**PARTED, **change}
        )
    assert not any(tmp_path.iterdir())


def test_a_table_that_cannot_be_cut_is_refused(df: Any, tmp_path: Path) -> None:
    with pytest.raises(incrowd.ResourcesError, match="cannot be cut"):
        quiet(
            incrowd.spark.anonymize, df, to=tmp_path / "release", most_rows=2, on_missing="keep",
            **PARTED
        )
    assert not any(tmp_path.iterdir())


def test_a_table_of_many_columns_is_planned_in_parts(
    spark: Any, tmp_path: Path
) -> None:
    columns = [f"q{i}" for i in range(18)]
    rows = [tuple((n * (i + 3) + n // 7) % 5 for i in range(len(columns))) for n in range(300)]
    wide = spark.createDataFrame(rows, columns)
    release = quiet(
        incrowd.spark.anonymize, wide, quasi=columns, k=5, algorithm="mondrian",
        to=tmp_path / "release", most_rows=150
    )
    assert release.manifest.records.published == 300
    assert quiet(incrowd.spark.verify, release).holds
