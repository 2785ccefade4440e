"""What rankers promise, and what all estimators do; test_estimators.py has what they train."""

import pickle
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from contracts import Raises, Rows, Warns, contract, hold
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from small_data import graded

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb
from lambdaplus.estimators.saved_models import as_data, from_data

DATA = graded(12)
X, Y, QID = DATA.ranking
BINARY = (Y > 1).astype(int)
HALF = QID < 6
KINDS = (lp.LightGBMRanker, lp.XGBoostRanker)
CLASSIFIERS = (lp.LightGBMClassifier, lp.XGBoostClassifier)
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
each_estimator = pytest.mark.parametrize(
    "kind", KINDS + CLASSIFIERS, ids=lambda kind: kind.__name__
)
pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")


def made(kind: Any, **options: Any) -> Any:
    quiet = {"verbose": -1, "min_child_samples": 2} if issubclass(kind, lgb.LGBMModel) else {}
    quiet |= {"cv": None} if kind in CLASSIFIERS else {}
    return kind(**{"n_estimators": 3, "n_jobs": 1, "objective": "map", **quiet, **options})


def fit(kind: Any, given: Any = (), **options: Any) -> Any:
    call = {"X": X, "y": Y, "qid": QID, **dict(given)}
    if kind in CLASSIFIERS:
        call = {name: value for name, value in call.items() if not name.endswith("qid")}
        call["y"] = call["y"] > 1
        call["eval_set"] = [(features, y > 1) for features, y in call.get("eval_set") or ()] or None
    return made(kind, **options).fit(**call)


def watched(kind: Any, given: Any = (), **options: Any) -> Any:
    """With an evaluation set."""
    quiet = {} if issubclass(kind, lgb.LGBMModel) else {"verbose": False}
    rest = {"eval_set": [(X[~HALF], Y[~HALF])], "eval_qid": [QID[~HALF]], **quiet}
    first = {"X": X[HALF], "y": Y[HALF], "qid": QID[HALF]}
    return fit(kind, {**first, **rest, **dict(given)}, **options)


def names(kind: Any, **options: Any) -> list[str]:
    """Of the metrics that are recorded."""
    return list(next(iter(curves(watched(kind, **options)).values())))


def scores(model: Any, features: Any) -> Any:
    return getattr(model, "decision_function", model.predict)(features)


def curves(model: Any) -> Any:
    found = model.evals_result_ if isinstance(model, lgb.LGBMModel) else model.evals_result()
    return {name: dict(curve) for name, curve in found.items()}


def on(kind: Any, features: Any, others: Any = None, **given: Any) -> Any:
    """Scores and curves of a training on these features, which are an evaluation set, too."""
    rest = {"eval_set": [(features, Y)], "eval_qid": [QID]}
    model = fit(kind, {"X": features, **rest, **given}, eval_metric="map")
    return scores(model, features if others is None else others), curves(model)


def named(features: Any, **more: Any) -> dict[str, Any]:
    return {f"f{i}": np.ascontiguousarray(x) for i, x in enumerate(features.T)} | more


def with_column(place: int = 0) -> pd.DataFrame:
    """Features and the queries, as the column of this number."""
    frame = pd.DataFrame(named(X))
    frame.insert(place, "qid", QID)
    return frame


def by_column(kind: Any, place: int = 0, given: Any = (), **options: Any) -> Any:
    model = fit(kind, {"X": with_column(place), "qid": None, **dict(given)}, **options)
    return model.predict(with_column())


WEIGHTS = np.arange(12.0) + 1.0  # of the queries
FIRST_SCORES = np.linspace(-1.0, 1.0, len(X))


def two_sets(kind: Any, form: Callable[[Any], Any]) -> Any:
    """Curves of the second set, whose arguments have this form."""
    names = own_kind(
        kind, {"eval_sample_weight": WEIGHTS[QID], "eval_init_score": FIRST_SCORES},
        {"sample_weight_eval_set": WEIGHTS, "base_margin_eval_set": FIRST_SCORES},
    )  # fmt: skip
    sets = {"eval_set": [(X[HALF], Y[HALF]), (X.copy(), Y)]}
    first = {"eval_group": np.unique(QID[HALF], return_counts=True)[1]}
    given = {name: form([first.get(name), values])
             for name, values in {**names, "eval_group": DATA.sizes}.items()}  # fmt: skip
    quiet = own_kind(kind, {}, {"verbose": False})
    return [*curves(fit(kind, {**sets, **given, **quiet})).values()][1]


def own_kind(kind: Any, lightgbm: Any, xgboost: Any) -> Any:
    return lightgbm if issubclass(kind, lgb.LGBMModel) else xgboost


