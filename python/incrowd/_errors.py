"""Exceptions, sorted by who must act. No message contains a cell of a table."""

from __future__ import annotations


class Warning(UserWarning):  # noqa: A001
    """A warning about a release."""


class Error(Exception):
    """The base of all errors of incrowd.

    ``help`` is a help text, ``key`` the job key (``columns.zip.hierarchy``), ``argument`` the
    argument, ``file`` and ``line`` the place in a job file. Each is ``None`` if it is not known.
    """

    message: str
    help: str | None
    key: str | None
    argument: str | None
    file: str | None
    line: int | None

    def __init__(
        self,
        message: str,
        *,
        help: str | None = None,  # noqa: A002
        key: str | None = None,
        argument: str | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.key = key
        self.argument = argument
        self.file = file
        self.line = line

    def __str__(self) -> str:
        text = self.message
        if self.file is not None:
            text += f"\n  in: {self.file}:{self.line}"
        if self.help is not None:
            text += f"\n  help: {self.help}"
        return text


class InputError(Error):
    """A table or a hierarchy is invalid."""


class JobError(Error):
    """The arguments or the job file are invalid."""


class Unsatisfiable(Error):
    """No release of this table satisfies the privacy models."""


class ResourcesError(Error):
    """Disk space, memory or a permission is missing."""


class InternalError(Error):
    """A bug in incrowd; nothing was published. Please report it."""


# The public module name is shown in tracebacks.
for _kind in (Warning, Error, InputError, JobError, Unsatisfiable, ResourcesError, InternalError):
    _kind.__module__ = "incrowd"
