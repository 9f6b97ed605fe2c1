"""Releases as tables of a catalog, in any format that the session writes: Parquet, Delta, Iceberg.

Staged tables are called ``_incrowd_DIGITS_…`` in the schema of the release. The manifest is the
property ``incrowd.manifest`` of the table. It is set before the table gets its name, so every
visible release has its manifest.
"""

from __future__ import annotations

import secrets
from typing import Any

from .._errors import JobError, ResourcesError
from ._arrow import functions
from ._errors import spark_errors
from ._files import stated_digest

PROPERTY = "incrowd.manifest"
#: The digest of a table consists of this many lanes of 32 bits.
_LANES = 8


def _quoted(parts: list[str]) -> str:
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def table_digest(df: Any) -> str:
    """Returns a digest of the records of a table that does not depend on their order: for each
    lane, the sum over the records' SHA-256."""
    f = functions()
    whole = f.sha2(
        f.to_json(
            f.struct(*[f.col(f"`{name}`") for name in df.columns]), {"ignoreNullFields": "false"}
        ), 256
    )
    lanes = [
        f.sum(
            f.conv(f.substring(f.col("h"), 1 + 8 * lane, 8), 16, 10).cast("decimal(38,0)")
        ).alias(f"l{lane}")
        for lane in range(_LANES)
    ]
    sums = df.select(whole.alias("h")).agg(*lanes).first()
    total = "".join(f"{int(sums[f'l{lane}'] or 0) % 2**64:016x}" for lane in range(_LANES))
    return f"records-sha256:{total}"


def manifest_of(spark: Any, table: str) -> str | None:
    """Returns the manifest in the properties of a table."""
    with spark_errors("to read the properties of the table"):
        for row in spark.sql(f"SHOW TBLPROPERTIES {_name(table)}").collect():
            if row["key"] == PROPERTY:
                return str(row["value"])
    return None


def _name(table: str) -> str:
    parts = [part.strip("`") for part in table.split(".")]
    if not all(parts):
        raise JobError("the name of a table is schema.table", key="output.path")
    return _quoted(parts)


class Catalog:
    """The tables of a release and of its staged data."""

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
        self._replace = False

    @property
    def place(self) -> str:
        """The name in jobs and messages."""
        return f"table:{self.table}"

    def _staged(self, name: str) -> str:
        return _quoted([*self._parts[:-1], f"{self._mark}_{name}"])

    def _exists(self) -> bool:
        return bool(self.spark.catalog.tableExists(_name(self.table)))

    def begin(self, reads: list[str], replace: bool = False) -> None:
        """Checks that the table may be written. Only an unchanged release is replaced, with
        `replace` any table."""
        self._replace = replace
        self._check()
        self._begun = True

    def _check(self) -> bool:
        """Returns whether there is a table to replace. Raises an error if it may not be
        replaced."""
        with spark_errors("to look for the table"):
            exists = self._exists()
        why = self._refusal() if exists and not self._replace else None
        if why is not None:
            raise JobError(
                f"the release would replace the table `{self.table}`, which is {why}",
                help="name another table, or replace that one with `replace=True`",
                key="output.path",
            )
        return exists

    def _refusal(self) -> str | None:
        """Returns why the existing table is not an unchanged release; `None` if it is one."""
        manifest = manifest_of(self.spark, self.table)
        if manifest is None:
            return "not a release of incrowd: no manifest is stored with it"
        with spark_errors("to read the table that the release would replace"):
            # Other programs may have written to the table since this session read it.
            self.spark.catalog.refreshTable(_name(self.table))
            found = table_digest(self.spark.table(_name(self.table)))
        if stated_digest(manifest) == found:
            return None
        return "not an unchanged release of incrowd: its records are not those of its manifest"

    def write(self, df: Any, name: str) -> None:
        """Writes a DataFrame to a staged table."""
        writer = df.write.format(self.format) if self.format else df.write
        table = self._staged(name)
        self._made.append(table)
        writer.saveAsTable(table)

    def read(self, name: str) -> Any:
        """Reads a staged table."""
        return self.spark.table(self._staged(name))

    def digest(self, name: str) -> str:
        """Returns the digest of the records of a staged table."""
        return table_digest(self.read(name))

    def publish(self, manifest: bytes) -> None:
        """Gives the staged table its name."""
        if not self._begun:
            raise ResourcesError("`begin` was not called")
        staged, target = self._staged("release"), _name(self.table)
        text = manifest.decode().replace("\\", "\\\\").replace("'", "\\'")
        run = self.spark.sql
        run(f"ALTER TABLE {staged} SET TBLPROPERTIES ('{PROPERTY}' = '{text}')")
        # Somebody may have created or changed the table meanwhile.
        if self._check():
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
        """Drops the staged tables."""
        for table in self._made:
            try:
                self.spark.sql(f"DROP TABLE IF EXISTS {table}")
            except Exception:  # noqa: BLE001 - another error may be reported already
                self.left.append(table)
        self._made.clear()
