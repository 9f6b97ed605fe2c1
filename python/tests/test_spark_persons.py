"""Persons with several records in `incrowd.spark`: the release equals that of the embedded engine
and is verified by person."""

# Fixtures are imported, and tests name them as arguments.
# ruff: noqa: F811

from __future__ import annotations

import hashlib
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")
import pyarrow.parquet as pq  # noqa: E402

from test_spark import (  # noqa: E402, F401
    KIND,
    algorithms,
    job_of,
    published,
    quiet,
    records,
    released,
)

import incrowd  # noqa: E402
import incrowd.spark  # noqa: E402
from incrowd.spark import _persons, _store, _table  # noqa: E402

VISITS: dict[str, Any] = {
    "person": "patient", "identifier": [], "quasi": ["age", "zip", "sex"], "sensitive": ["disease"],
    "k": 4, "on_missing": "keep",
}
#: Tests that do not depend on the kind of session run once.
once = pytest.mark.skipif(KIND != "classic", reason="tested in a classic session")


def visits(seed: int, people: int = 150, moving: float = 0.3) -> dict[str, list[Any]]:
    """Returns visits of patients, some without an identifier. Some patients move or grow older
    between visits."""
    draw = random.Random(seed)
    columns: dict[str, list[Any]] = {
        name: [] for name in ("patient", "age", "zip", "sex", "disease", "ward")
    }
    for patient in range(people):
        age, zip_code, sex = draw.randint(20, 60), f"{draw.randint(10, 14)}0", draw.choice(
            ["female", "male", None]
        )
        for _ in range(draw.choice([1, 1, 2, 3, 6])):
            if draw.random() < moving:
                age, zip_code = age + draw.randint(0, 2), f"{draw.randint(10, 14)}0"
            name = draw.choice([None, "", "?"]) if draw.random() < 0.05 else f"Patient {patient}"
            visit = (
                name, age, zip_code, sex, draw.choice(["flu", "cold", "gout", "none"]),
                draw.choice(["north", "south", "east"])
            )
            for cells, cell in zip(columns.values(), visit):
                cells.append(cell)
    return columns


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("visits") / "visits.parquet"
    pq.write_table(pa.table(visits(1)), path)
    return path


def same(made: Any, path: Path, twin: Any) -> None:
    """Checks that two releases have equal records and equal results."""
    own, other = published(path), twin.to_arrow()
    assert own.column_names == other.column_names
    assert records(own) == records(other)
    for part in ("unit", "persons", "metrics", "records", "groups", "models"):
        assert made.manifest[part] == twin.manifest[part], part
    assert made.private["persons"] == twin.private["persons"]
    alone = [of.private["singling_out"] for of in (made, twin)]
    for part in ("unit", "of", "columns", "together"):
        assert alone[0][part] == alone[1][part], part
    assert released(path) == [path.name]


