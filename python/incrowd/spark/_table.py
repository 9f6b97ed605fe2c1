"""A DataFrame of Spark as a table of which only counts leave Spark."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

from .._errors import ResourcesError
from ._arrow import arrow_schema, col, functions, module, need_dataframe, to_arrow
from ._errors import spark_errors
from ._persons import KEY, PERSON, held, numbered, people_of
from ._weights import STANDS, added, in_millionths

#: So many records are looked at to tell whether the values of a column repeat.
_GLANCE = 1 << 18
#: With more records per value than this a column is a category or a name, and tells nobody apart.
_MANY = 5
#: More distinct rows than this are not brought to the driver, unless the session says otherwise.
DISTINCT_ROWS = 20_000_000
#: Bytes that the driver needs for the person of a record, at most.
PERSON_BYTES = 32
#: The setting of a session that says otherwise.
SETTING = "spark.incrowd.maxDistinctRows"


#: The setting of a session that says where parts are planned.
PLAN_ON = "spark.incrowd.planOn"


def bytes_of(rows: int, columns: int) -> int:
    """About what the driver needs for so many distinct rows: texts, codes and what planning keeps beside them."""
    return rows * (48 * columns + 120)


def _memory() -> int:
    """How many bytes of memory are free on this machine; many if it does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            free = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(free.split()[1]) * 1024
    except (OSError, StopIteration, ValueError, IndexError):
        return 1 << 40


