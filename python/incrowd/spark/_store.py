"""From a plan to a release, by Spark.

Nothing that is drawn is ever drawn twice. Without columns that are published as they are, every record of the release has a number,
and its place follows from that number and a secret of this run: a task that is run again makes the same. With such columns each
record draws a key once, which is written with it; whatever follows reads the key from there.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, Protocol

from .._errors import InputError
from ._arrow import col, from_arrow, functions, module, to_arrow
from ._errors import spark_errors
from ._parts import Parts
from ._table import DISTINCT_ROWS, SparkTable

RECORDS, FIRST, RANK = "_incrowd_records", "_incrowd_first", "_incrowd_rank"
LOOK, ROW, FROM, TO, WHOLE = "_incrowd_look", "_incrowd_row", "_incrowd_from", "_incrowd_to", "_incrowd_whole"


class Place(Protocol):
    """Where a release is put together, and where it appears."""

    #: What could not be removed afterwards.
    left: list[str]

    @property
    def place(self) -> str: ...
    def begin(self, reads: list[str]) -> None: ...
    def write(self, df: Any, name: str) -> None: ...
    def read(self, name: str) -> Any: ...
    def digest(self, name: str) -> str: ...
    def publish(self, manifest: bytes) -> None: ...
    def discard(self) -> None: ...


def keyed(secret: str, of: Any) -> Any:
    """Sixteen bytes that nobody can tell from chance who does not have the secret."""
    f = functions()
    of = f.concat(f.lit(secret).cast("binary"), of.cast("binary"))
    return f.unhex(f.substring(f.sha2(of, 256), 1, 32))


class SparkStore(Parts):
    """What the compiled half asks of the place of a release."""

    def __init__(
        self, table: SparkTable, place: Place, plan_on_executors: bool = False, job: tuple[dict[str, Any], str | None] = ({}, None)
    ) -> None:
        self.plan_on_executors = plan_on_executors
        self.job = job
        self.table = table
        self.place = place
        self.spark = table.df.sparkSession
        self._columns: list[str] = []
        self._begin_parts()

    def begin(self) -> None:
        """Claims the place."""
        with spark_errors("to look for the files of the table"):
            reads = [str(file) for file in self.table.df.inputFiles()]
        with spark_errors("to claim the place of the release"):
            self.place.begin(reads)

    def count_and_keep(self, columns: Sequence[str]) -> Any:
        """The distinct rows with their numbers of records, kept under numbers of their own."""
        f = functions()
        self._columns = list(columns)
        with spark_errors("while it counted the table"):
            self.table.check_rows(columns)
            rows = self.table.grouped(columns).withColumn(ROW, f.monotonically_increasing_id())
            # Written once: the numbers are what the files say, however often they are read.
            self.place.write(rows, "rows")
            table = to_arrow(self.place.read("rows"))
        return table.rename_columns([*columns, RECORDS, ROW])

    def stage(
        self, columns: Sequence[tuple[str, bool]], looks: object, slots: object | None, is_sorted: bool, records: int
    ) -> int:
        """Writes the release where nobody looks; returns how many records it has."""
        with spark_errors("while it wrote the release"):
            parted = None if slots is None else from_arrow(self.spark, slots)
            return self._write(columns, from_arrow(self.spark, looks), parted, is_sorted, records)

    def _write(self, columns: Sequence[tuple[str, bool]], plan: Any, slots: Any, is_sorted: bool, records: int) -> int:
        """Puts the records together and writes them."""
        f = functions()
        if slots is None:
            release = self._unfolded(plan, records)
        else:
            carried = [name for name, is_carried in columns if is_carried]
            self._write_records(carried)
            release = self._joined(plan, slots, carried)
        # Any order that follows from keys alone will do. Parts by a hash need no look at all keys beforehand, as ranges would.
        release = release.orderBy(RANK, "key") if is_sorted else release.repartition(f.col("key")).sortWithinPartitions("key")
        self.place.write(release.select(*[col(name) for name, _ in columns]), "release")
        return int(self.place.read("release").count())

    def _unfolded(self, plan: Any, records: int) -> Any:
        """Every look as often as it has records."""
        f = functions()
        parts = max(1, min(records // (1 << 18), 1024)) + 1
        at = f.explode(f.sequence(f.lit(0).cast("bigint"), f.col(RECORDS) - 1)).alias("at")
        number = (f.col(FIRST) + f.col("at")).cast("string")
        return plan.repartition(parts).select("*", at).withColumn("key", keyed(secrets.token_hex(32), number))

    def _write_records(self, carried: list[str]) -> None:
        """Every record with the number of its row and a key that is drawn here, and only here."""
        f = functions()
        wanted = [col(name).alias(f"c{i}") for i, name in enumerate(self._columns)]
        wanted += [col(name).alias(f"k{i}") for i, name in enumerate(carried)]
        rows = self.place.read("rows")
        rows = rows.select(ROW, *[f.col(f"c{i}").alias(f"r{i}") for i in range(len(self._columns))])
        found = self.table.df.select(*wanted)
        alike = f.lit(True)
        for i in range(len(self._columns)):
            alike = alike & f.col(f"c{i}").eqNullSafe(f.col(f"r{i}"))
        found = found.join(rows, alike, "left").select(ROW, *[f"k{i}" for i in range(len(carried))])
        found = found.withColumn("key", keyed(secrets.token_hex(32), f.expr("uuid()")))
        self.place.write(found, "records")
        # Whoever is not there, or not as often as counted, changed meanwhile.
        counts = self.place.read("records").groupBy(ROW).agg(f.count("*").alias("found"))
        kept = self.place.read("rows").select(f.col(ROW).alias("row"), "records")
        both = kept.join(counts, f.col("row") == f.col(ROW), "full")
        wrong = both.where(~f.col("records").eqNullSafe(f.col("found"))).count()
        if wrong:
            raise InputError("the table changed while it was read", help="read from a snapshot of it")

    def _joined(self, plan: Any, slots: Any, carried: list[str]) -> Any:
        """Every record with the look that the plan has for it."""
        f = functions()
        window = module("pyspark.sql.window").Window
        records = self.place.read("records")
        whole = slots.where(f.col(WHOLE) == 1).select(ROW, LOOK)
        found = records.join(whole, ROW).select("key", LOOK, *[f"k{i}" for i in range(len(carried))])
        parted = slots.where(f.col(WHOLE) == 0).select(f.col(ROW).alias("row"), FROM, TO, LOOK)
        if parted.limit(1).count():
            own = records.join(parted.select(f.col("row").alias(ROW)).distinct(), ROW, "leftsemi")
            own = own.withColumn("n", f.row_number().over(window.partitionBy(ROW).orderBy("key")))
            here = (f.col(ROW) == f.col("row")) & (f.col("n") >= f.col(FROM)) & (f.col("n") <= f.col(TO))
            own = own.join(parted, here).select("key", LOOK, *[f"k{i}" for i in range(len(carried))])
            found = found.unionByName(own)
        found = found.join(plan, LOOK)
        # The order must not tell which records of a row stand apart, so it follows from the key by another secret.
        found = found.withColumn("key", keyed(secrets.token_hex(32), f.col("key")))
        return found.select("key", RANK, *[col(name) for name in plan.columns if not name.startswith("_incrowd_")],
                            *[f.col(f"k{i}").alias(name) for i, name in enumerate(carried)])

    def open(self) -> SparkTable:
        """What was written, as anybody reads it."""
        with spark_errors("to read what it wrote"):
            staged = self.place.read("release")
        # What was planned in parts is judged as a whole; a release has fewer distinct rows than its table, and judging needs less.
        most = max(self.table.limit(len(self._columns) or 1), DISTINCT_ROWS)
        return SparkTable(staged, "the release", lambda: self.place.digest("release"), most)

    def publish(self, manifest: bytes) -> None:
        """Puts the release in place."""
        with spark_errors("while the release was put in place"):
            self.place.publish(manifest)

    def discard(self) -> None:
        """Removes what is not put in place."""
        self.place.discard()
