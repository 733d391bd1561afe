"""The registry of model kinds: files know classes that register, and import them no earlier than needed."""

import subprocess
import sys

import numpy as np
import pytest

from hingeline.io import load_model, save_model
from hingeline.io.models import kinds
from hingeline.io.models.kinds import ModelKind, model_kinds, register
from hingeline.io.models.liblinear_file import LinearModel, ModelFileError, write_model


class Slope:
    """A model that no part of hingeline knows."""

    def __init__(self, slope):
        self.slope = slope


def slope_of(record):
    if not isinstance(record.get("slope"), float):
        raise ModelFileError("the slope is no number.")
    return Slope(record["slope"])


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(kinds, "_kinds", dict(kinds._kinds))
    register(ModelKind(Slope, lambda model, compact: {"slope": model.slope}, slope_of, (), None, None))


def test_any_class_that_registers_can_be_saved(registered, tmp_path):
    save_model(Slope(2.5), tmp_path / "m")
    assert load_model(tmp_path / "m").slope == 2.5


def test_errors_of_a_kind_name_the_file(registered, tmp_path):
    save_model(Slope("steep"), tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"m: the slope is no number"):
        load_model(tmp_path / "m")


def test_a_class_that_is_not_registered(tmp_path):
    with pytest.raises(ValueError, match=r"Slope is not one of hingeline's estimators: .*LinearSVC"):
        save_model(Slope(1.0), tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_each_type_of_liblinears_belongs_to_one_kind():
    found = [number for kind in model_kinds().values() for number in kind.solver_types]
    assert sorted(found) == [*range(8), 11, 12, 13, 21]


def test_estimators_are_imported_when_a_model_is_loaded(tmp_path):
    write_model(LinearModel(1, (1, -1), 2, -1.0, np.ones((2, 1))), tmp_path / "m")
    code = (
        "import sys; from hingeline.io import load_model\n"
        "before = 'sklearn' in sys.modules or 'hingeline.estimators' in sys.modules\n"
        f"print(before, type(load_model({str(tmp_path / 'm')!r})).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "LinearSVC"]
