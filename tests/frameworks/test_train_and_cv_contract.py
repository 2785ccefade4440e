"""What `train` and `cv` promise, ours and those of LightGBM and XGBoost with our functions.

Most rows run on both frameworks, and on LightGBM 3, too.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boosting_frameworks import pytest_generate_tests  # noqa: F401
from contracts import Raises, Rows, Warns, contract, hold
from scipy import stats
from small_data import GRADED, Recorder, Small, value

import lambdaplus as lp
from lambdaplus import eval_metric, lambda_objective
from lambdaplus.frameworks.trainings import training_of
from lambdaplus.ranking.queries import Queries

N, X = GRADED.n, GRADED.features
START = np.where(np.arange(N) == 7, np.nan, 0.0)


def train(
    f: Any, objective: Any = lp.lambda_map, metric: Any = None, valid: Any = "the same",
    rounds: int = 2, data: Any = (), **options: Any,
) -> Any:  # fmt: skip
    """Scores after a training, and the names of what it records."""
    given = f.data(GRADED, **dict(data)) if isinstance(data, tuple | dict) else data
    sets = {"v": given if valid == "the same" else valid} if metric is not None else {}
    trained = f.train(objective, given, rounds, metric=metric, valid=sets, **options)
    return trained.scores(GRADED), sorted(trained.curves.get("v", {}))


def lost(f: Any) -> Any:
    """The data without its queries."""
    return f.data(GRADED, sizes=None)


own = partial(train, own=True)


def by_name(f: Any, name: Any) -> Any:
    """Our train with an objective among the parameters."""
    return f.own.train({**f.quiet, "objective": name}, f.data(GRADED), 2)


def cv(f: Any, objective: Any = lp.lambda_map, **params: Any) -> Any:
    data, params = params.pop("data", None), {**f.quiet, **params}
    given = {"fobj": objective} if f.name == "lightgbm" else {"obj": objective}
    return f.own.cv(params, f.data(GRADED) if data is None else data, 2, **given)


def forms(_: Any, act: Callable[..., Any]) -> None:
    """Raises the error of a metric if an objective has one, too."""
    try:
        act(lp.lambda_ndcg)
    except ValueError:
        act(lp.eval_ndcg)


NO_QUERIES = Raises(r"mrr ranks.*no queries: set group=")


def by_hand(f: Any) -> Any:
    return f.by_hand(lp.lambda_mrr, f.data(GRADED), 4).scores(GRADED)


def going_on(f: Any) -> Any:
    """Four rounds by twice two; LightGBM adds the scores of a model when it constructs data."""
    first = f.train(lp.lambda_map, f.data(GRADED), 2)
    rest = dataset(f, free_raw_data=False) if f.name == "lightgbm" else f.data(GRADED)
    both = f.train(lp.lambda_map, rest, 2, model=first)
    return f.n_rounds(both), both.scores(GRADED).round(5)


def first_scores(f: Any, start: Any = None, **options: Any) -> Any:
    recorder = Recorder(lp.lambda_ndcg, lambda scores, given: scores.copy())
    f.train(recorder, f.data(GRADED, start=start), 1, **options)
    return recorder.seen[0]


def learns(f: Any, rounds: int = 5, **params: Any) -> bool:
    """Whether rows of a training are ranked better than by the strongest feature."""
    given = dataset(f) if f.name == "lightgbm" else f.data(GRADED)
    found = f.train(lp.lambda_map, given, rounds, params=params).scores(GRADED)
    return value("map", GRADED, found) > value("map", GRADED, X[:, 0])


def shares(f: Any) -> Any:
    """The model as saved, and its SHAP values, less its scores."""
    model = f.train(lp.lambda_map, f.data(GRADED), 3)
    if f.name == "lightgbm":
        loaded = f.module.Booster(model_str=model.booster.model_to_string())
        parts = model.booster.predict(X, pred_contrib=True)
    else:
        loaded = f.module.Booster(model_file=model.booster.save_raw("json"))
        parts = model.booster.predict(f.module.DMatrix(X), pred_contribs=True)
    difference = type(model)(loaded).scores(GRADED) - model.scores(GRADED)
    return np.abs(difference).max(), np.abs(parts.sum(axis=1) - model.scores(GRADED)).max().round(4)


def watched_correlation(f: Any, objective: Any, constant: Any) -> Any:
    """The rank correlation after one round whose trees know only the dates that are not constant.

    Of each other date, all rows have equal features, so their scores are equal.
    """
    dates, names = 20, 15
    known = np.repeat(np.arange(dates) >= constant, names)
    labels = np.tile(np.arange(names, dtype=float), dates)
    features = np.column_stack([np.where(known, labels, 7.0), np.arange(dates).repeat(names)])
    data = Small(features, labels, np.full(dates, names))
    given = f.data(data)
    params = {"min_data_in_leaf": 1, "min_data_in_bin": 1} if f.name == "lightgbm" else {}
    trained = f.train(
        objective, given, 2, params=params, metric=eval_metric("spearman"), valid={"v": given}
    )
    of_known = [stats.spearmanr(labels[:names], trained.scores(data)[-names:]).statistic]
    return trained.curves["v"]["spearman"][-1], np.nan_to_num(of_known[0]) * (
        dates - constant
    ) / dates


MIRRORED = GRADED.binary[::-1].copy()


def repeated(f: Any) -> Any:
    """Cross-validation with a bootstrap of whole queries."""
    ends = np.cumsum(GRADED.sizes)
    rows = np.sort(np.concatenate([np.arange(a, b) for a, b in ((0, ends[2]), (0, ends[0]))]))
    given = {"fobj" if f.name == "lightgbm" else "obj": lp.lambda_map}
    return f.own.cv(f.quiet, f.data(GRADED), 2, folds=[(rows, np.arange(ends[2], N))], **given)


def cv_argument(f: Any) -> Any:
    """The fourth argument of cv."""
    return lp.query_folds(group=GRADED.sizes, n_splits=2) if f.name == "lightgbm" else 2


def cv_by_position(f: Any) -> Any:
    params = {**f.quiet, "objective": "map"}
    metric = {"feval" if f.name == "lightgbm" else "custom_metric": lp.eval_map}
    return f.own.cv(params, f.data(GRADED), 2, cv_argument(f), **metric)


def relabelled(f: Any, labels: Any, sets: Any = ("a", "b")) -> list[str]:
    """Metrics with labels of their own on two sets with as many rows, and equal own labels."""
    data = {name: f.data(GRADED, label=GRADED.binary) for name in sets}
    metric = eval_metric("map").on(labels)
    return sorted(f.train(lp.lambda_map, f.data(GRADED), 2, metric=metric, valid=data).curves["a"])


def twice(f: Any, part: Any, other: Any) -> None:
    """Trainings with one objective on a data set, and on another one with as many rows."""
    objective = lp.combine({lp.lambda_ndcg: 1, part: 1})
    for labels in (GRADED.labels, GRADED.labels, other):
        f.train(objective, f.data(GRADED, label=labels), 2)


def through(metric: Any) -> dict[str, Any]:
    """Functions of the user that call a metric."""
    return {
        "a lambda": lambda scores, data: metric(scores, data),
        "partial": partial(metric),
        "an object": type("Own", (), {"__call__": lambda _, *given: metric(*given)})(),
    }


def stopping(f: Any, metric: Any, **options: Any) -> Any:
    """A training of XGBoost with early stopping."""
    given = f.data(GRADED)
    return f.own.train(
        f.quiet, given, 4, obj=lp.lambda_map, evals=[(given, "v")], verbose_eval=False,
        custom_metric=metric, **({"early_stopping_rounds": 2} | options),
    ).num_boosted_rounds()  # fmt: skip


def subclassed(f: Any) -> Any:
    """Updates by hand of a booster of a subclass, and the threads that our objective sees."""
    kind = type("Own", (f.module.Booster,), {})
    data = f.data(GRADED)
    params = {"num_threads": 1, "verbose": -1, "objective": "none"}
    booster = kind(params, data) if f.name == "lightgbm" else kind(f.quiet, [data])
    for turn in range(4):
        booster.update(*([data, turn] if f.name == "xgboost" else []), fobj=lp.lambda_mrr)
    found = training_of(booster, booster)
    if f.name == "lightgbm":
        return found.threads, found.rounds, booster.predict(X)
    return found.threads, found.rounds, booster.predict(f.module.DMatrix(X), output_margin=True)


def line_of_warning(f: Any) -> str:
    """The file that a warning of a training names."""
    with pytest.warns(UserWarning, match="nothing to rank") as told:
        f.train(lp.lambda_map, f.data(GRADED, label=np.zeros(N)), 1)
    return Path(told[0].filename).name


SOFT = GRADED.scores().astype(np.float32)
BOTH: Rows = {
    # the same models
    **{
        f"{name} among the parameters": (
            lambda f, name=name: type(f.train(lp.lambda_map, f.data(GRADED), 1))(
                by_name(f, name)
            ).scores(GRADED),
            lambda f, text=text: train(f, text if text == f.native else lambda_objective(text))[0],
        )
        for name, text in (
            ("ndcg@10", "ndcg@10"), ("map + 0.5*mrr", "map + 0.5*mrr"), ("lambda_map", "map"),
            (lp.parse_metric("err"), "err"),
        )
    },
    "the framework's objective among the parameters":
        (lambda f: type(f.train(f.native, f.data(GRADED), 1))(by_name(f, f.native)).scores(GRADED),
         lambda f: train(f, f.native)[0]),
    "our train":
        (lambda f: own(f, params={"max_depth": 3}), lambda f: train(f, params={"max_depth": 3})),
    "a booster updated by hand": (by_hand, lambda f: train(f, lp.lambda_mrr, rounds=4)[0]),
    "a training that goes on":
        (going_on, lambda f: (4, train(f, rounds=4)[0].round(5))),
    "scores at the start": (first_scores, np.zeros(N)),
    "scores that the data has at the start": (lambda f: first_scores(f, SOFT), SOFT),
    "a saved model, and SHAP values": (shares, (0.0, 0.0)),
    "dart": (lambda f: learns(f, boosting="dart", booster="dart"), True),
    # metrics of scores that are constant
    **{
        f"{constant} of 20 dates with equal scores, {objective}": (
            lambda f, c=constant, o=objective: np.abs(np.diff(watched_correlation(f, o, c))), [0.0]
        )
        for constant in (17, 20)
        for objective in (lambda_objective("spearman"), lambda_objective("concordance"))
    },
    # labels and weights of the rows of a data set
    "labels of a metric": (lambda f: relabelled(f, MIRRORED, "a"), ["map_own"]),
    "labels of a metric, and two sets with as many rows":
        (lambda f: relabelled(f, MIRRORED), Raises("of another data set.*evaluate it on")),
    **{
        f"{what} of an objective, and another data set": (
            lambda f, part=part: twice(f, part(), GRADED.labels[::-1].copy()),
            Raises("is for the rows of another data set"),
        )
        for what, part in (
            ("labels", lambda: lp.lambda_map.on(MIRRORED)),
            ("weights", lambda: lp.lambda_map.weighted(1.0 + MIRRORED)),
        )
    },
    "labels of an objective, and the same data again":
        (lambda f: twice(f, lp.lambda_map.on(MIRRORED), GRADED.labels), None),
    "queries in a fold again":
        (lambda f: repeated(f), Raises("this .* has [0-9]+ rows of the data again, so the copies")),
    # one in place of the other
    "an objective as metric":
        (lambda f: train(f, metric=lp.lambda_map),
         Raises(r"was passed as a metric .*: pass eval_metric\('map'\)", TypeError)),
    "a metric as objective":
        (lambda f: train(f, eval_metric("ndcg@3")),
         Raises(r"is no objective: pass lambda_objective\('ndcg@3'\)", TypeError)),
    "a metric of yours that calls an objective": (
        lambda f: train(
            f, metric=lambda s, d: ("size", float(np.abs(lp.lambda_map(s, d)[0]).sum()), False)[
                : 3 if f.name == "lightgbm" else 2
            ],
        )[1],
        ["size"],
    ),
    **{
        f"{what} as objective of our {way}": (
            lambda f, one=one, way=way: by_name(f, one) if way == "train" else cv(f, one),
            Raises(r"is not an objective: pass lambda_objective\('map'\)", TypeError),
        )
        for what, one in (
            ("lambda_objective", lp.lambda_objective), ("combine", lp.combine),
            ("a metric", lp.eval_map),
        )
        for way in ("train", "cv")
    },
    **{
        f"{what} as a metric of our {way}": (
            lambda f, one=one, way=way: own(f, metric=one) if way == "train" else f.own.cv(
                f.quiet, f.data(GRADED), 2,
                **{"feval" if f.name == "lightgbm" else "custom_metric": one},
            ),
            Raises(r"is no function of scores and data: pass eval_metric\('map'\)", TypeError),
        )
        for what, one in (
            ("a name", "map"), ("a metric", lp.parse_metric("map")), ("eval_metric", eval_metric),
            ("lambda_objective", lp.lambda_objective),
        )
        for way in ("train", "cv")
    },
    "arrays in our cv":
        (lambda f: f.own.cv(f.quiet, X, 2), Raises("must be a D.*, not ndarray", TypeError)),
    # names
    "ndgc@10": (lambda f: by_name(f, "ndgc@10"), Raises("unknown metric 'ndgc' .did y", Exception)),
    "map of a sum": (lambda f: by_name(f, "map + bogus"), Raises("unknown metric 'bogus'")),
    # queries
    "no queries in the training":
        (lambda f: train(f, lambda_objective("mrr"), data={"sizes": None}), NO_QUERIES),
    "no queries in the metric":
        (lambda f: train(f, lp.lambda_auc, eval_metric("mrr"), data={"sizes": None}), NO_QUERIES),
    "all rows as one query":
        (lambda f: train(f, lambda_objective("mrr", one_group=True), data={"sizes": None}),
         lambda f: train(f, lambda_objective("mrr"), data={"sizes": [N]})),
    "queries in the training alone":
        (lambda f: train(f, metric=lp.eval_map, valid=lost(f)),
         Raises("an evaluation set has no queries, and the training data has")),
    "the same, with our train": (
        lambda f: own(f, metric=lp.eval_map, valid=lost(f)), Raises("evaluation set has no queries")
    ),
    "the same, as wished, of all rows":
        (lambda f: train(f, metric=eval_metric("map", one_group=True), valid=lost(f))[1], ["map"]),
    "queries in the evaluation alone":
        (lambda f: train(f, metric=lp.eval_map, valid=f.data(GRADED), data=lost(f)),
         Warns("the training data has no queries, but an evaluation set has")),
    "a subclass of Booster":
        (subclassed, lambda f: (1, 4, train(f, lp.lambda_mrr, rounds=4)[0])),
    "the line that a warning names": (line_of_warning, "boosting_frameworks.py"),
    # arguments by position
    "evaluation sets of our train": (
        lambda f: f.own.train(
            {**f.quiet, "objective": "map"}, d := f.data(GRADED), 3,
            *([[d], ["v"]] if f.name == "lightgbm" else [[(d, "v")]]),
        ) and 3,
        3,
    ),
    "the number of folds of our cv": (
        lambda f: cv_by_position(f), lambda f: f.own.cv(
            {**f.quiet, "objective": "map"}, f.data(GRADED), 2,
            **{"folds" if f.name == "lightgbm" else "nfold": cv_argument(f)},
            **{"feval" if f.name == "lightgbm" else "custom_metric": lp.eval_map}),
    ),
    # values
    "NaN scores":
        (lambda f: forms(f, lambda made: made(START, f.data(GRADED))),
         Raises("scores must be finite.*nan in row 7")),
    "labels that a metric cannot take":
        (lambda f: train(f, lp.lambda_ndcg, data={"label": -GRADED.labels}),
         Raises("ndcg needs labels >= 0")),
    "nothing to rank":
        (lambda f: train(f, rounds=3, data={"label": np.zeros(N)})[0],
         Warns("map has nothing to rank, so its gradient is zero")),
    "labels 1 and 2":
        (lambda f: train(f, metric=lp.eval_map, data={"label": GRADED.binary + 1}),
         Warns("map has nothing to rank|all documents are relevant, as map .*Pass relevant=2", 2)),
}  # fmt: skip


@contract(BOTH)
def test_both_frameworks(act: Callable[..., Any], right: Any, framework: Any) -> None:
    hold(act, right, framework)


NO_EFFECT: dict[str, dict[str, tuple[Any, str]]] = {  # and what is to be set instead
    "lightgbm": {
        "label_gain": ([0, 1, 3, 3], r"ndcg\(gain=.*metric ndcg still reads it"),
        "sigmoid": (2.0, "sigma="),
        "lambdarank_norm": (False, "normalize="),
        "lambdarank_truncation_level": (1, "all pairs are compared"),
        "scale_pos_weight": (3.0, "AUC does not depend on the share of positives"),
        "is_unbalance": (True, "pass weights with the data"),
    },
    "xgboost": {
        "lambdarank_pair_method": ("mean", "remove it"),
        "lambdarank_num_pair_per_sample": (3, "all pairs are compared"),
        "ndcg_exp_gain": (False, "metric ndcg still reads it"),
        "lambdarank_unbiased": (True, "PositionBias"),
    },
}


def test_parameters_of_other_objectives_change_nothing_and_are_warned_of(framework: Any) -> None:
    expected = train(framework, rounds=3)
    for name, (given, instead) in NO_EFFECT[framework.name].items():
        with pytest.warns(UserWarning, match=f"^{name} has no effect with lambda.*{instead}"):
            found = own(framework, rounds=3, params={name: given})
        np.testing.assert_array_equal(found[0], expected[0])


# -- LightGBM -------------------------------------------------------------------------------------

BY_QUERY = {"bagging_by_query": True, "bagging_freq": 1, "bagging_fraction": 0.5}
FOREST = {"boosting": "rf", "bagging_fraction": 0.7, "bagging_freq": 1}
BAGGED = Raises("bagging_by_query=True, .* nothing .*by rows works")


def dataset(f: Any, **changed: Any) -> Any:
    """Data that is not constructed yet."""
    given = {"label": GRADED.labels, "group": GRADED.sizes, "params": f.quiet, **changed}
    return f.module.Dataset(X, **given)


def with_nan(values: Any, value: float = np.nan) -> Any:
    return np.where(np.arange(len(values)) == 3, value, values)


def both_ways(f: Any, data: Callable[[], Any], objective: Any = lp.lambda_map) -> None:
    """Our cv raises, and then our train."""
    with pytest.raises(ValueError, match="train_set must be finite"):
        f.own.cv(f.quiet, data(), 2, fobj=objective)
    f.own.train(f.quiet, data(), 2, fobj=objective)


def plain_cv(f: Any, objective: Any) -> Any:
    """LightGBM's own."""
    given = {} if isinstance(objective, str) or f.module.__version__ >= "4" else {"fobj": objective}
    params = f.quiet if given else {**f.quiet, "objective": objective}
    return f.module.cv(params, dataset(f), 2, **given)


