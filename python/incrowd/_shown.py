"""HTML of results in notebooks: small tables and bars, in light and dark themes."""

from __future__ import annotations

import html

# Colours follow the theme of the notebook if it is known, otherwise that of the system.
_DARK = "--ink:#e6edf3;--line:#444c56;--bar:#6cb0f5;--good:#57c271;--bad:#ff8a80"
_STYLE = (
    "<style>.incrowd{--ink:#1b1f24;--line:#d0d7de;--bar:#2f6fb3;--good:#1a7f37;"
    "--bad:#b42318;color:var(--ink);"
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5;max-width:60em}"
    "@media (prefers-color-scheme:dark){.incrowd{" + _DARK + "}}"
    '[data-jp-theme-light="true"] .incrowd,.vscode-light .incrowd{'
    "--ink:#1b1f24;--line:#d0d7de;--bar:#2f6fb3;--good:#1a7f37;--bad:#b42318}"
    '[data-jp-theme-light="false"] .incrowd,.vscode-dark .incrowd,html[theme=dark] .incrowd{'
    + _DARK
    + "}"
    ".incrowd table{border-collapse:collapse;margin:.6em 0;color:inherit;background:none}"
    ".incrowd tr{background:none!important}"
    ".incrowd th,.incrowd td{border:0;border-bottom:1px solid var(--line);padding:.15em .8em "
    ".15em 0;text-align:left!important;color:inherit}"
    ".incrowd .bar{display:inline-block;height:.7em;background:var(--bar)}"
    ".incrowd .good{color:var(--good);font-weight:600}.incrowd "
    ".bad{color:var(--bad);font-weight:600}"
    ".incrowd .quiet{opacity:.75}.incrowd .share{white-space:nowrap}</style>"
)
_WIDEST = 160


def box(body: str) -> str:
    """Wraps HTML with the style of incrowd."""
    return f'{_STYLE}<div class="incrowd">{body}</div>'


def number(value: object) -> str:
    """Formats a value."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, float):
        return f"{value:,.4f}".rstrip("0").rstrip(".") if value % 1 else f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def table(head: list[str], rows: list[list[str]]) -> str:
    """Renders a table. Cells are HTML, the head is plain text."""
    cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{cells}</tr>{body}</table>"


def texts(row: list[object]) -> list[str]:
    """Formats values as cells of a table."""
    return [html.escape(number(cell)) for cell in row]


def bar(share: float, text: str = "") -> str:
    """Renders a share from 0 to 1 as a bar with its number. Other numbers have no bar."""
    width = _WIDEST * share if 0.0 <= share <= 1.0 else 0.0
    label = html.escape(text or f"{share:.3f}")
    return (
        f'<span class="share"><span class="bar" style="width:{width:.0f}px"></span> {label}</span>'
    )


def verdict(holds: bool, yes: str, no: str) -> str:
    """Renders a verdict in green or red."""
    return f'<span class="good">{yes}</span>' if holds else f'<span class="bad">{no}</span>'


def quiet(text: str) -> str:
    """Renders a side note."""
    return f'<span class="quiet">{html.escape(text)}</span>'
