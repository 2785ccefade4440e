"""Trainings that take several steps give the model that one training gives.

Rows of `test_same_models_contract` are those of a single call.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boosting_frameworks import pytest_generate_tests  # noqa: F401
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from small_data import GRADED, Small
from small_trainings import N, X, dataset, own, train

import lambdaplus as lp
from lambdaplus import eval_metric, lambda_objective
from lambdaplus.frameworks.trainings import training_of


def test_a_training_that_goes_on(framework: Any) -> None:
    """Four rounds by twice two; LightGBM adds the scores of a model when it constructs data."""
    f = framework
    first = f.train(lp.lambda_map, f.data(GRADED), 2)
    rest = dataset(f, free_raw_data=False) if f.name == "lightgbm" else f.data(GRADED)
    both = f.train(lp.lambda_map, rest, 2, model=first)
    assert f.n_rounds(both) == 4
    assert_allclose(both.scores(GRADED), train(f, rounds=4)[0], atol=1e-5)


def test_a_saved_model_and_shap_values_have_its_scores(framework: Any) -> None:
    f = framework
    model = f.train(lp.lambda_map, f.data(GRADED), 3)
    if f.name == "lightgbm":
        loaded = f.module.Booster(model_str=model.booster.model_to_string())
        parts = model.booster.predict(X, pred_contrib=True)
    else:
        loaded = f.module.Booster(model_file=model.booster.save_raw("json"))
        parts = model.booster.predict(f.module.DMatrix(X), pred_contribs=True)
    assert_array_equal(type(model)(loaded).scores(GRADED), model.scores(GRADED))
    assert_allclose(parts.sum(axis=1), model.scores(GRADED), atol=5e-5)


@pytest.mark.parametrize("objective", ["spearman", "concordance"])
@pytest.mark.parametrize("constant", [17, 20])
def test_dates_with_equal_scores_count_as_0_in_a_mean_correlation(
    framework: Any, constant: int, objective: str
) -> None:
    """After rounds whose trees know only the dates that are not constant.

    Of each other date, all rows have equal features, so their scores are equal.
    """
    f, dates, names = framework, 20, 15
    known = np.repeat(np.arange(dates) >= constant, names)
    labels = np.tile(np.arange(names, dtype=float), dates)
    features = np.column_stack([np.where(known, labels, 7.0), np.arange(dates).repeat(names)])
    data = Small(features, labels, np.full(dates, names))
    given = f.data(data)
    params = {"min_data_in_leaf": 1, "min_data_in_bin": 1} if f.name == "lightgbm" else {}
    trained = f.train(
        lambda_objective(objective), given, 2, params=params,
        metric=eval_metric("spearman"), valid={"v": given},
    )  # fmt: skip
    mean = 0.0
    if constant < dates:
        of_known = stats.spearmanr(labels[:names], trained.scores(data)[-names:]).statistic
        mean = of_known * (dates - constant) / dates
    assert trained.curves["v"]["spearman"][-1] == pytest.approx(mean, abs=1e-6)  # as XGBoost prints


def test_a_subclass_of_booster_is_updated_by_hand(framework: Any) -> None:
    """Our objective sees its threads."""
    f = framework
    kind, data = type("Own", (f.module.Booster,), {}), f.data(GRADED)
    if f.name == "lightgbm":
        booster = kind({"num_threads": 1, "verbose": -1, "objective": "none"}, data)
    else:
        booster = kind(f.quiet, [data])
    for turn in range(4):
        booster.update(*([data, turn] if f.name == "xgboost" else []), fobj=lp.lambda_mrr)
    found = training_of(booster, booster)
    assert (found.threads, found.rounds) == (1, 4)
    if f.name == "lightgbm":
        scores = booster.predict(X)
    else:
        scores = booster.predict(f.module.DMatrix(X), output_margin=True)
    assert_allclose(scores, train(f, lp.lambda_mrr, rounds=4)[0], atol=1e-6)


def test_a_warning_names_the_file_that_trains(framework: Any) -> None:
    f = framework
    with pytest.warns(UserWarning, match="nothing to rank") as told:
        f.train(lp.lambda_map, f.data(GRADED, label=np.zeros(N)), 1)
    assert Path(told[0].filename).name == "boosting_frameworks.py"


def test_labels_and_queries_in_a_file(lightgbm_alone: Any, tmp_path: Path) -> None:
    f = lightgbm_alone
    np.savetxt(tmp_path / "rows.tsv", np.column_stack([GRADED.labels, X]), "%.17g", "\t")
    (tmp_path / "rows.tsv.query").write_text("\n".join(map(str, GRADED.sizes)))
    found = own(f, data=f.module.Dataset(str(tmp_path / "rows.tsv"), params=f.quiet))
    for one, other in zip(found, train(f), strict=True):
        np.testing.assert_equal(one, other)


def test_leaves_that_are_refreshed_by_the_same_rows_do_not_move(xgboost_alone: Any) -> None:
    f = xgboost_alone
    params = {"process_type": "update", "updater": "refresh", "refresh_leaf": True}
    old = f.train(lp.lambda_map, f.data(GRADED), 3)
    new = f.train(lp.lambda_map, f.data(GRADED), 3, params=params, model=old)
    assert_allclose(new.scores(GRADED), train(f, rounds=3)[0], atol=5e-5)
