"""What records say about where they were made."""

import json
import platform

import numpy

from hingeline import __version__
from hingeline.runtime import environment as module
from hingeline.runtime.environment import environment


def test_versions_system_and_processor():
    found = environment()
    assert found["hingeline"] == __version__
    assert found["numpy"] == numpy.__version__
    assert found["python"] == platform.python_version()
    assert found["processor"]
    assert found["cores"] >= 1
    assert json.loads(json.dumps(found)) == found


def test_packages_that_are_not_installed_are_left_out(monkeypatch):
    monkeypatch.setattr(module, "PACKAGES", ("numpy", "no-such-package"))
    assert "no-such-package" not in environment()
