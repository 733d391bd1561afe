import numpy as np
import pytest
from scipy import sparse

from hingeline.synthetic import make_text


def small(**changes):
    return make_text(**{"n_rows": 400, "n_cols": 300, "words_per_row": 12.0, "seed": 3, **changes})


def test_is_a_canonical_csr_with_int32_indices_and_rows_of_length_one():
    X, y = small()
    assert sparse.issparse(X)
    assert X.format == "csr"
    assert X.shape == (400, 300)
    assert X.dtype == np.float64
    assert X.indices.dtype == X.indptr.dtype == np.int32
    rebuilt = sparse.csr_matrix((X.data, X.indices, X.indptr), X.shape)  # forgets what was claimed
    assert rebuilt.has_canonical_format
    assert (X.data > 0.0).all()
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1.0, rtol=1e-12)
    assert set(y) == {-1.0, 1.0}


def test_same_seed_same_data_and_another_seed_other_data():
    X, y = small()
    again, y_again = small()
    np.testing.assert_array_equal(X.toarray(), again.toarray())
    np.testing.assert_array_equal(y, y_again)
    other, _ = small(seed=4)
    assert (other != X).nnz > 0


def test_word_frequencies_follow_zipf():
    X, _ = make_text(n_rows=5000, n_cols=1000, words_per_row=5.0, zipf=1.0, seed=0)
    documents = np.sort(X.getnnz(axis=0))[::-1]
    rank = np.arange(1, 1001)
    tail = slice(20, 200)  # the most frequent words are in nearly every row, the rarest are noise
    slope = np.polyfit(np.log(rank[tail]), np.log(documents[tail]), 1)[0]
    assert -1.15 < slope < -0.85


def test_mean_length_and_balance():
    X, y = make_text(n_rows=5000, n_cols=50_000, words_per_row=20.0, zipf=0.0, seed=0)
    assert X.nnz / 5000 == pytest.approx(20.0, rel=0.05)  # words are so many that few are drawn twice
    assert 0.4 < (y > 0).mean() < 0.6


def test_noise_turns_labels_over():
    _, clean = small(noise=0.0, n_rows=4000)
    _, noisy = small(noise=0.25, n_rows=4000)
    assert (clean != noisy).mean() == pytest.approx(0.25, abs=0.03)


def test_columns_are_not_ordered_by_frequency():
    X, _ = small(n_rows=2000)
    documents = X.getnnz(axis=0)
    assert abs(np.corrcoef(np.arange(300), documents)[0, 1]) < 0.3


def test_large_C_is_hard():
    from hingeline import Hinge, solve

    X, y = make_text(n_rows=2000, n_cols=6000, seed=0)
    sweeps = {
        C: solve(X, y, loss=Hinge(C=C), solver="baseline", gap_tol=1e-3, random_state=0).n_iter for C in (0.01, 1000.0)
    }
    assert sweeps[1000.0] > 20 * sweeps[0.01]


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("n_rows", 0),
        ("n_rows", 2.5),
        ("n_cols", 1),
        ("words_per_row", 0.5),
        ("words_per_row", np.inf),
        ("zipf", -1.0),
        ("zipf", np.nan),
        ("noise", 0.6),
        ("noise", np.nan),
    ],
)
def test_bad_arguments_are_named(argument, value):
    with pytest.raises(ValueError, match=argument):
        small(**{argument: value})
