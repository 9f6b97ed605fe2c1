"""Releases on Spark beside those of a peer: the Mondrian for Spark of mosaicrown
(https://github.com/mosaicrown/mondrian, `distributed/`).

Both get the same CSV file, the same cluster and the same settings, and run as a command of their
own, from starting Spark to the end of the process. The peer cuts the table into fragments on the
driver, and each fragment by pandas on the executors. Two scorers read both releases:
`incrowd.measure`, and the peer's own measure, written anew here. The peer needs pandas, scipy,
treelib and binpacking.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import spark_cluster as cluster

Rows = list[tuple[str, ...]]


def table(given: argparse.Namespace, records: int, place: Path, columns: list[str]) -> Path:
    """Returns the complete records of a file, or generated people, with the needed columns."""
    path = place / f"table-{records}.csv"
    if given.table:
        read = pc.read_csv(
            given.table, convert_options=pc.ConvertOptions(include_columns=columns)
        ).to_pandas()
        found = pa.Table.from_pandas(
            read[~read.isin(["?", ""]).any(axis=1)].dropna(), preserve_index=False
        )
    else:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]")
        for key, value in cluster.settings(place, 0, 1000, "2g").items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        found = cluster.people(spark, records).select(*columns).toArrow()
        spark.stop()
    pc.write_csv(found, path, pc.WriteOptions(quoting_style="needed"))
    return path


class Spent(threading.Thread):
    """Returns the processor seconds of a process and its descendants, also of orphans."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root, self.ended, self.seen = root, threading.Event(), dict[tuple[int, str], int]()

    def run(self) -> None:
        while not self.ended.wait(0.5):
            for pid in cluster.family(self.root):
                try:
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                # The start time distinguishes it from a later process with the same id.
                self.seen[pid, fields[19]] = int(fields[11]) + int(fields[12])

    def seconds(self) -> float:
        self.ended.set()
        self.join()
        return sum(self.seen.values()) / cluster.TICKS


def timed(command: list[str], log: Path, env: dict[str, str]) -> tuple[float, float]:
    """Runs a command and returns its seconds and processor seconds."""
    began = time.monotonic()
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env=env, cwd=log.parent
        )
        spent = Spent(process.pid)
        spent.start()
        code = process.wait()
    took = time.monotonic() - began
    if code:
        raise SystemExit(f"{command[-5:]} failed:\n{log.read_text(errors='replace')[-2000:]}")
    return took, spent.seconds()


def submit(given: argparse.Namespace, place: Path, executors: int) -> list[str]:
    """Returns the cluster settings as arguments of spark-submit; the peer's script has them too."""
    words = ["--master", cluster.master(executors, given.memory)]
    for key, value in cluster.settings(place, executors, given.memory, given.driver_memory).items():
        words += ["--conf", f"{key}={value}"]
    return [*words, "--conf", f"spark.default.parallelism={max(executors, 2)}"]


def ours(
    given: argparse.Namespace, place: Path, executors: int, source: Path, algorithm: str
) -> tuple[float, float, Rows]:
    job, out = place / "job.toml", place / "release"
    columns = {**dict.fromkeys(given.quasi.split(","), "quasi"), given.sensitive: "sensitive"}
    roles = "\n".join(f'"{name}" = "{role}"' for name, role in columns.items())
    job.write_text(
        f'[input]\npath = "{source}"\n[output]\npath = "{out}"\n'
        f'[columns]\n{roles}\n[[models]]\nname = "k-anonymity"\nk = {given.k}\n'
        f'[algorithm]\nname = "{algorithm}"\n',
        encoding="utf-8",
    )
    env = cluster.environment(place)
    env["PYSPARK_SUBMIT_ARGS"] = " ".join([*submit(given, place, executors), "pyspark-shell"])
    took, spent = timed([sys.executable, "-m", "incrowd.spark", str(job)], place / "ours.log", env)
    found = pq.read_table(out, columns=given.quasi.split(","))
    return took, spent, list(
        zip(*[column.cast(pa.string()).to_pylist() for column in found.columns])
    )


