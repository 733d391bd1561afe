"""CSV and Parquet with a label column."""

import io
import sys

import numpy as np
import pytest
from fault_rows import rows_of

from hingeline.io.tables import MISSING_PYARROW, is_table, read_table

pa = pytest.importorskip("pyarrow")
CSV = b"height,width,y,flag\n1,0.5,7,true\n2,-1,3,false\n"


def test_csv_and_parquet_are_the_same_table(tmp_path):
    from pyarrow import csv, parquet

    (tmp_path / "t.csv").write_bytes(CSV)
    (tmp_path / "t.tsv").write_bytes(CSV.replace(b",", b"\t"))
    parquet.write_table(csv.read_csv(tmp_path / "t.csv"), tmp_path / "t.parquet")
    for name in ("t.csv", "t.tsv", "t.parquet"):
        found = read_table(str(tmp_path / name), name, "y")
        assert found.names == ["height", "width", "flag"]
        assert found.X.tolist() == [[1.0, 0.5, 1.0], [2.0, -1.0, 0.0]]
        assert found.y.tolist() == [7.0, 3.0]
    assert read_table(io.BytesIO(CSV), "-", None).X.shape == (2, 4)
    assert read_table(io.BytesIO(CSV), "-", None).y is None


def test_compressed_csv(tmp_path):
    import gzip

    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(CSV))
    assert read_table(str(tmp_path / "t.csv.gz"), "t", "y").y.tolist() == [7.0, 3.0]


def test_names_of_tables():
    assert all(map(is_table, ("a.csv", "a.CSV", "a.csv.gz", "a.tsv.zst", "a.parquet", "a.pq", "b.x/a.csv")))
    assert not any(map(is_table, ("a.svm", "a", "csv", "a.csv.x", "a.gz", "a.txt.gz")))


BAD = {
    "text": (b"a,y\nx,1\n", "column 'a' holds string ('x')"),
    "label": (b"a,b\n1,2\n", "there is no column 'y'; the columns are a, b"),
    "missing": (b"a,y\n1,1\n,2\n", "column 'a' is empty in row 2"),
    "infinite": (b"a,y\n1,1\n1e999,2\n", "column 'a' is inf in row 2"),
    "twice": (b"a,a,y\n1,2,3\n", "several columns are called 'a'"),
    "empty": (b"", "cannot be read as a table"),
    "no-rows": (b"a,y\n", "no rows"),
    "no-features": (b"y\n1\n", "no features"),
    "ragged": (b"a,y\n1,2,3\n", "cannot be read as a table"),
}


@rows_of("table", BAD)
@pytest.mark.parametrize("name", BAD)
def test_bad_tables(name):
    content, complaint = BAD[name]
    with pytest.raises(ValueError, match=r"^t\.csv: ") as raised:
        read_table(io.BytesIO(content), "t.csv", "y")
    assert complaint in str(raised.value)


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match="pip install") as raised:
        read_table(io.BytesIO(CSV), "t.csv", "y")
    assert MISSING_PYARROW in str(raised.value)


def test_numbers_keep_every_bit():
    values = np.random.default_rng(0).normal(size=20)
    text = "a,y\n" + "".join(f"{value!r},1\n" for value in values.tolist())
    np.testing.assert_array_equal(read_table(io.BytesIO(text.encode()), "t", "y").X[:, 0], values)