def from_file(f: Any, folder: Path) -> Any:
    """A training on a text file, with the sizes of the queries beside it."""
    np.savetxt(folder / "rows.tsv", np.column_stack([GRADED.labels, X]), "%.17g", "\t")
    (folder / "rows.tsv.query").write_text("\n".join(map(str, GRADED.sizes)))
    return own(f, data=f.module.Dataset(str(folder / "rows.tsv"), params=f.quiet))


def saved(f: Any, folder: Path) -> str:
    dataset(f).construct().save_binary(file := str(folder / "data.bin"))
    return file


ROWS = np.flatnonzero(GRADED.qid % 2 == 1)
ODD = GRADED.rows(ROWS)


def some(given: Any) -> Any:
    """The gradient on every other query."""
    return lp.lambda_map(ODD.scores(), given.construct().subset(ROWS.tolist()).construct())


HALF = slice(0, int(GRADED.sizes[:30].sum()))


def goes_on(f: Any, objective: Any, rows: slice) -> Any:
    first = f.train(objective, f.data(GRADED), 3)
    sizes = GRADED.sizes if rows == slice(None) else GRADED.sizes[:30]
    rest = f.module.Dataset(X[rows], GRADED.labels[rows], group=sizes, free_raw_data=False)
    return f.train(lp.lambda_map, rest, 2, model=first)


