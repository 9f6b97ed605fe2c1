"""Code of users, for the type checkers only."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import incrowd

if TYPE_CHECKING:

    def check(df: object) -> None:
        release = incrowd.anonymize(
            df,
            quasi=["age", "zip", "sex"],
            sensitive=["disease"],
            k=10,
            l_diversity=3,
            t_closeness={"t": 0.3, "distance": "equal"},
            hierarchies={"zip": "mask"},
            on_missing="keep",
            progress=False,
        )
        ncp: float = release.manifest.metrics.ncp
        holds: bool | None = incrowd.verify(release, k=5).holds
        incrowd.attack(release, original=df, limit={"prosecutor": 0.1})
        incrowd.attack(release, second=release)
        incrowd.attack(release, second="earlier.csv")
        stored: str = json.dumps(release.manifest)
        plain: dict[str, object] = dict(release.manifest)
        incrowd.measure(df, release, queries=10)
        incrowd.compare(df, quasi="age", k=[2, 5]).plot()
        incrowd.batches([df, "people.csv"], quasi="age", k=2)
        incrowd.batches({"monday": df, "tuesday": df}, quasi="age", k=2, dir="releases")
        job = incrowd.Job.read("job.toml")
        job.k = 25
        job.anonymize()
        job.batches({"monday": df})
        try:
            incrowd.anonymize(df)
        except incrowd.JobError as error:
            print(error.key, error.help, ncp, holds, stored, plain)
