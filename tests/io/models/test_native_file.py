"""hingeline's own model file: all that was learned comes back, and no file can do harm."""

import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import classification
from scipy import sparse

import hingeline
from hingeline import LinearSVC
from hingeline.io import load_model, save_model
from hingeline.io.models.liblinear_file import ModelFileError
from hingeline.io.models.native_file import MAGIC, read_native, write_native

LABELS = {
    "int": np.array([3, 1, 2]),
    "str": np.array(["a", "ß", "long name"]),
    "object": np.array(["x", "y", "z"], dtype=object),
    "float": np.array([0.0, 1.0, -2.0]),
    "uint8": np.array([1, 2, 255], dtype=np.uint8),
    "bool": np.array([False, True]),
    "two strings": np.array(["no", "yes"]),
}


def same(a, b):
    """Tell whether two learned values are the same, bit by bit and in type."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, list):
        return isinstance(b, list) and all(map(same, a, b))
    return a == b and isinstance(a, type(b))


def same_record(a, b):
    return a.dtype == b.dtype and all(same(a[name], b[name]) for name in a.dtype.names)


@pytest.mark.parametrize("kind", LABELS)
def test_all_that_was_learned_comes_back(kind, tmp_path):
    X, y = classification(n_classes=len(LABELS[kind]))
    y = LABELS[kind][np.where(y < 0, 0, y)]
    model = LinearSVC(C=0.5, class_weight={y[0]: 2.0}, tol=1e-6, random_state=3, max_iter=10**6).fit(X, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert type(loaded) is LinearSVC
    assert loaded.get_params() == model.get_params()
    assert vars(loaded).keys() == vars(model).keys()
    for name, value in vars(model).items():
        found = getattr(loaded, name)
        if name == "history_":
            assert same_record(value, found)
        elif name.endswith("_"):
            value = value.item() if isinstance(value, np.generic) else value
            assert same(value, found), name
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    loaded.set_params(warm_start=True).fit(X, y)  # and it can go on
    np.testing.assert_allclose(loaded.coef_, model.coef_, atol=1e-4)


def test_names_of_features_and_generators(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = classification()
    frame = pandas.DataFrame(X, columns=[f"column {i}" for i in range(X.shape[1])])
    model = LinearSVC(random_state=np.random.RandomState(0), class_weight="balanced").fit(frame, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    assert loaded.random_state is None
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))


def test_sparsified_weights(tmp_path):
    X, y = classification()
    model = LinearSVC().fit(X, y)
    expected = model.predict(X)
    model.sparsify()
    assert sparse.issparse(model.coef_)
    save_model(model, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict(X), expected)


def test_the_header_can_be_read_by_anyone(tmp_path):
    X, y = classification()
    save_model(LinearSVC().fit(X, y), tmp_path / "m")
    first, second = (tmp_path / "m").read_bytes().split(b"\n")[:2]
    assert first == b"hingeline model 1"
    content = json.loads(second)["content"]
    assert content["estimator"] == "LinearSVC"
    assert content["hingeline"] == hingeline.__version__
    assert "duality_gap_" in dict(map(tuple, content["learned"]["pairs"]))


def test_what_cannot_be_saved(tmp_path):
    X, y = classification()
    from sklearn.exceptions import NotFittedError
    from sklearn.svm import LinearSVC as Other

    with pytest.raises(NotFittedError):
        save_model(LinearSVC(), tmp_path / "m")
    with pytest.raises(ValueError, match="not one of hingeline's estimators"):
        save_model(Other().fit(X, y), tmp_path / "m")
    with pytest.raises(ValueError, match="format must be one of"):
        save_model(LinearSVC().fit(X, y), tmp_path / "m", format="pickle")
    model = LinearSVC().fit(X, y)
    model.note_ = object()
    with pytest.raises(ValueError, match="cannot hold"):
        save_model(model, tmp_path / "m")
    assert os.listdir(tmp_path) == []


def good_file(path):
    X, y = classification(n=10, d=3)
    save_model(LinearSVC(random_state=0).fit(X, y), path)
    return path.read_bytes()


def with_header(text, change):
    first, second, rest = text.split(b"\n", 2)
    header = json.loads(second)
    change(header)
    return b"\n".join((first, json.dumps(header).encode(), rest))


def learned(header, name):
    return next(pair for pair in header["content"]["learned"]["pairs"] if pair[0] == name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h["arrays"][0].update(shape=[10**12]), "bytes"),
        (lambda h: h["arrays"][0].update(shape=[-3]), "not an array of numbers"),
        (lambda h: h["arrays"][0].update(shape=[1.5]), "not an array of numbers"),
        (lambda h: h["arrays"][0].update(shape=None), "not an array of numbers"),
        (lambda h: h["arrays"][0].update(dtype="|O8"), "not an array of numbers"),
        (lambda h: h["arrays"][0].update(dtype="<f1"), "not an array of numbers"),
        (lambda h: h["arrays"][0].update(dtype="<f8,<f8"), "not an array of numbers"),
        (lambda h: h["arrays"].append("x"), "not an array of numbers"),
        (lambda h: h.update(crc32=h["crc32"] ^ 1), "checksum"),
        (lambda h: h.update(arrays=None), "line 2"),
        (lambda h: h["content"].update(estimator="os.system"), "unknown estimator"),
        (lambda h: h["content"].update(estimator={"list": []}), "not hold an estimator"),
        (lambda h: h["content"]["parameters"]["pairs"].append(["shell", 1]), "no parameter 'shell'"),
        (lambda h: h["content"]["learned"]["pairs"].append(["__class__", 1]), "does not end in an underscore"),
        (lambda h: h["content"]["learned"]["pairs"].append(["fit", 1]), "does not end in an underscore"),
        (lambda h: learned(h, "coef_").__setitem__(1, {"array": 99}), "does not belong in a model file"),
        (lambda h: learned(h, "coef_").__setitem__(1, {"array": -1}), "does not belong in a model file"),
        (lambda h: learned(h, "coef_").__setitem__(1, {"call": "x"}), "does not belong in a model file"),
        (lambda h: learned(h, "coef_").__setitem__(1, {"strings": ["a"]}), "do not match"),
        (lambda h: learned(h, "coef_").__setitem__(1, {"strings": ["a" * 10**6, *"b" * 10**5]}), "does not belong"),
        (lambda h: learned(h, "history_").__setitem__(1, {"record": [["sweep", 5]]}), "does not belong"),
        (lambda h: learned(h, "history_").__setitem__(1, {"record": []}), "does not belong"),
        (lambda h: learned(h, "classes_").__setitem__(1, {"strings": ["a", "b", "c"]}), "do not match"),
        (lambda h: learned(h, "intercept_").__setitem__(1, 0.0), "do not match"),
        (lambda h: learned(h, "n_features_in_").__setitem__(1, 4), "do not match"),
    ],
)
def test_hostile_headers(change, message, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(with_header(good_file(path), change))
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


def test_deep_nesting_and_later_versions(tmp_path):
    path = tmp_path / "m"
    text = good_file(path)
    path.write_bytes(text.split(b"\n")[0] + b"\n" + b'{"a":' * 10**5 + b"\n")
    with pytest.raises(ModelFileError, match="line 2"):
        load_model(path)
    deep = 1
    for _ in range(100):
        deep = {"list": [deep]}
    path.write_bytes(with_header(text, lambda h: h["content"].update(more=deep)))
    with pytest.raises(ModelFileError, match="does not belong in a model file"):
        load_model(path)
    path.write_bytes(text.replace(MAGIC + b"1", MAGIC + b"2"))
    with pytest.raises(ModelFileError, match="this version reads 1"):
        load_model(path)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "m"
    return path, good_file(path)


@settings(max_examples=100)
@given(data=st.data())
def test_any_damage_is_noticed(scratch, data):
    path, text = scratch
    at = data.draw(st.integers(0, len(text) - 1))
    kind = data.draw(st.sampled_from(("change", "cut", "insert")))
    byte = bytes([data.draw(st.integers(0, 255))])
    damaged = {"change": text[:at] + byte + text[at + 1 :], "cut": text[:at], "insert": text[:at] + byte + text[at:]}[
        kind
    ]
    path.write_bytes(damaged)
    arrays = text.index(b"\n", text.index(b"\n") + 1)
    if damaged == text:
        return
    try:
        load_model(path)
    except ValueError:
        return
    assert at <= arrays  # within the header, a change may make another valid model


@given(
    st.dictionaries(
        st.text(max_size=3),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.integers(), inner, max_size=3),
            max_leaves=10,
        ),
        max_size=3,
    )
)
@settings(deadline=None, max_examples=50)
def test_values_of_every_kind_come_back(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("values") / "m"
    write_native(content, path)
    assert repr(read_native(path)) == repr(content)
