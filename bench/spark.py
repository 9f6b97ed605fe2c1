"""What a release on Spark costs: `python bench/spark.py [--rows N …] [--executors N …] …`; prints
Markdown.

    python bench/spark.py --rows 1000000 5000000 --executors 1 2        a table of figures, one run
    in each line python bench/spark.py --rows 5000000 --executors 0 --passthrough ward      with a
    column that is published as it is, on local[2] python bench/spark.py --rows 1000000 --per-person
    3                 persons with so many records are counted python bench/spark.py --rows 1000000
    --most-rows 150000             also planned in parts, with the loss of both python
    bench/spark.py --save runs.jsonl …                           also adds what was measured to a
    file python bench/spark.py --fit runs.jsonl                              a model of the cost,
    fitted to such a file python bench/spark.py --peer PATH --rows 100000                     beside
    Mondrian for Spark; PATH has its `distributed/`

Every run starts a cluster of its own. Spark makes a table of people who do not exist; it is copied
by Spark, and then the release is made, in the same session. Bytes of shuffles come from Spark's
event log. Everything lies below `--place` and is removed at the end. Linux; needs Java and `pip
install pyspark pyarrow incrowd`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import spark_cluster as cluster

STEPS = ("counting", "planning", "writing", "checking")
AT_ONCE = 10**9
HEAD = (
    "| records | distinct rows | executors | passed through | planned | counting | planning | "
    "writing | checking | all | copying the table "
    "| processor s | shuffled MiB | program MiB | disk MiB | loss (NCP) | load |"
)


def run(asked: dict[str, Any]) -> dict[str, Any]:
    """Makes one release, in this process and a separate session."""
    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession

    import incrowd.spark

    place = Path(asked["place"])
    log = Path(tempfile.mkdtemp(prefix="log-", dir=place))
    builder = SparkSession.builder.master(cluster.master(asked["executors"], asked["memory"]))
    for key, value in cluster.settings(
        place, asked["executors"], asked["memory"], asked["driver_memory"]
    ).items():
        builder = builder.config(key, value)
    builder = builder.config("spark.eventLog.enabled", "true").config(
        "spark.eventLog.dir", log.as_uri()
    )
    spark = builder.config("spark.eventLog.compress", "false").config(
        "spark.eventLog.rolling.enabled", "false"
    ).getOrCreate()
    folded = [*asked["quasi"], "disease"]
    load = os.getloadavg()[0]
    with cluster.Watch(place) as watch:
        try:
            table = place / f"people-{asked['rows']}"
            if not table.exists():
                cluster.people(spark, asked["rows"]).write.parquet(table.as_uri())
            df = spark.read.parquet(table.as_uri())
            person = {}
            if asked["per_person"]:
                people = max(1, asked["rows"] // asked["per_person"])
                df, person = df.selectExpr(
                    "*", f"pmod(xxhash64(name), {people}) as person"
                ), {"person": "person"}
            copied = cluster.Clock()
            copied.step("copy")
            df.write.parquet((place / "copy").as_uri())
            copied.step("")
            shutil.rmtree(place / "copy")
            began = time.time()
            clock = cluster.Clock()
            clock.step("counting")
            release = incrowd.spark.anonymize(
                df, to=place / "release", progress=clock.told, algorithm="mondrian",
                identifier=["name"], quasi=asked["quasi"],
                sensitive=["disease"], passthrough=asked["passthrough"], model=asked["model"],
                most_rows=asked["most_rows"], **person,
            )
            clock.step("")
            ended = time.time()
            program = cluster.peak()
            published, ncp, groups = len(release), release.metrics.ncp, release.manifest.groups
            distinct = asked["distinct"] or df.select(*folded).distinct().count()
        finally:
            spark.stop()
    answer = {
        "seconds": clock.seconds, "spent": clock.spent, "all": ended - began,
        "copy": copied.seconds["copy"],
        "copy_spent": copied.spent["copy"], "distinct": distinct, "published": published,
        "ncp": ncp, "groups": groups, "program": program, "java": watch.java,
        "executor": watch.executor, "disk": watch.disk,
        "shuffled": cluster.shuffled(log, began, ended), "load": [load, watch.load],
    }
    shutil.rmtree(log)
    shutil.rmtree(place / "release")
    return answer


def in_process(asked: dict[str, Any]) -> dict[str, Any] | str:
    """Returns the result of `run` in a separate process, or the error."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", json.dumps(asked)], capture_output=True, text=True,
        check=False,
        env=cluster.environment(Path(asked["place"])),
    )
    if done.returncode:
        return "; ".join(done.stderr.strip().splitlines()[-1:])
    return {**asked, **json.loads(done.stdout.strip().splitlines()[-1])}