def squares(scores: Any, given: Any) -> Any:
    labels = given.get_label() if hasattr(given, "get_label") else scores
    scores = scores if hasattr(given, "get_label") else given
    return scores - labels, np.ones_like(scores)


HOLES = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X).astype(np.float32)


def with_one(values: Any, value: Any) -> Any:
    found = np.asarray(values).astype(object if value is pd.NA else float)
    found[3] = value
    return found


# -- what is refused, and what is warned of -------------------------------------------------------

LOSS = dict(zip(KINDS + CLASSIFIERS, ("l2", "rmse", "binary_logloss", "logloss"), strict=True))
NO_EFFECT = dict.fromkeys(CLASSIFIERS, "scale_pos_weight") | {
    lp.LightGBMRanker: "lambdarank_truncation_level",
    lp.XGBoostRanker: "lambdarank_num_pair_per_sample",
}
NATIVES = ("lambdarank", "rank:ndcg", "binary", "binary:logistic")
NATIVE = dict(zip(KINDS + CLASSIFIERS, NATIVES, strict=True))
PARENTS = {lp.LightGBMRanker: lgb.LGBMRanker, lp.XGBoostRanker: xgb.XGBRanker}
NATIVELY = {kind: {"objective": name} for kind, name in NATIVE.items()}
TIMES = {"y": np.where(np.arange(HALF.sum()) % 3, -1.0, 1.0) * (1.0 + Y[HALF])}
LIFE = "cindex(higher=life)"
UNKNOWN = partial(Raises, kind=Exception)  # or a note on the framework's own error
SPARSE = csr_matrix(np.where(X < 0, 0.0, X))
ORDER = np.random.default_rng(0).permutation(len(X))
UNSORTED = csc_matrix(SPARSE[np.argsort(ORDER)])[ORDER]
IN_PARTS = csr_matrix(  # each entry is the sum of two
    (np.repeat(SPARSE.data / 2, 2), np.repeat(SPARSE.indices, 2), SPARSE.indptr * 2)
)
FRAMES: dict[str, Any] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
BACKWARDS = dict([*named(X).items()][::-1])
ANY: Rows = {
    # data
    **{
        name: (lambda k, form=form: on(k, form(X)), lambda k: on(k, X))
        for name, form in (
            ("pandas", pd.DataFrame), ("csr", csr_matrix), ("coo", lambda x: csr_matrix(x).tocoo()),
        )
    },
    "a frame of polars that is not computed":
        (lambda k: fit(k, {"X": pl.LazyFrame(named(X))}), Raises("LazyFrame.*pass X.collect")),
    "and in predict": (
        lambda k: fit(k, {"X": pl.DataFrame(named(X))}).predict(pl.LazyFrame(named(X))),
        Raises("LazyFrame.*pass X.collect"),
    ),
    "labels in pandas":
        (lambda k: scores(fit(k, {"y": pd.Series(Y)}), X), lambda k: scores(fit(k), X)),
    "columns whose rows do not ascend": (lambda k: on(k, UNSORTED), lambda k: on(k, SPARSE)),
    "entries in parts": (lambda k: on(k, IN_PARTS), lambda k: on(k, SPARSE)),
    "predictions of entries in parts":
        (lambda k: on(k, SPARSE, IN_PARTS), lambda k: on(k, SPARSE)),
    **{
        f"columns in another order, {form}, {where}": (act, Raises("are not those of fit"))
        for form, frame in FRAMES.items()
        for where, act in (
            ("predict", lambda k, frame=frame: on(k, frame(named(X)), frame(BACKWARDS))),
            ("after pickle", lambda k, frame=frame: pickle.loads(
                pickle.dumps(fit(k, {"X": frame(named(X))}))).predict(frame(BACKWARDS))),
            ("eval_set", lambda k, frame=frame: fit(k, {
                "X": frame(named(X)), "eval_set": [(frame(BACKWARDS), Y)], "eval_qid": [QID]})),
        )
    },
    "masked features":
        (lambda k: fit(k, {"X": np.ma.masked_less(X, 0.0)}), Raises("X is a masked array")),
    "masked features in predict":
        (lambda k: fit(k).predict(np.ma.masked_less(X, 0.0)), Raises("X is a masked array")),
    "an argument that the parent lacks":
        (lambda k: fit(k, {"bogus": 1}), Raises("bogus", TypeError)),
    # objectives
    "mapp":
        (lambda k: fit(k, objective="mapp"),
         UNKNOWN(re.escape("unknown metric 'mapp' (did you mean 'map'?)"))),
    "lambda_mapp": (lambda k: fit(k, objective="lambda_mapp"), UNKNOWN("unknown metric 'mapp'")),
    "bpref": (lambda k: fit(k, objective="bpref"), UNKNOWN("was removed .*; use ir-m")),
    "ndcg@0": (lambda k: fit(k, objective="ndcg@0"), UNKNOWN("a cutoff must be a whole")),
    "an option that there is not": (  # LightGBM would read nothing after a blank or =
        lambda k: fit(k, objective="ndcg(gains=linear)"), UNKNOWN("no option 'gains'; it has")
    ),
    "a sum with an unknown part":
        (lambda k: fit(k, objective="map + bogus"), UNKNOWN("unknown metric 'bogus'")),
    "a misspelt name of the framework":
        (lambda k: fit(k, objective=own_kind(k, "lambdarnk", "rank:ndgc")),
         UNKNOWN("if any .did you mean ")),
    "a metric as objective":
        (lambda k: fit(k, objective=lp.eval_map), Raises("is not an objective", TypeError)),
    "a function that makes objectives":
        (lambda k: fit(k, objective=lp.lambda_objective), Raises("is not an obj", TypeError)),
    # metrics
    "unknown metric": (lambda k: watched(k, eval_metric="map + bogus"), Raises("'bogus'")),
    "a metric that went":
        (lambda k: watched(k, eval_metric="bpref"), UNKNOWN("was removed .*; use ir-m")),
    "with the framework's objective":
        (lambda k: watched(k, eval_metric="bpref", **NATIVELY[k]), UNKNOWN("was removed .*use")),
    "5 as metric": (lambda k: watched(k, eval_metric=5), Raises("neither a metric nor a")),
    "an objective as metric":
        (lambda k: watched(k, eval_metric=lp.lambda_map), Raises("neither a metric nor a")),
    "a metric with labels of its own":
        (lambda k: watched(k, eval_metric=lp.eval_map.on(Y)), Raises("has labels of its own")),
    "a metric of the reverse ranking":
        (lambda k: watched(k, eval_metric=["map", "cindex"]), Raises("higher with low labels")),
    "of the reverse ranking, the framework's objective":
        (lambda k: watched(k, eval_metric="cindex", **NATIVELY[k]),
         Raises("higher with low labels first")),
    "a sum of opposite metrics":
        (lambda k: watched(k, eval_metric="map + cindex"), Raises("in opposite orders")),
    "early stopping by a loss":
        (lambda k: watched(k, eval_metric=LOSS[k], early_stopping_rounds=2),
         Warns("watches '.*', which takes scores for .* of lambda_map only rank")),
    "a loss without early stopping": (lambda k: names(k, eval_metric=LOSS[k]), lambda k: [LOSS[k]]),
    "a loss beside a metric, which is watched": (
        lambda k: names(
            k, early_stopping_rounds=2,
            eval_metric=own_kind(k, ["map"], [LOSS[k], "map"]),
        ),
        lambda k: own_kind(k, ["map"], [LOSS[k], "map"]),
    ),
    "a parameter of other objectives":
        (lambda k: fit(k, **{NO_EFFECT[k]: 2}), Warns("has no effect with lambda_objective")),
    "the same with the framework's objective":
        (lambda k: fit(k, **{NO_EFFECT[k]: 2}, **NATIVELY[k]).objective, lambda k: NATIVE[k]),
}  # fmt: skip


