"""Generalized features for scikit-learn: levels are learned on the training table and applied to
others.

Only full-domain generalization gives a value the same label in every table. Algorithms that recode
by group, and suppression, depend on the other records of the table, so they are refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from . import _incrowd
from ._errors import InputError, JobError
from ._functions import Hierarchy, anonymize
from ._release import Release

Frame = Any
"""A `pandas.DataFrame`."""

try:
    import sklearn.base as _base  # pyright: ignore
except ImportError as error:  # pragma: no cover
    raise ImportError(
        "this needs scikit-learn: pip install scikit-learn", name="sklearn"
    ) from error

_Estimator: Any = _base.BaseEstimator
_Transformer: Any = _base.TransformerMixin


class Anonymizer(_Transformer, _Estimator):  # type: ignore[misc]
    """Generalizes quasi-identifiers to the levels that make the training table k-anonymous.

    ``fit`` makes a verified full-domain release of the training table, `release_`, and keeps its
    levels, `levels_`. ``transform`` replaces the quasi-identifiers of a pandas DataFrame by their
    labels at those levels. Rows and other columns are unchanged. The result is for training and
    testing and must not be published; publish `release_`.

    A record of another table may have labels that no group of the training release has. With
    ``unknown="error"`` that is an error, with ``unknown="star"`` its quasi-identifiers become
    ``*``.

    `models` are further privacy models by the names of the arguments of `anonymize`:
    ``{"l_diversity": 2}``. Models about sensitive values need `sensitive`.
    """

    def __init__(
        self,
        quasi: Sequence[str] = (),
        hierarchies: Mapping[str, Hierarchy] | None = None,
        k: int = 5,
        models: Mapping[str, Any] | None = None,
        sensitive: Sequence[str] = (),
        unknown: str = "error",
        algorithm: str = "full-domain",
        suppression_limit: float = 0.0,
        promises: Mapping[str, Any] | None = None,
    ) -> None:
        if promises is not None:
            warnings.warn("`promises` is now called `models`", DeprecationWarning, stacklevel=2)
        self.quasi = quasi
        self.hierarchies = hierarchies
        self.k = k
        self.models = models
        self.sensitive = sensitive
        self.unknown = unknown
        self.algorithm = algorithm
        self.suppression_limit = suppression_limit
        # Kept as it was given: `clone` compares every parameter with its attribute.
        self.promises = promises

    def fit(self, X: Frame, y: object = None) -> Anonymizer:  # noqa: N803
        """Learns the levels from the training table."""
        if self.algorithm != "full-domain":
            raise JobError(
                f"levels cannot be learned with `{self.algorithm}`",
                help="only full-domain gives a value the same label in every table",
                argument="algorithm",
            )
        if self.suppression_limit != 0:
            raise JobError(
                "records that a release suppresses would still be transformed",
                help="set `suppression_limit` to 0",
                argument="suppression_limit",
            )
        if self.unknown not in ("error", "star"):
            raise JobError(
                f"`unknown` cannot be `{self.unknown}`: it takes error or star", argument="unknown"
            )
        if self.models is not None and self.promises is not None:
            raise JobError("`models` and `promises` cannot be given together", argument="models")
        quasi = list(self.quasi)
        hierarchies = dict(self.hierarchies or {})
        for column in quasi:
            if column not in hierarchies:
                raise JobError(
                    f"column `{column}` has no hierarchy, so it has no levels",
                    help="give `hierarchies`, for example intervals:5 or mask",
                    argument="hierarchies",
                )
        missing = [column for column in quasi if X[column].isna().any()]
        if missing:
            raise InputError(f"columns with missing values cannot be learned: {', '.join(missing)}")
        models: dict[str, Any] = {"k": self.k, **(self.models or self.promises or {})}
        release: Release = anonymize(
            X[[*quasi, *self.sensitive]],
            quasi=quasi,
            sensitive=list(self.sensitive),
            hierarchies=hierarchies,
            algorithm="full-domain",
            progress=False,
            **models,
        )
        self.release_ = release
        self.levels_: dict[str, int] = {
            column: int(level) for column, level in release.manifest.algorithm.levels.items()
        }
        self.values_: dict[str, Frame] = {column: X[[column]].drop_duplicates() for column in quasi}
        self.labels_: dict[str, dict[str, str]] = {
            column: self._of(X[[column]], column) for column in quasi
        }
        self.groups_ = set(self._labels(X).itertuples(index=False, name=None))
        self.feature_names_in_ = list(X.columns)
        return self

    def _of(self, table: Frame, column: str) -> dict[str, str]:
        """Returns the label of each value at the learned level, in the hierarchy of these
        values."""
        rows = _incrowd.levels(table, column, (self.hierarchies or {})[column])
        return {
            row[0]: row[1 + self.levels_[column]]
            for row in rows if len(row) > 1 + self.levels_[column]
        }

    def _known(self, table: Frame, column: str) -> dict[str, str]:
        """Returns the labels of the values of a table: the learned ones, and those of new values if
        the hierarchy with the new values gives the same learned labels. Otherwise new values have
        no label."""
        learned = self.labels_[column]
        if all(_spelled(value) in learned for value in table[column].unique()):
            return learned
        import pandas

        both = pandas.concat(
            [self.values_[column], table[[column]].dropna().drop_duplicates()], ignore_index=True
        )
        try:
            more = self._of(both, column)
        except InputError:
            return learned
        return more if all(
            more.get(value) == label for value, label in learned.items()
        ) else learned

    def _labels(self, table: Frame) -> Frame:
        labels: dict[str, Any] = {}
        for column in self.quasi:
            known = self._known(table, column)
            labels[column] = [known.get(_spelled(value)) for value in table[column]]
        return type(table)(labels, index=table.index)

    def transform(self, X: Frame) -> Frame:  # noqa: N803
        """The table with its quasi-identifiers at the learned levels."""
        if not hasattr(self, "levels_"):
            raise JobError("the levels are not learned yet", help="call fit first")
        quasi = list(self.quasi)
        labels = self._labels(X)
        known = [row in self.groups_ for row in labels.itertuples(index=False, name=None)]
        unknown = len(known) - sum(known)
        if unknown and self.unknown == "error":
            raise InputError(
                f"{unknown} of {len(known)} records are in no group of the training release",
                help='unknown="star" replaces their quasi-identifiers by *',
            )
        if unknown:
            labels.loc[[not is_known for is_known in known], quasi] = "*"
        transformed = X.copy()
        for column in quasi:
            transformed[column] = labels[column]
        return transformed

    def get_feature_names_out(self, input_features: object = None) -> list[str]:
        """Returns the names of the columns, which do not change."""
        return list(self.feature_names_in_)


def _spelled(value: Any) -> str:
    """Formats a value like the compiled module."""
    if isinstance(value, float) and value.is_integer():
        return f"{value:.1f}"
    return str(value)
