"""Views for kernels: read-only, native, and no copies if none are needed."""

import numpy as np
import pytest

from hingeline.kernels.views import read_only, unsigned


def test_views_are_read_only_and_share_memory():
    array = np.arange(6.0)
    view = read_only(array)
    assert not view.flags.writeable
    assert array.flags.writeable
    assert np.shares_memory(view, array)


@pytest.mark.parametrize("array", [np.arange(6.0)[::2], np.arange(6.0).astype(">f8"), np.asfortranarray(np.eye(3, 2))])
def test_other_layouts_are_copied(array):
    view = read_only(array)
    assert view.flags.c_contiguous
    assert view.dtype.isnative
    np.testing.assert_array_equal(view, array)


@pytest.mark.parametrize(("dtype", "expected"), [("i1", "u4"), ("u2", "u4"), ("i4", "u4"), ("i8", "u8"), ("u8", "u8")])
def test_indices_are_unsigned(dtype, expected):
    indices = np.arange(4).astype(dtype)
    view = unsigned(indices)
    assert view.dtype == expected
    assert view.tolist() == [0, 1, 2, 3]
    assert np.shares_memory(view, indices) == (indices.itemsize >= 4)