@each_estimator
@contract(ANY)
def test_any_estimator(act: Callable[..., Any], right: Any, kind: Any) -> None:
    hold(act, right, kind)


BOTH: Rows = {
    **{
        f"a column of queries, {form}": (
            lambda k, frame=frame: (
                on(k, frame(named(X, qid=QID)), qid=None, eval_qid=None),
                fit(k, {"X": frame(named(X, qid=QID))}).predict(frame(named(X))),
                fit(k, {"X": frame(named(X, qid=QID)), "qid": None}).score(
                    frame(named(X, qid=QID)), Y
                ),
            ),
            lambda k: (on(k, X), fit(k).predict(X), fit(k).score(X, Y, qid=QID)),
        )
        for form, frame in FRAMES.items()
    },
    **{
        f"{what} that contradict the column of queries, {where}": (
            act, Raises(f"the queries of {what}= are not those of the column 'qid'")
        )
        for what, other in (("group", DATA.sizes[::-1]), ("qid", QID[::-1]))
        for where, act in (
            ("fit", lambda k, what=what, other=other: by_column(k, given={what: other})),
            ("eval_set", lambda k, what=what, other=other: fit(k, {
                "eval_set": [(with_column(), Y)], f"eval_{what}": [other]})),
            ("score", lambda k, what=what, other=other: fit(k).score(
                with_column(), Y, **{what: other})),
        )
    },
    **{
        f"{name} that agree with the column of queries": (
            lambda k, given=given: by_column(k, given=given), lambda k: fit(k).predict(X)
        )
        for name, given in (
            ("group", {"group": DATA.sizes}), ("names", {"qid": [f"q{one}" for one in QID]}),
        )
    },
    "a number of a column after that of the queries": (
        lambda k: by_column(k, interaction_constraints=[[0], [1, 2]]),
        Raises(r"interaction_constraints=.*, number 0, is no feature: pass names, here \['qid', "),
    ),
    "as text":
        (lambda k: by_column(k, 1, interaction_constraints="[0],[1,2]"),
         Raises(r"interaction_constraints=.*number 1, is no feature")),
    "numbers of columns before that of the queries": (
        lambda k: by_column(k, X.shape[1], **own_kind(
            k, {"interaction_constraints": [[0], [1, 2]]},
            {"interaction_constraints": "[[0],[1,2]]"})),
        lambda k: fit(k, **own_kind(
            k, {"interaction_constraints": [[0], [1, 2]]},
            {"interaction_constraints": "[[0],[1,2]]"})).predict(X),
    ),
    "a constraint for each column, the queries among them": (
        lambda k: by_column(k, monotone_constraints=(0, 1) + (0,) * (X.shape[1] - 1)),
        Raises(f"monotone_constraints has {X.shape[1] + 1} entries, and there are {X.shape[1]} f"),
    ),
    "a constraint for each feature": (
        lambda k: by_column(k, monotone_constraints=(-1,) * X.shape[1]),
        lambda k: fit(k, monotone_constraints=(-1,) * X.shape[1]).predict(X),
    ),
    **{
        f"{name} by its names": (
            lambda k, name=name: [
                fit(k, objective=one).predict(X) for one in (name, f"lambda_{name}")
            ],
            lambda k, name=name: [fit(k, objective=lp.lambda_objective(name)).predict(X)] * 2,
        )
        for name in ("map@5", "ndcg@10 + 0.5*map")
    },
    "score of the objective's metric, and of eval_metric": (
        lambda k: [
            fit(k, eval_metric=one).score(X, Y, **rows)
            for one in (None, ["ndcg@3", "mrr"])
            for rows in ({"qid": QID}, {"group": DATA.sizes})
        ],
        lambda k: [
            lp.evaluate(Y, fit(k).predict(X), qid=QID, metrics=one).mean[one]
            for one in ("map", "map", "ndcg@3", "ndcg@3")
        ],
    ),
    **{
        f"arguments of evaluation sets as {name}": (
            lambda k, form=form: two_sets(k, form), lambda k: two_sets(k, list)
        )
        for name, form in (
            ("tuples", tuple), ("dictionaries", lambda values: dict(enumerate(values))),
            ("dictionaries of polars",
             lambda values: {i: one if one is None else pl.Series(one)
                             for i, one in enumerate(values)}),
            ("lists of pandas",
             lambda values: [one if one is None else pd.Series(one) for one in values]),
        )
    },
    "a dictionary with a number that no set has":
        (lambda k: two_sets(k, lambda values: {2: values[1]}), Raises("has entries for .2., and")),
    "evaluation sets in a tuple": (
        lambda k: curves(fit(k, {"eval_set": ((X, Y),), "eval_qid": (QID,),
                                 **own_kind(k, {}, {"verbose": False})})),
        lambda k: on(k, X)[1],
    ),
    "predictions of columns of other names, as wished": (
        lambda k: fit(k, {"X": pd.DataFrame(named(X))}).predict(
            pd.DataFrame(named(X)).rename(columns={"f0": "g0"}), validate_features=False),
        lambda k: fit(k).predict(X),
    ),
    "score of weighted queries":
        (lambda k: fit(k).score(X, Y, qid=QID, sample_weight=QID + 1.0),
         lambda k: lp.evaluate(Y, fit(k).predict(X), qid=QID, weight=QID + 1.0).mean["map"]),
    "two metrics": (lambda k: names(k, eval_metric=["ndcg@3", "mrr"]), ["ndcg@3", "mrr"]),
    "the framework's objective": (
        lambda k: fit(k, **NATIVELY[k]).predict(X),
        lambda k: PARENTS[k](**{**fit(k).get_params(), **NATIVELY[k]}).fit(
            X, Y, group=DATA.sizes
        ).predict(X),
    ),
    "its metric":
        (lambda k: fit(k, **NATIVELY[k]).score(X, Y, qid=QID),
         lambda k: fit(k, eval_metric="ndcg@10", **NATIVELY[k]).score(X, Y, qid=QID)),
    "NaN label": (lambda k: fit(k, {"y": with_one(Y, np.nan)}), Raises("labels must .*nan in row")),
    "NaN label, the framework's objective":
        (lambda k: fit(k, {"y": with_one(Y, np.nan)}, **NATIVELY[k]),
         Raises("training data: labels must be finite")),
    "NaN weight":
        (lambda k: fit(k, {"sample_weight": with_one(Y, np.nan)}), Raises("weight .*row 3")),
    "missing query": (lambda k: fit(k, {"qid": with_one(QID, pd.NA)}), Raises("qid is missing in")),
    "no queries": (lambda k: fit(k, {"qid": None}), Raises("training data has no queries: pass q")),
    "no queries in score":
        (lambda k: fit(k, objective="auc").score(X, BINARY),
         Raises("score has no queries: pass qid=.*metadata_routing=True")),
    "no queries in an evaluation set":
        (lambda k: watched(k, {"eval_qid": []}), Raises("evaluation set 0 .*: pass eval_qid=")),
    "censored times, high risks first":
        (lambda k: watched(k, TIMES, objective="cindex", eval_metric="cindex").objective, "cindex"),
    "censored times, long lives first":
        (lambda k: watched(k, TIMES, objective=LIFE, eval_metric=LIFE).objective, LIFE),
    "an objective without a metric":
        (lambda k: fit(k, objective=squares).score(X, Y, qid=QID),
         Raises("no metric is known for .*: pass eval_metric")),
    "an objective of the reverse ranking":
        (lambda k: watched(k, objective="cindex", eval_metric="ndcg"),
         Raises("higher with high labels first")),
}  # fmt: skip


