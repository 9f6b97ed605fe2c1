"""incrowd where the data is: releases of DataFrames of Apache Spark, made, written and verified there.

Works with the PySpark that people run: 3.5 and 4, classic and Connect. Nothing has to be installed on executors,
unless they are to plan.

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

__all__ = ["DISTINCT_ROWS", "PLAN_ON", "SETTING", "Release", "anonymize", "attack", "measure", "profile", "verify"]
