"""Errors of Spark, without texts that could contain a cell."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from .._errors import Error, InputError, ResourcesError


def _condition(error: BaseException) -> str | None:
    """Returns Spark's name for the kind of an error, such as ``TABLE_OR_VIEW_NOT_FOUND``."""
    for method in ("getCondition", "getErrorClass"):
        ask = getattr(error, method, None)
        if ask is not None:
            try:
                name = ask()
            except Exception:  # noqa: BLE001 - then there is no name
                continue
            if isinstance(name, str) and name:
                return name
    return None


def _converted(error: BaseException, doing: str) -> Error:
    name = _condition(error)
    kind = type(error).__name__
    names = f"{kind}, {name}" if name else kind
    made: Error
    if kind in ("AnalysisException", "ParseException") or isinstance(
        error, (TypeError, ValueError)
    ):
        made = InputError(
            f"Spark refused {doing} ({names})",
            help="the attribute `spark_error` is the error of Spark"
        )
    else:
        made = ResourcesError(
            f"Spark failed {doing} ({names})",
            help="nothing was published; the attribute `spark_error` is the error of Spark, which "
                 "may contain values of the table",
        )
    setattr(made, "spark_error", error)  # noqa: B010
    return made


#: The last error of Spark, which becomes an attribute of the raised exception.
_last: list[BaseException] = []


@contextmanager
def spark_errors(doing: str) -> Generator[None, None, None]:
    """Converts exceptions of Spark into errors of incrowd that contain no value of the table."""
    try:
        yield
    except Error:
        raise
    # Exceptions of Spark have many classes, in several packages.
    except Exception as error:  # noqa: BLE001
        _last[:] = [error]
        raise _converted(error, doing) from None


@contextmanager
def with_spark_error() -> Generator[None, None, None]:
    """Adds the error of Spark to an error of the compiled module."""
    _last.clear()
    try:
        yield
    except Error as error:
        if _last:
            setattr(error, "spark_error", _last[0])  # noqa: B010
        raise
    finally:
        _last.clear()
