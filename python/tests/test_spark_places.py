"""Outputs of `incrowd.spark`: local files, and file systems that Spark accesses through Hadoop. Of
those, `viewfs` needs no server; it is mounted on a local directory."""

# Fixtures are imported, and tests name them as arguments.
# ruff: noqa: F811

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
# The session and the table are those of the other tests.
from test_spark import KIND, LAKES, ROLES, df, published, put, quiet  # noqa: E402, F401
from test_spark import records, refused_as, table  # noqa: E402, F401

import incrowd  # noqa: E402
import incrowd.spark  # noqa: E402
from incrowd import _incrowd  # noqa: E402
from incrowd.spark import _directory, _files, _hadoop  # noqa: E402
from incrowd.spark._directory import Directory  # noqa: E402
from incrowd.spark._files import LocalFiles  # noqa: E402
from incrowd.spark._formats import check_read  # noqa: E402
from incrowd.spark._hadoop import HadoopFiles  # noqa: E402

if KIND != "classic":
    pytest.skip("a session of Connect has no Java", allow_module_level=True)

JOB: dict[str, Any] = {**ROLES, "on_missing": "keep", "algorithm": "mondrian"}


@pytest.fixture
def mount(spark: Any, tmp_path: Path) -> str:
    """Mounts a separate file system on the directory of the test. Hadoop caches file systems by
    name, so each has a new name."""
    name = f"clinic{abs(hash(tmp_path))}"
    spark._jsc.hadoopConfiguration().set(
        f"fs.viewfs.mounttable.{name}.link./data", tmp_path.as_uri()
    )
    return f"viewfs://{name}/data"


def seen(path: Path) -> list[str]:
    """Returns the names in a directory, without the checksum files of Hadoop."""
    return sorted(entry.name for entry in path.iterdir() if not entry.name.endswith(".crc"))


def test_a_release_appears_is_verified_and_is_replaced(
    df: Any, table: Path, mount: str, tmp_path: Path
) -> None:
    twin = quiet(incrowd.anonymize, table, passthrough=["ward"], **JOB).to_arrow()
    for _ in range(2):
        made = quiet(
            incrowd.spark.anonymize, df, to=f"{mount}/release", passthrough=["ward"], **JOB
        )
        assert seen(tmp_path) == ["release"]
        assert records(published(tmp_path / "release")) == records(twin)
        assert made.df.count() == len(made) == 600
    checked = incrowd.spark.verify(f"{mount}/release", spark=df.sparkSession)
    assert checked.holds and checked.digest_matches and checked.digest == made.manifest.digest
    assert incrowd.spark.verify(made).holds
    # The digest is that of the files, so copies can be verified without Spark.
    own = incrowd.verify(tmp_path / "release")
    assert own.holds and own.digest_matches and own.digest == made.manifest.digest
    assert incrowd.spark.measure(
        df, made, on_missing="keep"
    ).metrics.ncp == pytest.approx(made.metrics.ncp)
    part = next((tmp_path / "release").glob("part-*"))
    part.rename(part.with_name("part-99999.snappy.parquet"))
    (tmp_path / "release" / part.name).write_bytes(
        (tmp_path / "release" / "part-99999.snappy.parquet").read_bytes()
    )
    assert not incrowd.spark.verify(f"{mount}/release", spark=df.sparkSession).holds


