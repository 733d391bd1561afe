"""BLAS has one number of threads for the process; limits of several threads must not leave a wrong one behind."""

from threading import Event, Thread

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from hingeline.runtime.blas import blas_threads, one_blas_thread

USUAL = 3


def numbers():
    np.ones((2, 2)) @ np.ones((2, 2))  # the library is loaded
    return {library.num_threads for library in ThreadpoolController().lib_controllers if library.user_api == "blas"}


@pytest.fixture
def three_threads():
    """Have BLAS use three threads, whatever the machine has."""
    with blas_threads(USUAL):
        if numbers() != {USUAL}:
            pytest.skip("this BLAS has no number that can be set")
        yield


def test_limits_within_each_other(three_threads):
    with one_blas_thread():
        assert numbers() == {1}
        with blas_threads(2), one_blas_thread():
            assert numbers() == {1}
        assert numbers() == {1}
        with blas_threads(2):
            assert numbers() == {2}
            with pytest.raises(ZeroDivisionError), one_blas_thread():
                raise ZeroDivisionError
            assert numbers() == {2}
    assert numbers() == {USUAL}


def test_limits_of_two_threads_end_in_any_order(three_threads):
    first_is_in, second_is_in, first_is_out = Event(), Event(), Event()
    seen = []

    def first():
        with one_blas_thread():
            first_is_in.set()
            second_is_in.wait()
        first_is_out.set()

    def second():
        first_is_in.wait()
        with one_blas_thread():
            second_is_in.set()
            first_is_out.wait()
            seen.append(numbers())

    threads = [Thread(target=first), Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [{1}]
    assert numbers() == {USUAL}
