"""Hosts in this process, for tests of what is asked of them: no cluster, no messages."""

from itertools import pairwise

import numpy as np

from hingeline.dask.costs import Costs
from hingeline.dask.host import problem_of
from hingeline.dask.merge import GatheredRows, merged, packed, unpacked
from hingeline.dask.resident import Resident
from hingeline.dask.shards import DaskShards
from hingeline.dask.spec import Spec, Summary
from hingeline.dask.target import Binary
from hingeline.data.matrix import Data
from hingeline.data.problem import Problem
from hingeline.data.read import read_data
from hingeline.runtime.pace import do_nothing
from hingeline.runtime.threads import ALONE
from hingeline.solvers.shards.alpha import starting_alpha
from hingeline.solvers.shards.in_memory import InMemoryShards, slice_of_rows


class HostsHere:
    """The hosts of some residents, as far as ``DaskShards`` knows hosts."""

    def __init__(self, residents, n_features, spec):
        self.residents, self.n_features, self.spec, self.costs = residents, n_features, spec, Costs()

    @property
    def n_hosts(self):
        return len(self.residents)

    def ask(self, name, calls, expected_bytes=0):
        self.costs.rounds += 1
        replies = [
            packed(tuple(v for v in (resident.do(*call) for call in calls) if v is not None))
            for resident in self.residents
        ]
        return unpacked(merged([unpacked(reply) for reply in replies]))

    def solve_sample(self, name, step, total_C, solve):
        rows = GatheredRows.merged([resident.rows(step, True) for resident in self.residents])
        part = problem_of(read_data(rows.X, self.spec.bias), rows, self.spec, float(rows.C.sum()) / total_C)
        return solve(InMemoryShards(part, starting_alpha(part), ALONE, do_nothing))

    def moved(self, name, w, delta):
        self.w = w


class ShardsHere(DaskShards):
    """Shards whose dual variables a test may look at."""

    @property
    def alpha(self):
        self._ask()
        return np.concatenate([shards.alpha for r in self.hosts.residents for shards in r.shards])


def partitioned(problem, alpha, bounds):
    """Return the rows of ``problem``, cut at ``bounds``, as partitions on two hosts."""
    cut = {k: _part(problem, begin, end) for k, (begin, end) in enumerate(pairwise(bounds))}
    numbers = list(cut)
    groups = [numbers[:2], numbers[2:]]
    residents = [Resident({k: cut[k] for k in group}, ALONE, do_nothing) for group in groups if group]
    for resident in residents:
        for k, shards in zip(resident.numbers, resident.shards, strict=True):
            shards.alpha[:] = alpha[bounds[k] : bounds[k + 1]]
    spec = Spec(Binary(1), problem.loss, bias=problem.data.rows.bias)
    hosts = HostsHere(residents, problem.data.n_features, spec)
    return ShardsHere(hosts, "whole", Summary.merged([r.summary() for r in residents]), spec, do_nothing)


def _part(problem, begin, end):
    data, inside = problem.data, slice(begin, end)
    C = problem.C[inside] if np.ndim(problem.C) else problem.C
    q = data.q[inside]
    kept = np.flatnonzero((q > 0.0) & (np.broadcast_to(C, q.shape) > 0.0)).astype(np.uint32)
    rows = slice_of_rows(data.rows, begin, end)
    return Problem(Data(rows, end - begin, data.n_features, data.distinct, q), problem.y[inside], C, problem.loss, kept)
