"""The steps from our value of a metric to that of a tool."""

from typing import Any

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st

from lambdaplus import evaluate, explain
from lambdaplus.evaluation import explanation

ROUNDING = 1e-9


def close(expected: float) -> Any:
    return pytest.approx(expected, abs=ROUNDING)


@given(data=st.data())
@examples(40)
def test_the_steps_of_an_explanation_add_up_to_the_gap(data: Any) -> None:
    """From our value, or from nothing where we have none, to the tool's own."""
    metric = data.draw(st.sampled_from(["ndcg@3", "ndcg", "map@2", "map", "p@2", "auc"]))
    group = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    n = sum(group)
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    scores = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    docno = [f"{i}" for i in range(n)]
    found = explain(metric, labels, scores, group=group, docno=docno)
    for path in found.gaps:
        given_ = {"convention": path.convention.name, "docno": docno}
        theirs = evaluate(labels, scores, group=group, metrics=metric, **given_)[metric]
        np.testing.assert_allclose(path.value, theirs, rtol=0, atol=ROUNDING)
        if not np.isnan(path.value):
            ours = 0.0 if np.isnan(found.value) else found.value
            total = sum(change for _, change in path.steps)
            assert ours + total == close(path.value)


def test_an_explanation_names_the_choice_that_matters() -> None:
    labels, scores = [2, 1, 0], [3, 1, 2]
    found = explain("ndcg", labels, scores, group=[3])
    assert [step for step, _ in found["sklearn"].steps] == ["gain=linear"]
    assert [step for step, _ in found["letor3"].steps] == ["discount=letor"]
    empty = explain("map", [1, 0, 0, 0], [2, 1, 2, 1], group=[2, 2])
    assert [*empty["letor3"].steps] == [("empty=0", close(-0.5))]
    tied = explain("map", [1, 0], [1, 1], group=[2])
    assert [*tied["lightgbm"].steps] == [("ties=stable", close(0.25))]
    assert "ties=docno needs docno=" in str(tied)


def test_an_option_that_is_set_is_that_of_every_convention() -> None:
    """Also where it is the default: AP@2 of three relevant documents by 2, not by 3."""
    arrays: Any = [1, 1, 1, 0], [4, 3, 2, 1]
    assert explain("map@2", *arrays, group=[4])["trec"].value == pytest.approx(2 / 3)
    whole = explain("map@2", *arrays, group=[4], divisor="reachable")
    assert (whole["trec"].value, whole["trec"].steps) == (1.0, ())


def test_an_explanation_evaluates_no_rules_twice(monkeypatch: Any) -> None:
    """Most conventions share most rules, and rounding to float32 changes no small integers."""
    seen = []
    evaluate_once = explanation.evaluate_run

    def counted(run: Any, metric: Any, **rules: Any) -> Any:
        rule = rules["convention"]
        seen.append((str(metric), rules["ties"], rules["empty"], rule.single, rule.unjudged))
        return evaluate_once(run, metric, **rules)

    monkeypatch.setattr(explanation, "evaluate_run", counted)
    whole = explain("ndcg@2", [2, 0, 1, 0], [3, 2, 2, 1], group=[2, 2], docno=[*"abcd"])
    assert len({one[:3] for one in seen}) == len(seen) > 5
    seen.clear()
    tenths = explain("ndcg@2", [2, 0, 1, 0], [0.3, 0.2, 0.2, 0.1], group=[2, 2], docno=[*"abcd"])
    assert len({one[:3] for one in seen}) < len(seen) == len(set(seen))
    assert [gap.value for gap in whole.gaps] == [gap.value for gap in tenths.gaps]
