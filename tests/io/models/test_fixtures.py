"""Model files of this version and of earlier ones stay readable."""

import json

import numpy as np
import pytest

import model_fixtures
from hingeline import __version__
from hingeline.io import load_model

VERSIONS = sorted(path.name for path in model_fixtures.FOLDER.iterdir())


def expected_of(version):
    return json.loads((model_fixtures.FOLDER / version / model_fixtures.EXPECTED).read_text(encoding="ascii"))


@pytest.mark.parametrize(
    ("version", "name"), [(version, name) for version in VERSIONS for name in expected_of(version)]
)
def test_models_of_every_version_are_read(version, name):
    expected = expected_of(version)[name]
    model = load_model(model_fixtures.FOLDER / version / f"{name}.model")
    assert type(model).__name__ == expected.pop("class")
    found = model_fixtures.outputs(model)
    assert set(found) >= set(expected)
    for method, values in expected.items():
        if isinstance(values[0], str):
            assert found[method] == values
        else:
            np.testing.assert_allclose(found[method], values, rtol=1e-12, atol=1e-12)
    if not name.startswith("liblinear"):
        assert np.isfinite(model.duality_gap_)
        assert model.per_class_["duality_gap"].max() == model.duality_gap_
        assert set(model.history_["problem"]) == set(range(model.per_class_.n_rows))
        model.set_params(**model.get_params())


def test_every_kind_has_a_file():
    assert __version__ in VERSIONS, "run tools/model_fixtures.py"
    assert set(expected_of(__version__)) == set(model_fixtures.models())


def test_what_is_there_stays(tmp_path, monkeypatch):
    some = dict(list(model_fixtures.models().items())[:2])
    monkeypatch.setattr(model_fixtures, "models", lambda: some)
    assert model_fixtures.write(tmp_path) == list(some)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert model_fixtures.write(tmp_path) == []
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
