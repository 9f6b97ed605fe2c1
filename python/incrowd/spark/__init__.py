"""Releases of Apache Spark DataFrames, made, written and verified by Spark.

Supports PySpark 3.5 and 4, classic and Connect. Executors need no installation unless they plan.

    import incrowd.spark

    release = incrowd.spark.anonymize(
        df, quasi=["age", "zip"], sensitive=["disease"], k=10, to="/data/release"
    )
    incrowd.spark.verify(release)
"""

from __future__ import annotations

from ._functions import anonymize, attack, measure, profile, verify
from ._release import Release
from ._table import DISTINCT_ROWS, PLAN_ON, SETTING

__all__ = [
    "DISTINCT_ROWS", "PLAN_ON", "SETTING", "Release", "anonymize", "attack", "measure", "profile",
    "verify"
]
