"""Export a model to the formats of three search engines."""

import lightgbm as lgb

import lambdaplus as lp
from lambdaplus.data import digits_queries
from lambdaplus.export import FORMATS, export_model

fold = digits_queries()[0]
names = [f"feature_{i}" for i in range(fold.train.features.shape[1])]
data = lgb.Dataset(fold.train.features, fold.train.labels, group=fold.train.group)
model = lgb.train({"objective": lp.lambda_ndcg, "verbose": -1}, data, 10)

for engine in FORMATS:
    text = export_model(model, engine, name="digits", feature_names=names)
    print(f"{engine:<13} {len(text):>6} characters: {text[:60]}...")
