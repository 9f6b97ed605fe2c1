"""Releases that are directories of Parquet files on a file system that driver and executors share.

Everything is written below ``_incrowd-NAME-DIGITS`` beside the place of the release; readers of tables pass over such names. The
release and its manifest, ``_incrowd.release.json`` within it, appear by one rename. An older release is exchanged by one act, or, on
file systems that have no such act, renamed away first.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from .._errors import InputError, JobError, ResourcesError
from ._errors import spark_errors
from ._files import MANIFEST, Files, LocalFiles
from ._hadoop import HadoopFiles

#: Seconds that a run waits for others that began at the same moment to give way.
PATIENCE = 30.0


def files_of(spark: Any, to: str) -> Files:
    """The file system of a place; one on which no release can appear all at once is refused."""
    address = urlparse(to)
    if address.scheme in ("", "file"):
        if address.netloc not in ("", "localhost"):
            raise JobError(f"`{to}` is on another machine", help="give a path of a shared file system", key="output.path")
        text = unquote(address.path) if address.scheme else to
        return LocalFiles(Path(os.path.abspath(os.path.expanduser(text))))
    if address.scheme == "dbfs":
        return LocalFiles(Path("/dbfs") / address.path.lstrip("/"))
    return HadoopFiles(spark, to)


class Directory:
    """A place for a release and for what it is made of."""

    def __init__(self, spark: Any, to: str) -> None:
        self.spark = spark
        self.files = files_of(spark, to)
        self.work: str | None = None
        self.left: list[str] = []

    @property
    def place(self) -> str:
        """What a job and its messages call it."""
        parent = self.files.parent.rstrip("/")
        return f"{parent}/{self.files.name}" if self.files.name else self.files.parent

    def _prefix(self) -> str:
        return f"_incrowd-{self.files.name}-"

    def begin(self, reads: list[str]) -> None:
        """Claims the place: says at once what cannot be written, and removes what a killed run left."""
        files = self.files
        if not files.name:
            raise JobError("a release needs a directory of its own", key="output.path")
        if files.kind("") not in ("directory", "link"):
            raise JobError(f"there is no directory `{files.parent}`", help="make it first", key="output.path")
        if files.holds(files.name, reads):
            raise JobError(
                "the release would overwrite a table that is read", help="give it a name of its own", key="output.path"
            )
        self._check()
        self.work = files.claim(self._prefix())
        try:
            self._be_alone(self.work)
        except BaseException:
            self.discard()
            raise

    def _check(self) -> None:
        """Refuses to replace what is no release."""
        files = self.files
        kind = files.kind(files.name)
        if kind in ("file", "link"):
            raise JobError(f"`{self.place}` is no directory", help="name another place", key="output.path")
        if kind == "directory" and files.names(files.name) and files.kind(f"{files.name}/{MANIFEST}") != "file":
            raise JobError(
                f"`{self.place}` is a directory that holds something else than a release",
                help="remove it, or name another place",
                key="output.path",
            )

    def _be_alone(self, work: str) -> None:
        """Goes on if no other run does, and removes what killed runs left.

        Everybody claims a directory first and then looks for those of others, so of two runs one sees the other at least. Who sees one
        that goes on gives way. Of those that have only claimed, the one whose name comes first stays: it waits until the others have
        given way, or until one of them goes on because it had looked before there was anybody.
        """
        files = self.files
        ours = re.compile(re.escape(self._prefix()) + "[0-9a-f]{16}(-old)?")
        until = time.monotonic() + PATIENCE
        while True:
            found = [name for name in files.names("") if ours.fullmatch(name) and name != work]
            others = [name for name in found if not name.endswith("-old") and not files.remove_dead(name)]
            if not others:
                break
            for other in others:
                if files.goes_on(other) or other < work or time.monotonic() > until:
                    raise ResourcesError(
                        f"another run is writing `{self.place}`, or was killed a short while ago",
                        help=f"wait for it, or remove `{other}` if nothing runs",
                        key="output.path",
                    )
            time.sleep(0.02)
        files.go_on(work)
        for old in (name for name in found if name.endswith("-old")):
            # Killed between two renames, or after them.
            if files.kind(files.name) is None:
                files.rename(old, files.name)
            else:
                files.remove(old)

    def _at(self, name: str) -> str:
        if self.work is None:
            raise InputError("nothing was begun")
        return f"{self.work}/{name}"

    def write(self, df: Any, name: str) -> None:
        """Writes what a DataFrame has."""
        path = self._at(name)
        df.write.parquet(self.files.address(path))
        there = self.files.names(path) if self.files.kind(path) == "directory" else []
        if "_SUCCESS" not in there and not any(file.endswith(".parquet") for file in there):
            raise ResourcesError(
                f"what Spark wrote to `{self.files.parent}` is not there on the machine of this program",
                help="driver and executors must share the file system of the release",
                key="output.path",
            )

    def read(self, name: str) -> Any:
        """What was written."""
        return self.spark.read.parquet(self.files.address(self._at(name)))

    def digest(self, name: str) -> str:
        """The digest of the files of a table, one after another in the order of their names, as `incrowd verify` computes it."""
        files, digest = self.files.digest(self._at(name))
        read: list[str] = list(self.read(name).inputFiles())
        seen = {unquote(urlparse(file).path).rpartition("/")[2] for file in read}
        if seen != set(files):
            raise ResourcesError(
                "Spark and this program do not see the same files of the release", help="they must share its file system"
            )
        return digest

    def publish(self, manifest: bytes) -> None:
        """Puts the release and its manifest in place."""
        release, files = self._at("release"), self.files
        for name in files.names(release):
            if name == "_SUCCESS" or (name.startswith(".") and name.endswith(".crc")):
                files.remove(f"{release}/{name}")
        files.write(f"{release}/{MANIFEST}", manifest)
        for again in (True, False):
            self._check()
            fresh = files.kind(files.name) is None
            try:
                files.put(release, str(self.work))
                break
            except ResourcesError:
                # Another run was faster by a moment; its release is replaced.
                if not (again and fresh and files.kind(files.name) == "directory"):
                    raise
        self.discard()

    def discard(self) -> None:
        """Removes whatever was not put in place."""
        if self.work is not None:
            if not self.files.drop(self.work):
                self.left.append(f"{self.files.parent.rstrip('/')}/{self.work}")
            self.work = None


def open_directory(spark: Any, path: str) -> tuple[Any, Files]:
    """A published release: its records, and the files it consists of."""
    files = files_of(spark, path)
    if not files.name or files.kind(files.name) not in ("directory", "link"):
        where = f"{files.parent.rstrip('/')}/{files.name}"
        raise InputError(f"there is no directory `{where}`")
    with spark_errors("to read the release"):
        return spark.read.parquet(files.address(files.name)), files
