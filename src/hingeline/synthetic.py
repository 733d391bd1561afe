"""Text-like data for demonstrations and tests: reproducible, of any size, no file needed.

A row is a document: words drawn from a Zipf distribution, weighted as tf-idf, normalised to length one. A hidden weight
vector over a few of the words decides the label, and some of the labels are then flipped. Lengths vary widely. With
more words than documents, a large C explains even the wrong labels by rare words. But short documents have few of them,
so their dual variables must grow far beyond the others, and this is what makes training take long.

Rows are independent given the vocabulary: inverse document frequencies and the balance of the classes are computed
from the word probabilities, never from the rows at hand. Any number of rows can be drawn later, in chunks of any size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

HIDDEN_SHARE = 0.2  # fraction of the words that influence the label
LENGTH_SPREAD = 1.0  # standard deviation of the logarithm of a row's length: notes and essays, as in real text


class Vocabulary(NamedTuple):
    """What all rows of one data set share; one entry per word, words ordered from frequent to rare."""

    cumulative: np.ndarray  # distribution function of the words
    idf: np.ndarray  # inverse document frequencies
    hidden: np.ndarray  # the weight vector that decides the labels
    column: np.ndarray  # where the word is found in X


def make_text(
    n_rows: int = 10_000,
    n_cols: int = 30_000,
    words_per_row: float = 60.0,
    zipf: float = 1.1,
    noise: float = 0.02,
    seed: int = 0,
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Make a sparse two-class problem that resembles text.

    Parameters
    ----------
    n_rows, n_cols : int
        Number of documents and of words in the vocabulary.
    words_per_row : float
        Mean number of words drawn for a document; words drawn twice share one entry.
    zipf : float
        The word of rank r is drawn with probability proportional to r^-zipf; 0 makes all words equally likely.
    noise : float
        Probability that a label is flipped, in [0, 0.5].
    seed : int
        The same arguments give the same data.

    Returns
    -------
    X : scipy.sparse.csr_matrix of float64, shape (n_rows, n_cols)
        Sorted int32 indices without repetitions; every row has Euclidean length 1.
    y : ndarray of float64, shape (n_rows,)
        Labels -1 and +1.
    """
    _check(n_rows, n_cols, words_per_row, zipf, noise)
    rng = np.random.default_rng(seed)
    return _draw_rows(_draw_vocabulary(n_cols, words_per_row, zipf, rng), n_rows, words_per_row, noise, rng)


def _draw_vocabulary(n_cols: int, words_per_row: float, zipf: float, rng: np.random.Generator) -> Vocabulary:
    probability = np.arange(1, n_cols + 1, dtype=np.float64) ** -zipf
    probability /= probability.sum()
    document_frequency = -np.expm1(-words_per_row * probability)
    idf = np.log1p(1.0 / document_frequency)
    hidden = rng.standard_normal(n_cols) * (rng.random(n_cols) < HIDDEN_SHARE)
    # Balanced classes: the mean contribution of a word to the score is zero.
    weight = probability * idf * (hidden != 0.0)
    if weight.any():
        hidden[hidden != 0.0] -= weight @ hidden / weight.sum()
    cumulative = np.cumsum(probability)
    return Vocabulary(cumulative / cumulative[-1], idf, hidden, rng.permutation(n_cols).astype(np.int32))


def _draw_rows(
    words: Vocabulary, n_rows: int, words_per_row: float, noise: float, rng: np.random.Generator
) -> tuple[sparse.csr_matrix, np.ndarray]:
    n_cols = words.column.size
    # Log-normal lengths with the mean asked for; no document is empty.
    log_length = rng.normal(np.log(words_per_row) - 0.5 * LENGTH_SPREAD**2, LENGTH_SPREAD, n_rows)
    length = np.maximum(1, np.rint(np.exp(log_length))).astype(np.int64)
    row = np.repeat(np.arange(n_rows), length)
    word = np.searchsorted(words.cumulative, rng.random(row.size), side="right")

    entry, count = np.unique(row * n_cols + words.column[word], return_counts=True)
    row, column = np.divmod(entry, n_cols)
    word_of_column = np.empty(n_cols, dtype=np.int64)
    word_of_column[words.column] = np.arange(n_cols)
    word = word_of_column[column]

    value = (1.0 + np.log(count)) * words.idf[word]
    value /= np.sqrt(np.bincount(row, value * value, n_rows))[row]
    score = np.bincount(row, value * words.hidden[word], n_rows)
    y = np.where((score > 0.0) != (rng.random(n_rows) < noise), 1.0, -1.0)

    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=n_rows), out=indptr[1:])
    index = np.int32 if indptr[-1] <= np.iinfo(np.int32).max else np.int64
    X = sparse.csr_matrix((value, column.astype(index), indptr.astype(index)), shape=(n_rows, n_cols))
    X.has_canonical_format = True
    return X, y


def _check(n_rows: int, n_cols: int, words_per_row: float, zipf: float, noise: float) -> None:
    for name, value, least in (("n_rows", n_rows, 1), ("n_cols", n_cols, 2)):
        if value != int(value) or value < least:
            raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    if not 1.0 <= words_per_row < np.inf:
        raise ValueError(f"words_per_row must be finite and at least 1, got {words_per_row!r}")
    if not 0.0 <= zipf < np.inf:
        raise ValueError(f"zipf must be finite and not negative, got {zipf!r}")
    if not 0.0 <= noise <= 0.5:
        raise ValueError(f"noise is a probability between 0 and 0.5, got {noise!r}")
