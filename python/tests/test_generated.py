"""The generated functions match the keys and cards, and type-check."""

from __future__ import annotations

import importlib.util
import inspect
import json
import subprocess
import sys
from pathlib import Path

import incrowd
import pytest
from incrowd import _incrowd

HERE = Path(__file__).parent


def test_functions_match_the_keys_and_cards() -> None:
    spec = importlib.util.spec_from_file_location("generate", HERE.parent / "tools" / "generate.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    made = generate.text(json.loads(_incrowd.signatures()))
    assert (
        Path(incrowd.__file__).parent / "_functions.py"
    ).read_text() == made, "run python tools/generate.py"


def test_every_argument_is_documented() -> None:
    known = json.loads(_incrowd.signatures())["commands"]
    for name in [
        "anonymize", "verify", "measure", "attack", "report", "profile", "compare", "batches"
    ]:
        function = getattr(incrowd, name)
        parameters = inspect.signature(function).parameters
        assert known[name], name
        for argument in known[name]:
            assert argument["name"] in parameters, (name, argument["name"])
            assert f"{argument['name']}:" in function.__doc__, (name, argument["name"])


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_types(checker: str) -> None:
    pytest.importorskip(checker)
    more = ["--pythonpath", sys.executable] if checker == "pyright" else []
    done = subprocess.run(
        [sys.executable, "-m", checker, *more], cwd=HERE.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