def tuned(f: Any, metric: str) -> str:
    optuna = pytest.importorskip("optuna")
    tuner = pytest.importorskip("optuna_integration.lightgbm").LightGBMTuner
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    given = {**f.quiet, "objective": lp.lambda_map, "metric": metric, "eval_at": [10]}
    train = dataset(f, free_raw_data=False, params={})
    search = tuner(
        given, train, num_boost_round=3, feval=eval_metric("ndcg@10"), show_progress_bar=False,
        valid_sets=[train.create_valid(X, GRADED.labels, group=GRADED.sizes)], time_budget=2,
    )  # fmt: skip
    return str(search.study.direction.name)


def stopped_by_feval(f: Any, params: dict[str, Any]) -> int:
    pytest.importorskip("lightgbm", "4", reason="early stopping of older ones cannot be seen")
    given = dataset(f)
    params = {**f.quiet, "objective": "lambdarank", "early_stopping_round": 2, **params}
    valid = given.create_valid(X, GRADED.labels, group=GRADED.sizes)
    booster = f.own.train(params, given, 2, valid_sets=[valid], feval=lp.eval_map)
    return int(booster.num_trees())


def biased(f: Any, objective: Any) -> Any:
    pytest.importorskip("lightgbm", "4.1", reason="older ones have no positions")
    place = np.concatenate([np.arange(size) for size in GRADED.sizes])
    return f.train(objective, dataset(f, position=place), 2).scores(GRADED)


