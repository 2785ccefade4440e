"""The committee perceptron for ranking, and the classic perceptrons that it generalises."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.utils import check_random_state

from lambdaplus.baselines.allowed_values import AtLeastOne
from lambdaplus.baselines.base_ranker import ValidatedRanker, ValidationSet
from lambdaplus.baselines.preference_pairs import (
    PreferencePairs,
    documents_of,
    preference_pairs,
)
from lambdaplus.compute.arguments import number, whole_number
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.lists.order import by_query
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import Metric
from lambdaplus.metrics.names import listed
from lambdaplus.metrics.progress import Progress

# Consecutive pairs that w has ranked correctly, mistakes before w, members of the committee, the
# index of the one that survived least, and pairs that `State.total` sums over.
RUN, VERSION, SIZE, WORST, SURVIVED = range(5)


class State(NamedTuple):
    """The state of the perceptron, which the kernel updates in place."""

    w: Floats  # (d,): the current hypothesis
    total: Floats  # (d,): sum of past hypotheses times the number of pairs that they survived
    members: Floats  # (capacity, d): the committee, of which counter[SIZE] rows are in use
    survival: Ints  # (capacity,): consecutive pairs that each member ranked correctly
    birth: Ints  # (capacity,): index of each member among all hypotheses
    counter: Ints  # (5,): by the names above


@dataclass(eq=False, repr=False)
class CommitteePerceptron(ValidatedRanker):
    """Perceptron on pairs of documents whose longest-surviving hypotheses form a committee.

    Training visits all pairs of documents of a query with different labels, in a new random order
    in each pass, and adds ``(x_high - x_low)/|S_q|`` to the hypothesis w for each pair that it
    ranks wrongly or ties.  The committee consists of the hypotheses that ranked the most
    consecutive pairs correctly between two mistakes; they vote with weights given by a metric on
    validation data.  Without ``eval_set``, the training data is used for validation.

    Parameters
    ----------
    committee_size : int
        Number of members, N_com of the paper.
    n_iter : int
        Maximum number of passes over the pairs; the best number on validation data is used.
    variant : {"committee", "pocket", "average", "last"}
        Hypotheses that vote.  The classic forms are "pocket", only the hypothesis that survived
        longest; "average", the mean of all hypotheses, weighted by their survival; and "last".
    combine : {"average", "borda"}
        Combination of members: their weighted sum, or a weighted Borda count of rankings.
    weights : {"validation", "survival"}
        Votes of a member: its value of the metric on validation data, or the number of pairs that
        it survived.
    metric : str or RankingMetric
        Metric for validation data; any metric of the catalogue.
    alpha_bound : float, optional
        A pair is left out of a pass if it was misranked in more than this share of the passes so
        far, which bounds its dual weight (Khardon & Wachman 2007); None leaves out no pair.
    curve_metrics : str, RankingMetric or Declaration, or iterable of these
        Additional metrics to record after each pass.
    random_state : int, RandomState or None
        Determines the order of the pairs; the same state gives the same model on any number of
        threads.

    Attributes
    ----------
    hypotheses_ : (k, d) float64
        Hypotheses that vote.
    votes_ : (k,) float64
    coef_ : (d,) float64
        Weighted sum of the hypotheses; not for a Borda count.
    survival_ : (k,) int64
        Number of consecutive pairs that each ranked correctly; for "average", the total.
    n_iter_ : int
        Number of passes of the selected model.
    learning_curves_ : dict of str to (n_iter,) float64
        Validation value of each metric after each pass.

    Notes
    -----
    Elsas, Carvalho & Carbonell, "Fast learning of document ranking functions with the committee
    perceptron", WSDM 2008: tables 1 and 2.  Where the paper is not specific, the last hypothesis of
    a pass is a candidate, too; a candidate joins a full committee only if it survived longer than a
    member; and N_sub of table 2 is N_com.

    Examples
    --------
    >>> from lambdaplus.baselines import CommitteePerceptron
    >>> X, y, qid = [[1, 9], [2, 7], [4, 8], [3, 6]], [0, 1, 0, 1], [1, 1, 2, 2]
    >>> CommitteePerceptron(random_state=0).fit(X, y, qid=qid).predict(X).argmax()
    np.int64(3)
    """

    committee_size: AtLeastOne = 20
    n_iter: Annotated[int, partial(whole_number, least=1, below=2**16)] = 50  # misses are uint16
    _: KW_ONLY
    variant: Literal["committee", "pocket", "average", "last"] = "committee"
    combine: Literal["average", "borda"] = "average"
    weights: Literal["validation", "survival"] = "validation"
    metric: Metric = "ndcg@10"
    alpha_bound: Annotated[float, partial(number, most=1.0)] | None = 0.85
    curve_metrics: Metric | Iterable[Metric] = ()
    random_state: Any = None

    def _metrics(self) -> list[Metric]:
        return [self.metric, *listed(self.curve_metrics, "curve_metrics")]

    def _fit_validated(self, X: Floats, queries: Queries, validation: ValidationSet | None) -> None:
        pairs = preference_pairs(queries)
        judged = validation or ValidationSet(X, queries, self._metrics())
        features = X[queries.row_order]
        self._one_ranking = queries.n_queries == 1
        capacity = {"committee": self.committee_size, "pocket": 1}.get(self.variant, 0)
        state = State(
            w=np.zeros(X.shape[1]),
            total=np.zeros(X.shape[1]),
            members=np.empty((capacity, X.shape[1])),
            survival=np.empty(capacity, dtype=np.int64),
            birth=np.empty(capacity, dtype=np.int64),
            counter=np.zeros(5, dtype=np.int64),
        )
        values: dict[int, float] = {}
        random = check_random_state(self.random_state)
        misses = np.zeros(0 if self.alpha_bound is None else pairs.n_pairs, dtype=np.uint16)
        curves = {str(metric): Progress() for metric in judged.metrics}
        chosen_by = curves[str(judged.metrics[0])]
        for passes in range(1, self.n_iter + 1):
            order = self._order(pairs.n_pairs, random)
            bound = np.inf if self.alpha_bound is None else self.alpha_bound * (passes - 1)
            _run_pass(features, pairs, order, misses, bound, state)
            hypotheses, votes, survival = self._elect(state, judged, values)
            scores = self._combine(judged.X, hypotheses, votes, judged.queries.boundaries)
            for name, value in judged.values(scores).items():
                curves[name].add(passes, value)
            if chosen_by.best_round == passes:
                self.hypotheses_, self.votes_, self.survival_ = hypotheses, votes, survival
        self.n_iter_ = chosen_by.best_round
        self.learning_curves_ = {name: np.array(curve.values) for name, curve in curves.items()}

    def _order(self, n_pairs: int, random: np.random.RandomState) -> Ints:
        """The order of the pairs in a pass."""
        return random.permutation(n_pairs)

    def _elect(
        self, state: State, judged: ValidationSet, values: dict[int, float]
    ) -> tuple[Floats, Floats, Ints]:
        """Hypotheses, votes and survival; `values` caches the metric of members by their birth."""
        now: State = copy.deepcopy(state)
        _offer(now)
        if self.variant == "average":
            survived = now.counter[[SURVIVED]]
            return now.total[None] / np.maximum(survived, 1), np.ones(1), survived
        if self.variant == "last":
            return now.w[None], np.ones(1), now.counter[[RUN]]
        by_birth = np.argsort(now.birth[: now.counter[SIZE]])
        members, survival = now.members[by_birth], now.survival[by_birth]
        if self.variant == "pocket" or self.weights == "survival":
            return members, survival.astype(np.float64), survival
        births = now.birth[by_birth].tolist()
        for birth, member in zip(births, members, strict=True):
            if birth not in values:
                values[birth] = judged.value(judged.X @ member)
        return members, np.array([values[birth] for birth in births]), survival

    def _combine(self, X: Floats, hypotheses: Floats, votes: Floats, boundaries: Ints) -> Floats:
        """Scores, (n,); in a Borda count, votes for each document ranked below, half for ties."""
        if not self._borda:
            return np.asarray(X @ (votes @ hypotheses))
        ranks = (rankdata(q @ hypotheses.T, axis=0) for q in np.split(X, boundaries[1:-1]))
        return np.concatenate([(rank - 1.0) @ votes for rank in ranks])

    @property
    def _borda(self) -> bool:
        return self.variant == "committee" and self.combine == "borda"

    def predict(self, X: ArrayLike, qid: ArrayLike | None = None) -> Floats:
        """Score documents; a higher score ranks higher.

        Parameters
        ----------
        X : (n, d) array_like
        qid : (n,) array_like, optional
            Query of each row.  Only a Borda count needs it, to rank the documents of each query,
            unless it was trained without ``qid``.

        Returns
        -------
        (n,) float64

        Raises
        ------
        ValueError
            For invalid data, and for a Borda count without ``qid``.
        """
        features = self._features(X)
        n = len(features)
        if self._borda and qid is None and not self._one_ranking:
            raise ValueError(
                "a Borda count ranks the documents of each query: pass the query of each row, "
                "predict(X, qid=qid)"
            )
        group = [n] if qid is None else None
        documents = by_query(features, np.zeros(n), qid=qid, group=group)
        boundaries = documents.queries.boundaries
        return documents.in_original_order(
            self._combine(documents.X, self.hypotheses_, self.votes_, boundaries)
        )

    @property
    def coef_(self) -> Floats:  # type: ignore[override]
        """The weighted sum of the hypotheses: (d,) float64."""
        if self._borda:
            raise AttributeError("a Borda count is not linear: it has hypotheses_, but no coef_")
        return np.asarray(self.votes_ @ self.hypotheses_)


@compiled
def _offer(state: State) -> None:
    """Add the current hypothesis to the committee if it survived longer than some member."""
    # `counter` is an array, since kernels can change the elements of a tuple's arrays, but not its
    # numbers.
    survival, counter = state.survival, state.counter
    run = counter[RUN]
    if run > 0:
        for k in range(state.w.size):
            state.total[k] += run * state.w[k]
        counter[SURVIVED] += run
    # average and last have no committee.
    if survival.size == 0:
        return
    place = counter[SIZE]
    if place < survival.size:
        counter[SIZE] += 1
    else:
        place = counter[WORST]
        if run <= survival[place]:
            return
    # A free place, or that of the member that survived least.
    state.members[place] = state.w
    state.birth[place] = counter[VERSION]
    survival[place] = run
    if counter[SIZE] == survival.size:
        counter[WORST] = np.argmin(survival)


@compiled(fastmath={"reassoc"})
def _margin(w: Floats, features: Floats, i: int, j: int) -> float:
    """The score of document i less that of document j."""
    total = 0.0
    for k in range(w.size):
        total += w[k] * (features[i, k] - features[j, k])
    return total


@compiled
def _run_pass(
    features: Floats, pairs: PreferencePairs, order: Ints, misses: NDArray[np.uint16], bound: float,
    state: State,
) -> None:  # fmt: skip
    """Visit all pairs once, in the given order; skip those with more than `bound` mistakes."""
    w, counter = state.w, state.counter
    for pair in order:
        # The dual weight of a pair is the number of its updates: see `alpha_bound`.
        if misses.size and misses[pair] > bound:
            continue
        i, j = documents_of(pairs, pair)
        if _margin(w, features, i, j) > 0.0:
            counter[RUN] += 1
            continue
        if misses.size:
            misses[pair] += np.uint16(1)
        # The hypothesis ends here with a mistake: it may join, and the next one begins.
        _offer(state)
        rate = pairs.rate[i]
        for k in range(w.size):
            w[k] += rate * (features[i, k] - features[j, k])
        counter[RUN] = 0
        counter[VERSION] += 1
