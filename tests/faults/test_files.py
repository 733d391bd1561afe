"""Files that are missing, damaged or something else: an error that names them, and nothing left behind."""

import bz2
import gzip
import lzma
import pickle

import numpy as np
import pytest
from fault_rows import row, rows_of
from problems import classification

from hingeline import LinearSVC
from hingeline.cli import main
from hingeline.io import load_model, load_svmlight, open_dataset, save_model, write_dataset

TEXT = b"+1 1:0.5 3:2\n-1 2:1\n" * 50
X, Y = classification(12, 4, seed=41)

# What a file of text holds, and what is said of it.
REFUSED = {
    "label": (b"x 1:1\n", r"line 1, column 1: label 'x' is not a finite decimal number"),
    "label: none": (b"1:1 2:1\n", r"its label is missing"),
    "label: several": (b"1,2 1:1\n", r"several labels per row"),
    "entry: no colon": (b"1 2\n", r"line 1, column 3: '2' is not <index>:<value>"),
    "entry: no value": (b"1 2: 3:1\n", r"column 5: value '' is not a finite"),
    "entry: CSV": (b"1, 0.5, 2.0\n", r"label '1,'"),
    "value: nan": (b"1 1:nan\n", r"value 'nan' is not finite: leave missing values out"),
    "value: overflow": (b"1 1:1e309\n", r"'1e309' overflows"),
    "index: negative": (b"1 -2:1\n", r"index '-2' is not an integer of 0 or more"),
    "index: repeated": (b"1 3:1 3:2\n", r"index '3' is repeated in this row"),
    "index: huge": (b"1 99999999999999999999:1\n", r"at most 18 digits"),
    "binary: zeros": (b"1 1:1\x00\n", r"value '1\\x00' is not"),
    "binary: UTF-16": ("1 1:1\n".encode("utf-16"), r"line 1, column 1: label '\\xff\\xfe1"),
    "binary: byte order mark": (b"\xef\xbb\xbf1 1:1\n", r"label '\\xef\\xbb\\xbf1'"),
    "binary: other": (b"PK\x03\x04\x14\x00", r"line 1, column 1"),
    "compressed: gzip": (gzip.compress(TEXT)[:-9], r"compressed data is damaged or cut short"),
    "compressed: bzip2": (bz2.compress(TEXT)[:-9], r"compressed data is damaged or cut short"),
    "compressed: xz": (lzma.compress(TEXT)[:-9], r"compressed data is damaged or cut short"),
}
READ = {
    "line-ends: CRLF": TEXT.replace(b"\n", b"\r\n"),
    "line-ends: none at the end": TEXT.rstrip(b"\n"),
    "line-ends: blank lines": TEXT.replace(b"\n", b"\n\n"),
    "comment": TEXT.replace(b"\n", b" # caf\xe9 \xff\n"),
    "descending": TEXT.replace(b"1:0.5 3:2", b"3:2 1:0.5"),
    "suffix": gzip.compress(TEXT),
}


