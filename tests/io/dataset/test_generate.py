import os
import sys

import numpy as np
import processes
import pytest

from hingeline import LinearSVC
from hingeline.io import open_dataset
from hingeline.io.dataset.generate import Recipe, make_dataset


def made(path, *args, **options):
    make_dataset(path, *args, **options)
    return open_dataset(path, verify=True)


def test_rows_have_distinct_sorted_columns(tmp_path):
    X, y = made(tmp_path / "set", 500, 1000, 7, seed=3)
    assert X.shape == (500, 1000)
    np.testing.assert_array_equal(np.diff(X.indptr), 7)
    assert (np.diff(X.indices.reshape(500, 7), axis=1) > 0).all()
    assert X.data.strides == (0,)
    assert set(y) == {-1, 1}
    assert 150 < np.count_nonzero(y > 0) < 350


@pytest.mark.parametrize("values", [False, True])
def test_the_same_arguments_give_the_same_bytes(tmp_path, monkeypatch, values):
    arguments = {"zipf": 0.8, "noise": 0.1, "values": values}
    whole = make_dataset(tmp_path / "a", 400, 90, 5, seed=4, n_threads=1, **arguments)
    monkeypatch.setattr("hingeline.io.dataset.generate.BLOCK_NONZEROS", 64)
    assert make_dataset(tmp_path / "b", 400, 90, 5, seed=4, n_threads=3, **arguments) == whole
    assert make_dataset(tmp_path / "c", 400, 90, 5, seed=5, **arguments).vectors != whole.vectors
    X, _ = open_dataset(tmp_path / "b")
    if values:
        assert X.data.dtype == np.float32
        assert 0.0 < X.data.min() < 0.1
        assert 0.9 < X.data.max() <= 1.0


@pytest.mark.parametrize("zipf", [0.0, 0.7, 1.0, 1.5])
def test_columns_follow_the_distribution(zipf):
    """With one column a row nothing collides: counts are multinomial."""
    D, n = 50, 40_000
    counts = np.bincount(Recipe(D, 1, zipf, 0.0, False, 1).rows(0, n)[2], minlength=D)
    edges = np.arange(1, D + 2, dtype=float)
    primitive = np.log(edges) if zipf == 1.0 else edges ** (1 - zipf) / (1 - zipf)
    expected = np.diff(primitive) / (primitive[-1] - primitive[0]) * n
    deviation = (np.sort(counts)[::-1] - expected) / np.sqrt(expected)
    assert np.abs(deviation[:10] if zipf else deviation).max() < 4.5
    if zipf:
        assert not (np.diff(counts) <= 0).all(), "ranks are to be scattered over the columns"


@pytest.mark.parametrize(
    ("D", "K", "zipf"), [(1, 1, 1.1), (2, 2, 10.0), (40, 40, 10.0), (60, 30, 3.0), (2**31 - 1, 3, 1.0)]
)
def test_extremes(D, K, zipf):
    _, _, columns, _ = Recipe(D, K, zipf, 0.5, False, 0).rows(0, 20)
    columns = columns.reshape(20, K)
    assert columns.min() >= 0
    assert columns.max() < D
    assert (np.diff(columns, axis=1) > 0).all()


def test_the_labels_can_be_learnt_and_noise_spoils_them(tmp_path):
    scores = []
    for noise in (0.0, 0.4):
        X, y = made(tmp_path / f"{noise}", 3000, 300, 12, noise=noise)
        model = LinearSVC(C=0.1, random_state=0).fit(X[:2000], y[:2000])
        scores.append(model.score(X[2000:], y[2000:]))
    assert scores[0] > 0.85
    assert scores[1] < 0.65


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((0, 5, 2), {}),
        ((5, 0, 2), {}),
        ((5, 5, 6), {}),
        ((5, 2**31, 6), {}),
        ((5, 5, 2), {"zipf": -1.0}),
        ((5, 5, 2), {"zipf": float("nan")}),
        ((5, 5, 2), {"noise": 0.6}),
    ],
)
def test_wrong_arguments(tmp_path, arguments, options):
    with pytest.raises(ValueError, match="between"):
        make_dataset(tmp_path / "set", *arguments, **options)
    assert not os.listdir(tmp_path)


def test_interrupted(tmp_path):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_dataset(tmp_path / "set", 10**6, 100, 5, progress=interrupt)
    assert not os.listdir(tmp_path)


DRAW = """
import hingeline.io.dataset.generate as generate
generate.PILOT_ROWS = 11
drawn = [part.tolist() for part in generate.Recipe(9, 3, 1.1, 0.2, True, 7).rows(5, 9)]
"""


def test_uncompiled_code_draws_the_same(monkeypatch):
    monkeypatch.setattr("hingeline.io.dataset.generate.PILOT_ROWS", 11)
    environment = dict(os.environ, NUMBA_DISABLE_JIT="1")
    done = processes.run([sys.executable, "-W", "error", "-c", DRAW + "print(drawn)"], env=environment)
    namespace = {}
    exec(DRAW, namespace)
    assert (done.stdout, done.stderr) == (f"{namespace['drawn']}\n", "")
