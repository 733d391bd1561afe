"""The oldest versions that are allowed, as pip takes them."""

from importlib.metadata import requires

import pytest

from oldest_requirements import oldest

REQUIREMENTS = ["numpy>=1.26", "scikit-learn>=1.6", "rich>=13; extra == 'progress'", 'zstandard>=0.22; extra == "zstd"']


def test_lower_bounds_of_the_extras_that_are_asked_for():
    assert list(oldest(REQUIREMENTS, [])) == ["numpy==1.26", "scikit-learn==1.6"]
    assert list(oldest(REQUIREMENTS, ["zstd", "other"])) == ["numpy==1.26", "scikit-learn==1.6", "zstandard==0.22"]


def test_a_requirement_with_extras_of_its_own():
    assert list(oldest(["dask[dataframe]>=2024.8; extra == 'dask'"], ["dask"])) == ["dask[dataframe]==2024.8"]


def test_what_is_pinned_on_one_python_has_no_oldest_version():
    pinned = "torch==2.13.0; (python_version == '3.11' and sys_platform == 'linux') and extra == 'test'"
    assert list(oldest([pinned, *REQUIREMENTS], ["test"])) == ["numpy==1.26", "scikit-learn==1.6"]


@pytest.mark.parametrize("text", ["numpy", "numpy<3", "numpy>=1.26,<3", "numpy>=1; python_version < '3.12'"])
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError, match="is no lower bound"):
        list(oldest([text], []))


def test_the_package_has_bounds_that_can_be_read():
    names = {text.partition("==")[0] for text in oldest(requires("hingeline"), ["test"])}
    assert {"numpy", "scipy", "numba", "scikit-learn", "threadpoolctl", "pytest"} <= names
