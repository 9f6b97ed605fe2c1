"""Whole commands on tables of other shapes, beside a copy by Polars; Markdown on standard output.

usage: tables.py [ROWS…]     default: 1000000 10000000

A table of visits is generated: id, age, sex, 20,000 zip codes, region, education, marital status,
200 occupations, countries, income with two decimals, date, disease, children. `mondrian` with k =
10 reads it, writes a release and verifies it; Polars copies the columns that the job reads. Both
run in turn, in processes of their own; the figure is the median of three rounds. Only the ratios
mean anything. The program is `target/release/incrowd`, or INCROWD_PROGRAM.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3
FIVE = ["age", "sex", "zip", "region", "education"]
NINE = [*FIVE, "marital", "occupation", "country", "children"]

TABLE = """
import sys
import numpy as np, polars as pl
records, to = int(sys.argv[1]), sys.argv[2]
r = np.random.default_rng(7)
def draw(values, skew):
    weight = 1 / np.arange(1, len(values) + 1) ** skew
    return pl.Series(values)[r.choice(len(values), records, p=weight / weight.sum())]
zips = [f"{zip:05d}" for zip in r.choice(99999, 20000, replace=False)]
table = pl.DataFrame({
    "id": np.arange(records),
    "age": np.clip(r.normal(45, 18, records).astype(int), 0, 99),
    "sex": draw(["f", "m"], .01),
    "zip": draw(zips, .6),
    "region": draw([f"R{i}" for i in range(9)], .3),
    "education": draw([f"edu{i}" for i in range(16)], .8),
    "marital": draw(["single", "married", "divorced", "widowed", "separated"], .6),
    "occupation": draw([f"occupation {i}" for i in range(200)], .8),
    "country": draw([f"Country{i}" for i in range(60)], 1.6),
    "income": np.round(r.lognormal(10, .7, records), 2),
    "visit": np.datetime64("2019-01-01") + r.integers(0, 1500, records).astype("timedelta64[D]"),
    "disease": draw([f"disease {i}" for i in range(40)], .9),
    "children": np.minimum(r.poisson(1.4, records), 8),
})
table.write_csv(to + ".csv")
table.write_parquet(to + ".parquet")
"""

COPY = """
import sys
import polars as pl
source, to, columns = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
if source.endswith(".csv"):
    pl.scan_csv(source, schema_overrides={"zip": pl.String}).select(columns).sink_csv(to)
else:
    pl.scan_parquet(source).select(columns).sink_parquet(to)
"""


def timed(command: list[str]) -> tuple[float, float]:
    """Returns the seconds of a command and the most memory in GB."""
    before = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"`{command[0]}` failed")
    return time.perf_counter() - before, usage.ru_maxrss / 1e6


def measure(program: str, place: Path, source: Path, quasi: list[str], kept: list[str]) -> str:
    """Returns a line of the table."""
    to = place / f"release{source.suffix}"
    copied = place / f"copy{source.suffix}"
    job = [program, "anonymize", str(source), "--quasi", ",".join(quasi), "--sensitive", "disease",
           "-k", "10", "-q",
           "--algorithm", "mondrian", "--hierarchy", "zip=mask", "-o", str(to)]
    job += [f"--{flag}={column}" for column in kept for flag in ("passthrough", "unlinkable")]
    copy = [
        sys.executable, "-c", COPY, str(source), str(copied), ",".join([*quasi, "disease", *kept])
    ]
    ours: list[tuple[float, float]] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        for path in [copied, to, to.with_suffix(".release.json")]:
            path.unlink(missing_ok=True)
        theirs.append(timed(copy)[0])
        ours.append(timed(job))
    seconds, other = statistics.median(own for own, _ in ours), statistics.median(theirs)
    size = to.stat().st_size / source.stat().st_size
    memory = max(own for _, own in ours)
    return f"{other:.2f} s | {seconds:.2f} s | {seconds / other:.2f} | {memory:.2f} GB | {size:.1f}"


def main() -> None:
    rows = [int(own) for own in sys.argv[1:]] or [1_000_000, 10_000_000]
    program = os.environ.get(
        "INCROWD_PROGRAM", str(Path(__file__).parent.parent / "target/release/incrowd")
    )
    print(
        "| records | format | QIs | passthrough | Polars copies | mondrian, verified | ratio | "
        "memory | release / table, bytes |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="incrowd-tables-") as directory:
        place = Path(directory)
        for records in rows:
            subprocess.run(
                [sys.executable, "-c", TABLE, str(records), str(place / "visits")], check=True
            )
            for suffix in ["csv", "parquet"]:
                for quasi in [FIVE, NINE]:
                    for kept in [[], ["income"]]:
                        line = measure(program, place, place / f"visits.{suffix}", quasi, kept)
                        print(
                            f"| {records:,} | {suffix} | {len(quasi)} | "
                            f"{', '.join(kept) or 'none'} | {line} |", flush=True
                        )


if __name__ == "__main__":
    main()
