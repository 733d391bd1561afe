"""LIBLINEAR's model file: byte for byte as LIBLINEAR writes it, and nothing taken on trust when it is read."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from svmlight_files import CLASSIFIERS, REGRESSIONS, liblinear, make_rows

from hingeline.io.models.liblinear_file import LinearModel, ModelFileError, read_model, write_model
from hingeline.io.models.solver_types import SOLVER_TYPES

GOOD = b"solver_type L2R_LR\nnr_class 3\nlabel 1 2 3\nnr_feature 2\nbias 1\nw\n1 2 3 \n4 5 6 \n7 8 -9e-300 \n"


def models():
    """Yield (options, kind of data) that between them make every type with and without a bias."""
    for solver_type in CLASSIFIERS:
        for kind in ("signs", "two", "many"):
            for bias in ("", " -B 1", " -B 0", " -B 2.5"):
                yield f"-s {solver_type}{bias}", kind
    for solver_type in REGRESSIONS:
        yield f"-s {solver_type} -B 1", "targets"
        yield f"-s {solver_type}", "targets"
    yield "-s 21 -n 0.1", "signs"
    yield "-s 2 -B 1 -R", "signs"


def test_bit_by_bit_what_liblinear_writes(tmp_path):
    peer = liblinear()
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for options, kind in models():
        X, y = make_rows(kind)
        model = peer.train(y.astype(float), X, f"{options} -q")
        peer.save_model(str(theirs), model)
        read = read_model(theirs)
        write_model(read, ours)
        assert ours.read_bytes() == theirs.read_bytes(), options
        assert read.w.shape == (X.shape[1] + (read.bias >= 0.0), read.solver_type.n_outputs(read.n_classes))
        again = peer.load_model(str(ours))
        assert again.get_labels() == model.get_labels() or read.labels is None
        assert [again.w[i] for i in range(read.w.size)] == read.w.ravel().tolist(), options


@pytest.mark.parametrize("solver_type", SOLVER_TYPES)
def test_round_trip(solver_type, tmp_path):
    rng = np.random.default_rng(solver_type)
    labels = (3, -1, 2**31 - 1) if solver_type < 10 else None
    outputs = SOLVER_TYPES[solver_type].n_outputs(3 if labels else 2)
    w = rng.normal(size=(5, outputs)) * 10.0 ** rng.integers(-300, 300, size=(5, outputs))
    w[0, 0], w[1, 0], w[2, 0] = -0.0, 5e-324, np.finfo(float).max
    model = LinearModel(solver_type, labels, 4, 0.1, w, 1 / 3 if solver_type == 21 else 0.0)
    write_model(model, tmp_path / "m")
    read = read_model(tmp_path / "m")
    assert read.w.tobytes() == w.tobytes()
    assert (read.type, read.labels, read.n_features, read.bias, read.rho) == (
        model.type,
        model.labels,
        4,
        0.1,
        model.rho,
    )


def test_many_features_are_written_and_read_in_blocks(tmp_path):
    w = np.random.default_rng(0).normal(size=(70_000, 3))
    write_model(LinearModel(1, (1, 2, 3), 70_000, -1.0, w), tmp_path / "m")
    np.testing.assert_array_equal(read_model(tmp_path / "m").w, w)


def test_no_features_at_all(tmp_path):
    write_model(LinearModel(1, (1, -1), 0, -1.0, np.empty((0, 1))), tmp_path / "m")
    assert read_model(tmp_path / "m").w.shape == (0, 1)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (b"L2R_LR", b"L2R_XX", 1, "unknown solver_type"),
        (b"nr_class 3", b"nr_class 4", 3, "nr_class is 4"),
        (b"nr_class 3", b"nr_class 0", 2, "not a whole number"),
        (b"nr_class 3", b"nr_class 3.0", 2, "not a whole number"),
        (b"nr_class 3\n", b"", 5, "no 'nr_class'"),
        (b"nr_class 3", b"nr_class 3 3", 2, "2 values"),
        (b"label 1 2 3\n", b"", 5, "no 'label'"),
        (b"label 1 2 3", b"label 1 2 2", 3, "2 of them different"),
        (b"label 1 2 3", b"label 1 2 4294967297", 3, "label is '4294967297'"),
        (b"nr_feature 2", b"nr_feature 1000000000000", 4, "not a whole number"),
        (b"nr_feature 2", b"nr_feature 2000000000", 9, "cut off"),
        (b"nr_feature 2", b"nr_feature -1", 4, "not a whole number"),
        (b"nr_feature 2", b"nr_feature 1", 9, "there are more"),
        (b"nr_feature 2", b"nr_feature 2\nnr_feature 2", 5, "second time"),
        (b"bias 1", b"bias nan", 5, "not a finite number"),
        (b"bias 1", b"bias 1_0", 5, "not a finite number"),
        (b"bias 1", b"bias 1\nrho 3", 6, "does not belong"),
        (b"bias 1", b"bias -1", 9, "there are more"),
        (b"w\n", b"", 6, "unknown keyword '1'"),
        (b"w\n1 2", b"weights\n1 2", 6, "unknown keyword"),
        (b"5 6", b"5 x6", 8, "is not a finite number"),
        (b"5 6", b"5 nan", 8, "is not a finite number"),
        (b"5 6", b"5 1e999", 8, "is not a finite number"),
        (b"5 6", b"5 1_0", 8, "is not a finite number"),
        (b"7 8 -9e-300 \n", b"", 8, "cut off"),
        (b"solver_type", b"\xff\xfe\x00", 1, "no keyword"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old, new, line, message, tmp_path):
    path = tmp_path / "m"
    assert old in GOOD
    path.write_bytes(GOOD.replace(old, new, 1))
    with pytest.raises(ModelFileError, match=rf"m, line {line}: .*{message}"):
        read_model(path)


@pytest.mark.parametrize("text", [b"", b"\n", b"solver_type L2R_LR\n", b"\x00" * 1000, b"{}", b"w\n"])
def test_what_is_no_model(text, tmp_path):
    (tmp_path / "m").write_bytes(text)
    with pytest.raises(ModelFileError, match="line"):
        read_model(tmp_path / "m")


def test_layout_does_not_matter(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(GOOD)
    expected = read_model(path).w
    path.write_bytes(GOOD.replace(b"\n", b"\r\n").replace(b" ", b"   "))
    np.testing.assert_array_equal(read_model(path).w, expected)
    header, weights = GOOD.split(b"w\n")
    path.write_bytes(header + b"w\n" + weights.replace(b"\n", b""))
    np.testing.assert_array_equal(read_model(path).w, expected)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "m"


@settings(max_examples=300)
@given(
    cuts=st.lists(st.tuples(st.integers(0, len(GOOD)), st.integers(0, 8), st.binary(max_size=6)), max_size=4),
)
def test_any_damage_gives_a_model_or_an_error(scratch, cuts):
    text = GOOD
    for at, length, instead in cuts:
        text = text[:at] + instead + text[at + length :]
    scratch.write_bytes(text)
    try:
        model = read_model(scratch)
    except ModelFileError:
        return
    assert model.w.shape == (model.n_features + (model.bias >= 0), model.solver_type.n_outputs(model.n_classes))
    assert np.isfinite(model.w).all()


def test_writing_is_atomic(tmp_path, monkeypatch):
    path = tmp_path / "m"
    path.write_text("as it was")
    path.chmod(0o640)
    bad = LinearModel(1, (1, -1), 2, -1.0, np.array([[1.0], [2.0]]))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            write_model(bad, path)
    assert path.read_text() == "as it was"
    assert os.listdir(tmp_path) == ["m"]
    (tmp_path / "link").symlink_to(path)
    write_model(bad, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert read_model(path).w.tolist() == [[1.0], [2.0]]
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no devices here")
def test_a_device_is_written_to_and_not_replaced():
    write_model(LinearModel(1, (1, -1), 1, -1.0, np.ones((1, 1))), "/dev/null")
    assert not os.path.isfile("/dev/null")


def test_where_nothing_can_be_written(tmp_path):
    model = LinearModel(1, (1, -1), 1, -1.0, np.ones((1, 1)))
    with pytest.raises(OSError, match="does not exist"):
        write_model(model, tmp_path / "no" / "m")
    with pytest.raises(OSError, match="is a folder"):
        write_model(model, tmp_path)
