"""Releases that are directories of Parquet files on a file system that driver and executors share.

Everything is written below ``_incrowd-NAME-DIGITS`` beside the place of the release; readers of tables pass over such names. The
release and its manifest, ``_incrowd.release.json`` within it, appear by one rename, or take the place of an older release by one
exchange.
"""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from .. import _incrowd
from .._errors import InputError, JobError, ResourcesError
from ._errors import spark_errors

MANIFEST = "_incrowd.release.json"


def local_path(to: str) -> Path:
    """The path of a place on a file system that this process sees too; anything else is refused."""
    address = urlparse(to)
    if address.scheme in ("", "file"):
        if address.netloc not in ("", "localhost"):
            raise JobError(f"`{to}` is on another machine", help="give a path of a shared file system", key="output.path")
        text = unquote(address.path) if address.scheme else to
        return Path(os.path.abspath(os.path.expanduser(text)))
    if address.scheme == "dbfs":
        return Path("/dbfs") / address.path.lstrip("/")
    raise JobError(
        f"a release cannot be made to appear all at once in `{address.scheme}://` from here",
        help="publish a table (`table=`), or to a file system that driver and executors share; copy it from there",
        key="output.path",
    )


def manifest_in(path: Path) -> Path:
    """Where the manifest of a release lies."""
    return path / MANIFEST


class Directory:
    """A place for a release and for what it is made of."""

    def __init__(self, spark: Any, to: str) -> None:
        self.spark = spark
        self.target = local_path(to)
        self.work: Path | None = None
        self._lock: int | None = None

    @property
    def place(self) -> str:
        """What a job and its messages call it."""
        return str(self.target)

    def _prefix(self) -> str:
        return f"_incrowd-{self.target.name}-"

    def begin(self, reads: list[str]) -> None:
        """Claims the place: says at once what cannot be written, and removes what a killed run left."""
        target = self.target
        if not target.name:
            raise JobError("a release needs a directory of its own", key="output.path")
        if not target.parent.is_dir():
            raise JobError(f"there is no directory `{target.parent}`", help="make it first", key="output.path")
        for file in reads:
            address = urlparse(file)
            if address.scheme in ("", "file") and Path(unquote(address.path)).is_relative_to(target):
                raise JobError(
                    "the release would overwrite a table that is read", help="give it a name of its own", key="output.path"
                )
        if target.is_symlink() or (target.exists() and not target.is_dir()):
            raise JobError(f"`{target}` is no directory", help="name another place", key="output.path")
        if target.is_dir() and any(target.iterdir()) and not manifest_in(target).is_file():
            raise JobError(
                f"`{target}` is a directory that holds something else than a release",
                help="remove it, or name another place",
                key="output.path",
            )
        self._remove_leftovers()
        work = target.parent / f"{self._prefix()}{secrets.token_hex(8)}"
        try:
            # It will hold values of the original table.
            work.mkdir(mode=0o700)
        except OSError as error:
            raise ResourcesError(f"cannot write to `{target.parent}`: {error.strerror}", key="output.path") from None
        self.work = work
        self._lock = _locked(work / ".lock")

    def _remove_leftovers(self) -> None:
        for old in sorted(self.target.parent.glob(f"{self._prefix()}*")):
            lock = _locked(old / ".lock")
            if lock is None and (old / ".lock").exists():
                raise ResourcesError(
                    f"another run is writing `{self.target}`", help="wait for it", key="output.path"
                )
            shutil.rmtree(old, ignore_errors=True)
            if lock is not None:
                os.close(lock)

    def _at(self, name: str) -> Path:
        if self.work is None:
            raise InputError("nothing was begun")
        return self.work / name

    def write(self, df: Any, name: str) -> None:
        """Writes what a DataFrame has."""
        df.write.parquet(self._at(name).as_uri())
        if not (self._at(name) / "_SUCCESS").exists() and not any(self._at(name).glob("*.parquet")):
            raise ResourcesError(
                f"what Spark wrote to `{self.target.parent}` is not there on the machine of this program",
                help="driver and executors must share the file system of the release",
                key="output.path",
            )

    def read(self, name: str) -> Any:
        """What was written."""
        return self.spark.read.parquet(self._at(name).as_uri())

    def digest(self, name: str) -> str:
        """The digest of the files of a table, one after another in the order of their names, as `incrowd verify` computes it."""
        path = self._at(name)
        files, digest = _incrowd.digest(path)
        read: list[str] = list(self.read(name).inputFiles())
        seen = {Path(unquote(urlparse(file).path)).name for file in read}
        if seen != {Path(file).name for file in files}:
            raise ResourcesError(
                "Spark and this program do not see the same files of the release", help="they must share its file system"
            )
        return digest

    def publish(self, manifest: bytes) -> None:
        """Puts the release and its manifest in place."""
        release = self._at("release")
        for mark in (*release.glob("_SUCCESS"), *release.glob(".*.crc")):
            mark.unlink()
        manifest_in(release).write_bytes(manifest)
        _incrowd.put_directory(release, self.target)
        self.discard()

    def discard(self) -> None:
        """Removes whatever was not put in place."""
        if self.work is not None:
            shutil.rmtree(self.work, ignore_errors=True)
            self.work = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _locked(path: Path) -> int | None:
    """A lock that lives as long as this process; `None` if another one has it, or if there are no locks here."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file


def open_directory(spark: Any, path: str) -> tuple[Any, Path]:
    """A published release: its records, and where it lies."""
    found = local_path(path)
    if not found.is_dir():
        raise InputError(f"there is no directory `{found}`")
    with spark_errors("to read the release"):
        return spark.read.parquet(found.as_uri()), found
