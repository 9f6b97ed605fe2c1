"""Calls of the compiled module."""

from __future__ import annotations

import atexit
import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar, Union

from . import _incrowd
from ._answers import Attacks, Comparison, Pages, Profile, Record, Verification
from ._errors import Warning
from ._progress import Progress, listener
from ._release import Release

T = TypeVar("T")
_Job = Union[str, "PathLike[str]", None]

# Removes the staged files of interrupted runs.
atexit.register(_incrowd.abandon_all)

# The number of stack frames between the caller and `_warn`.
_STACK = 4


def _with_progress(call: Callable[[Any], T], progress: Progress) -> T:
    report, close = listener(progress)
    try:
        return call(report)
    finally:
        close()


def _warn(texts: Iterable[str]) -> None:
    for text in texts:
        warnings.warn(text, Warning, stacklevel=_STACK)


def _inner(release: object) -> object:
    if isinstance(release, Release):
        return release._release  # pyright: ignore[reportPrivateUsage]
    return release


def anonymize(
    table: object, arguments: dict[str, Any], progress: Progress, job: _Job = None
) -> Release:
    release, notes = _with_progress(
        lambda p: _incrowd.anonymize(table, arguments, job, p), progress
    )
    _warn(notes)
    return Release(release)


def verify(
    release: object, original: object, arguments: dict[str, Any], progress: Progress,
    job: _Job = None, of_job: bool = False
) -> Verification:
    answer, notes = _with_progress(
        lambda p: _incrowd.verify(_inner(release), original, arguments, job, of_job, p), progress
    )
    _warn(notes)
    return Verification(json.loads(answer))


def measure(
    original: object, release: object, arguments: dict[str, Any], progress: Progress,
    job: _Job = None, of_job: bool = False
) -> Record:
    answer, notes = _with_progress(
        lambda p: _incrowd.measure(original, _inner(release), arguments, job, of_job, p), progress
    )
    _warn(notes)
    return Record(json.loads(answer))


def attack(
    release: object, original: object, arguments: dict[str, Any], progress: Progress,
    job: _Job = None, of_job: bool = False
) -> Attacks:
    if "second" in arguments:
        arguments = {**arguments, "second": _inner(arguments["second"])}
    answer, notes = _with_progress(
        lambda p: _incrowd.attack(_inner(release), original, arguments, job, of_job, p), progress
    )
    _warn(notes)
    return Attacks(json.loads(answer))


def report(
    release: object, original: object, arguments: dict[str, Any], progress: Progress,
    job: _Job = None, of_job: bool = False
) -> Pages:
    answer, notes = _with_progress(
        lambda p: _incrowd.report(_inner(release), original, arguments, job, of_job, p), progress
    )
    _warn(notes)
    return Pages(json.loads(answer))


def profile(table: object, arguments: dict[str, Any], progress: Progress) -> Profile:
    answer, notes = _with_progress(lambda p: _incrowd.profile(table, arguments, p), progress)
    _warn(notes)
    return Profile(json.loads(answer))


def compare(
    table: object, arguments: dict[str, Any], progress: Progress, job: _Job = None
) -> Comparison:
    answer, page, notes = _with_progress(
        lambda p: _incrowd.compare(table, arguments, job, p), progress
    )
    _warn(notes)
    return Comparison(json.loads(answer), page)


def batches(
    tables: Iterable[object] | Mapping[str, object],
    arguments: dict[str, Any],
    progress: Progress,
    job: _Job = None,
) -> Record:
    answer, notes = _with_progress(lambda p: _incrowd.batches(tables, arguments, job, p), progress)
    _warn(notes)
    return Record(json.loads(answer))


def init(
    table: str | PathLike[str] | Sequence[str | PathLike[str]], arguments: dict[str, Any],
    progress: Progress
) -> Record:
    tables = [table] if isinstance(table, (str, PathLike)) else list(table)
    answer, notes = _with_progress(lambda p: _incrowd.init(tables, arguments, p), progress)
    _warn(notes)
    return Record(json.loads(answer))
