"""One version, one command, no dependencies."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution, requires, version
from pathlib import Path

import incrowd
import pytest


def test_the_version_equals_that_of_the_workspace() -> None:
    manifest = (Path(__file__).parents[2] / "Cargo.toml").read_text(encoding="utf-8")
    told = re.search(r'^\[workspace\.package\]\nversion = "(.*)"$', manifest, re.M)
    assert told is not None and told[1] == incrowd.__version__
    try:
        assert version("incrowd") == incrowd.__version__
    except ImportError:
        pytest.skip("the package is not installed")


def test_there_are_no_required_dependencies() -> None:
    try:
        # Extras such as `incrowd[spark]` are optional.
        assert not [need for need in requires("incrowd") or [] if "extra ==" not in need]
    except ImportError:
        pytest.skip("the package is not installed")


def test_the_package_contains_the_licences() -> None:
    """A package contains only files next to its `pyproject.toml`, so the licences are copied
    there."""
    here, names = Path(__file__).parents[1], ["LICENSE-APACHE", "LICENSE-MIT"]
    texts = [(here.parent / name).read_text(encoding="utf-8") for name in names]
    assert [(here / name).read_text(encoding="utf-8") for name in names] == texts
    try:
        packed = distribution("incrowd").files or []
    except ImportError:
        pytest.skip("the package is not installed")
    found = {path.name: path.read_text() for path in packed if "licenses" in path.parts}
    assert found == dict(zip(names, texts))


def test_the_command_exists() -> None:
    command = shutil.which("incrowd", path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip("the package is not installed")
    done = subprocess.run([command, "--version"], capture_output=True, text=True)
    assert done.stdout.strip() == f"incrowd {incrowd.__version__}"
