"""Releases in memory and in files, from every library."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import incrowd
import pytest
from conftest import ROLES, people


def groups(rows: list[tuple[object, ...]]) -> Counter[tuple[object, ...]]:
    return Counter(rows)


def test_every_library_exports_and_imports_tables(df: object) -> None:
    release = incrowd.anonymize(df, **ROLES, k=10, l_diversity=2, hierarchies={"zip": "mask"})
    assert len(release) == 400
    assert release.manifest.metrics.ncp == release.metrics.ncp < 1
    pa = pytest.importorskip("pyarrow")
    table = pa.table(release)
    assert table.column_names == ["age", "zip", "sex", "disease"]
    sizes = groups(list(zip(*(table[name].to_pylist() for name in ROLES["quasi"]))))
    assert min(sizes.values()) >= 10
    again = incrowd.verify(table, quasi=ROLES["quasi"], sensitive=["disease"], k=10, l_diversity=2)
    assert again.holds
    assert not incrowd.verify(table, quasi=ROLES["quasi"], sensitive=["disease"], k=400).holds


def test_all_libraries_read_the_release(arrow: object) -> None:
    release = incrowd.anonymize(arrow, **ROLES, k=5)
    for name, read in [
        ("pandas", release.to_pandas), ("polars", release.to_polars), ("pyarrow", release.to_arrow)
    ]:
        pytest.importorskip(name)
        table = read()
        assert len(table) == 400, name
        assert "name" not in (table.column_names if name == "pyarrow" else list(table.columns))


def test_the_library_does_not_change_the_release(columns: dict[str, list[object]]) -> None:
    pa, pl, pd = (pytest.importorskip(name) for name in ["pyarrow", "polars", "pandas"])
    made = [
        incrowd.anonymize(table, **ROLES, k=7, order="sorted").to_arrow().to_pydict()
        for table in [pa.table(columns), pl.DataFrame(columns), pd.DataFrame(columns)]
    ]
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize("cuts", [(6000, 12000, 18000), (6000, 7000)])
def test_chunks_of_polars_are_not_copied(cuts: tuple[int, ...]) -> None:
    pl = pytest.importorskip("polars")
    whole = pl.DataFrame(people(cuts[-1])).with_columns(pl.col("sex").cast(pl.Categorical))
    pieces = [whole[start:end] for start, end in zip((0, *cuts), cuts)]
    chunked = pl.concat([piece.rechunk() for piece in pieces], rechunk=False)
    assert chunked.n_chunks() == len(cuts)
    made = [incrowd.anonymize(table, **ROLES, k=7, order="sorted") for table in [chunked, whole]]
    assert made[0].to_arrow().to_pydict() == made[1].to_arrow().to_pydict()
    # Short chunks are merged by Polars, which is cheaper than many small tables.
    assert cuts[-1] // len(cuts) < 4096 or chunked.n_chunks() == len(cuts)


def test_categories_dates_and_large_strings(columns: dict[str, list[object]]) -> None:
    import datetime

    pl = pytest.importorskip("polars")
    born = [datetime.date(1930 + i % 60, 1 + i % 12, 1 + i % 28) for i in range(400)]
    table = pl.DataFrame(columns).with_columns(
        pl.col("sex").cast(pl.Categorical), pl.Series("born", born)
    )
    roles = {**ROLES, "quasi": ["sex", "born"], "drop": ["age", "zip"]}
    release = incrowd.anonymize(table, **roles, hierarchies={"born": "dates"}, k=5)
    assert release.to_polars().columns == ["sex", "disease", "born"]
    assert incrowd.verify(release).holds


def test_the_order_of_the_input_is_not_published() -> None:
    pa = pytest.importorskip("pyarrow")
    columns = people(600)
    columns["row"] = [i // 6 for i in range(600)]
    release = incrowd.anonymize(
        pa.table(columns), **ROLES, passthrough="row", unlinkable="row", k=5
    )
    rows = release.to_arrow()["row"].to_pylist()
    assert sorted(rows) == columns["row"] and rows != columns["row"]


def test_a_release_is_immutable(arrow: object) -> None:
    release = incrowd.anonymize(arrow, **ROLES, k=5)
    for thing in [release, release.manifest, release.tables[0], release.report]:
        with pytest.raises(AttributeError):
            thing.manifest = None  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del release.manifest
    assert pickle.loads(pickle.dumps(release.manifest)) == release.manifest
    pd = pytest.importorskip("pandas")
    table, before = release.to_pandas(), release.to_pandas()
    table["age"] = "changed"
    pd.testing.assert_frame_equal(release.to_pandas(), before)


def test_a_manifest_is_a_dictionary(tmp_path: Path, arrow: object) -> None:
    release = incrowd.anonymize(arrow, **ROLES, k=5, output=tmp_path / "out.csv")
    manifest, written = release.manifest, json.loads(
        (tmp_path / "out.release.json").read_text(encoding="utf-8")
    )
    assert json.loads(json.dumps(manifest)) == manifest.to_dict() == written
    assert list(manifest) == list(written)
    assert dict(manifest)["records"] is manifest.records and {**manifest} == manifest
    assert isinstance(manifest, dict) and manifest.get("no such key", 7) == 7
    # Copies can be changed; the manifest itself cannot, at any depth.
    own = manifest.to_dict()
    own["models"].append("mine")
    own["records"]["published"] = 0
    merged = manifest | {"note": "mine"}
    assert merged["note"] == "mine" and "note" not in manifest
    changes: list[Any] = [
        lambda one: one.__setitem__("k", 1), lambda one: one.__delitem__("published"),
        lambda one: one.update(k=1),
        lambda one: one.pop("published"), lambda one: one.popitem(),
        lambda one: one.setdefault("k", 1),
        lambda one: one.clear(), lambda one: one.__ior__({"k": 1}),
    ]
    for change in changes:
        for one in (manifest, manifest.records):
            with pytest.raises(TypeError, match="immutable"):
                change(one)
    for again in (
        pickle.loads(pickle.dumps(manifest)), copy.copy(manifest), copy.deepcopy(manifest)
    ):
        assert again == manifest and type(again) is type(manifest) and type(again.records) is type(
            manifest.records
        )
    assert manifest.to_dict() == written


def test_every_answer_can_be_stored(arrow: object) -> None:
    release = incrowd.anonymize(arrow, **ROLES, k=5)
    compared = incrowd.compare(arrow, **ROLES, k=[5], algorithms=["mondrian"])
    answers: list[incrowd.Record] = [
        release.private, incrowd.verify(release), incrowd.attack(release),
        incrowd.measure(arrow, release, queries=5),
        incrowd.profile(arrow), compared, incrowd.explain("mondrian"), incrowd.report(release),
    ]
    for answer in answers:
        assert json.loads(json.dumps(answer)) == answer.to_dict()
        assert copy.deepcopy(answer) == answer
    assert copy.copy(compared).plot().html == compared.plot().html


def test_columns_without_a_role_give_a_warning(arrow: object) -> None:
    with pytest.warns(incrowd.Warning, match="no role: name, sex"):
        incrowd.anonymize(arrow, quasi=["age", "zip"], sensitive="disease", k=5)


def test_warnings_name_arguments(columns: dict[str, list[object]]) -> None:
    pa = pytest.importorskip("pyarrow")
    few = pa.table({**columns, "income": list(range(100)) + [7] * 300})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        incrowd.anonymize(few, **ROLES, passthrough="income", k=5)
    said = " ".join(str(warning.message) for warning in told)
    assert (
        "are unique on" in said
        and "set `unlinkable=` if nobody else can know it" in said
        and "linkable = false" not in said
    )


def test_a_release_in_files(tmp_path: Path, arrow: object) -> None:
    for name in ["out.csv", "more.parquet", "again.arrow"]:
        release = incrowd.anonymize(arrow, **ROLES, k=5, output=tmp_path / name)
        assert release.paths == (tmp_path / name,)
        assert (tmp_path / name).with_suffix(".release.json").exists()
        assert incrowd.verify(release).holds
        assert incrowd.verify(tmp_path / name).holds
        assert len(
            release.to_polars()
        ) == len(release.to_pandas()) == len(release.to_arrow()) == 400
        assert "Verified" in release._repr_html_()
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix != ".json") == [
        "again.arrow", "more.parquet", "out.csv"
    ]


def test_only_a_release_is_replaced(tmp_path: Path, arrow: object) -> None:
    out = tmp_path / "mine.csv"
    out.write_text("a,b\n1,2\n")
    with pytest.raises(incrowd.JobError, match="would replace the file .*mine.csv") as error:
        incrowd.anonymize(arrow, **ROLES, k=5, output=out)
    assert "`replace=`" in str(error.value.help)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.csv"] and out.read_text() == "a,b\n1,2\n"
    with pytest.warns(incrowd.Warning, match="replaced the file .*mine.csv"):
        incrowd.anonymize(arrow, **ROLES, k=5, output=out, replace=True)
    # The file is a release now.
    assert incrowd.verify(incrowd.anonymize(arrow, **ROLES, k=6, output=out)).holds


def test_two_tables(arrow: object) -> None:
    release = incrowd.anonymize(
        arrow, **ROLES, l_diversity=2, algorithm={"name": "anatomy", "l": 2}
    )
    assert len(release.tables) == 2
    assert incrowd.verify(release).holds
    assert release.tables[1].to_arrow().num_rows > 0
    assert incrowd.attack(release, limit={"prosecutor": 1}).holds


def test_k_join_anonymity(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    csv = pytest.importorskip("pyarrow.csv")
    everybody = people(500)
    columns = {name: cells[:200] for name, cells in everybody.items()}
    everybody.pop("disease")
    csv.write_csv(pa.table(everybody), tmp_path / "voters.csv")
    roles = {**ROLES, "quasi": ["age", "sex"], "drop": ["zip"]}
    release = incrowd.anonymize(
        pa.table(columns), **roles, k=5, external=tmp_path / "voters.csv", id="name"
    )
    assert len(release.tables) == 2
    assert incrowd.verify(release).holds
    # The external table in memory has the same people as the one in the file.
    held = incrowd.anonymize(
        pa.table(columns), **roles, k=5, external=pa.table(everybody), id="name", order="sorted"
    )
    filed = incrowd.anonymize(
        pa.table(columns), **roles, k=5, external=tmp_path / "voters.csv", id="name", order="sorted"
    )
    for one, other in zip(held.tables, filed.tables, strict=True):
        assert one.to_arrow().num_rows == other.to_arrow().num_rows
    assert held.manifest.metrics.ncp == filed.manifest.metrics.ncp
    assert incrowd.verify(
        held, external=pa.table(everybody), id="name", original=pa.table(columns)
    ).holds


def test_a_population_in_memory(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    csv = pytest.importorskip("pyarrow.csv")
    everybody = people(600)
    columns = pa.table({name: cells[:200] for name, cells in everybody.items()})
    population = pa.table(everybody)
    csv.write_csv(population, tmp_path / "everybody.csv")
    held = incrowd.anonymize(columns, **ROLES, k_map=10, population=population, order="sorted")
    filed = incrowd.anonymize(
        columns, **ROLES, k_map=10, population=tmp_path / "everybody.csv", order="sorted"
    )
    assert held.to_arrow().equals(filed.to_arrow())
    assert incrowd.verify(held, population=population).holds
    attacked = [
        incrowd.attack(held, population=p, external=p)
        for p in (population, tmp_path / "everybody.csv")
    ]
    assert attacked[0].attacks and attacked[0].attacks == attacked[1].attacks
    with pytest.raises(incrowd.InputError, match="the population"):
        incrowd.anonymize(columns, **ROLES, k_map=10, population=population.drop_columns(["age"]))


def test_suppression_and_batches(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    csv = pytest.importorskip("pyarrow.csv")
    for i in range(2):
        csv.write_csv(pa.table(people(300, seed=i)), tmp_path / f"{i}.csv")
    suppression = {"name": "r-suppression", "l": 3}
    release = incrowd.anonymize(
        pa.table(people(300)), **ROLES, k=3, suppression=suppression, suppression_seed=7
    )
    assert release.manifest.suppression.name == "r-suppression"
    done = incrowd.batches(
        [tmp_path / "0.csv", tmp_path / "1.csv"], **ROLES, k=3, suppression=suppression,
        suppression_seed=7,
        dir=tmp_path / "out",
    )
    assert done.published == 2


def test_batches_of_tables_in_memory(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    csv = pytest.importorskip("pyarrow.csv")
    tables = [pa.table(people(300, seed=i)) for i in range(2)]
    for i, table in enumerate(tables):
        csv.write_csv(table, tmp_path / f"{i}.csv")
    asked: dict[str, Any] = {
        **ROLES, "k": 3, "suppression": {"name": "r-suppression", "l": 3}, "suppression_seed": 7,
        "algorithm": "mondrian",
    }

    def published(given: Any, place: str) -> tuple[Any, dict[str, list[str]]]:
        done = incrowd.batches(given, **asked, dir=tmp_path / place)
        files = (tmp_path / place).glob("*.csv")
        return done, {file.name: sorted(file.read_text().splitlines()) for file in files}

    filed, by_file = published([tmp_path / "0.csv", tmp_path / "1.csv"], "filed")
    held, by_place = published(tables, "held")
    named, by_name = published({"monday": tables[0], "tuesday": tmp_path / "1.csv"}, "named")
    assert sorted(by_file) == ["0.release.csv", "1.release.csv"]
    assert sorted(by_place) == ["batch-1.release.csv", "batch-2.release.csv"]
    assert sorted(by_name) == ["monday.release.csv", "tuesday.release.csv"]
    assert filed.published == held.published == named.published == 2
    # Equal tables give equal releases, independent of their names and sources.
    assert list(map(by_file.get, sorted(by_file))) == list(map(by_place.get, sorted(by_place)))
    assert list(map(by_file.get, sorted(by_file))) == list(map(by_name.get, sorted(by_name)))
    assert [batch.batch for batch in named.private.batches] == ["monday", "tuesday"]
    # A single table in a list, a generator, pandas and Polars.
    assert incrowd.batches(
        (table for table in tables[:1]), **asked, dir=tmp_path / "lazily"
    ).published == 1
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frames = [pandas.DataFrame(people(300)), polars.DataFrame(people(300))]
    assert incrowd.batches(frames, **asked, again=True, dir=tmp_path / "frames").published == 2
    assert (tmp_path / "frames" / "batch-2.release.json").exists()


def test_batches_refuse_single_tables(tmp_path: Path, arrow: object) -> None:
    asked: dict[str, Any] = {
        **ROLES, "k": 3, "suppression": {"name": "r-suppression", "l": 3}, "suppression_seed": 7
    }
    for one in (arrow, "people.csv", tmp_path / "people.csv", 7):
        with pytest.raises(incrowd.JobError, match="expected several") as refused:
            incrowd.batches(one, **asked, dir=tmp_path / "out")  # type: ignore[arg-type]
        assert "by name" in str(refused.value.help)
    for name in ("", "../out", ".hidden", "a/b"):
        with pytest.raises(incrowd.JobError, match="cannot be the name of a release"):
            incrowd.batches({name: arrow}, **asked, dir=tmp_path / "out")
    with pytest.raises(incrowd.JobError, match="several files has no name"):
        incrowd.batches([["a.csv", "b.csv"]], **asked, dir=tmp_path / "out")
    with pytest.raises(incrowd.InputError, match="is not a table"):
        incrowd.batches([arrow, 7], **asked, dir=tmp_path / "out")
    assert not list(tmp_path.glob("out/*"))


def test_notebook_output(arrow: object) -> None:
    release = incrowd.anonymize(arrow, **ROLES, k=5)
    shown = release._repr_html_()
    assert (
        "k-anonymity(k = 5)" in shown and "holds" in shown and "prefers-color-scheme:dark" in shown
    )
    assert shown.count("<tr>") == 1 + 1 + 1 + 5 + 1 + 3
    assert "verify   k-anonymity(k=5)" in repr(release)
    assert "Person" not in shown
