"""All features of the command line are available: persons, signatures, hierarchies, job drafts,
verification by a job."""

from __future__ import annotations

import random
import stat
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import incrowd
import pytest
from conftest import ROLES, people

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")


def visits() -> object:
    """Returns several records for most people, with equal quasi-identifiers."""
    draw = random.Random(3)
    columns: dict[str, list[object]] = {"patient": [], "age": [], "sex": [], "disease": []}
    for person in range(150):
        age, sex = draw.randint(20, 60), draw.choice(["female", "male"])
        for _ in range(draw.randint(1, 4)):
            row = [f"p{person}", age, sex, draw.choice(["flu", "cold", "none"])]
            for cells, cell in zip(columns.values(), row):
                cells.append(cell)
    return pa.table(columns)


VISITS = {"person": "patient", "quasi": ["age", "sex"], "sensitive": "disease"}


def test_models_count_persons() -> None:
    table = visits()
    release = incrowd.anonymize(table, **VISITS, k=6)
    assert release.manifest.unit == "persons"
    assert "patient" not in release.to_arrow().column_names
    known = incrowd.verify(release, original=table)
    assert known.holds and known.unit == "persons" and known.smallest_group >= 6
    with pytest.warns(incrowd.Warning, match="`original=`"):
        alone = incrowd.verify(release)
    assert alone.holds is None and "persons_unknown" in alone


def test_unreachable_models_are_reported_in_persons() -> None:
    with pytest.raises(
        incrowd.Unsatisfiable, match="with all 150 persons in one group the smallest group is 150"
    ) as error:
        incrowd.anonymize(visits(), **VISITS, k=151)
    assert error.value.help == "choose weaker parameters, or provide more persons"


def test_groups_have_enough_persons() -> None:
    table = visits().append_column("visit", pa.array([f"v{i}" for i in range(visits().num_rows)]))
    # A unique passthrough column needs a confirmation.
    release = incrowd.anonymize(table, **VISITS, passthrough="visit", unlinkable="visit", k=6)
    whose = dict(zip(table["visit"].to_pylist(), table["patient"].to_pylist()))
    persons: dict[tuple[str, str], set[str]] = defaultdict(set)
    for age, sex, visit in zip(
        *(release.to_arrow()[name].to_pylist() for name in ["age", "sex", "visit"])
    ):
        persons[age, sex].add(whose[visit])
    assert min(map(len, persons.values())) >= 6


def test_a_manifest_is_signed(tmp_path: Path, arrow: object) -> None:
    key, out = tmp_path / "key", tmp_path / "out.csv"
    incrowd.anonymize(arrow, **ROLES, k=5, output=out, sign=key)
    checked = incrowd.verify(out, check=key)
    assert checked.holds and checked.signed
    manifest = tmp_path / "out.release.json"
    manifest.write_text(manifest.read_text().replace('"k": 5', '"k": 4'))
    assert not incrowd.verify(out, check=key).holds


def test_hierarchies(tmp_path: Path, arrow: object) -> None:
    made = incrowd.hierarchy(arrow, "zip", "mask")
    first = made.rows[0]
    assert first[1] == first[0][:4] + "*" and first[-1] == "*"
    made.save(tmp_path / "zip.csv")
    with pytest.raises(incrowd.JobError, match="already exists") as refused:
        made.save(tmp_path / "zip.csv")
    assert "`replace=True`" in str(refused.value.help)
    made.save(tmp_path / "zip.csv", replace=True)
    assert incrowd.lint(tmp_path / "zip.csv").errors == 0
    release = incrowd.anonymize(arrow, **ROLES, k=5, hierarchies={"zip": tmp_path / "zip.csv"})
    assert incrowd.verify(release).holds
    (tmp_path / "bad.csv").write_text("a;b\na;c\n")
    assert incrowd.lint(tmp_path / "bad.csv").errors > 0
    with pytest.raises(incrowd.InputError, match="not in its hierarchy"):
        incrowd.hierarchy(arrow, "sex", {"tree": {"*": ["female"]}})


def test_a_draft_of_a_job(tmp_path: Path) -> None:
    csv.write_csv(pa.table(people()), tmp_path / "people.csv")
    job = tmp_path / "job.toml"
    drafted = incrowd.init(
        tmp_path / "people.csv", output=job, k=4, sensitive="disease", identifier="name"
    )
    assert job.read_text() == drafted.text
    with pytest.raises(incrowd.JobError, match="already exists"):
        incrowd.init(tmp_path / "people.csv", output=job)
    release = incrowd.Job.read(job).anonymize()
    assert release.paths[0].exists()
    assert incrowd.Job.read(job).verify(release.paths[0]).holds
    incrowd.init(
        tmp_path / "people.csv", output=job, preset="public-use", sensitive="disease",
        identifier="name", force=True
    )
    assert "top = 85" in job.read_text()
    with pytest.raises(incrowd.JobError, match="no preset `hippa`"):
        incrowd.init(tmp_path / "people.csv", output=job, preset="hippa", force=True)


