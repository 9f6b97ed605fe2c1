"""Errors are exceptions, sorted by who must act, and never contain a cell."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import incrowd
import pytest
from conftest import ROLES, people


def test_folders_with_deleted_records_are_refused(tmp_path: Path) -> None:
    columns = people(40)
    text = "\n".join(
        ",".join(map(str, row)) for row in [tuple(columns), *zip(*columns.values())]
    ) + "\n"
    folder = tmp_path / "people"
    (folder / "_delta_log").mkdir(parents=True)
    (folder / "part-0.csv").write_text(text)
    for table in (folder, folder / "part-0.csv", folder / "*.csv"):
        with pytest.raises(incrowd.InputError, match="Delta Lake") as error:
            incrowd.anonymize(table, **ROLES, k=2)
        assert "export a snapshot" in (error.value.help or "")
    table = tmp_path / "people.csv"
    table.write_text(text)
    with pytest.raises(incrowd.JobError, match="does not become part of"):
        incrowd.anonymize(table, **ROLES, k=2, output=folder / "out.csv")


def test_missing_tables_jobs_and_models_are_errors(arrow: object, tmp_path: Path) -> None:
    with pytest.raises(incrowd.InputError, match="not a table"):
        incrowd.anonymize(42, quasi=["age"], k=2)
    with pytest.raises(incrowd.InputError):
        incrowd.anonymize(tmp_path / "none.csv", quasi=["age"], k=2)
    with pytest.raises(incrowd.JobError, match="age"):
        incrowd.anonymize(arrow, quasi=["agee"], k=2)
    with pytest.raises(incrowd.Unsatisfiable):
        incrowd.anonymize(arrow, **ROLES, k=1000)
    with pytest.raises(incrowd.JobError) as error:
        incrowd.anonymize(arrow, **ROLES, k=5, on_missing="kep")  # type: ignore[arg-type]
    assert error.value.argument == "on_missing" and error.value.help == "did you mean `keep`?"
    with pytest.raises(incrowd.JobError, match="output"):
        incrowd.anonymize(arrow, **ROLES, k=5, report="page.html")
    with pytest.raises(incrowd.JobError, match="not a table in memory"):
        incrowd.anonymize(arrow, **ROLES, k=5, manifest=arrow)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        incrowd.anonymize(arrow, quazi=["age"], k=2)  # type: ignore[call-arg]
    with pytest.raises(incrowd.ResourcesError):
        incrowd.anonymize(arrow, **ROLES, k=5, output=tmp_path / "none" / "out.csv")


def test_a_lazy_frame_needs_collect(columns: dict[str, list[object]]) -> None:
    pl = pytest.importorskip("polars")
    with pytest.raises(incrowd.InputError) as error:
        incrowd.anonymize(pl.LazyFrame(columns), **ROLES, k=2)
    assert error.value.help == "call .collect() first"


def test_no_error_has_a_cell() -> None:
    pa = pytest.importorskip("pyarrow")
    columns = people(50)
    columns["age"] = [str(age) for age in columns["age"]]
    columns["age"][17] = "SECRETCELL"
    with pytest.raises(incrowd.InputError) as error:
        incrowd.anonymize(pa.table(columns), **ROLES, k=2, kind={"age": "numeric"})
    assert "SECRETCELL" not in str(error.value) and "age" in str(error.value)


def test_progress_is_reported_and_may_stop(arrow: object) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table(people(60_000))
    seen: list[tuple[str, int, Any]] = []
    incrowd.anonymize(table, **ROLES, k=5, progress=lambda *step: seen.append(step))
    assert seen and all(isinstance(step, str) for step, _, _ in seen)

    def stop(step: str, done: int, total: int | None) -> None:
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        incrowd.anonymize(table, **ROLES, k=5, progress=stop)


def test_other_threads_continue() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table(people(60_000))
    ticks, done = [0], threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    incrowd.anonymize(table, **ROLES, k=5)
    done.set()
    thread.join()
    assert ticks[0] > 5


INTERRUPTED = """
import sys, signal
sys.path[:0] = {path!r}
import incrowd, pyarrow as pa, pathlib, os, threading
from conftest import people, ROLES
table = pa.table(people(60_000))
out = pathlib.Path({out!r})
main = os.getpid()
def watch(step, done, total):
    if step == {step!r}:
        os.kill(main, signal.SIGINT)
try:
    incrowd.anonymize(table, **ROLES, k=5, output=out / "release.csv", progress=watch)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interruption_leaves_no_files(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    here = str(Path(__file__).parent)
    steps: list[str] = []
    import pyarrow as pa

    incrowd.anonymize(
        pa.table(people(60_000)), **ROLES, k=5, progress=lambda step, *_: steps.append(step)
    )
    for step in dict.fromkeys(steps):
        out = tmp_path / step.replace(" ", "")
        out.mkdir()
        code = INTERRUPTED.format(path=[here], out=str(out), step=step)
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
        )
        left = sorted(p.name for p in out.iterdir())
        # A step that ended before its first report is not interrupted, and neither is publishing,
        # which is atomic.
        whole = ["release.csv", "release.release.json"]
        allowed = (
            [[], whole]
            if step == "publishing"
            else [[]] if "interrupted" in done.stdout else [whole]
        )
        assert left in allowed, (step, done)


def test_a_forked_process_works(arrow: object) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    incrowd.anonymize(arrow, **ROLES, k=5)
    code = textwrap.dedent(
        """
        import sys, os
        sys.path[:0] = %r
        import incrowd, pyarrow as pa
        from conftest import people, ROLES
        table = pa.table(people())
        incrowd.anonymize(table, **ROLES, k=5)
        child = os.fork()
        if child == 0:
            incrowd.anonymize(table, **ROLES, k=5)
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    ) % [str(Path(__file__).parent)]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "7", done


def test_the_command(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "incrowd"]
    version = subprocess.run([*run, "--version"], capture_output=True, text=True)
    assert version.stdout.strip() == f"incrowd {incrowd.__version__}"
    assert subprocess.run(
        [*run, "verify", str(tmp_path / "none.csv")], capture_output=True
    ).returncode == 2
    table = tmp_path / "t.csv"
    table.write_text("age,disease\n1,a\n2,b\n3,c\n")
    fails = subprocess.run(
        [*run, "verify", str(table), "--quasi", "age", "-k", "2"], capture_output=True
    )
    assert fails.returncode == 1
