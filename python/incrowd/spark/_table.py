"""A Spark DataFrame as a table of which only counts leave Spark."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

from .._errors import ResourcesError
from ._arrow import arrow_schema, col, functions, module, need_dataframe, to_arrow
from ._errors import spark_errors
from ._persons import KEY, PERSON, numbered, people_of, persons_by_row
from ._weights import WEIGHT, added, in_millionths

#: The number of records that are read to check whether the values of a column repeat.
_SAMPLE = 1 << 18
#: With more records per value than this a column is a category or a name, and does not identify
#: persons.
_MANY = 5
#: The default of the largest number of distinct rows on the driver.
DISTINCT_ROWS = 20_000_000
#: The largest number of bytes that the driver needs for the person of a record.
PERSON_BYTES = 32
#: The session setting of the largest number of distinct rows on the driver.
SETTING = "spark.incrowd.maxDistinctRows"
#: The session setting that selects where parts are planned.
PLAN_ON = "spark.incrowd.planOn"


def bytes_of(rows: int, columns: int) -> int:
    """Estimates the memory of the driver for distinct rows: texts, codes and planning."""
    return rows * (48 * columns + 120)


def _memory() -> int:
    """Returns the free memory of this machine in bytes, or 1 TiB if it is unknown."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            free = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(free.split()[1]) * 1024
    except (OSError, StopIteration, ValueError, IndexError):
        return 1 << 40