def test_verification_by_a_job(tmp_path: Path) -> None:
    csv.write_csv(pa.table(people()), tmp_path / "people.csv")
    file = tmp_path / "job.toml"
    file.write_text(
        """
[input]
path = "people.csv"
[output]
path = "out.csv"
[columns]
name = "identifier"
age = { role = "quasi", hierarchy = "intervals:5" }
zip = { role = "quasi", hierarchy = "mask" }
sex = "quasi"
disease = "sensitive"
[[models]]
name = "k-anonymity"
k = 5
"""
    )
    job = incrowd.Job.read(file)
    out = job.anonymize().paths[0]
    assert job.verify(out).holds
    assert [model.k for model in job.verify(out).models] == [5]
    job.k = 300
    assert not job.verify(out).holds
    job.k = 5
    assert job.measure(tmp_path / "people.csv", out).metrics.ncp > 0
    assert job.attack(out).holds is None
    # The input of the job is the original.
    pages = job.pages(out)
    assert pages.owner is not None
    (tmp_path / "owner.html").write_text("mine")
    with pytest.raises(incrowd.JobError, match="already exists"):
        pages.owner.save(tmp_path / "owner.html")
    assert (tmp_path / "owner.html").read_text() == "mine"
    pages.owner.save(tmp_path / "owner.html", replace=True)
    if sys.platform != "win32":
        assert stat.S_IMODE((tmp_path / "owner.html").stat().st_mode) == 0o600
    job.suppression, job.suppression_seed = {"name": "r-suppression", "l": 3}, 7
    done = job.batches([tmp_path / "people.csv"], dir=tmp_path / "sequence")
    assert done.published == 1


def test_details_do_not_replace_inputs(tmp_path: Path, arrow: object) -> None:
    release = incrowd.anonymize(arrow, **ROLES, k=5, output=tmp_path / "out.csv")
    with pytest.raises(incrowd.JobError, match="would overwrite a file that is read"):
        incrowd.attack(release, details=tmp_path / "out.csv")
    incrowd.attack(release, details=tmp_path / "details.csv")
    assert (tmp_path / "details.csv").stat().st_size > 100
    (tmp_path / "mine.csv").write_text("mine")
    with pytest.raises(incrowd.JobError, match="was not made by incrowd") as refused:
        incrowd.attack(release, details=tmp_path / "mine.csv")
    assert "`replace=`" in str(refused.value.help)
    assert (tmp_path / "mine.csv").read_text() == "mine"
    incrowd.attack(release, details=tmp_path / "mine.csv", replace=True)
    assert (tmp_path / "mine.csv").stat().st_size > 100
    with pytest.raises(incrowd.JobError, match="cannot be given together"):
        incrowd.attack(release, original=arrow, original_size=400)


def test_a_forged_journal_is_reported(tmp_path: Path) -> None:
    table, away = tmp_path / "people.csv", tmp_path / "away" / "people.csv"
    away.parent.mkdir()
    for path in (table, away):
        csv.write_csv(pa.table(people()), path)
    incrowd.anonymize(away, **ROLES, k=5, output=away.parent / "out.csv")
    incrowd.anonymize(table, **ROLES, k=5, output=tmp_path / "out.csv")
    journal = tmp_path / ".out.csv.0123456789abcdef.incrowd-journal"
    journal.write_text("incrowd journal 1\n")
    roles: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": ["disease"]}
    calls: list[Callable[[], object]] = [
        lambda: incrowd.anonymize(table, **ROLES, k=5),
        lambda: incrowd.anonymize(away, **ROLES, k=5, output=tmp_path / "out.csv"),
        lambda: incrowd.verify(tmp_path / "out.csv"),
        lambda: incrowd.measure(table, away.parent / "out.csv"),
        lambda: incrowd.attack(away.parent / "out.csv", second=tmp_path / "out.csv"),
        lambda: incrowd.attack(away.parent / "out.csv", external=table),
        lambda: incrowd.report(tmp_path / "out.csv"),
        lambda: incrowd.profile(table),
        lambda: incrowd.profile(tmp_path / "p*.csv"),
        lambda: incrowd.compare(table, **roles, algorithms="mondrian", k=[2]),
        lambda: incrowd.compare(
            away, **roles, algorithms="mondrian", k=[2], output=tmp_path
        ),
        lambda: incrowd.batches(
            {"day": away}, **roles, suppression={"name": "r-suppression", "l": 2},
            suppression_seed=1, dir=tmp_path
        ),
        lambda: incrowd.hierarchy(table, "zip", "mask"),
        lambda: incrowd.init(table, output=tmp_path / "job.toml", force=True),
    ]
    for call in calls:
        # Some calls have other warnings, too.
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            call()
        assert any("your key does not authenticate" in str(own.message) for own in given)
    assert journal.read_text() == "incrowd journal 1\n"


def test_outliers_of_a_table() -> None:
    columns = people()
    income = pa.array([1000 + 7 * i for i in range(399)] + [1_000_000])
    table = pa.table({"age": columns["age"], "income": income})
    seen = incrowd.profile(table, quasi=["age"], outliers={"on": "income", "p": 0.9, "d": 0.5})
    assert seen.private.outliers.records == 400 and seen.private.outliers.column == "income"
    with pytest.raises(incrowd.JobError, match="only for the distances"):
        incrowd.profile(table, quasi=["age"], hierarchy={"age": "intervals:5"})
    by_tree = incrowd.profile(
        table, quasi=["age"], hierarchy={"age": "intervals:5"},
        outliers={"on": "income", "p": 0.9, "d": 0.5}
    )
    assert by_tree.private.outliers.points <= seen.private.outliers.points


def test_skipped_attacks_name_arguments(arrow: object) -> None:
    release = incrowd.anonymize(arrow, **ROLES, k=5)
    why = {skipped.attack: skipped.why for skipped in incrowd.attack(release).not_run}
    assert "`population=`" in why["journalist"]


def test_duckdb_gives_tables() -> None:
    duckdb = pytest.importorskip("duckdb")
    folk = pa.table(people())
    relation = duckdb.sql("select * from folk")
    if not hasattr(relation, "__arrow_c_stream__"):
        pytest.skip("this DuckDB does not give Arrow streams")
    release = incrowd.anonymize(relation, **ROLES, k=5)
    assert len(release) == 400
    again = release.to_arrow()
    assert again.num_rows == 400
    assert duckdb.sql("select count(*) from again").fetchall() == [(400,)]