def test_nothing_is_visible_before_it_is_verified(
    df: Any, mount: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, looked = Directory.publish, []

    def look(self: Directory, manifest: bytes) -> None:
        (work,) = seen(tmp_path)
        assert work.startswith("_incrowd-release-") and b'"digest"' in manifest
        assert (tmp_path / work).stat().st_mode & 0o777 == 0o700
        looked.append(work)
        real(self, manifest)

    monkeypatch.setattr(Directory, "publish", look)
    quiet(incrowd.spark.anonymize, df, to=f"{mount}/release", **JOB)
    assert looked and seen(tmp_path) == ["release"]


def test_failures_leave_no_files(
    df: Any, mount: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(incrowd.Unsatisfiable):
        quiet(incrowd.spark.anonymize, df, to=f"{mount}/release", **{**JOB, "k": 100_000})
    assert seen(tmp_path) == []

    def full(self: HadoopFiles, path: str, data: bytes) -> None:
        raise OSError("no space")

    monkeypatch.setattr(HadoopFiles, "write", full)
    with pytest.raises(incrowd.ResourcesError, match="was published"):
        quiet(incrowd.spark.anonymize, df, to=f"{mount}/release", **JOB)
    assert seen(tmp_path) == []
    with pytest.raises(incrowd.JobError, match="no directory|not a directory"):
        quiet(incrowd.spark.anonymize, df, to=f"{mount}/none/release", **JOB)
    assert seen(tmp_path) == []


def test_a_release_that_cannot_be_replaced_stays(
    df: Any, mount: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(incrowd.spark.anonymize, df, to=f"{mount}/release", **JOB)
    before = incrowd.verify(tmp_path / "release").digest
    real, fails = HadoopFiles.rename, ["/release"]

    def broken(self: HadoopFiles, path: str, to: str) -> None:
        if any(path.endswith(end) for end in fails) and to == "release":
            raise incrowd.ResourcesError("the name node went away")
        real(self, path, to)

    monkeypatch.setattr(HadoopFiles, "rename", broken)
    with pytest.raises(incrowd.ResourcesError, match="name node"):
        quiet(incrowd.spark.anonymize, df, to=f"{mount}/release", **{**JOB, "k": 7})
    assert seen(tmp_path) == ["release"] and incrowd.verify(tmp_path / "release").digest == before
    # If the old release cannot be restored, the error names its path, and the next run restores it.
    fails.append("-old")
    with pytest.raises(incrowd.ResourcesError, match="name node") as told:
        quiet(incrowd.spark.anonymize, df, to=f"{mount}/release", **{**JOB, "k": 7})
    (old,) = seen(tmp_path)
    assert old.endswith("-old") and told.value.help is not None and old in told.value.help
    monkeypatch.setattr(HadoopFiles, "rename", real)
    with pytest.raises(incrowd.Unsatisfiable):
        quiet(incrowd.spark.anonymize, df, to=f"{mount}/release", **{**JOB, "k": 100_000})
    assert seen(tmp_path) == ["release"] and incrowd.verify(tmp_path / "release").digest == before


def test_only_a_release_is_replaced(df: Any, mount: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(incrowd.JobError, match="is not a release"):
        incrowd.spark.anonymize(df, to=f"{mount}/mine", **JOB)
    with pytest.raises(incrowd.JobError, match="no directory|not a directory"):
        incrowd.spark.anonymize(df, to=f"{mount}/mine/thesis.txt", **JOB)
    assert seen(tmp_path) == ["mine"] and seen(tmp_path / "mine") == ["thesis.txt"]
    (tmp_path / "lake" / "_delta_log").mkdir(parents=True)
    with pytest.raises(incrowd.JobError, match="does not become part of"):
        incrowd.spark.anonymize(df, to=f"{mount}/lake/release", **JOB)
    assert seen(tmp_path / "lake") == ["_delta_log"]
    quiet(incrowd.spark.anonymize, df, to=f"{mount}/release", **JOB)
    with pytest.raises(incrowd.JobError, match="overwrite a table that is read"):
        again = df.sparkSession.read.parquet(f"{mount}/release")
        incrowd.spark.anonymize(again, to=f"{mount}/release", quasi=["sex"], k=2)
    # The same files with another name.
    with pytest.raises(incrowd.JobError, match="overwrite a table that is read"):
        again = df.sparkSession.read.parquet((tmp_path / "release").as_uri())
        incrowd.spark.anonymize(again, to=f"{mount}/release", quasi=["sex"], k=2)


def test_only_an_unchanged_release_is_replaced(
    spark: Any, mount: str, tmp_path: Path  # noqa: F811
) -> None:
    few, own = spark.range(3).coalesce(1), tmp_path / "release"

    def place() -> Directory:
        return Directory(spark, f"{mount}/release")

    def add() -> None:
        shutil.copy(next(own.glob("part-0*")), own / "part-99999.parquet")

    put(place(), spark.range(5).coalesce(1))
    with pytest.raises(incrowd.JobError, match="not an unchanged release"):
        put(place(), few, meanwhile=add)
    assert published(own).num_rows == 10 and seen(tmp_path) == ["release"]
    with pytest.raises(incrowd.JobError, match="not an unchanged release"):
        place().begin([])
    (own / "thesis.txt").touch()
    for replace in (False, True):
        with pytest.raises(incrowd.JobError, match="not part of a release: `thesis.txt`"):
            place().begin([], replace)
    (own / "thesis.txt").unlink()
    put(place(), few, replace=True)
    put(place(), few)
    assert published(own).num_rows == 3 and seen(tmp_path) == ["release"]


def test_no_other_run_publishes_while_digests_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the manifest could be that of one release, and the files those of another."""
    one, two = (Directory(None, str(tmp_path / "release")) for _ in range(2))

    def publish(place: Directory) -> None:
        release = f"{place.work}/release"
        (tmp_path / release).mkdir()
        place.files.write(f"{release}/part-0.parquet", b"PAR1")
        place.publish(json.dumps({"digest": place.files.digest(release)[1]}).encode())

    one.begin([])
    publish(one)
    real, compared = LocalFiles.read, []

    def read(self: LocalFiles, path: str) -> bytes:
        with pytest.raises(incrowd.ResourcesError, match="another run"):
            one.begin([])
        compared.append(path)
        return real(self, path)

    monkeypatch.setattr(LocalFiles, "read", read)
    two.begin([])
    publish(two)
    assert compared == ["release/_incrowd.release.json"] * 2 and seen(tmp_path) == ["release"]


def test_tables_with_a_log_are_not_read_as_files(
    df: Any, table: Path, mount: str, tmp_path: Path  # noqa: F811
) -> None:
    for name, marker, title in LAKES:
        folder = tmp_path / name
        (folder / "day=1").mkdir(parents=True)
        shutil.copy(table, folder / "day=1" / "part-0.parquet")
        (folder / marker).parent.mkdir(parents=True, exist_ok=True)
        (folder / marker).write_text("{}")
        refused_as(title, df.sparkSession, df, f"{mount}/{name}")
    with pytest.raises(incrowd.JobError, match="is an Apache Iceberg table .* does not become"):
        incrowd.spark.anonymize(df, to=f"{mount}/ice/release", **JOB)


def test_a_table_with_a_log_above_a_mount_is_found(
    spark: Any, table: Path, mount: str, tmp_path: Path  # noqa: F811
) -> None:
    place = tmp_path / "release"
    place.mkdir()
    shutil.copy(table, place / "part-0.parquet")
    # The mount is on the directory of the test.
    log = tmp_path.parent / "_delta_log"
    log.mkdir()
    try:
        with pytest.raises(incrowd.InputError, match="is a Delta Lake table"):
            incrowd.spark.verify(f"{mount}/release", spark=spark, quasi=["sex"], k=2)
        with pytest.raises(incrowd.JobError, match="is a Delta Lake table"):
            Directory(spark, f"{mount}/new").begin([])
    finally:
        log.rmdir()
    assert incrowd.spark.verify(f"{mount}/release", spark=spark, quasi=["sex"], k=2).holds


def test_the_program_does_not_read_tables_with_a_log_as_files(
    spark: Any, table: Path, mount: str, tmp_path: Path  # noqa: F811
) -> None:
    from incrowd.spark.__main__ import _read

    lake = tmp_path / "lake"
    (lake / "metadata").mkdir(parents=True)
    shutil.copy(table, lake / "part-0.parquet")
    (lake / "people.csv").write_text("age,zip\n1,2\n")
    (lake / "metadata" / "people.metadata.json").write_text("{}")
    for place in (f"{mount}/lake", lake.as_uri()):
        with pytest.raises(incrowd.InputError, match="an Apache Iceberg table"):
            _read(spark, [f"{place}/*.parquet"], None)
        # Iceberg writes no CSV files.
        assert _read(spark, [f"{place}/people.csv"], None).count() == 1
    (lake / ".hoodie").mkdir()
    with pytest.raises(incrowd.InputError, match="an Apache Hudi table"):
        _read(spark, [f"{mount}/lake/people.csv"], None)


def test_tables_with_a_log_are_those_of_the_compiled_module(tmp_path: Path) -> None:
    """Both give the same answer with the same message."""

    def told(function: Any, *arguments: Any) -> str:
        try:
            function(*arguments)
        except incrowd.InputError as error:
            return str(error.message.partition("` is ")[2])
        return ""

    refused = 0
    for number, marker in enumerate(
        [
            "_delta_log/", "_delta_log", ".hoodie/", "metadata/", "metadata/v1.metadata.json",
            "metadata/v1.metadata.json.gz", "metadata/version-hint.text", "metadata/a.avro",
            "metadata/notes.json", "metadata",
        ]
    ):
        folder = tmp_path / f"table {number}%20"
        (folder / "data" / "day=1").mkdir(parents=True)
        (folder / "data" / "day=1" / "part-0.parquet").write_bytes(b"PAR1")
        (folder / marker).parent.mkdir(exist_ok=True)
        (folder / marker).mkdir() if marker.endswith("/") else (folder / marker).write_text("{}")
        link = tmp_path / f"link{number}"
        link.symlink_to(folder / "data")
        for place in (folder, folder / "data", folder / "data" / "day=1", link):
            message = told(check_read, None, [place.as_uri()])
            assert message == told(_incrowd.digest, place), (marker, place)
            refused += bool(message)
    assert refused == 6 * 4
    # The log may be on a file system that is not mounted.
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / ".hoodie").symlink_to(tmp_path / "nowhere")
    assert "Hudi" in told(check_read, None, [(tmp_path / "far").as_uri()])


def test_files_of_killed_runs_are_removed(
    df: Any, mount: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for age, is_dead in ((_hadoop.DEAD + 60, True), (_hadoop.DEAD - 120, False)):
        left = tmp_path / "_incrowd-release-0123456789abcdef"
        (left / "records").mkdir(parents=True)
        for name in (".begun", ".alive", "."):
            if name != ".":
                (left / name).touch()
            os.utime(left / name, (time.time() - age,) * 2)
        other = tmp_path / "_incrowd-release-two-0123456789abcdef"
        other.mkdir(exist_ok=True)
        if is_dead:
            quiet(incrowd.spark.anonymize, df, to=f"{mount}/release", **JOB)
            # The directory of another release is ignored.
            assert seen(tmp_path) == [other.name, "release"]
        else:
            with pytest.raises(incrowd.ResourcesError, match="another run") as told:
                incrowd.spark.anonymize(df, to=f"{mount}/release", **JOB)
            assert told.value.help is not None and left.name in told.value.help
            assert seen(tmp_path) == [left.name, other.name, "release"]


def test_a_run_writes_heartbeats(
    spark: Any, mount: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_hadoop, "BEAT", 0.05)
    place = Directory(spark, f"{mount}/release")
    place.begin([])
    (work,) = seen(tmp_path)
    alive = tmp_path / work / ".alive"
    os.utime(alive, (1, 1))
    for _ in range(200):
        if alive.stat().st_mtime > 1:
            break
        time.sleep(0.05)
    assert alive.stat().st_mtime > 1
    place.discard()
    time.sleep(0.3)
    assert seen(tmp_path) == []


def test_a_pending_heartbeat_leaves_no_files(
    spark: Any, mount: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory exists when a heartbeat starts, which would create it again after its
    removal."""
    real = HadoopFiles._touch
    begun = threading.Event()

    def slowly(files: HadoopFiles, path: str) -> None:
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            time.sleep(0.5)
        real(files, path)

    monkeypatch.setattr(HadoopFiles, "_touch", slowly)
    monkeypatch.setattr(_hadoop, "BEAT", 0.05)
    place = Directory(spark, f"{mount}/release")
    place.begin([])
    assert begun.wait(30)
    place.discard()
    time.sleep(0.7)
    assert seen(tmp_path) == []


def contend(place: Any, mark: str, began: threading.Barrier) -> bool:
    """Begins a run and publishes a release with its name, if possible. Returns whether it did."""
    began.wait()
    try:
        place.begin([])
    except incrowd.ResourcesError as error:
        assert "another run" in str(error)
        return False
    files = place.files
    # A run that has begun has a separate directory until it publishes.
    assert files.kind(place.work) == "directory"
    files.write(f"{place.work}/note", mark.encode())
    began.wait()
    assert files.read(f"{place.work}/note") == mark.encode()
    release = f"{place.work}/release"
    if isinstance(files, LocalFiles):
        files.path(release).mkdir()
    files.write(f"{release}/part-0.parquet", mark.encode())
    place.publish(json.dumps({"mark": mark, "digest": files.digest(release)[1]}).encode())
    return True


@pytest.mark.parametrize("kind", ["file", "viewfs"])
def test_concurrent_runs_do_not_remove_each_other(
    spark: Any, mount: str, tmp_path: Path, kind: str
) -> None:
    for n in range(20):
        to = str(tmp_path / "release") if kind == "file" else f"{mount}/release"
        done: list[str] = []
        failed: list[BaseException] = []
        barrier = threading.Barrier(3)

        def run(mark: str) -> None:
            try:
                if contend(Directory(spark, to), mark, barrier):  # noqa: B023
                    done.append(mark)  # noqa: B023
                else:
                    barrier.wait()  # noqa: B023
            except BaseException as error:  # noqa: BLE001
                failed.append(error)  # noqa: B023
                barrier.abort()  # noqa: B023

        threads = [threading.Thread(target=run, args=(f"{n} {i}",)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed
        # Exactly one run published, and its release is complete.
        assert len(done) == 1 and seen(tmp_path) == ["release"]
        left = (tmp_path / "release" / "part-0.parquet").read_text()
        manifest = (tmp_path / "release" / "_incrowd.release.json").read_text()
        assert left in done and json.loads(manifest)["mark"] == left


def test_of_claims_the_first_name_waits_for_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (Directory(None, str(tmp_path / "release")) for _ in range(2))
    names = iter(["1" * 16, "2" * 16, "2" * 16, "1" * 16])
    monkeypatch.setattr(_files.secrets, "token_hex", lambda _: next(names))
    # The later name ends at once, although the earlier one has not looked yet.
    first = one.files.claim(one._prefix())
    with pytest.raises(incrowd.ResourcesError, match="another run"):
        two.begin([])
    assert seen(tmp_path) == [first]
    one.files.drop(first)
    # The earlier name waits until the later one ends,
    later = two.files.claim(two._prefix())
    waits = threading.Thread(target=one.begin, args=([],))
    waits.start()
    time.sleep(0.2)
    assert waits.is_alive() and not one.files.is_running("_incrowd-release-" + "1" * 16)
    two.files.drop(later)
    waits.join()
    assert one.work is not None and one.files.is_running(one.work)
    one.discard()
    # or runs, because it looked earlier; and not forever.
    for running in (True, False):
        names = iter(["2" * 16, "1" * 16])
        monkeypatch.setattr(_directory, "TIMEOUT", 0.1)
        later = two.files.claim(two._prefix())
        if running:
            two.files.mark_running(later)
        with pytest.raises(incrowd.ResourcesError, match="another run"):
            one.begin([])
        assert seen(tmp_path) == [later]
        two.files.drop(later)


def test_files_that_could_not_be_removed_are_reported(
    df: Any, mount: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(_files.shutil, "rmtree", lambda *_, **__: None)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            incrowd.spark.anonymize(df, to=tmp_path / "release", **JOB)
        assert any(
            re.search(
                "_incrowd-release-.* contains values of the original table", str(one.message)
            ) for one in told
        )
    assert incrowd.verify(tmp_path / "release").holds
    # Also without a release: the error comes with the warning.
    with monkeypatch.context() as broken:
        broken.setattr(_hadoop.HadoopFiles, "remove", lambda *_: None)
        with pytest.warns(
            incrowd.Warning, match="contains values of the original table"
        ), pytest.raises(incrowd.Unsatisfiable):
            incrowd.spark.anonymize(df, to=f"{mount}/other", **{**JOB, "k": 100_000})


def test_a_directory_removed_before_its_lock_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run creates its directory; before it has a lock, another run removes that directory and
    continues."""
    first, second = (Directory(None, str(tmp_path / "release")) for _ in range(2))
    real = _files._locked
    taken: list[Path] = []

    def late(path: Path) -> int | None:
        if not taken:
            taken.append(path.parent)
            second.begin([])
            assert not path.parent.exists()
        return real(path)

    monkeypatch.setattr(_files, "_locked", late)
    with pytest.raises(incrowd.ResourcesError, match="another run"):
        first.begin([])
    assert second.work is not None and seen(tmp_path) == [second.work]
    second.discard()
    first.begin([])
    assert first.work is not None and seen(tmp_path) == [first.work]
    first.discard()
    assert seen(tmp_path) == []


def test_concurrent_processes_do_not_remove_each_other(tmp_path: Path) -> None:
    program = """
import json
import sys
import incrowd
from incrowd.spark._directory import Directory
to, mark = sys.argv[1:]
done = 0
for n in range(100):
    place = Directory(None, to)
    try:
        place.begin([])
    except incrowd.ResourcesError as error:
        assert "another run" in str(error), error
        continue
    files = place.files
    files.path(f"{place.work}/release").mkdir()
    for name in ("part-1.parquet", "part-2.parquet"):
        files.write(f"{place.work}/release/{name}", mark.encode())
    place.publish(json.dumps({"digest": files.digest(f"{place.work}/release")[1]}).encode())
    done += 1
print(done)
"""
    to = str(tmp_path / "release")
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", program, to, mark],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for mark in "abc"
    ]
    told = [run.communicate() for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], told
    assert sum(int(out) for out, _ in told) >= 1
    assert seen(tmp_path) == ["release"]
    files = Directory(None, to).files
    manifest = json.loads(files.read("release/_incrowd.release.json"))
    assert manifest["digest"] == files.digest("release")[1]
    assert files.read("release/part-1.parquet") == files.read("release/part-2.parquet")


def test_object_stores_are_refused(df: Any) -> None:
    for scheme in ("s3", "s3a", "gs", "wasb", "wasbs", "unknown"):
        with pytest.raises(incrowd.JobError, match=f"atomically in `{scheme}://`") as told:
            incrowd.spark.anonymize(df, to=f"{scheme}://bucket/release", **JOB)
        assert (
            told.value.help is not None
            and "table=" in told.value.help
            and "hdfs://" in told.value.help
        )
    # An unreachable file system is an error.
    with pytest.raises(incrowd.Error, match="cannot reach|cannot look for"):
        incrowd.spark.anonymize(df, to="viewfs://nowhere/data/release", **JOB)


def test_an_object_store_behind_a_mount_is_refused(
    df: Any, mount: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Local files represent an object store.
    monkeypatch.setattr(_hadoop, "MOUNTED", _hadoop.RENAMING)
    with pytest.raises(incrowd.JobError, match="behind the mount"):
        incrowd.spark.anonymize(df, to=f"{mount}/release", **JOB)
    assert seen(tmp_path) == []
