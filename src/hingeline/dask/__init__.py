"""Training on a Dask cluster: rows stay in partitions on their workers, and the model is the same as on one machine."""