class SparkTable:
    """What the compiled half asks of a table that Spark holds."""

    __incrowd_remote__ = True

    def __init__(self, df: Any, name: str = "df", digest: Callable[[], str] | None = None,
                 most_rows: int | None = None, private: Any = None) -> None:
        need_dataframe(df)
        #: The same records with their keys and their persons or what they stand for, where nobody else sees them.
        self.private = private
        #: Persons have other numbers in every run.
        self._secret = secrets.token_hex(32)
        self.df = df
        self.name = name
        self._digest = digest
        self.most_rows = most_rows
        self._about: dict[tuple[str, ...], tuple[int, int]] = {}

    def schema(self) -> Any:
        """An empty table with the columns."""
        with spark_errors("to describe the table"):
            schema = arrow_schema(self.df)
        return schema.empty_table()

    def named(self, columns: Sequence[str]) -> Any:
        """The columns under names that nothing can be wrong with: `c0`, `c1`, …"""
        return self.df.select(*[col(name).alias(f"c{i}") for i, name in enumerate(columns)])

    def grouped(self, columns: Sequence[str]) -> Any:
        """The distinct rows of columns, with `records`."""
        names = [f"c{i}" for i in range(len(columns))]
        return self.named(columns).groupBy(*names).agg(functions().count("*").alias("records"))

    def limit(self, columns: int) -> int:
        """How many distinct rows of so many columns the driver may hold."""
        if self.most_rows is not None:
            return self.most_rows
        stated = self.df.sparkSession.conf.get(SETTING, None)
        if stated is None:
            return min(DISTINCT_ROWS, max(1, _memory() // 2 // bytes_of(1, columns)))
        try:
            return int(stated)
        except ValueError:
            raise ResourcesError(f"the setting {SETTING} is no number", help="set it to a number of rows") from None

    def sizes(self, columns: Sequence[str]) -> tuple[int, int]:
        """About how many distinct rows there are, and how many records."""
        f = functions()
        names = [f"c{i}" for i in range(len(columns))]
        if tuple(columns) not in self._about:
            counted = f.approx_count_distinct(f.xxhash64(*names), 0.02).alias("rows")
            found = self.named(columns).agg(counted, f.count("*").alias("records")).first()
            self._about[tuple(columns)] = (int(found["rows"]), int(found["records"]))
        return self._about[tuple(columns)]

    def about(self, columns: Sequence[str]) -> int:
        """About how many distinct rows there are."""
        return self.sizes(columns)[0]

    def check_rows(self, columns: Sequence[str], person: bool = False, weight: bool = False) -> None:
        """Refuses to bring more distinct rows, or persons, to the driver than it should hold."""
        rows, limit = self.about(columns), self.limit(len(columns))
        if rows > limit:
            need = bytes_of(rows, len(columns)) / 2**30
            beside = "persons" if person else "weights" if weight else None
            parts = f"; tables with {beside} are not planned in parts" if beside else ""
            raise ResourcesError(
                f"the table has about {rows:,} distinct rows in {len(columns)} columns, more than the {limit:,} that the "
                f"driver should hold; they would need about {need:,.1f} GiB there{parts}",
                help=f"give fewer or coarser columns, or, with a driver that large, set {SETTING} to {rows * 11 // 10}",
            )

        records = self.sizes(columns)[1] if person else 0
        if PERSON_BYTES * records > _memory() // 2:
            need = PERSON_BYTES * records / 2**30
            raise ResourcesError(
                f"the persons of {records:,} records may need {need:,.1f} GiB on the driver, more than half of its free memory",
                help="give it more memory", key="input.person",
            )

    @property
    def knows_persons(self) -> bool:
        """Whether it is kept beside the table whose records it has."""
        return self.private is not None and PERSON in self.private.columns

    @property
    def knows_weights(self) -> bool:
        """Whether it is kept beside the table how many people its records stand for."""
        return self.private is not None and STANDS in self.private.columns

    def weighed(self, columns: Sequence[str], weight: str | None, missing: Sequence[str]) -> Any:
        """The distinct rows of columns with what they stand for, by a column or as it is kept; see `_weights.added`."""
        named = [col(name).alias(f"c{i}") for i, name in enumerate(columns)]
        if weight is None:
            return added(self.private.select(*named, STANDS), len(columns))
        records = in_millionths(self.df.select(*named, col(weight).alias("weight")), functions().col("weight"), missing)
        return added(records, len(columns))

    def count_weights(self, columns: Sequence[str], weight: str | None, missing: Sequence[str]) -> Any:
        """The distinct rows of columns with their numbers of records, and how many people these stand for."""
        names = [f"c{i}" for i in range(len(columns))]
        with spark_errors("while it added up weights"):
            self.check_rows(columns)
            table = to_arrow(self.weighed(columns, weight, missing).select(*names, "records", "stands", "unweighed"))
        return table.rename_columns([*columns, "_incrowd_records", "_incrowd_represented", "_incrowd_unweighed"])

    def number(self, person: str, missing: Sequence[str]) -> Any:
        """The number of the person of a record."""
        return numbered(self._secret, col(person), missing)

    def held(self, columns: Sequence[str], person: str | None, missing: Sequence[str]) -> Any:
        """The distinct rows of columns with their persons, by a column or as it is kept; see `_persons.held`."""
        table = self.df if person is not None else self.private
        number = self.number(person, missing) if person is not None else functions().col(PERSON)
        named = [col(name).alias(f"c{i}") for i, name in enumerate(columns)]
        records = self.sizes(columns)[1]
        return held(table.select(*named, number.alias(PERSON)), len(columns), records)

    def count_persons(self, columns: Sequence[str], person: str | None, missing: Sequence[str]) -> Any:
        """The distinct rows of columns with their numbers of records, and whose these are."""
        f = functions()
        names = [f"c{i}" for i in range(len(columns))]
        with spark_errors("while it counted persons"):
            self.check_rows(columns, True)
            rows = self.held(columns, person, missing)
            table = to_arrow(rows.select(*names, "records", "unnamed", f.flatten("held").alias("held")))
        return table.rename_columns([*columns, "_incrowd_records", "_incrowd_unnamed", "_incrowd_held"])

    def alone_persons(self, sets: Sequence[Sequence[str]]) -> tuple[list[int], int]:
        """For each set of columns how many persons have values that nobody else has; and how many persons there are."""
        f = functions()
        alone: list[int] = []
        who = people_of(f.col(PERSON), f.col(KEY)).alias("who")
        with spark_errors("while it counted who is alone"):
            for columns in sets:
                names = [f"c{i}" for i in range(len(columns))]
                named = self.private.select(*[col(name).alias(f"c{i}") for i, name in enumerate(columns)], who)
                first, last = f.min("who").alias("first"), f.max("who").alias("last")
                one = named.groupBy(*names).agg(first, last).where(f.col("first") == f.col("last"))
                alone.append(int(one.select("first").distinct().count()))
            return alone, int(self.private.select(who).distinct().count())

    def count(self, columns: Sequence[str]) -> Any:
        """The distinct rows of columns with their numbers of records."""
        pa = module("pyarrow")
        with spark_errors("while it counted the table"):
            if not columns:
                records = self.df.count()
                return pa.table({"records": pa.array([records] if records else [], pa.int64())})
            self.check_rows(columns)
            table = to_arrow(self.grouped(columns))
        return table.rename_columns([*columns, "_incrowd_records"])

    def alone(self, sets: Sequence[Sequence[str]]) -> list[int]:
        """For each set of columns how many records are like no other there."""
        f = functions()
        with spark_errors("while it counted who is alone"):
            return [self.grouped(columns).where(f.col("records") == 1).count() for columns in sets]

    def repeating(self, columns: Sequence[str], missing: Sequence[str]) -> list[str]:
        """Columns in which some values, not most, occur in several records."""
        f = functions()
        found: list[str] = []
        with spark_errors("while it looked at identifiers"):
            for name in columns:
                values = self.df.select(col(name).cast("string").alias("v")).where(f.col("v").isNotNull())
                if missing:
                    values = values.where(~f.col("v").isin(list(missing)))
                seen = values.limit(_GLANCE).agg(f.count("v").alias("n"), f.countDistinct("v").alias("d")).first()
                records, different = int(seen["n"]), int(seen["d"])
                if 1 < different < records <= _MANY * different:
                    found.append(name)
        return found

    def digest(self) -> str:
        """The digest of a release; any other table has none."""
        if self._digest is None:
            return ""
        with spark_errors("while the digest was computed"):
            return self._digest()
