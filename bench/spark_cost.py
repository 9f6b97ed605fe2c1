"""How long the steps of a release on Spark take: `python bench/spark_cost.py [--rows N] [--carry] [--master M]`.

The table is made by Spark: people who do not exist, with as many distinct rows as real tables of that size have.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
import time
import warnings
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--carry", action="store_true", help="pass a column through")
    parser.add_argument("--master", default="local[2]")
    given = parser.parse_args()
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f

    import incrowd.spark

    place = Path(tempfile.mkdtemp(prefix="incrowd-cost-"))
    builder = SparkSession.builder.master(given.master).config("spark.ui.enabled", "false").config("spark.driver.memory", "2g")
    spark = builder.config("spark.sql.shuffle.partitions", "8").config("spark.log.level", "ERROR").getOrCreate()
    try:
        draw = lambda salt, n: f.pmod(f.xxhash64(f.col("id"), f.lit(salt)), f.lit(n))  # noqa: E731
        people = spark.range(given.rows).select(
            f.col("id").cast("string").alias("name"),
            draw(1, 90).cast("int").alias("age"),
            f.concat(f.lit("1"), f.lpad(f.least(draw(2, 1000), draw(3, 1000)).cast("string"), 3, "0")).alias("zip"),
            f.when(draw(4, 2) == 0, "f").otherwise("m").alias("sex"),
            draw(5, 6).cast("string").alias("disease"),
            draw(6, 9).cast("string").alias("ward"),
        )
        people.write.parquet((place / "people").as_uri())
        df = spark.read.parquet((place / "people").as_uri())
        begun = time.monotonic()
        (place / "copy").mkdir()
        df.write.parquet((place / "copy" / "c").as_uri())
        copied = time.monotonic() - begun
        steps: list[tuple[str, float]] = []

        def told(step: str, _: int, __: int | None) -> None:
            if step and (not steps or steps[-1][0] != step):
                steps.append((step, time.monotonic()))

        begun = time.monotonic()
        release = incrowd.spark.anonymize(
            df, to=place / "release", identifier=["name"], quasi=["age", "zip", "sex"], sensitive=["disease"],
            passthrough=["ward"] if given.carry else [], k=10, algorithm="mondrian", progress=told,
        )
        steps.append(("end", time.monotonic()))
        print(f"{given.rows:,} records, {len(release):,} published, {steps[-1][1] - begun:.1f} s; copying the table: {copied:.1f} s")
        for (step, at), (_, after) in zip(steps, steps[1:]):
            print(f"  {step:24} {after - at:7.1f} s")
        print(f"  memory of the program    {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10:7.0f} MiB, without Spark's own")
    finally:
        spark.stop()
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
