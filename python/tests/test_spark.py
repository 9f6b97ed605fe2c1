"""`incrowd.spark` on a real Spark: classic, or Connect with INCROWD_TEST_SPARK=connect, or a server
with INCROWD_TEST_SPARK=sc://HOST. Each needs a separate process."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import random
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")
import pyarrow.parquet as pq  # noqa: E402
from conftest import SPARK_KIND as KIND  # noqa: E402
from conftest import people  # noqa: E402

import incrowd  # noqa: E402
import incrowd.spark  # noqa: E402
from incrowd import _incrowd  # noqa: E402

if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)

ROLES: dict[str, Any] = {
    "identifier": ["name"], "quasi": ["age", "zip", "sex"], "sensitive": ["disease"], "k": 5
}
LEVELS = {"zip": "mask", "age": "intervals:10"}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns people with a ward that may be published, some without a sex."""
    columns = people(600, 3)
    draw = random.Random(4)
    columns["ward"] = [draw.choice(["north", "south", "east"]) for _ in columns["name"]]
    columns["sex"] = [None if draw.random() < 0.05 else sex for sex in columns["sex"]]
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture
def df(spark: Any, table: Path) -> Any:
    return spark.read.parquet(table.as_uri())


def quiet(function: Any, *arguments: Any, **keywords: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", incrowd.Warning)
        return function(*arguments, **keywords)


def records(table: Any) -> list[tuple[Any, ...]]:
    """Returns the records of a table, sorted."""
    rows = [tuple(row.values()) for row in table.to_pylist()]
    return sorted(rows, key=lambda row: tuple("" if cell is None else f" {cell}" for cell in row))


def published(path: Path) -> Any:
    return pq.read_table(path)


def released(path: Path) -> list[str]:
    """Returns the files next to a release."""
    return sorted(entry.name for entry in path.parent.iterdir())


def algorithms() -> list[str]:
    return [
        entry["name"]
        for entry in json.loads(_incrowd.explain(None)) if entry["kind"] == "algorithm"
    ]


def job_of(algorithm: str) -> dict[str, Any]:
    """Returns a deterministic job for an algorithm."""
    drawing = algorithm in ("expc", "expc-plus", "gnof", "gof", "remove-outliers")
    params: dict[str, Any] = {"name": algorithm, **({"seeds": "sorted"} if drawing else {})}
    if algorithm == "top-down":
        params["seed"] = 1
    levels = {"hierarchy": LEVELS} if algorithm in ("full-domain", "local-recoding") else {}
    return {**ROLES, "algorithm": params, "on_missing": "keep", **levels}


@pytest.mark.parametrize("algorithm", [name for name in algorithms() if name != "anatomy"])
@pytest.mark.parametrize("carried", [[], ["ward"]], ids=["from-the-plan", "carried"])
def test_the_release_equals_that_of_the_embedded_engine(
    df: Any, table: Path, tmp_path: Path, algorithm: str, carried: list[str]
) -> None:
    if carried and algorithm not in (
        "mondrian", "local-recoding", "full-domain", "remove-outliers"
    ):
        pytest.skip("what is carried follows from the plan, not from the algorithm")
    job = {**job_of(algorithm), "passthrough": carried, "order": "sorted"}
    made = quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", **job)
    twin = quiet(incrowd.anonymize, table, **job)
    own, other = published(tmp_path / "release"), twin.to_arrow()
    assert own.column_names == other.column_names
    assert records(own) == records(other)
    if not carried:
        assert [tuple(row.values()) for row in own.to_pylist()] == [
            tuple(row.values()) for row in other.to_pylist()
        ]
    for part in ("metrics", "records", "groups", "models"):
        assert made.manifest[part] == twin.manifest[part]
    assert released(tmp_path / "release") == ["release"]


def test_the_algorithm_of_two_tables_is_refused(df: Any, tmp_path: Path) -> None:
    with pytest.raises(incrowd.JobError, match="several tables"):
        incrowd.spark.anonymize(
            df, to=tmp_path / "r", **{**ROLES, "algorithm": {"name": "anatomy", "l": 2}}
        )
    assert not any(tmp_path.iterdir())


def test_typed_values_have_the_spelling_of_files(spark: Any, tmp_path: Path) -> None:
    draw = random.Random(7)
    day = datetime.date(1970, 1, 1)
    n = 300
    moments = [datetime.datetime(2001, 2, 3, 4, 5, 6, 789 * draw.randint(0, 3)) for _ in range(n)]
    columns: dict[str, Any] = {
        "born": [day + datetime.timedelta(days=draw.randint(-9000, 9000)) for _ in range(n)],
        "income": [
            draw.choice([0.1, 1e-7, 12345678.9, 1e21, 3.0, float(draw.randint(0, 50)), None])
            for _ in range(n)
        ],
        "small": pa.array([draw.choice([0.1, 2.5, 1e10]) for _ in range(n)], pa.float32()),
        "price": pa.array(
            [decimal.Decimal(draw.randint(0, 400)) / 100 for _ in range(n)], pa.decimal128(9, 2)
        ),
        "flag": [draw.choice([True, False, None]) for _ in range(n)],
        "size": pa.array([draw.randint(-3, 3) for _ in range(n)], pa.int8()),
        "seen": pa.array(moments, pa.timestamp("us", tz="UTC")),
        "wall": pa.array(moments, pa.timestamp("us")),
    }
    path = tmp_path / "typed.parquet"
    pq.write_table(pa.table(columns), path, coerce_timestamps="us")
    df = spark.read.parquet(path.as_uri())
    job: dict[str, Any] = {
        "quasi": ["born", "income", "price", "flag"],
        "sensitive": ["small", "size", "seen", "wall"],
        "k": 4, "on_missing": "keep", "order": "sorted", "algorithm": "mondrian",
    }
    made = quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", **job)
    own = quiet(incrowd.anonymize, path, **job).to_arrow()
    for name in job["sensitive"]:
        assert made.df.schema[name].dataType == df.schema[name].dataType
    # Spark writes timestamps with less zone information; the values are compared.
    texts = [
        [str(cell).replace("+00:00", "") for cell in row]
        for row in records(published(tmp_path / "release"))
    ]
    assert sorted(texts) == sorted(
        [str(cell).replace("+00:00", "") for cell in row] for row in records(own)
    )


def test_formats_are_published_and_read_back(df: Any, table: Path, tmp_path: Path) -> None:
    for shape in ({"numbers": "low-high"}, {"numbers": "mean"}, {"sets": "list"}):
        job = {**ROLES, "on_missing": "keep", "order": "sorted", "algorithm": "mondrian", **shape}
        quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", **job)
        twin = quiet(incrowd.anonymize, table, **job).to_arrow()
        assert records(published(tmp_path / "release")) == records(twin)


def test_the_order_reveals_nothing(df: Any, tmp_path: Path) -> None:
    orders: list[list[Any]] = []
    for passthrough in ([], ["ward"]):
        for _ in range(2):
            quiet(incrowd.spark.anonymize, df, to=tmp_path / "r", passthrough=passthrough, **ROLES)
            orders.append(published(tmp_path / "r").to_pylist())
    assert orders[0] != orders[1] and orders[2] != orders[3]
    key = str
    assert sorted(orders[0], key=key) == sorted(orders[1], key=key)
    assert sorted(orders[2], key=key) == sorted(orders[3], key=key)


def test_random_keys_are_drawn_once(spark: Any) -> None:
    """A repeated task gives the same keys: they depend on the number of a record, and every record
    has a different one."""
    from incrowd.spark._store import AT, FIRST, KEY, OUTPUT, RANK, RECORDS, SparkStore, keyed
    from incrowd.spark._table import SparkTable
    from pyspark.sql import functions as f

    plan = spark.createDataFrame(
        [("a", 0, 0, 300, 0), ("b", 1, 0, 5, 300)], ["x", OUTPUT, RANK, RECORDS, FIRST]
    )
    store = SparkStore(SparkTable(plan), None)  # type: ignore[arg-type]
    unfolded = store._unfolded(plan, 305)
    runs = [sorted(tuple(row) for row in unfolded.select("x", AT, KEY).collect()) for _ in range(2)]
    assert runs[0] == runs[1] and len({bytes(row[2]) for row in runs[0]}) == 305
    # With other partitions, as in a retried stage, they are still equal.
    other = unfolded.repartition(7).select("x", AT, KEY).collect()
    assert sorted(tuple(row) for row in other) == runs[0]
    # The plan contains no random generator that could run again.
    assert "rand" not in str(keyed("secret", f.col("x"))).lower()


def test_a_table_that_changes_is_refused(
    spark: Any, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incrowd.spark._store import SparkStore

    place = tmp_path / "in"
    place.mkdir()
    shutil.copy(table, place / "a.parquet")
    df = spark.read.parquet(place.as_uri())
    keep = SparkStore.count_and_keep

    def and_then_more(self: SparkStore, *asked: Any) -> Any:
        counted = keep(self, *asked)
        pq.write_table(pq.read_table(table).slice(0, 3), place / "b.parquet")
        self.table.df = spark.read.parquet(place.as_uri())
        return counted

    monkeypatch.setattr(SparkStore, "count_and_keep", and_then_more)
    with pytest.raises(incrowd.InputError, match="changed while it was read"):
        incrowd.spark.anonymize(df, to=tmp_path / "release", passthrough=["ward"], **ROLES)
    assert released(tmp_path / "release") == ["in"]


def test_identifiers_and_passthrough_columns_stay_in_spark(
    df: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incrowd.spark import _store, _table

    collected: list[list[str]] = []
    values: set[Any] = set()

    def spy(frame: Any) -> Any:
        table = real(frame)
        collected.append(list(table.column_names))
        for column in table.columns:
            values.update(column.to_pylist())
        return table

    real = _table.to_arrow
    monkeypatch.setattr(_table, "to_arrow", spy)
    monkeypatch.setattr(_store, "to_arrow", spy)
    quiet(incrowd.spark.anonymize, df, to=tmp_path / "r", passthrough=["ward"], **ROLES)
    assert collected and "female" in values
    assert not {"north", "south", "Person 0", "Person 1"} & values


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"suppression": {"name": "r-suppression", "l": 2}}, "a suppression step"),
        ({"manifest": "m.json"}, "files next to the release"),
        ({"output": "x.parquet"}, "`to` or `table`"),
        ({"quasi": ["agee"]}, "no column `agee`"),
        ({"passthrough": ["name"], "identifier": []}, "are unique on it"),
        ({"k": 100_000}, "100,?000"),
    ],
)
def test_unsupported_jobs_are_refused_and_leave_no_files(
    df: Any, tmp_path: Path, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(incrowd.Error, match=words):
        quiet(incrowd.spark.anonymize, df, to=tmp_path / "r", **{**ROLES, **more})
    assert not any(tmp_path.iterdir())


def test_outputs(df: Any, table: Path, tmp_path: Path) -> None:
    for to, words in [
        ("s3://bucket/release", "atomically in `s3://`"),
        *(
            []
            if KIND == "classic" else [
                ("hdfs://node/release", "Spark Connect session has no local JVM")
            ]
        ),
        (tmp_path / "no" / "release", "no directory"),
        (table.parent, "overwrite a table that is read|something else"),
        (table, "overwrite a table that is read|no directory|not a directory"),
    ]:
        with pytest.raises(incrowd.JobError, match=words):
            incrowd.spark.anonymize(df, to=to, **ROLES)
    with pytest.raises(incrowd.JobError, match="exactly one output"):
        incrowd.spark.anonymize(df, **ROLES)
    with pytest.raises(incrowd.InputError, match="not a Spark DataFrame"):
        incrowd.spark.anonymize(pa.table({"a": [1]}), to=tmp_path / "r", **ROLES)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(incrowd.JobError, match="is not a release"):
        incrowd.spark.anonymize(df, to=tmp_path / "mine", **ROLES)
    assert (tmp_path / "mine" / "thesis.txt").exists()


def test_files_of_killed_runs_are_removed_and_those_of_running_ones_are_kept(
    df: Any, tmp_path: Path
) -> None:
    old = tmp_path / "_incrowd-release-0123456789abcdef"
    (old / "records").mkdir(parents=True)
    (old / ".lock").touch()
    quiet(incrowd.spark.anonymize, df, to=tmp_path / "release", **ROLES)
    assert released(tmp_path / "release") == ["release"]
    busy = tmp_path / "_incrowd-release-fedcba9876543210"
    busy.mkdir()
    hold = (
        "import fcntl,os,sys; f=os.open(sys.argv[1], os.O_RDWR|os.O_CREAT); "
        "fcntl.flock(f, 2); print(1, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(busy / ".lock")], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        # The run continues, and all others end, independent of the names.
        (busy / ".begun").touch()
        with pytest.raises(incrowd.ResourcesError, match="another run"):
            incrowd.spark.anonymize(df, to=tmp_path / "release", **ROLES)
        other.communicate(b"\n")
    assert busy.is_dir()


def test_a_release_is_verified_measured_and_attacked_by_counts(
    df: Any, table: Path, tmp_path: Path
) -> None:
    made = quiet(
        incrowd.spark.anonymize, df, to=tmp_path / "release", passthrough=["ward"], **ROLES
    )
    twin = quiet(incrowd.anonymize, table, passthrough=["ward"], **ROLES)
    checked = incrowd.spark.verify(made)
    assert checked.holds and checked.digest == made.manifest.digest and checked.digest_matches
    # The command reads the files itself and gives the same result.
    assert incrowd.verify(tmp_path / "release").holds
    assert incrowd.spark.verify(tmp_path / "release", spark=df.sparkSession).holds
    assert incrowd.spark.verify(made.df, quasi=["age", "zip", "sex"], k=5).holds
    assert not incrowd.spark.verify(made.df, quasi=["age", "zip", "sex"], k=400).holds
    own, other = incrowd.spark.measure(df, made), incrowd.measure(table, twin)
    assert own["metrics"] == other["metrics"]
    own, other = incrowd.spark.attack(made), incrowd.attack(twin)
    found = {finding["attack"]: finding for finding in other["attacks"]}
    for finding in own["attacks"]:
        if finding["attack"] != "singling-out":
            assert finding == found[finding["attack"]]
    # With one more record it is another table.
    part = next((tmp_path / "release").glob("part-*"))
    shutil.copy(part, part.with_name("part-99999.parquet"))
    assert not incrowd.spark.verify(tmp_path / "release", spark=df.sparkSession).holds


def test_a_profile_uses_a_sample(df: Any) -> None:
    with pytest.warns(incrowd.Warning, match="100 of 600 records"):
        profile = incrowd.spark.profile(df, sample=100)
    roles = {column["name"]: column["role"] for column in profile["private"]["columns"]}
    assert roles["name"] == "identifier" and roles["age"] == "quasi"


def test_a_table_of_the_catalog(spark: Any, df: Any, table: Path) -> None:
    job = {**ROLES, "order": "sorted"}
    twin = records(quiet(incrowd.anonymize, table, **job).to_arrow())
    for _ in range(2):
        made = quiet(incrowd.spark.anonymize, df, table="people_release", **job)
        rows = [tuple(row) for row in made.df.collect()]
        assert sorted(rows, key=str) == sorted(twin, key=str)
        assert incrowd.spark.verify(made).holds
    assert [entry.name for entry in spark.catalog.listTables()] == ["people_release"]
    spark.sql("INSERT INTO people_release SELECT * FROM people_release LIMIT 1")
    assert not incrowd.spark.verify("table:people_release", spark=spark).holds
    with pytest.raises(incrowd.JobError, match="_release`, which is not an unchanged") as told:
        incrowd.spark.anonymize(df, table="people_release", **job)
    assert told.value.help is not None and "replace=True" in told.value.help
    assert spark.table("people_release").count() == len(twin) + 1
    spark.sql("DROP TABLE people_release")
    spark.sql("CREATE TABLE people_release (a INT) USING parquet")
    with pytest.raises(incrowd.JobError, match="is not a release"):
        incrowd.spark.anonymize(df, table="people_release", **job)
    spark.sql("DROP TABLE people_release")


def put(place: Any, df: Any, replace: bool = False, meanwhile: Any = None) -> None:
    """Publishes a DataFrame as it is, with a manifest that only states its digest. Calls
    `meanwhile` before the publication."""
    place.begin([], replace)
    try:
        place.write(df, "release")
        manifest = json.dumps({"digest": place.digest("release")}).encode()
        if meanwhile is not None:
            meanwhile()
        place.publish(manifest)
    finally:
        place.discard()


def test_only_an_unchanged_table_is_replaced(spark: Any) -> None:
    from incrowd.spark._catalog import Catalog

    def sizes() -> dict[str, int]:
        return {name.name: spark.table(name.name).count() for name in spark.catalog.listTables()}

    def create() -> None:
        spark.sql("CREATE TABLE kept USING parquet AS SELECT 1L AS id")

    def insert() -> None:
        spark.sql("INSERT INTO kept VALUES (7L)")

    few, more = spark.range(3), spark.range(5)
    # Somebody creates the table while the release is made.
    with pytest.raises(incrowd.JobError, match="which is not a release of incrowd: no manifest"):
        put(Catalog(spark, "kept"), few, meanwhile=create)
    assert sizes() == {"kept": 1}
    put(Catalog(spark, "kept"), few, replace=True)
    put(Catalog(spark, "kept"), more)
    assert sizes() == {"kept": 5}
    # Somebody adds records while the next release is made.
    with pytest.raises(incrowd.JobError, match="not an unchanged release"):
        put(Catalog(spark, "kept"), few, meanwhile=insert)
    assert sizes() == {"kept": 6}
    for manifest in ("{}", "[1]", "no manifest"):
        spark.sql(f"ALTER TABLE kept SET TBLPROPERTIES ('incrowd.manifest' = '{manifest}')")
        with pytest.raises(incrowd.JobError, match="not an unchanged release"):
            Catalog(spark, "kept").begin([])
    put(Catalog(spark, "kept"), few, replace=True)
    assert sizes() == {"kept": 3}
    spark.sql("DROP TABLE kept")


def test_only_an_unchanged_directory_is_replaced(spark: Any, tmp_path: Path) -> None:
    from incrowd.spark._directory import Directory

    own = tmp_path / "release"
    few, more = spark.range(3).coalesce(1), spark.range(5).coalesce(1)

    def place() -> Directory:
        return Directory(spark, str(own))

    def add() -> None:
        shutil.copy(next(own.glob("part-0*")), own / "part-99999.parquet")

    # A directory without files holds nothing that could be lost.
    own.mkdir()
    put(place(), few)
    put(place(), more)
    with pytest.raises(incrowd.JobError, match="not an unchanged release") as told:
        put(place(), few, meanwhile=add)
    assert told.value.help is not None and "replace=True" in told.value.help
    assert published(own).num_rows == 10 and released(own) == ["release"]
    with pytest.raises(incrowd.JobError, match="not an unchanged release"):
        place().begin([])
    # Other files are never removed.
    for name in ("thesis.txt", "mine.parquet", ".hidden", "part-1"):
        (own / name).mkdir() if name == "part-1" else (own / name).touch()
        for replace in (False, True):
            with pytest.raises(incrowd.JobError, match=f"not part of a release: `{name}`"):
                place().begin([], replace)
        (own / name).rmdir() if name == "part-1" else (own / name).unlink()
    with pytest.raises(incrowd.JobError, match="not part of a release: `notes`"):
        put(place(), few, replace=True, meanwhile=(own / "notes").touch)
    (own / "notes").unlink()
    put(place(), few, replace=True)
    assert published(own).num_rows == 3 and released(own) == ["release"]
    # Without its files it is no unchanged release, and without its manifest no release.
    next(own.glob("part-*")).unlink()
    with pytest.raises(incrowd.JobError, match="not an unchanged release"):
        place().begin([])
    (own / "_incrowd.release.json").rename(own / "_SUCCESS")
    with pytest.raises(incrowd.JobError, match="is not a release of incrowd"):
        place().begin([], True)
    assert released(own) == ["release"]


def refused_as(title: str, spark: Any, df: Any, place: str) -> None:
    """Checks that no function reads a folder, and that the error tells how to read it."""
    for function in (
        lambda: incrowd.spark.verify(place, spark=spark, quasi=["sex"], k=2),
        lambda: incrowd.spark.attack(place, spark=spark, quasi=["sex"]),
        lambda: incrowd.spark.measure(df, place, quasi=["sex"]),
    ):
        with pytest.raises(incrowd.InputError, match=f"is {title}: its files also hold") as told:
            function()
        assert told.value.help is not None and "spark.read.format" in told.value.help


#: Folders, the file that makes them tables with a log, and what they are then.
LAKES = (
    ("delta", "_delta_log/0.json", "a Delta Lake table"),
    ("hudi", ".hoodie/hoodie.properties", "an Apache Hudi table"),
    ("ice", "metadata/v1.metadata.json", "an Apache Iceberg table"),
    # The table is above the folder, or the folder of a partition is a table.
    ("upper/a lot", "../_delta_log/0.json", "a Delta Lake table"),
    ("days", "day=1/_delta_log/0.json", "a Delta Lake table"),
)


def test_tables_with_a_log_are_not_read_as_files(
    spark: Any, df: Any, table: Path, tmp_path: Path
) -> None:
    for name, marker, title in LAKES:
        folder = tmp_path / name
        (folder / "day=1").mkdir(parents=True)
        shutil.copy(table, folder / "day=1" / "part-0.parquet")
        if name == "delta":
            assert incrowd.spark.verify(str(folder), spark=spark, quasi=["sex"], k=2).holds
        (folder / marker).parent.mkdir(parents=True, exist_ok=True)
        (folder / marker).write_text("{}")
        refused_as(title, spark, df, str(folder))
        # A directory in the table does not become part of it.
        if name != "days":
            with pytest.raises(incrowd.JobError, match=f"is {title} .* does not become part of"):
                incrowd.spark.anonymize(df, to=folder / "release", **ROLES)
            assert not (folder / "release").exists()


@pytest.mark.skipif(os.name != "posix", reason="modes are those of Unix")
def test_staged_files_are_private(spark: Any, tmp_path: Path) -> None:
    from incrowd.spark._directory import Directory

    place = Directory(spark, str(tmp_path / "release"))
    place.begin([])
    (work,) = tmp_path.iterdir()
    assert work.stat().st_mode & 0o777 == 0o700
    place.discard()
    assert not any(tmp_path.iterdir())


def test_too_many_distinct_rows_are_refused_before_they_are_collected(
    spark: Any, df: Any, tmp_path: Path
) -> None:
    spark.conf.set(incrowd.spark.SETTING, "100")
    try:
        # Verification holds all rows at once.
        with pytest.raises(
            incrowd.ResourcesError, match=r"distinct rows in \d columns, more than the 100"
        ) as told:
            incrowd.spark.verify(
                df, quasi=ROLES["quasi"], sensitive=ROLES["sensitive"], k=5, l_diversity=2
            )
        assert told.value.help is not None and "maxDistinctRows" in told.value.help
        # Planning in parts gives a warning first. If warnings are errors, nothing is left.
        with warnings.catch_warnings():
            warnings.simplefilter("error", incrowd.Warning)
            with pytest.raises(incrowd.ResourcesError, match="planned in parts of at most 100"):
                incrowd.spark.anonymize(df, to=tmp_path / "r", **ROLES)
    finally:
        spark.conf.unset(incrowd.spark.SETTING)
    assert not any(tmp_path.iterdir())


def test_errors_of_spark_show_no_cell(strict_sql: None, df: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as f

    broken = df.withColumn(
        "age", f.when(f.col("age") > 60, f.col("name").cast("int")).otherwise(f.col("age"))
    )
    with pytest.raises(incrowd.ResourcesError) as told:
        incrowd.spark.anonymize(broken, to=tmp_path / "r", **ROLES)
    assert "Person" not in str(told.value) and "Spark failed" in str(told.value)
    assert hasattr(told.value, "spark_error")
    assert not any(tmp_path.iterdir())


def test_adult(spark: Any, tmp_path: Path) -> None:
    found = Path(os.environ.get("INCROWD_DATA", "")) / "adult.csv.gz"
    if not found.is_file():
        pytest.skip("INCROWD_DATA does not name the public tables")
    import pyarrow.csv as csv

    table = csv.read_csv(found)
    path = tmp_path / "adult.parquet"
    pq.write_table(table, path)
    names = [
        name
        for name in ("sex", "age", "race", "marital-status", "education", "native-country")
        if name in table.column_names
    ]
    last = "occupation"
    job: dict[str, Any] = {
        "quasi": names, "sensitive": [last], "k": 10, "l_diversity": 3, "order": "sorted"
    }
    for algorithm in ("mondrian", "auto"):
        made = quiet(
            incrowd.spark.anonymize, spark.read.parquet(path.as_uri()), to=tmp_path / "r",
            algorithm=algorithm, **job
        )
        twin = quiet(incrowd.anonymize, path, algorithm=algorithm, **job)
        assert published(tmp_path / "r").to_pylist() == twin.to_arrow().to_pylist()
        assert made.manifest["metrics"] == twin.manifest["metrics"]


def test_the_page_runs(
    spark: Any, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of docs/spark.md run in order. Comments that begin with `#>` show the printed
    output."""
    page = Path(__file__).parents[2] / "docs" / "spark.md"
    if not page.is_file():
        pytest.skip("the pages are not here")
    monkeypatch.chdir(tmp_path)
    columns = people(2000, 5)
    columns["ward"] = ["north", "south"] * 1000
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    (tmp_path / "job.toml").write_text(
        "[input]\npath = 'people.parquet'\n[columns]\nname = { role = 'identifier' }\nage = { "
        "role = 'quasi' }\n"
        "sex = { role = 'quasi' }\ndisease = { role = 'sensitive' }\n[[models]]\nname = "
        "'k-anonymity'\nk = 10\n"
    )
    plain = spark.read.parquet

    class Here:
        """A session that finds files in the directory of this test, independent of the server's
        directory."""

        def __init__(self) -> None:
            self.read = self

        def parquet(self, path: str) -> Any:
            return plain((tmp_path / path).as_uri())

    space: dict[str, Any] = {"spark": Here()}
    text = page.read_text(encoding="utf-8")
    for kind, block in re.findall(r"^```(python|sh)\n(.*?)^```", text, re.M | re.S):
        if kind == "python":
            said: list[str] = []
            space["print"] = lambda *values, said=said: said.extend(
                " ".join(map(str, values)).splitlines()
            )
            quiet(exec, compile(block, str(page), "exec"), space)
            assert said == re.findall(r"#> ?(.*)$", block, re.M)
        elif not block.startswith("pip "):
            command = block.replace("python ", f"{sys.executable} ", 1)
            # A separate classic session, because the other one belongs to this process.
            kept = ("SPARK_LOCAL_IP", "SPARK_LOCAL_HOSTNAME")
            env = {
                key: value for key, value in os.environ.items() if key in kept or "SPARK" not in key
            }
            ran = subprocess.run(  # noqa: S602
                command, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True
            )
            assert ran.returncode == 0 and "k-anonymity(k=10)   holds" in ran.stdout, ran.stderr[
                -2000:
            ]
    assert incrowd.verify(tmp_path / "other-release").holds


def test_the_program_reports_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from incrowd.spark.__main__ import main

    job = tmp_path / "job.toml"
    job.write_text("[columns]\nage = { role = 'quasi' }\n[[models]]\nname = 'k-anonymity'\nk = 2\n")
    assert main([str(job)]) == 2
    assert "no table is given" in capsys.readouterr().err
    assert main([str(job), "--input-table", "people"]) == 2
    assert "no output is given" in capsys.readouterr().err
    job.write_text("[columms]\n")
    assert main([str(job)]) == 2
    assert "columms" in capsys.readouterr().err