@each_kind
@contract(BOTH)
def test_both_rankers(act: Callable[..., Any], right: Any, kind: Any) -> None:
    hold(act, right, kind)


def negative(labels: Any, scores: Any) -> float:
    return -float(np.mean(labels * scores))


def mean_loss(labels: Any, scores: Any) -> float:
    return negative(labels, scores)


def minimised(**options: Any) -> Any:
    return watched(lp.XGBoostRanker, **{"eval_metric": negative, **options})


def words() -> Any:
    """A column of words, on which LightGBM ends Python in versions that read polars."""
    pytest.importorskip("narwhals", reason="older versions of LightGBM do not read it")
    brand = pl.Series("brand", ["a", "b"] * len(X), dtype=pl.Categorical)[: len(X)]
    return pl.DataFrame({"x": X[:, 0], "brand": brand})


def newer_form() -> Any:
    """An evaluation set of rows in another order."""
    pytest.importorskip("lightgbm", "4.7")
    rest = {"eval_X": X[ORDER], "eval_y": Y[ORDER], "eval_qid": QID[ORDER]}
    return {"training": curves(fit(lp.LightGBMRanker, rest))["valid_0"]}


def by_category(place: int, category: Any) -> Any:
    return by_column(lp.LightGBMRanker, place, {"categorical_feature": category})


