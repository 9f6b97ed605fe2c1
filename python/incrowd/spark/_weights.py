"""Sampling weights in millionths: integers, so that sums do not depend on the order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arrow import functions

#: The column with the sampling weight of a record.
WEIGHT = "_incrowd_stands"
#: The largest sampling weight.
_MOST = 10**10


def in_millionths(table: Any, weight: Any, missing: Sequence[str]) -> Any:
    """Adds the sampling weights in millionths, rounded down. A weight that is not a number of at
    least 1 becomes null."""
    f = functions()
    table = table.withColumn(WEIGHT, f.trim(weight.cast("string")))
    text = f.col(WEIGHT)
    # Twenty decimals: a 64-bit number of at least 1 has fewer. `try_cast` returns null for other
    # texts, independent of the session.
    number = f.expr(f"try_cast({WEIGHT} as decimal(38, 20))")
    fits = (number >= 1) & (number <= _MOST)
    fits = fits & ~text.isin(list(missing)) if missing else fits
    return table.withColumn(WEIGHT, f.when(fits, f.floor(number * 1_000_000).cast("bigint")))


def added(records: Any, columns: int) -> Any:
    """Returns the distinct rows of `c0`, `c1`, … with `records`, the sum of sampling weights, and
    the number of `unweighed` records."""
    f = functions()
    return records.groupBy(*[f"c{i}" for i in range(columns)]).agg(
        f.count("*").alias("records"),
        f.coalesce(f.sum(WEIGHT), f.lit(0)).cast("bigint").alias("stands"),
        f.sum(
            f.when(f.col(WEIGHT).isNull(), f.lit(1)).otherwise(f.lit(0))
        ).cast("bigint").alias("unweighed"),
    )
