"""Folders of Delta Lake, Apache Iceberg and Apache Hudi tables.

Their data files are Parquet, but a log determines which files and records belong to the table. The
files still contain people who were deleted. The rules are those of the compiled module, for all
file systems that Spark reads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote, urlparse

from .._errors import InputError, JobError
from ._files import is_connect
from ._hadoop import HadoopFolders


class TableFormat(NamedTuple):
    """A table format with a log next to its data files."""

    title: str
    #: The directory that identifies the format.
    marker: str
    #: The name of the format in Spark.
    name: str


DELTA = TableFormat("a Delta Lake table", "_delta_log", "delta")
HUDI = TableFormat("an Apache Hudi table", ".hoodie", "hudi")
ICEBERG = TableFormat("an Apache Iceberg table", "metadata", "iceberg")


class Folders(Protocol):
    """The directories of a file system. What cannot be examined counts as absent."""

    def above(self, address: str) -> list[str]:
        """Returns a directory and those above it, also after links and mounts are resolved."""
        ...

    def is_directory(self, folder: str, name: str) -> bool:
        """Returns whether a directory has a directory of this name, or a link that may lead to
        one."""
        ...

    def names(self, folder: str, name: str) -> list[str] | None:
        """Returns the names in a directory of a directory; `None` if it cannot be listed."""
        ...


class LocalFolders:
    """Directories that this process can access."""

    def above(self, address: str) -> list[str]:
        own = local_path(address)
        starts = [] if own is None else [own, Path(os.path.realpath(own))]
        return [str(folder) for start in starts for folder in (start, *start.parents)]

    def is_directory(self, folder: str, name: str) -> bool:
        path = os.path.join(folder, name)
        return os.path.isdir(path) or os.path.islink(path)

    def names(self, folder: str, name: str) -> list[str] | None:
        try:
            return os.listdir(os.path.join(folder, name))
        except OSError:
            return None


def local_path(address: str) -> Path | None:
    """Returns the path of an address that this process can access; `None` for other file
    systems."""
    parsed = urlparse(address)
    if parsed.scheme == "dbfs":
        return Path("/dbfs") / unquote(parsed.path).lstrip("/")
    return Path(unquote(parsed.path)) if parsed.scheme == "file" else None


def _folders_of(spark: Any, address: str) -> Folders | None:
    """Returns the directories of a file system; `None` if this session cannot access them."""
    if local_path(address) is not None:
        return LocalFolders()
    return None if is_connect(spark) else HadoopFolders(spark)


def _is_iceberg(folders: Folders, folder: str) -> bool:
    """Returns whether a directory has the metadata of an Iceberg table. If they cannot be listed, a
    directory `data` is sufficient."""
    if not folders.is_directory(folder, ICEBERG.marker):
        return False
    names = folders.names(folder, ICEBERG.marker)
    if names is None:
        return folders.is_directory(folder, "data")
    return any(
        ".metadata.json" in name or name == "version-hint.text" or name.endswith(".avro")
        for name in names
    )


def format_of(folders: Folders, folder: str) -> TableFormat | None:
    """Returns the table format of a directory, if it is such a table."""
    marked = next((one for one in (DELTA, HUDI) if folders.is_directory(folder, one.marker)), None)
    return marked or (ICEBERG if _is_iceberg(folders, folder) else None)


def _tables(spark: Any, addresses: Iterable[str]) -> Iterator[tuple[str, TableFormat]]:
    """Finds the tables that contain directories, or are these directories. Each directory is
    examined once."""
    known: set[str] = set()
    for address in addresses:
        folders = _folders_of(spark, address)
        if folders is None:
            continue
        for folder in folders.above(address):
            found = None if folder in known else format_of(folders, folder)
            known.add(folder)
            if found is not None:
                yield folder, found


def directories_of(files: Iterable[str]) -> list[str]:
    """Returns the directories of the files that Spark reads."""
    return sorted({file.rpartition("/")[0] for file in files})


def check_read(spark: Any, addresses: Iterable[str], *, may_be_iceberg: bool = True) -> None:
    """Raises an error if a directory belongs to a table with a log.

    Other programs also write `metadata/x.metadata.json`. The name indicates Iceberg only if it
    could have written the data files.
    """
    for folder, found in _tables(spark, addresses):
        if found is ICEBERG and not may_be_iceberg:
            continue
        raise InputError(
            f"`{folder}` is {found.title}: its files also hold records that were deleted or "
            f"replaced, and incrowd does not read the log in `{found.marker}` that says which",
            help="read the table with Spark, and give the DataFrame: "
                 f'spark.read.format("{found.name}").load("{folder}")',
        )


def check_write(spark: Any, address: str) -> None:
    """Raises an error if a directory is in the directory of a table with a log."""
    for folder, found in _tables(spark, [address]):
        raise JobError(
            f"`{folder}` is {found.title} (`{found.marker}`): a directory in it does not become "
            f"part of the table",
            help="choose another directory for the release",
            key="output.path",
        )
