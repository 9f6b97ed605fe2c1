"""File systems that Spark accesses through Hadoop, such as HDFS, in sessions with a local JVM.

They have no common lock operation. A run that claims a directory writes a file there every minute.
If the file is older than a quarter of an hour, by the clock of the file system, the run was killed.
"""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from .. import _incrowd
from .._errors import Error, JobError
from ._files import BEGUN, cannot, is_connect

#: The file systems with atomic renames of directories.
RENAMING = ("hdfs", "viewfs", "abfss", "abfs", "webhdfs", "swebhdfs", "ofs")
#: The file systems that may be behind a mount.
MOUNTED = (*RENAMING, "file")
#: Seconds between two heartbeats, and after which a run counts as killed.
BEAT, DEAD = 60.0, 900.0
#: Seconds that a run waits at its end for a pending heartbeat.
WAIT = 60.0
_ALIVE = ".alive"


def _refused(scheme: str, why: str) -> JobError:
    return JobError(
        f"a release cannot be published atomically in `{scheme}://`: {why}",
        help="publish a table (`table=`), or a directory on a file system such as hdfs:// or one "
             "that driver and executors share, and "
        "copy it from there",
        key="output.path",
    )


@contextmanager
def _failures(doing: str) -> Generator[None, None, None]:
    """Converts Java exceptions of a file system. Only the name of the exception is shown."""
    try:
        yield
    except Error:
        raise
    except Exception as error:  # noqa: BLE001 - Java's exceptions have one class here
        java = getattr(error, "java_exception", None)
        why = java.getClass().getSimpleName() if java is not None else type(error).__name__
        converted = cannot(doing, why)
        setattr(converted, "spark_error", error)  # noqa: B010
        raise converted from None


def _is(error: Exception, name: str) -> bool:
    java = getattr(error, "java_exception", None)
    return java is not None and java.getClass().getSimpleName() == name


class HadoopFolders:
    """Directories that Spark's Hadoop client reads, in file systems of any kind."""

    def __init__(self, spark: Any) -> None:
        self._jvm = spark._jvm
        self._conf = spark._jsc.hadoopConfiguration()

    def _at(self, path: str) -> tuple[Any, Any]:
        own = self._jvm.org.apache.hadoop.fs.Path(path)
        return own.getFileSystem(self._conf), own

    def above(self, address: str) -> list[str]:
        with _failures(f"look at `{address}`"):
            files, own = self._at(unquote(address))
            starts = [own]
            try:
                starts.append(files.resolvePath(own))
            except Exception as error:  # noqa: BLE001 - see `_failures`
                # A new directory is resolved with the one above it.
                if not _is(error, "FileNotFoundException"):
                    raise
                if own.getParent() is not None:
                    starts.append(files.resolvePath(own.getParent()))
            found: list[str] = []
            for folder in starts:
                while folder is not None:
                    found.append(str(folder.toString()))
                    folder = folder.getParent()
            return found

    def is_directory(self, folder: str, name: str) -> bool:
        try:
            files, own = self._at(f"{folder.rstrip('/')}/{name}")
            # Exceptions of Java are slow.
            return bool(files.exists(own) and files.getFileStatus(own).isDirectory())
        except Exception:  # noqa: BLE001 - Java's exceptions have one class here
            return False

    def names(self, folder: str, name: str) -> list[str] | None:
        try:
            files, own = self._at(f"{folder.rstrip('/')}/{name}")
            return [str(entry.getPath().getName()) for entry in files.listStatus(own)]
        except Exception:  # noqa: BLE001 - Java's exceptions have one class here
            return None


