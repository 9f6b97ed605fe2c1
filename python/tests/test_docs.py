"""Runs the examples of the pages and the notebook."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGES = [HERE.parent / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run in order. Comments that begin with `#>` show the printed output."""
    for library in ("polars", "pandas", "sklearn"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    for block in blocks:
        said: list[str] = []
        space["print"] = lambda *values: said.extend(" ".join(map(str, values)).splitlines())
        exec(compile(block, str(page), "exec"), space)
        shown = re.findall(r"#> ?(.*)$", block, re.M)
        assert said == shown, block


def test_the_table_of_peers_is_what_was_measured() -> None:
    """`bench/python.py peers` stores its results, and the table is generated from them."""
    bench = HERE.parents[1] / "bench" / "python.py"
    spec = importlib.util.spec_from_file_location("bench_python", bench)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    shown = PAGES[0].read_text(encoding="utf-8").split(module.BEGIN)[1].split(module.END)[0]
    assert shown.strip() == module.table().strip(), "run bench/python.py page"


def test_the_notebook_runs(tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("polars")
    path = HERE.parent / "examples" / "release.ipynb"
    notebook = nbformat.read(path, as_version=4)
    elsewhere = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources=elsewhere
    ).execute()
    shown = [
        output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
    ]
    pages = [output.get("data", {}).get("text/html", "") for output in shown]
    assert any("Verified." in page for page in pages)
    assert not any(output.output_type == "error" for output in shown)
    look(pages)


def look(pages: list[str]) -> None:
    """Takes screenshots of the notebook in light and dark mode, below target/tmp, if there is a
    browser."""
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which(
        "google-chrome"
    )
    if browser is None:
        warnings.warn(
            "no picture of the notebook: no Chromium; set CHROMIUM to have it drawn", stacklevel=1
        )
        return
    place = HERE.parents[1] / "target" / "tmp"
    place.mkdir(parents=True, exist_ok=True)
    drawn: list[bytes] = []
    for light, paper in [("true", "#ffffff"), ("false", "#111111")]:
        name = f"notebook-{'light' if light == 'true' else 'dark'}"
        page, picture = place / f"{name}.html", place / f"{name}.png"
        body = "<hr>".join(pages)
        page.write_text(
            f'<body data-jp-theme-light="{light}" style="background:{paper}">{body}</body>',
            encoding="utf-8"
        )
        picture.unlink(missing_ok=True)
        size = "--window-size=1000,2600"
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", size,
            f"--screenshot={picture}"
        ]
        subprocess.run(
            [browser, *options, page.as_uri()], capture_output=True, timeout=120, check=True
        )
        drawn.append(picture.read_bytes())
    # An empty page would have a few kilobytes.
    assert min(map(len, drawn)) > 40_000 and drawn[0] != drawn[1]
