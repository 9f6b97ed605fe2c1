"""Verifying, attacking, measuring, profiling, comparing."""

from __future__ import annotations

import zipfile
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
    stays = pa.table(
        {
            "patient": [i // 2 for i in range(60)], "age": [20 + i % 5 for i in range(60)],
            "ward": ["a", "b", "c"] * 20
        }
    )
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
    roles: dict[str, Any] = {
        **ROLES, "quasi": ["age", "zip"], "drop": "sex", "k": 4, "hierarchies": {"zip": "mask"}
    }
    held = incrowd.anonymize(df, **roles)
    filed = incrowd.anonymize(df, **roles, output=tmp_path / "second.csv")

    def found(second: object, **more: object) -> Any:
        return incrowd.attack(
            first, original=arrow, second=second, only="intersection", **more
        ).attacks

    seconds = [
        held, filed, str(filed.paths[0]), filed.paths[0], held.tables[0], held.to_arrow(),
        held.to_polars(), held.to_pandas()
    ]
    for people in (None, arrow):
        alike = [found(second, external=people) for second in seconds]
        assert all(one == alike[0] for one in alike)
        # All people are in both releases, and two releases reveal more than one release twice.
        assert (alike[0][0].of, alike[0][0].facts.not_in_both) == (400, 0)
        assert alike[0][0].average > found(first, external=people)[0].average


def test_a_second_release_has_its_hierarchies(
    tmp_path: Path, arrow: object, columns: dict[str, list[Any]]
) -> None:
    lines = "".join(
        f"{code};region {code[:2]};area {code[0]};*\n" for code in sorted(set(columns["zip"]))
    )
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
            incrowd.attack(
                first, second=tmp_path / "second.csv", external=people, only="intersection"
            )
        assert "`hierarchies=`" in str(refused.value.help)


def test_invalid_second_releases(tmp_path: Path, arrow: object, release: incrowd.Release) -> None:
    second = incrowd.anonymize(arrow, **ROLES, k=4, output=tmp_path / "second.csv")
    for odd, kind in (
        (7, incrowd.InputError), (tmp_path / "none.csv", incrowd.InputError),
        (["a.csv", "b.csv"], incrowd.JobError)
    ):
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


# The settings for reading a table describe the release, as on the command line. The original is a
# UTF-8 file with commas and decimal points, which any of these settings would make unreadable.
CITIES = [
    ("Köln", "1.5", "flu"),
    ("Köln", "1.5", "cold"),
    ("Zürich", "2.25", "flu"),
    ("Zürich", "2.25", "none"),
] * 5
CITY_ROLES: dict[str, Any] = {"quasi": ["city", "weight"], "sensitive": ["disease"]}


def table_text(delimiter: str = ",", decimal: str = ".") -> str:
    rows = [
        ("city", "weight", "disease"),
        *((city, weight.replace(".", decimal), disease) for city, weight, disease in CITIES),
    ]
    return "".join(delimiter.join(row) + "\n" for row in rows)


def write_workbook(path: Path, sheets: dict[str, list[tuple[str, ...]]]) -> None:
    """Writes an Excel file with texts as inline strings."""
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

    def related(targets: list[tuple[str, str]]) -> str:
        all_of = "".join(
            f'<Relationship Id="rId{i}" Type="{office}/{kind}" Target="{target}"/>'
            for i, (kind, target) in enumerate(targets)
        )
        return f'<Relationships xmlns="{package}">{all_of}</Relationships>'

    def rows_of(rows: list[tuple[str, ...]]) -> str:
        lines: list[str] = []
        for r, row in enumerate(rows):
            cells = "".join(
                f'<c r="{chr(65 + c)}{r + 1}" t="inlineStr"><is><t>{text}</t></is></c>'
                for c, text in enumerate(row)
            )
            lines.append(f'<row r="{r + 1}">{cells}</row>')
        return "".join(lines)

    names = "".join(
        f'<sheet name="{name}" sheetId="{i + 1}" r:id="rId{i}"/>' for i, name in enumerate(sheets)
    )
    parts = {
        "_rels/.rels": related([("officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{office}">'
            f"<sheets>{names}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": related(
            [("worksheet", f"sheet{i}.xml") for i in range(len(sheets))]
        ),
    }
    for i, rows in enumerate(sheets.values()):
        parts[f"xl/sheet{i}.xml"] = (
            f"<worksheet {main}><sheetData>{rows_of(rows)}</sheetData></worksheet>"
        )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in parts.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>\n' + body)


def released(kind: str, directory: Path) -> tuple[Path, dict[str, Any]]:
    """Writes a release without a manifest, and returns the settings for reading it."""
    if kind == "latin1":
        path = directory / "latin1.csv"
        path.write_bytes(table_text().encode("latin-1"))
        return path, {"encoding": "latin1"}
    if kind == "decimal":
        path = directory / "decimal.csv"
        path.write_text(table_text(";", ","), encoding="utf-8")
        return path, {"decimal": ",", "delimiter": ";", "format": "csv"}
    path = directory / "sheets.xlsx"
    rows = [tuple(line.split(",")) for line in table_text().splitlines()]
    write_workbook(path, {"notes": [("text",), ("not the release",)], "people": rows})
    return path, {"sheet": "people"}


@pytest.mark.parametrize("kind", ["latin1", "decimal", "sheet"])
def test_settings_for_reading_describe_the_release(kind: str, tmp_path: Path) -> None:
    original = tmp_path / "people.csv"
    original.write_text(table_text(), encoding="utf-8")
    path, reading = released(kind, tmp_path)
    checked = incrowd.verify(path, original=original, k=10, **CITY_ROLES, **reading)
    assert checked.holds and checked.records == 20 and checked.groups == 2
    # Nothing was generalized: the cells of the release are those of the original.
    measured = incrowd.measure(original, path, **CITY_ROLES, **reading)
    assert measured.metrics.ncp == 0
    attacked = incrowd.attack(path, original=original, only=["prosecutor"], **CITY_ROLES, **reading)
    assert attacked.attacks[0].of == 20 and attacked.attacks[0].worst == 0.1
    assert incrowd.report(path, original=original, k=10, **CITY_ROLES, **reading).owner is not None
    # As settings of a job they describe the original.
    job = incrowd.Job()
    for name, value in {**CITY_ROLES, **reading}.items():
        setattr(job, name, value)
    assert job.measure(path, original).metrics.ncp == 0


def test_the_wrong_encoding_or_decimal_mark_is_not_applied(tmp_path: Path) -> None:
    original = tmp_path / "people.csv"
    original.write_text(table_text(), encoding="utf-8")
    # A UTF-8 release that is read as Latin-1 has other cities than the original.
    with pytest.raises(incrowd.InputError):
        incrowd.measure(original, original, encoding="latin1", **CITY_ROLES)
    with pytest.raises(incrowd.InputError, match="sheet"):
        incrowd.measure(original, released("sheet", tmp_path)[0], **CITY_ROLES)


def test_a_release_in_memory_takes_no_settings_for_a_file(
    tmp_path: Path, arrow: object, release: incrowd.Release
) -> None:
    for judged in (release, release.tables[0]):
        with pytest.raises(incrowd.JobError, match="the release is in memory") as error:
            incrowd.verify(judged, encoding="latin1")
        assert error.value.argument == "encoding"
    job = incrowd.Job()
    job.encoding = "latin1"
    assert job.verify(release, original=arrow).holds
