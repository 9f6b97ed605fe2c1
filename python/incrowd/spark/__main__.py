"""`python -m incrowd.spark job.toml`: a job file run by Spark, also by `spark-submit`."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

from .. import _incrowd
from .._errors import Error, JobError, Unsatisfiable, Warning
from ._arrow import module
from ._formats import check_read, directories_of
from ._functions import anonymize

_READERS = {
    "parquet": "parquet", "pq": "parquet", "csv": "csv", "tsv": "csv", "txt": "csv", "orc": "orc",
    "json": "json"
}


def _session(remote: str | None) -> Any:
    builder = module("pyspark.sql").SparkSession.builder.appName("incrowd")
    return builder.remote(remote).getOrCreate() if remote else builder.getOrCreate()


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    print(f"warning: {message}", file=sys.stderr)


def _read(spark: Any, paths: list[str], stated: str | None) -> Any:
    """Reads the table of a job."""
    last = Path(paths[0]).name.lower()
    for ending in (".gz", ".zst"):
        last = last.removesuffix(ending)
    kind = stated or _READERS.get(last.rpartition(".")[2], "parquet")
    if kind == "csv":
        separator = "\t" if last.endswith(".tsv") else ","
        df = spark.read.option("header", True).option("sep", separator).csv(paths)
    else:
        df = spark.read.format(kind).load(paths)
    check_read(spark, directories_of(df.inputFiles()), may_be_iceberg=kind in ("parquet", "orc"))
    return df


def main(arguments: list[str] | None = None) -> int:
    """Runs a job file. The exit codes are those of the command `incrowd`."""
    parser = argparse.ArgumentParser(
        prog="python -m incrowd.spark", description="Runs a job file on Apache Spark."
    )
    parser.add_argument("job", help="the job file")
    parser.add_argument("--remote", help="a Spark Connect server, sc://host:port")
    parser.add_argument("--input-table", help="a table of the catalog in place of [input] path")
    parser.add_argument("--to", help="the directory of the release in place of [output] path")
    parser.add_argument("--table", help="a table of the catalog that the release becomes")
    parser.add_argument("--table-format", help="the format of that table")
    parser.add_argument(
        "--most-rows", type=int,
        help="plan tables with more distinct rows in parts of at most this size"
    )
    parser.add_argument(
        "--plan-on", choices=["driver", "executors"], help="where parts are planned"
    )
    given = parser.parse_args(arguments)
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", Warning)
    spark: Any = None
    try:
        paths, stated, output = _incrowd.job_places(given.job)
        if not paths and given.input_table is None:
            raise JobError(
                "no table is given", help="set [input] path in the job, or give --input-table"
            )
        to = given.to or (None if given.table else output)
        if to is None and given.table is None:
            raise JobError(
                "no output is given", help="set [output] path in the job, or give --to or --table"
            )
        spark = _session(given.remote)
        df = spark.table(given.input_table) if given.input_table else _read(
            spark, [str(path) for path in paths], stated
        )
        place: dict[str, Any] = {
            "table": given.table, "table_format": given.table_format
        } if given.table else {"to": str(to)}
        release = anonymize(
            df, job=given.job, most_rows=given.most_rows, plan_on=given.plan_on, **place
        )
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 1 if isinstance(error, Unsatisfiable) else 2
    except ImportError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    finally:
        if spark is not None:
            spark.stop()
    print(release.report.public, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
