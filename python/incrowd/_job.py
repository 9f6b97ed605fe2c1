"""Jobs: a job file with additional settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from typing import Any

from . import _calls, _incrowd
from ._answers import Attacks, Comparison, Pages, Record, Verification
from ._errors import JobError
from ._functions import ARGUMENTS, SHARED, JobArguments
from ._progress import Progress
from ._release import Release


def _near(name: str) -> str | None:
    import difflib

    near = difflib.get_close_matches(name, ARGUMENTS, 1)
    return f"did you mean `{near[0]}`?" if near else None


class Job(JobArguments):
    """A job file or an empty job, with additional settings.

    ``job = Job.read("job.toml"); job.k = 25; job.anonymize()``

    Setting a model replaces the model of the same name and keeps the others. ``None`` means the
    value of the file.
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
        """The content of the job file."""
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
        given = ", ".join(
            f"{name}={value!r}" for name, value in self._set.items() if value is not None
        )
        return f"<job {self._file or ''}{' with ' if self._file and given else ''}{given}>"

    def anonymize(self, table: object = None, *, progress: Progress = None) -> Release:
        """Makes and verifies the release. `table` replaces the table of the job."""
        return _calls.anonymize(table, dict(self._set), progress, self._file)

    def _on(self, command: str) -> dict[str, Any]:
        """Returns the settings that apply to another command. Output paths do not."""
        return {name: value for name, value in self._set.items() if name in SHARED[command]}

    def compare(self, table: object = None, *, progress: Progress = None) -> Comparison:
        """Runs the comparison of the job's section `[compare]`."""
        return _calls.compare(table, self._on("compare"), progress, self._file)

    def batches(
        self,
        tables: Iterable[object] | Mapping[str, object],
        *,
        dir: str | PathLike[str] = "releases",  # noqa: A002
        progress: Progress = None,
    ) -> Record:
        """Publishes a sequence of tables, in memory or in files, with this job."""
        return _calls.batches(tables, {**self._on("batches"), "dir": dir}, progress, self._file)

    def verify(
        self, release: object, *, original: object = None, progress: Progress = None
    ) -> Verification:
        """Verifies a published table against the models of the job."""
        return _calls.verify(release, original, self._on("verify"), progress, self._file, True)

    def attack(
        self, release: object, *, original: object = None, progress: Progress = None
    ) -> Attacks:
        """Attacks a release of this job."""
        return _calls.attack(release, original, self._on("attack"), progress, self._file, True)

    def measure(self, original: object, release: object, *, progress: Progress = None) -> Record:
        """Measures the information loss of a release of this job."""
        return _calls.measure(original, release, self._on("measure"), progress, self._file, True)

    def pages(
        self, release: object, *, original: object = None, progress: Progress = None
    ) -> Pages:
        """Makes the reports of a release of this job."""
        return _calls.report(release, original, self._on("report"), progress, self._file, True)
