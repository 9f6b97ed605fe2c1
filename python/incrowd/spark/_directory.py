"""Releases as directories of Parquet files on a file system that driver and executors share.

Staged files are below ``_incrowd-NAME-DIGITS`` next to the release; readers of tables ignore such
names. The release and its manifest, ``_incrowd.release.json`` within it, appear with one rename. An
older release is exchanged atomically, or, on file systems without that operation, renamed first.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlparse

from .._errors import InputError, JobError, ResourcesError
from ._errors import spark_errors
from ._files import MANIFEST, Files, LocalFiles, stated_digest
from ._formats import check_read, check_write, directories_of
from ._hadoop import HadoopFiles

#: Seconds that a run waits for concurrent runs to end.
TIMEOUT = 30.0

#: The files that Spark writes to the directory of a table, apart from checksums.
WRITTEN = re.compile(r"part-\d.*|_SUCCESS|_metadata|_common_metadata|_(started|committed)_\d+")


def files_of(spark: Any, to: str) -> Files:
    """Returns the file system of a path. A file system without atomic renames of directories is
    refused."""
    address = urlparse(to)
    if address.scheme in ("", "file"):
        if address.netloc not in ("", "localhost"):
            raise JobError(
                f"`{to}` is on another machine", help="give a path of a shared file system",
                key="output.path"
            )
        text = unquote(address.path) if address.scheme else to
        return LocalFiles(Path(os.path.abspath(os.path.expanduser(text))))
    if address.scheme == "dbfs":
        return LocalFiles(Path("/dbfs") / address.path.lstrip("/"))
    return HadoopFiles(spark, to)


def _uri(files: Files) -> str:
    """Returns the address of a release, percent-encoded like those of the files that Spark
    reads."""
    address = files.address(files.name)
    return address if isinstance(files, LocalFiles) else quote(address, safe="/:@")


class Directory:
    """The directory of a release and its staged files."""

    def __init__(self, spark: Any, to: str) -> None:
        self.spark = spark
        self.files = files_of(spark, to)
        self.work: str | None = None
        self.left: list[str] = []
        self._replace = False

    @property
    def place(self) -> str:
        """The name in jobs and messages."""
        parent = self.files.parent.rstrip("/")
        return f"{parent}/{self.files.name}" if self.files.name else self.files.parent

    def _prefix(self) -> str:
        return f"_incrowd-{self.files.name}-"

    def begin(self, reads: list[str], replace: bool = False) -> None:
        """Checks that the directory may be written, claims it, and removes the files of killed
        runs.

        Only an unchanged release is replaced, with `replace` also a changed one. A directory that
        is not a release, or that has other files, is never replaced.
        """
        files = self.files
        self._replace = replace
        if not files.name:
            raise JobError("a release needs a separate directory", key="output.path")
        if files.kind("") not in ("directory", "link"):
            raise JobError(
                f"there is no directory `{files.parent}`", help="create it first", key="output.path"
            )
        check_write(self.spark, _uri(files))
        if files.holds(files.name, reads):
            raise JobError(
                "the release would overwrite a table that is read", help="give it another name",
                key="output.path"
            )
        self._holds_release()
        self.work = files.claim(self._prefix())
        try:
            self._exclude_others(self.work)
            # No other run publishes from here on, so the manifest and the files are those of one
            # release.
            self._check()
        except BaseException:
            self.discard()
            raise

    def _check(self) -> None:
        """Raises an error if something would be replaced that may not be."""
        if not self._holds_release() or self._replace:
            return
        files, name = self.files, self.files.name
        stated = stated_digest(files.read(f"{name}/{MANIFEST}"))
        try:
            found = files.digest(name)[1]
        except InputError:
            # There is no table in it any more.
            found = None
        if stated is None or stated != found:
            raise JobError(
                f"the release would replace the directory `{self.place}`, which is not an "
                "unchanged release of incrowd: its files are not those of its manifest",
                help="choose another path, or replace the directory with `replace=True`",
                key="output.path",
            )

    def _holds_release(self) -> bool:
        """Returns whether there is a release. Raises an error if something else is there."""
        files, name = self.files, self.files.name
        kind = files.kind(name)
        if kind in ("file", "link"):
            raise JobError(
                f"`{self.place}` is not a directory", help="choose another path", key="output.path"
            )
        names = files.names(name) if kind == "directory" else []
        if not names:
            return False
        if files.kind(f"{name}/{MANIFEST}") != "file":
            raise JobError(
                f"the release would replace the directory `{self.place}`, which is not a release "
                f"of incrowd: it has no manifest",
                help="remove it, or choose another path",
                key="output.path",
            )
        others = [other for other in names if self._is_foreign(other)]
        if others:
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            raise JobError(
                f"the release would replace the directory `{self.place}`, which also has what is "
                f"not part of a release: `{others[0]}`{more}",
                help="move that to another place, or choose another path",
                key="output.path",
            )
        return True

    def _is_foreign(self, name: str) -> bool:
        """Returns whether something in the directory of a release is neither the manifest nor a
        file that Spark writes."""
        whole = name[1:-4] if name.startswith(".") and name.endswith(".crc") else name
        if whole != MANIFEST and not WRITTEN.fullmatch(whole):
            return True
        return self.files.kind(f"{self.files.name}/{name}") in ("directory", "link")

    def _exclude_others(self, work: str) -> None:
        """Continues if no other run does, and removes the files of killed runs.

        Every run first claims a directory and then looks for those of others, so of two runs at
        least one sees the other. A run that sees a running one ends. Of runs that have only claimed
        a directory, the one with the smallest name stays. It waits until the others end, or until
        one of them runs because it looked before this one had claimed.
        """
        files = self.files
        ours = re.compile(re.escape(self._prefix()) + "[0-9a-f]{16}(-old)?")
        until = time.monotonic() + TIMEOUT
        while True:
            found = [name for name in files.names("") if ours.fullmatch(name) and name != work]
            others = [
                name for name in found if not name.endswith("-old") and not files.remove_dead(name)
            ]
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
                f"the files that Spark wrote to `{self.files.parent}` are not visible to this "
                f"program",
                help="driver and executors must share the file system of the release",
                key="output.path",
            )

    def read(self, name: str) -> Any:
        """Reads staged files."""
        return self.spark.read.parquet(self.files.address(self._at(name)))

    def digest(self, name: str) -> str:
        """Returns the digest of the staged files, in the order of their names, as `incrowd verify`
        computes it."""
        files, digest = self.files.digest(self._at(name))
        read: list[str] = list(self.read(name).inputFiles())
        names = {unquote(urlparse(file).path).rpartition("/")[2] for file in read}
        if names != set(files):
            raise ResourcesError(
                "Spark and this program do not see the same files of the release",
                help="they must share its file system"
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
    check_read(spark, [_uri(files)])
    with spark_errors("to read the release"):
        df = spark.read.parquet(files.address(files.name))
        read = list(df.inputFiles())
    # Directories in it, such as `day=1`, may be tables too.
    check_read(spark, directories_of(read))
    return df, files