def result_of(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """Returns the result of a function, or the class of its error."""
    try:
        return quiet(function, *arguments, **keywords)
    except incrowd.Error as error:
        return type(error)


@once
@pytest.mark.parametrize("algorithm", [name for name in algorithms() if name != "anatomy"])
def test_the_release_equals_that_of_the_embedded_engine(
    spark: Any, stays: Path, tmp_path: Path, algorithm: str
) -> None:
    job = {**job_of(algorithm), **VISITS, "order": "sorted"}
    twin = result_of(incrowd.anonymize, stays, **job)
    made = result_of(
        incrowd.spark.anonymize, spark.read.parquet(stays.as_uri()), to=tmp_path / "release", **job
    )
    if isinstance(twin, type):
        assert made == twin
        assert not any(tmp_path.iterdir())
        return
    assert (
        twin.manifest["unit"] == "persons"
        and twin.manifest["persons"]["read"] < twin.manifest["records"]["read"]
    )
    same(made, tmp_path / "release", twin)
    assert published(tmp_path / "release").to_pylist() == twin.to_arrow().to_pylist()


@pytest.mark.parametrize(
    "more",
    [{}, {"l_diversity": 2, "numbers": "low-high"}, {"on_missing": "drop", "order": "sorted"}]
)
def test_passthrough_columns_stay_with_their_record(
    spark: Any, stays: Path, tmp_path: Path, more: dict[str, Any]
) -> None:
    job = {**VISITS, "passthrough": ["ward"], "algorithm": "mondrian", **more}
    df = spark.read.parquet(stays.as_uri())
    same(
        quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", **job), tmp_path / "release",
        quiet(incrowd.anonymize, stays, **job)
    )


def test_random_tables(spark: Any, tmp_path: Path) -> None:
    """For random small tables both engines give the same release, or both refuse."""
    made = 0
    for seed in range(9 if KIND == "classic" else 3):
        draw = random.Random(seed)
        path = tmp_path / f"visits-{seed}.parquet"
        pq.write_table(
            pa.table(visits(seed, draw.randint(1, 60), draw.choice([0.0, 0.2, 1.0]))), path
        )
        job: dict[str, Any] = {
            **VISITS, "k": draw.randint(2, 6), "on_missing": draw.choice(["keep", "drop"]),
            "order": "sorted",
            "algorithm": draw.choice(["mondrian", "auto", "ascent", "top-down"]),
            "quasi": draw.sample(["age", "zip", "sex"], draw.randint(1, 3)),
            "suppression_limit": draw.choice([0.0, 0.2]),
            "passthrough": draw.choice([[], ["ward"]]),
            **draw.choice([{}, {"l_diversity": 2}, {"t_closeness": {"t": 0.4}}]),
        }
        if job["algorithm"] == "top-down":
            job["algorithm"] = {"name": "top-down", "seed": 1}
        release = tmp_path / f"out-{seed}" / "release"
        release.parent.mkdir()
        twin = result_of(incrowd.anonymize, path, **job)
        own = result_of(
            incrowd.spark.anonymize, spark.read.parquet(path.as_uri()), to=release, **job
        )
        if isinstance(twin, type):
            assert own == twin and not any(release.parent.iterdir())
            continue
        same(own, release, twin)
        made += 1
    assert made >= 2


def test_persons_with_one_record_each_are_records(
    spark: Any, stays: Path, tmp_path: Path
) -> None:
    columns = visits(2)
    columns["patient"] = [f"Patient {i}" for i in range(len(columns["age"]))]
    path = tmp_path / "visits.parquet"
    pq.write_table(pa.table(columns), path)
    job = {**VISITS, "algorithm": "mdav", "passthrough": ["ward"]}
    release = tmp_path / "out" / "release"
    release.parent.mkdir()
    made = quiet(incrowd.spark.anonymize, spark.read.parquet(path.as_uri()), to=release, **job)
    assert made.manifest["unit"] == "persons" and made.manifest["persons"]["published"] == len(made)
    assert made.manifest["persons"] == quiet(incrowd.anonymize, path, **job).manifest["persons"]


@once
def test_rows_in_pieces_equal_whole_rows(
    spark: Any, stays: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_persons, "_PIECE", 50)
    job = {
        **VISITS, "quasi": ["sex"], "algorithm": "mondrian", "order": "sorted",
        "passthrough": ["ward"]
    }
    df = spark.read.parquet(stays.as_uri())
    assert _persons.pieces(df.count()) > 5
    same(
        quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", **job), tmp_path / "release",
        quiet(incrowd.anonymize, stays, **job)
    )


def test_person_numbers_depend_on_a_secret(spark: Any) -> None:
    from pyspark.sql import functions as f

    names = ["Ä", "b", "?", " ?", "?\u00a0", None, "", *(f"Patient {i}" for i in range(40))]
    df = spark.createDataFrame([(name,) for name in names], "name string")
    found = {
        row["name"]: row["n"]
        for row in df.select(
            "name", _persons.numbered("secret", f.col("name"), ["", "?"]).alias("n")
        ).collect()
    }
    for name in names:
        if name is None or name.strip() in ("", "?"):
            assert found[name] is None
        else:
            digest = hashlib.sha256(b"secret" + name.encode()).digest()
            assert found[name] == int.from_bytes(digest[:8], "big", signed=True)
    # Without missing markers the empty text is an identifier.
    plain = df.select(
        "name", _persons.numbered("secret", f.col("name"), []).alias("n")
    ).where("n is null").collect()
    assert [row["name"] for row in plain] == [None]
    assert _table.SparkTable(df)._secret != _table.SparkTable(df)._secret


#: Identifiers in many spellings: numbers of one value, and texts.
SPELLED = [
    "7", "07", "+7", "7.0", "7.", "7e0", "70e-1", " 7", "7\u00a0", "\ufeff007.00\t", "0.7E+1", "8",
    "-8", "-8.0", "0", "-0", "0.0", "00",
    ".5", "0.50", "5e-1", "a", " a", "A", "a b", "1e", ".", "+", "--1", "0x7", "1_0",
    "12345678901234567890", "12345678901234567890.0",
    "12345678901234567891", "1e1234567890", "", " ", "\u0661",
]


def meaning(text: str) -> Any:
    """Returns the meaning of an identifier, by exact arithmetic."""
    text = re.sub(r"^[\s\u200b-\u200d\u2060\ufeff]+|[\s\u200b-\u200d\u2060\ufeff]+$", "", text)
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?", text):
        return Fraction(text if text[-1] != "." else text[:-1])
    return text


def test_all_spellings_of_a_person_have_one_number(spark: Any) -> None:
    from pyspark.sql import functions as f

    df = spark.createDataFrame([(name,) for name in SPELLED], "name string")
    found = {
        row["name"]: row["n"]
        for row in df.select(
            "name", _persons.numbered("secret", f.col("name"), []).alias("n")
        ).collect()
    }
    for one in SPELLED:
        for other in SPELLED:
            assert (found[one] == found[other]) == (meaning(one) == meaning(other)), (one, other)


def test_spellings_are_counted_as_in_files(spark: Any, tmp_path: Path) -> None:
    names = [name for name in SPELLED if name]
    table = pa.table(
        {
            "patient": names, "age": [20 + i % 3 for i in range(len(names))],
            "disease": ["flu", "cold"] * (len(names) // 2) + ["flu"] * (len(names) % 2)
        }
    )
    stored = tmp_path / "in" / "t.parquet"
    stored.parent.mkdir()
    (tmp_path / "out").mkdir()
    pq.write_table(table, stored)
    job: dict[str, Any] = {
        "person": "patient", "quasi": ["age"], "sensitive": ["disease"], "k": 3,
        "algorithm": "mondrian", "order": "sorted"
    }
    made = quiet(
        incrowd.spark.anonymize, spark.read.parquet((stored).as_uri()),
        to=tmp_path / "out" / "release", **job
    )
    twin = quiet(incrowd.anonymize, stored, **job)
    same(made, tmp_path / "out" / "release", twin)
    assert made.manifest["persons"]["read"] == len({meaning(name) for name in names})


def test_no_person_leaves_spark_or_is_published(
    spark: Any, stays: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values: list[Any] = []

    def spy(frame: Any) -> Any:
        table = real(frame)
        for column in table.columns:
            values.extend(column.to_pylist())
        return table

    real = _table.to_arrow
    monkeypatch.setattr(_table, "to_arrow", spy)
    monkeypatch.setattr(_store, "to_arrow", spy)
    df = spark.read.parquet(stays.as_uri())
    quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", passthrough=["ward"], **VISITS)
    assert values and "flu" in values and any(isinstance(value, list) for value in values)
    assert not any("Patient" in str(value) or value in ("north", "south") for value in values)
    files = list((tmp_path / "release").glob("*.parquet"))
    assert files
    for file in files:
        assert pq.read_schema(file).names == ["age", "zip", "sex", "disease", "ward"]
    assert released(tmp_path / "release") == ["release"]


@once
def test_mismatches_are_not_published(
    spark: Any, stays: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import functions as f

    df = spark.read.parquet(stays.as_uri())
    job = {**VISITS, "algorithm": "mondrian"}

    def refused(kind: type[incrowd.Error], words: str) -> None:
        with pytest.raises(kind, match=words):
            quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", **job)
        assert not any(tmp_path.iterdir())

    joined, opened, write = (
        _store.SparkStore._joined,
        _store.SparkStore.open,
        _store.SparkStore._write_records,
    )
    with monkeypatch.context() as patch:
        # All written records get the same person.
        patch.setattr(
            _store.SparkStore, "_joined",
            lambda *a: joined(*a).withColumn(_persons.PERSON, f.lit(1).cast("bigint"))
        )
        refused(incrowd.Error, "does not keep")
    with monkeypatch.context() as patch:
        # The release has other records than the private files.
        read = _store.SparkStore._write

        def lose(self: Any, *a: Any) -> int:
            real = self.place.read
            self.place.read = lambda name: real(name).limit(50) if name == "release" else real(name)
            return read(self, *a)

        patch.setattr(_store.SparkStore, "_write", lose)
        refused(incrowd.ResourcesError, "other records than those whose persons")
    with monkeypatch.context() as patch:

        def forget(self: Any) -> Any:
            table = opened(self)
            table.private = table.private.limit(100)
            return table

        # The stored persons are changed.
        patch.setattr(_store.SparkStore, "open", forget)
        refused(incrowd.ResourcesError, "other records than those whose persons")
    with monkeypatch.context() as patch:

        def renamed(self: Any, carried: list[str]) -> None:
            self.table.df = df.withColumn(
                "patient",
                f.when(f.col("patient") == "Patient 3", "Patient 4").otherwise(f.col("patient"))
            )
            write(self, carried)

        # The rows are equal, but the persons are not.
        patch.setattr(_store.SparkStore, "_write_records", renamed)
        refused(incrowd.InputError, "changed while it was read")


def test_a_release_is_verified_and_attacked_with_its_original(
    spark: Any, stays: Path, tmp_path: Path
) -> None:
    job = {**VISITS, "algorithm": "mondrian"}
    df = spark.read.parquet(stays.as_uri())
    made, twin = quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", **job), quiet(
        incrowd.anonymize, stays, **job
    )
    assert made.person == "patient"
    alone = quiet(incrowd.spark.verify, made)
    assert alone.holds is None and "original" in alone["persons_unknown"]
    own, other = quiet(incrowd.spark.verify, made, original=df), quiet(
        incrowd.verify, twin, original=stays
    )
    assert own.holds and own["unit"] == "persons" and own["models"] == other["models"]
    assert own[
        "smallest_group"
    ] == other["smallest_group"] == made.manifest["persons"]["smallest_group"]
    # A release that counted records does not satisfy the model for persons.
    quiet(
        incrowd.spark.anonymize, df, to=tmp_path / "records",
        **{**job, "person": None, "identifier": ["patient"]}
    )
    assert not quiet(
        incrowd.spark.verify, tmp_path / "records", original=df, person="patient"
    ).holds
    own, other = quiet(incrowd.spark.attack, made, original=df), quiet(
        incrowd.attack, twin, original=stays
    )
    findings = [
        [
            *found["attacks"],
            *(of for of in found["private"]["attacks"] if of["attack"] != "singling-out")
        ] for found in (own, other)
    ]
    assert findings[0] == findings[1] and "persons" in [
        finding["attack"] for finding in findings[0]
    ]
    assert quiet(incrowd.spark.measure, df, made)["metrics"] == quiet(
        incrowd.measure, stays, twin
    )["metrics"]


def test_a_table_of_the_catalog(spark: Any, stays: Path) -> None:
    made = quiet(
        incrowd.spark.anonymize, spark.read.parquet(stays.as_uri()), table="visits_release",
        **VISITS
    )
    twin = quiet(incrowd.anonymize, stays, **VISITS)
    assert sorted(map(str, (tuple(row) for row in made.df.collect()))) == sorted(
        map(str, records(twin.to_arrow()))
    )
    assert made.manifest["persons"] == twin.manifest["persons"]
    assert quiet(incrowd.spark.verify, made).holds is None
    assert quiet(incrowd.spark.verify, made, original=spark.read.parquet(stays.as_uri())).holds
    assert [entry.name for entry in spark.catalog.listTables()] == ["visits_release"]
    spark.sql("DROP TABLE visits_release")


@once
def test_columns_of_any_name(spark: Any, tmp_path: Path) -> None:
    columns = visits(3)
    names = {
        "patient": "who", "age": "key", "zip": "p", "sex": "at", "disease": "records",
        "ward": "piece"
    }
    path = tmp_path / "visits.parquet"
    pq.write_table(pa.table({names[name]: cells for name, cells in columns.items()}), path)
    job = {
        "person": "who", "quasi": ["key", "p", "at"], "sensitive": ["records"], "k": 4,
        "on_missing": "keep", "algorithm": "mondrian"
    }
    release = tmp_path / "out" / "release"
    release.parent.mkdir()
    df = spark.read.parquet(path.as_uri())
    same(quiet(incrowd.spark.anonymize, df, to=release, passthrough=["piece"], **job), release,
         quiet(incrowd.anonymize, path, passthrough=["piece"], **job))
    # Also without persons.
    own = {**job, "person": None, "identifier": ["who"]}
    for more in ([], ["piece"]):
        quiet(incrowd.spark.anonymize, df, to=release, passthrough=more, **own)
        assert records(published(release)) == records(
            quiet(incrowd.anonymize, path, passthrough=more, **own).to_arrow()
        )


@once
def test_unsupported_jobs_are_refused(
    spark: Any, stays: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    df = spark.read.parquet(stays.as_uri())

    def refused(words: str, **more: Any) -> None:
        with pytest.raises(incrowd.Error, match=words):
            quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", **{**VISITS, **more})
        assert not any(tmp_path.iterdir())

    refused("tables with persons cannot be planned in parts", most_rows=20)
    refused("no column `pacient`", person="pacient")
    refused("never published", passthrough=["patient"])
    refused("weights cannot be used with", weight="age", quasi=["zip"])
    monkeypatch.setattr(_table, "_memory", lambda: 1000)
    refused("persons of .* records may need", most_rows=10_000)
