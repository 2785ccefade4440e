"""Selection of the voting hypotheses of a perceptron, their votes, and the counting of votes."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np

from lambdaplus.baselines.borda import borda_count
from lambdaplus.baselines.perceptron_kernels import RUN, SIZE, SURVIVED, State, offer
from lambdaplus.baselines.validation_data import Validation
from lambdaplus.data.queries import Floats, Ints


class Election(NamedTuple):
    """Hypotheses and their votes.

    Attributes
    ----------
    hypotheses : (k, m) float64
    votes : (k,) float64
    survival : (k,) int64
        Number of consecutive pairs that each ranked correctly.
    borda : bool
        Whether to combine them by a Borda count; otherwise by their weighted sum.
    """

    hypotheses: Floats
    votes: Floats
    survival: Ints
    borda: bool = False

    def scores(self, features: Floats, boundaries: Ints) -> Floats:
        """Scores of documents: (n, m) features -> (n,)."""
        if self.borda:
            return borda_count(features, self.hypotheses, self.votes, boundaries)
        return np.asarray(features @ (self.votes @ self.hypotheses))


class Last:
    """Only the current hypothesis."""

    def __init__(self, state: State, held_out: Validation, features: Floats) -> None:
        self.state, self.held_out, self.features = state, held_out, features

    def election(self) -> Election:
        """The current voters and votes."""
        return Election(self.state.w[None].copy(), np.ones(1), self.state.counter[[RUN]])

    def scores(self) -> Floats:
        """Current scores of the validation documents."""
        return self.election().scores(self.features, self.held_out.queries.boundaries)


class Average(Last):
    """The mean of all hypotheses so far, weighted by their survival."""

    def election(self) -> Election:
        now = _closed(self.state)
        survived = now.counter[[SURVIVED]]
        return Election(now.total[None] / np.maximum(survived, 1), np.ones(1), survived)


class Committee(Last):
    """The hypotheses that survived longest.

    Parameters
    ----------
    state, held_out, features
        As in `Last`; features are those of the validation documents.
    weights : {"validation", "survival"}
    borda : bool
    subcommittee_size : int or None
    gram : (m, m) float64 or None
        Scalar products of the inputs, to scale hypotheses to unit length; None: no scaling.
    """

    def __init__(
        self, state: State, held_out: Validation, features: Floats, weights: str, borda: bool,
        subcommittee_size: int | None, gram: Floats | None,
    ) -> None:  # fmt: skip
        super().__init__(state, held_out, features)
        self.weights, self.borda, self.gram = weights, borda, gram
        self.subcommittee_size = subcommittee_size
        self._value: dict[int, float] = {}  # by birth of a member; most members stay for long

    def election(self) -> Election:
        now = _closed(self.state)
        size = now.counter[SIZE]
        chosen = np.argsort(now.birth[:size])
        votes = now.survival[chosen].astype(np.float64)
        if self.weights == "validation" or self.subcommittee_size is not None:
            values = self._values(now, chosen)
            if self.weights == "validation":
                votes = values
            if self.subcommittee_size is not None:
                best = np.sort(np.argsort(-values, kind="stable")[: self.subcommittee_size])
                chosen, votes = chosen[best], votes[best]
        hypotheses = now.members[chosen]
        if self.gram is not None:
            squares = np.einsum("ij,ij->i", hypotheses @ self.gram, hypotheses)
            hypotheses /= np.sqrt(np.where(squares > 0, squares, 1.0))[:, None]
        return Election(hypotheses, votes, now.survival[chosen], self.borda)

    def _values(self, now: State, chosen: Ints) -> Floats:
        births = now.birth[chosen].tolist()
        new = [k for k, birth in enumerate(births) if birth not in self._value]
        scores = self.features @ now.members[chosen[new]].T
        known = {birth: self._value[birth] for birth in births if birth in self._value}
        fresh = {births[k]: self.held_out.value(scores[:, c]) for c, k in enumerate(new)}
        self._value = known | fresh
        return np.array([self._value[birth] for birth in births])


class Voted(Last):
    """All hypotheses so far: a Borda count weighted by survival."""

    def __init__(self, state: State, held_out: Validation, features: Floats) -> None:
        super().__init__(state, held_out, features)
        self.past = [Election(state.members[:0], np.empty(0), state.survival[:0], True)]
        self.points = np.zeros(len(features))

    def scores(self) -> Floats:
        size = self.state.counter[SIZE]
        survival = self.state.survival[:size].copy()
        new = Election(self.state.members[:size].copy(), survival.astype(float), survival, True)
        self.state.counter[SIZE] = 0  # the kernel may reuse the memory
        self.past.append(new)
        boundaries = self.held_out.queries.boundaries
        self.points += new.scores(self.features, boundaries)
        return self.points + self._current().scores(self.features, boundaries)

    def _current(self) -> Election:
        run = self.state.counter[[RUN]]
        return Election(self.state.w[None].copy(), run.astype(float), run, True)

    def election(self) -> Election:
        parts = [*self.past, self._current()]
        return Election(
            np.concatenate([part.hypotheses for part in parts]),
            np.concatenate([part.votes for part in parts]),
            np.concatenate([part.survival for part in parts]),
            borda=True,
        )


def _closed(state: State) -> State:
    """The state as if the current hypothesis ended now, so that it is a candidate as well."""
    now: State = copy.deepcopy(state)
    offer(now.w, now.total, now.members, now.survival, now.birth, now.counter)
    return now
