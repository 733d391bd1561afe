"""The same matrices and labels as scikit-learn's reader and writer give, on made-up and on real files."""

import bz2
import io
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_data import real_data
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file, load_svmlight_files

from hingeline.io import dump_svmlight, load_svmlight

BLANK = st.sampled_from([" ", "  ", "\t", " \t "])
NUMBER = st.one_of(
    st.integers(-20, 20).map(str),
    st.floats(-1e6, 1e6).map(repr),
    st.floats(-1, 1).map("{:.6g}".format),
    st.sampled_from(["+1", "-1", "1.", ".5", "1e-3", "2E+5", "-0.0"]),
)
ROW = st.tuples(
    NUMBER,
    st.lists(st.integers(0, 60), unique=True, max_size=6).map(sorted),
    st.lists(NUMBER, min_size=6, max_size=6),
    BLANK,
    st.sampled_from(["", " ", " # comment 1:2", "#x"]),
    st.one_of(st.none(), st.integers(0, 99)),
)


def line(row, first, queries):
    label, indices, values, blank, end, query = row
    entries = [f"{index + first}:{value}" for index, value in zip(indices, values, strict=False)]
    words = [label, *([f"qid:{query or 0}"] if queries or query is not None else []), *entries]
    return blank.join(words) + end


def same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        if sparse.issparse(a):
            assert a.shape == b.shape
            assert a.dtype == b.dtype
            assert a.data.tobytes() == b.data.tobytes()
            np.testing.assert_array_equal(a.indices, b.indices)
            np.testing.assert_array_equal(a.indptr, b.indptr)
        else:
            np.testing.assert_array_equal(a, b)


@settings(max_examples=100)
@given(
    st.lists(st.one_of(ROW, st.sampled_from(["", "# only a comment", "  "])), min_size=1, max_size=8),
    st.integers(0, 1),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
)
def test_made_up_files(rows, first, ending, final, dtype, queries):
    lines = [row if isinstance(row, str) else line(row, first, queries) for row in rows]
    text = (ending.join(lines) + ending * final).encode()
    for zero_based in ("auto", True, False):
        if zero_based is False and first == 0:
            continue  # refused where an index 0 occurs
        options = {"zero_based": zero_based, "dtype": dtype, "query_id": queries}
        ours = load_svmlight(io.BytesIO(text), n_threads=1, **options)
        same(ours, load_svmlight_file(io.BytesIO(text), **options))


def test_several_files(tmp_path):
    texts = [b"1 1:1 2:2\n", b"-1 5:0.5\n1 3:1\n"]
    ours = load_svmlight([io.BytesIO(text) for text in texts])
    same([array for pair in ours for array in pair], load_svmlight_files([io.BytesIO(text) for text in texts]))


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_writers_are_understood_by_both(seed, zero_based, queries):
    rng = np.random.default_rng(seed)
    X = sparse.random(rng.integers(1, 20), rng.integers(1, 30), 0.3, format="csr", random_state=rng)
    X.data = np.round(X.data * 100) / 8  # scikit-learn writes 16 digits, which is not always enough
    X.sort_indices()
    y = rng.integers(-3, 3, X.shape[0])
    query_id = rng.integers(0, 5, X.shape[0]) if queries else None
    ours, theirs = io.BytesIO(), io.BytesIO()
    dump_svmlight(X, y, ours, zero_based=zero_based, comment="two\nlines", query_id=query_id)
    dump_svmlight_file(X, y, theirs, zero_based=zero_based, query_id=query_id)
    # scikit-learn writes a blank behind the label of an empty row.
    assert ours.getvalue() == b"# two\n# lines\n" + theirs.getvalue().replace(b" \n", b"\n")
    options = {"n_features": X.shape[1], "zero_based": zero_based, "query_id": queries}
    for file in (ours, theirs):
        same(load_svmlight(io.BytesIO(file.getvalue()), **options), (X, y, query_id)[: 2 + queries])


@pytest.mark.parametrize("name", ["a9a.t.xz", "abalone_scale.bz2", "mushrooms.xz", "w8a.xz"])
def test_real_files(name):
    path = real_data(name)
    with (lzma.open if path.suffix == ".xz" else bz2.open)(path) as file:
        theirs = load_svmlight_file(file)
    ours = load_svmlight(path)
    same(ours, theirs)
    file = io.BytesIO()
    dump_svmlight(*ours, file)
    same(load_svmlight(io.BytesIO(file.getvalue())), theirs)
