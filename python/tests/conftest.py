"""Synthetic tables in the installed libraries, and the Spark session."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from typing import Any

import pytest

#: `classic`, `connect`, or the address of a server.
SPARK_KIND = os.environ.get("INCROWD_TEST_SPARK", "classic")
# Without these the name of the machine is resolved, which takes a minute without a network.
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
# Executors have the packages of this environment.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def people(records: int = 400, seed: int = 1) -> dict[str, list[object]]:
    """Returns a small table: two numbers, a code and a sensitive column."""
    draw = random.Random(seed)
    return {
        "name": [f"Person {i}" for i in range(records)],
        "age": [draw.randint(18, 90) for _ in range(records)],
        "zip": [
            f"{draw.randint(0, 4)}{draw.randint(0, 9)}{draw.randint(0, 9):03}"[:5]
            for _ in range(records)
        ],
        "sex": [draw.choice(["female", "male"]) for _ in range(records)],
        "disease": [
            draw.choice(["flu", "cold", "asthma", "none", "measles"]) for _ in range(records)
        ],
    }


ROLES = {"identifier": ["name"], "quasi": ["age", "zip", "sex"], "sensitive": ["disease"]}


@pytest.fixture
def columns() -> dict[str, list[object]]:
    return people()


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def df(request: pytest.FixtureRequest, columns: dict[str, list[object]]) -> object:
    """Returns the table in each library."""
    library = pytest.importorskip(request.param)
    if request.param == "pandas":
        pytest.importorskip("pyarrow")
    return library.table(columns) if request.param == "pyarrow" else library.DataFrame(columns)


@pytest.fixture
def arrow(columns: dict[str, list[object]]) -> object:
    """Returns the table in one installed library."""
    try:
        import pyarrow

        return pyarrow.table(columns)
    except ImportError:
        return pytest.importorskip("polars").DataFrame(columns)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Returns one Spark session for all tests of a process."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.log.level": "ERROR",
    }
    import pyspark

    if SPARK_KIND == "connect" and pyspark.__version__.startswith("3."):
        pytest.skip(
            "the package pyspark 3.5 has no Connect server; give one with "
            "INCROWD_TEST_SPARK=sc://HOST"
        )
    if SPARK_KIND.startswith("sc://"):
        session = SparkSession.builder.remote(SPARK_KIND).getOrCreate()
        yield session
        session.stop()
        return
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = (
        builder.remote("local[2]") if SPARK_KIND == "connect" else builder.master("local[2]")
    ).getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def strict_sql(spark: Any) -> Iterator[None]:
    """Lets Spark report invalid casts as errors, as Spark 4 does by default."""
    spark.conf.set("spark.sql.ansi.enabled", "true")
    yield
    spark.conf.unset("spark.sql.ansi.enabled")
