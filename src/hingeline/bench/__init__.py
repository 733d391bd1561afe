"""Benchmarks that anyone can run: the paper's experiments, and time to equal quality compared with other solvers.

There are three small contracts, after benchopt: a ``Dataset`` knows its file and its parsed arrays, a ``Solver`` is
prepared, run and asked for its weights (only ``run`` is timed), and tables, CSV files and figures are made from
records.
"""
