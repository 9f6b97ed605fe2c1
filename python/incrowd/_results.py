"""What functions return: releases and answers. Nobody can change them."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from . import _incrowd
from ._errors import InputError

if TYPE_CHECKING:
    import pandas
    import polars

_STYLE = """<style>
.incrowd{font-family:system-ui,sans-serif;font-size:13px;line-height:1.5;color:var(--jp-ui-font-color1,#1b1f24);
--line:var(--jp-border-color2,#d0d7de);--bar:#2f6fb3;--good:#1a7f37;--bad:#b42318;max-width:60em}
@media (prefers-color-scheme:dark){.incrowd{color:var(--jp-ui-font-color1,#e6edf3);
--line:var(--jp-border-color2,#444c56);--bar:#6cb0f5;--good:#57c271;--bad:#ff8a80}}
.incrowd table{border-collapse:collapse;margin:.6em 0}
.incrowd th,.incrowd td{border-bottom:1px solid var(--line);padding:.15em .8em .15em 0;text-align:left}
.incrowd .bar{display:inline-block;height:.7em;background:var(--bar)}
.incrowd .good{color:var(--good);font-weight:600}.incrowd .bad{color:var(--bad);font-weight:600}
.incrowd .quiet{opacity:.75}
</style>"""


def _shown(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, float):
        return f"{value:,.4f}".rstrip("0").rstrip(".") if value % 1 else f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def _table(head: list[str], rows: list[list[str]]) -> str:
    cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{cells}</tr>{body}</table>"


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(cast("dict[str, Any]", value))
    if isinstance(value, list):
        return tuple(_frozen(item) for item in cast("list[Any]", value))
    return value


def _thawed(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_thawed(item) for item in cast("tuple[Any, ...]", value)]
    return value


class Record(Mapping[str, Any]):
    """Named values: ``record.name`` and ``record["name"]`` are the same. It cannot be changed."""

    __slots__ = ("_fields",)
    _fields: dict[str, Any]

    def __init__(self, fields: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_fields", {name: _frozen(value) for name, value in fields.items()})

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"there is no `{name}`; known are: {', '.join(self._fields)}", name=name, obj=None) from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` cannot be set: this does not change")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"`{name}` cannot be deleted: this does not change")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.to_dict(),)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries and lists."""
        return {name: _thawed(value) for name, value in self._fields.items()}

    def __repr__(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def _repr_html_(self) -> str:
        rows = [[html.escape(name), html.escape(_text(value))] for name, value in self._fields.items()]
        return f'{_STYLE}<div class="incrowd">{_table(["", ""], rows)}</div>'


def _text(value: Any) -> str:
    if isinstance(value, Record):
        return ", ".join(f"{name} {_text(below)}" for name, below in value.items())
    if isinstance(value, tuple):
        return "; ".join(_text(item) for item in cast("tuple[Any, ...]", value))
    return _shown(value)


def _verdict(holds: bool, yes: str, no: str) -> str:
    return f'<span class="good">{yes}</span>' if holds else f'<span class="bad">{no}</span>'


def _promise(model: Record) -> list[str]:
    """A line about a promise of a manifest or an answer."""
    named = {"name", "holds", "margin", "measured"}
    given = ", ".join(f"{key} = {_text(value)}" for key, value in model.items() if key not in named)
    margin = model.get("margin")
    measured = model.get("measured")
    if isinstance(measured, Record):
        said = f"{measured['what']} {_shown(measured['have'])}"
    else:
        said = _text(margin) if margin is not None else ""
    name = html.escape(f"{model['name']}({given})" if given else str(model["name"]))
    verdict = "unknown" if model["holds"] is None else _verdict(bool(model["holds"]), "holds", "FAILS")
    return [name, verdict, html.escape(said)]


class Verification(Record):
    """What was found out about a published table. ``holds`` says whether it keeps every promise."""

    __slots__ = ()

    @property
    def holds(self) -> bool:
        """Whether every promise holds, no identifier is published and the table is the one its manifest describes."""
        return bool(self["holds"])

    def _repr_html_(self) -> str:
        rows = [_promise(model) for model in self["models"]]
        head = _verdict(self.holds, "The promises hold.", "The promises do not hold.")
        about = f"{_shown(self['records'])} records in {_shown(self['groups'])} groups"
        return f'{_STYLE}<div class="incrowd">{head} {about}{_table(["promise", "", "found"], rows)}</div>'


class Attacks(Record):
    """What an adversary would learn. ``holds`` says whether no stated limit is exceeded."""

    __slots__ = ()

    @property
    def holds(self) -> bool:
        """Whether no stated limit is exceeded."""
        return bool(self["holds"])


class Page:
    """A page that a notebook shows and a browser opens."""

    __slots__ = ("html",)
    html: str

    def __init__(self, text: str) -> None:
        object.__setattr__(self, "html", text)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` cannot be set: this does not change")

    def save(self, path: str | Path) -> None:
        """Writes the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<a page of {len(self.html):,} characters; .save(path) writes it>"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width:100%;height:48em;border:0"></iframe>'


class Comparison(Record):
    """What came of a sweep. All of it is for the data owner."""

    __slots__ = ("_page",)
    _page: str

    def __init__(self, fields: Mapping[str, Any], page: str = "") -> None:
        super().__init__(fields)
        object.__setattr__(self, "_page", page)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.to_dict(), self._page)

    @property
    def results(self) -> tuple[Record, ...]:
        """Every configuration that was tried."""
        return cast("tuple[Record, ...]", self["private"]["results"])

    @property
    def choice(self) -> Record | None:
        """The configuration to choose, with the reasons; ``None`` if no promise can be kept."""
        return cast("Record | None", self["private"]["choice"])

    def plot(self) -> Page:
        """The charts: loss against risk."""
        return Page(self._page)

    def _repr_html_(self) -> str:
        loss = str(self["private"]["loss"])
        rows: list[list[str]] = []
        for result in self.results:
            metrics = result.get("metrics")
            found = (
                [str(result["failed"]), "", "", ""]
                if metrics is None
                else [_shown(metrics[loss]), _shown(result["identity_risk"]), _shown(result["groups"]), ""]
            )
            rows.append([html.escape(cell) for cell in [result["algorithm"], result["models"], *found[:3]]])
        return f'{_STYLE}<div class="incrowd">{_table(["algorithm", "promises", loss, "worst risk", "groups"], rows)}</div>'


class Pages(Record):
    """The pages about a release: ``public`` may be published, ``owner`` may not and needs the original."""

    __slots__ = ()

    @property
    def public(self) -> Page:
        """The page that may be published."""
        return Page(str(self["public"]))

    @property
    def owner(self) -> Page | None:
        """The page for the data owner, if the original was given."""
        return None if self["owner"] is None else Page(str(self["owner"]))

    @property
    def holds(self) -> bool:
        """Whether the release keeps what it promises."""
        return bool(self["holds"])

    def __repr__(self) -> str:
        return f"<pages: public{', owner' if self['owner'] else ''}; .public.save(path) writes one>"

    def _repr_html_(self) -> str:
        return self.public._repr_html_()  # pyright: ignore[reportPrivateUsage]


class Explanation(Record):
    """What something with a name means, its paper and its limits."""

    __slots__ = ()

    def __str__(self) -> str:
        parts = [f"{self['name']} ({self['kind']})", str(self["about"])]
        if self["limits"]:
            parts.append(f"Limits. {self['limits']}")
        if self["needs"]:
            parts.append(f"Needs. {self['needs']}")
        if self["better"]:
            parts.append(f"Better: {self['better']}")
        for param in self["parameters"]:
            default = "required" if param["default"] is None else f"default: {param['default'] or 'none'}"
            parts.append(f"{param['name']} = {param['takes']} ({default}): {param['about']}")
        parts.append(f"Paper: {self['paper']}")
        return "\n\n".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f'{_STYLE}<div class="incrowd">{"".join(f"<p>{html.escape(p)}</p>" for p in str(self).split(chr(10) * 2))}</div>'


class Texts:
    """A report in words: ``public`` may be told to everybody, ``owner`` is for the owner of the data."""

    __slots__ = ("owner", "public")
    public: str
    owner: str

    def __init__(self, public: str, owner: str) -> None:
        object.__setattr__(self, "public", public)
        object.__setattr__(self, "owner", owner)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` cannot be set: this does not change")

    def __repr__(self) -> str:
        if not self.owner:
            return self.public
        return f"may be published\n\n{self.public}\nfor the data owner only\n\n{self.owner}"


class ReleasedTable:
    """A table of a release in memory. Everything that reads Arrow streams reads it."""

    __slots__ = ("_at", "_release", "name")
    name: str
    _release: _incrowd.Release
    _at: int

    def __init__(self, release: _incrowd.Release, at: int, name: str) -> None:
        object.__setattr__(self, "_release", release)
        object.__setattr__(self, "_at", at)
        object.__setattr__(self, "name", name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` cannot be set: a release does not change")

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
        """The names of the columns and the first rows as texts."""
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
    """A release that was verified on its bytes. It cannot be changed.

    Everything that reads Arrow streams reads it: ``polars.DataFrame(release)``, ``pyarrow.table(release)``, DuckDB.
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
        raise AttributeError(f"`{name}` cannot be set: a release does not change")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"`{name}` cannot be deleted: a release does not change")

    @property
    def manifest(self) -> Record:
        """What everybody may know: promises, metrics, digest. ``release.manifest.metrics.ncp``"""
        return self._manifest

    @property
    def report(self) -> Texts:
        """What happened, in words."""
        return self._report

    @property
    def private(self) -> Record:
        """What else is known, and not meant for the public."""
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
        """What the release cost: ``release.metrics.ncp``."""
        return cast("Record", self._manifest["metrics"])

    def __len__(self) -> int:
        return int(self._manifest["records"]["published"])

    def _first(self) -> ReleasedTable:
        if self._tables:
            return self._tables[0]
        raise InputError("the release is in files", help="read the files that `release.paths` names")

    def _read(self, library: str) -> Any:
        """The first file as a table of a library, every cell of a text as it is written."""
        path = self.paths[0]
        name = path.name.lower()
        module = _import(library)
        if name.endswith((".parquet", ".pq")):
            return _import("pyarrow.parquet").read_table(path) if library == "pyarrow" else module.read_parquet(path)
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
        types = csv.ConvertOptions(column_types=dict.fromkeys(names, module.string()), strings_can_be_null=False)
        return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=separator), convert_options=types)

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
        promises = _table(["promise", "", "found"], [_promise(model) for model in manifest["models"]])
        about = f"{len(self):,} records in {_shown(manifest['groups'])} groups"
        loss: dict[str, float] = dict(manifest["metrics"].get("ncp_by_column") or {})
        bars = [
            [html.escape(name), f'<span class="bar" style="width:{160 * value:.0f}px"></span> {value:.3f}']
            for name, value in loss.items()
        ]
        head = ""
        if self._tables:
            columns, rows = self._first().head()
            head = _table(columns, [[html.escape(cell) for cell in row] for row in rows])
        else:
            head = "<p>" + html.escape(", ".join(str(path) for path in self.paths)) + "</p>"
        return (
            f'{_STYLE}<div class="incrowd">{_verdict(True, "Verified.", "")} {about}'
            f" by {html.escape(str(manifest['algorithm']['name']))},"
            f" NCP {_shown(float(manifest['metrics']['ncp']))}{promises}{head}"
            f'<span class="quiet">loss by column</span>{_table(["column", "NCP"], bars)}</div>'
        )
