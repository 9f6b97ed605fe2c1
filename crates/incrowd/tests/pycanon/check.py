"""Measures the releases of a list with pycanon, and where pycanon defines a measure otherwise than
the paper, from the paper's definition on the groups pycanon finds.

    python check.py releases.json

The list has one entry per release: its file, the quasi-identifiers, and for each measure of
`MEASURES` what incrowd found. An entry also names the measures for which pycanon itself is asked,
which is slow. Prints one line per release and exits with 1 at the first number that differs by more
than 1e-9.
"""

import json
import sys

import numpy as np
import pandas as pd
from pycanon import anonymity
from pycanon.anonymity.utils.aux_anonymity import get_equiv_class


class Release:
    """A release as its reader has it: cells of quasi-identifiers are texts, whatever they look
    like."""

    def __init__(self, path, quasi, numeric):
        self.data = pd.read_csv(path, dtype=str, keep_default_na=False)
        for column in numeric:
            self.data[column] = pd.to_numeric(self.data[column])
        self.quasi = quasi
        self.groups = get_equiv_class(self.data, quasi)

    def counts(self, column):
        """Records by group and value, values in order, and records by value."""
        values, codes = np.unique(self.data[column].values, return_inverse=True)
        by_group = np.array(
            [np.bincount(codes[group], minlength=len(values)) for group in self.groups]
        )
        return by_group, by_group.sum(axis=0)


def k(release, _column):
    return min(len(group) for group in release.groups)


def alpha(release, column):
    by_group, _ = release.counts(column)
    return (by_group.max(axis=1) / by_group.sum(axis=1)).max()


def distinct(release, column):
    by_group, _ = release.counts(column)
    return (by_group > 0).sum(axis=1).min()


def entropy(release, column):
    by_group, _ = release.counts(column)
    shares = by_group / by_group.sum(axis=1, keepdims=True)
    logs = np.log(shares, where=shares > 0, out=np.zeros_like(shares))
    return np.exp(-(shares * logs).sum(axis=1)).min()


def recursive(l):
    def c(release, column):
        by_group, _ = release.counts(column)
        # The paper numbers counts from the most frequent on: r_1 / (r_l + ... + r_m).
        r = -np.sort(-by_group, axis=1)
        rarer = r[:, l - 1 :].sum(axis=1)
        return np.where(rarer > 0, r[:, 0] / np.maximum(rarer, 1), np.inf).max()

    return c


def difference(release, column):
    by_group, overall = release.counts(column)
    return by_group / by_group.sum(axis=1, keepdims=True) - overall / overall.sum()


def t_equal(release, column):
    return (np.abs(difference(release, column)).sum(axis=1) / 2).max()


def t_ordered(release, column):
    differences = difference(release, column)
    return (np.abs(differences.cumsum(axis=1)).sum(axis=1) / (differences.shape[1] - 1)).max()


def gains(release, column):
    by_group, overall = release.counts(column)
    p = overall / overall.sum()
    return by_group, (by_group / by_group.sum(axis=1, keepdims=True) - p) / p, p


def beta_basic(release, column):
    return max(gains(release, column)[1].max(), 0.0)


def beta_enhanced(release, column):
    # Of all values of all groups the one with the least room below its own bound, -ln p, in
    # proportion to it.
    by_group, gained, p = gains(release, column)
    room = np.where(by_group > 0, (-np.log(p) - np.maximum(gained, 0)) / -np.log(p), np.inf)
    return max(gained[np.unravel_index(room.argmin(), room.shape)], 0.0)


def delta(release, column):
    by_group, gained, _ = gains(release, column)
    return np.inf if (by_group == 0).any() else np.abs(np.log1p(gained)).max()


MEASURES = {
    "k": k,
    "alpha": alpha,
    "distinct": distinct,
    "entropy": entropy,
    "recursive 2": recursive(2),
    "recursive 3": recursive(3),
    "t equal": t_equal,
    "t ordered": t_ordered,
    "beta basic": beta_basic,
    "beta enhanced": beta_enhanced,
    "delta": delta,
}


def by_pycanon(measure, release, column, have):
    """What pycanon itself says; None where it does not define the measure as the paper does."""
    data, quasi, sensitive = release.data, release.quasi, [column]
    if measure == "k":
        return anonymity.k_anonymity(data, quasi)
    if measure == "alpha":
        return anonymity.alpha_k_anonymity(data, quasi, sensitive)[0]
    if measure == "distinct":
        return anonymity.l_diversity(data, quasi, sensitive)
    if measure == "entropy":
        # It cuts off what follows the point.
        whole = anonymity.entropy_l_diversity(data, quasi, sensitive)
        return have if whole == int(have) else whole
    if measure in ("t equal", "t ordered"):
        # Texts are equally far apart, numbers are ordered.
        numeric = pd.api.types.is_numeric_dtype(data[column])
        fits = numeric == (measure == "t ordered")
        return anonymity.t_closeness(data, quasi, sensitive) if fits else None
    if measure == "beta basic":
        return anonymity.basic_beta_likeness(data, quasi, sensitive)
    if measure == "delta":
        # It leaves out values that a group lacks, for which the paper's measure is infinite.
        return anonymity.delta_disclosure(data, quasi, sensitive) if np.isfinite(have) else None
    # recursive: it takes the least frequent value for r_1, and rounds. beta enhanced: it compares
    # the greatest gain of all values with the information of each, and answers with the greatest of
    # the lesser ones.
    return None


def main():
    entries = json.load(open(sys.argv[1], encoding="utf-8"))
    asked = 0
    for entry in entries:
        release = Release(entry["file"], entry["quasi"], entry["numeric"])
        for measure in entry["measures"]:
            have = np.inf if measure["have"] is None else measure["have"]
            name, column = measure["name"], measure["on"]
            found = [("the definition", MEASURES[name](release, column))]
            if name in entry["pycanon"] and column in (None, entry["on"]):
                found.append(("pycanon", by_pycanon(name, release, column, have)))
            for source, value in found:
                if value is None:
                    continue
                asked += source == "pycanon"
                if not (have == value or abs(have - value) <= 1e-9):
                    print(f"{entry['title']}: {name} of {column}: incrowd {have}, {source} {value}")
                    return 1
        print(
            f"{entry['title']}: {len(release.groups)} groups, {len(entry['measures'])} measures "
            f"agree"
        )
    print(f"{len(entries)} releases, {asked} numbers by pycanon")
    return 0


if __name__ == "__main__":
    sys.exit(main())
