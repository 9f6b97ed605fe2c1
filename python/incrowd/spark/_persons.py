"""Whose records the rows of a table have, by numbers that stand for persons.

No name of a person leaves Spark. Her number is 64 bits of a keyed hash of it (SHA-256, with a secret of this run): the same for all of
her records, and nobody who has not the secret can tell whose it is. If two persons have the same number by chance they count as one, so
a group never has fewer persons than are counted. A record that names nobody has no number, and is a person of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arrow import functions

#: The columns with the number of a person, and the key of a record.
PERSON, KEY = "_incrowd_person", "_incrowd_key"
#: A row with more records than this may come in pieces, so that no list of persons is longer than a task can hold.
_PIECE = 1 << 22


def numbered(secret: str, person: Any, missing: Sequence[str]) -> Any:
    """The number of a person; none for what names nobody."""
    f = functions()
    text = person.cast("string")
    named = text.isNotNull() & ~text.isin(list(missing)) if missing else text.isNotNull()
    digest = f.sha2(f.concat(f.lit(secret).cast("binary"), text.cast("binary")), 256)
    # Sixteen digits of base 16 as a number with a sign.
    return f.when(named, f.conv(f.substring(digest, 1, 16), 16, -10).cast("bigint"))


def people_of(person: Any, key: Any) -> Any:
    """A text that is the same for the records of a person; of one that names nobody it is that of the record."""
    f = functions()
    return f.coalesce(person.cast("string"), f.hex(key))


def pieces(records: int) -> int:
    """Into how many pieces rows are divided, by their persons."""
    return 1 + records // _PIECE


def piece(records: int, person: str = PERSON) -> Any:
    """The piece of a row in which a record is counted."""
    return functions().expr(f"pmod(coalesce({person}, 0), {pieces(records)})")


def held(people: Any, columns: int, records: int) -> Any:
    """The distinct rows of `c0`, `c1`, … with `records`, how many of them are `unnamed`, and `held`: a list of persons, each a list of
    her number and how many of the records are hers. `piece` tells the pieces of a row apart."""
    f = functions()
    names = [f"c{i}" for i in range(columns)]
    each = people.groupBy(*names, PERSON).agg(f.count("*").alias("n")).withColumn("piece", piece(records))
    named = f.col(PERSON).isNotNull()
    return each.groupBy(*names, "piece").agg(
        f.sum("n").alias("records"),
        f.sum(f.when(named, f.lit(0)).otherwise(f.col("n"))).alias("unnamed"),
        f.collect_list(f.when(named, f.array(PERSON, "n"))).alias("held"),
    )


def pairs(rows: Any, row: str) -> Any:
    """What kept rows say of persons: the number of the row as `kept`, the person as `who`, and `n`."""
    f = functions()
    each = rows.select(f.col(row).alias("kept"), f.explode("held").alias("pair"))
    named = each.select("kept", f.col("pair")[0].alias("who"), f.col("pair")[1].alias("n"))
    nobody = rows.where(f.col("unnamed") > 0)
    nobody = nobody.select(f.col(row).alias("kept"), f.lit(None).cast("bigint").alias("who"), f.col("unnamed").alias("n"))
    return named.unionByName(nobody)
