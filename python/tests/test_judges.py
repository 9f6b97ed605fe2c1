"""Independent judges: what we say of a release is what pycanon measures."""

from __future__ import annotations

import incrowd
import pytest
from conftest import ROLES

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
anonymity = pytest.importorskip("pycanon.anonymity")


@pytest.mark.parametrize("algorithm", ["mondrian", "top-down"])
def test_pycanon_agrees(arrow: object, algorithm: str) -> None:
    release = incrowd.anonymize(arrow, **ROLES, k=8, l_diversity=3, algorithm=algorithm)
    table = release.to_pandas()
    promised = {model.name: model.measured.have for model in release.manifest.models}
    assert anonymity.k_anonymity(table, ROLES["quasi"]) == promised["k-anonymity"] >= 8
    assert anonymity.l_diversity(table, ROLES["quasi"], ["disease"]) == promised["l-diversity"] >= 3
    assert incrowd.verify(table, quasi=ROLES["quasi"], k=int(promised["k-anonymity"])).holds
    assert not incrowd.verify(table, quasi=ROLES["quasi"], k=int(promised["k-anonymity"]) + 1).holds
