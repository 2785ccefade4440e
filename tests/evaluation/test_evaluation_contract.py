"""What `evaluate` promises, and what names that went say; test_values.py has the values."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from contracts import Raises, Rows, Warns, contract, hold

import lambdaplus as lp
from lambdaplus.compute.removed import REMOVED

QID = np.repeat([3, 1, 2], 4)


def of(metric: str, *arrays: Any, **options: Any) -> float:
    return float(lp.evaluate(*arrays, metrics=metric, **options)[metric])


def frames() -> lp.Evaluation:
    labels, scores, qid = [1, 0, 0, 1, 0], [2, 1, 2, 1, 1], list("aabbc")
    return lp.evaluate(labels, scores, qid=qid, metrics=["mrr", "auc(over=dataset)"])


FRAME = [["a", 1.0], ["b", 0.5], ["c", np.nan]]
ONE_CLASS = partial(Warns, "all documents are relevant, as .*: the labels are from 1 to 2")
EVALUATE: Rows = {
    # relevance
    "AUC of labels 1 and 2": (lambda: of("auc", [1, 2, 1, 2], [0.1, 0.4, 0.35, 0.8]), ONE_CLASS()),
    "with relevant=2": (lambda: of("auc(relevant=2)", [1, 2, 1, 2], [0.1, 0.4, 0.35, 0.8]), 1.0),
    "AUC of labels 0 and .5": (lambda: of("auc", [0, 0.5], [1, 2]), Warns("no document is .* Pas")),
    "MAP of labels 1 and 2 in queries":
        (lambda: of("map", np.tile([1, 2], 6), np.arange(12), qid=QID), ONE_CLASS()),
    "several metrics, which are one cause":
        (lambda: lp.evaluate([1, 2], [1, 2], group=[2], metrics=["map", "mrr"]), ONE_CLASS()),
    "MAUC of labels 1 and 2":
        (lambda: of("mauc", [1, 2, 1, 2], [0.1, 0.4, 0.35, 0.8]), ONE_CLASS()),
    "MAUC of all classes":
        (lambda: of("mauc(classes=all)", [1, 2, 1, 2], [0.1, 0.4, 0.35, 0.8]), 0.5),
    "NDCG of labels 1 and 2": (lambda: of("ndcg", [1, 2], [1, 2], group=[2]), 1.0),
    "MAP of labels that are all 1": (lambda: of("map", [1, 1], [1, 2], group=[2]), 1.0),
    "a query without label 0": (lambda: of("map", [1, 2, 0, 1], [1, 2, 1, 2], group=[2, 2]), 1.0),
    # documents
    "a document twice in a query":
        (lambda: of("map", [1, 1, 0], [3, 2, 1], group=[3], docno=["a", "a", "b"]),
         Raises("the document a is twice in query 0, in rows 0 and 1")),
    "by the convention of trec":
        (lambda: of("map", [1, 1], [2, 1], qid=["q", "q"], docno=[7, 7], convention="trec"),
         Raises("the document 7 is twice in query q")),
    "a document in two queries":
        (lambda: of("map", [1, 0, 1, 0], [2, 1, 2, 1], qid=[5, 5, 6, 6], docno=list("abab")), 1.0),
    "lists of queries of one length": (
        lambda: of("map", [[1, 0], [0, 1]], [[1, 2], [3, 4]]),
        Raises("labels must be one-dimensional.*and the lengths as group="),
    ),
    "lists as queries": (
        lambda: of("map", [1, 0], [1, 2], qid=[[1], [1, 2]]),
        Raises(r"qid must be all text or all numbers, .*; row 0 is the list \[1\]"),
    ),
    "document numbers of a table": (lambda: of("auc", [1, 0], [2, 1], docno=["a", "a"]), 1.0),
    # results as frames: 1 / 2, the reciprocal rank of row 1 in query b, and no value of query c
    "a frame of pandas": (lambda: frames().to_pandas().reset_index().values.tolist(), FRAME),
    "a frame of polars": (lambda: list(map(list, frames().to_polars().rows())), FRAME),
    # forms
    "lists of different lengths":
        (lambda: of("map", [[1, 0], [0, 1, 1]], [[1, 2], [3, 4, 5]]),
         Raises("labels is a list of lists of different lengths: pass one list .* as group=")),
    "a function as metric":
        (lambda: lp.evaluate([1], [1], metrics=[lp.eval_map]), Raises(".*: pass 'map'")),
    "two names in one": (
        lambda: of("map,ndcg", [1], [1]), Raises(r"several metrics: pass the list \['map', 'ndcg'")
    ),
}  # fmt: skip


@contract(EVALUATE)
def test_evaluate(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)


GONE: Rows = {
    **{
        name: (
            lambda name=name: lp.lambda_objective("map", **{name: 1}),
            Raises(f"no option '{name}': it was removed after lambdaplus 0.2; use "),
        )
        for name in ("truncation", "judged", "damping", "pointwise")
    },
    "of a sum": (
        lambda: lp.lambda_objective("map + ndcg", truncation=3),
        Raises("none of map, ndcg has an option truncation: it was removed after lambdaplus 0.2"),
    ),
    "a name that never was": (
        lambda: getattr(lp, "no_such_name"), Raises("no_such_name'$", AttributeError)  # noqa: B009
    ),
    "a name like another": (
        lambda: getattr(lp, "lambda_ngcd"),  # noqa: B009
        Raises(r"did you mean 'lambda_ndcg'\?\)$", AttributeError),
    ),
    "a metric that never was": (
        lambda: lp.parse_metric("ndgc"), Raises(r"unknown metric 'ndgc' \(did you mean 'ndcg'\?\)")
    ),
    "no name that went is there": (
        lambda: sorted({*REMOVED} & {*lp.metric_names(), *lp.__all__}), []
    ),
}  # fmt: skip


@contract(GONE)
def test_removed_names(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)
