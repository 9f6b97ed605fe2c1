"""What the benchmarks on Spark share: a cluster of processes, people who do not exist, and what
processes used.

A cluster is `local-cluster[N,1,MEMORY]`: N executors with one core each, in processes of their own,
started with the session and ended with it. `local[2]` has no executors; two threads of the driver
do the work.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

TICKS = os.sysconf("SC_CLK_TCK")
#: The MiB of an executor outside of its heap.
BESIDE = 200


def environment(place: Path) -> dict[str, str]:
    """Returns the environment of cluster processes on this machine."""
    import pyspark

    return {
        **os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost",
        "SPARK_SCALA_VERSION": "2.13",
        "SPARK_HOME": str(Path(pyspark.__file__).parent), "SPARK_WORKER_DIR": str(place / "work"),
        "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def master(executors: int, memory: int) -> str:
    """A session without executors: threads of the driver."""
    return f"local-cluster[{executors},1,{memory + BESIDE}]" if executors else "local[2]"


def settings(place: Path, executors: int, memory: int, driver: str) -> dict[str, str]:
    return {
        "spark.ui.enabled": "false", "spark.log.level": "ERROR", "spark.driver.memory": driver,
        "spark.driver.maxResultSize": "0",
        "spark.executor.memory": f"{memory}m",
        "spark.sql.shuffle.partitions": str(16 * max(executors, 1)),
        "spark.local.dir": str(place / "local"),
        "spark.sql.warehouse.dir": str(place / "warehouse"),
        "spark.driver.host": "localhost", "spark.driver.bindAddress": "127.0.0.1",
    }


def people(spark: Any, records: int) -> Any:
    """Returns ten columns. Sums and minima of draws give mostly ordinary people and some
    outliers."""
    from pyspark.sql import functions as f

    def draw(salt: int, n: int) -> Any:
        return f.pmod(f.xxhash64(f.col("id"), f.lit(salt)), f.lit(n))

    age = ((draw(1, 45) + draw(2, 45)) + draw(7, 10)).cast("int")
    zip_ = f.concat(
        f.lit("1"),
        f.lpad(f.least(draw(3, 1000), draw(4, 1000), draw(8, 1000)).cast("string"), 3, "0")
    )
    income = (f.least(draw(5, 200), draw(9, 200), draw(10, 200)) * 1000).cast("int")
    return spark.range(records).select(
        f.col("id").cast("string").alias("name"), age.alias("age"), zip_.alias("zip"),
        f.when(draw(6, 2) == 0, "f").otherwise("m").alias("sex"),
        f.least(draw(11, 16), draw(12, 16)).cast("int").alias("education"), income.alias("income"),
        draw(13, 6).cast("string").alias("disease"), draw(14, 9).cast("string").alias("ward"),
        draw(15, 1000).cast("int").alias("score"), draw(16, 50).cast("string").alias("clinic"),
    )


def family(root: int) -> list[int]:
    """Returns a process and all its descendants."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            children[int(stat.rpartition(")")[2].split()[1])].append(int(entry.name))
    found, left = [root], [root]
    while left:
        here = children[left.pop()]
        found += here
        left += here
    return found


def processor(root: int) -> float:
    """Returns the processor seconds of a process and its descendants."""
    total = 0
    for pid in family(root):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        # Of the process, and of finished children.
        total += sum(int(field) for field in fields[11:15])
    return total / TICKS


def peak(pid: int | str = "self") -> float:
    """Returns the peak memory of a process in MiB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)


class Watch:
    """Looks at the processes and the files of a run every few seconds: the most memory of the
    executors and of the driver's Java, and the most bytes on the disk."""

    def __init__(self, place: Path, every: float = 2.0) -> None:
        self.place, self.every = place, every
        self.java = self.executor = self.disk = self.load = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(self.every):
            for pid in family(os.getpid())[1:]:
                try:
                    line = Path(f"/proc/{pid}/cmdline").read_bytes()
                except OSError:
                    continue
                if b"CoarseGrainedExecutorBackend" in line:
                    self.executor = max(self.executor, peak(pid))
                elif b"java" in line.split(b"\0")[0]:
                    self.java = max(self.java, peak(pid))
            self.disk = max(self.disk, size(self.place) / 2**20)
            self.load = max(self.load, os.getloadavg()[0])


def size(place: Path) -> int:
    """Returns the bytes of all files below a directory."""
    total = 0
    for directory, _, files in os.walk(place):
        for file in files:
            try:
                total += os.lstat(os.path.join(directory, file)).st_size
            except OSError:
                continue
    return total


def shuffled(log: Path, begin: float, end: float) -> float:
    """Returns the MiB that tasks wrote for shuffles between two times, from an event log."""
    total = 0
    for file in (
        file for file in log.rglob("*") if file.is_file() and not file.name.startswith(".")
    ):
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                if '"SparkListenerTaskEnd"' in line:
                    event = json.loads(line)
                    metrics = event.get("Task Metrics") or {}
                    if begin <= event["Task Info"]["Finish Time"] / 1000 <= end:
                        total += metrics.get("Shuffle Write Metrics", {}).get(
                            "Shuffle Bytes Written", 0
                        )
    return total / 2**20


class Clock:
    """Seconds and processor seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.spent: dict[str, float] = {}
        self._step = ""
        self._written = False
        self._at, self._used = time.monotonic(), processor(os.getpid())

    def told(self, step: str, _: int, __: int | None) -> None:
        """Called when a release begins a step."""
        if step == "writing":
            self._written = True
            self.step("writing")
        elif self._written:
            self.step("checking")
        else:
            self.step("counting" if step in ("counting", "folding") else "planning")

    def step(self, name: str) -> None:
        if name == self._step:
            return
        now, used = time.monotonic(), processor(os.getpid())
        if self._step:
            self.seconds[self._step] = self.seconds.get(self._step, 0) + now - self._at
            self.spent[self._step] = self.spent.get(self._step, 0) + used - self._used
        self._step, self._at, self._used = name, now, used