def peers(
    given: argparse.Namespace, place: Path, executors: int, source: Path, fragments: int
) -> tuple[float, float, Rows]:
    home, out, quasi = given.peer / "distributed", place / "peer.csv", given.quasi.split(",")
    with zipfile.ZipFile(place / "peer.zip", "w") as bundle:
        for file in sorted((home / "mondrian").glob("*.py")):
            bundle.write(file, file.name)
    job = {
        "input": source.as_uri(), "output": out.as_uri(), "quasiid_columns": quasi,
        "sensitive_columns": [given.sensitive],
        "column_score": "norm_span", "fragmentation": "mondrian", "K": given.k,
    }
    (place / "peer.json").write_text(json.dumps(job), encoding="utf-8")
    env = cluster.environment(place)
    words = [
        str(Path(env["SPARK_HOME"]) / "bin" / "spark-submit"), *submit(given, place, executors)
    ]
    words += [
        "--conf", "spark.rpc.message.maxSize=2000", "--conf",
        f"spark.sql.shuffle.partitions={fragments}"
    ]
    words += [
        "--py-files", str(place / "peer.zip"), str(home / "anonymize.py"), str(place / "peer.json"),
        str(fragments), "0", "0"
    ]
    took, spent = timed(words, place / "peer.log", env)
    rows: Rows = []
    for part in sorted(out.glob("*.csv")):
        with part.open(newline="", encoding="utf-8") as file:
            rows += [tuple(as_cell(line[name]) for name in quasi) for line in csv.DictReader(file)]
    return took, spent, rows


def as_cell(text: str) -> str:
    """Converts a cell of the peer to the notation of incrowd: `[1-5]` is `[1, 5]`, `{a,b}` is `{a,
    b}`."""
    if text.startswith("[") and text.endswith("]"):
        return "[{}, {}]".format(*text[1:-1].split("-"))
    return "{" + ", ".join(text[1:-1].split(",")) + "}" if text.startswith("{") else text


def certainty_penalty(source: Path, quasi: list[str], rows: Rows) -> float:
    """Returns the peer's measure: of an interval its share of the column's range, of a set its
    share of the column's values, else 0."""
    whole = pc.read_csv(source)
    lost = 0.0
    for at, name in enumerate(quasi):
        values = whole.column(name)
        numeric = not pa.types.is_string(values.type)
        unique = values.unique().to_pylist()
        size = max(unique) - min(unique) if numeric else len(unique)
        for cell, records in Counter(row[at] for row in rows).items():
            inner = cell[1:-1].split(", ") if cell[0] in "[{" else [cell]
            if len(inner) > 1:
                lost += records * (
                    (float(inner[1]) - float(inner[0])) if numeric else len(inner)
                ) / size
    return lost / len(quasi) / len(rows)


def ncp(source: Path, quasi: list[str], rows: Rows, place: Path) -> float:
    """Returns the result of `incrowd.measure`."""
    import warnings

    import incrowd

    released = place / "scored.csv"
    with released.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(quasi)
        writer.writerows(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(incrowd.measure(source, released, quasi=quasi).metrics.ncp)


def compare(given: argparse.Namespace, place: Path) -> int:
    """Prints the table of both, a row for each run."""
    quasi = given.quasi.split(",")
    head = [
        "table", "records", "executors", "by", "s", "processor s", "NCP", "the peer's measure",
        "groups", "smallest", "load"
    ]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
    for records in [0] if given.table else given.rows:
        source = table(given, records, place, [*quasi, given.sensitive])
        with source.open(encoding="utf-8") as lines:
            count = sum(1 for _ in lines) - 1
        for executors in given.executors:
            for name, took, spent, rows in runs(given, place, executors, source):
                if len(rows) != count:
                    name += f", {count - len(rows):,} records missing"
                groups = Counter(rows)
                cells = [
                    given.table.stem if given.table else "generated", f"{count:,}",
                    str(executors or "`local[2]`"), name, f"{took:.1f}",
                    f"{spent:.0f}", f"{ncp(source, quasi, rows, place):.5f}",
                    f"{certainty_penalty(source, quasi, rows):.5f}",
                    f"{len(groups):,}", str(min(groups.values())), f"{os.getloadavg()[0]:.1f}",
                ]
                print(f"| {' | '.join(cells)} |", flush=True)
    return 0


def runs(given: argparse.Namespace, place: Path, executors: int, source: Path) -> Iterator[
    tuple[str, float, float, Rows]
]:
    for algorithm in ("mondrian", "auto"):
        yield (f"incrowd, `{algorithm}`", *ours(given, place, executors, source, algorithm))
    for fragments in given.fragments or [max(executors, 2)]:
        yield (
            f"the peer, {fragments} fragments", *peers(given, place, executors, source, fragments)
        )
