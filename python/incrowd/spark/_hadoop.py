"""File systems that Spark reaches through Hadoop, such as HDFS, in sessions that have a Java of their own.

Nothing like a lock is known to all of them. Whoever claims a directory writes a file there every minute. One that was not written for
a quarter of an hour, by the clock of the file system, belongs to a run that was killed.
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

#: Where a directory is renamed by one act of the file system.
RENAMING = ("hdfs", "viewfs", "abfss", "abfs", "webhdfs", "swebhdfs", "ofs")
#: And where such a directory may lie behind a mount.
BEHIND = (*RENAMING, "file")
#: Seconds between two signs of life, and after which there is none.
BEAT, DEAD = 60.0, 900.0
#: Seconds that a run waits for a sign of life under way when it ends.
WAIT = 60.0
_ALIVE = ".alive"


def _refused(scheme: str, why: str) -> JobError:
    return JobError(
        f"a release cannot be made to appear all at once in `{scheme}://` from here: {why}",
        help="publish a table (`table=`), or a directory on a file system such as hdfs:// or one that driver and executors share, and "
        "copy it from there",
        key="output.path",
    )


@contextmanager
def _failures(doing: str) -> Generator[None, None, None]:
    """What Java says of a file system, by the name of its exception alone."""
    try:
        yield
    except Error:
        raise
    except Exception as error:  # noqa: BLE001 - Java's exceptions have one class here
        java = getattr(error, "java_exception", None)
        why = java.getClass().getSimpleName() if java is not None else type(error).__name__
        told = cannot(doing, why)
        setattr(told, "spark_error", error)  # noqa: B010
        raise told from None


def _is(error: Exception, name: str) -> bool:
    java = getattr(error, "java_exception", None)
    return java is not None and java.getClass().getSimpleName() == name


class HadoopFiles:
    """Files as Spark's own Hadoop sees them."""

    def __init__(self, spark: Any, to: str) -> None:
        scheme = urlparse(to).scheme
        if scheme not in RENAMING:
            raise _refused(scheme, "it does not rename a directory by one act, as far as is known here")
        if is_connect(spark):
            raise _refused(scheme, "a session of Spark Connect has no Java through which its file systems are reached")
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
            # Whatever replaces something is renamed by a call that refuses to: no race can put one release into another.
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
            found = self._status(self._path(path))
            if not path and found is not None:
                # A mount may lie on another kind of file system.
                scheme = str(self._fs.resolvePath(self._path(path)).toUri().getScheme())
                if scheme not in BEHIND:
                    raise _refused(scheme, "it is behind the mount, and does not rename a directory by one act")
        return None if found is None else "directory" if found.isDirectory() else "file"

    def names(self, path: str) -> list[str]:
        with _failures(f"list `{self.address(path)}`"):
            return sorted(str(entry.getPath().getName()) for entry in self._fs.listStatus(self._path(path)))

    def _resolved(self, path: Any) -> str:
        return str(path.getFileSystem(self._conf).resolvePath(path).toUri().normalize().toString()).rstrip("/") + "/"

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
            # It will hold values of the original table.
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
            except Exception:  # noqa: BLE001 - whatever it is, the run itself will tell, or the next sign of life comes through
                continue

    def _time(self, path: str) -> int | None:
        found = self._status(self._path(path))
        return None if found is None else int(found.getModificationTime())

    def go_on(self, work: str) -> None:
        with _failures(f"write to `{self.parent}`"):
            self._touch(f"{work}/{BEGUN}")

    def goes_on(self, work: str) -> bool:
        with _failures(f"look for `{self.address(work)}`"):
            return self._time(f"{work}/{BEGUN}") is not None

    def remove_dead(self, work: str) -> bool:
        with _failures(f"look for `{self.address(work)}`"):
            seen = self._time(f"{work}/{_ALIVE}") or self._time(work)
            if seen is None:
                return True
            if self._now() - seen < DEAD * 1000:
                return False
        self.remove(work)
        return True

    def _now(self) -> int:
        """What the file system's own clock says."""
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
            # A sign of life that is under way would make the directory again.
            beating.join(WAIT)
            self._beat = None
        self.remove(work)
        try:
            return self._status(self._path(work)) is None
        except Exception:  # noqa: BLE001 - whatever it is, nobody knows that it is gone
            return False

    def remove(self, path: str) -> None:
        try:
            self._fs.delete(self._path(path), True)
        except Exception:  # noqa: BLE001 - there is an error to tell already, or nothing to lose
            return

    def rename(self, path: str, to: str) -> None:
        options = getattr(self._jvm.org.apache.hadoop.fs, "Options$Rename")
        with _failures(f"put `{self.address(to)}` in place"):
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
                    raise type(error)(error.message, help=f"the release that was there is `{self.address(aside)}`") from None
            raise
        self.remove(aside)

    def digest(self, path: str) -> tuple[list[str], str]:
        names = [name for name in self.names(path) if name[0] not in "._"]
        with tempfile.TemporaryDirectory(prefix="incrowd-") as private:
            return names, _incrowd.digest_each(self._fetched(path, names, Path(private)))

    def _fetched(self, path: str, names: list[str], private: Path) -> Iterator[Path]:
        """The files, one after the other, on this machine."""
        here = private / "part"
        for name in names:
            with _failures(f"read `{self.address(path)}`"):
                source, own = self._path(f"{path}/{name}"), self._new(here.as_uri())
                self._fs.copyToLocalFile(False, source, own, True)
            yield here
            here.unlink()
