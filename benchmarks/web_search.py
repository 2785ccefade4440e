"""Synthetic graded data of any size, similar to those of a web search engine."""

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.data.ranking_data import RankingData

# Documents of MSLR-WEB10K with label 0, 1, ..., 4.
_MSLR = np.array([624_263, 386_280, 159_451, 21_317, 8_881])
_MEAN_SIZE, _SPREAD = 120.0, 0.5  # documents per query; standard deviation of the logarithm
_ASPECTS = 12
_SHARES = {"count": 0.3, "length": 0.2, "score": 0.2, "hump": 0.1, "junk": 0.14}
_BLOCK = 64  # number of queries that are generated together from one random stream


def web_search_like(n_queries: int, n_features: int = 136, *, random_state: int = 0) -> RankingData:
    """Generate queries with graded documents, with the proportions of MSLR-WEB.

    The quality of a document depends on twelve normally distributed latent variables: it is their
    weighted sum plus a product of two of them, an effect of the query, and noise. Thresholds divide
    it into labels 0 to 4 with the shares of MSLR-WEB10K (52, 32, 13, 1.8 and 0.7 percent). Each
    feature is a noisy function of one latent variable.

    Parameters
    ----------
    n_queries : int
        Number of queries, at least 1. Their sizes are lognormal with a mean of 120 documents.
    n_features : int, default=136
        Number of features, at least 1.
    random_state : int, default=0
        Seed of the data.

    Returns
    -------
    RankingData
        `qid` is 1, 2, ... `features` are, in this order: 30% counts, skewed integers, many of them
        0; 20% lengths, lognormal; 20% scores, normal; 10% non-monotone features, highest for medium
        values of the latent variable, so that a linear ranker cannot use them alone; 14% noise,
        independent of quality; the others are query features, equal for all documents of a query.
    """
    seeds = np.random.SeedSequence(random_state).spawn(1 + -(-n_queries // _BLOCK))
    rng, *rngs = map(np.random.default_rng, seeds)
    mean_log = np.log(_MEAN_SIZE) - _SPREAD**2 / 2
    group = np.maximum(rng.lognormal(mean_log, _SPREAD, n_queries).round().astype(np.int64), 1)
    problem = _Problem(rng, n_features)
    features, quality, end = np.empty((group.sum(), n_features)), np.empty(group.sum()), 0
    for block, own in enumerate(rngs):
        sizes = group[block * _BLOCK : (block + 1) * _BLOCK]
        rows = slice(end, end := end + int(sizes.sum()))
        quality[rows] = problem.draw(own, sizes, features[rows])
    cuts = np.quantile(quality, np.cumsum(_MSLR)[:-1] / _MSLR.sum())
    labels = np.searchsorted(cuts, quality, side="right").astype(np.float64)
    return RankingData(
        features, labels, np.repeat(np.arange(1, n_queries + 1), group), "web-search-like"
    )


class _Problem:
    """The model that generates quality and features from latent variables."""

    def __init__(self, rng: np.random.Generator, n_features: int) -> None:
        self.weights = rng.dirichlet(np.full(_ASPECTS, 3.0)) ** 0.5  # squares add up to 1
        self.aspect_of = rng.integers(_ASPECTS, size=n_features)
        self.clarity = rng.uniform(0.3, 0.9, n_features)
        ends = np.round(np.cumsum([0.0, *_SHARES.values()]) * n_features).astype(int)
        self.columns = {
            kind: slice(a, b) for kind, a, b in zip(_SHARES, ends[:-1], ends[1:], strict=True)
        }
        self.of_query = slice(ends[-1], n_features)
        self.clarity[self.columns["junk"]] = 0.0
        self.scale = rng.lognormal(0.0, 0.4, n_features)

    def draw(self, rng: np.random.Generator, sizes: Ints, out: Floats) -> Floats:
        """Generate the features of some queries; return the quality of their documents."""
        aspects = rng.standard_normal((sizes.sum(), _ASPECTS))
        signal = (aspects * self.weights).sum(axis=1) + aspects[:, 0] * aspects[:, 1]
        of_query = np.repeat(rng.standard_normal(len(sizes)), sizes)
        quality: Floats = signal + 0.8 * of_query + rng.standard_normal(len(signal))

        rng.standard_normal(out=out)  # out is contiguous: whole rows of a C array
        out *= np.sqrt(1.0 - self.clarity**2)
        out += aspects[:, self.aspect_of] * self.clarity
        count, length, hump = (out[:, self.columns[kind]] for kind in ("count", "length", "hump"))
        for skewed in (count, length):
            np.exp(skewed, out=skewed)
        out *= self.scale
        np.floor(count, out=count)
        np.exp(-(hump**2), out=hump)
        queries = rng.standard_normal((len(sizes), out[:, self.of_query].shape[1]))
        out[:, self.of_query] = np.repeat(queries, sizes, axis=0)
        return quality
