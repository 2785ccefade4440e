"""Write trees in the formats of search engines.

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
    """Convert a model to the JSON format of a search engine.

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
        Name of the model; not used by Vespa.
    feature_names : sequence of str, optional
        Feature names of the engine, in the order of the training columns: those of the feature set
        or store, or Vespa's rank features such as ``bm25(title)``.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For an unknown format and a model that cannot be exported, see `read_forest`; and, except
        for Vespa and OpenSearch, for a model that was trained with missing values.

    Notes
    -----
    A feature that does not match a document has no value.  Vespa and OpenSearch's plugin of 3.x
    then use the direction that the model has learnt.  Other engines use the value 0 (Solr, old
    plugins) or always go right (later plugins): make sure that every feature matches, and impute
    missing values before training with the values that the engine will use.  A LightGBM model
    records whether it was trained with missing values; an XGBoost model does not.
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
    """The body of a _createmodel request, with trees in the format of XGBoost's dump."""
    definition = {"objective": "rank:ndcg", "splits": _dump(forest)}
    model = {"type": "model/xgboost+json", "definition": json.dumps(definition)}
    return {"model": {"name": name, "model": model}}


def elasticsearch(forest: Forest, name: str) -> dict[str, Any]:
    """Like `opensearch`; a ValueError if the model was trained with missing values."""
    _refuse_missing(forest, "Elasticsearch")
    return opensearch(forest, name)


def solr(forest: Forest, name: str) -> dict[str, Any]:
    """A MultipleAdditiveTreesModel, with numbers as text, as in Solr's documentation."""
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
    """A file for ``xgboost("FILE")`` or ``lightgbm("FILE")``, depending on the framework."""
    if forest.source == "xgboost":
        return _dump(forest)

    def node(n: Node) -> dict[str, Any]:
        if isinstance(n, Leaf):
            return {"leaf_value": n.value}
        return {
            "split_feature": n.feature,
            "threshold": n.threshold,  # Vespa compares with <, regardless of the decision type
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
            f"this model has learnt from missing values of {names}, but {engine} does not support "
            "them: fill them before training with the values that the engine will use"
        )


def _with_base(forest: Forest) -> list[Node]:
    """The trees, with the base score as an additional tree, since engines do not read it."""
    return [*forest.trees, *([Leaf(forest.base)] if forest.base else [])]


def _dump(forest: Forest) -> list[dict[str, Any]]:
    """Trees as in XGBoost's JSON dump, with only the fields that strict parsers accept."""

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
    """The number for which Solr's ``x <= number + 1e-6``, in float32, is ``x < threshold``.

    If no float32 results in the number before the threshold, the largest possible one below it is
    used: the difference is one part in 2^23, or 1.2e-13 near 0.
    """
    slack, infinity = np.float32(1e-6), np.float32(np.inf)
    last = np.nextafter(np.float32(next_float32(threshold)), -infinity)
    near = np.float32(float(last) - float(slack))
    candidates = (np.nextafter(near, infinity), near, np.nextafter(near, -infinity))
    return float(next(written for written in candidates if written + slack <= last))


def _text(number: float) -> str:
    return repr(float(number))
