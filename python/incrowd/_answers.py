"""The immutable results of functions, except releases."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, cast

from . import _incrowd
from ._shown import bar, box, number, quiet, table, texts, verdict

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


class Record(dict[str, Any]):
    """An immutable dictionary with attribute access: ``record.name`` equals ``record["name"]``.

    ``json.dumps(record)`` and ``dict(record)`` work. Lists are tuples.
    """

    __slots__ = ()

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__({name: _frozen(value) for name, value in fields.items()})

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"there is no `{name}`; known are: {', '.join(self)}", name=name, obj=None
            ) from None

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"`{name}` cannot be set: the object is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"`{name}` cannot be deleted: the object is immutable")

    def __setitem__(self, name: str, value: object) -> NoReturn:
        self._refuse()

    def __delitem__(self, name: str) -> NoReturn:
        self._refuse()

    def __ior__(self, other: Any) -> NoReturn:  # type: ignore[misc]
        self._refuse()

    def clear(self) -> NoReturn:
        """Raises `TypeError`: the object is immutable."""
        self._refuse()

    def pop(self, *_: Any, **__: Any) -> NoReturn:
        """Raises `TypeError`: the object is immutable."""
        self._refuse()

    def popitem(self) -> NoReturn:
        """Raises `TypeError`: the object is immutable."""
        self._refuse()

    def setdefault(self, *_: Any, **__: Any) -> NoReturn:
        """Raises `TypeError`: the object is immutable."""
        self._refuse()

    def update(self, *_: Any, **__: Any) -> NoReturn:
        """Raises `TypeError`: the object is immutable."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise TypeError(
            "the object is immutable; `.to_dict()` returns dictionaries and lists that can be "
            "changed"
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.to_dict(),)

    def to_dict(self) -> dict[str, Any]:
        """Converts to plain dictionaries and lists."""
        return {name: _thawed(value) for name, value in self.items()}

    def __repr__(self) -> str:
        return json.dumps(self, indent=2, ensure_ascii=False)

    def _repr_html_(self) -> str:
        rows = [[html.escape(name), html.escape(_text(value))] for name, value in self.items()]
        return box(table(["", ""], rows))


def _text(value: Any) -> str:
    if isinstance(value, Record):
        return ", ".join(f"{name} {_text(below)}" for name, below in value.items())
    if isinstance(value, tuple):
        return "; ".join(_text(item) for item in cast("tuple[Any, ...]", value))
    return number(value)


def model_row(model: Record) -> list[str]:
    """Returns a table row about a model of a manifest or an answer."""
    named = {"name", "holds", "margin", "measured"}
    given = ", ".join(f"{key} = {_text(value)}" for key, value in model.items() if key not in named)
    margin = model.get("margin")
    measured = model.get("measured")
    if isinstance(measured, Record):
        result = f"{measured['what']} {number(measured['have'])}"
    else:
        result = _text(margin) if margin is not None else ""
    name = html.escape(f"{model['name']}({given})" if given else str(model["name"]))
    holds = "unknown" if model["holds"] is None else verdict(bool(model["holds"]), "holds", "FAILS")
    return [name, holds, html.escape(result)]


class Decided(Record):
    """An answer with a verdict: ``holds`` is true, false, or ``None`` if it cannot be decided.

    The answer is true only if ``holds`` is true, so ``assert answer`` and ``if answer`` are safe.
    """

    __slots__ = ()

    @property
    def holds(self) -> bool | None:
        """The verdict; ``None`` if it cannot be decided."""
        return cast("bool | None", self["holds"])

    def __bool__(self) -> bool:
        return self["holds"] is True


def _headline(holds: bool | None, yes: str, no: str, undecided: str) -> str:
    """Renders a verdict. Undecided is shown like a failure."""
    return verdict(holds is True, yes, undecided if holds is None else no)


