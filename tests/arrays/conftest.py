"""Where the array tests run: array-api-strict and PyTorch on the CPU; on CUDA with ``-m gpu``."""

import numpy as np
import pytest

PLACES = [
    "strict",
    "torch",
    pytest.param("torch-cuda", marks=pytest.mark.gpu),
    pytest.param("cupy", marks=pytest.mark.gpu),
]


class Library:
    """An array library: arrays of NumPy's go there and come back."""

    def __init__(self, name):
        self.name = name
        if name == "strict":
            self.xp = pytest.importorskip("array_api_strict")
            self.device = None
        elif name == "cupy":
            cupy = pytest.importorskip("cupy", reason="needs CuPy and a CUDA device")
            self.xp, self.device = cupy, None
        else:
            torch = pytest.importorskip("torch", reason="needs PyTorch")
            torch.set_num_threads(1)  # problems are small, and cores may be busy
            self.xp, self.device = torch, "cuda" if name == "torch-cuda" else "cpu"
            if self.device == "cuda" and not torch.cuda.is_available():
                pytest.skip("needs a CUDA device")

    def put(self, array):
        array = np.array(array)
        if self.name.startswith("torch"):
            return self.xp.from_numpy(array).to(self.device)
        return self.xp.asarray(array)

    def sparse(self, X):
        """Return a CSR matrix of SciPy's there."""
        if self.name == "strict":
            pytest.skip("array-api-strict has no sparse matrices")
        if self.name == "cupy":
            from cupyx.scipy import sparse

            return sparse.csr_matrix(X)
        from hingeline.arrays.namespace import no_warnings

        parts = (self.put(part) for part in (X.indptr, X.indices, X.data))
        with no_warnings():  # PyTorch calls its sparse matrices a beta version
            return self.xp.sparse_csr_tensor(*parts, size=X.shape, check_invariants=True)

    def back(self, array):
        from hingeline.arrays.namespace import to_numpy

        return to_numpy(array)


@pytest.fixture(params=PLACES)
def library(request):
    pytest.importorskip("array_api_compat")
    return Library(request.param)
