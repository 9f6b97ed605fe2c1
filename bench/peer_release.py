"""Anonymizes a table with a peer and writes what it would publish, one line per record, in cells
incrowd can read.

usage: peer_release.py TOOL TABLE HIERARCHIES QUASI K OUT
TOOL is anonypy, anonypyx (Mondrian), anonypyx-mdav or anjana. QUASI names columns, separated by
commas; of these `age` is a number for the tools without hierarchies. Prints the processor and wall
seconds of the peer's own work and its version as JSON; reading and writing files is not counted.
"""

import csv
import json
import sys
import time
from importlib.metadata import version

import pandas

tool, table, hierarchies, quasi, k, out = sys.argv[1:]
quasi, k = quasi.split(","), int(k)
frame = pandas.read_csv(table)[quasi]
# The Mondrian peers need a sensitive column, which has no effect here.
frame["record"] = "x"
if tool != "anjana":
    for column in quasi:
        if column != "age":
            frame[column] = frame[column].astype("category")


def number(low, high):
    return str(low) if low == high else f"[{low}, {high}]"


def values(texts):
    texts = sorted(texts)
    return texts[0] if len(texts) == 1 else "{" + ", ".join(texts) + "}"


def timed(work):
    spent, began = time.process_time(), time.perf_counter()
    result = work()
    return result, time.process_time() - spent, time.perf_counter() - began


def from_groups(groups):
    """Returns the published cells of groups of record numbers: the interval or the set of their
    values."""
    for group in groups:
        part = frame.loc[group]
        cells = [
            number(part[c].min(), part[c].max()) if c == "age" else values(set(part[c].astype(str)))
            for c in quasi
        ]
        for _ in range(len(part)):
            yield cells


def anonypy():
    from anonypy import anonypy as peer

    rows, spent, took = timed(
        lambda: peer.Preserver(frame, quasi, "record").anonymize_k_anonymity(k)
    )

    def published():
        for row in rows:
            cells = []
            for column in quasi:
                text = row[column][0]
                if column == "age":
                    cells.append(number(*text.split("-")) if "-" in text else text)
                else:
                    cells.append(values(text.split(",")))
            for _ in range(row["count"]):
                yield cells

    return published(), spent, took


def anonypyx(algorithm):
    from anonypyx import Anonymiser

    def work():
        return Anonymiser(
            frame,
            k=k,
            algorithm=algorithm,
            feature_columns=quasi,
            sensitive_column="record",
            generalisation_strategy="human-readable",
        )

    maker, set_up, took_up = timed(work)
    # The groups are scored; the peer's own rendering is part of the time.
    groups, spent, took = timed(lambda: maker.algorithm.partition(maker.parameters))
    form = maker.generalisation_strategy_type.create_for_data(maker.df, maker.quasi_identifiers)
    _, shown, took_shown = timed(lambda: form.generalise(maker.df, groups))
    return from_groups(groups), set_up + spent + shown, took_up + took + took_shown


def anjana():
    from anjana.anonymity import k_anonymity

    trees = {}
    for column in quasi:
        with open(f"{hierarchies}/adult_hierarchy_{column}.csv", newline="") as file:
            lines = list(csv.reader(file, delimiter=";"))
        depth = len(lines[0])
        trees[column] = {
            level: pandas.Series(
                [int(l[0]) if column == "age" and level == 0 else l[level] for l in lines]
            ).values
            for level in range(depth)
        }
    data = frame.drop(columns="record")
    made, spent, took = timed(lambda: k_anonymity(data, [], quasi, k, 0, trees))
    return (list(map(str, row)) for row in made[quasi].itertuples(index=False)), spent, took


tools = {
    "anonypy": anonypy,
    "anonypyx": lambda: anonypyx("Mondrian"),
    "anonypyx-mdav": lambda: anonypyx("MDAV-generic"),
    "anjana": anjana,
}
lines, spent, took = tools[tool]()
with open(out, "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(quasi)
    writer.writerows(lines)
print(
    json.dumps(
        {
            "processor_seconds": spent, "seconds": took,
            "version": version(tool.removesuffix("-mdav"))
        }
    )
)
