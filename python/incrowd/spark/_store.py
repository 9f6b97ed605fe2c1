"""Writes a release from a plan, in Spark.

Random numbers are drawn only once, because Spark may repeat tasks. Without passthrough columns,
every record of the release has a number, and its position follows from a keyed hash of that number:
a repeated task gives the same result. With passthrough columns each record draws a key once, which
is written with it; all later steps read that key.

If persons are counted, the records are first written to private staged files with the numbers of
their persons. The release consists of these records without the numbers, so the persons of the
written records are known. Sampling weights are treated in the same way.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, Protocol

from .._errors import InputError, ResourcesError
from ._arrow import col, from_arrow, functions, module, to_arrow
from ._catalog import table_digest
from ._errors import spark_errors
from ._parts import Parts
from ._persons import KEY, PERSON, pairs, piece
from ._table import DISTINCT_ROWS, SparkTable
from ._weights import WEIGHT, in_millionths

RECORDS, FIRST, RANK = "_incrowd_records", "_incrowd_first", "_incrowd_rank"
OUTPUT, ROW, FROM, TO, WHOLE = (
    "_incrowd_output_row",
    "_incrowd_row",
    "_incrowd_from",
    "_incrowd_to",
    "_incrowd_whole",
)
UNNAMED, HELD, AT = "_incrowd_unnamed", "_incrowd_held", "_incrowd_at"
REPRESENTED, UNWEIGHED = "_incrowd_represented", "_incrowd_unweighed"


class Place(Protocol):
    """The staged files or tables of a release, and its published form."""

    #: Staged data that could not be removed.
    left: list[str]

    @property
    def place(self) -> str: ...
    def begin(self, reads: list[str], replace: bool = False) -> None: ...
    def write(self, df: Any, name: str) -> None: ...
    def read(self, name: str) -> Any: ...
    def digest(self, name: str) -> str: ...
    def publish(self, manifest: bytes) -> None: ...
    def discard(self) -> None: ...


def keyed(secret: str, of: Any) -> Any:
    """Returns sixteen bytes of a keyed hash."""
    f = functions()
    of = f.concat(f.lit(secret).cast("binary"), of.cast("binary"))
    return f.unhex(f.substring(f.sha2(of, 256), 1, 32))


def passthrough_name(column: int) -> str:
    """Returns the staged name of a passthrough column."""
    return f"_incrowd_k{column}"


class SparkStore(Parts):
    """The operations that the compiled module needs to write a release."""

    def __init__(
        self, table: SparkTable, place: Place, plan_on_executors: bool = False,
        job: tuple[dict[str, Any], str | None] = ({}, None)
    ) -> None:
        self.plan_on_executors = plan_on_executors
        self.job = job
        self.table = table
        self.place = place
        self.spark = table.df.sparkSession
        self._columns: list[str] = []
        #: The person column with its missing markers, if persons are counted.
        self._person: tuple[str, list[str]] | None = None
        #: The column of sampling weights with its missing markers, if there is one.
        self._weight: tuple[str, list[str]] | None = None
        #: Whether persons or sampling weights of the written records are stored.
        self._keeps = False
        self._begin_parts()

    def begin(self, replace: bool = False) -> None:
        """Claims the output."""
        with spark_errors("to look for the files of the table"):
            reads = [str(file) for file in self.table.df.inputFiles()]
        with spark_errors("to claim the place of the release"):
            self.place.begin(reads, replace)

    def count_and_keep(
        self, columns: Sequence[str], person: str | None = None, weight: str | None = None,
        missing: Sequence[str] = ()
    ) -> Any:
        """Returns the distinct rows with their counts, and stores them with numbers. With `person`
        also their persons, with `weight` their sampling weights."""
        f = functions()
        self._columns = list(columns)
        self._person = None if person is None else (person, list(missing))
        self._weight = None if weight is None else (weight, list(missing))
        kept = [f.col(f"c{i}") for i in range(len(columns))] + [f.col("records"), f.col(ROW)]
        names = [*columns, RECORDS, ROW]
        with spark_errors("while it counted the table"):
            self.table.check_rows(columns, person is not None, weight is not None)
            rows = self.table.grouped(columns)
            if person is not None:
                rows = self.table.persons_by_row(columns, person, missing)
            elif weight is not None:
                rows = self.table.weighed(columns, weight, missing)
            # Written once, so that the numbers do not change when the rows are read again.
            self.place.write(rows.withColumn(ROW, f.monotonically_increasing_id()), "rows")
            if person is not None:
                kept += [f.col("unnamed"), f.flatten("held").alias("held")]
                names += [UNNAMED, HELD]
            elif weight is not None:
                kept += [f.col("stands"), f.col("unweighed")]
                names += [REPRESENTED, UNWEIGHED]
            table = to_arrow(self.place.read("rows").select(*kept))
        return table.rename_columns(names)

    def stage(
        self, columns: Sequence[tuple[str, bool]], outputs: object, slots: object | None,
        is_sorted: bool, records: int,
        persons: bool = False, weights: bool = False,
    ) -> int:
        """Writes the staged release. Returns its number of records."""
        with spark_errors("while it wrote the release"):
            parted = None if slots is None else from_arrow(self.spark, slots)
            return self._write(
                columns, from_arrow(self.spark, outputs), parted, is_sorted, records,
                persons or weights
            )

    def _write(
        self, columns: Sequence[tuple[str, bool]], plan: Any, slots: Any, is_sorted: bool,
        records: int, keeps: bool = False
    ) -> int:
        """Joins the records with the plan and writes them."""
        f = functions()
        published = [col(name) for name, _ in columns]
        if slots is None:
            release = self._unfolded(plan, records)
        else:
            passthrough = [name for name, is_passthrough in columns if is_passthrough]
            self._write_records(passthrough)
            release = self._joined(plan, slots, passthrough)
        if keeps:
            self.place.write(release, "private")
            release = self.place.read("private")
        # Any order that depends only on keys is allowed. Hash partitions need no pass over all
        # keys, as ranges would.
        release = (
            release.orderBy(RANK, KEY)
            if is_sorted
            else release.repartition(f.col(KEY)).sortWithinPartitions(KEY)
        )
        self.place.write(release.select(*published), "release")
        self._keeps = keeps
        if keeps and table_digest(self.place.read("release")) != table_digest(
            self.place.read("private").select(*published)
        ):
            raise ResourcesError(
                "the release has other records than those whose persons or weights are known: "
                "nothing was published"
            )
        return int(self.place.read("release").count())

    def _unfolded(self, plan: Any, records: int) -> Any:
        """Repeats every output by its record count."""
        f = functions()
        parts = max(1, min(records // (1 << 18), 1024)) + 1
        at = f.explode(f.sequence(f.lit(0).cast("bigint"), f.col(RECORDS) - 1)).alias(AT)
        number = (f.col(FIRST) + f.col(AT)).cast("string")
        return plan.repartition(parts).select("*", at).withColumn(
            KEY, keyed(secrets.token_hex(32), number)
        )

    def _write_records(self, passthrough: list[str]) -> None:
        """Writes every record with the number of its row and a random key, which is drawn only
        here."""
        f = functions()
        wanted = [col(name).alias(f"c{i}") for i, name in enumerate(self._columns)]
        wanted += [col(name).alias(passthrough_name(i)) for i, name in enumerate(passthrough)]
        further = [passthrough_name(i) for i in range(len(passthrough))]
        rows = self.place.read("rows")
        known = [f.col(f"c{i}").alias(f"r{i}") for i in range(len(self._columns))]
        alike = f.lit(True)
        for i in range(len(self._columns)):
            alike = alike & f.col(f"c{i}").eqNullSafe(f.col(f"r{i}"))
        if self._person is None:
            found, rows = self.table.df.select(*wanted), rows.select(ROW, *known)
            if self._weight is not None:
                further.append(WEIGHT)
                name, missing = self._weight
                found = self.table.df.select(*wanted, col(name).alias("weight"))
                found = in_millionths(found, f.col("weight"), missing).drop("weight")
        else:
            further.append(PERSON)
            found = self.table.df.select(*wanted, self.table.number(*self._person).alias(PERSON))
            found = found.withColumn("own", piece(self.table.sizes(self._columns)[1]))
            rows = rows.select(ROW, "piece", *known)
            alike = alike & (f.col("own") == f.col("piece"))
        found = found.join(rows, alike, "left").select(ROW, *further)
        found = found.withColumn(KEY, keyed(secrets.token_hex(32), f.expr("uuid()")))
        self.place.write(found, "records")
        # If counts differ, the table changed between the two reads.
        found, rows = self.place.read("records"), self.place.read("rows")
        if self._person is None:
            stands = f.lit(0) if self._weight is None else f.coalesce(f.sum(WEIGHT), f.lit(0))
            counts = found.groupBy(ROW).agg(f.count("*").alias("found"), stands.alias("sum"))
            kept = rows.select(
                f.col(ROW).alias("kept"), f.col("records").alias("n"),
                *(["stands"] if self._weight else [])
            )
            same = f.col("kept") == f.col(ROW)
        else:
            counts, kept = found.groupBy(ROW, PERSON).agg(
                f.count("*").alias("found")
            ), pairs(rows, ROW)
            same = (f.col("kept") == f.col(ROW)) & f.col("who").eqNullSafe(f.col(PERSON))
        both = kept.join(counts, same, "full")
        fits = f.col("n").eqNullSafe(f.col("found"))
        if self._weight is not None:
            fits = fits & f.col("stands").eqNullSafe(f.col("sum"))
        wrong = both.where(~fits).count()
        if wrong:
            raise InputError(
                "the table changed while it was read", help="read from a snapshot of it"
            )

    def _joined(self, plan: Any, slots: Any, passthrough: list[str]) -> Any:
        """Joins every record with its planned output."""
        f = functions()
        window = module("pyspark.sql.window").Window
        records = self.place.read("records")
        whole = slots.where(f.col(WHOLE) == 1).select(ROW, OUTPUT)
        further = [passthrough_name(i) for i in range(len(passthrough))] + (
            [PERSON] if self._person else []
        ) + ([WEIGHT] if self._weight else [])
        found = records.join(whole, ROW).select(KEY, OUTPUT, *further)
        parted = slots.where(f.col(WHOLE) == 0).select(f.col(ROW).alias("row"), FROM, TO, OUTPUT)
        if parted.limit(1).count():
            own = records.join(parted.select(f.col("row").alias(ROW)).distinct(), ROW, "leftsemi")
            own = own.withColumn("n", f.row_number().over(window.partitionBy(ROW).orderBy(KEY)))
            here = (f.col(ROW) == f.col("row")) & (
                f.col("n") >= f.col(FROM)
            ) & (f.col("n") <= f.col(TO))
            own = own.join(parted, here).select(KEY, OUTPUT, *further)
            found = found.unionByName(own)
        found = found.join(plan, OUTPUT)
        # The order must not reveal which records of a row were split off, so it follows from the
        # key by another secret.
        found = found.withColumn(KEY, keyed(secrets.token_hex(32), f.col(KEY)))
        return found.select(KEY, RANK,
                            *[
                                col(name)
                                for name in plan.columns if not name.startswith("_incrowd_")
                            ],
                            *[
                                f.col(passthrough_name(i)).alias(name)
                                for i, name in enumerate(passthrough)
                            ],
                            *further[len(passthrough):])

    def open(self) -> SparkTable:
        """Opens the staged release for verification."""
        with spark_errors("to read what it wrote"):
            staged = self.place.read("release")
            private = self.place.read("private") if self._keeps else None
        # A release planned in parts is verified as a whole: it has fewer distinct rows than its
        # table, and verification needs less.
        most = max(self.table.limit(len(self._columns) or 1), DISTINCT_ROWS)
        return SparkTable(
            staged, "the release", lambda: self.place.digest("release"), most, private
        )

    def publish(self, manifest: bytes) -> None:
        """Publishes the release."""
        with spark_errors("while the release was published"):
            self.place.publish(manifest)

    def discard(self) -> None:
        """Removes the staged data."""
        self.place.discard()
