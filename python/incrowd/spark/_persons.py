"""Persons of the rows of a table, as pseudonymous numbers.

No person identifier leaves Spark. The number of a person is 64 bits of a keyed hash of the
normalized identifier (SHA-256, with a secret of this run). It is equal for all spellings of an
identifier, and cannot be inverted without the secret. If two persons have the same number by chance
they count as one, so a group never has fewer persons than are counted. A record without an
identifier has no number and counts as one person.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arrow import functions

#: The columns with the number of a person, and the key of a record.
PERSON, KEY = "_incrowd_person", "_incrowd_key"
#: A row with more records than this may be split into pieces, so that a list of persons fits into
#: a task.
_PIECE = 1 << 22


#: Blanks, and the parts of a decimal number: sign, digits before and after the point, exponent.
#: `value_key` in `incrowd-core` has the same rule, and `tests/test_spark_persons.py` compares the
#: two.
_BLANKS = (
    r"[\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200d"
    r"\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]+"
)
_NUMBER = r"^(?=[+-]?\.?[0-9])([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,9}))?\z"


def key_of(text: Any) -> Any:
    """Normalizes an identifier: without surrounding blanks, a number as its digits and a power of
    ten. `7`, `7.0` and `007` are equal."""
    f = functions()
    trimmed = f.regexp_replace(text, rf"^{_BLANKS}|{_BLANKS}\z", "")
    sign, whole, fraction, exponent = (
        f.regexp_extract(trimmed, _NUMBER, part) for part in (1, 2, 3, 4)
    )
    digits = f.concat(whole, fraction)
    kept = f.regexp_replace(digits, r"0+\z", "")
    # A text that is not a number has no exponent.
    power = f.when(exponent == "", f.lit(0)).otherwise(exponent.cast("bigint"))
    power = power - f.length(fraction) + f.length(digits) - f.length(kept)
    significant = f.regexp_replace(kept, r"^0+", "")
    number = f.concat(
        f.when(sign == "-", "-").otherwise(""), significant, f.lit("e"), power.cast("string")
    )
    return f.when(~trimmed.rlike(_NUMBER), trimmed).when(
        significant == "", f.lit("0")
    ).otherwise(number)


def numbered(secret: str, person: Any, missing: Sequence[str]) -> Any:
    """Returns the number of a person, null for a missing identifier."""
    f = functions()
    text = person.cast("string")
    key = key_of(text)
    named = text.isNotNull()
    for marker in missing:
        # All spellings of a missing value are missing, as `means_missing` in `incrowd-core` decides.
        named = named & (key != key_of(f.lit(marker)))
    digest = f.sha2(f.concat(f.lit(secret).cast("binary"), key.cast("binary")), 256)
    # Sixteen hexadecimal digits as a signed 64-bit number.
    return f.when(named, f.conv(f.substring(digest, 1, 16), 16, -10).cast("bigint"))


def people_of(person: Any, key: Any) -> Any:
    """Returns a text that identifies the person of a record; without a person number it identifies
    the record."""
    f = functions()
    return f.coalesce(person.cast("string"), f.hex(key))


def pieces(records: int) -> int:
    """Returns the number of pieces into which rows are split by person."""
    return 1 + records // _PIECE


def piece(records: int, person: str = PERSON) -> Any:
    """Returns the piece of a row that contains a record."""
    return functions().expr(f"pmod(coalesce({person}, 0), {pieces(records)})")


def persons_by_row(people: Any, columns: int, records: int) -> Any:
    """Returns the distinct rows of `c0`, `c1`, … with `records`, the number of `unnamed` records,
    and `held`: a list of persons, each a list of number and record count. `piece` is the piece of
    the row."""
    f = functions()
    names = [f"c{i}" for i in range(columns)]
    each = people.groupBy(*names, PERSON).agg(
        f.count("*").alias("n")
    ).withColumn("piece", piece(records))
    named = f.col(PERSON).isNotNull()
    return each.groupBy(*names, "piece").agg(
        f.sum("n").alias("records"),
        f.sum(f.when(named, f.lit(0)).otherwise(f.col("n"))).alias("unnamed"),
        f.collect_list(f.when(named, f.array(PERSON, "n"))).alias("held"),
    )


def pairs(rows: Any, row: str) -> Any:
    """Returns the persons of stored rows: the row number as `kept`, the person as `who`, and the
    record count as `n`."""
    f = functions()
    each = rows.select(f.col(row).alias("kept"), f.explode("held").alias("pair"))
    named = each.select("kept", f.col("pair")[0].alias("who"), f.col("pair")[1].alias("n"))
    nobody = rows.where(f.col("unnamed") > 0)
    nobody = nobody.select(
        f.col(row).alias("kept"), f.lit(None).cast("bigint").alias("who"),
        f.col("unnamed").alias("n")
    )
    return named.unionByName(nobody)
