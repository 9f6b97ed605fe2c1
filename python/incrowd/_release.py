"""Releases: verified, immutable tables with their manifest."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from . import _incrowd
from ._answers import Record, model_row
from ._errors import InputError
from ._shown import bar, box, number, quiet, table, verdict

if TYPE_CHECKING:
    import pandas
    import polars


class Texts:
    """A report as text: ``public`` may be published, ``owner`` is for the data owner only."""

    __slots__ = ("owner", "public")
    public: str
    owner: str

    def __init__(self, public: str, owner: str) -> None:
        object.__setattr__(self, "public", public)
        object.__setattr__(self, "owner", owner)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` cannot be set: the object is immutable")

    def __repr__(self) -> str:
        if not self.owner:
            return self.public
        return f"may be published\n\n{self.public}\nfor the data owner only\n\n{self.owner}"


class ReleasedTable:
    """A table of a release in memory. Every library that reads Arrow streams can read it."""

    __slots__ = ("_at", "_release", "name")
    name: str
    _release: _incrowd.Release
    _at: int

    def __init__(self, release: _incrowd.Release, at: int, name: str) -> None:
        object.__setattr__(self, "_release", release)
        object.__setattr__(self, "_at", at)
        object.__setattr__(self, "name", name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` cannot be set: a release is immutable")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._release.stream(self._at)

    def to_arrow(self) -> Any:
        """The table as a `pyarrow.Table`."""
        pa = _import("pyarrow")
        return pa.table(self)

    def to_polars(self) -> polars.DataFrame:
        """The table as a `polars.DataFrame`."""
        pl = _import("polars")
        return cast("polars.DataFrame", pl.DataFrame(self))

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a `pandas.DataFrame`."""
        pd = _import("pandas")
        if hasattr(pd.DataFrame, "from_arrow"):
            return cast("pandas.DataFrame", pd.DataFrame.from_arrow(self))
        return cast("pandas.DataFrame", _import("pyarrow").table(self).to_pandas())

    def head(self, rows: int = 5) -> tuple[list[str], list[list[str]]]:
        """Returns the column names and the first rows as texts."""
        return self._release.head(self._at, rows)

    def __repr__(self) -> str:
        return f"<a released table: {', '.join(self.head(0)[0])}>"


def _import(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"this needs {name}: pip install {name}", name=name) from error


class Release:
    """A verified, immutable release.

    Every library that reads Arrow streams can read it: ``polars.DataFrame(release)``,
    ``pyarrow.table(release)``, DuckDB.
    """

    __slots__ = ("_manifest", "_release", "_report", "_tables")
    _release: _incrowd.Release
    _manifest: Record
    _report: Texts
    _tables: tuple[ReleasedTable, ...]

    def __init__(self, release: _incrowd.Release) -> None:
        tables = tuple(ReleasedTable(release, i, name) for i, name in enumerate(release.names))
        object.__setattr__(self, "_release", release)
        object.__setattr__(self, "_manifest", Record(json.loads(release.manifest)))
        object.__setattr__(self, "_report", Texts(release.public_text, release.owner_text))
        object.__setattr__(self, "_tables", tables)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` cannot be set: a release is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"`{name}` cannot be deleted: a release is immutable")

    @property
    def manifest(self) -> Record:
        """The manifest, which may be published: models, metrics, digest.
        ``release.manifest.metrics.ncp``"""
        return self._manifest

    @property
    def report(self) -> Texts:
        """The report as text."""
        return self._report

    @property
    def private(self) -> Record:
        """The results for the data owner only."""
        return Record(json.loads(self._release.answer).get("private", {}))

    @property
    def tables(self) -> tuple[ReleasedTable, ...]:
        """The tables of a release in memory; most releases have one."""
        return self._tables

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files of a release in files."""
        return tuple(Path(path) for path in self._release.paths)

    @property
    def metrics(self) -> Record:
        """The information loss: ``release.metrics.ncp``."""
        return cast("Record", self._manifest["metrics"])

    def __len__(self) -> int:
        return int(self._manifest["records"]["published"])

    def _first(self) -> ReleasedTable:
        if self._tables:
            return self._tables[0]
        raise InputError("the release is in files", help="read the files in `release.paths`")

    def _read(self, library: str) -> Any:
        """Reads the first file with a library. Cells of text formats stay strings."""
        path = self.paths[0]
        name = path.name.lower()
        module = _import(library)
        if name.endswith((".parquet", ".pq")):
            return _import(
                "pyarrow.parquet"
            ).read_table(path) if library == "pyarrow" else module.read_parquet(path)
        if name.endswith((".arrow", ".feather", ".ipc")):
            if library == "pyarrow":
                return _import("pyarrow.feather").read_table(path)
            return module.read_ipc(path) if library == "polars" else module.read_feather(path)
        separator = "\t" if ".tsv" in name else ","
        if library == "polars":
            return module.read_csv(path, separator=separator, infer_schema=False)
        if library == "pandas":
            return module.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
        csv = _import("pyarrow.csv")
        names = csv.open_csv(path, parse_options=csv.ParseOptions(delimiter=separator)).schema.names
        types = csv.ConvertOptions(
            column_types=dict.fromkeys(names, module.string()), strings_can_be_null=False
        )
        return csv.read_csv(
            path, parse_options=csv.ParseOptions(delimiter=separator), convert_options=types
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        if self._tables:
            return self._first().__arrow_c_stream__(requested_schema)
        table: Any = self.to_arrow()
        return table.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> Any:
        """The release as a `pyarrow.Table`."""
        return self._first().to_arrow() if self._tables else self._read("pyarrow")

    def to_polars(self) -> polars.DataFrame:
        """The release as a `polars.DataFrame`."""
        return self._first().to_polars() if self._tables else self._read("polars")

    def to_pandas(self) -> pandas.DataFrame:
        """The release as a `pandas.DataFrame`."""
        return self._first().to_pandas() if self._tables else self._read("pandas")

    def __repr__(self) -> str:
        return self._report.public.rstrip("\n")

    def _repr_html_(self) -> str:
        manifest = self._manifest
        parts = [
            f"{verdict(True, 'Verified.', '')} {len(self):,} records in "
            f"{number(manifest['groups'])} groups",
            f" by {html.escape(str(manifest['algorithm']['name']))}",
        ]
        loss = manifest["metrics"].get("ncp")
        if loss is not None:
            parts.append(f", NCP {number(float(loss))}")
        parts.append(
            table(["model", "", "result"], [model_row(model) for model in manifest["models"]])
        )
        for one in self._tables:
            columns, rows = one.head()
            aside = [quiet(one.name)] if len(self._tables) > 1 else []
            parts += [*aside, table(columns, [[html.escape(cell) for cell in row] for row in rows])]
        if not self._tables:
            parts.append("<p>" + html.escape(", ".join(str(path) for path in self.paths)) + "</p>")
        by_column: dict[str, float] = dict(manifest["metrics"].get("ncp_by_column") or {})
        if by_column:
            bars = [[html.escape(name), bar(share)] for name, share in by_column.items()]
            parts += [quiet("loss by column"), table(["column", "NCP"], bars)]
        return box("".join(parts))