TRAINING = {"X": X[ORDER], "y": Y[ORDER], "qid": QID[ORDER]}
TRAINING |= {"eval_set": [(TRAINING["X"], TRAINING["y"])]}
light, boost = partial(watched, lp.LightGBMRanker), partial(watched, lp.XGBoostRanker)
STOP = xgb.callback.EarlyStopping
ONE: Rows = {
    "a category by the number of its column":
        (lambda: by_category(0, [1]), Raises(r"categorical_feature=\[1\] .* here \['f0'\]")),
    "by its name": (lambda: by_category(0, ["f0"]), lambda: by_category(3, [0])),
    "under another name": (
        lambda: by_column(lp.LightGBMRanker, cat_feature=[1]), Raises("categorical_feature=.1. n")
    ),
    "arguments of fit by position": (
        lambda: made(lp.LightGBMRanker).fit(X, Y, 1.0 + QID, FIRST_SCORES, DATA.sizes).predict(X),
        lambda: made(lp.LightGBMRanker).fit(
            X, Y, sample_weight=1.0 + QID, init_score=FIRST_SCORES, group=DATA.sizes).predict(X),
    ),
    "of predict":
        (lambda: fit(lp.LightGBMRanker).predict(X, True, 0, 1),
         lambda: fit(lp.LightGBMRanker).predict(X, num_iteration=1)),
    "of fit of XGBoost, which has none":
        (lambda: made(lp.XGBoostRanker).fit(X, Y, None, DATA.sizes),
         Raises("too many positional", TypeError)),
    "score of weights of queries, rows in any order": (
        lambda: fit(lp.XGBoostRanker).score(
            X[ORDER], Y[ORDER], qid=QID[ORDER],
            sample_weight=(1.0 + QID[ORDER])[np.sort(np.unique(QID[ORDER], return_index=True)[1])]),
        lambda: fit(lp.XGBoostRanker).score(X, Y, qid=QID, sample_weight=1.0 + QID),
    ),
    **{
        f"{kind.__name__} on {what}": (
            lambda kind=kind, features=features, options=options: fit(
                kind, {"X": features}, **options),
            Raises("set min_child_samples .min_data_in_leaf., 20 by default"),
        )
        for kind in (lp.LightGBMRanker, lp.LightGBMClassifier)
        for what, features, options in (
            ("few rows", X, {"min_child_samples": len(X)}),
            ("constant features", np.ones_like(X), {}),
        )
    },
    "weights of features, the queries among them": (
        lambda: by_column(lp.XGBoostRanker, given={"feature_weights": np.ones(X.shape[1] + 1)}),
        Raises("feature_weights has"),
    ),
    "eval_at of the estimator": (
        lambda: light(eval_at=[1, 5]), Raises(r"eval_at=\[1, 5\] .*: pass eval_metric=\['ndcg@1'")
    ),
    "eval_at by another name": (lambda: light(ndcg_at=3), Raises("eval_at=3 is for LightGBM's")),
    "eval_at of fit": (lambda: light({"eval_at": [5]}), Raises(r"eval_at=\[5\] is for LightGBM's")),
    "eval_at with LightGBM's metric":
        (lambda: names(lp.LightGBMRanker, metric="ndcg", eval_at=[1, 5]), ["ndcg@1", "ndcg@5"]),
    "eval_at with LightGBM's objective":
        (lambda: names(lp.LightGBMRanker, objective="lambdarank", eval_at=[2]), ["ndcg@2"]),
    "several metrics of LightGBM in one string":
        (lambda: light(eval_metric="l2,mrr"), Raises("pass several metrics as a list")),
    "a metric that LightGBM would ignore":
        (lambda: light(eval_metric="mapp"),
         Raises(r"unknown metric 'mapp' \(did you mean 'map'\?\).*; LightGBM has no metric 'ma")),
    "the same beside another":
        (lambda: light({"eval_metric": ["map", "ndgc@5"]}), Raises("unknown metric 'ndgc'")),
    "training data among evaluation sets":
        (lambda: list(curves(fit(lp.LightGBMRanker, {**TRAINING, "eval_qid": [QID[ORDER]]}))),
         ["training"]),
    "eval_X and eval_y": (lambda: newer_form(), lambda: on(lp.LightGBMRanker, X.copy())[1]),
    **{
        f"LightGBM's metrics {given}":
            (lambda given=given: names(lp.LightGBMClassifier, eval_metric=given), shown)
        for given, shown in (
            ("rmse,mean_absolute_error", ["rmse", "l1"]), ("auc", ["auc"]),
        )
    },
    "several of LightGBM's":
        (lambda: names(lp.LightGBMClassifier, eval_metric=["binary_logloss", "l2"]),
         ["binary_logloss", "l2"]),
    "columns on which LightGBM ends Python":
        (lambda: fit(lp.LightGBMRanker, {"X": words()}),
         Raises("'brand' is Categorical, which LightGBM cannot")),
    "the same in our train":
        (lambda: lgb.train({}, lgb.Dataset(words().to_arrow(), Y), 1),
         Raises("'brand' is Categorical, which LightGBM cannot read from pyarrow")),
    "random forest":
        (lambda: light(boosting_type="rf", bagging_fraction=0.7, bagging_freq=1),
         Raises("RF mode do not support custom", lgb.basic.LightGBMError)),
    "a function that XGBoost minimises":
        (lambda: minimised(early_stopping_rounds=2), Warns("minimises 'negative'. To maximise it")),
    "by a callback": (lambda: minimised(callbacks=[STOP(rounds=2)]), Warns("early stopping minim")),
    "by a callback that names it":
        (lambda: minimised(callbacks=[STOP(rounds=2, metric_name="negative")]),
         Warns("minimises 'negative'")),
    "a callback that names another one": (
        lambda: minimised(
            eval_metric=["ndcg@3-", negative],
            callbacks=[STOP(rounds=2, metric_name="ndcg@3-")],
        ).n_estimators,
        3,
    ),
    "with XGBoost's objective": (
        lambda: minimised(early_stopping_rounds=2, objective="rank:ndcg"), Warns("minimises 'neg")
    ),
    "a callback that says so":
        (lambda: minimised(callbacks=[STOP(rounds=2, maximize=True)]).best_iteration >= 0, True),
    "a function that is called a loss": (
        lambda: minimised(eval_metric=mean_loss, early_stopping_rounds=2).best_iteration >= 0, True
    ),
    "a function without early stopping": (lambda: minimised().n_estimators, 3),
    "two functions": (lambda: boost(eval_metric=[negative, "map"]), Raises("XGBoost supports one")),
    "XGBoost's default, squared error":
        (lambda: fit(lp.XGBoostRanker, objective=None), Raises("squared error, which ranks noth")),
    "weights of rows that differ in a query":
        (lambda: fit(lp.XGBoostRanker, {"sample_weight": DATA.row_weights}),
         Raises("one weight for each query.*the objective carry")),
    "weights of rows that are equal in a query":
        (lambda: fit(lp.XGBoostRanker, {"sample_weight": DATA.query_weights[QID]}).predict(X),
         lambda: fit(lp.XGBoostRanker, {"sample_weight": DATA.query_weights}).predict(X)),
}  # fmt: skip