class Verification(Decided):
    """The result of verifying a published table. It is true only if ``holds`` is true."""

    __slots__ = ()

    @property
    def holds(self) -> bool | None:
        """Whether every model holds, no identifier is published and the table matches its manifest.

        ``None`` if a model cannot be checked on the table and nothing else fails.
        """
        return super().holds

    def _repr_html_(self) -> str:
        rows = [model_row(model) for model in self["models"]]
        head = _headline(
            self.holds, "All guarantees hold.", "A guarantee fails.",
            "Undecided whether all guarantees hold."
        )
        about = f"{number(self['records'])} records in {number(self['groups'])} groups"
        return box(f'{head} {about}{table(["model", "", "result"], rows)}')


class Attacks(Decided):
    """The results of attacks. They are true only if ``holds`` is true."""

    __slots__ = ()

    @property
    def holds(self) -> bool | None:
        """Whether no limit is exceeded; ``None`` without limits."""
        return super().holds

    def _repr_html_(self) -> str:
        rows: list[list[str]] = []
        for attack in self["attacks"]:
            of = str(attack["attack"])
            if attack["column"]:
                of += f" of {attack['column']}"
            people = (
                f"{number(attack['at_risk'])} of {number(attack['of'])} {attack['people']} "
                f"{attack['at_risk_means']}"
            )
            rows.append(
                [
                    html.escape(of), bar(attack["worst"], number(attack["worst"])),
                    *texts([attack["average"], people])
                ]
            )
        head = "" if self.holds is None else verdict(
            self.holds, "No limit is exceeded.", "A limit is exceeded."
        )
        skipped = ", ".join(dict.fromkeys(str(attack["attack"]) for attack in self["not_run"]))
        aside = quiet(f"not run: {skipped}; `.not_run` has the reasons") if skipped else ""
        return box(head + table(["attack", "worst", "average", "at risk"], rows) + aside)


class Profile(Record):
    """The profile of a table. Everything except the numbers of records and columns is for the data
    owner."""

    __slots__ = ()

    @property
    def roles(self) -> dict[str, str]:
        """The proposed role of each column."""
        return {str(column["name"]): str(column["role"]) for column in self["private"]["columns"]}

    def _repr_html_(self) -> str:
        rows: list[list[str]] = []
        for column in self["private"]["columns"]:
            sure = "" if column["sure"] else " (uncertain)"
            cells: list[object] = [
                column["name"], column["kind"], column["distinct"], column["missing"]
            ]
            role = f"{column['role']}{sure}"
            rows.append(
                [*texts(cells), bar(column["unique_share"]), *texts([role, column["reason"]])]
            )
        head = f"{number(self['records'])} records, {number(self['columns'])} columns"
        names = ["column", "kind", "distinct", "missing", "unique records", "role", "reason"]
        aside = ""
        uniqueness = self["private"].get("uniqueness")
        if uniqueness is not None:
            on = ", ".join(str(name) for name in uniqueness["columns"])
            aside = quiet(
                f"{number(uniqueness['unique'])} records are unique on {on}; for the data owner "
                f"only"
            )
        return box(html.escape(head) + table(names, rows) + aside)


