"""Verifying, attacking, measuring, profiling, comparing."""

from __future__ import annotations

from pathlib import Path

import incrowd
import pytest
from conftest import ROLES


@pytest.fixture
def release(arrow: object) -> incrowd.Release:
    return incrowd.anonymize(arrow, **ROLES, k=10, hierarchies={"zip": "mask"})


def test_a_release_is_judged_by_its_manifest(arrow: object, release: incrowd.Release) -> None:
    checked = incrowd.verify(release)
    assert checked.holds and checked.digest_matches
    assert [model.name for model in checked.models] == ["k-anonymity"]
    assert not incrowd.verify(release, k=200).holds
    assert "do not hold" in incrowd.verify(release, k=200)._repr_html_()


def test_what_it_cost(arrow: object, release: incrowd.Release) -> None:
    measured = incrowd.measure(arrow, release, queries=50, only=["ncp", "query_error"])
    assert abs(measured.metrics.ncp - release.metrics.ncp) < 1e-9
    with pytest.raises(incrowd.JobError, match="no measure called `npc`") as error:
        incrowd.measure(arrow, release, only="npc")
    assert error.value.help == "did you mean `ncp`?"


def test_attacks(arrow: object, release: incrowd.Release) -> None:
    found = incrowd.attack(release, limit={"prosecutor": 0.1})
    assert found.holds
    assert not incrowd.attack(release, limit={"prosecutor": 0.001}).holds
    worst = incrowd.attack(release, original=arrow, only=["prosecutor"])
    assert worst.holds


def test_a_profile(arrow: object) -> None:
    seen = incrowd.profile(arrow, quasi=["age", "zip"])
    assert seen.records == 400
    roles = {column.name: column.role for column in seen.private.columns}
    assert roles["name"] == "identifier"


def test_a_comparison(tmp_path: Path, arrow: object) -> None:
    compared = incrowd.compare(arrow, **ROLES, k=[2, 5], algorithms=["mondrian"])
    assert len(compared.results) == 2
    assert compared.choice is not None
    assert compared.plot().html.startswith("<!DOCTYPE html>")
    compared.plot().save(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 1000
    with pytest.raises(incrowd.JobError, match="not kept"):
        incrowd.compare(arrow, **ROLES, k=[2], output=tmp_path / "out")


def test_pages(arrow: object, release: incrowd.Release) -> None:
    assert incrowd.report(release).owner is None
    pages = incrowd.report(release, original=arrow, queries=20)
    assert pages.holds and pages.owner is not None
    assert "k-anonymity" in pages.public.html


def test_explanations() -> None:
    assert "distribution" in str(incrowd.explain("t-closeness"))
    assert "mondrian" in incrowd.names()["algorithm"]
    with pytest.raises(incrowd.JobError, match="nothing called"):
        incrowd.explain("t-closness")


def test_a_job(tmp_path: Path, arrow: object) -> None:
    text = """
[columns]
name = "identifier"
age = "quasi"
zip = { role = "quasi", hierarchy = { mask = {} } }
sex = "quasi"
disease = "sensitive"
[[models]]
name = "k-anonymity"
k = 5
[[models]]
name = "l-diversity"
l = 2
"""
    path = tmp_path / "job.toml"
    path.write_text(text)
    job = incrowd.Job.read(path)
    assert job.document.columns.age == "quasi"
    job.k = 25
    release = job.anonymize(arrow)
    promised = {model.name: model for model in release.manifest.models}
    assert promised["k-anonymity"].k == 25 and promised["l-diversity"].l == 2
    with pytest.raises(incrowd.JobError, match="has no `quazi`") as error:
        job.quazi = ["age"]  # type: ignore[attr-defined]
    assert error.value.help == "did you mean `quasi`?"
    path.write_text(text.replace('l = 2', 'l = 0'))
    with pytest.raises(incrowd.JobError) as error:
        incrowd.Job.read(path).anonymize(arrow)
    assert (error.value.file, error.value.line) == (str(path), 13)
