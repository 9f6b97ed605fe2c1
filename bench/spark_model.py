"""A model of what releases on Spark cost, fitted to runs of `bench/spark.py --save`, and what it
says of a billion records.

Least squares on few terms, each of which says where the cost comes from: starting (1), records,
distinct rows. A term that would come out negative is left out. How well a model predicts is said by
runs that it was not fitted to: each run in turn is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Run = dict[str, Any]
MILLION = 1e6


class Model:
    """A quantity of a run as a sum of terms."""

    def __init__(
        self, name: str, unit: str, of: Callable[[Run], float],
        terms: dict[str, Callable[[Run], float]]
    ) -> None:
        self.name, self.unit, self.of, self.terms = name, unit, of, terms

    def fit(self, runs: list[Run]) -> dict[str, float]:
        """Fits the factor of each term by least squares of relative errors, so that small runs
        count as much as large ones."""
        used = list(self.terms)
        while used:
            measured = np.array([self.of(run) for run in runs])
            rows = np.array(
                [[self.terms[term](run) for term in used] for run in runs]
            ) / measured[:, None]
            factors = np.linalg.lstsq(rows, np.ones(len(runs)), rcond=None)[0]
            if factors.min() >= 0:
                return dict(zip(used, map(float, factors)))
            used.pop(int(factors.argmin()))
        return {}

    def predict(self, factors: dict[str, float], run: Run) -> float:
        return sum(factor * self.terms[term](run) for term, factor in factors.items())

    def text(self, factors: dict[str, float]) -> str:
        return f"{self.name} = " + (
            " + ".join(f"{factor:.3g} {term}".strip() for term, factor in factors.items()) or "0"
        ) + f" {self.unit}"


def records(run: Run) -> float:
    return float(run["rows"]) / MILLION


def distinct(run: Run) -> float:
    return float(run["distinct"]) / MILLION


def cells(run: Run) -> float:
    return distinct(run) * (len(run["quasi"]) + 1)


def once(_: Run) -> float:
    return 1.0


def executors(run: Run) -> float:
    return float(run["executors"] or 2)


MODELS = [
    Model("clock", "s", lambda run: run["all"], {
        "": once, "× M records / executors": lambda run: records(run) / executors(run),
        "× M distinct rows": distinct,
    }),
    Model("processor", "s", lambda run: sum(run["spent"].values()), {
        "": once, "× executors": executors, "× M records": records, "× M distinct rows": distinct,
    }),
    Model(
        "shuffled", "MiB", lambda run: run["shuffled"],
        {"× M records": records, "× M distinct rows": distinct}
    ),
    Model(
        "program", "MiB", lambda run: run["program"],
        {"": once, "× M cells of distinct rows": cells}
    ),
    Model(
        "disk", "MiB", lambda run: run["disk"],
        {"": once, "× M records": records, "× M distinct rows": distinct}
    ),
]


def report(runs: list[Run]) -> str:
    """Prints the models, their errors on unseen runs, and the prediction for a billion records."""
    runs = [run for run in runs if run["most_rows"] == 10**9 and not run.get("per_person")]
    kinds = sorted({tuple(run["passthrough"]) for run in runs})
    return "\n\n".join(
        section([run for run in runs if tuple(run["passthrough"]) == kind], kind) for kind in kinds
    )


def section(runs: list[Run], passed: tuple[str, ...]) -> str:
    told = [f"Passed through: {', '.join(passed) or 'nothing'}; {len(runs)} runs."]
    names = [model.name for model in MODELS]
    if len(runs) <= 4:
        return "\n".join([*told, "Too few runs for a model."])
    fitted = {model.name: model.fit(runs) for model in MODELS}
    told += [f"- {model.text(fitted[model.name])}" for model in MODELS]
    told += ["", "Each run predicted by the other runs, with what was measured:", ""]
    told += [
        "| records | distinct rows | executors | " + " | ".join(f"{name}" for name in names) + " |",
        "|" + "---|" * (3 + len(names))
    ]
    for at, run in enumerate(runs):
        others = runs[:at] + runs[at + 1 :]
        both = [
            f"{model.predict(model.fit(others), run):.0f} ({model.of(run):.0f})" for model in MODELS
        ]
        told.append(
            f"| {run['rows']:,} | {run['distinct']:,} | {run['executors'] or '`local[2]`'} | "
            f"{' | '.join(both)} |"
        )
    told += ["", "A billion records by these models:", ""]
    told += [
        "| distinct rows | executors | clock | processor | shuffled | program | disk |",
        "|---|---|---|---|---|---|---|"
    ]
    for rows, many in [(1, 2), (1, 20), (20, 20), (20, 100), (20, 400)]:
        asked = {
            "rows": 10**9, "distinct": rows * MILLION, "executors": many,
            "quasi": ["age", "zip", "sex", "education"]
        }
        found = {model.name: model.predict(fitted[model.name], asked) for model in MODELS}
        told.append(
            f"| {rows},000,000 | {many} | {found['clock'] / 60:,.0f} min | "
            f"{found['processor'] / 3600:.1f} h | "
            f"{found['shuffled'] / 1024:.0f} GiB | {found['program'] / 1024:.1f} GiB | "
            f"{found['disk'] / 1024:.0f} GiB |"
        )
    return "\n".join(told)
