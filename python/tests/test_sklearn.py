"""Levels learned on one table and applied to another."""

from __future__ import annotations

import incrowd
import pytest
from conftest import people

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("sklearn")

from incrowd.sklearn import Anonymizer  # noqa: E402

HIERARCHIES = {"age": "intervals:5", "zip": "mask", "sex": {"tree": {"*": ["female", "male"]}}}


def fitted(**more: object) -> Anonymizer:
    table = pd.DataFrame(people(2000)).drop(columns="name")
    return Anonymizer(["age", "zip", "sex"], HIERARCHIES, k=5, **more).fit(table)


def test_a_value_gets_the_same_label_in_every_table() -> None:
    learned = fitted()
    train = pd.DataFrame(people(2000)).drop(columns="name")
    once = learned.transform(train)
    sizes = once.groupby(["age", "zip", "sex"]).size()
    assert sizes.min() >= 5
    released = learned.release_.to_pandas().groupby(["age", "zip", "sex"]).size()
    assert sizes.sort_index().to_dict() == released.sort_index().to_dict()
    part = train.iloc[100:160]
    assert learned.transform(part).equals(once.iloc[100:160])


def test_records_in_no_group_are_refused_or_starred() -> None:
    train = pd.DataFrame(people(2000)).drop(columns="name")
    stranger = train.iloc[:3].assign(age=[17, 120, 30])
    learned = fitted()
    with pytest.raises(incrowd.InputError, match="of 3 records are in no group"):
        learned.transform(stranger)
    starred = fitted(unknown="star").transform(stranger)
    assert (starred.loc[1, ["age", "zip", "sex"]] == "*").all()
    assert list(starred["disease"]) == list(stranger["disease"])


def test_unsupported_settings_are_refused() -> None:
    for more in [{"algorithm": "mondrian"}, {"suppression_limit": 0.1}, {"unknown": "guess"}]:
        with pytest.raises(incrowd.JobError):
            fitted(**more)
    table = pd.DataFrame(people(100)).drop(columns="name")
    with pytest.raises(incrowd.JobError, match="has no hierarchy"):
        Anonymizer(["age"]).fit(table)
    with pytest.raises(incrowd.JobError, match="not learned"):
        Anonymizer(["age"], HIERARCHIES).transform(table)


def test_it_works_in_a_pipeline() -> None:
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    table = pd.DataFrame(people(2000)).drop(columns="name")
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["age", "zip", "sex"])
    )
    model = make_pipeline(
        Anonymizer(["age", "zip", "sex"], HIERARCHIES, k=20), encode, DecisionTreeClassifier()
    )
    model.fit(table.drop(columns="disease"), table["disease"])
    assert len(model.predict(table.drop(columns="disease"))) == 2000


def test_new_values_have_no_label_if_they_change_the_hierarchy() -> None:
    train = pd.DataFrame({"code": ["11", "12", "21", "22"] * 25})
    learned = Anonymizer(["code"], {"code": "mask"}, k=40).fit(train)
    assert set(learned.transform(train)["code"]) == {"1*", "2*"}
    # The hierarchy is the same with a new value, which is in no group. A longer value would change
    # all labels.
    for new in ["31", "111"]:
        with pytest.raises(incrowd.InputError, match="1 of 2 records"):
            learned.transform(pd.DataFrame({"code": ["11", new]}))
    inside = learned.transform(pd.DataFrame({"code": ["11", "13"]}))
    assert list(inside["code"]) == ["1*", "1*"]


def test_models_are_verified_and_the_old_name_is_accepted() -> None:
    from sklearn.base import clone

    learned = fitted(models={"l_diversity": 2}, sensitive=["disease"])
    assert {model.name for model in learned.release_.manifest.models} == {
        "k-anonymity",
        "l-diversity",
    }
    with pytest.warns(DeprecationWarning, match="`promises` is now called `models`"):
        old = fitted(promises={"l_diversity": 2}, sensitive=["disease"])
    assert (
        old.levels_ == learned.levels_
        and old.release_.manifest.models == learned.release_.manifest.models
    )
    assert (old.get_params()["promises"], old.get_params()["models"]) == ({"l_diversity": 2}, None)
    with pytest.warns(DeprecationWarning):
        again = clone(old)
    assert again.get_params() == old.get_params()
    assert clone(learned).get_params() == learned.get_params()
    with pytest.warns(DeprecationWarning), pytest.raises(incrowd.JobError, match="cannot be given "
                                                                                 "together"):
        fitted(models={"l_diversity": 2}, promises={"l_diversity": 2}, sensitive=["disease"])
