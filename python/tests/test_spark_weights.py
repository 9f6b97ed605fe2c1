"""Sampling weights in `incrowd.spark`: the release equals that of the embedded engine, and the
written weights are checked."""

# Fixtures are imported, and tests name them as arguments.
# ruff: noqa: F811

from __future__ import annotations

import decimal
import random
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")
import pyarrow.parquet as pq  # noqa: E402

from test_spark import KIND, published, quiet, records, released  # noqa: E402, F401

import incrowd  # noqa: E402
import incrowd.spark  # noqa: E402
from incrowd.spark import _store  # noqa: E402
from incrowd.spark._weights import WEIGHT, in_millionths  # noqa: E402

SURVEY: dict[str, Any] = {
    "weight": "pw", "quasi": ["age", "sex"], "sensitive": ["disease"], "model": ["k-map:k=150"],
    "algorithm": "mondrian", "order": "sorted",
}
#: Tests that do not depend on the kind of session run once.
once = pytest.mark.skipif(KIND != "classic", reason="tested in a classic session")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw = random.Random(5)
    count = 400
    columns: dict[str, Any] = {
        "age": [draw.randint(20, 60) for _ in range(count)],
        "sex": [draw.choice(["female", "male", None]) for _ in range(count)],
        "disease": [draw.choice(["flu", "cold", "gout", "none"]) for _ in range(count)],
        "ward": [draw.choice(["north", "south"]) for _ in range(count)],
        "pw": [
            draw.choice([1.0, 2.5, 1e2, 17.123456789, draw.uniform(1, 60)]) for _ in range(count)
        ],
    }
    path = tmp_path_factory.mktemp("sample") / "sample.parquet"
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"passthrough": ["ward"], "publish_weight": "group-mean", "on_missing": "keep"},
        {"model": ["k-anonymity:k=5"], "publish_weight": "group-mean", "algorithm": "ascent"},
        {"model": ["k-anonymity:k=5"]},
    ],
)
def test_the_release_equals_that_of_the_embedded_engine(
    spark: Any, sample: Path, tmp_path: Path, more: dict[str, Any]
) -> None:
    job = {**SURVEY, **more}
    df = spark.read.parquet(sample.as_uri())
    made, twin = quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", **job), quiet(
        incrowd.anonymize, sample, **job
    )
    own, other = published(tmp_path / "release"), twin.to_arrow()
    assert own.column_names == other.column_names and (
        "pw" in own.column_names
    ) == ("publish_weight" in more)
    assert records(own) == records(other)
    for part in ("metrics", "records", "groups", "models"):
        assert made.manifest[part] == twin.manifest[part], part
    assert released(tmp_path / "release") == ["release"]
    if not more:
        # With and without its original.
        # The release does not contain the sampling weights that the population is estimated from.
        assert quiet(
            incrowd.spark.verify, made
        ).holds is None and quiet(incrowd.verify, twin).holds is None
        asked: dict[str, Any] = {"weight": "pw", "only": ["population-risk"]}
        own = quiet(incrowd.spark.attack, made, original=df, **asked)
        assert own == quiet(
            incrowd.attack, twin, original=sample, **asked
        ) and own["private"]["attacks"]
        own, other = quiet(incrowd.spark.measure, df, made, weight="pw"), quiet(
            incrowd.measure, sample, twin, weight="pw"
        )
        # Sums of fractions depend on the order of the rows in the last digit.
        weighted = [found["private"]["weighted"] for found in (own, other)]
        apart = [
            [(entry["column"], round(entry["distance"], 9)) for entry in found["shares_apart"]]
            for found in weighted
        ]
        people = [
            {table: round(found["people"][table], 6) for table in ("original", "release")}
            for found in weighted
        ]
        assert apart[0] == apart[1] != [] and people[0] == people[1] and people[0]["original"] > 400


def test_weights_are_read_exactly(spark: Any, strict_sql: None) -> None:
    from pyspark.sql import functions as f

    texts: dict[str | None, int | None] = {
        "1": 1_000_000, "102.1": 102_100_000, " 3.3333333 ": 3_333_333, "1e3": 1_000_000_000,
        "28523": 28_523_000_000,
        "": None, "0": None, "0.999": None, "-5": None, "many": None, "NaN": None, "inf": None,
        "1e11": None, None: None, "7": None,
    }
    df = spark.createDataFrame([(text,) for text in texts], "w string")
    found = {row["w"]: row[WEIGHT] for row in in_millionths(df, f.col("w"), ["7"]).collect()}
    assert found == texts
    draw = random.Random(1)
    numbers = [draw.uniform(1, 10 ** draw.randint(1, 9)) for _ in range(300)] + [
        3.9999999999999996, 1e10, 4.35, 1.000001
    ]
    df = spark.createDataFrame([(number,) for number in numbers], "w double")
    for row in in_millionths(df, f.col("w"), []).collect():
        assert row[WEIGHT] == int(decimal.Decimal(repr(row["w"])) * 1_000_000)


@once
def test_mismatches_are_not_published(
    spark: Any, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import functions as f

    df = spark.read.parquet(sample.as_uri())

    def refused(kind: type[incrowd.Error], words: str, table: Any = df, **more: Any) -> None:
        with pytest.raises(kind, match=words):
            quiet(incrowd.spark.anonymize, table, to=tmp_path / "release", **{**SURVEY, **more})
        assert not any(tmp_path.iterdir())

    light = df.withColumn("pw", f.when(f.col("age") == 33, 0.5).otherwise(f.col("pw")))
    refused(incrowd.InputError, "no weight of at least 1 in column `pw`", light)
    refused(
        incrowd.JobError, "does not add up weights", algorithm="mdav", model=["k-anonymity:k=5"],
        publish_weight="group-mean"
    )
    refused(incrowd.ResourcesError, "tables with weights cannot be planned in parts", most_rows=20)
    joined, write = _store.SparkStore._joined, _store.SparkStore._write_records
    with monkeypatch.context() as patch:
        # Every written record gets the weight 1.
        patch.setattr(
            _store.SparkStore, "_joined",
            lambda *a: joined(*a).withColumn(WEIGHT, f.lit(1_000_000).cast("bigint"))
        )
        refused(incrowd.Error, "does not keep")
        refused(
            incrowd.Error, "not the mean of its group", publish_weight="group-mean",
            model=["k-anonymity:k=5"]
        )
    with monkeypatch.context() as patch:

        def heavier(self: Any, carried: list[str]) -> None:
            self.table.df = df.withColumn(
                "pw", f.col("pw") + f.when(f.col("age") == 40, 1).otherwise(0)
            )
            write(self, carried)

        # The rows are equal, but the weights are not.
        patch.setattr(_store.SparkStore, "_write_records", heavier)
        refused(incrowd.InputError, "changed while it was read")