@contract(ONE)
def test_one_ranker(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)


# -- searches and cross-validation of scikit-learn ------------------------------------------------

WHOLE, CUT = lp.query_folds(qid=QID, n_splits=3), KFold(3, shuffle=True, random_state=0)
COLUMN = pd.DataFrame(X).add_prefix("x").assign(qid=QID)
PARAMS, GRID = {"params": {"qid": QID}}, {"max_depth": [1, 2, 3]}
SPLITS = partial(Warns, "this cross-validation splits queries: .*cv=lambdaplus.query_folds")
halving = partial(HalvingGridSearchCV, cv=WHOLE, random_state=0)


def in_pipeline(model: Any, **options: Any) -> Any:
    pytest.importorskip("sklearn", "1.8", reason="older ones do not route to score of a Pipeline")
    return cross_val_score(make_pipeline(model), X, Y, **PARAMS, **options)


def of_column(model: Any, cv: Any) -> Any:
    return cross_val_score(model, COLUMN, Y, cv=cv, params={})


FIRST = WHOLE[0][0]
SEARCHES: Rows = {
    "whole queries": (lambda m: cross_val_score(m, X, Y, cv=WHOLE, **PARAMS).size, 3),
    "whole queries of a column": (lambda m: of_column(m, WHOLE).size, 3),
    "groups":
        (lambda m: GridSearchCV(m, GRID, cv=GroupKFold(3)).fit(COLUMN, Y, groups=QID).n_splits_, 3),
    "cut queries": (lambda m: cross_val_score(m, X, Y, cv=CUT, **PARAMS), SPLITS(3)),
    "cut queries of a column": (lambda m: of_column(m, CUT), SPLITS(3)),
    "in a pipeline": (lambda m: in_pipeline(m, cv=CUT), SPLITS(3)),
    "whole queries in a pipeline": (lambda m: in_pipeline(m, cv=WHOLE).size, 3),
    "weights of rows of a query, routed, too": (
        lambda m: cross_val_score(
            m.set_fit_request(sample_weight=True).set_score_request(sample_weight=False), X, Y,
            cv=WHOLE, params={"qid": QID, "sample_weight": DATA.query_weights[QID]},
        )[0],
        lambda m: m.fit(
            X[FIRST], Y[FIRST], qid=QID[FIRST], sample_weight=DATA.query_weights[QID[FIRST]]
        ).score(X[WHOLE[0][1]], Y[WHOLE[0][1]], qid=QID[WHOLE[0][1]]),
    ),
    "predictions": (lambda m: cross_val_predict(m, X, Y, cv=CUT, **PARAMS), SPLITS(3)),
    "a search": (lambda m: GridSearchCV(m, GRID, cv=3).fit(X, Y, qid=QID), SPLITS(9)),
    "rows as the resource":
        (lambda m: halving(m, GRID, min_resources=60).fit(X, Y, qid=QID), SPLITS(9)),
    "trees as the resource":
        (lambda m: halving(m, GRID, resource="n_estimators", max_resources=9).fit(X, Y, qid=QID).cv,
         WHOLE),
    "a learning curve of rows":
        (lambda m: learning_curve(m, X, Y, cv=WHOLE, train_sizes=[0.5], **PARAMS), SPLITS(2)),
    "a fit, and a score of some rows": (
        lambda m: m.fit(X[HALF], Y[HALF], qid=QID[HALF]).score(X[:9], Y[:9], qid=QID[:9]) > 0, True
    ),
}  # fmt: skip