class HadoopFiles:
    """Files accessed through Spark's Hadoop client."""

    def __init__(self, spark: Any, to: str) -> None:
        scheme = urlparse(to).scheme
        if scheme not in RENAMING:
            raise _refused(scheme, "it is not known to rename directories atomically")
        if is_connect(spark):
            raise _refused(
                scheme, "a Spark Connect session has no local JVM to access its file systems"
            )
        self._spark = spark
        with _failures(f"reach `{scheme}://`"):
            self._jvm = spark._jvm
            self._conf = spark._jsc.hadoopConfiguration()
            whole = self._new(to.rstrip("/"))
            self._fs = whole.getFileSystem(self._conf)
            whole = whole.makeQualified(self._fs.getUri(), self._fs.getWorkingDirectory())
            above = whole.getParent()
            self._name = str(whole.getName()) if above is not None else ""
            self._parent = str((above or whole).toString())
            # `FileContext.rename` fails if the target exists, so a race cannot move one release
            # into another.
            context = getattr(self._jvm.org.apache.hadoop.fs, "FileContext")  # noqa: B009
            self._context = context.getFileContext(self._fs.getUri(), self._conf)
        self._beat: tuple[threading.Event, threading.Thread] | None = None

    def _new(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)

    def _path(self, path: str) -> Any:
        return self._new(self.address(path))

    @property
    def parent(self) -> str:
        return self._parent

    @property
    def name(self) -> str:
        return self._name

    def address(self, path: str) -> str:
        return f"{self._parent.rstrip('/')}/{path}" if path else self._parent

    def _status(self, path: Any) -> Any:
        try:
            return self._fs.getFileStatus(path)
        except Exception as error:  # noqa: BLE001 - see `_failures`
            if _is(error, "FileNotFoundException"):
                return None
            raise

    def kind(self, path: str) -> str | None:
        with _failures(f"look for `{self.address(path)}`"):
            status = self._status(self._path(path))
            if not path and status is not None:
                # A mount may lead to another kind of file system.
                scheme = str(self._fs.resolvePath(self._path(path)).toUri().getScheme())
                if scheme not in MOUNTED:
                    raise _refused(
                        scheme, "it is behind the mount and does not rename directories atomically"
                    )
        return None if status is None else "directory" if status.isDirectory() else "file"

    def names(self, path: str) -> list[str]:
        with _failures(f"list `{self.address(path)}`"):
            return sorted(
                str(entry.getPath().getName()) for entry in self._fs.listStatus(self._path(path))
            )

    def _resolved(self, path: Any) -> str:
        return str(
            path.getFileSystem(self._conf).resolvePath(path).toUri().normalize().toString()
        ).rstrip("/") + "/"

    def holds(self, path: str, files: Sequence[str]) -> bool:
        if self.kind(path) is None:
            return False
        with _failures("look at the files of the table"):
            own = self._resolved(self._path(path))
            places = {unquote(file).rpartition("/")[0] for file in files}
            return any(self._resolved(self._new(place)).startswith(own) for place in sorted(places))

    def _touch(self, path: str) -> None:
        self._fs.create(self._path(path), True).close()

    def claim(self, prefix: str) -> str:
        work = f"{prefix}{secrets.token_hex(8)}"
        with _failures(f"write to `{self.parent}`"):
            # The directory will contain values of the original table.
            own = self._jvm.org.apache.hadoop.fs.permission.FsPermission("700")
            self._fs.mkdirs(self._path(work), own)
            self._fs.setPermission(self._path(work), own)
            self._touch(f"{work}/{_ALIVE}")
        ended = threading.Event()
        beating = threading.Thread(target=self._live, args=(f"{work}/{_ALIVE}", ended), daemon=True)
        beating.start()
        self._beat = (ended, beating)
        return work

    def _live(self, path: str, ended: threading.Event) -> None:
        while not ended.wait(BEAT):
            try:
                if self._status(self._path(path)) is None:
                    return
                self._touch(path)
            except Exception:  # noqa: BLE001 - the run reports lasting failures itself
                continue

    def _time(self, path: str) -> int | None:
        status = self._status(self._path(path))
        return None if status is None else int(status.getModificationTime())

    def mark_running(self, work: str) -> None:
        with _failures(f"write to `{self.parent}`"):
            self._touch(f"{work}/{BEGUN}")

    def is_running(self, work: str) -> bool:
        with _failures(f"look for `{self.address(work)}`"):
            return self._time(f"{work}/{BEGUN}") is not None

    def remove_dead(self, work: str) -> bool:
        with _failures(f"look for `{self.address(work)}`"):
            beat = self._time(f"{work}/{_ALIVE}") or self._time(work)
            if beat is None:
                return True
            if self._now() - beat < DEAD * 1000:
                return False
        self.remove(work)
        return True

    def _now(self) -> int:
        """Returns the time by the clock of the file system."""
        path = f"_incrowd-clock-{secrets.token_hex(8)}"
        try:
            self._touch(path)
            return self._time(path) or 0
        finally:
            self._fs.delete(self._path(path), False)

    def drop(self, work: str) -> bool:
        if self._beat is not None:
            ended, beating = self._beat
            ended.set()
            # A pending heartbeat would create the directory again.
            beating.join(WAIT)
            self._beat = None
        self.remove(work)
        try:
            return self._status(self._path(work)) is None
        except Exception:  # noqa: BLE001 - then the directory may still exist
            return False

    def remove(self, path: str) -> None:
        try:
            self._fs.delete(self._path(path), True)
        except Exception:  # noqa: BLE001 - another error is reported, or the file does not matter
            return

    def rename(self, path: str, to: str) -> None:
        options = getattr(self._jvm.org.apache.hadoop.fs, "Options$Rename")
        with _failures(f"rename to `{self.address(to)}`"):
            none = self._spark.sparkContext._gateway.new_array(options, 0)
            self._context.rename(self._path(path), self._path(to), none)

    def read(self, path: str) -> bytes:
        with _failures(f"read `{self.address(path)}`"):
            stream = self._fs.open(self._path(path))
            try:
                return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
            finally:
                stream.close()

    def write(self, path: str, data: bytes) -> None:
        with _failures(f"write `{self.address(path)}`"):
            stream = self._fs.create(self._path(path), True)
            try:
                stream.write(bytearray(data))
            finally:
                stream.close()

    def put(self, staged: str, work: str) -> None:
        if self.kind(self.name) is None:
            self.rename(staged, self.name)
            return
        aside = f"{work}-old"
        self.rename(self.name, aside)
        try:
            self.rename(staged, self.name)
        except BaseException as error:
            try:
                self.rename(aside, self.name)
            except Error:
                if isinstance(error, Error) and error.help is None:
                    raise type(error)(
                        error.message, help=f"the previous release is now `{self.address(aside)}`"
                    ) from None
            raise
        self.remove(aside)

    def digest(self, path: str) -> tuple[list[str], str]:
        names = [name for name in self.names(path) if name[0] not in "._"]
        with tempfile.TemporaryDirectory(prefix="incrowd-") as private:
            return names, _incrowd.digest_each(self._fetched(path, names, Path(private)))

    def _fetched(self, path: str, names: list[str], private: Path) -> Iterator[Path]:
        """Copies the files to this machine, one at a time."""
        here = private / "part"
        for name in names:
            with _failures(f"read `{self.address(path)}`"):
                source, own = self._path(f"{path}/{name}"), self._new(here.as_uri())
                self._fs.copyToLocalFile(False, source, own, True)
            yield here
            here.unlink()
