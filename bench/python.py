"""The Python package beside its peers, and a large table in memory beside the same table in a file;
Markdown on standard output.

usage: python.py peers DATA          what anonypy and anjana need for a release of Adult: lines,
seconds, loss. Kept in bench/python.json,
                                     from which the table of python/README.md is written
       python.py page                writes that table again
       python.py memory ROWS [OUT]   a generated census table of ROWS records from Polars, and from
       CSV

Runs in an environment with incrowd, polars, pandas, anonypy and anjana. Every measurement has a
process of its own. The seconds of peers are processor time of all threads, which other work on the
machine changes little, from a pandas table to a pandas table, without importing libraries and
reading the table. incrowd has its defaults: the algorithm is `auto`, and the release is checked.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

FREE = [
    "age", "sex", "race", "marital-status", "education", "native-country", "workclass", "occupation"
]
FIVE = ["age", "sex", "race", "marital-status", "education"]

# The code of users, from a pandas table `df` to a release. Its lines are counted.
INCROWD = """
release = incrowd.anonymize(df, quasi=quasi, k=k).to_pandas()
"""
INCROWD_TREES = """
hierarchies = {c: f"{trees}/adult_hierarchy_{c}.csv" for c in quasi}
release = incrowd.anonymize(df, quasi=quasi, k=k, hierarchies=hierarchies).to_pandas()
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
    """Runs one tool in this process."""
    import incrowd
    import pandas

    lines, quasi = TOOLS[tool]
    df = adult(data)[quasi]
    space: dict[str, Any] = {
        "df": df, "quasi": quasi, "k": k, "trees": f"{data}/hierarchies", "pandas": pandas
    }
    space["incrowd"] = incrowd
    if tool == "anonypy":
        from anonypy import anonypy

        space["anonypy"] = anonypy
    if tool == "anjana":
        from anjana import anonymity

        space["anjana"] = anonymity
    began = time.process_time()
    exec(lines, space)
    took = time.process_time() - began
    release = space["release"]
    published = release if tool.startswith("incrowd") else cells(tool, release, quasi)
    trees = {
        c: f"{data}/hierarchies/adult_hierarchy_{c}.csv" for c in quasi
    } if quasi == FIVE else None
    held = incrowd.verify(published, quasi=quasi, k=k)
    # One scorer for all.
    scored = incrowd.measure(
        df, published, quasi=quasi, hierarchies=trees, only=["ncp", "information_loss"]
    )
    loss = scored.metrics.ncp
    return {
        "seconds": took, "ncp": loss, "records": len(published), "holds": held.holds,
        "groups": held.groups
    }


def cells(tool: str, release: Any, quasi: list[str]) -> Any:
    """Converts the cells of a peer to a form that can be scored: ranges and sets."""
    import pandas

    if tool == "anjana":
        return release[quasi].astype(str)

    def spelled(column: str, text: str) -> str:
        if column == "age":
            return "[" + ", ".join(text.split("-")) + "]" if "-" in text else text
        values = sorted(text.split(","))
        return values[0] if len(values) == 1 else "{" + ", ".join(values) + "}"

    return pandas.DataFrame(
        {c: [spelled(c, text) for text in release[c].astype(str)] for c in quasi}
    )


def elsewhere(*arguments: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


HERE = Path(__file__).parent
KEPT = HERE / "python.json"
PAGE = HERE.parent / "python" / "README.md"
BEGIN, END = "<!-- bench/python.py writes this table -->\n", "<!-- end -->\n"


def peers(data: str) -> None:
    """Measures all tools and stores the results, from which the table is generated."""
    load = round(os.getloadavg()[0], 1)
    found: list[dict[str, Any]] = []
    for tool, (lines, _) in TOOLS.items():
        name = tool.split(",")[0]
        told = {
            "tool": tool.replace(name, f"{name} {version(name)}"),
            "lines": len(lines.strip().splitlines())
        }
        found += [
            {**told, "k": k, "checked": name == "incrowd", **elsewhere("one", tool, data, str(k))}
            for k in (5, 50)
        ]
    KEPT.write_text(
        json.dumps(
            {"load": load, "date": time.strftime("%Y-%m-%d", time.gmtime()), "found": found},
            indent=1
        ) + "\n"
    )
    page()
    print(table(), end="")


def table() -> str:
    """Returns the table of the last results."""
    kept = json.loads(KEPT.read_text())
    rows = [
        "| | lines | k | processor seconds | NCP | groups | checked before it is returned |",
        "|---|---|---|---|---|---|---|"
    ]
    for of in kept["found"]:
        checked = ("yes" if of["checked"] else "no") + ("" if of["holds"] else "; it does not hold")
        rows.append(
            f"| {of['tool']} | {of['lines']} | {of['k']} | {of['seconds']:.2f} | {of['ncp']:.3f} "
            f"| {of['groups']:,} | {checked} |"
        )
    return "\n".join([*rows, "", f"Measured on {kept['date']}, load {kept['load']:.1f}."]) + "\n"


def page() -> None:
    """Writes the table into the page."""
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + table() + "\n" + END + rest.split(END, 1)[1])


