"""Synthetic tables in the installed libraries."""

from __future__ import annotations

import random

import pytest


def people(records: int = 400, seed: int = 1) -> dict[str, list[object]]:
    """Returns a small table: two numbers, a code and a sensitive column."""
    draw = random.Random(seed)
    return {
        "name": [f"Person {i}" for i in range(records)],
        "age": [draw.randint(18, 90) for _ in range(records)],
        "zip": [f"{draw.randint(0, 4)}{draw.randint(0, 9)}{draw.randint(0, 9):03}"[:5] for _ in range(records)],
        "sex": [draw.choice(["female", "male"]) for _ in range(records)],
        "disease": [draw.choice(["flu", "cold", "asthma", "none", "measles"]) for _ in range(records)],
    }


ROLES = {"identifier": ["name"], "quasi": ["age", "zip", "sex"], "sensitive": ["disease"]}


@pytest.fixture
def columns() -> dict[str, list[object]]:
    return people()


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def df(request: pytest.FixtureRequest, columns: dict[str, list[object]]) -> object:
    """Returns the table in each library."""
    library = pytest.importorskip(request.param)
    if request.param == "pandas":
        pytest.importorskip("pyarrow")
    return library.table(columns) if request.param == "pyarrow" else library.DataFrame(columns)


@pytest.fixture
def arrow(columns: dict[str, list[object]]) -> object:
    """Returns the table in one installed library."""
    try:
        import pyarrow

        return pyarrow.table(columns)
    except ImportError:
        return pytest.importorskip("polars").DataFrame(columns)
