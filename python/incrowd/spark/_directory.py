"""Releases as directories of Parquet files on a file system that driver and executors share.

Staged files are below ``_incrowd-NAME-DIGITS`` next to the release; readers of tables ignore such names. The release and its
manifest, ``_incrowd.release.json`` within it, appear with one rename. An older release is exchanged atomically, or, on file systems
without that operation, renamed first.
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

#: Seconds that a run waits for concurrent runs to end.
TIMEOUT = 30.0

#: The log directories of Delta Lake and Hudi tables. Only files in the log are part of such a table.
LOGS = ("_delta_log", ".hoodie")


def files_of(spark: Any, to: str) -> Files:
    """Returns the file system of a path. A file system without atomic renames of directories is refused."""
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
    """The directory of a release and its staged files."""

    def __init__(self, spark: Any, to: str) -> None:
        self.spark = spark
        self.files = files_of(spark, to)
        self.work: str | None = None
        self.left: list[str] = []

    @property
    def place(self) -> str:
        """The name in jobs and messages."""
        parent = self.files.parent.rstrip("/")
        return f"{parent}/{self.files.name}" if self.files.name else self.files.parent

    def _prefix(self) -> str:
        return f"_incrowd-{self.files.name}-"

    def begin(self, reads: list[str], replace: bool = False) -> None:
        """Checks that the directory may be written, claims it, and removes the files of killed runs.

        A directory that is not a release is never replaced, not even with `replace`.
        """
        files = self.files
        if not files.name:
            raise JobError("a release needs a separate directory", key="output.path")
        if files.kind("") not in ("directory", "link"):
            raise JobError(f"there is no directory `{files.parent}`", help="create it first", key="output.path")
        log = next((log for log in LOGS if log in files.names("")), None)
        if log is not None:
            raise JobError(
                f"`{files.parent}` is a table with a log (`{log}`): a directory in it does not become part of the table",
                help="choose another directory for the release",
                key="output.path",
            )
        if files.holds(files.name, reads):
            raise JobError(
                "the release would overwrite a table that is read", help="give it another name", key="output.path"
            )
        self._check()
        self.work = files.claim(self._prefix())
        try:
            self._exclude_others(self.work)
        except BaseException:
            self.discard()
            raise

    def _check(self) -> None:
        """Raises an error if something other than a release would be replaced."""
        files = self.files
        kind = files.kind(files.name)
        if kind in ("file", "link"):
            raise JobError(f"`{self.place}` is not a directory", help="choose another path", key="output.path")
        if kind == "directory" and files.names(files.name) and files.kind(f"{files.name}/{MANIFEST}") != "file":
            raise JobError(
                f"the directory `{self.place}` is not a release",
                help="remove it, or choose another path",
                key="output.path",
            )

    def _exclude_others(self, work: str) -> None:
        """Continues if no other run does, and removes the files of killed runs.

        Every run first claims a directory and then looks for those of others, so of two runs at least one sees the other. A run that
        sees a running one ends. Of runs that have only claimed a directory, the one with the smallest name stays. It waits until the
        others end, or until one of them runs because it looked before this one had claimed.
        """
        files = self.files
        ours = re.compile(re.escape(self._prefix()) + "[0-9a-f]{16}(-old)?")
        until = time.monotonic() + TIMEOUT
        while True:
            found = [name for name in files.names("") if ours.fullmatch(name) and name != work]
            others = [name for name in found if not name.endswith("-old") and not files.remove_dead(name)]
            if not others:
                break
            for other in others:
                if files.is_running(other) or other < work or time.monotonic() > until:
                    raise ResourcesError(
                        f"another run is writing `{self.place}`, or was killed recently",
                        help=f"wait for it, or remove `{other}` if no run is active",
                        key="output.path",
                    )
            time.sleep(0.02)
        files.mark_running(work)
        for old in (name for name in found if name.endswith("-old")):
            # A run was killed between the two renames, or after them.
            if files.kind(files.name) is None:
                files.rename(old, files.name)
            else:
                files.remove(old)

    def _at(self, name: str) -> str:
        if self.work is None:
            raise InputError("`begin` was not called")
        return f"{self.work}/{name}"

    def write(self, df: Any, name: str) -> None:
        """Writes a DataFrame to staged files."""
        path = self._at(name)
        df.write.parquet(self.files.address(path))
        written = self.files.names(path) if self.files.kind(path) == "directory" else []
        if "_SUCCESS" not in written and not any(file.endswith(".parquet") for file in written):
            raise ResourcesError(
                f"the files that Spark wrote to `{self.files.parent}` are not visible to this program",
                help="driver and executors must share the file system of the release",
                key="output.path",
            )

    def read(self, name: str) -> Any:
        """Reads staged files."""
        return self.spark.read.parquet(self.files.address(self._at(name)))

    def digest(self, name: str) -> str:
        """Returns the digest of the staged files, in the order of their names, as `incrowd verify` computes it."""
        files, digest = self.files.digest(self._at(name))
        read: list[str] = list(self.read(name).inputFiles())
        names = {unquote(urlparse(file).path).rpartition("/")[2] for file in read}
        if names != set(files):
            raise ResourcesError(
                "Spark and this program do not see the same files of the release", help="they must share its file system"
            )
        return digest

    def publish(self, manifest: bytes) -> None:
        """Publishes the release with its manifest."""
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
                # Another run published at the same time; its release is replaced.
                if not (again and fresh and files.kind(files.name) == "directory"):
                    raise
        self.discard()

    def discard(self) -> None:
        """Removes the staged files."""
        if self.work is not None:
            if not self.files.drop(self.work):
                self.left.append(f"{self.files.parent.rstrip('/')}/{self.work}")
            self.work = None


def open_directory(spark: Any, path: str) -> tuple[Any, Files]:
    """Returns the records and the file system of a published release."""
    files = files_of(spark, path)
    if not files.name or files.kind(files.name) not in ("directory", "link"):
        where = f"{files.parent.rstrip('/')}/{files.name}"
        raise InputError(f"there is no directory `{where}`")
    with spark_errors("to read the release"):
        return spark.read.parquet(files.address(files.name)), files
