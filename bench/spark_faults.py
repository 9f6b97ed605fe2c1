"""What becomes of a release when something breaks: a real cluster of processes, and one fault in
each run.

    python bench/spark_faults.py [--rows N] [--kills N]

Starts a Spark Connect server with two executors (`local-cluster[2,1,1200]`), makes a release
without any fault, and then one for each fault. Every run must end with the same records or without
a release. Prints the table of docs/spark.md; exit code 1 if any run ended otherwise. Linux, as root
for the disk that is full; Java and `pip install 'pyspark[connect]' pyarrow incrowd`.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from spark_cluster import family

JOB = {"quasi": ["age", "zip", "sex"], "sensitive": ["disease"], "k": 10, "algorithm": "mondrian"}
PATIENCE = 900


def make_table(path: Path, rows: int) -> None:
    draw = random.Random(1)
    pq.write_table(
        pa.table({
            "name": [f"Person {i}" for i in range(rows)],
            "age": pa.array([draw.randint(0, 99) for _ in range(rows)], pa.int32()),
            "zip": [f"{draw.randint(10000, 10400)}" for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
            "disease": [draw.choice(["flu", "cold", "asthma", "none"]) for _ in range(rows)],
            "ward": [draw.choice(["north", "south", "east"]) for _ in range(rows)],
        }),
        path, row_group_size=max(1, rows // 8),
    )


def run_client(server: str, table: str, to: str) -> int:
    """Runs the program of a user."""
    import warnings

    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession

    import incrowd
    import incrowd.spark

    spark = SparkSession.builder.remote(server).getOrCreate()
    # By default a Connect client searches for a lost server for very long.
    from pyspark.sql.connect.client.retries import DefaultPolicy

    spark.client.set_retry_policies([DefaultPolicy(max_retries=5, max_backoff=2000)])
    df = spark.read.parquet(Path(table).as_uri())
    print("begun", flush=True)
    try:
        release = incrowd.spark.anonymize(
            df, to=to, identifier=["name"], passthrough=["ward"], **JOB,
        )
    except incrowd.Error as error:
        print(f"{type(error).__name__}: {error.message}", flush=True)
        return 2
    print(f"published {len(release)}", flush=True)
    return 0


class Server:
    """A Connect server with two executors."""

    def __init__(self, place: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        import pyspark

        home = Path(pyspark.__file__).parent
        settings = {
            "spark.connect.grpc.binding.port": str(self.port), "spark.ui.enabled": "false",
            "spark.driver.memory": "1g",
            "spark.executor.memory": "1000m", "spark.sql.shuffle.partitions": "4",
            "spark.local.dir": str(place / "local"),
            "spark.sql.warehouse.dir": str(place / "warehouse"), "spark.log.level": "ERROR",
            "spark.driver.host": "localhost", "spark.driver.bindAddress": "127.0.0.1",
            # A killed executor is restarted; a test may kill many.
            "spark.deploy.maxExecutorRetries": "-1", "spark.task.maxFailures": "8",
        }
        command = [str(home / "bin" / "spark-submit"), "--master", "local-cluster[2,1,1200]",
                   "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--name",
                   "faults"]
        for key, value in settings.items():
            command += ["--conf", f"{key}={value}"]
        env = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1",
               "SPARK_LOCAL_HOSTNAME": "localhost",
               "SPARK_SCALA_VERSION": "2.13", "SPARK_WORKER_DIR": str(place / "work")}
        self.log = (place / "server.log").open("ab")
        self.process = subprocess.Popen(
            [*command, "spark-internal"], env=env, stdout=self.log, stderr=self.log, cwd=place,
            start_new_session=True,
        )
        end = time.monotonic() + PATIENCE
        while True:
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended: see {place / 'server.log'}")
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(1)

    @property
    def address(self) -> str:
        return f"sc://127.0.0.1:{self.port}"

    def descendants(self) -> list[int]:
        return family(self.process.pid)[1:]

    def executors(self) -> list[int]:
        def is_executor(pid: int) -> bool:
            try:
                return b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                return False
        return [pid for pid in self.descendants() if is_executor(pid)]

    def kill(self) -> None:
        """Ends the server and its executors, each by its process id."""
        for pid in [*self.descendants(), self.process.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()


def phase(out: Path) -> str:
    """Returns the phase of a release, by its files."""
    work = next(iter(out.glob("_incrowd-release-*")), None)
    if work is None:
        return "done" if (out / "release").exists() else "start"
    if (work / "release" / "_SUCCESS").exists() or (out / "release").exists():
        return "read-back"
    if (work / "release").exists():
        return "write"
    if (work / "records").exists() and not (work / "records" / "_SUCCESS").exists():
        return "join"
    if (work / "records").exists():
        return "write"
    return "fold"


def contents(release: Path) -> collections.Counter[tuple[object, ...]]:
    return collections.Counter(
        zip(*[column.to_pylist() for column in pq.read_table(release).columns])
    )


class Harness:
    def __init__(self, place: Path, rows: int) -> None:
        self.place, self.rows = place, rows
        self.table = place / "people.parquet"
        make_table(self.table, rows)
        self.server = Server(place)
        self.twin: collections.Counter[tuple[object, ...]] | None = None
        self.lines: list[tuple[str, int, collections.Counter[str]]] = []
        self.failed = False

    def run(self, when: str, fault: object, out: Path | None = None) -> str:
        """Runs one release with a fault in a phase, and returns the outcome."""
        own = out or Path(tempfile.mkdtemp(dir=self.place))
        client = subprocess.Popen(
            [
                sys.executable, __file__, "--client", self.server.address, str(self.table),
                str(own / "release")
            ],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        assert client.stdout is not None
        client.stdout.readline()
        end = time.monotonic() + PATIENCE
        while client.poll() is None and phase(own) != when and time.monotonic() < end:
            time.sleep(0.005)
        struck = client.poll() is None
        if struck and callable(fault):
            time.sleep(random.uniform(0, 1.0))
            fault(client, own)
        try:
            said = client.communicate(timeout=PATIENCE)[0].strip()
        except subprocess.TimeoutExpired:
            client.kill()
            self.failed = True
            return "hung"
        release = own / "release"
        if not release.exists():
            left = [entry.name for entry in own.glob("_incrowd-*")]
            if left and client.returncode >= 0:
                self.failed = True
                return f"no release, but {len(left)} left behind"
            return "no release" + (", a place left that the next run removes" if left else "")
        found = contents(release)
        if found.total() != self.rows or (
            self.twin is not None and found != self.twin
        ) or "published" not in said:
            self.failed = True
            return f"WRONG: {found.total()} records"
        checked = subprocess.run(
            [
                sys.executable, "-c",
                "import incrowd,sys; sys.exit(not incrowd.verify(sys.argv[1]).holds)", str(release)
            ],
            capture_output=True,
        )
        if checked.returncode or any(own.glob("_incrowd-*")):
            self.failed = True
            return "WRONG: it does not verify"
        self.twin = self.twin or found
        return (
            "the same release"
            if struck or fault is None
            else "the same release (the fault came too late)"
        )

    def repeat(
        self, what: str, when: str, fault: object, times: int, out: Path | None = None
    ) -> None:
        ends: collections.Counter[str] = collections.Counter()
        for _ in range(times):
            ends[self.run(when, fault, out)] += 1
            print(f"{what}: {dict(ends)}", file=sys.stderr, flush=True)
        self.lines.append((what, times, ends))

    def kill_executor(self, _: object, __: Path) -> None:
        alive = self.server.executors()
        if alive:
            os.kill(random.choice(alive), signal.SIGKILL)


def kill_client(client: subprocess.Popen[str], _: Path) -> None:
    client.kill()


def remove_staging(_: object, out: Path) -> None:
    for work in out.glob("_incrowd-*"):
        shutil.rmtree(work, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--server-only", action="store_true", help="only the fault of the server")
    parser.add_argument("--client", nargs=3)
    given = parser.parse_args()
    if given.client:
        return run_client(*given.client)
    place = Path(tempfile.mkdtemp(prefix="incrowd-faults-"))
    harness = Harness(place, given.rows)
    try:
        harness.repeat("no fault", "never", None, 1)
        phases = [] if given.server_only else ["fold", "join", "write", "read-back"]
        for i, when in enumerate(phases):
            times = given.kills // 4 + (i < given.kills % 4)
            harness.repeat(
                f"an executor is killed (-9) in the {when}", when, harness.kill_executor, times
            )
        # A killed run left its directory; the next run for the same release removes it.
        again = place / "again"
        again.mkdir()
        if not given.server_only:
            harness.repeat(
                "the program is killed (-9) in the write", "write", kill_client, 1, again
            )
            harness.repeat("the same release, made again after that", "never", None, 1, again)
            harness.repeat("the staging place is removed in the write", "write", remove_staging, 1)
        small = place / "small"
        small.mkdir()
        size = max(1, given.rows // 200_000)
        if not given.server_only and os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", str(small)],
            capture_output=True
        ).returncode == 0:
            try:
                harness.repeat("the disk is full", "never", None, 1, small)
            finally:
                subprocess.run(["umount", "-l", str(small)], check=False)
        harness.repeat(
            "the server is killed (-9) in the write", "write", lambda *_: harness.server.kill(), 1
        )
    finally:
        harness.server.kill()
        shutil.rmtree(place, ignore_errors=True)
    print("| fault | runs | ended with |\n|---|---|---|")
    for what, times, ends in harness.lines:
        told = "; ".join(f"{end} ({n})" if len(ends) > 1 else end for end, n in ends.items())
        print(f"| {what} | {times} | {told} |")
    return int(harness.failed)


if __name__ == "__main__":
    sys.exit(main())
