from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from bench.files import write_data

from hingeline.bench.datasets import Dataset, class_codes, find, n_classes, read_arrays


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_text_is_parsed_once_into_arrays(suffix, tmp_path, monkeypatch):
    X, y = write_data(tmp_path / f"some{suffix}")
    dataset = Dataset("some", tmp_path / f"some{suffix}")
    kept = dataset.parsed(tmp_path / "cache")
    again, codes = read_arrays(kept)
    np.testing.assert_allclose(again.toarray(), X.toarray())
    np.testing.assert_array_equal(codes, y - 1)
    assert n_classes(kept) == 2
    assert again.indices.dtype == again.indptr.dtype == np.int32
    monkeypatch.setattr(Dataset, "_parse", lambda self: pytest.fail("parsed twice"))
    assert dataset.parsed(tmp_path / "cache") == kept


def test_benchmarks_that_start_together_may_share_a_folder(tmp_path, monkeypatch):
    write_data(tmp_path / "some")
    together, write = Barrier(2), np.savez

    def written_together(file, **arrays):
        write(file, **arrays)
        together.wait(timeout=30)

    monkeypatch.setattr(np, "savez", written_together)
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(Dataset("some", tmp_path / "some").parsed, tmp_path / "cache") for _ in range(2)]
        assert all(read_arrays(run.result())[0].shape[0] == 120 for run in runs)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["some.npz"]


def test_another_file_of_that_name_is_parsed_again(tmp_path):
    write_data(tmp_path / "some")
    dataset = Dataset("some", tmp_path / "some")
    dataset.parsed(tmp_path / "cache")
    write_data(tmp_path / "some", n_rows=50)
    assert read_arrays(dataset.parsed(tmp_path / "cache"))[0].shape[0] == 50


def test_arrays_of_an_earlier_version_are_parsed_again(tmp_path):
    write_data(tmp_path / "some")
    dataset = Dataset("some", tmp_path / "some")
    kept = dataset.parsed(tmp_path / "cache")
    with np.load(kept) as arrays:
        older = {name: arrays[name] for name in arrays if name != "codes"}
    np.savez(kept, **older, y=np.ones(120))
    assert read_arrays(dataset.parsed(tmp_path / "cache"))[1].size == 120


def test_class_codes():
    np.testing.assert_array_equal(class_codes(np.array([7.0, -1.0, 3.0, 7.0]), "digits"), [2, 0, 1, 2])
    with pytest.raises(ValueError, match=r"digits has 1 labels: .*take two to 1000"):
        class_codes(np.ones(3), "digits")
    with pytest.raises(ValueError, match="prices has 1001 labels"):
        class_codes(np.arange(1001.0), "prices")


def test_files_are_found_by_name(tmp_path):
    for name in (
        "README.md",
        "a9a.t.xz",
        "a9a.xz",
        "covtype.libsvm.binary.bz2",
        "covtype.libsvm.binary.scale.bz2",
        "mnist20k.scale.xz",
        "news20.bz2",
        "news20.binary.bz2",
        "rcv1_train.binary.bz2",
        "url_combined.bz2",
        "kdda",
    ):
        (tmp_path / name).touch()
    names = ["a9a", "a9a.t", "covtype", "kdda", "mnist20k", "news20", "rcv1", "url", "kddb", "a9a"]
    there, missing = find(tmp_path, names)
    assert {dataset.name: dataset.path.name for dataset in there} == {
        "a9a": "a9a.xz",
        "a9a.t": "a9a.t.xz",
        "covtype": "covtype.libsvm.binary.scale.bz2",
        "kdda": "kdda",
        "mnist20k": "mnist20k.scale.xz",
        "news20": "news20.binary.bz2",
        "rcv1": "rcv1_train.binary.bz2",
        "url": "url_combined.bz2",
    }
    assert len(there) == 8
    assert missing == ["kddb"]


def test_no_such_folder(tmp_path):
    with pytest.raises(ValueError, match="no such folder"):
        find(tmp_path / "nowhere", ["a9a"])
