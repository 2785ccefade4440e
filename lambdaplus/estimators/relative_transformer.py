"""`RelativeFeatures`: features relative to the query, as a transformer of scikit-learn."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lambdaplus.compute.arguments import check_flag, numbers
from lambdaplus.data.frame_columns import is_frame, numbers_by_column
from lambdaplus.data.relative_features import checked_kinds, relative_name, with_relative


class RelativeFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Add features relative to the query: ranks, or distances in standard deviations.

    Nothing is learned from the training data.  `~lambdaplus.data.relative_features` describes the
    features, and accepts queries by their sizes, too.

    Parameters
    ----------
    kind : str or list of str, default="rank"
        What to add for each feature: "rank", "z", or both.
    replace : bool, default=False
        Whether relative features take the place of the features.

    Attributes
    ----------
    relative_ : (d,) array of bool
        Which features get relative ones: in a frame, those that are numbers.  `transform` adds
        them for the same columns.

    Examples
    --------
    >>> from sklearn import config_context
    >>> from sklearn.pipeline import make_pipeline
    >>> from lambdaplus.baselines import RankSVM
    >>> from lambdaplus.data import digits_queries
    >>> from lambdaplus.estimators import RelativeFeatures
    >>> train, test = digits_queries()[0].train, digits_queries()[0].test
    >>> with config_context(enable_metadata_routing=True):
    ...     ranker = make_pipeline(RelativeFeatures(), RankSVM().set_fit_request(qid=True))
    ...     scores = ranker.fit(train.features, train.labels, qid=train.qid).predict(
    ...         test.features, qid=test.qid
    ...     )
    >>> scores.shape == test.labels.shape
    True
    """

    # scikit-learn's metadata routing passes the qid, as to the rankers.
    __metadata_request__transform: ClassVar = {"qid": True}

    def __init__(self, kind: str | Sequence[str] = "rank", replace: bool = False) -> None:
        self.kind = kind
        self.replace = replace

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters, and remember the names of the features.

        Raises
        ------
        ValueError
            For invalid parameters or features.
        """
        checked_kinds(self.kind)
        check_flag(replace=self.replace)
        checked = self._checked(X, reset=True)
        if is_frame(checked):
            columns = numbers_by_column(checked)
            self.relative_ = np.array([name in columns for name in checked.columns])
        else:
            self.relative_ = np.ones(checked.shape[1], dtype=bool)
        return self

    def fit_transform(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Any:
        """`fit`, then `transform`."""
        return self.fit(X).transform(X, qid=qid)

    def transform(self, X: Any, qid: ArrayLike | None = None) -> Any:
        """Add the features.

        Parameters
        ----------
        X : (n, d) array_like, or pandas or polars DataFrame
        qid : (n,) array_like, int or str
            Query of each row, in any order.

        Returns
        -------
        array or DataFrame, of the type of X
            See `~lambdaplus.data.relative_features`.

        Raises
        ------
        ValueError
            Without qid, which a pipeline passes only after
            ``sklearn.set_config(enable_metadata_routing=True)``, and for invalid features.
        """
        check_is_fitted(self)
        checked = self._checked(X, reset=False)
        if qid is None:
            raise ValueError(
                "RelativeFeatures needs qid=, the query of each row. In pipelines and searches qid "
                "arrives only after sklearn.set_config(enable_metadata_routing=True)"
            )
        kinds = checked_kinds(self.kind)
        check_flag(replace=self.replace)
        return with_relative(checked, kinds, qid, None, self.replace, self.relative_)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Names such as "bm25|rank"; features without names are x0, x1, ..."""
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        kept = names[~self.relative_] if self.replace else names
        relative = names[self.relative_]
        added = [
            relative_name(name, kind) for kind in checked_kinds(self.kind) for name in relative
        ]
        return np.array([*kept, *added], dtype=object)

    def _checked(self, X: Any, reset: bool) -> Any:
        if is_frame(X):
            return validate_data(self, X, reset=reset, skip_check_array=True)
        finite = False if self.kind == "rank" else "allow-nan"
        types = [np.float64, np.float32]
        checked = validate_data(self, X, reset=reset, dtype=types, ensure_all_finite=finite)
        if np.asarray(X).dtype.kind != "f":
            numbers(X, "X")  # refuses what scikit-learn would change: integers beyond 2^53, "1_0"
        return checked

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
