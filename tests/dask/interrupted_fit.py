"""Train on the cluster at the address given, again and again, until Ctrl-C; says so after each round."""

import sys

import numpy as np
from distributed import Client

from hingeline import Hinge
from hingeline.dask.partitions import place
from hingeline.dask.target import Binary
from hingeline.dask.train import train


def made(k):
    """Return partition ``k``."""
    rng = np.random.default_rng(k)
    X = rng.standard_normal((20_000, 20))
    return X, np.where(X[:, 0] + rng.standard_normal(20_000) > 0.0, 1, -1)


if __name__ == "__main__":
    with Client(sys.argv[1]) as client:
        partitions = place(client, [(client.submit(made, k, pure=False), None, None) for k in range(2)])
        try:
            while True:
                train(
                    partitions,
                    Binary(1),
                    Hinge(1.0),
                    solver="newton",
                    gap_tol=1e-9,
                    callback=lambda progress: print("round", flush=True),
                )
        except KeyboardInterrupt:
            print("interrupted", flush=True)
