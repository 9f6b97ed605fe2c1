"""What a release on Spark costs, by step: `python bench/spark.py [--rows N …] [--masters M …] [--most-rows N]`; prints Markdown.

Spark makes a table of people who do not exist: five quasi-identifiers, one sensitive column, and others that are published as they are
or dropped. For each size and each cluster the release is made and verified. Bytes of shuffles come from Spark's event log. With
`--most-rows` every release is made a second time, planned in parts, and its loss is set beside that of planning at once. Needs Java
and `pip install pyspark pyarrow incrowd`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

ROLES: dict[str, Any] = {
    "identifier": ["name"], "quasi": ["age", "zip", "sex", "education", "income"], "sensitive": ["disease"], "k": 10,
}


def make(spark: Any, rows: int, path: Path) -> None:
    from pyspark.sql import functions as f

    def draw(salt: int, n: int) -> Any:
        return f.pmod(f.xxhash64(f.col("id"), f.lit(salt)), f.lit(n))

    # Sums and least values of draws: most people are ordinary, and some are not.
    age = ((draw(1, 45) + draw(2, 45)) + draw(7, 10)).cast("int")
    zip_ = f.concat(f.lit("1"), f.lpad(f.least(draw(3, 1000), draw(4, 1000), draw(8, 1000)).cast("string"), 3, "0"))
    income = (f.least(draw(5, 200), draw(9, 200), draw(10, 200)) * 1000).cast("int")
    spark.range(rows).select(
        f.col("id").cast("string").alias("name"), age.alias("age"), zip_.alias("zip"),
        f.when(draw(6, 2) == 0, "f").otherwise("m").alias("sex"),
        f.least(draw(11, 16), draw(12, 16)).cast("int").alias("education"), income.alias("income"),
        draw(13, 6).cast("string").alias("disease"), draw(14, 9).cast("string").alias("ward"),
        draw(15, 1000).cast("int").alias("score"), draw(16, 50).cast("string").alias("clinic"),
    ).write.parquet(path.as_uri())


def shuffled(log: Path) -> int:
    """The bytes that tasks wrote for shuffles."""
    total = 0
    for file in (file for file in log.rglob("*") if file.is_file() and not file.name.startswith(".")):
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                if '"SparkListenerTaskEnd"' in line:
                    metrics = json.loads(line).get("Task Metrics") or {}
                    total += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    return total


def run(given: dict[str, Any]) -> dict[str, Any]:
    """One release, in a process and a session of its own."""
    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession

    import incrowd.spark

    place = Path(given["place"])
    log = Path(tempfile.mkdtemp(prefix="log-", dir=place))
    builder = SparkSession.builder.master(given["master"]).config("spark.driver.memory", "2g").config("spark.ui.enabled", "false")
    builder = builder.config("spark.executor.memory", "1000m").config("spark.eventLog.enabled", "true")
    builder = builder.config("spark.eventLog.dir", log.as_uri()).config("spark.eventLog.compress", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "16").config("spark.local.dir", str(place / "local"))
    spark = builder.config("spark.log.level", "ERROR").config("spark.driver.maxResultSize", "2g").getOrCreate()
    try:
        people = place / f"people-{given['rows']}"
        if not people.exists():
            make(spark, given["rows"], people)
        df = spark.read.parquet(people.as_uri())
        df.limit(10).count()
        steps: dict[str, float] = {}
        last = ["starting", time.monotonic()]

        def told(step: str, _: int, __: int | None) -> None:
            now = time.monotonic()
            steps[str(last[0])] = steps.get(str(last[0]), 0) + now - float(last[1])
            last[:] = [step, now]

        begun = time.monotonic()
        release = incrowd.spark.anonymize(
            df, to=place / "release", progress=told, algorithm="mondrian", most_rows=given["most_rows"], **ROLES
        )
        told("", 0, None)
        answer = {
            "seconds": time.monotonic() - begun, "steps": steps, "ncp": release.metrics.ncp, "groups": release.manifest.groups,
            "published": len(release), "program": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
            "driver": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10,
            "distinct": df.select(*ROLES["quasi"], *ROLES["sensitive"]).distinct().count() if given["count"] else None,
        }
    finally:
        spark.stop()
    answer["shuffle"] = shuffled(log) / 2**20
    shutil.rmtree(log, ignore_errors=True)
    shutil.rmtree(place / "release", ignore_errors=True)
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--masters", nargs="+", default=["local-cluster[1,1,1200]", "local-cluster[2,1,1200]"])
    parser.add_argument("--most-rows", type=int, help="plan in parts of at most so many distinct rows, too")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    if given.one:
        print(json.dumps(run(json.loads(given.one))))
        return
    place = Path(tempfile.mkdtemp(prefix="incrowd-spark-"))
    print("| records | cluster | planned | s | shuffled MiB | program MiB | groups | loss (NCP) | steps, s |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    try:
        for rows in given.rows:
            counted = True
            for master in given.masters:
                whole = None
                for most in [10**9] + ([given.most_rows] if given.most_rows else []):
                    asked = {"rows": rows, "master": master, "most_rows": most, "place": str(place), "count": counted}
                    done = subprocess.run(
                        [sys.executable, __file__, "--one", json.dumps(asked)], capture_output=True, text=True, check=False
                    )
                    if done.returncode:
                        print(f"| {rows:,} | {master} | {most:,} | failed: {done.stderr.strip().splitlines()[-1:]} |", flush=True)
                        continue
                    found = json.loads(done.stdout.strip().splitlines()[-1])
                    if found["distinct"] is not None:
                        print(f"<!-- {rows:,} records have {found['distinct']:,} distinct rows; load {os.getloadavg()[0]:.1f} -->")
                        counted = False
                    factor = "" if whole is None else f", {found['ncp'] / whole:.3f} times"
                    whole = found["ncp"] if whole is None else whole
                    steps = ", ".join(f"{step} {s:.1f}" for step, s in found["steps"].items() if step and s >= 0.05)
                    how = "at once" if most == 10**9 else f"in parts of {most:,}"
                    print(
                        f"| {rows:,} | {master} | {how} | {found['seconds']:.1f} | {found['shuffle']:.0f} | {found['program']:.0f} | "
                        f"{found['groups']:,} | {found['ncp']:.5f}{factor} | {steps} |", flush=True,
                    )
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
