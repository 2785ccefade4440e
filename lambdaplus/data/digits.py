"""A real ranking data set without a download: query by example on handwritten digits."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lambdaplus.data.ranking_data import Fold, RankingData, join

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def digits_queries(n_folds: int = 5, seed: int = 0) -> list[Fold]:
    """Build a ranking data set from scikit-learn's digits: find images of the digit in the query.

    The 1,797 images of ``sklearn.datasets.load_digits``, 8x8 pixels each, are split at random into
    `n_folds` parts with the same share of every digit. About 25 / `n_folds` images of each digit in
    a part become its queries. The documents of a query are 60 to 100 of the other images of the
    part; 4 to 12 of these, a uniformly drawn number, show the digit of the query and are relevant
    (label 1), the others are not (label 0). As in LETOR, fold `i` tests on one part, validates on
    the part before it and trains on the others, so no image of the test queries and documents
    occurs in training.

    The labels are binary: only the class of a digit is known, and a grade for similar digits such
    as 3 and 8 would count as relevant in MAP and MRR.

    Parameters
    ----------
    n_folds : int, default=5
        From 3 to 12; with more, parts would have too few images.
    seed : int, default=0
        Seed of the random assignment; the same seed gives the same data set.

    Returns
    -------
    list of Fold
        With 5 folds, there are 250 queries and about 20,000 documents in all parts. The 29 columns
        of `features`, float64, compare query and document. Columns 0, 1 and 2 are the Euclidean,
        the city block and the cosine distance of the pixels. The next five groups of three columns
        are the same distances of the blurred images, the sums of rows, the sums of columns, and the
        horizontal and vertical differences of neighbouring pixels. The remaining columns are the
        Euclidean distance of the pixels after the best shift by up to one pixel, that of each
        quadrant, and the absolute differences in ink, centre (vertical, horizontal), spread
        (vertical, horizontal) and slant. `labels` are float64, 0 or 1. ``qid``, int64, is the index
        of the query image in ``load_digits``.

    Raises
    ------
    ValueError
        If `n_folds` is not from 3 to 12.
    ImportError
        If scikit-learn, which contains the images, is not installed.

    Examples
    --------
    >>> from lambdaplus.data import digits_queries
    >>> first = digits_queries()[0]
    >>> first.name, first.train.n_queries, first.test.n_queries, first.test.features.shape[1]
    ('Fold1', 150, 50, 29)
    """
    if not 3 <= n_folds <= 12:
        raise ValueError(f"n_folds must be from 3 to 12, not {n_folds}")
    parts = _parts(n_folds, seed)
    folds = []
    for i in range(n_folds):
        turned = parts[i:] + parts[:i]
        name = f"Fold{i + 1}"
        train = join(turned[:-2], f"{name} train")
        valid, test = join(turned[-2:-1], f"{name} vali"), join(turned[-1:], f"{name} test")
        folds.append(Fold(name, train, valid, test))
    return folds


@lru_cache(maxsize=1)  # folds have copies of their rows
def _parts(n_folds: int, seed: int) -> list[RankingData]:
    from sklearn.datasets import load_digits  # type: ignore[import-untyped, unused-ignore]

    pixels, digits = load_digits(return_X_y=True)
    images = pixels.reshape(-1, 8, 8) / 16.0
    parts = []
    for queries, documents in _draw(digits, n_folds, seed):
        labels = (digits[queries] == digits[documents]).astype(np.float64)
        parts.append(RankingData(_compare(images, queries, documents), labels, queries))
    return parts


def _draw(digits: _Ints, n_folds: int, seed: int) -> list[tuple[_Ints, _Ints]]:
    """For every part, draw the query image and the document image of each row."""
    rng = np.random.default_rng(seed)
    shuffled = [rng.permutation(np.flatnonzero(digits == digit)) for digit in range(10)]
    n_queries = round(25 / n_folds)
    parts = []
    for i in range(n_folds):
        own = [images[i::n_folds] for images in shuffled]
        pool = np.concatenate([images[n_queries:] for images in own])
        queries, documents = [], []
        for query in np.concatenate([images[:n_queries] for images in own]):
            same = digits[pool] == digits[query]
            n_documents, n_same = rng.integers(60, 101), rng.integers(4, 13)
            relevant = rng.choice(pool[same], n_same, replace=False)
            others = rng.choice(pool[~same], n_documents - n_same, replace=False)
            # Shuffled, since otherwise a stable sort would benefit from the order of the rows.
            documents.append(rng.permutation(np.concatenate([relevant, others])))
            queries.append(np.full(n_documents, query))
        parts.append((np.concatenate(queries), np.concatenate(documents)))
    return parts


def _compare(images: _Floats, queries: _Ints, documents: _Ints) -> _Floats:
    """Compare pairs of images (m, 8, 8); see `digits_queries` for the columns."""
    columns: list[_Floats] = []
    for view in (
        images,
        images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)),
        images.sum(axis=2),
        images.sum(axis=1),
        np.diff(images, axis=2),
        np.diff(images, axis=1),
    ):
        flat = view.reshape(len(images), -1)
        unit = flat / np.linalg.norm(flat, axis=1, keepdims=True)
        apart = flat[queries] - flat[documents]
        columns.append(np.linalg.norm(apart, axis=1))
        columns.append(np.abs(apart).sum(axis=1))
        columns.append(1.0 - (unit[queries] * unit[documents]).sum(axis=1))
    columns.append(_best_shift(images, queries, documents))
    squares = (images[queries] - images[documents]) ** 2
    quadrants = squares.reshape(-1, 2, 4, 2, 4).sum(axis=(2, 4)).reshape(-1, 4)
    moments = _moments(images)
    return np.column_stack(
        [*columns, np.sqrt(quadrants), np.abs(moments[queries] - moments[documents])]
    )


def _best_shift(images: _Floats, queries: _Ints, documents: _Ints) -> _Floats:
    framed = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    best = np.full(len(queries), np.inf)
    for down in range(3):
        for across in range(3):
            shifted = framed[:, down : down + 8, across : across + 8]
            apart = images[queries] - shifted[documents]
            best = np.minimum(best, np.sqrt((apart**2).sum(axis=(1, 2))))
    return best


def _moments(images: _Floats) -> _Floats:
    ink = images.sum(axis=(1, 2))
    share = images / ink[:, None, None]
    at = np.arange(8.0)
    down, across = share.sum(axis=2) @ at, share.sum(axis=1) @ at
    off_down, off_across = at - down[:, None], at - across[:, None]
    spread_down = (share.sum(axis=2) * off_down**2).sum(axis=1)
    spread_across = (share.sum(axis=1) * off_across**2).sum(axis=1)
    slant = np.einsum("nij,ni,nj->n", share, off_down, off_across)
    return np.column_stack([ink, down, across, spread_down, spread_across, slant])