@each_kind
@contract(SEARCHES)
def test_searches(act: Callable[..., Any], right: Any, kind: Any) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        hold(act, right, made(kind))


def test_a_search_without_routing_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        cross_val_score(made(lp.LightGBMRanker), X, Y, error_score="raise")


# -- saved models of XGBoost ----------------------------------------------------------------------

SAVED: dict[str, dict[str, Any]] = {
    "names": {"objective": "map@5 + 0.5*ndcg(gain=linear)", "eval_metric": ["ndcg@3", "mrr"]},
    "XGBoost's objective": {"objective": "rank:pairwise", "eval_metric": "mrr"},
    "options": {"objective": lp.lambda_objective("map", sigma=2.0)},
    "the pairs of the metric itself": {"objective": lp.lambda_objective("mrr", surrogate="mrr")},
    "and of its cutoff": {"objective": lp.lambda_objective("ndcg@5", surrogate="ndcg@5")},
    "every option": {
        "objective": lp.lambda_objective(
            "ndcg@5", gain=[0, 1, 3, 7], normalize=False,
            surrogate="ndcg", balance=0.1,
        )
    },
    "a sum": {"objective": lp.combine({lp.lambda_map: 1, lp.lambda_objective("mrr", sigma=3): 2})},
    "a sum with log-loss": {"objective": lp.lambda_objective("map + 0.5*logloss(relevant=2)")},
    "metrics": {"eval_metric": [lp.eval_metric("auc"), "map"], "objective": "mrr"},
}  # fmt: skip
NOISY = np.random.default_rng(0).permutation(Y[~HALF])  # with the best round early
STOPPED = {"n_estimators": 25, "learning_rate": 0.5, "early_stopping_rounds": 20}


