"""The Python package beside its peers, and a large table in memory beside the same table in a file; Markdown on standard output.

usage: python.py peers DATA          what anonypy and anjana need for a release of Adult: lines, seconds, loss
       python.py memory ROWS [OUT]   a generated census table of ROWS records from Polars, and from CSV

Runs in an environment with incrowd, polars, pandas, anonypy and anjana. Every measurement has a process of its own. Seconds are wall
clock, without importing libraries and reading the table.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

FREE = ["age", "sex", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
FIVE = ["age", "sex", "race", "marital-status", "education"]

# What somebody writes, from a pandas table `df` to a release. Lines are counted as they stand here.
INCROWD = """
release = incrowd.anonymize(df, quasi=quasi, k=k)
"""
INCROWD_TREES = """
release = incrowd.anonymize(df, quasi=quasi, k=k, hierarchies={c: f"{trees}/adult_hierarchy_{c}.csv" for c in quasi})
"""
ANONYPY = """
df = df.copy()
for column in quasi:
    if column != "age":
        df[column] = df[column].astype("category")
df["record"] = "x"
rows = anonypy.Preserver(df, quasi, "record").anonymize_k_anonymity(k)
release = pandas.DataFrame(rows)
release = release.loc[release.index.repeat(release.pop("count"))].drop(columns="record")
for column in quasi:
    release[column] = release[column].str[0]
"""
ANJANA = """
hierarchies = {}
for column in quasi:
    tree = pandas.read_csv(f"{trees}/adult_hierarchy_{column}.csv", sep=";", header=None, dtype=str)
    hierarchies[column] = {level: tree[level].values for level in tree}
    if column == "age":
        hierarchies[column][0] = tree[0].astype(int).values