LIGHTGBM: Rows = {
    **{
        f"an objective as {[*params]}, and {'fobj' if fobj else 'no fobj'}": (
            lambda f, _, params=params, fobj=fobj: f.own.train(
                {**f.quiet, **params}, dataset(f), 2, fobj=fobj
            ).predict(X),
            lambda f, _: train(f)[0],
        )
        for params, fobj in (
            *(({name: lp.lambda_map}, None) for name in
              ("objective", "objective_type", "app", "application", "loss")),
            ({"objective": "lambdarank"}, lp.lambda_map),
            ({"application": "binary"}, lp.lambda_map),
            ({"objective_type": lp.lambda_auc, "objective": "binary"}, lp.lambda_map),
        )
    },
    **{
        f"{[*params]} train": (lambda f, _, params=params: learns(f, **params), True)
        for params in (
            {"bagging_fraction": 0.7, "bagging_freq": 1}, {"data_sample_strategy": "goss"},
            {"linear_tree": True},
        )
    },
    "positions":
        (lambda f, _: biased(f, lp.lambda_map), Warns("does not use the positions of this data")),
    "positions with PositionBias":
        (lambda f, _: (biased(f, lp.PositionBias(lp.lambda_map)) != train(f)[0]).any(), True),
    "a model of LightGBM's objective goes on":
        (lambda f, _: f.n_rounds(goes_on(f, "lambdarank", slice(None))), 5),
    "a model goes on with other rows":
        (lambda f, _: f.n_rounds(goes_on(f, lp.lambda_map, HALF)), 5),
    "optuna's tuner, by LightGBM's metric": (lambda f, _: tuned(f, "ndcg"), "MAXIMIZE"),
    "optuna's tuner, by a metric whose direction it does not know":
        (lambda f, _: tuned(f, "ndcg@10"), "MINIMIZE"),
    "refit":
        (lambda f, _: f.train(lp.lambda_map, f.data(GRADED), 2).booster.refit(X, GRADED.labels),
         Raises("null objective function", Exception)),
    **{
        f"early stopping by feval, {how}": (
            lambda f, _, params=params: stopped_by_feval(f, params), right
        )
        for how, params, right in (
            ("and LightGBM's default metric", {},
             Warns("watches the default metric of the objective 'lambdarank', too")),
            ("alone", {"metric": "None"}, 2),
            ("the first one", {"first_metric_only": True}, 2),
            ("with our objective", {"objective": "map"}, 2),
        )
    },
    "few rows": (
        lambda f, _: f.own.train({**f.quiet, "min_data_in_leaf": N}, dataset(f), 1,
                                 fobj=lp.lambda_map),
        Raises("set min_child_samples .min_data_in_leaf."),
    ),
    "bagging by query": (lambda f, _: train(f, params={**BY_QUERY}), BAGGED),
    "of a function that calls an objective":
        (lambda f, _: train(f, lambda *a: lp.lambda_map(*a), params={**BY_QUERY}), BAGGED),
    "with our train": (
        lambda f, _: f.own.train({**f.quiet, **BY_QUERY}, dataset(f), 2, fobj=lp.lambda_map), BAGGED
    ),
    "with our cv": (lambda f, _: cv(f, **BY_QUERY), BAGGED),
    "that is off": (lambda f, _: train(f, params={**BY_QUERY, "bagging_by_query": False})[1], []),
    "NaN label":
        (lambda f, _: both_ways(f, lambda: dataset(f, label=with_nan(GRADED.labels))),
         Raises("labels of train_set must be finite: 1 of .* nan in row 3")),
    "NaN label, LightGBM's objective":
        (lambda f, _: both_ways(f, lambda: dataset(f, label=with_nan(GRADED.labels)), None),
         Raises("labels of train_set must be finite")),
    "infinite weight":
        (lambda f, _: both_ways(f, lambda: dataset(f, weight=with_nan(np.ones(N), np.inf))),
         Raises("weights of train_set must be finite.*inf")),
    "NaN label of an evaluation set": (
        lambda f, _: f.own.train(
            f.quiet, d := dataset(f), 2, fobj=lp.lambda_map,
            valid_sets=[d, d.create_valid(X, with_nan(GRADED.labels), group=GRADED.sizes)],
        ),
        Raises(r"labels of valid_sets\[1\] must be finite"),
    ),
    "our cv with an argument that LightGBM lacks":
        (lambda f, _: f.own.cv(f.quiet, dataset(f), 1, nfolds=3), Raises("'nfolds'", TypeError)),
    "LightGBM's cv, which cuts queries":
        (lambda f, _: plain_cv(f, lp.lambda_map), Raises("queries, as lgb.cv does by default")),
    "with its objective": (lambda f, _: plain_cv(f, "lambdarank") != {}, True),
    "bagging by query of an earlier training":
        (lambda f, _: train(f, data=dataset(f, params={**f.quiet, **BY_QUERY}))[1], []),
    "random forest":
        (lambda f, _: train(f, params=FOREST), Raises("do not support custom", Exception)),
    "labels in a file": (lambda f, folder: from_file(f, folder), lambda f, _: train(f)),
    "folds that cut queries": (
        lambda f, _: f.own.cv(
            f.quiet, dataset(f), 1, fobj=lp.lambda_map,
            folds=[(np.arange(200, N), np.arange(200))],
        ),
        Raises(r"splits \d+ of \d+ queries"),
    ),
    "a binary file":
        (lambda f, d: own(f, data=f.module.Dataset(saved(f, d), params=f.quiet)),
         lambda f, _: train(f)),
    "a part of a binary file":
        (lambda f, d: some(f.module.Dataset(saved(f, d), params=f.quiet)),
         lambda f, _: lp.lambda_map(ODD.scores(), f.data(ODD))),
    "our cv on a binary file":
        (lambda f, folder: cv(f, data=f.module.Dataset(saved(f, folder))),
         lambda f, folder: cv(f, data=dataset(f))),
    "an evaluation set without queries, LightGBM's objective":
        (lambda f, _: train(f, "lambdarank", lp.eval_map, lost(f), params={"metric": "None"}),
         Raises("an evaluation set has no queries")),
}  # fmt: skip


