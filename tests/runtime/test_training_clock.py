"""The clock of training stands still while kernels are compiled or loaded."""

import importlib.util
from threading import Thread
from time import perf_counter

import numpy as np
import pytest
from numba.core import config

from hingeline import Hinge, LinearSVC, solve
from hingeline.runtime import training_clock as clock
from hingeline.solvers.engines import Engine

SOURCE = """
from hingeline.kernels.compile import kernel

@kernel
def halved(x):
    return 0.5 * x
"""


@pytest.fixture
def time(monkeypatch):
    """Return a list whose last entry is the time."""
    times = [100.0]
    monkeypatch.setattr(clock, "perf_counter", lambda: times[-1])
    monkeypatch.setattr(clock, "_state", clock._State())
    return times


def test_stands_still_once_however_deep(time):
    began = clock.now()
    time.append(101.0)
    assert clock.now() - began == 1.0
    with clock.standing_still():
        time.append(111.0)
        assert clock.now() - began == 1.0
        with clock.standing_still():
            time.append(121.0)
        time.append(131.0)
        assert clock.now() - began == 1.0
    time.append(133.0)
    assert clock.now() - began == 3.0
    assert clock.compile_seconds() == 0.0  # nothing but loading


def test_two_threads_at_once_count_once(time):
    began = clock.now()
    first, second = clock.standing_still(), clock.standing_still()
    first.__enter__()
    time.append(110.0)
    other = Thread(target=second.__enter__)
    other.start()
    other.join()
    time.append(120.0)
    first.__exit__(None, None, None)
    time.append(130.0)
    assert clock.now() == began
    second.__exit__(None, None, None)
    time.append(131.0)
    assert clock.now() - began == 1.0


def test_compiling_is_told_from_loading(time):
    with clock.standing_still():
        time.append(105.0)
        assert not clock.is_compiling()
        clock.begin_compiling()
        time.append(110.0)
        assert clock.is_compiling()
        assert clock.compile_seconds() == 10.0
    assert not clock.is_compiling()
    time.append(120.0)
    assert clock.compile_seconds() == 10.0


def test_an_exception_does_not_stop_the_clock_for_good(time):
    with pytest.raises(KeyError), clock.standing_still():
        raise KeyError
    time.append(101.0)
    assert clock.now() == 101.0


def test_a_kernel_that_is_compiled_and_one_that_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "kernels"))
    path = tmp_path / "halved_of_test.py"
    path.write_text(SOURCE)

    def counted_and_passed():
        spec = importlib.util.spec_from_file_location("halved_of_test", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        began, real = clock.now(), perf_counter()
        assert module.halved(3.0) == 1.5
        return clock.now() - began, perf_counter() - real

    compiled = clock.compile_seconds()
    counted, passed = counted_and_passed()
    assert counted < 0.5 * passed
    assert 0.5 * passed < clock.compile_seconds() - compiled <= passed
    compiled = clock.compile_seconds()
    counted, passed = counted_and_passed()
    assert counted < passed
    assert clock.compile_seconds() == compiled


def stopped(monkeypatch, seconds):
    """Have every engine pretend that loading it compiles for so many seconds."""
    load = Engine.load

    def slow(self):
        with clock.standing_still():
            clock.begin_compiling()
            now = perf_counter()
            while perf_counter() < now + seconds:
                pass
        return load(self)

    monkeypatch.setattr(Engine, "load", slow)


def test_no_time_of_a_fit_contains_compiling(monkeypatch, capsys):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    LinearSVC().fit(X, y)
    stopped(monkeypatch, 0.2)
    for n_jobs in (1, 2):
        model = LinearSVC(n_jobs=n_jobs, max_time=0.19, verbose=1)  # less than compiling takes
        began = perf_counter()
        model.fit(X, y)
        passed = perf_counter() - began
        assert 0.0 < model.fit_time_ < passed - 0.2
        assert model.converged_
        assert model.history_["seconds"].max() <= model.fit_time_
        assert model.per_class_["fit_time"].max() <= model.fit_time_
        assert "compiling, once, took" in capsys.readouterr().out
    s = solve(X, np.where(y > 0, 1, -1), Hinge(), max_time=0.19)
    assert s.converged
    assert s.seconds < 0.19