release = anjana.k_anonymity(df, [], quasi, k, 0, hierarchies)
"""
TOOLS = {
    "incrowd": (INCROWD, FREE),
    "anonypy": (ANONYPY, FREE),
    "incrowd, hierarchies": (INCROWD_TREES, FIVE),
    "anjana": (ANJANA, FIVE),
}


def adult(data: str) -> Any:
    import pandas

    return pandas.read_csv(f"{data}/adult_arx.csv.gz", sep=None, engine="python")


def one(tool: str, data: str, k: int) -> dict[str, Any]:
    """One tool, in this process."""
    import incrowd
    import pandas

    lines, quasi = TOOLS[tool]
    df = adult(data)[quasi]
    space: dict[str, Any] = {"df": df, "quasi": quasi, "k": k, "trees": f"{data}/hierarchies", "pandas": pandas}
    space["incrowd"] = incrowd
    if tool == "anonypy":
        from anonypy import anonypy

        space["anonypy"] = anonypy
    if tool == "anjana":
        from anjana import anonymity

        space["anjana"] = anonymity
    began = time.perf_counter()
    exec(lines, space)
    took = time.perf_counter() - began
    release = space["release"]
    published = release.to_pandas() if tool.startswith("incrowd") else cells(tool, release, quasi)
    trees = {c: f"{data}/hierarchies/adult_hierarchy_{c}.csv" for c in quasi} if quasi == FIVE else None
    held = incrowd.verify(published, quasi=quasi, k=k)
    # One scorer for all.
    scored = incrowd.measure(df, published, quasi=quasi, hierarchies=trees, only=["ncp", "information_loss"])
    loss = scored.metrics.ncp
    return {"seconds": took, "ncp": loss, "records": len(published), "holds": held.holds, "groups": held.groups}


def cells(tool: str, release: Any, quasi: list[str]) -> Any:
    """The cells of a peer in a form that can be scored: ranges and sets."""
    import pandas

    if tool == "anjana":
        return release[quasi].astype(str)

    def spelled(column: str, text: str) -> str:
        if column == "age":
            return "[" + ", ".join(text.split("-")) + "]" if "-" in text else text
        values = sorted(text.split(","))
        return values[0] if len(values) == 1 else "{" + ", ".join(values) + "}"

    return pandas.DataFrame({c: [spelled(c, text) for text in release[c].astype(str)] for c in quasi})


def elsewhere(*arguments: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def peers(data: str) -> None:
    print("| | lines | k | seconds | NCP | groups | checked before it is returned |")
    print("|---|---|---|---|---|---|---|")
    for tool, (lines, _) in TOOLS.items():
        name = tool.split(",")[0]
        for k in (5, 50):
            found = elsewhere("one", tool, data, str(k))
            told = f"{tool.replace(name, f'{name} {version(name)}')}"
            kept = "yes" if name == "incrowd" else "no"
            if not found["holds"]:
                kept += "; it does not hold"
            print(
                f"| {told} | {len(lines.strip().splitlines())} | {k} | {found['seconds']:.2f} | {found['ncp']:.3f} |"
                f" {found['groups']:,} | {kept} |"
            )


ROLES = ["--sensitive", "condition"]


def memory(rows: int, out: Path) -> None:
    """The same table from CSV with the command, and from Polars in memory."""
    out.mkdir(parents=True, exist_ok=True)
    place = out / f"census-{rows}"
    if not (place / "census.csv").exists() and not list(place.glob("*.csv")):
        command("demo", "--rows", str(rows), "--data-only", "--dir", str(place))
    table = next(path for path in sorted(place.glob("*.csv")) if "release" not in path.name)
    quasi, sensitive = columns(table)
    told = command(
        "anonymize", str(table), "--quasi", ",".join(quasi), "--sensitive", sensitive, "-k", "10",
        "--algorithm", "mondrian", "-o", str(place / "release.csv"), "--times",
    )
    steps = dict(re.findall(r"^time +(.+?) +([0-9.]+) s", told, re.M))
    (place / "release.csv").unlink()
    (place / "release.release.json").unlink()
    found = elsewhere("in-memory", str(table), ",".join(quasi), sensitive)
    print(json.dumps({"csv steps": steps, "in memory": found}))


def columns(table: Path) -> tuple[list[str], str]:
    with table.open(encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    sensitive = next(name for name in names if name in ("condition", "disease", "occupation", "diagnosis", "salary"))
    return [name for name in names if name not in (sensitive, "name", "id")][:8], sensitive


def command(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "incrowd", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return done.stderr


def resident(which: str) -> int:
    told = Path("/proc/self/status").read_text()
    found = re.search(rf"^{which}:\s+(\d+) kB", told, re.M)
    assert found is not None
    return int(found[1]) * 1024


def in_memory(table: str, quasi: list[str], sensitive: str) -> dict[str, Any]:
    import incrowd
    import polars as pl

    # Read in a process of its own, so that what reading needed is not counted.
    with tempfile.NamedTemporaryFile(suffix=".arrow") as file:
        code = (
            "import polars as pl, sys;"
            f"pl.read_csv(sys.argv[1], columns={[*quasi, sensitive]!r}).write_ipc(sys.argv[2])"
        )
        subprocess.run([sys.executable, "-c", code, table, file.name], check=True)
        df = pl.read_ipc(file.name, memory_map=False).rechunk()
    arrow = sum(batch.nbytes for batch in df.to_arrow(compat_level=pl.CompatLevel.newest()).to_batches())
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    steps: list[tuple[str, float]] = []
    began = time.perf_counter()

    def told(step: str, done: int, total: int | None) -> None:
        if not steps or steps[-1][0] != step:
            steps.append((step, time.perf_counter() - began))

    release = incrowd.anonymize(df, quasi=quasi, sensitive=sensitive, k=10, algorithm="mondrian", progress=told)
    took = time.perf_counter() - began
    ends = [start for _, start in steps[1:]] + [took]
    return {
        "records": len(release),
        "seconds": took,
        "steps": {name: round(end - start, 2) for (name, start), end in zip(steps, ends)},
        "arrow": arrow,
        "resident before": before,
        "peak": resident("VmHWM"),
        "load": os.getloadavg()[0],
    }


def main() -> None:
    what, *rest = sys.argv[1:]
    if what == "peers":
        peers(rest[0])
    elif what == "one":
        print(json.dumps(one(rest[0], rest[1], int(rest[2]))))
    elif what == "memory":
        memory(int(rest[0]), Path(rest[1] if len(rest) > 1 else "bench/out/python"))
    elif what == "in-memory":
        print(json.dumps(in_memory(rest[0], rest[1].split(","), rest[2])))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