@contract(LIGHTGBM)
def test_lightgbm(act: Callable[..., Any], right: Any, lightgbm_alone: Any, tmp_path: Path) -> None:
    hold(act, right, lightgbm_alone, tmp_path)


# -- XGBoost --------------------------------------------------------------------------------------


def stopped(f: Any, params: Any = (), **options: Any) -> int:
    """A training with early stopping, and without our defaults."""
    given = f.data(GRADED)
    options = {"early_stopping_rounds": 3, **options}
    f.module.train(
        {"nthread": 1, "base_score": 0.0, **dict(params)}, given, 8, obj=lp.lambda_map,
        evals=[(given, "v")], verbose_eval=False, **options,
    )  # fmt: skip
    return 1


def matrix(f: Any, **given: Any) -> Any:
    return f.module.DMatrix(X, **given)


def weighted(f: Any) -> Any:
    given = f.data(GRADED)
    given.set_weight(np.ones(N))  # XGBoost does not mind yet
    return given


def fitted(f: Any, kind: str, given: Any = (), **options: Any) -> Any:
    """One of XGBoost's own estimators."""
    model = getattr(f.module, kind)(n_estimators=2, n_jobs=1, **options)
    half = np.where(GRADED.qid % 2, GRADED.labels, 0)
    return model.fit(X, GRADED.labels, eval_set=[(X, half)], verbose=False, **dict(given))


