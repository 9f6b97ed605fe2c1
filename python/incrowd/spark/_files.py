"""What a release that is a directory asks of the file system it lies on, and the file system of this machine.

Paths are relative to the directory in which the release lies.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlparse

from .. import _incrowd
from .._errors import ResourcesError

#: The manifest within a release.
MANIFEST = "_incrowd.release.json"
#: What a claimed directory has once its run goes on.
BEGUN = ".begun"


class Files(Protocol):
    """A file system on which a directory is renamed by one act."""

    @property
    def parent(self) -> str:
        """What messages call the directory in which the release lies."""
        ...

    @property
    def name(self) -> str:
        """The name of the release there; empty if there is none."""
        ...

    def address(self, path: str) -> str:
        """What Spark calls a path."""
        ...

    def kind(self, path: str) -> str | None:
        """`directory`, `link` if it is one to a directory, `file` for whatever else is there; `None` if nothing is."""
        ...

    def names(self, path: str) -> list[str]:
        """What is in a directory."""
        ...

    def holds(self, path: str, files: Sequence[str]) -> bool:
        """Whether one of some files that Spark reads lies below a path."""
        ...

    def claim(self, prefix: str) -> str:
        """Makes a directory that is open to its owner alone; it is alive until this process ends, or drops it."""
        ...

    def go_on(self, work: str) -> None:
        """Says of a claimed directory that its run found no other and goes on."""
        ...

    def goes_on(self, work: str) -> bool:
        """Whether that was said."""
        ...

    def remove_dead(self, work: str) -> bool:
        """Removes a claimed directory unless whoever claimed it lives; says whether it is gone."""
        ...

    def drop(self, work: str) -> bool:
        """Removes the directory that was claimed; says whether it is gone."""
        ...

    def remove(self, path: str) -> None:
        """Removes whatever is there."""
        ...

    def rename(self, path: str, to: str) -> None:
        """Renames a directory; an error if something is there already."""
        ...

    def read(self, path: str) -> bytes:
        """The bytes of a file."""
        ...

    def write(self, path: str, data: bytes) -> None:
        """Writes a file."""
        ...

    def put(self, staged: str, work: str) -> None:
        """Puts a directory in the place of the release. An older release is then in its place, or gone."""
        ...

    def digest(self, path: str) -> tuple[list[str], str]:
        """The names of the files of a table, and the digest of their bytes, as `incrowd verify` computes it."""
        ...


def cannot(doing: str, why: str | None) -> ResourcesError:
    """What is said of an error of a file system."""
    return ResourcesError(f"cannot {doing}: {why}", key="output.path")


class _Taken(Exception):  # noqa: N818
    """Another run has the lock, or has removed it."""


def _locked(path: Path) -> int | None:
    """A lock that lives as long as this process; `None` where there are no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        raise _Taken from None
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(file).st_ino != os.stat(path).st_ino:
            raise _Taken
    except (BlockingIOError, FileNotFoundError, _Taken):
        os.close(file)
        raise _Taken from None
    except OSError:
        os.close(file)
        return None
    return file


class LocalFiles:
    """Files that this process sees as Spark does."""

    def __init__(self, target: Path) -> None:
        self._parent = target.parent
        self._name = target.name
        self._lock: int | None = None

    @property
    def parent(self) -> str:
        return str(self._parent)

    @property
    def name(self) -> str:
        return self._name

    def path(self, path: str) -> Path:
        """A path of the operating system."""
        return self._parent / path

    def address(self, path: str) -> str:
        return self.path(path).as_uri()

    def kind(self, path: str) -> str | None:
        found = self.path(path)
        if found.is_dir():
            return "link" if found.is_symlink() else "directory"
        return "file" if found.exists() or found.is_symlink() else None

    def names(self, path: str) -> list[str]:
        return sorted(entry.name for entry in self.path(path).iterdir())

    def holds(self, path: str, files: Sequence[str]) -> bool:
        addresses = (urlparse(file) for file in files)
        here = (Path(unquote(address.path)) for address in addresses if address.scheme in ("", "file"))
        return any(file.is_relative_to(self.path(path)) for file in here)

    def claim(self, prefix: str) -> str:
        for _ in range(1000):
            work = f"{prefix}{secrets.token_hex(8)}"
            try:
                self.path(work).mkdir(mode=0o700)
                self._lock = _locked(self.path(work) / ".lock")
                return work
            except _Taken:
                # Another run looked for leftovers before there was a lock.
                shutil.rmtree(self.path(work), ignore_errors=True)
            except OSError as error:
                raise cannot(f"write to `{self.parent}`", error.strerror) from None
        raise cannot(f"write to `{self.parent}`", "other runs remove what is written there")

    def go_on(self, work: str) -> None:
        try:
            (self.path(work) / BEGUN).touch()
        except OSError as error:
            raise cannot(f"write to `{self.parent}`", error.strerror) from None

    def goes_on(self, work: str) -> bool:
        return (self.path(work) / BEGUN).exists()

    def remove_dead(self, work: str) -> bool:
        path = self.path(work)
        try:
            lock = _locked(path / ".lock")
        except _Taken:
            return not path.exists()
        if lock is None and (path / ".lock").exists():
            # There are no locks here, and nobody can tell.
            return False
        shutil.rmtree(path, ignore_errors=True)
        if lock is not None:
            os.close(lock)
        return True

    def drop(self, work: str) -> bool:
        shutil.rmtree(self.path(work), ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        return not os.path.lexists(self.path(work))

    def remove(self, path: str) -> None:
        found = self.path(path)
        if found.is_dir():
            shutil.rmtree(found, ignore_errors=True)
        else:
            found.unlink(missing_ok=True)

    def rename(self, path: str, to: str) -> None:
        if self.kind(to) is not None:
            raise cannot(f"put `{self.path(to)}` in place", "something is there")
        self.path(path).rename(self.path(to))

    def read(self, path: str) -> bytes:
        return self.path(path).read_bytes()

    def write(self, path: str, data: bytes) -> None:
        self.path(path).write_bytes(data)

    def put(self, staged: str, work: str) -> None:
        _incrowd.put_directory(self.path(staged), self.path(self.name))

    def digest(self, path: str) -> tuple[list[str], str]:
        files, digest = _incrowd.digest(self.path(path))
        return [Path(file).name for file in files], digest


def is_connect(spark: Any) -> bool:
    """Whether a session has no Java of its own."""
    return not hasattr(spark, "_jsc")
