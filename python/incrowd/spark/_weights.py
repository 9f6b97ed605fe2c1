"""How many people records stand for, in millionths: whole numbers, so that sums are exact whatever their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arrow import functions

#: The column with what a record stands for.
STANDS = "_incrowd_stands"
#: No record stands for more people than this.
_MOST = 10**10


def in_millionths(table: Any, weight: Any, missing: Sequence[str]) -> Any:
    """A table with what its records stand for; nothing where there is no number of at least 1. What is smaller than a millionth is cut
    off."""
    f = functions()
    table = table.withColumn(STANDS, f.trim(weight.cast("string")))
    text = f.col(STANDS)
    # Twenty decimals: a number of at least 1 has not so many in 64 bits. What is no number becomes nothing, whatever the session says.
    number = f.expr(f"try_cast({STANDS} as decimal(38, 20))")
    fits = (number >= 1) & (number <= _MOST)
    fits = fits & ~text.isin(list(missing)) if missing else fits
    return table.withColumn(STANDS, f.when(fits, f.floor(number * 1_000_000).cast("bigint")))


def added(records: Any, columns: int) -> Any:
    """The distinct rows of `c0`, `c1`, … with `records`, what they stand for, and how many of them are `unweighed`."""
    f = functions()
    return records.groupBy(*[f"c{i}" for i in range(columns)]).agg(
        f.count("*").alias("records"),
        f.coalesce(f.sum(STANDS), f.lit(0)).cast("bigint").alias("stands"),
        f.sum(f.when(f.col(STANDS).isNull(), f.lit(1)).otherwise(f.lit(0))).cast("bigint").alias("unweighed"),
    )