def damaged(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    return path


@rows_of("text", REFUSED)
@pytest.mark.parametrize("name", REFUSED)
def test_text_that_is_refused(name, tmp_path, capsys):
    content, message = REFUSED[name]
    path = damaged(tmp_path, "data.svm", content)
    with pytest.raises(ValueError, match=rf"data\.svm.*{message}"):
        load_svmlight(path)
    assert main(["convert", str(path), str(tmp_path / "dataset")]) == 1
    assert "data.svm" in capsys.readouterr().err
    assert [item.name for item in tmp_path.iterdir()] == ["data.svm"]


@rows_of("text", READ)
@pytest.mark.parametrize("name", READ)
def test_text_that_is_read(name, tmp_path):
    read, labels = load_svmlight(damaged(tmp_path, "data.svm", READ[name]))
    np.testing.assert_array_equal(read.toarray()[:2], [[0.5, 0, 2], [0, 1, 0]])
    assert labels.size == read.shape[0] == 100


@row("text-zero")
def test_an_index_zero_moves_the_columns(tmp_path):
    path = damaged(tmp_path, "data.svm", b"1 0:1 2:3\n")
    assert load_svmlight(path)[0].shape == (1, 3)
    with pytest.raises(ValueError, match="index '0' in a file declared as one-based"):
        load_svmlight(path, zero_based=False)


@row("text-empty")
def test_an_empty_file(tmp_path, capsys):
    path = damaged(tmp_path, "data.svm", b"")
    assert load_svmlight(path)[0].shape == (0, 1)
    assert main(["train", "-q", str(path), str(tmp_path / "model")]) == 1
    assert "it holds no rows" in capsys.readouterr().err
    assert [item.name for item in tmp_path.iterdir()] == ["data.svm"]


@row("file-missing", "file-folder")
def test_files_that_are_missing_or_folders(tmp_path, capsys):
    for path, error in ((tmp_path / "none", FileNotFoundError), (tmp_path, IsADirectoryError)):
        for load in (load_svmlight, load_model):
            with pytest.raises(error, match=str(path)):
                load(path)
    for words in (
        ["train", "none"],
        ["predict", "none", "none", "out"],
        ["convert", "none", "out"],
        ["search", "none"],
    ):
        assert main([words[0], *(str(tmp_path / word) for word in words[1:])]) == 1
        assert "No such file" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@row("file-target")
def test_targets_that_cannot_be_written(tmp_path):
    model = LinearSVC().fit(X, Y)
    with pytest.raises(IsADirectoryError, match="is a folder: name a file"):
        save_model(model, tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist; create it first"):
        save_model(model, tmp_path / "none" / "model")
    with pytest.raises(FileExistsError, match="already exists"):
        write_dataset(tmp_path, X, Y)
    assert list(tmp_path.iterdir()) == []


def native(tmp_path):
    save_model(LinearSVC().fit(X, Y), tmp_path / "good")
    return (tmp_path / "good").read_bytes()


def liblinears(tmp_path):
    save_model(LinearSVC().fit(X, Y), tmp_path / "good", format="liblinear")
    return (tmp_path / "good").read_bytes()


MODELS = {
    "cut: header": (lambda good: native(good)[:60], r"line 2 is not valid JSON"),
    "cut: arrays": (lambda good: native(good)[:-5], r"arrays need \d+ bytes, but \d+ follow"),
    "cut: LIBLINEAR": (lambda good: liblinears(good)[:-30], r"it was cut off|is not a finite number"),
    "changed": (lambda good: native(good)[:-1] + b"\xff", r"checksum of its arrays is wrong"),
    "newer": (
        lambda good: native(good).replace(b"model 1", b"model 2", 1),
        r"this version reads 1: install a newer one",
    ),
    "other: text": (lambda good: TEXT, r"line 1: unknown keyword '\+1'"),
    "other: pickle": (lambda good: pickle.dumps({"coef_": 1.0}), r"the file is damaged, or not a model"),
    "other: empty": (lambda good: b"", r"the file ends within the header"),
}


@rows_of("model", MODELS)
@pytest.mark.parametrize("name", MODELS)
def test_files_that_are_no_models(name, tmp_path, capsys):
    content, message = MODELS[name]
    path = damaged(tmp_path, "bad.model", content(tmp_path))
    with pytest.raises(ValueError, match=rf"bad\.model.*{message}"):
        load_model(path)
    data = damaged(tmp_path, "data.svm", TEXT)
    assert main(["predict", str(data), str(path), str(tmp_path / "out")]) == 1
    assert "bad.model" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@row("model-features")
def test_a_model_of_other_features(tmp_path):
    native(tmp_path)
    with pytest.raises(ValueError, match="X has 3 features, but LinearSVC is expecting 4"):
        load_model(tmp_path / "good").predict(X[:, :3])


@pytest.fixture
def dataset(tmp_path):
    write_dataset(tmp_path / "dataset", X, Y)
    return tmp_path / "dataset"


DATASETS = {
    "none": (lambda folder: (folder / "dataset.json").unlink(), "is not a dataset"),
    "cut": (lambda folder: (folder / "data.npy").write_bytes(b"\x93NUMPY"), "the dataset is damaged; convert the data"),
    "missing": (lambda folder: (folder / "labels.npy").unlink(), "the dataset is damaged; convert the data"),
    "description": (lambda folder: (folder / "dataset.json").write_text("{"), "dataset.json"),
}


@rows_of("dataset", DATASETS)
@pytest.mark.parametrize("name", DATASETS)
def test_damaged_datasets(name, dataset, capsys):
    damage, message = DATASETS[name]
    damage(dataset)
    with pytest.raises(ValueError, match=message):
        open_dataset(dataset)
    assert main(["train", "-q", str(dataset), str(dataset.parent / "model")]) == 1
    assert message.split(";")[0] in capsys.readouterr().err
    assert not (dataset.parent / "model").exists()
