"""The examples of the pages run, and the notebook too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGES = [HERE.parent / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run in their order. What a comment behind `#>` shows is what is printed."""
    pytest.importorskip("polars")
    pytest.importorskip("pandas")
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


def test_the_notebook_runs() -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("polars")
    path = HERE.parent / "examples" / "release.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("Verified." in output.get("data", {}).get("text/html", "") for output in shown)
    assert not any(output.output_type == "error" for output in shown)
