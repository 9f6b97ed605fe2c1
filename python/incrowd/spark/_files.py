"""The file system operations that a release in a directory needs, and their implementation for
local files.

Paths are relative to the parent directory of the release.
"""

from __future__ import annotations

import json
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
#: The file in a claimed directory that marks its run as running.
BEGUN = ".begun"


def stated_digest(manifest: bytes | str) -> str | None:
    """Returns the digest in a manifest; `None` if it is no manifest."""
    try:
        stated = json.loads(manifest)["digest"]
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    return stated if isinstance(stated, str) else None


class Files(Protocol):
    """A file system with atomic renames of directories."""

    @property
    def parent(self) -> str:
        """The parent directory of the release, for messages."""
        ...

    @property
    def name(self) -> str:
        """The name of the release in it; may be empty."""
        ...

    def address(self, path: str) -> str:
        """Returns the address of a path for Spark."""
        ...

    def kind(self, path: str) -> str | None:
        """Returns `directory`, `link` for a link to a directory, `file` for anything else, or
        `None` if the path does not exist."""
        ...

    def names(self, path: str) -> list[str]:
        """Returns the names in a directory."""
        ...

    def holds(self, path: str, files: Sequence[str]) -> bool:
        """Returns whether one of the files that Spark reads is below a path."""
        ...

    def claim(self, prefix: str) -> str:
        """Creates a directory that only its owner can read. It is claimed until this process ends
        or drops it."""
        ...

    def mark_running(self, work: str) -> None:
        """Marks the run of a claimed directory as running: it found no other run."""
        ...

    def is_running(self, work: str) -> bool:
        """Returns whether the run of a claimed directory is marked as running."""
        ...

    def remove_dead(self, work: str) -> bool:
        """Removes a claimed directory unless its run is alive. Returns whether the directory is
        removed."""
        ...

    def drop(self, work: str) -> bool:
        """Removes the directory claimed by this process. Returns whether it is removed."""
        ...

    def remove(self, path: str) -> None:
        """Removes a file or directory."""
        ...

    def rename(self, path: str, to: str) -> None:
        """Renames a directory. The target must not exist."""
        ...

    def read(self, path: str) -> bytes:
        """Reads a file."""
        ...

    def write(self, path: str, data: bytes) -> None:
        """Writes a file."""
        ...

    def put(self, staged: str, work: str) -> None:
        """Publishes a staged directory as the release. An older release is moved to the staged path
        or removed."""
        ...

    def digest(self, path: str) -> tuple[list[str], str]:
        """Returns the names of the files of a table and their digest, as `incrowd verify` computes
        it."""
        ...


def cannot(doing: str, why: str | None) -> ResourcesError:
    """Returns the exception for an error of a file system."""
    return ResourcesError(f"cannot {doing}: {why}", key="output.path")


class _Taken(Exception):  # noqa: N818
    """Another run holds the lock or has removed it."""


def _locked(path: Path) -> int | None:
    """Acquires a lock until this process ends. Returns `None` on systems without locks."""
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
    """Files that both this process and Spark can access."""

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
        here = (
            Path(unquote(address.path)) for address in addresses if address.scheme in ("", "file")
        )
        return any(file.is_relative_to(self.path(path)) for file in here)

    def claim(self, prefix: str) -> str:
        for _ in range(1000):
            work = f"{prefix}{secrets.token_hex(8)}"
            try:
                self.path(work).mkdir(mode=0o700)
                self._lock = _locked(self.path(work) / ".lock")
                return work
            except _Taken:
                # Another run cleaned up before the lock was acquired.
                shutil.rmtree(self.path(work), ignore_errors=True)
            except OSError as error:
                raise cannot(f"write to `{self.parent}`", error.strerror) from None
        raise cannot(f"write to `{self.parent}`", "other runs remove what is written there")

    def mark_running(self, work: str) -> None:
        try:
            (self.path(work) / BEGUN).touch()
        except OSError as error:
            raise cannot(f"write to `{self.parent}`", error.strerror) from None

    def is_running(self, work: str) -> bool:
        return (self.path(work) / BEGUN).exists()

    def remove_dead(self, work: str) -> bool:
        path = self.path(work)
        try:
            lock = _locked(path / ".lock")
        except _Taken:
            return not path.exists()
        if lock is None and (path / ".lock").exists():
            # Without locks it is unknown whether the run is alive.
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
            raise cannot(f"rename to `{self.path(to)}`", "it exists")
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
    """Returns whether a session is a Connect session, which has no local JVM."""
    return not hasattr(spark, "_jsc")
