"""Conversion between Spark and Arrow, for PySpark 3.5 and 4, classic and Connect."""

from __future__ import annotations

import importlib
from typing import Any

from .._errors import InputError


def module(name: str) -> Any:
    """Imports a module of PySpark or pyarrow. The error states what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        library = name.split(".")[0]
        package = "pyspark" if library == "pyspark" else library
        raise ImportError(
            f"incrowd.spark needs {package}: pip install 'pyspark[connect]' pyarrow", name=library
        ) from error


def functions() -> Any:
    """`pyspark.sql.functions`."""
    return module("pyspark.sql.functions")


def need_dataframe(df: object) -> None:
    """Raises an error unless `df` is a Spark DataFrame."""
    if not (hasattr(df, "sparkSession") and hasattr(df, "groupBy")):
        kind = f"{type(df).__module__}.{type(df).__qualname__}"
        raise InputError(
            f"a `{kind}` is not a Spark DataFrame",
            help="read one with spark.read or spark.table; other tables are for incrowd.anonymize",
        )


def col(name: str) -> Any:
    """Returns a column; its name may contain any characters."""
    quoted = name.replace("`", "``")
    return functions().col(f"`{quoted}`")


def to_arrow(df: Any) -> Any:
    """Collects a DataFrame as a `pyarrow.Table`."""
    pa = module("pyarrow")
    if hasattr(df, "toArrow"):
        return df.toArrow()
    schema = arrow_schema(df)
    if hasattr(df, "_collect_as_arrow"):
        return pa.Table.from_batches(df._collect_as_arrow(), schema=None if df.columns else schema)
    client = df._session.client
    table, _ = client.to_table(df._plan.to_proto(client))
    return table


def arrow_schema(df: Any) -> Any:
    """Returns the Arrow schema of a DataFrame. A type without an Arrow equivalent becomes a struct,
    which incrowd refuses."""
    pa, types = module("pyarrow"), module("pyspark.sql.pandas.types")
    fields: list[Any] = []
    for field in df.schema.fields:
        try:
            # Versions differ in whether a timestamp has a zone.
            moment = field.dataType.typeName() == "timestamp"
            kind = pa.timestamp("us", tz="UTC") if moment else types.to_arrow_type(field.dataType)
        except Exception:  # noqa: BLE001 - the exception depends on the version
            kind = pa.struct([pa.field(field.dataType.simpleString(), pa.null())])
        fields.append(pa.field(field.name, kind))
    return pa.schema(fields)


def from_arrow(spark: Any, stream: object) -> Any:
    """Creates a DataFrame from an Arrow stream."""
    pa, types = module("pyarrow"), module("pyspark.sql.pandas.types")
    table = pa.table(stream)
    version = tuple(int(part) for part in module("pyspark").__version__.split(".")[:1])
    # A timestamp without a zone stays without a zone, independent of the session.
    schema = types.from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    if version >= (4,):
        return spark.createDataFrame(table, schema)
    columns = [column.to_pylist() for column in table.columns]
    return spark.createDataFrame(list(zip(*columns)), schema)
