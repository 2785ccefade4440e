"""Base class of the estimators: the columns that `fit` was given, and the arguments of its call."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from lambdaplus.compute.array_types import Floats
from lambdaplus.estimators.arguments import arguments, by_set
from lambdaplus.estimators.signatures import show_names_of_parents
from lambdaplus.frameworks.column_parameters import refuse_unknown_columns
from lambdaplus.frameworks.data_sets import canonical, refuse_other_features, width_of
from lambdaplus.lists.columns import columns_of, from_narwhals, native
from lambdaplus.lists.single_precision import refuse_unusable_start, warn_of_merged_labels


class ArgumentNames(NamedTuple):
    """Names of arguments of fit, in which the frameworks differ."""

    start: str
    eval_start: str
    eval_weights: str
    model: str


_METHODS = {"decision_function": "predict"} | {
    name: name for name in ("fit", "predict", "predict_proba", "apply")
}
_LEAVES_AND_PARTS = ("pred_leaf", "pred_contrib")  # which decision_function refuses


class FrameworkEstimator:
    """A subclass of a framework's estimator, which has all of its parent's parameters."""

    _own_parameters: ClassVar[tuple[str, ...]] = ("eval_metric",)  # not known to the framework
    _names: ClassVar[ArgumentNames]
    _padded: ClassVar[tuple[str, ...]] = ()  # which the framework pads to all features
    _one_group: ClassVar = False  # whether all rows are one, for any metric

    objective: Any
    eval_metric: Any
    _train: Callable[..., Floats | None]
    """Trains with the arguments of a call of the parent's fit; the scores of its rows, if known."""

    _columns: list[Any] | None = None  # of the frame that fit was given
    _levels: Mapping[str, Sequence[str]] = {}  # of its categories

    def __init_subclass__(cls, **options: Any) -> None:
        # Before scikit-learn's own, which reads them.
        show_names_of_parents(cls, _METHODS, {"decision_function": _LEAVES_AND_PARTS})
        super().__init_subclass__(**options)

    def _call_of_fit(
        self, fit: Callable[..., Any], X: Any, y: Any, *args: Any, sample_weight: Any = None,
        eval_set: Any, **given: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """The arguments of a call of fit by name; LightGBM's have positions, XGBoost's have none.

        The third of XGBoost's rankers was the group before it had none.
        """
        asked = {"sample_weight": sample_weight, "eval_set": eval_set}
        given |= {name: value for name, value in asked.items() if value is not None}
        return {"sample_weight": None} | arguments(fit, X, y, *args, **given)

    def _prepare(self, call: dict[str, Any]) -> None:
        """Remember the columns of a call of fit, and make its features as in `_features`."""
        given, labels, self._columns = call["X"], call["y"], columns_of(call["X"])
        self._levels = levels_of(given)
        call |= {"X": self._readable(given), "y": native(labels)}
        warn_of_merged_labels(call["y"], "the training data")
        if width := width_of(call["X"]):
            refuse_unknown_columns(self._of_features(call), width, self._padded)
        sets = call.get("eval_set") or []
        # The frameworks recognise the training data among evaluation sets.
        call["eval_set"] = [
            (
                call["X"] if X is given else self._features(X),
                call["y"] if y is labels else native(y),
            )
            for X, y in sets
        ] or None
        for i, (X, _) in enumerate(call["eval_set"] or ()):
            refuse_other_features(f"evaluation set {i}", X, call["X"])
        for name in ("eval_group", self._names.eval_weights, self._names.eval_start):
            if call.get(name) is not None:  # in a form that all parents take
                call[name] = by_set(name, call[name], len(sets))
        for i, start in enumerate(call.get(self._names.eval_start) or ()):
            refuse_unusable_start(start, f"{self._names.eval_start} of evaluation set {i}")

    def _features(self, X: Any, validate_features: Any = True) -> Any:
        """Sparse features as the frameworks read them right, and frames if they have the columns.

        Unless ``validate_features`` is False, which the parents' predictions take, too, a
        ValueError is raised for columns of other names, or in another order, than those of `fit`.
        """
        X = from_narwhals(X)
        columns = columns_of(X) if validate_features else None
        if self._columns is not None and columns is not None and columns != self._columns:
            raise ValueError(
                f"the columns {columns} are not those of fit, in their order: {self._columns}"
            )
        return self._readable(X)

    def _readable(self, X: Any) -> Any:
        return canonical(X)

    def _of_features(self: Any, call: dict[str, Any]) -> dict[str, Any]:
        """The parameters, and the arguments of a call of fit, by the framework's names."""
        return {**self.get_params(deep=False), **call}


def levels_of(X: Any) -> dict[str, list[str]]:
    """The values of each category of a frame of pandas, as text; of true and false, none."""
    types: Any = getattr(X, "dtypes", None)
    if not hasattr(types, "items"):
        return {}
    levels: dict[str, list[str]] = {}
    for name, dtype in types.items():
        if hasattr(dtype, "categories"):
            levels[str(name)] = [*map(str, dtype.categories)]
        elif getattr(dtype, "kind", "") == "b":
            levels[str(name)] = []
    return levels
