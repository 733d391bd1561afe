"""Set-up shared by all tests. Nothing may import numba before this file has run."""

import os
import signal

from source_hash import numba_cache_dir

os.environ["NUMBA_CACHE_DIR"] = str(numba_cache_dir())

import compile_once
import pytest
from hypothesis import settings

compile_once.install()
# The same examples in every run: a search for others is a matter of its own.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell: Ctrl-C is tested there too
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request):
    """A device of PyTorch's."""
    if request.param == "cuda" and not pytest.importorskip("torch").cuda.is_available():
        pytest.skip("needs a CUDA device")
    return request.param


@pytest.fixture
def dispatch(monkeypatch):
    """Scikit-learn's dispatch to the library that arrays come from."""
    import sklearn

    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # scikit-learn asks for it
    with sklearn.config_context(array_api_dispatch=True):
        yield
