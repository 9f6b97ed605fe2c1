"""Planning in parts, for tables with more distinct rows than the driver can hold.

Spark folds the table once and keeps the rows. The driver gets the values of each column and assigns
each a code and a position in the order of its column. Parts are boxes of positions. The driver
receives only counts of coarse boxes, then the rows of one part at a time. Alternatively executors
plan all parts but the first in parallel, and the driver receives only plans. The plans of the parts
are stored as files until all of them are written as one release.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from .._errors import InputError, ResourcesError, Warning
from ._arrow import from_arrow, functions, to_arrow
from ._errors import spark_errors
from ._executor import SCHEMA, answered, message, plan
from ._table import bytes_of

if TYPE_CHECKING:
    from ._store import Place
    from ._table import SparkTable

RECORDS, FIRST, OUTPUT, ROW = "_incrowd_records", "_incrowd_first", "_incrowd_output_row", "_incrowd_row"
Part = Sequence[tuple[int, int]]
#: The largest number of joins in one query plan. Connect clients cannot read much deeper plans.
_JOINS = 8


@contextmanager
def _missing_package() -> Generator[None, None, None]:
    """Reports a missing package on executors."""
    try:
        yield
    except Exception as error:
        if "No module named 'incrowd" in str(error):
            raise ResourcesError(
                "the package incrowd is not installed on the executors",
                help="install it there, or plan on the driver"
            ) from None
        raise


def _inside(part: Part) -> list[str]:
    """Returns the conditions on the positions of a part's rows."""
    return [f"p{i} between {low} and {high}" for i, (low, high) in enumerate(part)]


def _piece(column: int, borders: Sequence[int]) -> str:
    """Returns the SQL expression for the number of borders before the position of a row."""
    pieces = " ".join(f"when p{column} <= {border} then {n}" for n, border in enumerate(borders))
    return f"case {pieces} else {len(borders)} end" if borders else "0"