def line(found: dict[str, Any], whole: float | None) -> str:
    """Returns a run as a row of the table."""
    steps = [f"{found['seconds'].get(step, 0):.1f}" for step in STEPS]
    factor = "" if whole is None else f", {found['ncp'] / whole:.3f} times"
    planned = "at once" if found["most_rows"] == AT_ONCE else f"in parts of {found['most_rows']:,}"
    cells = [
        f"{found['rows']:,}",
        f"{found['distinct']:,}",
        str(found["executors"] or "`local[2]`"),
        (" ".join(found["passthrough"]) or "nothing")
        + (" (persons)" if found["per_person"] else ""),
        planned,
        *steps,
        f"{found['all']:.1f}",
        f"{found['copy']:.1f}",
        f"{sum(found['spent'].values()):.0f}",
        f"{found['shuffled']:.0f}",
        f"{found['program']:.0f}",
        f"{found['disk']:.0f}",
        f"{found['ncp']:.5f}{factor}",
        f"{found['load'][0]:.1f} to {found['load'][1]:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def measure(given: argparse.Namespace, place: Path) -> int:
    """Prints the table of all selected runs."""
    failed = 0
    print(HEAD)
    print("|" + "---|" * (HEAD.count("|") - 1), flush=True)
    for rows in given.rows:
        distinct = None
        for executors in given.executors:
            whole = None
            for most in [AT_ONCE] + ([given.most_rows] if given.most_rows else []):
                asked = {
                    "rows": rows, "executors": executors, "most_rows": most, "place": str(place),
                    "distinct": distinct,
                    "quasi": given.quasi.split(","), "passthrough": given.passthrough,
                    "model": given.model, "per_person": given.per_person,
                    "memory": given.memory, "driver_memory": given.driver_memory,
                }
                found = in_process(asked)
                if isinstance(found, str):
                    print(f"| {rows:,} | | {executors} | failed: {found} |", flush=True)
                    failed = 1
                    continue
                print(line(found, whole), flush=True)
                distinct, whole = found["distinct"], found["ncp"] if whole is None else whole
                if given.save:
                    with given.save.open("a", encoding="utf-8") as file:
                        file.write(
                            json.dumps(
                                {key: value for key, value in found.items() if key != "place"}
                            ) + "\n"
                        )
        shutil.rmtree(place / f"people-{rows}", ignore_errors=True)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000], help="how many records")
    parser.add_argument(
        "--executors", type=int, nargs="+", default=[2],
        help="how many, each with one core; 0 is local[2]"
    )
    parser.add_argument(
        "--quasi", default="age,zip,sex",
        help="quasi-identifiers: of age,zip,sex,education,income (default %(default)s)"
    )
    parser.add_argument(
        "--passthrough", nargs="*", default=[],
        help="columns published as they are: of ward,score,clinic"
    )
    parser.add_argument(
        "--model", nargs="+", default=["k-anonymity:k=10"], help="models (default %(default)s)"
    )
    parser.add_argument(
        "--per-person", type=int, default=0,
        help="counts persons, who have so many records in the mean"
    )
    parser.add_argument(
        "--most-rows", type=int, help="plan in parts of at most so many distinct rows, too"
    )
    parser.add_argument(
        "--memory", type=int, default=1400, help="MiB of heap of an executor (default %(default)s)"
    )
    parser.add_argument(
        "--driver-memory", default="2g", help="heap of the driver's Java (default %(default)s)"
    )
    parser.add_argument("--place", type=Path, help="a directory for tables, shuffles and releases")
    parser.add_argument("--save", type=Path, help="adds what was measured to a file")
    parser.add_argument(
        "--fit", type=Path, help="fits a model of the cost to such a file, and measures nothing"
    )
    parser.add_argument(
        "--peer", type=Path, help="the peer's repository: runs it on the same tables"
    )
    parser.add_argument(
        "--table", type=Path, help="with --peer: a CSV file in place of generated people"
    )
    parser.add_argument(
        "--sensitive", default="disease",
        help="with --peer: the sensitive column (default %(default)s)"
    )
    parser.add_argument("--k", type=int, default=10, help="with --peer")
    parser.add_argument(
        "--fragments", type=int, nargs="+",
        help="with --peer: into how many parts it cuts first (default: the executors)"
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(run(json.loads(given.one))))
        return 0
    if given.fit:
        import spark_model

        print(
            spark_model.report(
                [json.loads(text) for text in given.fit.read_text(encoding="utf-8").splitlines()]
            )
        )
        return 0
    place = Path(tempfile.mkdtemp(prefix="incrowd-spark-", dir=given.place))
    try:
        if given.peer:
            import spark_peer

            return spark_peer.compare(given, place)
        return measure(given, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
