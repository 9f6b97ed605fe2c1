"""Verifying, attacking, measuring, profiling, comparing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import incrowd
import pyarrow as pa
import pytest
from conftest import ROLES


@pytest.fixture
def release(arrow: object) -> incrowd.Release:
    return incrowd.anonymize(arrow, **ROLES, k=10, hierarchies={"zip": "mask"})


def test_a_release_is_verified_by_its_manifest(arrow: object, release: incrowd.Release) -> None:
    checked = incrowd.verify(release)
    assert checked.holds and checked.digest_matches
    assert [model.name for model in checked.models] == ["k-anonymity"]
    assert not incrowd.verify(release, k=200).holds
    assert "A guarantee fails" in incrowd.verify(release, k=200)._repr_html_()


def test_only_holding_answers_are_true(arrow: object, release: incrowd.Release) -> None:
    assert bool(incrowd.verify(release)) is True
    broken = incrowd.verify(release, k=200)
    assert broken.holds is False and bool(broken) is False
    pages = incrowd.report(release, k=200)
    assert pages.holds is False and bool(pages) is False
    assert bool(incrowd.report(release)) is True
    assert bool(incrowd.attack(release, limit={"prosecutor": 0.1})) is True
    assert bool(incrowd.attack(release, limit={"prosecutor": 0.001})) is False
    # Without a limit the verdict is undecided.
    unlimited = incrowd.attack(release, original=arrow, only=["prosecutor"])
    assert unlimited.holds is None and bool(unlimited) is False


def test_undecided_is_not_true() -> None:
    stays = pa.table({"patient": [i // 2 for i in range(60)], "age": [20 + i % 5 for i in range(60)], "ward": ["a", "b", "c"] * 20})
    made = incrowd.anonymize(stays, person="patient", quasi=["age"], sensitive=["ward"], k=5)
    with pytest.warns(incrowd.Warning, match="`original=`"):
        alone = incrowd.verify(made)
    assert alone.holds is None and bool(alone) is False
    assert alone.models[0].holds is None
    assert "Undecided" in alone._repr_html_()
    assert bool(incrowd.verify(made, original=stays)) is True
    pages = incrowd.report(made)
    assert pages.holds is None and bool(pages) is False
    assert "The guarantee holds" not in pages.public.html and "Undecided" in pages.public.html


def test_information_loss(arrow: object, release: incrowd.Release) -> None:
    measured = incrowd.measure(arrow, release, queries=50, only=["ncp", "query_error"])
    assert abs(measured.metrics.ncp - release.metrics.ncp) < 1e-9
    with pytest.raises(incrowd.JobError, match="no measure called `npc`") as error:
        incrowd.measure(arrow, release, only="npc")
    assert error.value.help == "did you mean `ncp`?"


def test_attacks(arrow: object, release: incrowd.Release) -> None:
    found = incrowd.attack(release, limit={"prosecutor": 0.1})
    assert found.holds
    assert not incrowd.attack(release, limit={"prosecutor": 0.001}).holds


def test_a_second_release_can_have_any_form(tmp_path: Path, arrow: object, df: object) -> None:
    first = incrowd.anonymize(arrow, **ROLES, k=5, hierarchies={"zip": "mask"})
    roles: dict[str, Any] = {**ROLES, "quasi": ["age", "zip"], "drop": "sex", "k": 4, "hierarchies": {"zip": "mask"}}
    held = incrowd.anonymize(df, **roles)
    filed = incrowd.anonymize(df, **roles, output=tmp_path / "second.csv")

    def found(second: object, **more: object) -> Any:
        return incrowd.attack(first, original=arrow, second=second, only="intersection", **more).attacks

    seconds = [held, filed, str(filed.paths[0]), filed.paths[0], held.tables[0], held.to_arrow(), held.to_polars(), held.to_pandas()]
    for people in (None, arrow):
        alike = [found(second, external=people) for second in seconds]
        assert all(one == alike[0] for one in alike)
        # All people are in both releases, and two releases reveal more than one release twice.
        assert (alike[0][0].of, alike[0][0].facts.not_in_both) == (400, 0)
        assert alike[0][0].average > found(first, external=people)[0].average


def test_a_second_release_has_its_hierarchies(tmp_path: Path, arrow: object, columns: dict[str, list[Any]]) -> None:
    lines = "".join(f"{code};region {code[:2]};area {code[0]};*\n" for code in sorted(set(columns["zip"])))
    (tmp_path / "zip.csv").write_text(lines)
    first = incrowd.anonymize(arrow, **ROLES, k=5)
    with_labels: dict[str, Any] = {**ROLES, "k": 9, "hierarchies": {"zip": tmp_path / "zip.csv"}}
    held = incrowd.anonymize(arrow, **with_labels)
    incrowd.anonymize(arrow, **with_labels, output=tmp_path / "second.csv")
    for people in (None, arrow):
        told = incrowd.attack(first, second=held, external=people, only="intersection").attacks[0]
        assert (told.of, told.facts.not_in_both) == (400, 0)
        # A file does not have them.
        with pytest.raises(incrowd.JobError, match="`zip` of the second release") as refused:
            incrowd.attack(first, second=tmp_path / "second.csv", external=people, only="intersection")
        assert "`hierarchies=`" in str(refused.value.help)


def test_invalid_second_releases(tmp_path: Path, arrow: object, release: incrowd.Release) -> None:
    second = incrowd.anonymize(arrow, **ROLES, k=4, output=tmp_path / "second.csv")
    for odd, kind in ((7, incrowd.InputError), (tmp_path / "none.csv", incrowd.InputError), (["a.csv", "b.csv"], incrowd.JobError)):
        with pytest.raises(kind):
            incrowd.attack(release, second=odd)
    for read in ("second.csv", "second.release.json"):
        with pytest.raises(incrowd.JobError, match="would overwrite a file that is read"):
            incrowd.attack(release, second=second, details=tmp_path / read)
    assert incrowd.verify(second).holds


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