class SparkTable:
    """The operations that the compiled module needs on a Spark table."""

    __incrowd_remote__ = True

    def __init__(self, df: Any, name: str = "df", digest: Callable[[], str] | None = None,
                 most_rows: int | None = None, private: Any = None) -> None:
        need_dataframe(df)
        #: The same records with their keys and their persons or sampling weights, in private staged
        #: files.
        self.private = private
        #: The key of person numbers, new in every run.
        self._secret = secrets.token_hex(32)
        self.df = df
        self.name = name
        self._digest = digest
        self.most_rows = most_rows
        self._about: dict[tuple[str, ...], tuple[int, int]] = {}

    def schema(self) -> Any:
        """Returns an empty table with the columns."""
        with spark_errors("to describe the table"):
            schema = arrow_schema(self.df)
        return schema.empty_table()

    def named(self, columns: Sequence[str]) -> Any:
        """Returns the columns with safe names: `c0`, `c1`, …"""
        return self.df.select(*[col(name).alias(f"c{i}") for i, name in enumerate(columns)])

    def grouped(self, columns: Sequence[str]) -> Any:
        """Returns the distinct rows of columns with their counts as `records`."""
        names = [f"c{i}" for i in range(len(columns))]
        return self.named(columns).groupBy(*names).agg(functions().count("*").alias("records"))

    def limit(self, columns: int) -> int:
        """Returns the largest number of distinct rows on the driver."""
        if self.most_rows is not None:
            return self.most_rows
        stated = self.df.sparkSession.conf.get(SETTING, None)
        if stated is None:
            return min(DISTINCT_ROWS, max(1, _memory() // 2 // bytes_of(1, columns)))
        try:
            return int(stated)
        except ValueError:
            raise ResourcesError(
                f"the setting {SETTING} is not a number", help="set it to a number of rows"
            ) from None

    def sizes(self, columns: Sequence[str]) -> tuple[int, int]:
        """Returns the estimated number of distinct rows, and the number of records."""
        f = functions()
        names = [f"c{i}" for i in range(len(columns))]
        if tuple(columns) not in self._about:
            counted = f.approx_count_distinct(f.xxhash64(*names), 0.02).alias("rows")
            sizes = self.named(columns).agg(counted, f.count("*").alias("records")).first()
            self._about[tuple(columns)] = (int(sizes["rows"]), int(sizes["records"]))
        return self._about[tuple(columns)]

    def about(self, columns: Sequence[str]) -> int:
        """Returns the estimated number of distinct rows."""
        return self.sizes(columns)[0]

    def check_rows(
        self, columns: Sequence[str], person: bool = False, weight: bool = False
    ) -> None:
        """Raises an error if the driver cannot hold the distinct rows or persons."""
        rows, limit = self.about(columns), self.limit(len(columns))
        if rows > limit:
            need = bytes_of(rows, len(columns)) / 2**30
            extra = "persons" if person else "weights" if weight else None
            parts = f"; tables with {extra} cannot be planned in parts" if extra else ""
            raise ResourcesError(
                f"the table has about {rows:,} distinct rows in {len(columns)} columns, more than "
                f"the {limit:,} that the "
                f"driver should hold; they would need about {need:,.1f} GiB there{parts}",
                help=f"use fewer or coarser columns, or, if the driver has that memory, set "
                     f"{SETTING} to {rows * 11 // 10}",
            )
        records = self.sizes(columns)[1] if person else 0
        if PERSON_BYTES * records > _memory() // 2:
            need = PERSON_BYTES * records / 2**30
            raise ResourcesError(
                f"the persons of {records:,} records may need {need:,.1f} GiB on the driver, more "
                f"than half of its free memory",
                help="give the driver more memory", key="input.person",
            )

    @property
    def knows_persons(self) -> bool:
        """Whether the persons of the records are stored."""
        return self.private is not None and PERSON in self.private.columns

    @property
    def knows_weights(self) -> bool:
        """Whether the sampling weights of the records are stored."""
        return self.private is not None and WEIGHT in self.private.columns

    def weighed(self, columns: Sequence[str], weight: str | None, missing: Sequence[str]) -> Any:
        """Returns the distinct rows with their sampling weights, from a column or as stored; see
        `_weights.added`."""
        named = [col(name).alias(f"c{i}") for i, name in enumerate(columns)]
        if weight is None:
            return added(self.private.select(*named, WEIGHT), len(columns))
        records = in_millionths(
            self.df.select(*named, col(weight).alias("weight")), functions().col("weight"), missing
        )
        return added(records, len(columns))

    def count_weights(
        self, columns: Sequence[str], weight: str | None, missing: Sequence[str]
    ) -> Any:
        """Returns the distinct rows of columns with their counts and sampling weights."""
        names = [f"c{i}" for i in range(len(columns))]
        with spark_errors("while it added up weights"):
            self.check_rows(columns)
            table = to_arrow(
                self.weighed(columns, weight, missing).select(
                    *names, "records", "stands", "unweighed"
                )
            )
        return table.rename_columns(
            [*columns, "_incrowd_records", "_incrowd_represented", "_incrowd_unweighed"]
        )

    def number(self, person: str, missing: Sequence[str]) -> Any:
        """Returns the person number of a record."""
        return numbered(self._secret, col(person), missing)

    def persons_by_row(
        self, columns: Sequence[str], person: str | None, missing: Sequence[str]
    ) -> Any:
        """Returns the distinct rows with their persons, from a column or as stored; see
        `_persons.persons_by_row`."""
        table = self.df if person is not None else self.private
        number = self.number(person, missing) if person is not None else functions().col(PERSON)
        named = [col(name).alias(f"c{i}") for i, name in enumerate(columns)]
        records = self.sizes(columns)[1]
        return persons_by_row(table.select(*named, number.alias(PERSON)), len(columns), records)

    def count_persons(
        self, columns: Sequence[str], person: str | None, missing: Sequence[str]
    ) -> Any:
        """Returns the distinct rows of columns with their counts and persons."""
        f = functions()
        names = [f"c{i}" for i in range(len(columns))]
        with spark_errors("while it counted persons"):
            self.check_rows(columns, True)
            rows = self.persons_by_row(columns, person, missing)
            table = to_arrow(
                rows.select(*names, "records", "unnamed", f.flatten("held").alias("held"))
            )
        return table.rename_columns(
            [*columns, "_incrowd_records", "_incrowd_unnamed", "_incrowd_held"]
        )

    def unique_persons(self, sets: Sequence[Sequence[str]]) -> tuple[list[int], int]:
        """Returns for each set of columns the number of unique persons, and the number of all
        persons."""
        f = functions()
        unique: list[int] = []
        who = people_of(f.col(PERSON), f.col(KEY)).alias("who")
        with spark_errors("while it counted unique persons"):
            for columns in sets:
                names = [f"c{i}" for i in range(len(columns))]
                named = self.private.select(
                    *[col(name).alias(f"c{i}") for i, name in enumerate(columns)], who
                )
                first, last = f.min("who").alias("first"), f.max("who").alias("last")
                one = named.groupBy(*names).agg(first, last).where(f.col("first") == f.col("last"))
                unique.append(int(one.select("first").distinct().count()))
            return unique, int(self.private.select(who).distinct().count())

    def count(self, columns: Sequence[str]) -> Any:
        """Returns the distinct rows of columns with their counts."""
        pa = module("pyarrow")
        with spark_errors("while it counted the table"):
            if not columns:
                records = self.df.count()
                return pa.table({"records": pa.array([records] if records else [], pa.int64())})
            self.check_rows(columns)
            table = to_arrow(self.grouped(columns))
        return table.rename_columns([*columns, "_incrowd_records"])

    def unique_records(self, sets: Sequence[Sequence[str]]) -> list[int]:
        """Returns for each set of columns the number of unique records."""
        f = functions()
        with spark_errors("while it counted unique records"):
            return [self.grouped(columns).where(f.col("records") == 1).count() for columns in sets]

    def repeating(self, columns: Sequence[str], missing: Sequence[str]) -> list[str]:
        """Returns the columns in which some values, but not most, occur in several records."""
        f = functions()
        repeating: list[str] = []
        with spark_errors("while it looked at identifiers"):
            for name in columns:
                values = self.df.select(
                    col(name).cast("string").alias("v")
                ).where(f.col("v").isNotNull())
                if missing:
                    values = values.where(~f.col("v").isin(list(missing)))
                sizes = values.limit(_SAMPLE).agg(
                    f.count("v").alias("n"), f.countDistinct("v").alias("d")
                ).first()
                records, different = int(sizes["n"]), int(sizes["d"])
                if 1 < different < records <= _MANY * different:
                    repeating.append(name)
        return repeating

    def digest(self) -> str:
        """Returns the digest of a release, or an empty text for other tables."""
        if self._digest is None:
            return ""
        with spark_errors("while the digest was computed"):
            return self._digest()
