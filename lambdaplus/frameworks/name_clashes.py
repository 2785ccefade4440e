"""Names under which our metrics are reported, beside the frameworks' own metrics."""

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

from lambdaplus.compute.warn_once import warn
from lambdaplus.frameworks.calls import framework_of
from lambdaplus.frameworks.internals import calling_booster, own_metrics

SUFFIX = "_lambdaplus"  # at the end, since XGBoost maximises metrics by the beginning of the name

_renamed: WeakKeyDictionary[Any, frozenset[str]] = WeakKeyDictionary()


def reported_names(names: Iterable[str]) -> dict[str, str]:
    """The name for each metric: its own, unless the framework reports a metric of that name.

    Under one name, LightGBM and XGBoost would record the values of both metrics in turn.
    """
    names, booster = list(names), calling_booster()
    if booster is None:
        return {name: name for name in names}
    taken = own_metrics(booster).intersection(names)
    if taken and _renamed.get(booster) != taken:
        _renamed[booster] = taken
        framework, off = "LightGBM", "metric='None'"
        if framework_of(booster) == "xgboost":
            framework, off = "XGBoost", "disable_default_eval_metric=1 and no eval_metric"
        shown = ", ".join(f"{name} is reported as {name}{SUFFIX}" for name in sorted(taken))
        warn(
            f"{framework} evaluates a metric of its own under the same name, so {shown}. To "
            f"evaluate ours alone, set {off}",
            stacklevel=3,
        )
    return {name: name + SUFFIX * (name in taken) for name in names}