class Hierarchy:
    """The labels of a column's values at every level: one row per value, ``value, level 1, …,
    *``."""

    __slots__ = ("rows", "text")
    rows: tuple[tuple[str, ...], ...]
    text: str

    def __init__(self, text: str) -> None:
        object.__setattr__(self, "text", text)
        rows = csv.reader(io.StringIO(text), delimiter=";")
        object.__setattr__(self, "rows", tuple(tuple(row) for row in rows))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` cannot be set: the object is immutable")

    def save(self, path: str | Path, replace: bool = False) -> None:
        """Writes a hierarchy file, which the argument `hierarchies` accepts.

        An existing file is replaced only if `replace` is set.
        """
        _incrowd.write_page(path, self.text, False, replace)

    def __repr__(self) -> str:
        return self.text.rstrip("\n")

    def _repr_html_(self) -> str:
        levels = max((len(row) for row in self.rows), default=0)
        head = ["value", *(f"level {level}" for level in range(1, levels))]
        more = len(self.rows) - 20
        aside = quiet(f"and {more:,} more values") if more > 0 else ""
        return box(table(head, [texts(list(row)) for row in self.rows[:20]]) + aside)


class Page:
    """An HTML page. A notebook displays it."""

    __slots__ = ("html", "private")
    html: str
    private: bool

    def __init__(self, text: str, private: bool = False) -> None:
        object.__setattr__(self, "html", text)
        object.__setattr__(self, "private", private)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` cannot be set: the object is immutable")

    def save(self, path: str | Path, replace: bool = False) -> None:
        """Writes the page to a file atomically. A page for the data owner is readable by its owner
        only.

        An existing file is replaced only if `replace` is set.
        """
        _incrowd.write_page(path, self.html, self.private, replace)

    def __repr__(self) -> str:
        return f"<a page of {len(self.html):,} characters; .save(path) writes it>"

    def _repr_html_(self) -> str:
        page = html.escape(self.html)
        return f'<iframe srcdoc="{page}" style="width:100%;height:48em;border:0"></iframe>'


class Comparison(Record):
    """The result of a comparison. All of it is for the data owner."""

    __slots__ = ("_page",)
    _page: str

    def __init__(self, fields: Mapping[str, Any], page: str = "") -> None:
        super().__init__(fields)
        object.__setattr__(self, "_page", page)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.to_dict(), self._page)

    @property
    def results(self) -> tuple[Record, ...]:
        """All configurations."""
        return cast("tuple[Record, ...]", self["private"]["results"])

    @property
    def choice(self) -> Record | None:
        """The chosen configuration with the reasons; ``None`` if no configuration gives a
        release."""
        return cast("Record | None", self["private"]["choice"])

    def plot(self) -> Page:
        """The charts: loss against risk."""
        return Page(self._page, private=True)

    def _repr_html_(self) -> str:
        loss = str(self["private"]["loss"])
        rows: list[list[str]] = []
        for result in self.results:
            metrics = result.get("metrics")
            cells = (
                [str(result["failed"]), "", "", ""]
                if metrics is None
                else [
                    number(metrics[loss]), number(result["identity_risk"]),
                    number(result["groups"]), ""
                ]
            )
            rows.append(
                [html.escape(cell) for cell in [result["algorithm"], result["models"], *cells[:3]]]
            )
        return box(table(["algorithm", "models", loss, "worst risk", "groups"], rows))


class Pages(Decided):
    """The reports of a release: ``public`` may be published; ``owner`` must not, and needs the
    original."""

    __slots__ = ()

    @property
    def public(self) -> Page:
        """The page that may be published."""
        return Page(str(self["public"]))

    @property
    def owner(self) -> Page | None:
        """The page for the data owner, if the original was given."""
        return None if self["owner"] is None else Page(str(self["owner"]), private=True)

    @property
    def holds(self) -> bool | None:
        """Whether all guarantees hold; ``None`` if it cannot be decided."""
        return super().holds

    def __repr__(self) -> str:
        return f"<pages: public{', owner' if self['owner'] else ''}; .public.save(path) writes one>"

    def _repr_html_(self) -> str:
        return self.public._repr_html_()  # pyright: ignore[reportPrivateUsage]


class Explanation(Record):
    """The explanation of a model, algorithm, metric or attack."""

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
            default = (
                "required" if param["default"] is None else f"default: {param['default'] or 'none'}"
            )
            parts.append(f"{param['name']} = {param['takes']} ({default}): {param['about']}")
        parts.append(f"Paper: {self['paper']}")
        return "\n\n".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return box("".join(f"<p>{html.escape(part)}</p>" for part in str(self).split("\n\n")))
