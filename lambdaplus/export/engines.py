"""Write trees in the formats of search engines.

Sources: the parsers of the Learning to Rank plugins of Elasticsearch (o19s) and OpenSearch
(``XGBoostJsonParser``, ``NaiveAdditiveDecisionTree``) and Solr's ``MultipleAdditiveTreesModel``.
Vespa reads what the frameworks' own ``dump_model`` writes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import count
from typing import Any, Literal, get_args

import numpy as np

from lambdaplus.compute.arguments import number
from lambdaplus.export.forest import Forest, Node, read_forest

Format = Literal["elasticsearch", "opensearch", "solr"]
FORMATS: tuple[str, ...] = get_args(Format)


def export_model(
    model: Any,
    format: Format,
    *,
    name: str = "lambdaplus",
    feature_names: Sequence[str] | None = None,
    offset: float = 0.0,
) -> str:
    """Convert a model to the JSON format of a search engine.

    Parameters
    ----------
    model : lightgbm.Booster, xgboost.Booster or an estimator of either
        The rounds that ``predict`` uses are exported: LightGBM's Boosters and all estimators
        stop at the best iteration of early stopping, XGBoost's Boosters use all rounds unless they
        were saved by an estimator of XGBoost.
    format : {"elasticsearch", "opensearch", "solr"}
        "elasticsearch", "opensearch": the body to POST to ``_ltr/_featureset/SET/_createmodel`` of
        the Learning to Rank plugin.  "solr": a MultipleAdditiveTreesModel, to PUT to
        ``schema/model-store``.
    name : str
        Name of the model.
    feature_names : sequence of str, optional
        Names in the engine's feature set or store, in the order of the training columns.
    offset : float
        Added to every score, which changes no ranking: Elasticsearch refuses negative scores.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For an unknown format, and an offset that is no finite number; for an estimator that is not
        fitted (NotFittedError); for names that do not match the columns; for models that are not a
        sum of trees with numerical splits: several outputs, linear trees, categorical features,
        random forests of LightGBM, objectives that transform the sum, zero_as_missing; and, except
        for OpenSearch, for a LightGBM model that was trained with missing values.

    Notes
    -----
    A feature that does not match a document has no value.  OpenSearch's plugin of 3.x then uses the
    direction that the model has learnt.  Other engines use the value 0 (Solr, old
    plugins) or always go right (later plugins): make sure that every feature matches, and impute
    missing values before training with the values that the engine will use.  An XGBoost model does
    not record whether it was trained with missing values.

    Examples
    --------
    >>> import lightgbm as lgb, numpy as np
    >>> from lambdaplus import lambda_map
    >>> from lambdaplus.export import export_model
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> data = lgb.Dataset(X, X[:, 0] > 1, group=[10] * 20, feature_name=["bm25", "price"])
    >>> model = lgb.train({"objective": lambda_map, "verbose": -1}, data, 2)
    >>> export_model(model, "solr", name="shop")[:40]
    '{"class": "org.apache.solr.ltr.model.Mul'
    """
    if format not in FORMATS:
        raise ValueError(f"unknown format {format!r}; known: {', '.join(FORMATS)}")
    forest = read_forest(model, feature_names)
    if number("offset", offset, least=-math.inf):
        forest = forest._replace(trees=[*forest.trees, float(offset)])
    if forest.missing and format != "opensearch":
        features = ", ".join(forest.feature_names[i] for i in forest.missing)
        raise ValueError(
            f"this model has learnt from missing values of {features}, but {format.capitalize()} "
            "does not support them: fill them before training with the values that the engine "
            "will use"
        )
    write: Any = solr if format == "solr" else learning_to_rank
    return json.dumps(write(forest, name), allow_nan=False)


def learning_to_rank(forest: Forest, name: str) -> dict[str, Any]:
    """The body of a _createmodel request, with trees in the format of XGBoost's dump."""
    definition = {"objective": "rank:ndcg", "splits": _dump(forest)}
    model = {"type": "model/xgboost+json", "definition": json.dumps(definition)}
    return {"model": {"name": name, "model": model}}


def solr(forest: Forest, name: str) -> dict[str, Any]:
    """A MultipleAdditiveTreesModel, with numbers as text, as in Solr's documentation."""

    def node(n: Node) -> dict[str, Any]:
        if isinstance(n, float):
            return {"value": str(n)}
        return {
            "feature": forest.feature_names[n.feature],
            "threshold": str(_solr_threshold(n.threshold)),
            "left": node(n.left),
            "right": node(n.right),
        }

    return {
        "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
        "name": name,
        "features": [{"name": feature} for feature in forest.feature_names],
        "params": {"trees": [{"weight": "1", "root": node(tree)} for tree in forest.trees]},
    }


def _dump(forest: Forest) -> list[dict[str, Any]]:
    """Trees as in XGBoost's JSON dump, with only the fields that strict parsers accept."""

    def node(n: Node, depth: int, ids: count[int]) -> dict[str, Any]:
        number = next(ids)
        if isinstance(n, float):
            return {"nodeid": number, "leaf": n}
        left, right = node(n.left, depth + 1, ids), node(n.right, depth + 1, ids)
        return {
            "nodeid": number,
            "depth": depth,
            "split": forest.feature_names[n.feature],
            "split_condition": _next_float32(n.threshold),
            "yes": left["nodeid"],
            "no": right["nodeid"],
            "missing": (left if n.missing_left else right)["nodeid"],
            "children": [left, right],
        }

    return [node(tree, 0, count()) for tree in forest.trees]


def _solr_threshold(threshold: float) -> float:
    """The number for which Solr's ``x <= number + 1e-6``, in float32, is ``x < threshold``.

    If no float32 results in the number before the threshold, the largest possible one below it is
    used: the difference is one part in 2^23, or 1.2e-13 near 0.
    """
    slack, infinity = np.float32(1e-6), np.float32(np.inf)
    last = np.nextafter(np.float32(_next_float32(threshold)), -infinity)
    near = np.float32(float(last) - float(slack))
    candidates = (np.nextafter(near, infinity), near, np.nextafter(near, -infinity))
    return float(next(written for written in candidates if written + slack <= last))


def _next_float32(threshold: float) -> float:
    """The smallest float32 >= threshold, which is equivalent for comparing float32 values."""
    threshold = min(threshold, float(np.finfo(np.float32).max))
    rounded = np.float32(threshold)
    if float(rounded) < threshold:
        rounded = np.nextafter(rounded, np.float32(np.inf))
    return float(rounded)
