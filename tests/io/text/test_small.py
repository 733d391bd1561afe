"""Small text without compiled code: the same rows to the last bit, or left to the compiled parser."""

import numpy as np
import pytest

from hingeline.io import load_svmlight
from hingeline.io.text.small import parse_small

PLAIN = {
    "rows": b"+1 1:1 2:0.5\n-1 2:-1e-3\n0.25 1:.5 7:5.\n",
    "no line feed at the end": b"1 1:1\n2 3:4",
    "blank lines": b"\n1 1:1\n   \n2 3:4\n\n",
    "tabs and carriage returns": b"1\t1:1 \t2:3 \r\n-1 1:2\r\n",
    "a row without entries": b"1\n-1 2:1\n2\n",
    "no entries at all": b"1\n2\n",
    "numbers at the edge": b"1 1:1.7976931348623157e308 2:5e-324 3:0.1000000000000000055511151231257827\n",
    "zeros in front": b"1 001:1 0002:2\n",
}
LEFT_ALONE = {
    "nothing": b"",
    "a comment": b"1 1:1 # one\n",
    "a query": b"1 qid:3 1:1\n",
    "indices out of order": b"1 2:1 1:1\n",
    "an index 0": b"1 0:1 1:1\n",
    "an index twice": b"1 1:1 1:2\n",
    "a long index": b"1 1234567890:1\n",
    "nan": b"1 1:nan\n",
    "infinity": b"1 1:1e999\n",
    "an underscore": b"1 1:1_0\n",
    "no colon": b"1 1:2:3 4\n",
    "no label": b"1:1 2:1\n",
    "gzip": b"\x1f\x8b\x08\x00",
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_text(name, tmp_path):
    (tmp_path / "data").write_bytes(PLAIN[name])
    X, y = load_svmlight(tmp_path / "data", zero_based=False)
    rows, labels = parse_small(PLAIN[name])
    assert rows.shape == X.shape
    np.testing.assert_array_equal(rows.indptr, X.indptr)
    np.testing.assert_array_equal(rows.indices, X.indices)
    assert rows.data.tobytes() == X.data.tobytes()
    assert labels.tobytes() == y.tobytes()


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_text_that_is_left_to_the_compiled_parser(name):
    assert parse_small(LEFT_ALONE[name]) is None
