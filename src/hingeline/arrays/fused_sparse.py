"""The products of all rows of a sparse matrix of PyTorch's on CUDA: XX', dense."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

FREQUENT = 32  # columns with a value in more than one of so many rows are multiplied as a dense matrix
BLOCK, PARTS = 64, 4  # values of a column at a time; programs per row


@triton.jit
def _add_products(  # type: ignore[no-untyped-def]
    indptr, columns, values, t_indptr, t_rows, t_values, K, n, most, PARTS: tl.constexpr, BLOCK: tl.constexpr
):
    """Add <x_i, x_k> to row i of K, over columns with up to ``most`` values."""
    i = tl.program_id(0).to(tl.int64)
    k = tl.arange(0, BLOCK)
    begin, end = tl.load(indptr + i), tl.load(indptr + i + 1)
    for e in range(begin + tl.program_id(1), end, PARTS):
        j = tl.load(columns + e)
        first, last = tl.load(t_indptr + j), tl.load(t_indptr + j + 1)
        if last - first <= most:
            x = tl.load(values + e).to(tl.float64)
            for at in range(first, last, BLOCK):
                inside = at + k < last
                row = tl.load(t_rows + at + k, mask=inside, other=0)
                other = tl.load(t_values + at + k, mask=inside, other=0.0).to(tl.float64)
                tl.atomic_add(K + i * n + row, x * other, mask=inside, sem="relaxed")


def products_of_rows(X: Any, Xt: Any) -> Any:
    """Return XX' in float64, for CSR matrices X and its transposed copy."""
    n, most = X.shape[0], X.shape[0] // FREQUENT
    frequent = Xt.indptr[1:] - Xt.indptr[:-1] > most
    n_frequent = int(frequent.sum())
    if n_frequent:
        some = frequent[X.indices]
        row = torch.repeat_interleave(torch.arange(n, device=some.device), X.indptr[1:] - X.indptr[:-1])[some]
        column = (torch.cumsum(frequent, 0) - 1)[X.indices[some]]
        dense = torch.zeros((n, n_frequent), dtype=torch.float64, device=some.device)
        dense.index_put_((row, column), X.values[some].to(torch.float64), accumulate=True)
        K = dense @ dense.T
    else:
        K = torch.zeros((n, n), dtype=torch.float64, device=frequent.device)
    arrays = (X.indptr, X.indices, X.values, Xt.indptr, Xt.indices, Xt.values, K)
    _add_products[(n, PARTS)](*arrays, n, most, PARTS=PARTS, BLOCK=BLOCK, num_warps=2)
    return K
