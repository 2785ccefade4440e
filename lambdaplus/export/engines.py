"""Write trees as search engines read them.

Sources: the parsers of the Learning to Rank plugins of Elasticsearch (o19s) and OpenSearch
(``XGBoostJsonParser``, ``NaiveAdditiveDecisionTree``), Solr's ``MultipleAdditiveTreesModel`` and
Vespa's importers of XGBoost and LightGBM models.

Examples
--------
>>> import json
>>> from lambdaplus.export.engines import elasticsearch
>>> from lambdaplus.export.forest import Forest, Leaf, Split
>>> tree = Split(feature=0, threshold=0.5, missing_left=True, left=Leaf(-1.0), right=Leaf(1.0))
>>> body = elasticsearch(Forest([tree], ["title"], "xgboost"), "ranker")
>>> json.loads(body["model"]["model"]["definition"])["splits"][0]["split"]
'title'
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Literal, get_args

import numpy as np

from lambdaplus.export.forest import Forest, Leaf, Node, next_float32
from lambdaplus.export.models import read_forest

Format = Literal["elasticsearch", "opensearch", "solr", "vespa"]
FORMATS: tuple[str, ...] = get_args(Format)


def export_model(
    model: Any,
    format: Format,
    *,
    name: str = "lambdaplus",
    feature_names: Sequence[str] | None = None,
) -> str:
    """A model as the JSON that a search engine reads.

    Parameters
    ----------
    model : lightgbm.Booster, xgboost.Booster or an estimator of either
        See `read_forest`.
    format : {"elasticsearch", "opensearch", "solr", "vespa"}
        "elasticsearch", "opensearch": the body to POST to ``_ltr/_featureset/SET/_createmodel`` of
        the Learning to Rank plugin.  "solr": a MultipleAdditiveTreesModel, to PUT to
        ``schema/model-store``.  "vespa": a file for the application's ``models/``, used as
        ``xgboost("FILE")`` or, for a LightGBM model, ``lightgbm("FILE")``.
    name : str
        Of the model; Vespa's have none.
    feature_names : sequence of str, optional
        The engine's names of the features, in the order of the training columns: those of the
        feature set or store, or Vespa's rank features such as ``bm25(title)``.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For an unknown format and a model that can't be exported, see `read_forest`; and, unless
        for Vespa or OpenSearch, for one that has learnt what it means that a value is missing.

    Notes
    -----
    A feature that does not match has no value.  Vespa and OpenSearch's plugin of 3.x send it the
    way that the model has learnt.  Elsewhere it counts as 0 (Solr, old plugins) or goes right at
    every split (later plugins): have every feature match, and fill missing values before training
    with what the engine will give.  A LightGBM model tells whether it has seen missing values; an
    XGBoost model does not.
    """
    writers: dict[str, Callable[[Forest, str], Any]] = {
        "elasticsearch": elasticsearch,
        "opensearch": opensearch,
        "solr": solr,
        "vespa": vespa,
    }
    if format not in writers:
        raise ValueError(f"unknown format {format!r}; known: {', '.join(FORMATS)}")
    return json.dumps(writers[format](read_forest(model, feature_names), name), allow_nan=False)


def opensearch(forest: Forest, name: str) -> dict[str, Any]:
    """The body of a _createmodel request: trees in the form of XGBoost's dump."""
    definition = {"objective": "rank:ndcg", "splits": _dump(forest)}
    model = {"type": "model/xgboost+json", "definition": json.dumps(definition)}
    return {"model": {"name": name, "model": model}}


def elasticsearch(forest: Forest, name: str) -> dict[str, Any]:
    """As `opensearch`; a ValueError where the model needs to know what is missing."""
    _refuse_missing(forest, "Elasticsearch")
    return opensearch(forest, name)


def solr(forest: Forest, name: str) -> dict[str, Any]:
    """A MultipleAdditiveTreesModel; numbers are text, as in Solr's documentation."""
    _refuse_missing(forest, "Solr")

    def node(n: Node) -> dict[str, Any]:
        if isinstance(n, Leaf):
            return {"value": _text(n.value)}
        return {
            "feature": forest.feature_names[n.feature],
            "threshold": _text(_solr_threshold(n.threshold)),
            "left": node(n.left),
            "right": node(n.right),
        }

    return {
        "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
        "name": name,
        "features": [{"name": feature} for feature in forest.feature_names],
        "params": {"trees": [{"weight": "1", "root": node(tree)} for tree in _with_base(forest)]},
    }


def vespa(forest: Forest, name: str) -> Any:
    """A file for ``xgboost("FILE")`` or ``lightgbm("FILE")``, after the framework of the model."""
    if forest.source == "xgboost":
        return _dump(forest)

    def node(n: Node) -> dict[str, Any]:
        if isinstance(n, Leaf):
            return {"leaf_value": n.value}
        return {
            "split_feature": n.feature,
            "threshold": n.threshold,  # Vespa compares with <, whatever the decision type says
            "decision_type": "<=",
            "default_left": n.missing_left,
            "left_child": node(n.left),
            "right_child": node(n.right),
        }

    return {
        "name": name,
        "objective": "lambdarank",  # Vespa's importer fails without one
        "feature_names": list(forest.feature_names),
        "pandas_categorical": [],
        "tree_info": [{"tree_structure": node(tree)} for tree in forest.trees],
    }


def _refuse_missing(forest: Forest, engine: str) -> None:
    if forest.missing:
        names = ", ".join(forest.feature_names[i] for i in forest.missing)
        raise ValueError(
            f"this model has learnt from missing values of {names}, and {engine} can't tell it of "
            "any: fill them before training, with what the engine will give in their place"
        )


def _with_base(forest: Forest) -> list[Node]:
    """The trees, and the base score as one more: no engine reads it from elsewhere."""
    return [*forest.trees, *([Leaf(forest.base)] if forest.base else [])]


def _dump(forest: Forest) -> list[dict[str, Any]]:
    """Trees as in XGBoost's JSON dump: strict parsers know these fields and no others."""

    def node(n: Node, depth: int, ids: count[int]) -> dict[str, Any]:
        own = next(ids)
        if isinstance(n, Leaf):
            return {"nodeid": own, "leaf": n.value}
        left, right = node(n.left, depth + 1, ids), node(n.right, depth + 1, ids)
        return {
            "nodeid": own,
            "depth": depth,
            "split": forest.feature_names[n.feature],
            "split_condition": next_float32(n.threshold),
            "yes": left["nodeid"],
            "no": right["nodeid"],
            "missing": (left if n.missing_left else right)["nodeid"],
            "children": [left, right],
        }

    return [node(tree, 0, count()) for tree in _with_base(forest)]


def _solr_threshold(threshold: float) -> float:
    """What to write so that Solr's ``x <= written + 1e-6``, in float32, is ``x < threshold``.

    Where no float32 gives the number before the threshold, the cut is the greatest one below it
    that can be had: off by one part in 2^23, or by 1.2e-13 near 0.
    """
    slack, infinity = np.float32(1e-6), np.float32(np.inf)
    last = np.nextafter(np.float32(next_float32(threshold)), -infinity)
    near = np.float32(float(last) - float(slack))
    candidates = (np.nextafter(near, infinity), near, np.nextafter(near, -infinity))
    return float(next(written for written in candidates if written + slack <= last))


def _text(number: float) -> str:
    return repr(float(number))
