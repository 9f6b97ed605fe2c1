"""Releases that are tables of a catalog: Parquet, Delta, Iceberg, whatever `format` the session writes.

Staged tables are called ``_incrowd_DIGITS_…`` in the schema of the release. The manifest is the property ``incrowd.manifest`` of the
table, set before the table gets its name: whoever sees the table sees its manifest.
"""

from __future__ import annotations

import secrets
from typing import Any

from .._errors import JobError, ResourcesError
from ._arrow import functions
from ._errors import spark_errors

PROPERTY = "incrowd.manifest"
#: Lanes of 32 bits of which the digest of a table is made.
_LANES = 8


def _quoted(parts: list[str]) -> str:
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def table_digest(df: Any) -> str:
    """A digest of the records of a table, whatever their order: the sums of the lanes of each record's SHA-256."""
    f = functions()
    whole = f.sha2(f.to_json(f.struct(*[f.col(f"`{name}`") for name in df.columns]), {"ignoreNullFields": "false"}), 256)
    lanes = [
        f.sum(f.conv(f.substring(f.col("h"), 1 + 8 * lane, 8), 16, 10).cast("decimal(38,0)")).alias(f"l{lane}")
        for lane in range(_LANES)
    ]
    sums = df.select(whole.alias("h")).agg(*lanes).first()
    total = "".join(f"{int(sums[f'l{lane}'] or 0) % 2**64:016x}" for lane in range(_LANES))
    return f"records-sha256:{total}"


def manifest_of(spark: Any, table: str) -> str | None:
    """The manifest that a table has as a property."""
    with spark_errors("to read the properties of the table"):
        for row in spark.sql(f"SHOW TBLPROPERTIES {_name(table)}").collect():
            if row["key"] == PROPERTY:
                return str(row["value"])
    return None


def _name(table: str) -> str:
    parts = [part.strip("`") for part in table.split(".")]
    if not all(parts):
        raise JobError("a table is named as schema.table", key="output.path")
    return _quoted(parts)


class Catalog:
    """A place for a release and for what it is made of."""

    def __init__(self, spark: Any, table: str, format: str | None = None) -> None:  # noqa: A002
        self.spark = spark
        self.table = table
        self.format = format
        _name(table)
        self._parts = [part.strip("`") for part in table.split(".")]
        self._mark = f"_incrowd_{secrets.token_hex(8)}"
        self._made: list[str] = []
        self.left: list[str] = []
        self._begun = False

    @property
    def place(self) -> str:
        """What a job and its messages call it."""
        return f"table:{self.table}"

    def _staged(self, name: str) -> str:
        return _quoted([*self._parts[:-1], f"{self._mark}_{name}"])

    def _exists(self) -> bool:
        return bool(self.spark.catalog.tableExists(_name(self.table)))

    def begin(self, reads: list[str]) -> None:
        """Claims the place."""
        with spark_errors("to look for the table"):
            there = self._exists()
        if there and manifest_of(self.spark, self.table) is None:
            raise JobError(
                f"there is a table `{self.table}` that is no release", help="drop it, or name another table", key="output.path"
            )
        self._begun = True

    def write(self, df: Any, name: str) -> None:
        """Writes what a DataFrame has."""
        writer = df.write.format(self.format) if self.format else df.write
        table = self._staged(name)
        self._made.append(table)
        writer.saveAsTable(table)

    def read(self, name: str) -> Any:
        """What was written."""
        return self.spark.table(self._staged(name))

    def digest(self, name: str) -> str:
        """The digest of the records of a table."""
        return table_digest(self.read(name))

    def publish(self, manifest: bytes) -> None:
        """Gives the staged table its name."""
        if not self._begun:
            raise ResourcesError("nothing was begun")
        staged, target = self._staged("release"), _name(self.table)
        text = manifest.decode().replace("\\", "\\\\").replace("'", "\\'")
        run = self.spark.sql
        run(f"ALTER TABLE {staged} SET TBLPROPERTIES ('{PROPERTY}' = '{text}')")
        if self._exists():
            old = self._staged("old")
            run(f"ALTER TABLE {target} RENAME TO {old}")
            try:
                run(f"ALTER TABLE {staged} RENAME TO {target}")
            except Exception:
                run(f"ALTER TABLE {old} RENAME TO {target}")
                raise
            self._made.append(old)
        else:
            run(f"ALTER TABLE {staged} RENAME TO {target}")
        self._made.remove(staged)
        self.discard()

    def discard(self) -> None:
        """Drops whatever was not put in place."""
        for table in self._made:
            try:
                self.spark.sql(f"DROP TABLE IF EXISTS {table}")
            except Exception:  # noqa: BLE001 - there may be an error to tell already
                self.left.append(table)
        self._made.clear()
