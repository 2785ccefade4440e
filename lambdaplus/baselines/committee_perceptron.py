"""The committee perceptron for ranking, and the classic perceptrons that it generalises.

Examples
--------
>>> import numpy as np
>>> from lambdaplus.baselines import CommitteePerceptron
>>> X = np.random.default_rng(0).normal(size=(60, 3))
>>> y, qid = (X[:, 0] + X[:, 1] > 1).astype(int), np.repeat(np.arange(6), 10)
>>> model = CommitteePerceptron(n_iter=5, random_state=0).fit(X, y, qid=qid)
>>> model.predict(X).shape, model.hypotheses_.shape[1]
((60,), 3)
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from lambdaplus.baselines.base_ranker import Ranker
from lambdaplus.baselines.borda import queries_together
from lambdaplus.baselines.electorate import Average, Committee, Election, Last, Voted
from lambdaplus.baselines.perceptron_kernels import VERSION, run_pass, start
from lambdaplus.baselines.preference_pairs import preference_pairs, shuffle
from lambdaplus.baselines.validation_data import Validation, read_validation
from lambdaplus.data.progress import Progress
from lambdaplus.data.queries import Floats, Ints
from lambdaplus.metrics import Metric


class CommitteePerceptron(Ranker):
    """Perceptron on pairs of documents whose longest-surviving hypotheses form a committee.

    Training visits all pairs of documents of a query with different labels, in a new random order
    in each pass, and adds ``(x_high - x_low)/|S_q|`` to the hypothesis w for each pair that it
    ranks wrongly or ties.  The committee consists of the hypotheses that ranked the most
    consecutive pairs correctly between two mistakes; they vote with weights given by a metric on
    validation data.

    Parameters
    ----------
    committee_size : int
        Number of members, N_com of the paper.
    n_iter : int
        Maximum number of passes over the pairs; the best number on validation data is used.
    variant : {"committee", "pocket", "average", "voted", "last"}
        Hypotheses that vote.  The classic forms are "pocket", only the hypothesis that survived
        longest; "average", the mean of all hypotheses, weighted by their survival; "voted", a Borda
        count of all hypotheses (which are all stored, so use it for small data); "last", the final
        hypothesis.
    combine : {"average", "borda"}
        Combination of members: their weighted mean, or a weighted Borda count of rankings.
    weights : {"validation", "survival"}
        Votes of a member: its value of the metric on validation data, or the number of pairs that
        it survived.
    metric : str or RankingMetric
        Metric for validation data; any metric of the catalogue.
    subcommittee_size : int, optional
        Number of members that vote, the best by the metric.
    burn_in : int
        Number of hypotheses at the beginning that do not vote (Li's selective voting).
    alpha_bound : float, optional
        A pair is dropped after it was misranked in more than this share of `n_iter` passes, which
        bounds the dual weights.  With None, no pair is dropped, which saves two bytes per pair.
    normalize : bool
        Scale hypotheses to unit length before averaging.  Their norm grows during training, so that
        otherwise later members have a larger weight.
    kernel : {"linear", "poly", "rbf"}
        Kernels other than linear use the dual form of eq. 2, in which hypotheses are weights of
        training documents.  The n x n kernel matrix is stored, and a mistake takes O(n).
    gamma, degree, coef0
        Parameters of the kernel, as in scikit-learn; gamma=None is 1 / number of features.
    curve_metrics : iterable of str
        Additional metrics to record after each pass.
    random_state : int, RandomState or None
        Determines the order of the pairs; the same state gives the same model on any number of
        threads.

    Attributes
    ----------
    hypotheses_ : (k, m) float64
        Voting hypotheses: weights of the m features, or of the m training documents (dual form).
    votes_ : (k,) float64
        Votes of the hypotheses.
    coef_ : (m,) float64
        Weighted sum of the hypotheses; not for a Borda count.
    survival_ : (k,) int64
        Number of consecutive pairs that each ranked correctly; for "average", the total.
    n_iter_ : int
        Number of passes of the selected model.
    learning_curves_ : dict of str to (n_iter,) float64
        Validation value of each metric after each pass.
    X_fit_ : (m, d) float64
        Training documents of the dual form; empty otherwise.

    Notes
    -----
    Elsas, Carvalho & Carbonell, "Fast learning of document ranking functions with the committee
    perceptron", WSDM 2008: tables 1 and 2.  Our choices where the paper is not specific: the last
    hypothesis of a pass is a candidate too; a candidate joins a full committee only if it survived
    longer than a member; N_sub of table 2 is N_com.  Without ``eval_set`` the training data is used
    for validation.

    A pair only needs two bytes for its number of mistakes: pairs and their order are computed.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "committee_size": [Interval(Integral, 1, None, closed="left")],
        "n_iter": [Interval(Integral, 1, 65535, closed="both")],  # misses are counted in uint16
        "variant": [StrOptions({"committee", "pocket", "average", "voted", "last"})],
        "combine": [StrOptions({"average", "borda"})],
        "weights": [StrOptions({"validation", "survival"})],
        "subcommittee_size": [None, Interval(Integral, 1, None, closed="left")],
        "burn_in": [Interval(Integral, 0, None, closed="left")],
        "alpha_bound": [None, Interval(Real, 0, 1, closed="right")],
        "normalize": ["boolean"],
        "kernel": [StrOptions({"linear", "poly", "rbf"})],
        "gamma": [None, Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "random_state": ["random_state"],
    }

    hypotheses_: Floats
    votes_: Floats
    survival_: Ints
    X_fit_: Floats

    def __init__(
        self,
        committee_size: int = 20,
        n_iter: int = 50,
        *,
        variant: Literal["committee", "pocket", "average", "voted", "last"] = "committee",
        combine: Literal["average", "borda"] = "average",
        weights: Literal["validation", "survival"] = "validation",
        metric: Metric = "ndcg@10",
        subcommittee_size: int | None = None,
        burn_in: int = 0,
        alpha_bound: float | None = 0.85,
        normalize: bool = False,
        kernel: Literal["linear", "poly", "rbf"] = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        curve_metrics: tuple[Metric, ...] = (),
        random_state: Any = None,
    ) -> None:
        self.committee_size = committee_size
        self.n_iter = n_iter
        self.variant = variant
        self.combine = combine
        self.weights = weights
        self.metric = metric
        self.subcommittee_size = subcommittee_size
        self.burn_in = burn_in
        self.alpha_bound = alpha_bound
        self.normalize = normalize
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.curve_metrics = curve_metrics
        self.random_state = random_state

    def fit(
        self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None, eval_set: Any = None
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : (n, d) array_like
        y : (n,) array_like
            Labels; any numbers, a higher one is better.
        qid : (n,) array_like, optional
            Query of each row; without it all rows are one ranking.
        eval_set : (X, y, qid), optional
            Validation data, for the weights of hypotheses and the number of passes.

        Returns
        -------
        CommitteePerceptron

        Raises
        ------
        ValueError
            For invalid data or parameters, and if no query has two different labels.
        """
        self._validate_params()
        sample = self._sample(X, y, qid)
        metrics = (self.metric, *self.curve_metrics)
        held_out = read_validation(self, eval_set, sample, metrics)
        pairs = preference_pairs(sample.queries)
        documents = sample.X[sample.queries.row_order]
        self._one_ranking = sample.queries.n_queries == 1
        self.X_fit_ = documents if self._dual else documents[:0]
        features = self._features(documents)
        voters = self._voters(features, held_out, pairs.n_pairs)
        random = check_random_state(self.random_state)
        misses = np.zeros(0 if self.alpha_bound is None else pairs.n_pairs, dtype=np.uint16)
        bound = np.inf if self.alpha_bound is None else self.alpha_bound * self.n_iter
        curves = {str(metric): Progress() for metric in held_out.metrics}
        chosen_by = curves[str(held_out.metrics[0])]
        for passes in range(1, self.n_iter + 1):
            order = shuffle(pairs.n_pairs, random)
            run_pass(features, self._dual, pairs, order, misses, bound, voters.state)
            for name, value in held_out.values(voters.scores()).items():
                curves[name].add(passes, value)
            if chosen_by.best_round == passes:
                elected = voters.election()
        if not elected.votes.size:
            raise ValueError(
                f"burn_in={self.burn_in} leaves no hypothesis to vote: there were "
                f"{voters.state.counter[VERSION]} mistakes"
            )
        self.hypotheses_, self.votes_, self.survival_, self._borda = elected
        self.n_iter_ = chosen_by.best_round
        self.learning_curves_ = {name: np.array(curve.values) for name, curve in curves.items()}
        return self

    def predict(self, X: ArrayLike, *, qid: ArrayLike | None = None) -> Floats:
        """Score documents; a higher score ranks higher.

        Parameters
        ----------
        X : (n, d) array_like
        qid : (n,) array_like, optional
            Query of each row, which a Borda count needs to rank the documents of each query, unless
            the training data was one ranking, too.  Other scores do not depend on it.

        Returns
        -------
        (n,) float64

        Raises
        ------
        ValueError
            For invalid data, and if the qid is missing for a Borda count.
        """
        features = self._features(self._documents(X))
        elected = Election(self.hypotheses_, self.votes_, self.survival_, self._borda)
        n = len(features)
        if not self._borda or (qid is None and self._one_ranking):
            return elected.scores(features, np.array([0, n]))
        if qid is None:
            raise ValueError(
                "a Borda count ranks the documents of each query: pass the query of each row, "
                "predict(X, qid=qid)"
            )
        rows, boundaries = queries_together(qid, n)
        scores = np.empty(n)
        scores[rows] = elected.scores(features[rows], boundaries)
        return scores

    @property
    def coef_(self) -> Floats:
        """The weighted sum of the hypotheses: (m,) float64."""
        if self._borda:
            raise AttributeError("a Borda count is not linear: it has hypotheses_, but no coef_")
        return np.asarray(self.votes_ @ self.hypotheses_)

    @property
    def _dual(self) -> bool:
        return self.kernel != "linear"

    def _features(self, X: Floats) -> Floats:
        """Inputs of hypotheses: features, or in dual form kernel values of training documents."""
        if not self._dual:
            return X
        options = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        found: Floats = pairwise_kernels(
            X, self.X_fit_, metric=self.kernel, filter_params=True, **options
        )
        return found

    def _voters(self, features: Floats, held_out: Validation, n_pairs: int) -> Last:
        n, width = features.shape
        sizes = {"committee": self.committee_size, "pocket": 1, "voted": n_pairs}
        state = start(width, n if self._dual else 0, sizes.get(self.variant, 0), self.burn_in)
        judged = self._features(held_out.features)
        if self.variant == "last":
            return Last(state, held_out, judged)
        if self.variant == "average":
            return Average(state, held_out, judged)
        if self.variant == "voted":
            return Voted(state, held_out, judged)
        gram = (features if self._dual else np.eye(width)) if self.normalize else None
        if self.variant == "pocket":
            return Committee(state, held_out, judged, "survival", False, None, gram)
        return Committee(
            state, held_out, judged, self.weights, self.combine == "borda",
            self.subcommittee_size, gram,
        )  # fmt: skip
