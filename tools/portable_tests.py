"""Run the numerical tests as other CPUs would run them: sums are ordered differently, and last digits differ.

numba's cache tells CPUs and their features apart, so all settings share a folder of compiled kernels.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import llvmlite.binding as llvm

from source_hash import ROOT, numba_cache_dir

NUMERICAL = ("equivalence", "faults/test_scales.py", "kernels", "property", "runtime", "solvers")
# Each layout of X is compiled anew. The verbs that tell layouts apart have tests of their own, which are not left out.
LEFT_OUT = "not layouts and not uncompiled and not ctrl_c"
ANOTHER_BLAS = {"x86_64": "Prescott", "amd64": "Prescott", "aarch64": "ARMV8", "arm64": "ARMV8"}


def settings() -> dict[str, dict[str, str]]:
    """Return the environment variables of each setting by its name, those that change something on this machine."""
    features = dict(llvm.get_host_cpu_features())
    narrower = {name: on and not name.startswith("avx512") for name, on in features.items()}
    blas = ANOTHER_BLAS.get(platform.machine().lower())
    found = {"a generic CPU": {"NUMBA_CPU_NAME": "generic"}}
    if narrower != features:
        flags = ",".join(f"{'+' if on else '-'}{name}" for name, on in sorted(narrower.items()))
        found["no AVX-512"] = {"NUMBA_CPU_FEATURES": flags}
    if blas:
        found[f"BLAS kernels of {blas}"] = {"OPENBLAS_CORETYPE": blas}
    return found


def main(arguments: list[str]) -> int:
    """Run pytest on the numerical tests under each setting, with further ``arguments``; returns 1 if any run failed."""
    failed = []
    tests = [str(ROOT / "tests" / name) for name in NUMERICAL]
    command = [sys.executable, "-m", "pytest", "-q", "-k", LEFT_OUT, *arguments, *tests]
    for name, variables in settings().items():
        print(f"--- {name}", flush=True)
        environment = {**os.environ, **variables, "NUMBA_CACHE_DIR": str(numba_cache_dir())}
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all settings passed", flush=True)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
