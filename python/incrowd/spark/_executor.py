"""Planning of parts of a table on executors, which must have the package incrowd.

Each executor gets one message: the arguments of the job and the columns of the table with their
dictionaries. Answers are bytes, because the columns of a plan are not known in advance.
"""

from __future__ import annotations

import itertools
import json
import os
import pickle
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from .. import _incrowd
from .._errors import Error, InputError, InternalError, JobError, ResourcesError, Unsatisfiable
from ._arrow import module

#: The schema of answers.
SCHEMA = "part int, what string, at int, data binary"
#: The errors in answers, by name.
_KINDS = {
    kind.__name__: kind
    for kind in (InputError, InternalError, JobError, ResourcesError, Unsatisfiable)
}
#: The largest number of bytes in one row of an answer.
_CHUNK = 8 << 20


def _bytes(stream: object) -> bytes:
    """Serializes a table."""
    pa = module("pyarrow")
    table = pa.table(stream)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def table_of(data: bytes) -> Any:
    """Deserializes a table."""
    return module("pyarrow").ipc.open_stream(data).read_all()


def message(
    schema: object, arguments: dict[str, Any], job: str | None,
    columns: Sequence[tuple[str, object]], marker: str | None
) -> bytes:
    """Returns the message for executors."""
    known: dict[str, Any] = {
        "version": _incrowd.__version__,
        "directory": os.getcwd(),
        "schema": _bytes(schema),
        "arguments": arguments,
        "job": job,
        "columns": [(name, _bytes(stream)) for name, stream in columns],
        "marker": marker,
    }
    return zlib.compress(pickle.dumps(known))


def plan(sent: bytes, batches: Iterator[Any]) -> Iterator[Any]:
    """Plans the parts of a partition, whose rows are sorted by part."""
    known: dict[str, Any] = {}
    for part, rows in _parts(batches):
        if not known:
            # The message comes from the driver of this run, so unpickling it is safe.
            known = pickle.loads(zlib.decompress(sent))  # noqa: S301
        yield from _answers(part, _planned(known, rows))


def _parts(batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    """Yields the rows of each part."""
    pa = module("pyarrow")
    now: int | None = None
    own: list[Any] = []
    for batch in batches:
        table = pa.Table.from_batches([batch])
        numbers, at = table.column("part").to_pylist(), 0
        rows = table.drop_columns(["part"]) if hasattr(
            table, "drop_columns"
        ) else table.drop(["part"])
        for number, run in itertools.groupby(numbers):
            length = sum(1 for _ in run)
            if number != now and own and now is not None:
                yield now, pa.concat_tables(own)
                own = []
            now = number
            own.append(rows.slice(at, length))
            at += length
    if own and now is not None:
        yield now, pa.concat_tables(own)


def _planned(known: dict[str, Any], rows: Any) -> dict[str, bytes]:
    """Returns the plan of a part, or an error."""
    if known["version"] != _incrowd.__version__:
        mismatch = {
            "kind": "ResourcesError",
            "message": f"the driver has incrowd {known['version']}, an executor "
                       f"{_incrowd.__version__}",
            "help": "install the same version everywhere, or plan on the driver",
        }
        return {"error": json.dumps(mismatch).encode()}
    before = os.getcwd()
    try:
        # Relative paths of the job refer to the working directory of the driver.
        if os.path.isdir(known["directory"]):
            os.chdir(known["directory"])
        columns = [(name, table_of(data)) for name, data in known["columns"]]
        own, suppressed, what = _incrowd.spark_plan_part(
            table_of(known["schema"]), known["arguments"], known["job"], columns, known["marker"],
            rows
        )
    except Error as error:
        why: dict[str, str | None] = {
            "kind": type(error).__name__, "message": error.message, "help": error.help,
            "key": error.key
        }
        return {"error": json.dumps(why).encode()}
    finally:
        os.chdir(before)
    published, outputs, slots, is_sorted, records = own
    about = {
        "columns": published, "sorted": is_sorted, "records": records, "suppressed": suppressed,
        "known": what
    }
    answer = {"plan": json.dumps(about).encode(), "outputs": _bytes(outputs)}
    return answer if slots is None else {**answer, "slots": _bytes(slots)}


def _answers(part: int, answer: dict[str, bytes]) -> Iterator[Any]:
    pa = module("pyarrow")
    for what, data in answer.items():
        for at in range(0, len(data), _CHUNK):
            row = [[part], [what], [at // _CHUNK], [data[at : at + _CHUNK]]]
            kinds = (pa.int32(), pa.string(), pa.int32(), pa.binary())
            arrays = [pa.array(cells, kind) for cells, kind in zip(row, kinds)]
            yield pa.RecordBatch.from_arrays(arrays, ["part", "what", "at", "data"])


def answered(rows: Any) -> tuple[Any, int, str]:
    """Returns the plan in an answer, or raises the error in it."""
    pieces: dict[str, dict[int, bytes]] = {}
    for row in rows.to_pylist():
        pieces.setdefault(row["what"], {})[row["at"]] = row["data"]
    whole = {
        what: b"".join(data for _, data in sorted(parts.items())) for what, parts in pieces.items()
    }
    if "error" in whole:
        error: dict[str, Any] = json.loads(whole["error"])
        kind = _KINDS.get(error.pop("kind"), ResourcesError)
        raise kind(error.pop("message"), **error)
    if "plan" not in whole:
        raise ResourcesError("an executor did not answer with a plan", help="plan on the driver")
    about: dict[str, Any] = json.loads(whole["plan"])
    columns = [(str(name), bool(is_carried)) for name, is_carried in about["columns"]]
    slots = table_of(whole["slots"]) if "slots" in whole else None
    own = (columns, table_of(whole["outputs"]), slots, bool(about["sorted"]), int(about["records"]))
    return own, int(about["suppressed"]), str(about["known"])