def reused(f: Any) -> list[bool]:
    """Whether a second training with a callback is as long as the first one."""
    stop, rounds = f.module.callback.EarlyStopping(rounds=2, maximize=True, metric_name="map"), []
    for _ in range(2):
        curves: dict[str, Any] = {}
        given = f.data(GRADED)
        f.own.train(
            f.quiet, given, 9, obj=lp.lambda_map, custom_metric=lp.eval_map, verbose_eval=False,
            evals=[(given, "v")], evals_result=curves, callbacks=[stop],
        )  # fmt: skip
        rounds.append(len(curves["v"]["map"]))
    return [rounds[0] == 9, rounds[1] < 9]


def watched(f: Any, **params: Any) -> list[str]:
    """The names that our train records; with query weights, XGBoost's RMSE ends the process."""
    given, curves = f.data(GRADED, weight=GRADED.query_weights), {}
    f.own.train(
        {"nthread": 1, **params}, given, 2, obj=lp.lambda_map, verbose_eval=False,
        evals=[(given, "v")], evals_result=curves, custom_metric=params.get("ours"),
    )  # fmt: skip
    return list(curves.get("v", ()))


def cross_validated(f: Any, weight: Any) -> Any:
    given = f.data(GRADED, weight=weight)
    found = f.module.cv(f.quiet, given, 2, nfold=2, seed=0, obj=lp.lambda_map,
                      custom_metric=lp.eval_map, as_pandas=False)  # fmt: skip
    return found["test-map-mean"]


