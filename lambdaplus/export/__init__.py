"""Models for search engines: Elasticsearch, OpenSearch, Solr and Vespa.

A model of LightGBM or XGBoost is read as plain trees (`read_forest`), and these are written as the
engine wants them (`export_model`).  Engines split with other comparisons, in other precision, than
the frameworks: thresholds are moved to the neighbouring number where that takes it, so that every
row comes out at the same leaf.

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
from lambdaplus.export.files import read_model
from lambdaplus.export.forest import Forest, Leaf, Split
from lambdaplus.export.models import read_forest

__all__ = ["FORMATS", "Forest", "Leaf", "Split", "export_model", "read_forest", "read_model"]