# Nine columns of the generated table.
QUASI = ["age", "sex", "zip", "education", "marital_status", "workclass", "country", "race"]
SENSITIVE = "disease"


def memory(rows: int, out: Path) -> None:
    """Measures the same table from CSV to CSV, and from Polars in memory."""
    place = out / f"census-{rows}"
    table = place / "people.csv"
    if not table.exists():
        place.mkdir(parents=True, exist_ok=True)
        command("demo", "--rows", str(rows), "--data-only", "--dir", str(place))
    in_files, held = elsewhere("in-files", str(table)), elsewhere("in-memory", str(table))
    print(
        f"\n{rows:,} records, {len(QUASI) + 1} columns, k = 10, mondrian; processor seconds; load "
        f"{os.getloadavg()[0]:.1f}\n"
    )
    print("| step | CSV to CSV | Polars, in memory |")
    print("|---|---|---|")
    for step, seconds in in_files["steps"].items():
        print(f"| {step} | {seconds:.2f} | {held['steps'].get(step, 0.0):.2f} |")
    print(f"| all | {in_files['seconds']:.2f} | {held['seconds']:.2f} |")
    whole, twice = held["peak"] / held["arrow"], (
        held["peak"] - held["resident before"]
    ) / held["arrow"]
    print(
        f"\nThe table has {held['arrow'] / 1e6:,.0f} MB in Arrow. The peak of the process is "
        f"{whole:.2f} times that, libraries and"
    )
    print(f"the table itself included; the work alone adds {twice:.2f} times.")


def command(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "incrowd", *arguments], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return done.stderr


def resident(which: str) -> int:
    told = Path("/proc/self/status").read_text()
    found = re.search(rf"^{which}:\s+(\d+) kB", told, re.M)
    assert found is not None
    return int(found[1]) * 1024


def in_memory(table: str) -> dict[str, Any]:
    import polars as pl

    # Read in a separate process, so that the memory of reading is not counted.
    with tempfile.NamedTemporaryFile(suffix=".arrow") as file:
        code = (
            "import polars as pl, sys;"
            # Zip codes begin with zeros, so they are text.
            f"pl.read_csv(sys.argv[1], columns={[*QUASI, SENSITIVE]!r}, "
            f"schema_overrides={{'zip': pl.String}})"
            ".write_ipc(sys.argv[2])"
        )
        subprocess.run([sys.executable, "-c", code, table, file.name], check=True)
        df = pl.read_ipc(file.name)
    arrow = sum(
        batch.nbytes for batch in df.to_arrow(compat_level=pl.CompatLevel.newest()).to_batches()
    )
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    return {**timed(df), "arrow": arrow, "resident before": before, "peak": resident("VmHWM")}


def in_files(table: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=Path(table).parent) as place:
        return timed(table, default_role="drop", output=f"{place}/release.csv")


def timed(table: object, **more: Any) -> dict[str, Any]:
    """The processor seconds of each step, sampled every twentieth of a second."""
    import incrowd

    steps: list[tuple[str, float]] = []
    began = time.process_time()

    def told(step: str, done: int, total: int | None) -> None:
        if not steps or steps[-1][0] != step:
            steps.append((step, time.process_time() - began))

    warnings.simplefilter("ignore", incrowd.Warning)
    release = incrowd.anonymize(
        table, quasi=QUASI, sensitive=SENSITIVE, k=10, algorithm="mondrian", progress=told, **more
    )
    took = time.process_time() - began
    ends = [start for _, start in steps[1:]] + [took]
    spent = {name: round(end - start, 2) for (name, start), end in zip(steps, ends)}
    return {"records": len(release), "seconds": took, "steps": spent}


def main() -> None:
    what, *rest = sys.argv[1:]
    if what == "peers":
        peers(rest[0])
    elif what == "page":
        page()
    elif what == "one":
        print(json.dumps(one(rest[0], rest[1], int(rest[2]))))
    elif what == "memory":
        memory(int(rest[0]), Path(rest[1] if len(rest) > 1 else "bench/out/python"))
    elif what == "in-files":
        print(json.dumps(in_files(rest[0])))
    elif what == "in-memory":
        print(json.dumps(in_memory(rest[0])))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
