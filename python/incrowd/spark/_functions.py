"""The functions of `incrowd.spark`: those of `incrowd` for Spark DataFrames."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Union, cast

from .. import _calls, _incrowd
from .._answers import Attacks, Profile, Record, Verification
from .._errors import InputError, JobError, Warning
from .._progress import Progress, listener
from ._arrow import functions, need_dataframe, to_arrow
from ._catalog import Catalog, manifest_of, table_digest
from ._directory import Directory, open_directory
from ._errors import spark_errors, with_spark_error
from ._files import MANIFEST
from ._release import Release
from ._store import Place, SparkStore
from ._table import PLAN_ON, SparkTable

#: A Spark DataFrame, classic or Connect.
DataFrame = Any
Released = Union[Release, DataFrame, str, "PathLike[str]"]

#: The default number of records that `profile` reads.
SAMPLE = 200_000


def anonymize(
    df: DataFrame,
    *,
    to: str | PathLike[str] | None = None,
    table: str | None = None,
    table_format: str | None = None,
    job: str | PathLike[str] | None = None,
    most_rows: int | None = None,
    plan_on: str | None = None,
    progress: Progress = None,
    **arguments: Any,
) -> Release:
    """Makes a release of a DataFrame in Spark, and verifies the written files.

    The arguments are those of `incrowd.anonymize`, with two differences. `to` is a directory on a
    file system that driver and executors share; the release consists of Parquet files and the
    manifest in it. `table` is a table of the catalog instead, in `table_format` if it differs from
    the format of the session. Tables with more than `most_rows` distinct rows are planned in parts;
    the default is what fits into half of the free memory. With `plan_on="executors"` executors plan
    the parts in parallel, which needs this package there; otherwise the driver plans them one after
    the other. The driver receives only counts of quasi-identifiers and sensitive columns, and with
    `person` also numbers in place of persons. See docs/spark.md.
    """
    need_dataframe(df)
    if "output" in arguments or "output_table" in arguments:
        raise JobError("`output` is not supported here", help="give the output as `to` or `table`")
    if (to is None) == (table is None):
        raise JobError(
            "exactly one output is needed",
            help="give a directory as `to`, or a table of the catalog as `table`"
        )
    spark = df.sparkSession
    place: Place = Directory(spark, os.fspath(to)) if to is not None else Catalog(
        spark, str(table), table_format
    )
    if most_rows is not None and most_rows < 1:
        raise JobError("`most_rows` must be at least 1")
    own = SparkTable(df, most_rows=most_rows)
    store = SparkStore(
        own, place, _on_executors(spark, plan_on),
        (arguments, None if job is None else os.fspath(job))
    )
    report, close = listener(progress)
    try:
        with with_spark_error():
            made, notes = _incrowd.spark_anonymize(own, store, place.place, arguments, job, report)
    finally:
        close()
        for left in place.left:
            warnings.warn(
                f"`{left}` contains values of the original table and could not be removed: remove "
                f"it", Warning, stacklevel=2
            )
    for text in notes:
        warnings.warn(text, Warning, stacklevel=2)
    return Release(made, spark, place.place)


def _on_executors(spark: Any, plan_on: str | None) -> bool:
    """Returns whether parts are planned on executors."""
    stated = plan_on if plan_on is not None else spark.conf.get(PLAN_ON, "driver")
    if stated not in ("driver", "executors"):
        name = "`plan_on`" if plan_on is not None else f"the setting {PLAN_ON}"
        raise JobError(f"{name} must be `driver` or `executors`, not `{stated}`")
    return bool(stated == "executors")


@contextmanager
def _opened(
    release: Released, spark: Any, arguments: dict[str, Any]
) -> Generator[SparkTable, None, None]:
    """Opens a release as a table with its digest, and adds its manifest to the arguments."""
    if isinstance(release, Release):
        name, spark = release.place, release.spark
    elif isinstance(release, (str, PathLike)):
        name = str(os.fspath(cast("str | PathLike[str]", release)))
    else:
        need_dataframe(release)
        yield SparkTable(release, "the release")
        return
    if spark is None:
        raise InputError("no session is given to read the release", help="give it as `spark`")
    digest: Callable[[], str]
    manifest: bytes | None
    if name.startswith("table:"):
        name = name.removeprefix("table:")
        with spark_errors("to read the release"):
            df = spark.table(name)
        text = manifest_of(spark, name)
        manifest = None if text is None else text.encode()
        digest = lambda: table_digest(df)  # noqa: E731
    else:
        df, files = open_directory(spark, name)
        name = files.name
        at = f"{name}/{MANIFEST}"
        manifest = files.read(at) if files.kind(at) == "file" else None
        digest = lambda: files.digest(name)[1]  # noqa: E731
    with tempfile.TemporaryDirectory(prefix="incrowd-") as private:
        if manifest is not None:
            file = Path(private) / "manifest.json"
            file.write_bytes(manifest)
            arguments.setdefault("manifest", str(file))
        yield SparkTable(df, name, digest)


def _session(*tables: object) -> Any:
    sessions = (getattr(table, "sparkSession", None) for table in tables)
    return next((session for session in sessions if session is not None), None)


def _original(original: DataFrame | None) -> SparkTable | None:
    return None if original is None else SparkTable(original, "the original")


def _persons(release: Released, original: DataFrame | None, arguments: dict[str, Any]) -> None:
    """Adds the person column of a release that was made in this session."""
    if isinstance(release, Release) and original is not None and release.person is not None:
        arguments.setdefault("person", release.person)


def verify(
    release: Released,
    *,
    original: DataFrame | None = None,
    spark: Any = None,
    job: str | PathLike[str] | None = None,
    progress: Progress = None,
    **arguments: Any,
) -> Verification:
    """Verifies a published table: a release, a DataFrame, the directory of a release, or
    `table:NAME`.

    Without models in the arguments, those of its manifest are used. The other arguments are those
    of `incrowd.verify`.
    """
    spark = spark or _session(release, original)
    _persons(release, original, arguments)
    with _opened(release, spark, arguments) as table, with_spark_error():
        return _calls.verify(table, _original(original), arguments, progress, job)


def measure(
    original: DataFrame,
    release: Released,
    *,
    spark: Any = None,
    job: str | PathLike[str] | None = None,
    progress: Progress = None,
    **arguments: Any,
) -> Record:
    """Measures the information loss of a release. The other arguments are those of
    `incrowd.measure`."""
    spark = spark or _session(original, release)
    with _opened(release, spark, arguments) as table, with_spark_error():
        return _calls.measure(_original(original), table, arguments, progress, job)


def attack(
    release: Released,
    *,
    original: DataFrame | None = None,
    spark: Any = None,
    job: str | PathLike[str] | None = None,
    progress: Progress = None,
    **arguments: Any,
) -> Attacks:
    """Runs attacks on a release. The other arguments are those of `incrowd.attack`."""
    spark = spark or _session(release, original)
    _persons(release, original, arguments)
    with _opened(release, spark, arguments) as table, with_spark_error():
        return _calls.attack(table, _original(original), arguments, progress, job)


def profile(
    df: DataFrame, *, sample: int = SAMPLE, progress: Progress = None, **arguments: Any
) -> Profile:
    """Describes a table: its columns, how many records are unique, proposed roles. It reads at most
    `sample` records.

    The driver receives these records with all columns, including identifiers. Records are unique
    more often in a sample than in the whole table. The other arguments are those of
    `incrowd.profile`.
    """
    need_dataframe(df)
    with spark_errors("while it drew records for the profile"):
        records = df.count()
        some = df if records <= sample else df.orderBy(functions().rand()).limit(sample)
        table = to_arrow(some)
    if records > sample:
        warnings.warn(
            f"the profile is based on {sample:,} of {records:,} records", Warning, stacklevel=2
        )
    return _calls.profile(table, arguments, progress)