def refreshed(f: Any) -> Any:
    """How far leaves move when they are refreshed by the same rows."""
    params = {"process_type": "update", "updater": "refresh", "refresh_leaf": True}
    old = f.train(lp.lambda_map, f.data(GRADED), 3)
    new = f.train(lp.lambda_map, f.data(GRADED), 3, params=params, model=old)
    return np.abs(new.scores(GRADED) - train(f, rounds=3)[0]).max().round(4)


QUERIES = {"qid": GRADED.qid, "eval_qid": [GRADED.qid]}
XGBOOST: Rows = {
    **{
        f"a metric in {name} with early stopping": (
            lambda f, name=name: stopping(f, through(eval_metric("mrr"))[name]),
            Warns("a function that calls eval_metric.'mrr'. is the metric"),
        )
        for name in ("a lambda", "partial", "an object")
    },
    **{
        f"a metric in a lambda {how}": (
            lambda f, metric=metric, options=options: stopping(
                f, through(eval_metric(metric))["a lambda"], **options) > 0,
            True,
        )
        for how, metric, options in (
            ("with a direction", "mrr", {"maximize": True}),
            ("without early stopping", "mrr", {"early_stopping_rounds": None}),
            ("whose name XGBoost knows", "map", {}),
        )
    },
    "NaN scores at the start":  # which LightGBM replaces
        (lambda f: train(f, data={"start": START}), Raises("scores must be finite.*nan in row 7")),
    "early stopping by RMSE": (lambda f: stopped(f), Warns("its default metric, rmse")),
    "without early stopping": (lambda f: stopped(f, early_stopping_rounds=None), 1),
    "by our metric": (lambda f: stopped(f, custom_metric=lp.eval_map), 1),
    "by XGBoost's metric": (lambda f: stopped(f, {"eval_metric": "ndcg"}), 1),
    "an evaluation set without queries, XGBoost's objective":
        (lambda f: train(f, f.native, lp.eval_map, lost(f)),
         Warns("if the training data has queries: an evaluation set has no queries")),
    "a metric of ours as eval_metric":
        (lambda f: watched(f, eval_metric="mrr"),
         Raises(r"none of XGBoost; .* pass custom_metric=.*metric\(.mrr.\)", Exception)),
    "a metric that went as metrics of cv": (
        lambda f: f.own.cv(f.quiet, f.data(GRADED), 2, metrics=["auc", "bpref"]),
        Raises("was removed .*; use ir-m", Exception),
    ),
    "a name as obj":
        (lambda f: f.own.train(f.quiet, f.data(GRADED), 2, obj="map").predict(matrix(f)),
         lambda f: own(f)[0]),
    "XGBoost's objective as obj":
        (lambda f: f.own.train(f.quiet, f.data(GRADED), 2, obj=f.native),
         Raises(r"obj='rank.*' is no function: pass it as params\['objective'\]", TypeError)),
    "an EarlyStopping callback that is used again": (reused, [True, True]),
    "base_score of 2":
        (lambda f: first_scores(f, own=True, params={"base_score": 2}), np.full(N, 2.0)),
    "the default base_score":
        (lambda f: train(f, params={"base_score": None})[0].round(5),
         lambda f: (train(f)[0] + 0.5).round(5)),
    "our train, whose default metric is off": (watched, []),
    "our train with a metric of ours": (lambda f: watched(f, ours=lp.eval_map), ["map"]),
    "our train with a metric of both":
        (lambda f: watched(f, ours=lp.eval_map, eval_metric="ndcg@5"), ["ndcg@5", "map"]),
    "the default metric of rank:ndcg": (
        lambda f: train(f, metric=lambda *_: ("own", 0.0), params={
            "disable_default_eval_metric": 0, "objective": "rank:ndcg"})[1],
        ["ndcg@32", "own"],
    ),
    "a forest": (lambda f: learns(f, 1, num_parallel_tree=5, subsample=0.7, eta=1.0), True),
    "refreshed leaves": (refreshed, 0.0),
    "XGBoost's cv, which ignores weights of queries":
        (lambda f: cross_validated(f, GRADED.query_weights), lambda f: cross_validated(f, None)),
    "no labels":
        (lambda f: lp.lambda_auc(GRADED.scores(), matrix(f)), Raises(f"has 0 labels for {N} rows")),
    "two columns of labels": (
        lambda f: lp.lambda_auc(GRADED.scores(), matrix(f, label=np.stack([GRADED.labels] * 2, 1))),
        Raises(f"{2 * N} labels for {N} rows"),
    ),
    "weights of rows":
        (lambda f: forms(f, lambda made: made(GRADED.scores(), weighted(f))),
         Raises(f"{N} weights for 60 .*one weight per query")),
    "several metrics in XGBRegressor": (
        lambda f: fitted(
            f, "XGBRegressor", objective=lp.lambda_auc, eval_metric=eval_metric("auc", "map")
        ),
        Raises("support a single metric", TypeError),
    ),
    "a metric in XGBRanker":
        (lambda f: fitted(f, "XGBRanker", QUERIES, eval_metric=lp.eval_map),
         Raises("XGBRanker calls a metric query by query")),
    "an objective in XGBRanker":
        (lambda f: fitted(f, "XGBRanker", QUERIES, objective=lp.lambda_map),
         Raises("not supported by XGBRanker")),
    "an objective as metric of XGBRanker":
        (lambda f: fitted(f, "XGBRanker", QUERIES, eval_metric=lp.lambda_map),
         Raises("was passed as a metric", TypeError)),
    "rank:map of graded labels": (lambda f: train(f, "rank:map"), Raises("binary", Exception)),
}  # fmt: skip