class Parts:
    """The operations of a store for planning in parts."""

    table: SparkTable
    place: Place
    spark: Any
    _columns: list[str]
    #: Whether executors plan, and the arguments of the job with the path of its file, for them.
    plan_on_executors: bool
    job: tuple[dict[str, Any], str | None]

    def _begin_parts(self) -> None:
        self._quasi = 0
        self._drop_missing = False
        #: The published columns, whether there are slots, and the numbers of parts, outputs and
        #: records so far.
        self._kept: tuple[list[tuple[str, bool]], bool, int, int, int] | None = None

    def too_many(self, columns: Sequence[str]) -> tuple[int, int] | None:
        """Returns the estimated number of distinct rows and the limit of the driver, if the limit
        is exceeded."""
        if not columns:
            return None
        with spark_errors("while it counted the table"):
            rows, limit = self.table.about(columns), self.table.limit(len(columns))
        if rows <= limit:
            return None
        whole, part = (bytes_of(n, len(columns)) / 2**30 for n in (rows, limit))
        text = (
            f"the table has about {rows:,} distinct rows in {len(columns)} columns, which would "
            f"need about {whole:,.1f} GiB; it is "
            f"planned in parts of at most {limit:,}, which need about {part:,.1f} GiB"
        )
        try:
            warnings.warn(text, Warning, stacklevel=2)
        except Warning:
            # Warnings are configured as errors.
            raise ResourcesError(text, help="allow more with `most_rows`") from None
        return rows, limit

    def fold(self, columns: Sequence[str]) -> None:
        """Folds the table and stores the rows with numbers."""
        f = functions()
        self._columns = list(columns)
        with spark_errors("while it counted the table"):
            self.place.write(
                self.table.grouped(columns).withColumn(ROW, f.monotonically_increasing_id()),
                "folded"
            )

    def values(self, column: int) -> Any:
        """Returns the values of a column with their counts and numbers."""
        f = functions()
        with spark_errors("while it counted the values of a column"):
            values = self.place.read("folded").groupBy(f"c{column}").agg(
                f.sum("records").alias("records")
            )
            self.place.write(
                values.withColumn(ROW, f.monotonically_increasing_id()), f"values_{column}"
            )
            table = to_arrow(
                self.place.read(f"values_{column}").select(f"c{column}", "records", ROW)
            )
        return table.rename_columns([self._columns[column], RECORDS, ROW])

    def place_rows(self, codes: Sequence[object], quasi: int, drop_missing: bool) -> None:
        """Adds to each row the codes of its values, and the positions of its quasi-identifiers."""
        f = functions()
        self._quasi, self._drop_missing = quasi, drop_missing
        with spark_errors("while it placed the rows"):
            rows = self.place.read("folded")
            for i, stream in enumerate(codes):
                code = from_arrow(self.spark, stream).select(
                    ROW, f.col("code").cast("int").alias(f"v{i}"),
                    f.col("leaf").cast("int").alias(f"p{i}")
                )
                value = self.place.read(f"values_{i}").join(code, ROW)
                value = value.select(
                    f.col(f"c{i}").alias("r"), f"v{i}", *([f"p{i}"] if i < quasi else [])
                )
                rows = rows.join(value, f.col(f"c{i}").eqNullSafe(f.col("r"))).drop("r")
                if (i + 1) % _JOINS == 0 and i + 1 < len(codes):
                    self.place.write(rows, f"rows_{i}")
                    rows = self.place.read(f"rows_{i}")
            self.place.write(rows, "rows")
            if self.place.read("rows").count() != self.place.read("folded").count():
                raise InputError(
                    "some values of the table are not equal to themselves",
                    help="read it from files instead"
                )

    def _part(self, part: Part | None = None) -> Any:
        """Returns the rows of a part, or of all parts."""
        # One condition text, because Connect clients cannot read plans of many steps.
        wanted = [f"v{i} > 0" for i in range(len(self._columns) if self._drop_missing else 0)]
        rows = self.place.read("rows")
        wanted += _inside(part or ())
        return rows.where(" and ".join(wanted)) if wanted else rows

    def codes(self) -> list[list[int]]:
        """Returns the codes of each column that occur in a part."""
        f = functions()
        with spark_errors("while it looked at the values of columns"):
            rows = self._part()
            found = [
                to_arrow(rows.select(f.col(f"v{i}").alias("v")).distinct())
                for i in range(len(self._columns))
            ]
        return [table.column("v").to_pylist() for table in found]

    def borders(self, part: Part, pieces: int) -> list[list[int]]:
        """Returns for each column the positions that cut a part into pieces of about equal size."""
        f = functions()
        shares = [n / pieces for n in range(1, pieces)]
        with spark_errors("while it looked for cuts"):
            rows = self._part(part)
            asked = [
                f.percentile_approx(f"p{i}", shares, 1000).alias(f"p{i}")
                for i in range(self._quasi)
            ]
            found = rows.agg(*asked).first()
        borders: list[list[int]] = []
        for i, (low, high) in enumerate(part):
            cuts: list[int] = found[f"p{i}"] or []
            places: set[int] = {place for at in cuts for place in (at - 1, at)}
            borders.append(sorted(place for place in places if low <= place < high))
        return borders

    def cells(self, part: Part, borders: Sequence[Sequence[int]]) -> Any:
        """Counts rows and records between borders."""
        f = functions()
        names = [f"b{i}" for i in range(len(borders))]
        with spark_errors("while it counted coarse boxes"):
            pieces = [f.expr(_piece(i, places)).alias(f"b{i}") for i, places in enumerate(borders)]
            rows = self._part(part).select(*pieces, "records")
            counted = rows.groupBy(*names).agg(
                f.count("*").alias("rows"), f.sum("records").alias("records")
            )
            return to_arrow(counted)

    def part_rows(self, part: Part) -> Any:
        """Returns the codes of the rows of a part, with their counts and numbers."""
        codes = [f"v{i}" for i in range(len(self._columns))]
        with spark_errors("while it read a part"):
            return to_arrow(self._part(part).select(*codes, "records", ROW))

    def keep(
        self, columns: Sequence[tuple[str, bool]], outputs: object, slots: object | None,
        is_sorted: bool, records: int
    ) -> None:
        """Stores the plan of a part. Its outputs and records continue the numbers of the previous
        parts."""
        f = functions()
        _, _, parts, seen, before = self._kept or ([], False, 0, 0, 0)
        with spark_errors("while it kept the plan of a part"):
            plan = from_arrow(self.spark, outputs).withColumn(OUTPUT, f.col(OUTPUT) + seen)
            if slots is None:
                plan = plan.withColumn(FIRST, f.col(FIRST) + before)
            self.place.write(plan, f"outputs_{parts}")
            if slots is not None:
                self.place.write(
                    from_arrow(self.spark, slots).withColumn(OUTPUT, f.col(OUTPUT) + seen),
                    f"slots_{parts}"
                )
            most = self.place.read(f"outputs_{parts}").agg(
                f.max(OUTPUT).alias("most")
            ).first()["most"]
        seen = seen if most is None else int(most) + 1
        self._kept = (list(columns), slots is not None, parts + 1, seen, before + records)

    def has_workers(self) -> bool:
        """Returns whether executors plan."""
        return self.plan_on_executors

    def plan_parts(
        self, parts: Sequence[Part], columns: Sequence[tuple[str, object]], marker: str | None
    ) -> None:
        """Plans parts on executors and stores the answers."""
        f = functions()
        arguments, job = self.job
        sent = message(
            self.table.schema(), arguments, None if job is None else os.path.abspath(job), columns,
            marker
        )
        which = " ".join(
            f"when {' and '.join(_inside(part))} then {i}" for i, part in enumerate(parts)
        )
        codes = [f"v{i}" for i in range(len(self._columns))]
        with spark_errors("while executors planned"), _missing_package():
            rows = self._part().withColumn("part", f.expr(f"case {which} end")).where(
                f.col("part").isNotNull()
            ).select(*codes, "records", ROW, "part")
            rows = rows.repartition(
                max(1, min(len(parts), 4096)), "part"
            ).sortWithinPartitions("part")
            self.place.write(rows.mapInArrow(partial(plan, sent), SCHEMA), "planned")

    def planned(self, part: int) -> tuple[Any, int, str]:
        """Returns the answer for a part."""
        with spark_errors("while it read the plan of a part"):
            rows = to_arrow(self.place.read("planned").where(functions().col("part") == part))
        return answered(rows)

    def write_kept(self) -> int:
        """Writes the release from the plans of all parts. Returns the number of records."""
        if self._kept is None:
            raise InputError("no part was planned")
        columns, has_slots, parts, _, records = self._kept

        def together(name: str) -> Any:
            whole = self.place.read(f"{name}_0")
            for part in range(1, parts):
                whole = whole.unionByName(self.place.read(f"{name}_{part}"))
            return whole

        with spark_errors("while it wrote the release"):
            return self._write(
                columns, together("outputs"), together("slots") if has_slots else None, False,
                records
            )

    def _write(
        self, columns: Sequence[tuple[str, bool]], plan: Any, slots: Any, is_sorted: bool,
        records: int, keeps: bool = False
    ) -> int:
        raise NotImplementedError
