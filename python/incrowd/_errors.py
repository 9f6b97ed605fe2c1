"""What can go wrong, sorted by who must act. No message contains a cell of a table."""

from __future__ import annotations


class Warning(UserWarning):  # noqa: A001
    """Something a person should know about a release."""


class Error(Exception):
    """The base of all errors of incrowd.

    ``help`` says what would work, ``key`` the key of a job it is about (``columns.zip.hierarchy``), ``argument`` the
    argument it came from, ``file`` and ``line`` the place in a job file; each is ``None`` if it is not known.
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
    """A table or a hierarchy is not what it should be."""


class JobError(Error):
    """What was asked for has no meaning."""


class Unsatisfiable(Error):
    """No release of this table can keep the promise."""


class ResourcesError(Error):
    """The machine did not allow it: disk, memory or permission."""


class InternalError(Error):
    """incrowd itself is wrong; nothing was published. Please report it."""


# As people import them, which is how they are shown.
for _kind in (Warning, Error, InputError, JobError, Unsatisfiable, ResourcesError, InternalError):
    _kind.__module__ = "incrowd"
