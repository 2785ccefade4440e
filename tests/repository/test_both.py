"""The study of pairs and log-loss on made-up results."""

import argparse
import base64
import importlib
from typing import Any

import numpy as np
import pytest
from places import ROOT


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("both")


def text_of(values: Any) -> str:
    return base64.b64encode(np.rint(65534 * values).astype("<u2").tobytes()).decode()


def test_a_share_of_log_loss_is_chosen_on_validation_queries_of_other_folds(
    both: Any,
) -> None:
    asked = argparse.Namespace(
        seeds=range(5), sets=["build/s"], frameworks=["xgboost"], objectives=["map"],
        shares=both.SHARES,
    )  # fmt: skip
    keys = list(both.tasks(asked))
    names = list(dict.fromkeys(key[3] for key in keys))
    shares = [(0.75, 0.25), (0.5, 0.5), (0.25, 0.75), (0.15, 0.85)]
    sums = [f"{pairs}*map+{loss}*logloss(relevant=1)" for pairs, loss in shares]
    assert names == ["map", *sums, "log-loss", "rank:ndcg"]
    # Log-loss is best on the validation queries of folds 0 and 1 alone.
    fits = {
        key[:5]: {
            "valid": {"map": [0.9 if (key[3] == "log-loss") == (key[4] < 2) else 0.5]},
            "queries": {"map": text_of(np.full(8, 0.25 + 0.5 * (key[3] == "log-loss")))},
        }
        for key in keys
    }
    found = both.chosen(fits, "build/s", "xgboost", "map", (0.0, 1.0))
    # Folds 2 and 3 see 0, 1, 4 and 0, 1, 2, and the others more folds where pairs are better.
    assert found.text.startswith(f"{2 / 5 * 0.5:+.4f}")


def test_log_loss_is_trained_for_concordance_and_for_the_other_metrics(
    both: Any,
) -> None:
    asked = argparse.Namespace(
        seeds=[0], sets=["s"], frameworks=["xgboost"], objectives=["map", "concordance"],
        shares=[0.0],
    )  # fmt: skip
    followed = {}
    for *_, name, _, metrics, _ in both.tasks(asked):
        followed.setdefault(name, []).append(metrics)
    others = "map,ndcg@10,auc,mrr,recall@20"
    assert followed == {
        "map": [others], "concordance": ["concordance"],
        "log-loss": [others, "concordance"], "rank:ndcg": [others, "concordance"],
    }  # fmt: skip
    curves = [
        {"key": ["s", "xgboost", "t", "log-loss", 0, metric, 4.0], "every": 5,
         "times": times, **{what: {metric: [0.5]} for what in ("valid", "test", "queries")}}
        for metric, times in (("map", [1.0]), ("concordance", [1.0, 2.0]))
    ]  # fmt: skip
    [[key, one]] = both.merged(curves).items()
    assert key == ("s", "xgboost", "t", "log-loss", 0)
    assert list(one["valid"]) == ["map", "concordance"] == list(one["queries"])
    assert one["times"] == [1.0, 2.0]
