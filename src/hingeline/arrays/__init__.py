"""Rows as arrays of another library (PyTorch, CuPy, any array-API namespace), on a GPU: the same Newton's method.

A shard whose rows are on the device (shards.py) serves the engines of ``solvers/newton``. Only numbers, vectors of
weights and small square matrices come back from there. Nothing here is imported unless such arrays are used.
"""
