"""Models for search engines: Elasticsearch, OpenSearch and Solr.

`export_model` writes the trees of a LightGBM or XGBoost model.  Engines use other comparisons and
another precision: thresholds are moved to a neighbouring number, so that rows reach the same leaf.

Examples
--------
>>> import numpy as np, lambdaplus as lp, lambdaplus.lightgbm as lgb
>>> from lambdaplus.export import export_model
>>> X = np.random.default_rng(0).normal(size=(300, 2))
>>> data = lgb.Dataset(X, label=(X[:, 0] > 1).astype(int), group=[10] * 30)
>>> booster = lgb.train({"verbose": -1}, data, num_boost_round=5, fobj=lp.lambda_map)
>>> text = export_model(booster, "solr", name="ranker", feature_names=["title", "body"])
>>> text[:57]
'{"class": "org.apache.solr.ltr.model.MultipleAdditiveTree'
"""

from lambdaplus.export.engines import FORMATS, export_model
from lambdaplus.export.forest import read_model

__all__ = ["FORMATS", "export_model", "read_model"]
