"""The settings under which the numerical tests run again."""

import os
import sys

import processes

import portable_tests

FEATURES = {"sse2": True, "avx2": True, "avx512f": True, "avx512vl": True, "fma4": False}


def test_features_are_those_of_the_machine_but_for_avx512(monkeypatch):
    monkeypatch.setattr(portable_tests.llvm, "get_host_cpu_features", lambda: FEATURES)
    monkeypatch.setattr(portable_tests.platform, "machine", lambda: "x86_64")
    assert portable_tests.settings() == {
        "a generic CPU": {"NUMBA_CPU_NAME": "generic"},
        "no AVX-512": {"NUMBA_CPU_FEATURES": "+avx2,-avx512f,-avx512vl,-fma4,+sse2"},
        "BLAS kernels of Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    }


def test_what_would_change_nothing_is_left_out(monkeypatch):
    monkeypatch.setattr(portable_tests.llvm, "get_host_cpu_features", lambda: {"neon": True})
    monkeypatch.setattr(portable_tests.platform, "machine", lambda: "riscv64")
    assert list(portable_tests.settings()) == ["a generic CPU"]


def test_every_path_is_there():
    for name in portable_tests.NUMERICAL:
        assert (portable_tests.ROOT / "tests" / name).exists(), name


def test_a_setting_is_another_key_of_numbas_cache():
    code = "from numba.core.registry import cpu_target as t; print(t.target_context.codegen().magic_tuple())"
    keys = set()
    for variables in ({}, *portable_tests.settings().values()):
        if "OPENBLAS_CORETYPE" not in variables:
            keys.add(processes.run([sys.executable, "-c", code], env={**os.environ, **variables}).stdout)
    assert len(keys) == len([name for name in portable_tests.settings() if "BLAS" not in name]) + 1


def test_one_failure_fails_all(monkeypatch, capfd):
    monkeypatch.setattr(portable_tests, "settings", lambda: {"good": {"STATUS": "0"}, "bad": {"STATUS": "3"}})
    monkeypatch.setattr(portable_tests, "NUMERICAL", ())

    def command(words, **how):
        return run(["/bin/sh", "-c", "exit $STATUS"], **how)

    run = portable_tests.subprocess.run
    monkeypatch.setattr(portable_tests.subprocess, "run", command)
    assert portable_tests.main([]) == 1
    assert "failed: bad" in capfd.readouterr().out
