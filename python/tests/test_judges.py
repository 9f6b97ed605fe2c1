"""Independent checks: pycanon measures the same values, and anjana has nothing left to
generalize."""

from __future__ import annotations

from typing import Any

import incrowd
import pytest
from conftest import ROLES

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
QUASI = ROLES["quasi"]


@pytest.mark.parametrize("algorithm", ["mondrian", "top-down"])
def test_pycanon_agrees(arrow: object, algorithm: Any) -> None:
    anonymity = pytest.importorskip("pycanon.anonymity")
    release = incrowd.anonymize(arrow, **ROLES, k=8, l_diversity=3, algorithm=algorithm)
    table = release.to_pandas()
    promised = {model.name: model.measured.have for model in release.manifest.models}
    assert anonymity.k_anonymity(table, QUASI) == promised["k-anonymity"] >= 8
    assert anonymity.l_diversity(table, QUASI, ["disease"]) == promised["l-diversity"] >= 3
    assert incrowd.verify(table, quasi=QUASI, k=int(promised["k-anonymity"])).holds
    assert not incrowd.verify(table, quasi=QUASI, k=int(promised["k-anonymity"]) + 1).holds


def test_pycanon_agrees_about_closeness(arrow: object) -> None:
    anonymity = pytest.importorskip("pycanon.anonymity")
    release = incrowd.anonymize(arrow, **ROLES, k=20, t_closeness=0.3)
    found = anonymity.t_closeness(release.to_pandas(), QUASI, ["disease"])
    promised = {model.name: model.measured.have for model in release.manifest.models}
    assert found == pytest.approx(promised["t-closeness"], abs=1e-6) and found <= 0.3


def test_anjana_has_nothing_left_to_generalize(arrow: object) -> None:
    anjana = pytest.importorskip("anjana.anonymity")
    table = incrowd.anonymize(arrow, **ROLES, k=8).to_pandas()
    kept = anjana.k_anonymity(table.copy(), [], QUASI, 8, 0, {})
    assert sorted(map(tuple, kept[QUASI].astype(str).values)) == sorted(
        map(tuple, table[QUASI].astype(str).values)
    )


def test_incrowd_verifies_a_release_of_anjana(columns: dict[str, list[object]]) -> None:
    anjana = pytest.importorskip("anjana.anonymity")
    anonymity = pytest.importorskip("pycanon.anonymity")
    table = pd.DataFrame(columns)[["age", "sex", "disease"]]
    ages = sorted(set(table["age"]))
    steps = {10: lambda age: f"[{age // 10 * 10}, {age // 10 * 10 + 9}]", 100: lambda age: "*"}
    trees = {
        "age": {
            0: pd.Series(ages).values,
            **{i + 1: pd.Series(map(step, ages)).values for i, step in enumerate(steps.values())}
        },
        "sex": {0: pd.Series(["female", "male"]).values, 1: pd.Series(["*", "*"]).values},
    }
    made = anjana.k_anonymity(table, [], ["age", "sex"], 5, 0, trees)
    least = int(anonymity.k_anonymity(made, ["age", "sex"]))
    assert incrowd.verify(made, quasi=["age", "sex"], k=least).holds
    assert not incrowd.verify(made, quasi=["age", "sex"], k=least + 1).holds
