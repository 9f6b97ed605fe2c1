"""What Spark says, without what could be a cell."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from .._errors import Error, InputError, ResourcesError


def _condition(error: BaseException) -> str | None:
    """The name that Spark has for the kind of an error, such as ``TABLE_OR_VIEW_NOT_FOUND``."""
    for method in ("getCondition", "getErrorClass"):
        ask = getattr(error, method, None)
        if ask is not None:
            try:
                name = ask()
            except Exception:  # noqa: BLE001 - whatever it is, it is not a name
                continue
            if isinstance(name, str) and name:
                return name
    return None


def _told(error: BaseException, doing: str) -> Error:
    name = _condition(error)
    kind = type(error).__name__
    said = f"{kind}, {name}" if name else kind
    made: Error
    if kind in ("AnalysisException", "ParseException") or isinstance(error, (TypeError, ValueError)):
        made = InputError(f"Spark refused {doing} ({said})", help="the attribute `spark_error` has what Spark says")
    else:
        made = ResourcesError(
            f"Spark failed {doing} ({said})",
            help="nothing was published; the attribute `spark_error` has what Spark says, which may show values of the table",
        )
    setattr(made, "spark_error", error)  # noqa: B010
    return made


#: The last error of Spark, for whoever wants to see all of it. Set on the exception that is raised.
_last: list[BaseException] = []


@contextmanager
def spark_errors(doing: str) -> Generator[None, None, None]:
    """Turns whatever Spark raises into an error of incrowd that shows no value of the table."""
    try:
        yield
    except Error:
        raise
    except Exception as error:  # noqa: BLE001 - exceptions of Spark have many classes, in several packages
        _last[:] = [error]
        raise _told(error, doing) from None


@contextmanager
def with_spark_error() -> Generator[None, None, None]:
    """Puts what Spark said on the error that comes out of the compiled half."""
    _last.clear()
    try:
        yield
    except Error as error:
        if _last:
            setattr(error, "spark_error", _last[0])  # noqa: B010
        raise
    finally:
        _last.clear()