@contract(XGBOOST)
def test_xgboost(act: Callable[..., Any], right: Any, xgboost_alone: Any) -> None:
    hold(act, right, xgboost_alone)


# -- arrays ---------------------------------------------------------------------------------------


def call(labels: Any, scores: Any, weight: Any, group: Any) -> Any:
    return forms(None, lambda made: made(labels, scores, weight, group))


LONG, OTHER = np.array([2]), lp.lambda_map.on([1, 0])
ARRAYS: Rows = {
    "NaN score": (lambda: call([1, 0], [0.0, np.nan], None, [2]), Raises("finite.*nan in row 1")),
    "sizes": (lambda: call([1, 0], [0, 1], None, [3]), Raises("add up to 3, but there are 2 rows")),
    "weight": (lambda: call([1, 0], [0, 1], [1, -1], LONG), Raises("negative: -1.0 in row 1")),
    "label below 0": (lambda: call([1, -1], [0, 1], None, LONG), Raises("needs labels >= 0.*-1")),
    "huge label": (lambda: call([1, 1000], [0, 1], None, LONG), Raises("not fit a float64; use g")),
    "option": (lambda: lambda_objective("ndcg", gian=1), Raises("no option 'gian'; it has: gain")),
    "surrogate": (lambda: lambda_objective("ndcg", surrogate="ndgc"), Raises("metric 'ndgc'")),
    "sigma": (lambda: lambda_objective("ndcg", sigma=0), Raises("sigma must be a number at least")),
    "balance": (lambda: lambda_objective("ndcg", balance=1.1), Raises("and at most 1, got 1.1")),
    "weight of a part": (lambda: lambda_objective("1e39*map"), Raises("and at most 1e.06")),
    **{
        f"{metric} without a value": (
            lambda metric=metric: eval_metric(metric)([0] * 4, [1, 2, 3, 4], None, [2, 2]),
            Raises(f"{metric} has no value on any query"),
        )
        for metric in ("auc", "mauc", "map", "mrr", "ndcg")
    },
    "ERR of many labels": (  # without the gradient, which takes a second
        lambda: lambda_objective("err")._gradient_on(Queries(np.arange(500) / 200, group=[500])),
        Warns("err visits the documents .* for each pair of its labels, .* 500: .* a second"),
    ),
    "NDCG of many labels":
        (lambda: lp.lambda_ndcg(np.arange(500) / 200, np.zeros(500), None, [500])[0].size, 500),
    **{
        f"{metric} of {labels}": (
            lambda metric=metric, labels=labels, group=group: lambda_objective(metric)(
                labels, np.zeros(3), None, group
            ),
            Warns(f"{metric} has nothing to rank, so its gradient is zero"),
        )
        for metric, labels, group in (
            ("auc", [1, 1, 1], None), ("auc", [0, 0, 0], None), ("map", [0, 0, 0], None),
            ("ndcg", [2, 2, 2], [3]), ("ndcg", [0, 1, 1], [1, 2]), ("cindex", [-1, -2, -3], None),
        )
    },
    **{
        f"a Hessian that overflows: {given}": (
            lambda given=given, weight=weight: lambda_objective("dcg", **given)(
                [1, 0, 2], np.arange(3), weight, [3]
            ),
            Raises("dcg.* with sigma=.* has Hessians that would be too large: divide"),
        )
        for given, weight in (
            ({"sigma": 1e15, "gain": [0, 1e280, 1e281]}, None),
            ({"sigma": 1e12, "gain": [0, 1e14, 1e15], "normalize": False}, None),
            ({"sigma": 1e10}, [1, 1e30, 1]),
        )
    },
    "surrogate='default'":
        (lambda: lambda_objective("mrr", surrogate="default"), Raises("unknown metric 'default'")),
    "weights of one class":
        (lambda: lp.lambda_auc([1, 0], [0, 1], [1, 0]), Raises("but one have weight 0")),
    "labels of its own, and other rows":
        (lambda: [OTHER([1, 0], [0, 1], None, LONG), OTHER([0, 1], [0, 1], None, LONG)],
         Raises("is for the rows of another data set")),
    "gains whose sums overflow": (
        lambda: lambda_objective("dcg(gain=linear)")([1e308, 1e308, 0, 3], np.arange(4), None, [4]),
        Raises("too large for its gradient: divide the labels"),
    ),
    "gains that float32 cannot hold": (
        lambda: lambda_objective("dcg(gain=linear)", normalize=False)(
            [1e35, 1e35, 0, 3], np.arange(4), None, [4]
        ),
        Raises("too large for its gradient: divide the labels"),
    ),
}  # fmt: skip


@contract(ARRAYS)
def test_arrays(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)
