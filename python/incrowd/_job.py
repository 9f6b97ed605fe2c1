"""Jobs: what a job file says, with what is set on top of it."""

from __future__ import annotations

import json
from os import PathLike, fspath
from typing import Any

from . import _calls, _incrowd
from ._errors import JobError
from ._functions import ARGUMENTS, JobArguments
from ._progress import Progress
from ._results import Comparison, Record, Release


def _near(name: str) -> str | None:
    import difflib

    near = difflib.get_close_matches(name, ARGUMENTS, 1)
    return f"did you mean `{near[0]}`?" if near else None


class Job(JobArguments):
    """What is asked for: a job file, an empty job, or one of those with arguments set on top.

    ``job = Job.read("job.toml"); job.k = 25; job.anonymize()``

    Setting a promise replaces the one of the same name and keeps the others. What is ``None`` is as the file says.
    """

    _file: str | None
    _set: dict[str, Any]

    def __init__(self) -> None:
        object.__setattr__(self, "_file", None)
        object.__setattr__(self, "_set", {})

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Job:
        """Reads a job file. Relative paths in it are relative to the file."""
        _incrowd.read_job(path)
        job = cls()
        object.__setattr__(job, "_file", fspath(path))
        return job

    @property
    def document(self) -> Record:
        """What the job file says."""
        return Record({} if self._file is None else json.loads(_incrowd.read_job(self._file)))

    def __setattr__(self, name: str, value: object) -> None:
        if name not in ARGUMENTS:
            raise JobError(f"a job has no `{name}`", help=_near(name), argument=name)
        self._set[name] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in ARGUMENTS:
            raise AttributeError(f"a job has no `{name}`", name=name, obj=self)
        return self._set.get(name)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._set.items() if value is not None)
        return f"<job {self._file or ''}{' with ' if self._file and given else ''}{given}>"

    def anonymize(self, table: object = None, *, progress: Progress = None) -> Release:
        """Makes and verifies the release, of `table` if it is given in the place of the job's own."""
        return _calls.anonymize(table, dict(self._set), progress, self._file)

    def compare(self, table: object = None, *, progress: Progress = None) -> Comparison:
        """Sweeps what the job's `[compare]` says. Arguments that were set do not count here."""
        return _calls.compare(table, {}, progress, self._file)
