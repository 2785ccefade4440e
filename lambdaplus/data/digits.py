"""A ranking data set of images of handwritten digits."""

from functools import lru_cache

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.data.ranking_data import Fold, RankingData
from lambdaplus.data.splits import rotated

N_SUBSETS = 5
N_QUERIES = 5  # of each digit in a subset


def digits_queries() -> list[Fold]:
    """Build a ranking data set of scikit-learn's digits: find images of the same digit.

    The 1,797 images of ``sklearn.datasets.load_digits``, 8x8 pixels each, are split at random into
    five subsets with the same share of every digit. Five images of each digit in a subset become
    its queries. The documents of a query are 60 to 100 of the other images of the subset; 4 to 12
    of these show the digit of the query and are relevant (label 1), the others are not (label 0).
    As in LETOR, a fold tests on one subset, validates on another and trains on the rest, so no
    image of the test queries and documents occurs in training.

    Returns
    -------
    list of Fold
        There are 250 queries and about 20,000 documents. The 29 columns of `features` are distances
        between query and document: Euclidean, city block and cosine distance of the
        pixels, of the blurred images, of their rows, columns and gradients, and differences of ink,
        centre, spread and slant. ``qid`` is the index of the query image in ``load_digits``.

    Examples
    --------
    >>> from lambdaplus.data import digits_queries
    >>> fold = digits_queries()[0]
    >>> fold.name, fold.train.n_queries, fold.test.n_queries, fold.test.features.shape[1]
    ('Fold1', 150, 50, 29)
    """
    data = _all_subsets()
    subsets = np.split(np.arange(data.n_queries), N_SUBSETS)
    return rotated(subsets[-1:] + subsets[:-1], data.take_queries)


@lru_cache(maxsize=1)  # folds have copies of their rows
def _all_subsets() -> RankingData:
    from sklearn.datasets import load_digits

    pixels, digits = load_digits(return_X_y=True)
    images = pixels.reshape(-1, 8, 8) / 16.0
    queries, documents = np.concatenate(_draw(digits), axis=1)
    labels = (digits[queries] == digits[documents]).astype(np.float64)
    return RankingData(compare_images(images, queries, documents), labels, queries)


def _draw(digits: Ints) -> list[tuple[Ints, Ints]]:
    """Draw the query image and the document image of each row, for every subset."""
    rng = np.random.default_rng(0)
    shuffled = [rng.permutation(np.flatnonzero(digits == digit)) for digit in range(10)]
    subsets = []
    for i in range(N_SUBSETS):
        own = [images[i::N_SUBSETS] for images in shuffled]
        pool = np.concatenate([images[N_QUERIES:] for images in own])
        queries, documents = [], []
        for query in np.concatenate([images[:N_QUERIES] for images in own]):
            same = digits[pool] == digits[query]
            n_documents, n_same = rng.integers(60, 101), rng.integers(4, 13)
            relevant = rng.choice(pool[same], n_same, replace=False)
            others = rng.choice(pool[~same], n_documents - n_same, replace=False)
            # With relevant documents first, a stable sort of tied scores would be perfect.
            documents.append(rng.permutation(np.concatenate([relevant, others])))
            queries.append(np.full(documents[-1].size, query))
        subsets.append((np.concatenate(queries), np.concatenate(documents)))
    return subsets


def compare_images(images: Floats, queries: Ints, documents: Ints) -> Floats:
    """Features of pairs of images, (n, 29); see `digits_queries`."""
    columns: list[Floats] = []
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


def _best_shift(images: Floats, queries: Ints, documents: Ints) -> Floats:
    framed = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    shifted = (framed[:, i : i + 8, j : j + 8] for i in range(3) for j in range(3))
    squares = [((images[queries] - view[documents]) ** 2).sum(axis=(1, 2)) for view in shifted]
    return np.asarray(np.sqrt(np.min(squares, axis=0)))


def _moments(images: Floats) -> Floats:
    ink = images.sum(axis=(1, 2))
    share = images / ink[:, None, None]
    at = np.arange(8.0)
    down, across = share.sum(axis=2) @ at, share.sum(axis=1) @ at
    off_down, off_across = at - down[:, None], at - across[:, None]
    spread_down = (share.sum(axis=2) * off_down**2).sum(axis=1)
    spread_across = (share.sum(axis=1) * off_across**2).sum(axis=1)
    slant = np.einsum("nij,ni,nj->n", share, off_down, off_across)
    return np.column_stack([ink, down, across, spread_down, spread_across, slant])