@pytest.mark.parametrize("features", [X.round(2), HOLES], ids=["", "missing features"])
@each_estimator
def test_predict_save_and_pickle_use_the_best_round(
    kind: Any, features: Any, tmp_path: Path
) -> None:
    given = {"X": features[HALF], "eval_set": [(features[~HALF], NOISY)]}
    model = watched(kind, given, eval_metric="map", **STOPPED)
    [[curve]] = [one.values() for one in curves(model).values()]
    assert np.argmax(curve) < len(curve) - 1  # there were rounds to leave out
    expected = model.predict(features, **own_kind(kind, {"raw_score": True}, {"output_margin": 1}))
    assert np.ptp(expected) > 0.1
    file = tmp_path / "model.json"
    own_kind(kind, getattr(model, "booster_", None), model).save_model(file)
    if issubclass(kind, lgb.LGBMModel):
        loaded = lgb.Booster(model_file=file)
        assert loaded.num_trees() == model.best_iteration_ == np.argmax(curve) + 1
        np.testing.assert_array_equal(loaded.predict(features), expected)
    else:
        loaded = kind()
        loaded.load_model(file)
        assert model.best_iteration == np.argmax(curve)
        found = loaded.predict(features, output_margin=True)
        np.testing.assert_array_equal(found, expected)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(scores(copied, features), scores(model, features))


@pytest.mark.parametrize("options", SAVED.values(), ids=SAVED)
def test_a_loaded_ranker_is_the_saved_one(options: dict[str, Any], tmp_path: Path) -> None:
    """With the objective ``rank:ndcg``, as XGBoost loads it, score and the next fit were others."""
    file = tmp_path / "model.json"
    model = boost(**options)
    model.save_model(file)
    loaded, plain = lp.XGBoostRanker(n_jobs=1), xgb.XGBRanker()
    loaded.load_model(file)
    plain.load_model(file)
    for other in (loaded, plain, pickle.loads(pickle.dumps(loaded))):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert (loaded.objective, loaded.eval_metric) == (model.objective, model.eval_metric)
    assert loaded.score(X, Y, qid=QID) == model.score(X, Y, qid=QID)
    loaded.set_params(n_estimators=3).fit(X[HALF], Y[HALF], qid=QID[HALF])
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    plain.save_model(file)


def test_what_is_saved_of_an_objective_is_its_text() -> None:
    for objective in (options["objective"] for options in SAVED.values()):
        assert from_data(as_data(objective)) == objective
    assert as_data(lp.parse_metric("ndcg@5")) == "ndcg@5"


def test_no_other_attribute_is_taken_from_a_file() -> None:
    booster = fit(lp.XGBoostRanker).get_booster()
    booster.set_attr(lambdaplus='{"objective": "mrr", "n_estimators": 9, "predict": 1}')
    loaded = made(lp.XGBoostRanker)
    loaded.load_model(booster.save_raw())
    assert (loaded.objective, loaded.n_estimators, callable(loaded.predict)) == ("mrr", 3, True)
